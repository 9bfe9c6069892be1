"""Functions for images and videos alike: names for messages, and checks of paths."""

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
    """Resolve `..` in the path, check that the path stays inside the folder of the medium, and
    return it. Callers must open the returned path, because only this path was checked.

    Symbolic links in the folder are trusted, and may lead out of the folder.

    Raises:
        MediaError: The path leads out of the folder, or is not a valid file name.
    """
    name = str(path)
    if "\0" in name:
        raise MediaError(f"{label(medium)!r} is not a file name: it contains a null byte.")
    inside = os.path.abspath(name)
    if medium.within is not None:
        folder = os.path.abspath(str(medium.within))
        if not inside.startswith(f"{folder.rstrip(os.sep)}{os.sep}"):
            raise MediaError(
                f"{label(medium)} is outside the folder of the data, {folder}. Rows may refer only "
                "to files in that folder. Put the file, or a link to the file, into that folder."
            )
    return inside
