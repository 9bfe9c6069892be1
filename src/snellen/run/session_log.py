"""Stores the log of a session, which consists of its events in order, and collects the model's
messages with their times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from secrets import token_hex
from typing import Any

from msgspec.structs import asdict

from snellen.core.model import Emission, Query, Reply, Usage
from snellen.core.sample import Sample
from snellen.media.content import Frame
from snellen.run.media_clock import Arrival
from snellen.store import FORMAT, EventRecord, SessionCallFields, StreamedFields

NOTHING_STREAMED = StreamedFields(frames=0, dropped=0, seconds=0.0, lag=0.0)


class SessionLog:
    """Writes the events of one session. The event of a frame or a question is written before the
    session gets it. Events never contain right answers."""

    def __init__(self, name: str, write: Callable[[EventRecord], None]) -> None:
        self._name = name
        self._write = write
        self._number = 0
        self._frames = 0
        self._dropped: list[Arrival] = []
        self._before: StreamedFields | None = NOTHING_STREAMED
        self._cost = 0.0
        self._lag = 0.0

    def open(self, header: Mapping[str, Any]) -> None:
        self._add("open", header)

    def lost_frame(self, arrival: Arrival, pts: float) -> None:
        self._dropped.append(arrival)
        frame = {"k": arrival.index, "pts": pts, "tau": arrival.time}
        self._add("frame", frame | {"delivered": False})

    def frame(self, arrival: Arrival, frame: Frame, pts: float) -> None:
        """Log a regular frame of the stream."""
        self._frames += 1
        position = {"k": arrival.index, "pts": pts, "tau": arrival.time}
        self._add("frame", position | _pixels(frame) | {"delivered": True})

    def latest_frame(self, index: int, frame: Frame, fork: str) -> None:
        """Log the newest frame before a question."""
        position = {"k": index, "pts": frame.time, "delivered": True}
        self._add("frame", position | _pixels(frame) | ({"fork": fork} if fork else {}))

    def replayed_frame(self, index: int, frame: Frame, pts: float, at: float) -> None:
        """Log a frame that an interrupted session got. `at` is its media time after the frame."""
        position = {"k": index, "pts": pts, "tau": at}
        self._add("frame", position | _pixels(frame) | {"delivered": True, "replayed": True})

    def resumed(
        self, until: float, calls: int, differing: int, streamed: StreamedFields | None
    ) -> None:
        """Log that the state of an interrupted session was restored with so many calls. In
        `differing` calls, the session did not send the stored messages again. `streamed` has the
        figures of the interrupted session; None if they are not known."""
        self._before = streamed
        resume = {"until": until, "calls": calls, "differing": differing}
        self._add("resume", resume | ({} if streamed is None else asdict(streamed)))

    def streamed(self, until: float) -> StreamedFields | None:
        """The figures of the session from the start of its video to `until`, in media seconds. None
        if those of an interrupted session are not known."""
        if self._before is None:
            return None
        # A dropped frame can be logged before the frames that arrived earlier are shown.
        dropped = sum(arrival.time <= until for arrival in self._dropped)
        return StreamedFields(
            frames=self._before.frames + self._frames,
            dropped=self._before.dropped + dropped,
            seconds=round(self._before.seconds + self._cost, 6),
            lag=round(max(self._before.lag, self._lag), 6),
        )

    def lag(self, seconds: float) -> None:
        """Record the delay between the arrival of a frame and the end of its processing."""
        self._lag = max(self._lag, seconds)

    def question(
        self,
        sample: Sample,
        query: Query,
        at: float,
        must_answer: bool,
        *,
        replayed: bool = False,
    ) -> None:
        """Log a question. `replayed` is true if an interrupted session got it."""
        digest = blake2b(query.text.encode(), digest_size=16).hexdigest()
        data = {"query": sample.id, "text": digest, "at": at, "must_answer": must_answer}
        self._add("ask", data | ({"replayed": True} if replayed else {}))

    def call(self, kind: str, start: float, cost: float, fork: str) -> None:
        self._cost += cost
        call = {"kind": kind, "start": start, "cost": round(cost, 6)}
        self._add("call", call | ({"fork": fork} if fork else {}))

    def emission(self, emission: Emission, sample: str | None, at: float) -> None:
        event: dict[str, Any] = {"text": emission.text, "at": at}
        if sample is not None:
            event["query"] = sample
        if not emission.final:
            event["final"] = False
        if emission.silence is not None:
            event["silence"] = emission.silence
        self._add("emit", event)

    def end(self, reason: str, media_seconds: float) -> None:
        self._add(
            "end",
            {
                "reason": reason,
                "media": media_seconds,
                "cost": round(self._cost, 6),
                "frames": self._frames,
                "dropped": [arrival.index for arrival in self._dropped],
                "lag": round(self._lag, 6),
            },
        )

    def _add(self, kind: str, data: Mapping[str, Any]) -> None:
        self._write(
            EventRecord(format=FORMAT, session=self._name, seq=self._number, ev=kind, data={**data})
        )
        self._number += 1


class Utterances:
    """Collects a session's messages: its answers to questions, and what it says on its own."""

    def __init__(self, log: SessionLog) -> None:
        self._log = log
        self._messages: list[dict[str, Any]] = []
        self._samples: dict[str, str] = {}

    def query_id(self, sample: Sample) -> str:
        """Create a random name for a question, which does not reveal the question's number to the
        model."""
        name = token_hex(8)
        self._samples[name] = sample.id
        return name

    def answer(self, sample: Sample, emissions: Sequence[Emission], at: float) -> Reply:
        """Combine a session's emissions for a question into a reply."""
        for emission in emissions:
            self._log.emission(emission, sample.id, at)
        usage = [emission.usage for emission in emissions if emission.usage is not None]
        return Reply(
            text="".join(emission.text for emission in emissions),
            stop=emissions[-1].stop if emissions else None,
            usage=_sum(usage) if usage else None,
        )

    def add(self, emissions: Sequence[Emission], at: float) -> None:
        """Add what a session says on its own. A message may consist of several parts; the last part
        is marked as final."""
        for emission in emissions:
            sample = self.sample_of(emission)
            self._log.emission(emission, sample, at)
            self._collect(emission.text, sample, emission.final, at)

    def restore(self, call: SessionCallFields) -> list[Emission]:
        """Add what an interrupted session said on its own in a call. Returns its messages, with the
        names that the questions have in this session."""
        names = {sample: name for name, sample in self._samples.items()}
        for message in call.messages:
            self._collect(message.text, message.query, message.final, call.at)
        return [
            Emission(
                text=message.text,
                query=None if message.query is None else names.get(message.query),
                final=message.final,
            )
            for message in call.messages
        ]

    def sample_of(self, emission: Emission) -> str | None:
        """The id of the sample whose question a message names; None if it names none."""
        return None if emission.query is None else self._samples.get(emission.query)

    def _collect(self, text: str, sample: str | None, final: bool, at: float) -> None:
        last = self._messages[-1] if self._messages else None
        if last is not None and not last["final"] and last["query"] == sample:
            last["text"] += text
            last["done"] = at
            last["final"] = final
        else:
            message = {"onset": at, "done": at, "text": text, "query": sample, "final": final}
            self._messages.append(message)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages that the session sent on its own, in the form of
        `core.streaming.SessionMessage`."""
        return [
            {name: value for name, value in message.items() if name != "final"}
            for message in self._messages
        ]


def _pixels(frame: Frame) -> dict[str, Any]:
    image = frame.image
    pixels = {"digest": image.digest, "width": image.width, "height": image.height}
    return pixels if image.original is None else {**pixels, "original": [*image.original]}


def _sum(usage: Sequence[Usage]) -> Usage:
    def total(counts: Iterator[int | None]) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if known else None

    return Usage(
        input=total(part.input for part in usage),
        output=total(part.output for part in usage),
        reasoning=total(part.reasoning for part in usage),
        cached=total(part.cached for part in usage),
    )
