"""Benchmarks that run the code of an installed toolkit: its own prompts and its own scoring.

The spec of such a benchmark is the toolkit's name, a colon, and the toolkit's own name for a data
set, such as `vlmevalkit:MMStar` or `lmms-eval:mmstar`. The code runs only inside `toolkit_code`,
which the option --run-toolkit-code enters. A run folder can name such a benchmark, too, and the
folder may come from somebody else.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from snellen.core.benchmark import Benchmark, mark_from_catalog
from snellen.errors import UsageError
from snellen.registry.options import parsed

FLAG = "--run-toolkit-code"
_is_allowed: ContextVar[bool] = ContextVar("toolkit_code", default=False)


@dataclass(frozen=True, kw_only=True)
class Toolkit:
    """A toolkit whose data sets can be benchmarks."""

    title: str
    """The toolkit's name in messages."""
    module: str
    """The module with a function `toolkit_benchmark(name, options)`, which creates the benchmark of
    one of the toolkit's data sets."""
    hint: str = ""
    """A sentence about the toolkit's data sets without the toolkit's code."""


TOOLKITS: Mapping[str, Toolkit] = {
    "vlmevalkit": Toolkit(
        title="VLMEvalKit",
        module="snellen.benchmarks.families.vlmevalkit_own",
        hint=" Snellen's own rules for VLMEvalKit's TSV files need no permission: write "
        "vlmevalkit:name=NAME.",
    ),
    "lmms-eval": Toolkit(title="lmms-eval", module="snellen.benchmarks.families.lmms_eval_task"),
}
"""The toolkits, keyed by the first part of a spec."""


@contextmanager
def toolkit_code(is_allowed: bool = True) -> Iterator[None]:
    """Allow the code of installed toolkits to run inside this context."""
    token = _is_allowed.set(is_allowed or _is_allowed.get())
    try:
        yield
    finally:
        _is_allowed.reset(token)


def is_toolkit(spec: str) -> bool:
    """Return whether a spec names a data set of a toolkit, as opposed to a benchmark with options
    (`vlmevalkit:name=MMStar`)."""
    toolkit, _, rest = spec.partition(":")
    name = rest.partition(":")[0]
    return toolkit in TOOLKITS and bool(name) and "=" not in name


def is_toolkit_run(options: Mapping[str, object]) -> bool:
    """Return whether a run with these options was scored by a toolkit's own code."""
    return options.get("toolkit") in TOOLKITS


def of_toolkit(spec: str) -> Benchmark:
    """Create the benchmark that a spec such as `vlmevalkit:MMStar` names.

    Raises:
        UsageError: the user has not allowed the toolkit's code to run, the toolkit is not
            installed, or it has no such data set.
    """
    toolkit, _, rest = spec.partition(":")
    name, _, options = rest.partition(":")
    return _built(toolkit, name, parsed(options, spec))


def of_toolkit_run(options: Mapping[str, Any]) -> Benchmark:
    """Create the benchmark of a run from the run's options.

    Raises:
        UsageError: the user has not allowed the toolkit's code to run, or the toolkit is not
            installed.
    """
    return _built(
        str(options["toolkit"]), str(options["dataset"]), dict(options.get("settings", {}))
    )


def _built(toolkit: str, name: str, options: Mapping[str, str]) -> Benchmark:
    kit = TOOLKITS[toolkit]
    if not _is_allowed.get():
        raise UsageError(
            f"{toolkit}:{name} runs the code of the installed {kit.title}: its prompts and its "
            f"scoring. If you trust this code, pass {FLAG}.{kit.hint}"
        )
    module = importlib.import_module(kit.module)
    return mark_from_catalog(module.toolkit_benchmark(name, options))
