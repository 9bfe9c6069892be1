"""Passes the events of a run in progress to the progress display, the running score, and the
caller.

To add an observer, write a subclass of `Observer` and add an instance to the run in
`preparation.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic

from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import MediaError, ModelError
from snellen.run.progress import Progress
from snellen.run.readings import Readings
from snellen.run.recorder import Turn
from snellen.run.stop import Stop

OnReply = Callable[[Sample, Reply], object]
"""Called after each sample's final reply is stored. If turns are scored separately, called once for
each scored turn."""
LONG = 4_000
"""The maximum length, in characters, of replies in the running score. To parse longer replies on
the event loop would delay all requests. The report includes them."""


class Observer:
    """Receives the events of a run in the event loop's thread. Subclasses override the methods that
    they need.

    An exception in an observer ends the run.
    """

    def groups_counted(self, total: int) -> None:
        """The number of groups of samples that share a video has been counted."""

    def group_finished(self) -> None:
        """All samples of a group are finished."""

    def samples_kept(self, count: int) -> None:
        """An earlier invocation already stored all replies to `count` (sample, repeat) pairs."""

    def request_sent(self, turn: Turn) -> None:
        """A request is about to be sent to the model."""

    def request_ended(self, turn: Turn) -> None:
        """The request has ended, with a reply or an error."""

    def reply_stored(self, turn: Turn, reply: Reply, seconds: float) -> None:
        """The model's reply is stored. It arrived `seconds` after the request was sent."""

    def reply_reused(self, turn: Turn, reply: Reply) -> None:
        """Another run's reply to the same request is stored."""

    def request_retried(self, turn: Turn, error: ModelError) -> None:
        """The request failed and will be sent again."""

    def sample_failed(self, error: ModelError | MediaError) -> None:
        """A sample or one of its turns will not get a reply."""

    def sample_finished(self, replies: Sequence[tuple[Sample, Reply]]) -> None:
        """A sample's last reply is stored. `replies` has one pair of sample and reply, or one pair
        for each scored turn if turns are scored separately."""


class Observers(Observer):
    """Combines several observers. Each event is passed, in order, to the observers that override
    the event's method."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        for event in [name for name in vars(Observer) if not name.startswith("_")]:
            methods = [
                getattr(observer, event)
                for observer in observers
                if getattr(type(observer), event) is not getattr(Observer, event)
            ]
            if methods:
                call = methods[0] if len(methods) == 1 else partial(_call_all, methods)
                setattr(self, event, call)


def _call_all(methods: Sequence[Callable[..., object]], *event: object) -> None:
    for method in methods:
        method(*event)


class ProgressCounter(Observer):
    """Counts requests, tokens, and samples in a run's progress."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def groups_counted(self, total: int) -> None:
        self._progress.videos_total = total

    def group_finished(self) -> None:
        if self._progress.videos_total is not None:
            self._progress.videos += 1

    def samples_kept(self, count: int) -> None:
        self._progress.kept += count

    def request_sent(self, turn: Turn) -> None:
        if not self._progress.requests:
            # Before, the run may have waited for other runs of the same call.
            self._progress.started = monotonic()
        self._progress.in_flight += 1
        self._progress.requests += 1

    def request_ended(self, turn: Turn) -> None:
        self._progress.in_flight -= 1

    def reply_stored(self, turn: Turn, reply: Reply, seconds: float) -> None:
        self._progress.count(reply.usage)

    def reply_reused(self, turn: Turn, reply: Reply) -> None:
        self._progress.reused += 1

    def request_retried(self, turn: Turn, error: ModelError) -> None:
        self._progress.retries += 1

    def sample_failed(self, error: ModelError | MediaError) -> None:
        self._progress.failed += 1

    def sample_finished(self, replies: Sequence[tuple[Sample, Reply]]) -> None:
        self._progress.done += 1


class RunningScore(Observer):
    """Keeps a running mean of the headline scores, if the scoring scores single samples and
    everything that it needs is installed."""

    def __init__(
        self, benchmark: Benchmark, progress: Progress, readings: Readings | None = None
    ) -> None:
        self._benchmark = benchmark
        self._scoring = benchmark.scorings[benchmark.headline]
        self._parse = self._scoring.parse if readings is None else readings.keep
        self._progress = progress
        self._can_score = self._scoring.is_installed
        self._has_failed = False

    def sample_finished(self, replies: Sequence[tuple[Sample, Reply]]) -> None:
        if self._has_failed:
            return
        for sample, reply in replies:
            try:
                self._add(sample, reply)
            except Exception:
                # The run goes on, so that all replies are stored. Scoring reports the error.
                self._has_failed = True
                self._progress.score_n = 0
                self._progress.note(
                    f"the running score is not shown: the scoring of sample {sample.id!r} failed. "
                    "The error is shown at the end"
                )
                return

    def _add(self, sample: Sample, reply: Reply) -> None:
        scoring = self._scoring
        if len(reply.text) > LONG or not self._can_score:
            return
        if scoring.reads != self._benchmark.procedure.kind or sample.hidden:
            return
        if reply.state == "refused":
            # As in the report, it counts as wrong if a score of 0 means wrong.
            self._progress.refused += scoring.zero_is_wrong
            return
        reading = self._parse(reply, sample)
        if scoring.judge is not None and scoring.judge.when(reading):
            return  # The report, too, counts the reply only once a judge has decided.
        readings = [reading]
        if reading.undecided:
            # The report draws one of the candidates at random. The mean is the expected score.
            readings = [replace(reading, answer=answer) for answer in reading.candidates]
        scores = [total_score(scoring.score(option, sample)) for option in readings]
        known = [score for score in scores if score is not None]
        if known:
            self._progress.score_sum += sum(known) / len(known)
            self._progress.score_n += 1
            self._progress.drawn += reading.undecided


class ReplyCallback(Observer):
    """Passes final replies to the caller's function. An exception in the function ends the run but
    does not cancel requests in flight, since the function is called by the event loop and not in a
    sample's task."""

    def __init__(self, on_reply: OnReply, stop: Stop) -> None:
        self._on_reply = on_reply
        self._stop = stop

    def sample_finished(self, replies: Sequence[tuple[Sample, Reply]]) -> None:
        loop = asyncio.get_running_loop()
        for sample, reply in replies:
            loop.call_soon(self._call, sample, reply)

    def _call(self, sample: Sample, reply: Reply) -> None:
        if self._stop.crash is not None:
            return
        try:
            self._on_reply(sample, reply)
        except Exception as error:  # raised again when the run ends
            self._stop.set_crash(error)
