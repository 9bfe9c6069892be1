"""Attributes by which a model describes itself. A wrapper has the same ones as its model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

TRAITS: Mapping[str, Callable[[object], bool]] = {
    "takes_tools": lambda value: isinstance(value, bool),
    "wants_frames": lambda value: isinstance(value, bool),
    "notes": lambda value: (
        isinstance(value, list | tuple) and all(isinstance(note, str) for note in value)
    ),
}
"""Each trait and the check of its value: a caller's object may use the name for something else."""


def copy_traits(model: object, wrapper: object) -> None:
    """Copy the model's valid traits to its wrapper."""
    for name, is_valid in TRAITS.items():
        value = getattr(model, name, None)
        if is_valid(value):
            setattr(wrapper, name, value)
