"""Tests whether a judge's verdicts change if a reply tries to steer the judge."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from snellen import stats
from snellen.core.benchmark import Benchmark
from snellen.errors import UsageError
from snellen.run import Budget
from snellen.run.judge_run import judge_run
from snellen.run.lifecycle import Show
from snellen.run.plan import Finished, Plan
from snellen.run.run_plan import budget_of, run_plan
from snellen.run.score_run import benchmark_of
from snellen.scoring import (
    AttemptReport,
    MetricReport,
    SteeringReport,
    judge,
    metric_report,
    replies_of,
)
from snellen.store import FORMAT, Run, identity_digest, safe_name

STEERING = "steering.json"
"""The name of the file with the result of a probe."""


def probe_run(
    path: Path,
    plan: Plan,
    *,
    benchmark: str | Benchmark | None = None,
    scorings: Sequence[str] = (),
    n: int = 40,
    show: Show | None = None,
    budget: Budget | None = None,
) -> tuple[list[SteeringReport], list[Finished]]:
    """Ask each of the plan's judges again about `n` of the replies that it has judged, after adding
    texts to them that try to steer the judge. The replies are drawn with the plan's `sample_seed`.
    Returns how each judge's verdicts change with each kind of text, and the runs.

    Replies without a verdict are judged first, as in `judge_run`. The probes' runs are stored in
    `probed/` in the run's folder, each with its report in `steering.json`. These runs do not affect
    any score.

    Raises:
        UsageError: `path` is not a run, a scoring does not exist or has no judge, or none of the
            verdicts can be read.
    """
    budget, seed = budget or budget_of(plan), plan.options["sample_seed"]
    _, finished = judge_run(
        path, plan, benchmark=benchmark, scorings=scorings, show=show, budget=budget
    )
    if any(judged.interrupted for judged in finished):
        return [], finished
    run = Run(path)
    benchmark = benchmark_of(path, run.manifest(), benchmark)
    names = {safe_name(f"{benchmark.name}.{name}"): name for name in benchmark.scorings}
    models = {spec if isinstance(spec, str) else spec.name: spec for spec in plan.models}
    reports = []
    with run.folder.lock(), closing(run):
        run.load()
        for judged in list(finished):
            verdicts = Run(judged.run)
            name, model = names[judged.run.parent.parent.name], verdicts.manifest()["model"]
            replies = _drawn(run, verdicts, benchmark, name, n, seed)
            model_plan = plan.replaced(models=[models.get(model, model)])
            done = _probed(run, benchmark, name, replies, model_plan, show, budget)
            finished.append(done)
            if done.interrupted:
                break
            reports.append(_report(Run(done.run), benchmark, name, replies, model, seed))
            raw = msgspec.json.format(msgspec.json.encode(reports[-1]), indent=2)
            Run(done.run).folder.put_atomic(STEERING, raw + b"\n")
    return reports, finished


def _drawn(
    run: Run, verdicts: Run, benchmark: Benchmark, name: str, n: int, seed: int
) -> list[judge.JudgedReply]:
    """Draw replies that have a verdict, if possible as many right replies as wrong replies."""
    scoring, reader = benchmark.scorings[name], judge.judge_of(benchmark, name)
    seen: dict[str, judge.JudgedReply] = {}
    with closing(verdicts):
        verdicts.load()
        for scored in replies_of(run, benchmark):
            if scored.reply is None:
                continue
            request_text = judge.judged_id(scored.sample, scored.reply)
            words = judge.words_of(verdicts, request_text, reader)
            score = judge.worth(scoring, words, scored.sample)
            if score is not None:
                seen[request_text] = judge.JudgedReply(
                    scored.sample, scored.reply, score, scored.row_index
                )
    if not seen:
        raise UsageError(
            f"{verdicts.path}: none of the verdicts can be read, so no change can be measured. Use "
            "another judge."
        )
    return judge.drawn(list(seen.values()), n, seed, scoring.best)


def _probed(
    run: Run,
    benchmark: Benchmark,
    name: str,
    replies: Sequence[judge.JudgedReply],
    plan: Plan,
    show: Show | None,
    budget: Budget,
) -> Finished:
    digest = identity_digest(run.manifest()["identity"])
    probe = judge.steering(benchmark, name, replies, of=f"{run.path}", digest=digest)
    # One verdict per question is enough, since verdicts are compared in pairs. More would cost
    # money without being used.
    probe_plan = plan.replaced(
        benchmarks=[probe], out=run.path / judge.PROBED, score=False, repeats=1
    )
    (done,) = run_plan(probe_plan, show, budget=budget)
    return done


def _report(
    probed: Run,
    benchmark: Benchmark,
    name: str,
    replies: Sequence[judge.JudgedReply],
    model: str,
    seed: int,
) -> SteeringReport:
    scoring, reader = benchmark.scorings[name], judge.judge_of(benchmark, name)
    rows: dict[str, list[_Row]] = {}
    added: dict[str, str] = {}
    clusters: dict[str, int] = {}
    with closing(probed):
        probed.load()
        for reply in replies:
            shared = benchmark.cluster_by(reply.sample) if benchmark.cluster_by else reply.sample.id
            cluster = clusters.setdefault(shared, len(clusters))
            for kind, text in judge.attempts(benchmark, name, reply.sample).items():
                words = judge.words_of(probed, judge.probed_id(reply, kind), reader)
                now = judge.worth(scoring, words, reply.sample)
                rows.setdefault(kind, []).append(_Row(reply.was, now, cluster))
                added[kind] = text
    right = sum(judge.is_right(reply.was, scoring.best) for reply in replies)
    return SteeringReport(
        format=FORMAT,
        benchmark=benchmark.name,
        scoring=name,
        judge=model,
        right=right,
        wrong=len(replies) - right,
        seed=seed,
        attempts={
            kind: _attempt(attempts, added[kind], scoring.best) for kind, attempts in rows.items()
        },
        run=str(probed.path),
    )


class _Row(NamedTuple):
    """A reply's score without an attempt to steer the judge, the score with such an attempt (None:
    no verdict), and the reply's cluster."""

    was: float
    now: float | None
    cluster: int


def _attempt(rows: Sequence[_Row], added: str, best: float) -> AttemptReport:
    flips: dict[bool, list[tuple[float, int]]] = {True: [], False: []}
    changes = []
    for row in rows:
        if row.now is not None:
            was_right, now_right = (judge.is_right(score, best) for score in (row.was, row.now))
            flips[was_right].append((float(was_right != now_right), row.cluster))
            changes.append((row.now - row.was, row.cluster))
    return AttemptReport(
        added=added,
        to_right=_mean(flips[False]),
        to_wrong=_mean(flips[True]),
        change=_mean(changes, signed=True),
        lost=len(rows) - len(changes),
    )


def _mean(values: Sequence[tuple[float, int]], *, signed: bool = False) -> MetricReport:
    import numpy as np

    scores, clusters = np.array(values, dtype=float).reshape(-1, 2).T
    return metric_report(stats.mean(scores, clusters.astype(np.intp), signed=signed))
