"""The media that a tool may look at: what the model has been shown so far."""

from __future__ import annotations

from dataclasses import dataclass, replace

from snellen.media.content import Image, Video
from snellen.media.views import PictureView, full_view


class ToolError(Exception):
    """A call that cannot be carried out. The model gets the message, which says what is right."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The pictures and videos that a model has been shown in a conversation. They are numbered from
    1, in the order in which the model got them."""

    pictures: tuple[Image | PictureView, ...] = ()
    """The pictures of the question, then the pictures in the results of calls."""
    videos: tuple[Video, ...] = ()
    """The videos of the question."""

    def picture(self, number: int) -> PictureView:
        """The picture with this number.

        Raises:
            ToolError: there is no such picture.
            MediaError: the picture cannot be read.
        """
        if not self.pictures:
            raise ToolError("no picture has been shown")
        if not 1 <= number <= len(self.pictures):
            raise ToolError(f"there is no picture {number}; {_range(self.pictures)}")
        picture = self.pictures[number - 1]
        return picture if isinstance(picture, PictureView) else full_view(picture)

    def video(self, number: int) -> Video:
        """The video with this number.

        Raises:
            ToolError: there is no such video.
        """
        if not self.videos:
            raise ToolError("the question shows no video")
        if not 1 <= number <= len(self.videos):
            raise ToolError(f"there is no video {number}; {_range(self.videos)}")
        return self.videos[number - 1]

    def with_pictures(self, *pictures: Image | PictureView) -> Shown:
        """These media, and further pictures."""
        return replace(self, pictures=(*self.pictures, *pictures))


def _range(media: tuple[object, ...]) -> str:
    last = len(media)
    return f"the numbers are 1 to {last}" if last > 1 else "the only number is 1"
