"""Stops a run once its headline is precise enough (`--until-stderr X`).

The method is sequential sampling with a confidence interval of fixed width. The rule is from Chow
and Robbins 1965, On the Asymptotic Theory of Fixed-Width Sequential Confidence Intervals for the
Mean, Annals of Mathematical Statistics 36:457-462: sampling stops at the first n with s²/n + 1/n² ≤
X², where s² is the variance of the scores. The second term prevents the run from ending too early
while the scores have no variance yet, for example after a few right answers in a row. Glynn and
Whitt 1992, The Asymptotic Validity of Sequential Stopping Rules for Stochastic Simulations, Annals
of Applied Probability 2:180-198, show that such rules are also valid for estimators other than the
mean, as X goes to 0. For a fixed X, such rules are not exact. `perf/until_stderr.py` measures the
coverage and the bias, and docs/cost.md reports the results.

A *look* is a check of the rule. Looks take place only after certain numbers of replies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import UsageError
from snellen.run.observer import Observer
from snellen.run.stop import Stop
from snellen.scoring import Scored, Tally, replies_of
from snellen.stats import Estimate
from snellen.store import Run

FIRST_LOOK = 100
"""The number of replies before the first look."""
GROWTH = 1.1
"""The factor by which the number of replies grows from one look to the next."""
NEW_ROWS = 1 << 30
"""The row index that the first reply of this invocation gets. It is larger than the row indexes of
all replies from earlier invocations."""


def next_look(replies: int) -> int:
    """The number of replies at the next look, after a look at `replies` replies."""
    return max(FIRST_LOOK, math.ceil(replies * GROWTH))


def is_precise(stderr: float, clusters: int, limit: float, scale: float = 1.0) -> bool:
    """Whether sampling stops: stderr² + (scale / clusters)² ≤ limit². `scale` is the range of
    possible scores, in the unit of the metric.

    >>> is_precise(0.0, 100, 0.01), is_precise(0.0, 99, 0.01), is_precise(0.008, 300, 0.01)
    (True, False, True)
    """
    return stderr**2 + (scale / clusters) ** 2 <= limit**2 * (1 + 1e-12)


def check_benchmark(benchmark: Benchmark) -> None:
    """Check that the headline of this benchmark can be computed before a run is complete.

    Raises:
        UsageError: the headline cannot be computed from single replies during the run.
    """
    scoring = benchmark.scorings[benchmark.headline]
    why = None
    if scoring.judge is not None:
        why = "its headline needs the verdicts of a judge, which are requested after the run"
    elif scoring.resolve is not None:
        why = "its headline depends on all replies together"
    elif scoring.reads != benchmark.procedure.kind:
        why = "no scoring reads its replies"
    elif benchmark.procedure.kind == "session":
        why = "its replies are streams"
    elif benchmark.procedure.conversation.by_turn is not None:
        why = "it scores each turn of a conversation"
    if why is not None:
        raise UsageError(
            f"--until-stderr does not work with {benchmark.name}: {why}. Draw a fixed number of "
            "rows with --sample N instead."
        )


def check_earlier(run: Run, before: Mapping[str, Any], session: Mapping[str, Any]) -> None:
    """Check that earlier invocations of a run drew rows in the same random order as this
    invocation.

    `before` is the run's manifest before this invocation. `session` is the manifest's entry for
    this invocation.

    Raises:
        UsageError: the run has replies that are not part of this random sample.
    """
    same = all(
        earlier.get(name) == session[name]
        for earlier in before.get("sessions", [])
        for name in ("order_seed", "limit", "sample")
    )
    if not same and run.input_sizes()["replies"]:
        raise UsageError(
            f"{run.path} has replies to rows that were not drawn in this random order, so its rows "
            "would not be a random sample. Use another folder: `--out DIR --reuse "
            f"{run.path}` copies the replies that it needs from the old folder."
        )


class StderrWatch(Observer):
    """Stops a run once the standard error of its headline is small enough."""

    def __init__(
        self, benchmark: Benchmark, run: Run, stop: Stop, limit: float, total: int
    ) -> None:
        self._scoring = benchmark.scorings[benchmark.headline]
        self._headline = benchmark.headline
        self._kind = benchmark.procedure.kind
        self._tally = Tally(benchmark, [benchmark.headline])
        self._stop = stop
        self._limit = limit
        self._total = total
        earlier = [scored for scored in replies_of(run, benchmark) if scored.reply is not None]
        self._tally.add(earlier)
        self._n = len(earlier)
        self._look_at = next_look(0)
        self._look()

    def sample_finished(self, replies: Sequence[tuple[Sample, Reply]]) -> None:
        self._tally.add(
            Scored(sample, 0, reply.state, reply, self._kind, row_index=NEW_ROWS + self._n + number)
            for number, (sample, reply) in enumerate(replies)
        )
        self._n += len(replies)
        self._look()

    def _look(self) -> None:
        if self._n < self._look_at or self._stop.reason is not None:
            return
        self._look_at = next_look(self._n)
        name = next(iter(self._scoring.metrics))
        estimate, clusters = self._estimate(name)
        scale = 1.0 if estimate.unit == "fraction" else self._scoring.best
        stderr = estimate.stderr
        if stderr is None or self._n >= self._total:
            return
        if is_precise(stderr, clusters, self._limit, scale):
            self._stop.set(
                f"the standard error of {name}, {stderr:.4g}, is at most {self._limit:g}, after "
                f"{self._n:,} of {self._total:,} questions",
                patient=True,
                is_goal=True,
            )

    def _estimate(self, metric: str) -> tuple[Estimate, int]:
        """Estimate the headline's first metric from the replies so far, and count the clusters of
        these replies."""
        import numpy as np

        (rows,) = self._tally.rows_by(self._headline)
        columns = rows.columns.where(rows.in_mean)
        if not columns.n:
            return Estimate(value=None, n=0), 0
        return self._scoring.metrics[metric](columns), len(np.unique(columns.cluster))


def shortfall(result: Result, limit: float) -> str | None:
    """Explain why the headline of a finished run is not precise enough; None if it is precise
    enough."""
    stderr = result.headline.stderr if result.report.scorings else None
    metric = next(iter(result.scoring().metrics), "") if result.report.scorings else "it"
    if stderr is None:
        return f"the standard error of {metric} is unknown; at most {limit:g} is required"
    if stderr > limit:
        return f"the standard error of {metric} is {stderr:.4g}; at most {limit:g} is required"
    return None
