"""What an online run's log says of time: how long the model took, and what it did not see."""

from __future__ import annotations

from snellen.scoring.document import StreamReport
from snellen.store import Run


def stream_report(run: Run) -> StreamReport | None:
    """What the log of a run says, None where it has none."""
    # A video that was watched again, for a repeat or a question that was left, took time again.
    data = [
        event.data
        for event in run.events()
        if event.ev == "end" and event.data.get("reason") == "end"
    ]
    if not data:
        return None
    media = sum(one["media"] for one in data)
    cost = sum(one["cost"] for one in data)
    dropped = sum(len(one["dropped"]) for one in data)
    frames = sum(one["frames"] for one in data) + dropped
    # The seconds that the frames it was shown stand for: who is too slow is not fast for it.
    watched = media * (frames - dropped) / frames if frames else 0.0
    return StreamReport(
        sessions=len(data),
        media_seconds=round(media, 3),
        model_seconds=round(cost, 3),
        real_time_factor=cost / watched if watched else None,
        frames=frames,
        dropped=dropped,
        most_lag=max(one["lag"] for one in data),
    )


def stream_notes(found: StreamReport) -> list[str]:
    """The same in words."""
    factor = "-" if found.real_time_factor is None else f"{found.real_time_factor:.2f}"
    noun = "session" if found.sessions == 1 else "sessions"
    said = [
        f"{found.sessions:,} {noun}: {found.media_seconds:,.0f} s of video took the model "
        f"{found.model_seconds:,.1f} s, a real-time factor of {factor}"
    ]
    if found.dropped:
        said.append(
            f"{found.dropped:,} of {found.frames:,} frames came while the model was busy, and were "
            "not shown to it; events.jsonl names them"
        )
    if found.most_lag > 1:
        said.append(f"the model was up to {found.most_lag:,.1f} s behind the stream")
    return said
