"""Finds objects by name: benchmarks, models, metrics, suites, and keys.

May import everything that it names, and is the only room that reads keys. The other files are
imported on first use, so that listing names imports none of the objects. Start with `benchmarks.py`
and `models.py`; `index.py` has the lists.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snellen.registry.adapters import watching
    from snellen.registry.benchmarks import (
        benchmark,
        check_names,
        entry_of,
        few_shot,
        is_mistakable,
        is_own_code,
        is_rows,
        listed_options,
        of_run,
        options_of,
        own,
        reads_data,
        runs_a_program,
        supplied,
    )
    from snellen.registry.definitions import BUNDLED, SYNTHETIC, is_bundled
    from snellen.registry.index import (
        FOLDER,
        MODELS,
        ROWS,
        Entry,
        bundled,
        entries,
        list_benchmarks,
        list_metrics,
        list_models,
    )
    from snellen.registry.keys import hub_token, keys_set
    from snellen.registry.metrics import metric
    from snellen.registry.models import (
        Opened,
        check_extra,
        check_replicated,
        from_object,
        model,
        with_profile,
        wrap,
    )
    from snellen.registry.names import lmms_eval_name, vlmevalkit_name
    from snellen.registry.sources import source_of

__all__ = [
    "BUNDLED",
    "FOLDER",
    "MODELS",
    "ROWS",
    "SYNTHETIC",
    "Entry",
    "Opened",
    "benchmark",
    "bundled",
    "check_extra",
    "check_names",
    "check_replicated",
    "entries",
    "entry_of",
    "few_shot",
    "from_object",
    "hub_token",
    "is_bundled",
    "is_mistakable",
    "is_own_code",
    "is_rows",
    "keys_set",
    "list_benchmarks",
    "list_metrics",
    "list_models",
    "listed_options",
    "lmms_eval_name",
    "metric",
    "model",
    "of_run",
    "options_of",
    "own",
    "reads_data",
    "runs_a_program",
    "source_of",
    "supplied",
    "vlmevalkit_name",
    "watching",
    "with_profile",
    "wrap",
]
_FILES = (
    "index",
    "keys",
    "names",
    "definitions",
    "benchmarks",
    "models",
    "adapters",
    "metrics",
    "sources",
)
"""The files of this room, the cheapest to import first."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        for file in _FILES:
            module = import_module(f"snellen.registry.{file}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'snellen.registry' has no attribute {name!r}")
