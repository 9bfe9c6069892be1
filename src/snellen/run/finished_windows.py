"""Stores what a session has done after each of its windows, and continues an interrupted session
after its last finished window.

This is for questions that the model may answer at any time. A new session gets the frames and
questions of the interrupted session again, but the stored messages count, not those that the model
sends in the meantime. A session with a method `replay` gets the stored messages too, so that its
model does not have to repeat its work.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from snellen.core.model import Emission, Query, Replays, Session
from snellen.core.outputs import check_emissions
from snellen.core.sample import Sample
from snellen.core.streaming import Streaming
from snellen.media.content import Frame
from snellen.run.feeding import Feeding
from snellen.run.recorder import Recorder
from snellen.run.session_log import SessionLog, Utterances
from snellen.store import (
    Key,
    SessionCallFields,
    SessionMessageFields,
    StreamedFields,
    WindowRecord,
)


@dataclass(frozen=True, kw_only=True)
class SessionPast:
    """What an interrupted session got and sent up to the end of its last finished window. By
    default, there was no such session."""

    calls: Sequence[SessionCallFields] = ()
    """The calls, in order."""
    until: float = 0.0
    """The end of the last finished window, in seconds of media time."""
    clock: float = 0.0
    """The media time of the session after the last finished window, in seconds."""
    keys: frozenset[Key] = frozenset()
    """The keys of the finished windows."""
    streamed: StreamedFields | None = None
    """The figures of the session up to the end of its last finished window; None if they are not
    known."""

    @property
    def frames(self) -> Sequence[int]:
        """The indices of the frames, in order."""
        return [call.frame for call in self.calls if call.frame is not None]

    def fits(self, frames: Collection[int], samples: Collection[str]) -> bool:
        """Whether a session that gets these frames of the video, and the questions of these
        samples, can go on from here."""
        if [*self.frames] != sorted(self.frames):
            return False
        return all(
            call.query in samples if call.frame is None else call.frame in frames
            for call in self.calls
        )


def past_of(records: Iterable[WindowRecord]) -> SessionPast:
    """Join the records of a session, in the order of the journal. Records whose predecessor is
    missing are ignored."""
    chain: list[WindowRecord] = []
    for record in records:
        while chain and _calls_up_to(chain) > record.before:
            chain.pop()  # a later session went on from an earlier window
        if _calls_up_to(chain) == record.before:
            chain.append(record)
    if not chain:
        return SessionPast()
    return SessionPast(
        calls=[call for record in chain for call in record.calls],
        until=chain[-1].until,
        clock=chain[-1].clock,
        keys=frozenset(record.key for record in chain),
        streamed=None if chain[-1].streamed is UNSET else chain[-1].streamed,
    )


def _calls_up_to(chain: Sequence[WindowRecord]) -> int:
    return chain[-1].before + len(chain[-1].calls) if chain else 0


class WindowJournal:
    """Writes a record after each window of a session's questions. Without windows, it writes
    nothing."""

    def __init__(
        self,
        recorder: Recorder,
        streaming: Streaming,
        samples: Sequence[Sample],
        repeat: int,
        past: SessionPast,
        log: SessionLog,
    ) -> None:
        self.past = past
        """What an interrupted session got and sent before this session."""
        self._recorder = recorder
        self._log = log
        self._samples = [sample.id for sample in samples]
        windows = _windows(recorder, streaming, samples, repeat)
        self._pending = deque(window for window in windows if window[1] not in past.keys)
        self._before = len(past.calls)
        self._calls: list[SessionCallFields] = []

    def note(
        self,
        emissions: Sequence[Emission],
        utterances: Utterances,
        at: float,
        *,
        frame: int | None = None,
        query: str | None = None,
    ) -> None:
        """Note a call of the session: what it got, the messages that it sent, and the media time
        after the call."""
        if self._pending:
            messages = [
                SessionMessageFields(
                    text=emission.text,
                    query=utterances.sample_of(emission),
                    final=emission.final,
                )
                for emission in emissions
            ]
            call = SessionCallFields(at=at, frame=frame, query=query, messages=messages)
            self._calls.append(call)

    def finish(self, time: float, clock: float) -> None:
        """Write the records of the windows that end before the next frame or question, which
        arrives at `time`. `clock` is the session's media time."""
        while self._pending and self._pending[0][0] < time:
            end, key = self._pending.popleft()
            self._recorder.write_window(
                key,
                samples=self._samples,
                until=end,
                clock=clock,
                before=self._before,
                calls=self._calls,
                streamed=self._log.streamed(end),
            )
            self._before += len(self._calls)
            self._calls = []


def _windows(
    recorder: Recorder, streaming: Streaming, samples: Sequence[Sample], repeat: int
) -> list[tuple[float, Key]]:
    """The end and the key of each window, sorted by the end."""
    if streaming.windows is None:
        return []
    return sorted(
        (end, recorder.key(sample, repeat, 0, number))
        for sample in samples
        for number, end in enumerate(sorted(streaming.windows(sample)), start=1)
    )


class Replay:
    """Brings a new session to the state of an interrupted session. `query_of` returns the sample
    with an id, and the sample's question."""

    def __init__(
        self,
        past: SessionPast,
        feeding: Feeding,
        log: SessionLog,
        utterances: Utterances,
        query_of: Callable[[str], tuple[Sample, Query]],
    ) -> None:
        self._past = past
        self._feeding = feeding
        self._log = log
        self._utterances = utterances
        self._query_of = query_of

    async def run(
        self, session: Session, model: str, within: Callable[[Awaitable[Any]], Awaitable[Any]]
    ) -> None:
        """Repeat all calls. `within` awaits a call of the session, and `model` is the model's
        name.

        Raises:
            ModelError, MediaError: the session failed, or a frame cannot be decoded.
        """
        differing = 0
        for call in self._past.calls:
            event = await self._event(call)
            messages = self._utterances.restore(call)
            if isinstance(session, Replays):
                await within(session.replay(event, messages))
            else:
                again = check_emissions(await within(_repeated(session, event)), model)
                differing += [*_texts(again)] != [*_texts(messages)]
        past = self._past
        self._log.resumed(past.until, len(past.calls), differing, past.streamed)

    async def _event(self, call: SessionCallFields) -> Frame | Query:
        """Return the frame or the question of a call."""
        if call.frame is None:
            assert call.query is not None
            sample, query = self._query_of(call.query)
            self._log.question(sample, query, call.at, False, replayed=True)
            return query
        frame = await self._feeding.get(call.frame)
        self._log.replayed_frame(call.frame, frame, self._feeding.times[call.frame], call.at)
        return frame


def _repeated(session: Session, event: Frame | Query) -> Awaitable[Sequence[Emission]]:
    if isinstance(event, Frame):
        return session.feed([event])
    return session.ask(event, must_answer=False)


def _texts(emissions: Iterable[Emission]) -> Iterator[str]:
    return (emission.text for emission in emissions)
