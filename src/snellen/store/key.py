"""The key that identifies a reply within a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from snellen.store.formats import MAX_COUNT


class Key(tuple[Any, ...]):
    """The (sample, repeat, turn, step) of one reply.

    `turn` counts the benchmark's questions in a conversation. `step` counts the requests within a
    turn; there can be several if the model uses tools. The reply to a turn is the reply to its last
    step. If the step is 0, the key is a tuple of only the other three values, in memory and in
    files. Keys with step 0 are equal to the keys that earlier versions wrote.

    >>> Key("a", 0, 1) == ("a", 0, 1)
    True
    >>> Key("a", 0, 1, 2)
    ('a', 0, 1, 2)
    """

    __slots__ = ()

    def __new__(cls, sample: str, repeat: int = 0, turn: int = 0, step: int = 0) -> Key:
        parts = (sample, repeat, turn, step) if step else (sample, repeat, turn)
        return super().__new__(cls, parts)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)  # `copy` passes the parts to __new__, not a tuple of them

    @classmethod
    def of(cls, parts: Sequence[Any]) -> Key:
        """Create a key from a list of three or four parts.

        Raises:
            ValueError: the parts do not form a key.
        """
        if type(parts) is cls:
            return parts
        is_key = (
            3 <= len(parts) <= 4
            and isinstance(parts[0], str)
            and all(type(part) is int and 0 <= part < MAX_COUNT for part in parts[1:])
        )
        if not is_key:
            raise ValueError(f"{[*parts]} is not a key: sample, repeat, turn, and a step if not 0")
        return cls(*parts)

    @property
    def sample(self) -> str:
        """The sample's id."""
        return cast(str, self[0])

    @property
    def repeat(self) -> int:
        """The number of the repeat, from 0."""
        return cast(int, self[1])

    @property
    def turn(self) -> int:
        """The number of the turn, from 0."""
        return cast(int, self[2])

    @property
    def step(self) -> int:
        """The number of the request within its turn, from 0."""
        return cast(int, self[3]) if len(self) > 3 else 0

    @property
    def is_first(self) -> bool:
        """Whether this is the key of the first request of a conversation."""
        return self.turn == self.step == 0


AnyKey = Key | tuple[str, int, int]
"""A key for lookups, which may also be a plain tuple."""
