"""Asking a judge about the replies of a run that rules leave open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from snellen import judge
from snellen.api._plan import Finished, Plan
from snellen.api._run import budget_of, run_plan
from snellen.api._running import Show
from snellen.api._score import benchmark_of, scored
from snellen.benchmark import Benchmark
from snellen.errors import UsageError
from snellen.model import Reply
from snellen.result import Result
from snellen.runner import Budget
from snellen.sample import Sample
from snellen.scoring import replies_of
from snellen.store import MANIFEST, Run, identity_digest, safe_name


def judge_run(
    path: Path,
    plan: Plan,
    *,
    benchmark: Benchmark | None = None,
    scorings: Sequence[str] = (),
    show: Show | None = None,
    budget: Budget | None = None,
) -> tuple[Result, list[Finished]]:
    """Ask each of the plan's models about the replies of a run that its scorings' rules leave open,
    and score the run with what they say; the plan's benchmarks and folder are those of the run.

    Verdicts of the same judge on the same words, by another scoring or in other runs of the
    benchmark beside this one, are taken from there. Asked again, only what has no verdict is asked.
    A spent budget, or Ctrl-C, ends it; several runs may share a `budget`.

    Raises:
        UsageError: it is no run, or a scoring is not there or has no judge.
    """
    if not (path / MANIFEST).exists():
        raise UsageError(f"{path} is no run folder: it has no {MANIFEST}. A judge reads a run.")
    run = Run(path)
    benchmark = benchmark_of(path, run.manifest(), benchmark)
    names = list(scorings) or [
        name
        for name, scoring in benchmark.scorings.items()
        if scoring.judge is not None and scoring.reads == benchmark.ask
    ]
    if not names:
        raise UsageError(f"{benchmark.name}: none of its scorings has a judge.")
    for name in names:
        judge.judge_of(benchmark, name)
    budget = budget or budget_of(plan)
    finished: list[Finished] = []
    with run.folder.lock(), closing(run):
        run.load()
        for name in names:
            finished += _asked(run, benchmark, name, plan, show, budget)
            if any(one.interrupted for one in finished):
                break
        return scored(run, benchmark), finished


def _asked(
    run: Run, benchmark: Benchmark, name: str, plan: Plan, show: Show | None, budget: Budget
) -> list[Finished]:
    def replies() -> Iterator[tuple[int, Sample, Reply]]:
        for one in replies_of(run, benchmark):
            if one.reply is not None and one.state != "refused":
                yield one.place, one.sample, one.reply

    digest = identity_digest(run.manifest()["identity"])
    graded = judge.graded(benchmark, name, replies, of=str(run.path), digest=digest)
    if next(iter(graded.data), None) is None:
        return []
    made = replace(
        plan,
        benchmarks=[graded],
        out=run.path / judge.JUDGED,
        reuse=[*_others(run, graded.name)],
        reuse_strictly=False,
        score=False,
    )
    return run_plan(made, show, budget=budget)


def _others(run: Run, name: str) -> Iterator[Path]:
    """The folders of judges' runs: of this run but for those of that name, and of the runs of the
    benchmark beside it."""
    own = run.path.resolve()
    for folder in sorted(own.parent.parent.glob(f"*/*/{judge.JUDGED}/*")):
        if not (folder.is_relative_to(own) and folder.name == safe_name(name)):
            yield from (manifest.parent for manifest in sorted(folder.glob(f"*/*/{MANIFEST}")))
