"""Limits the results of a run to the rows that its plan selects.

A run folder may have replies to other rows: `limit` and `sample` are not part of a run's identity,
so runs with different limits share a folder.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from snellen import registry
from snellen.analysis.comparing import LoadedSide
from snellen.core.benchmark import Benchmark
from snellen.run.compare_runs import loaded_run
from snellen.run.plan import Finished, Plan
from snellen.run.score_run import benchmark_of, scored
from snellen.store import Run


def of_selected_rows(finished: Finished, plan: Plan) -> Finished:
    """Score the run of a plan again, if the plan selects some of the rows, so that the result
    covers only these rows. The stored report, which covers all replies, is not changed."""
    if finished.row_indices is None or finished.result is None:
        return finished
    run = Run(finished.run)
    manifest = run.manifest()
    own = own_benchmarks(plan.benchmarks[0])
    benchmark = benchmark_of(run.path, manifest, registry.supplied(own, manifest))
    with run.folder.lock(), closing(run):
        run.load()
        result = scored(
            run,
            benchmark,
            missing=plan.options["missing"],
            stopped=finished.stopped,
            row_indices=finished.row_indices,
        )
    return replace(finished, result=result)


def loaded_side(finished: Finished, benchmark: Benchmark, scoring: str | None = None) -> LoadedSide:
    """Load a run as one side of a comparison, limited to the rows that its plan selects."""
    return loaded_run(
        finished.run, own_benchmarks(benchmark), scoring, row_indices=finished.row_indices
    )


def own_benchmarks(benchmark: Benchmark) -> list[Benchmark]:
    """The benchmark in a list if it is the caller's own; empty if it is from the catalog."""
    return [] if benchmark.provenance.from_catalog else [benchmark]
