"""Asks a judge about the replies of a run that rules leave open."""

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
    """Ask each of the plan's models about the replies of a run that its scorings' rules leave open,
    and score the run with their verdicts. The plan's benchmarks and folder are those of the run.

    Verdicts of the same judge on the same words are reused from other scorings and from other runs
    of the benchmark in the same folder. A second call requests only missing verdicts. An exhausted
    budget, or Ctrl-C, ends the call; several runs may share a `budget`.

    `against` is a file of people's labels (`interop.labels`). It is stored with the run and
    replaces earlier labels; the report then says how the judges compare with them.

    Raises:
        UsageError: it is not a run, or a scoring is not there or has no judge, or an option of the
            plan has no effect on judging.
        DataError: labels cannot be read, or are not of this run.
    """
    check_judging(plan.options)
    labels = None if against is None else read_labels(against)
    if not (path / MANIFEST).exists():
        raise UsageError(f"{path} is not a run folder: it has no {MANIFEST}. A judge reads a run.")
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
        raise UsageError(f"{benchmark.name}: none of its scorings has a judge.")
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
                    f"{path}: no judge has been asked yet, so there is none to measure: name one "
                    "(--judge MODEL)."
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
    """Check that the labels belong to replies of this run and have the unit of their scorings.

    Raises:
        DataError: they are not.
    """
    filled = [label for label in labels if label.label is not None]
    if not filled:
        raise DataError(f"{where}: all of its {len(labels):,} labels are blank. Fill some in.")
    for label in filled:
        for name in names if label.scoring is None else [label.scoring]:
            best = judge.scoring_of(benchmark, name).best
            if label.label is not None and not 0 <= label.label <= best:
                raise DataError(
                    f"{where}: {label.sample!r} has the label {label.label:g}, and {name} gives 0 "
                    f"to {best:g}. Labels are in the unit of the scores."
                )
    keys = {question.key[:2] for question in run.questions()}
    if not any((label.sample, label.repeat) in keys for label in filled):
        first = ", ".join(repr(label.sample) for label in filled[:3])
        raise DataError(
            f"{where}: none of its ids ({first}, ...) is one of {run.path}. Ids are matched "
            "exactly: is it the sheet of this run?"
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
    """The folders of judges' runs: those of this run with another name, and those of other runs of
    the benchmark in the same folder."""
    own = run.path.resolve()
    for folder in sorted(own.parent.parent.glob(f"*/*/{judge.JUDGED}/*")):
        if not (folder.is_relative_to(own) and folder.name == safe_name(name)):
            yield from (manifest.parent for manifest in sorted(folder.glob(f"*/*/{MANIFEST}")))
