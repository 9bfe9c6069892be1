"""Checks the coordinates of a model that runs on this machine against its processor."""

from __future__ import annotations

from collections.abc import Callable

from snellen.core.coordinates import coordinates_in
from snellen.errors import UsageError
from snellen.media.content import Size

PICTURES: tuple[Size, ...] = ((20, 30), (641, 427), (2000, 1500))
"""The sizes of the pictures on which a processor is tried. They are below the usual minimum, within
the usual limits, and above the limits that users set to save memory."""


def check_coordinates(
    spec: str, text: str | None, shown_size: Callable[[Size], Size | None] | None
) -> None:
    """Check that coordinates in pixels of the picture that the model is shown agree with what the
    processor does. If the processor does not report sizes, nothing is checked.

    Args:
        spec: The model's name, for messages.
        text: The coordinates in the profile; None: none are set.
        shown_size: Returns the size to which the processor resizes a picture, or None if it does
            not report sizes; None if the model has no such processor.

    Raises:
        UsageError: the processor resizes pictures to other sizes.
    """
    if text is None or shown_size is None:
        return
    coordinates = coordinates_in(text)
    if coordinates.convention != "pixels-shown":
        return
    for size in PICTURES:
        resized = shown_size(size)
        stated = coordinates.extent(size, size)
        if resized is not None and resized != stated:
            raise UsageError(
                f"{spec}: its processor resizes a picture of {_words(size)} pixels to "
                f"{_words(resized)}, but with the coordinates {text}, the model would be shown "
                f"{_words(stated)}. State the processor's resizing: "
                "pixels-shown:factor=N,min_pixels=N,max_pixels=N."
            )


def _words(size: tuple[float, float]) -> str:
    return f"{size[0]:g} x {size[1]:g}"
