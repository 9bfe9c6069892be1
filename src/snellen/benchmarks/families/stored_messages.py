"""Stores the messages that another tool's code builds for a row in the row's sample, and rebuilds
them from the sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from snellen.core import Sample
from snellen.media.content import Image, Message, Part, Text, Video

Media = tuple[Image | Video, ...]
Turns = list[list[object]]
"""For each message, its role and its parts. A part is a text, or the index of a medium."""


def stored(messages: Sequence[Message]) -> tuple[Media, Turns]:
    """Split messages into their media and turns that JSON can represent, for `Sample.media` and
    `Sample.data["messages"]`."""
    media: list[Image | Video] = []
    turns: Turns = []
    for message in messages:
        parts: list[str | int] = []
        for part in message.content:
            if isinstance(part, str):
                parts.append(part)
            else:
                parts.append(len(media))
                media.append(part)
        turns.append([message.role, parts])
    return tuple(media), turns


def messages_of(sample: Sample) -> tuple[Message, ...]:
    """Rebuild the messages that `stored` split."""
    turns: Any = sample.data["messages"]
    return tuple(
        Message(role, tuple(_part(part, sample) for part in parts)) for role, parts in turns
    )


def _part(part: str | int, sample: Sample) -> Part:
    return Text(part) if isinstance(part, str) else sample.media[part]
