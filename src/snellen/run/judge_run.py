"""Asks a judge about those replies of a run that cannot be scored by rules alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark
from snellen.errors import DataError, UsageError
from snellen.interop.labels import read as read_labels
from snellen.run import Budget
from snellen.run.lifecycle import Show
from snellen.run.plan import Finished, Plan
from snellen.run.run_plan import budget_of, run_plan
from snellen.run.score_run import benchmark_of, judgeable, scored
from snellen.run.unused_options import check_judging
from snellen.scoring import judge
from snellen.store import MANIFEST, LabelRecord, Run, identity_digest, safe_name


class NothingToJudge(UsageError):
    """The benchmark of a run has no scoring with a judge."""


def judge_run(
    path: Path,
    plan: Plan,
    *,
    benchmark: str | Benchmark | None = None,
    scorings: Sequence[str] = (),
    against: Path | None = None,
    show: Show | None = None,
    budget: Budget | None = None,
) -> tuple[Result, list[Finished]]:
    """Ask each of the plan's models about those replies of a run that cannot be scored by rules
    alone, and score the run with the verdicts. The run's benchmark and folder replace the plan's
    benchmark and folder.

    Verdicts of the same judge on the same request are reused from other scorings and from other
    runs of the benchmark in the same folder. A second call requests only missing verdicts. The call
    ends when a budget is used up, or with Ctrl-C. Several calls may share a `budget`.

    `against` is a file of labels by people (`interop.labels`). The labels are stored with the run
    and replace earlier ones. The report then shows how well the judges agree with the labels.

    Raises:
        UsageError: `path` is not a run, a scoring does not exist or has no judge, or an option of
            the plan has no effect on judging.
        DataError: labels cannot be read or do not belong to this run.
    """
    check_judging(plan.options)
    labels = None if against is None else read_labels(against)
    if not (path / MANIFEST).exists():
        raise UsageError(
            f"{path} is not a run folder: it has no {MANIFEST}. Pass the folder of a run."
        )
    run = Run(path)
    benchmark = benchmark_of(path, run.manifest(), benchmark)
    names = list(scorings) or [
        name
        for name, scoring in benchmark.scorings.items()
        if scoring.judge is not None
        and not scoring.judge.on_request
        and scoring.reads == benchmark.procedure.kind
    ]
    if not names:
        raise NothingToJudge(f"{path}: {benchmark.name} has no scoring with a judge.")
    for name in names:
        judge.judge_of(benchmark, name)
    budget = budget or budget_of(plan)
    finished: list[Finished] = []
    with run.folder.lock(), closing(run):
        run.load()
        if labels is not None:
            has_judge = any(judge.runs_of(path, f"{benchmark.name}.{name}") for name in names)
            if not (plan.models or has_judge):
                raise UsageError(
                    f"{path}: no judge has been asked yet, so there is nothing to compare the "
                    "labels with. Name a judge (--judge MODEL)."
                )
            _check(labels, f"{against}", run, benchmark, names)
            run.put_labels(labels)
        for name in names if plan.models else ():
            finished += _judge_scoring(run, benchmark, name, plan, show, budget)
            if any(judged.interrupted for judged in finished):
                break
        return scored(run, benchmark), finished


def _check(
    labels: Sequence[LabelRecord], where: str, run: Run, benchmark: Benchmark, names: Sequence[str]
) -> None:
    """Check that the labels belong to replies of this run and are in the range of their scorings.

    Raises:
        DataError: no label belongs to this run, a label is out of range, or all labels are empty.
    """
    filled = [label for label in labels if label.label is not None]
    if not filled:
        raise DataError(f"{where}: all {len(labels):,} labels are empty. Fill in some labels.")
    for label in filled:
        for name in names if label.scoring is None else [label.scoring]:
            best = judge.scoring_of(benchmark, name).best
            if label.label is not None and not 0 <= label.label <= best:
                raise DataError(
                    f"{where}: {label.sample!r} has the label {label.label:g}, but labels of "
                    f"{name} must be from 0 to {best:g}."
                )
    keys = {question.key[:2] for question in run.questions()}
    if not any((label.sample, label.repeat) in keys for label in filled):
        first = ", ".join(repr(label.sample) for label in filled[:3])
        raise DataError(
            f"{where}: none of its ids ({first}, ...) is an id of {run.path}. Ids must match "
            "exactly. Use the sheet of labels that was drawn from this run."
        )


def _judge_scoring(
    run: Run, benchmark: Benchmark, name: str, plan: Plan, show: Show | None, budget: Budget
) -> list[Finished]:
    replies = partial(judgeable, run, benchmark)
    digest = identity_digest(run.manifest()["identity"])
    graded = judge.graded(benchmark, name, replies, of=f"{run.path}", digest=digest)
    if next(iter(graded.data), None) is None:
        return []
    judge_plan = plan.replaced(
        benchmarks=[graded],
        out=run.path / judge.JUDGED,
        reuse=[*_others(run, graded.name)],
        reuse_strictly=False,
        score=False,
    )
    return run_plan(judge_plan, show, budget=budget)


def _others(run: Run, name: str) -> Iterator[Path]:
    """Yield the folders of judges' runs whose verdicts can be reused. These are the judges' runs
    for other scorings of this run, and for other runs of the benchmark in the same folder."""
    own = run.path.resolve()
    for folder in sorted(own.parent.parent.glob(f"*/*/{judge.JUDGED}/*")):
        if not (folder.is_relative_to(own) and folder.name == safe_name(name)):
            yield from (manifest.parent for manifest in sorted(folder.glob(f"*/*/{MANIFEST}")))
