"""Asking a judge about the replies of a run that rules leave open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from snellen import judge
from snellen.api._plan import Finished, Plan
from snellen.api._run import run_plan
from snellen.api._running import Show
from snellen.api._score import benchmark_of, scored
from snellen.benchmark import Benchmark
from snellen.errors import UsageError
from snellen.model import Reply
from snellen.result import Result
from snellen.sample import Sample
from snellen.scoring import replies_of
from snellen.store import MANIFEST, Run, identity_digest


def judge_run(
    path: Path,
    plan: Plan,
    *,
    benchmark: Benchmark | None = None,
    scorings: Sequence[str] = (),
    show: Show | None = None,
) -> tuple[Result, list[Finished]]:
    """Ask each of the plan's models about the replies of a run that its scorings' rules leave open,
    and score the run with what they say; the plan's benchmarks and folder are those of the run.

    Verdicts of the same judge on the same words, in other runs of the same benchmark beside this
    one, are taken from there. Asked again, only what has no verdict is asked.

    Raises:
        UsageError: it is no run, or none of its scorings has a judge.
    """
    if not (path / MANIFEST).exists():
        raise UsageError(f"{path} is no run folder: it has no {MANIFEST}. A judge reads a run.")
    run = Run(path)
    benchmark = benchmark_of(path, run.manifest(), benchmark)
    names = list(scorings) or [
        name for name, scoring in benchmark.scorings.items() if scoring.judge is not None
    ]
    if not names:
        raise UsageError(f"{benchmark.name}: none of its scorings has a judge.")
    finished: list[Finished] = []
    with run.folder.lock(), closing(run):
        run.load()
        for name in names:
            finished += _asked(run, benchmark, name, plan, show)
        return scored(run, benchmark), finished


def _asked(
    run: Run, benchmark: Benchmark, name: str, plan: Plan, show: Show | None
) -> list[Finished]:
    def replies() -> Iterator[tuple[int, Sample, Reply]]:
        for one in replies_of(run, benchmark):
            if one.reply is not None and one.state != "refused":
                yield one.place, one.sample, one.reply

    digest = identity_digest(run.manifest()["identity"])
    graded = judge.graded(benchmark, name, replies, of=str(run.path), digest=digest)
    if next(iter(graded.data), None) is None:
        return []
    asks = judge.judge_of(benchmark, name)
    own = plan.temperature is not None or plan.profile.temperature is not None
    return run_plan(
        replace(
            plan,
            benchmarks=[graded],
            out=run.path / judge.JUDGED,
            temperature=plan.temperature if own else asks.temperature,
            reuse=[other.path for other in _others(run, graded.name)],
            reuse_strictly=False,
            score=False,
        ),
        show,
    )


def _others(run: Run, name: str) -> Iterator[Run]:
    """The judges' runs of the runs beside this one, of the same benchmark."""
    for manifest in sorted(run.path.absolute().parents[1].glob(f"*/*/{MANIFEST}")):
        if manifest.parent != run.path.absolute():
            yield from judge.runs_of(manifest.parent, name)
