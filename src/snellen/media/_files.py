"""What images and videos have in common: what they are called, and where their files may lie."""

import os
from pathlib import Path

from snellen.errors import MediaError
from snellen.media.content import Image, Slice, Video


def label(medium: Image | Video) -> str:
    """What a message calls an image or a video."""
    source = medium.source
    if medium.label:
        return medium.label
    if isinstance(source, bytes):
        return "an image"
    if isinstance(source, Slice):
        return f"the image at byte {source.offset} of {source.path}"
    return str(source)


def path_inside(medium: Image | Video, path: Path) -> str:
    """The path with its `..` taken out: the one that is checked is the one that is opened.

    A link in the folder is its owner's own and may lead elsewhere.

    Raises:
        MediaError: it leaves the medium's folder, or is no file name.
    """
    if "\0" in str(path):
        raise MediaError(f"{label(medium)!r} is no file name: it has a null byte in it.")
    inside = os.path.abspath(path)
    if medium.within is not None:
        folder = os.path.abspath(medium.within)
        if not inside.startswith(folder.rstrip(os.sep) + os.sep):
            raise MediaError(
                f"{label(medium)} is outside the data's folder {folder}. Rows may name files in "
                "that folder only: put the file there, or a link to it."
            )
    return inside
