"""Reports how long the model took in an online run, and how many frames it missed. The times are
from the run's log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from snellen.scoring.document import Report, StreamReport
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.sections._base import Base
from snellen.store import EventRecord
from snellen.text.amounts import duration

EVENTS = ("open", "emit", "resume", "end")
"""The kinds of events from which the report is made."""


class StreamingSection(Base):
    """Reports the timing of the sessions of an online run."""

    def summarize(self, draft: Draft) -> Part:
        run = draft.source.run
        events = [] if run is None else [e for e in run.events() if e.ev in EVENTS]
        notes = [*resume_notes(events), *interruption_notes(events)]
        report = stream_report(events)
        if report is None:
            return ({}, notes) if notes else NOTHING
        return {"streaming": report}, [*stream_notes(report), *notes]


def stream_report(events: Sequence[EventRecord]) -> StreamReport | None:
    """The timing of an online run, from the events of its log; None if no session has ended."""
    # If a video is streamed again, for a repeat or a remaining question, its time counts again.
    data = [event.data for event in events if _is_complete(event)]
    if not data:
        return None
    complete = {event.session for event in events if _is_complete(event)}
    # The frames of an interrupted session count if a later session continued it.
    earlier = [
        event.data
        for event in events
        if event.ev == "resume" and event.session in complete and "frames" in event.data
    ]
    media = sum(end["media"] for end in data) + sum(past["until"] for past in earlier)
    cost = sum(end["cost"] for end in data) + sum(past["seconds"] for past in earlier)
    dropped = sum(len(end["dropped"]) for end in data) + sum(past["dropped"] for past in earlier)
    frames = sum(streamed["frames"] for streamed in [*data, *earlier]) + dropped
    # The seconds of video that the shown frames represent. Dropping frames is thus no advantage.
    watched = media * (frames - dropped) / frames if frames else 0.0
    return StreamReport(
        sessions=len(data),
        media_seconds=round(media, 3),
        model_seconds=round(cost, 3),
        real_time_factor=cost / watched if watched else None,
        frames=frames,
        dropped=dropped,
        most_lag=max(streamed["lag"] for streamed in [*data, *earlier]),
    )


def _is_complete(event: EventRecord) -> bool:
    """Whether the event is the end of a session that reached the end of its video."""
    return event.ev == "end" and event.data.get("reason") == "end"


def stream_notes(report: StreamReport) -> list[str]:
    """Notes on the timing."""
    factor = "-" if report.real_time_factor is None else f"{report.real_time_factor:.2f}"
    noun = "session" if report.sessions == 1 else "sessions"
    notes = [
        f"{report.sessions:,} {noun}: {report.media_seconds:,.0f} s of video took the model "
        f"{report.model_seconds:,.1f} s, a real-time factor of {factor}"
    ]
    if report.dropped:
        notes.append(
            f"{report.dropped:,} of {report.frames:,} frames arrived while the model was busy and "
            "were not shown to it; events.jsonl lists them"
        )
    if report.most_lag > 1:
        notes.append(f"the model was up to {report.most_lag:,.1f} s behind the stream")
    return notes


def resume_notes(events: Sequence[EventRecord]) -> list[str]:
    """Notes on the sessions that continued after an interruption."""
    data = [event.data for event in events if event.ev == "resume"]
    if not data:
        return []
    differing, calls = (sum(resume[name] for resume in data) for name in ("differing", "calls"))
    sessions = "1 session" if len(data) == 1 else f"{len(data):,} sessions"
    note = f"{sessions} continued after an interruption, from the last finished window"
    if differing:
        note += (
            f". In {differing:,} of {calls:,} earlier calls, the model did not repeat its "
            "messages; the stored messages count"
        )
    notes = [note]
    if unknown := sum("frames" not in resume for resume in data):
        notes.append(
            f"for {unknown:,} of these sessions, the log lacks the frames and times before the "
            "interruption, so the figures on the stream cover only what came after it"
        )
    return notes


def interruption_notes(events: Sequence[EventRecord]) -> list[str]:
    """A note on interrupted sessions whose replies count, although their frames and times do
    not."""
    complete = {event.session for event in events if _is_complete(event)}
    # If sessions remember their questions, a later session asks all of them again.
    forked = {
        event.session
        for event in events
        if event.ev == "open" and event.data.get("memory") == "fork"
    }
    answered = {event.session for event in events if event.ev == "emit"}
    n = len((forked & answered) - complete)
    if not n:
        return []
    sessions = "1 session was" if n == 1 else f"{n:,} sessions were"
    return [
        f"{sessions} interrupted. The replies until then count, and the video was streamed again "
        "for the other questions. The figures on the stream cover only sessions that reached the "
        "end of their video"
    ]


def streaming_facts(report: Report) -> Iterator[tuple[str, str]]:
    """Yield labels and texts on the amount of video that was streamed, and on whether the model
    kept up."""
    stream = report.streaming
    if stream is None:
        return
    sessions = "1 session" if stream.sessions == 1 else f"{stream.sessions:,} sessions"
    yield "streamed", f"{duration(stream.media_seconds)} of video in {sessions}"
    dropped = f"{stream.dropped:,} dropped while the model was busy"
    yield "frames", f"{stream.frames:,}, of which {dropped}"
    if stream.real_time_factor is not None:
        keeps_up = "keeps up" if stream.real_time_factor <= 1 else "does not keep up"
        delay = f"at worst {stream.most_lag:.2f} s behind"
        yield (
            "real-time factor",
            f"{stream.real_time_factor:.2f} (the model {keeps_up}, {delay})",
        )
