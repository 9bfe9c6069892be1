"""Defines the journal's records of finished windows.

In an online run whose model speaks on its own, a question has windows of time in which the model
should say something. A line of the journal has what a session got and sent up to the end of a
window, so that an interrupted session can go on from there.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from snellen.store.formats import NEWEST, Count
from snellen.store.key import Key


class SessionMessageFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message that a session sent on its own, or a part of one."""

    text: str
    """The text."""
    query: str | None = None
    """The id of the sample whose question the message names; absent if it names none."""
    final: bool = True
    """Whether the message is complete; false if further parts follow."""


class SessionCallFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a session got in a call, and what it sent then."""

    at: float
    """The media time after the call, in seconds."""
    frame: Count | None = None
    """The index of the frame in the video; absent if the session got a question."""
    query: str | None = None
    """The id of the sample whose question the session got; absent if it got a frame."""
    messages: list[SessionMessageFields] = []
    """The messages that the session sent."""


class StreamedFields(msgspec.Struct, frozen=True, kw_only=True):
    """What a session has been shown from the start of its video, and how long its model took."""

    frames: Count
    """The number of frames, apart from the newest frame before a question."""
    dropped: Count
    """The number of frames that arrived while the model was busy and were dropped."""
    seconds: float
    """The time that the model took, in seconds."""
    lag: float
    """The largest delay of the model relative to the stream, in seconds."""


class WindowRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the journal that marks a finished window of a question. An interrupted session
    continues from the last of these lines."""

    format: int
    """The number of the format."""
    key: Key
    """The sample, repeat, and turn, and as the step the number of the window, from 1."""
    at: str
    """When the line was stored (ISO 8601)."""
    samples: list[str]
    """The ids of the samples whose questions the session gets, in order."""
    until: float
    """The end of the window, in seconds of media time. The session has got everything up to this
    time."""
    clock: float
    """The session's media time when the line was stored, in seconds. It is larger than `until` if
    the model is behind the stream."""
    before: Count
    """The number of the session's calls that earlier lines have."""
    calls: list[SessionCallFields] = []
    """The calls of the session since then, in order."""
    streamed: StreamedFields | msgspec.UnsetType = msgspec.UNSET
    """The session's figures up to the end of the window; absent if they are not known."""
    kind: Literal["window"] = "window"
    """Always `window`."""

    @property
    def least_format(self) -> int:
        """The lowest format number that covers all features that this line uses."""
        return NEWEST
