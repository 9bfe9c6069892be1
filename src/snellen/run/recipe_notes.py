"""Notes on the settings of a recipe that a run leaves out or replaces."""

from __future__ import annotations

from collections.abc import Iterable

WITHOUT = "without these settings of the recipe: "
REPLACED = "settings of the recipe that options replaced: "


def without_note(names: Iterable[str]) -> str:
    """The note on settings that the user left out."""
    return f"{WITHOUT}{', '.join(names)}"


def replaced_notes(names: Iterable[str]) -> list[str]:
    """A note on settings whose values come from the user's options; none if there are no such
    settings."""
    replaced = ", ".join(names)
    return [f"{REPLACED}{replaced}"] if replaced else []


def is_change_of_recipe(note: str) -> bool:
    """Whether a run's note says that settings of the recipe were left out or replaced."""
    return note.startswith((WITHOUT, REPLACED))
