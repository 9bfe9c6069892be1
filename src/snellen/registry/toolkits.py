"""Benchmarks of other toolkits, which are scored by the toolkit's own code: lmms-eval:TASK.

A toolkit is a line of `FAMILIES`. Its module in `snellen.benchmarks.families` has a function
`load`, which takes the name after the colon and returns a `ToolkitBenchmark`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from snellen.core.benchmark import Benchmark, mark_source
from snellen.core.source import Source
from snellen.errors import UsageError

if TYPE_CHECKING:
    from snellen.benchmarks.families.toolkit import ToolkitBenchmark

FAMILIES: Mapping[str, str] = {"lmms-eval": "lmms_eval_task"}
"""For each toolkit, the module that loads its benchmarks."""


def is_toolkit(spec: str) -> bool:
    """Return whether a spec names a benchmark of another toolkit."""
    return spec.partition(":")[0] in FAMILIES and ":" in spec


def toolkit_benchmark(spec: str, *, run_toolkit_code: bool) -> Benchmark:
    """Load the benchmark of another toolkit. Loading and scoring run the toolkit's code.

    Raises:
        UsageError: the user has not allowed the toolkit's code to run, or the benchmark cannot be
            loaded.
    """
    toolkit, _, name = spec.partition(":")
    if not run_toolkit_code:
        raise UsageError(
            f"{spec} runs the code of {toolkit}, which Snellen has not checked. If you trust that "
            "code, add --run-toolkit-code (in Python, run_toolkit_code=True)."
        )
    if not name:
        raise UsageError(f"{spec} names no benchmark. Write {toolkit}:NAME.")
    loaded: ToolkitBenchmark = import_module(
        f"snellen.benchmarks.families.{FAMILIES[toolkit]}"
    ).load(name)
    source = Source(
        kind="module",
        digest=loaded.digest,
        spec=spec,
        distribution=toolkit,
        version=loaded.version,
    )
    return mark_source(loaded.benchmark, source)
