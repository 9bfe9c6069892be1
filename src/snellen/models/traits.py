"""The attributes with which a model describes itself. A wrapper copies these attributes from its
model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

TRAITS: Mapping[str, Callable[[object], bool]] = {
    "takes_tools": lambda value: isinstance(value, bool),
    "takes_pictures_in_results": lambda value: isinstance(value, bool),
    "takes_results": lambda value: isinstance(value, bool),
    "wants_frames": lambda value: isinstance(value, bool),
    "notes": lambda value: (
        isinstance(value, list | tuple) and all(isinstance(note, str) for note in value)
    ),
}
"""Maps each trait to a function that checks the trait's value. The check is necessary because a
user's object may use the same name for a different purpose."""


def copy_traits(model: object, wrapper: object) -> None:
    """Copy the model's valid traits to its wrapper."""
    for name, is_valid in TRAITS.items():
        value = getattr(model, name, None)
        if is_valid(value):
            setattr(wrapper, name, value)
