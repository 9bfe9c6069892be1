"""Turns a data set of an installed VLMEvalKit into a benchmark: vlmevalkit:NAME.

VLMEvalKit's own code finds the class, loads the rows, builds the prompts, and scores the replies:
`build_dataset`, `build_prompt`, and `evaluate` in open-compass/
VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/__init__.py. The rows are in
VLMEvalKit's data folder (the environment variable LMUData), and VLMEvalKit downloads them if they
are not there.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.benchmarks.families.toolkit import scored_by
from snellen.benchmarks.families.vlmevalkit_class import kit_benchmark
from snellen.benchmarks.families.vlmevalkit_evaluate import JUDGE, KitDataSet
from snellen.core import Benchmark
from snellen.core.benchmark import vary
from snellen.errors import UsageError
from snellen.models.code_files import digest_of, digest_of_all
from snellen.models.user_code import errors_as
from snellen.models.vlmevalkit_messages import aside
from snellen.store import safe_name

DATA_SETS = "vlmeval.dataset"
OPTIONS = ("judge",)


def toolkit_benchmark(name: str, options: Mapping[str, str]) -> Benchmark:
    """Build the benchmark of the data set `name`. The option `judge` names the model that
    VLMEvalKit's `evaluate` asks; by default, no judge is used.

    Raises:
        UsageError: VLMEvalKit is not installed or fails, or it has no such data set or option.
    """
    title = f"vlmevalkit:{name}"
    if unknown := [option for option in options if option not in OPTIONS]:
        raise UsageError(
            f"{title} has no option {unknown[0]!r}. Options: {', '.join(OPTIONS)}. VLMEvalKit "
            "controls everything else."
        )
    package = _installed(title)
    instance = _built(package, name, title)
    judge = {**JUDGE, "model": options.get("judge", JUDGE["model"])}
    source = inspect.getsourcefile(type(instance))
    benchmark = kit_benchmark(
        KitDataSet(instance=instance, name=name, title=title, source=source, judge=judge),
        name=f"{safe_name(name)}-vlmevalkit",
        source="VLMEvalKit's own evaluate",
        notes=(
            scored_by("VLMEvalKit"),
            f"the judge is {judge['model']}, which VLMEvalKit asks itself"
            if "judge" in options
            else "evaluate had no judge (exact_matching)",
        ),
    )
    stored = {
        "toolkit": "vlmevalkit",
        "dataset": name,
        "settings": dict(options),
        "version": str(getattr(importlib.import_module("vlmeval"), "__version__", "")),
        "digest": _digest(type(instance)),
    }
    # A model with VLMEvalKit's interface chooses its prompt by VLMEvalKit's name.
    return vary(benchmark, options=stored, called=name)


def _installed(title: str) -> Any:
    """Import VLMEvalKit's data sets.

    Raises:
        UsageError: VLMEvalKit is not installed, or cannot be imported.
    """
    try:
        with aside(), errors_as(UsageError, f"{title}: VLMEvalKit", None, but=ImportError):
            return importlib.import_module(DATA_SETS)
    except ImportError as error:
        raise UsageError(
            f"{title}: VLMEvalKit is not installed in this environment: {error}. Clone "
            "https://github.com/open-compass/VLMEvalKit, and install it with `pip install -e` in "
            "the clone."
        ) from error


def _built(package: Any, name: str, title: str) -> Any:
    """Build the data set.

    Raises:
        UsageError: VLMEvalKit has no such data set, or cannot load its rows.
    """
    with aside(), errors_as(UsageError, f"{title}: build_dataset failed", None):
        instance = package.build_dataset(name)
    if instance is not None:
        return instance
    known = [str(known) for known in getattr(package, "SUPPORTED_DATASETS", ())]
    close = difflib.get_close_matches(name, known, 3)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise UsageError(
        f"{title}: the installed VLMEvalKit has no data set {name!r}, and no file {name}.tsv in "
        f"its data folder (LMUData).{hint}"
    )


def _digest(kind: type) -> str | None:
    """Return the digest of the files with the class and its base classes, which build the
    prompts."""
    modules = {base.__module__ for base in kind.__mro__ if base.__module__.startswith("vlmeval")}
    files = [sys.modules[module].__file__ for module in modules]
    return digest_of_all(digest_of(Path(file).read_bytes()) for file in files if file)
