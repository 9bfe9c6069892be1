"""Common to images and videos: their labels in messages, and the folder of their files."""

import os
from pathlib import Path

from snellen.errors import MediaError
from snellen.media.content import Image, Slice, Video


def label(medium: Image | Video) -> str:
    """The name of an image or a video in messages."""
    source = medium.source
    if medium.label:
        return medium.label
    if isinstance(source, bytes):
        return "an image"
    if isinstance(source, Slice):
        return f"the image at byte {source.offset} of {source.path}"
    return str(source)


def path_inside(medium: Image | Video, path: Path) -> str:
    """The path with `..` resolved, so that the checked path is the one that is opened.

    Links in the folder are trusted and may lead elsewhere.

    Raises:
        MediaError: the path leaves the medium's folder, or is not a file name.
    """
    if "\0" in str(path):
        raise MediaError(f"{label(medium)!r} is not a file name: it contains a null byte.")
    inside = os.path.abspath(path)
    if medium.within is not None:
        folder = os.path.abspath(medium.within)
        if not inside.startswith(folder.rstrip(os.sep) + os.sep):
            raise MediaError(
                f"{label(medium)} is outside the data's folder {folder}. Rows may name files in "
                "that folder only: put the file there, or a link to it."
            )
    return inside
