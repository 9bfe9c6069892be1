"""Copies frozen objects quickly, for code that runs for every sample."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def changed(instance: T, **fields: Any) -> T:
    """Copy an instance of a frozen dataclass and change some fields.

    This does the same as `dataclasses.replace` in a fifth of the time, but does not run
    `__post_init__`. The class must not have slots.
    """
    copy = object.__new__(type(instance))
    copy.__dict__.update(instance.__dict__, **fields)
    return copy
