"""Finds objects by name: benchmarks, models, metrics, suites, and API keys.

This package may import the code of every object that it finds. Only this package reads API keys.
The package's modules are imported on first use, so that listing names does not import the objects.
Start reading at `benchmarks.py` and `models.py`. The code that lists all names is in `index.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import lazy

if TYPE_CHECKING:
    from snellen.registry.adapters import watching as watching
    from snellen.registry.benchmarks import (
        benchmark as benchmark,
        check_names as check_names,
        entry_of as entry_of,
        few_shot as few_shot,
        is_mistakable as is_mistakable,
        is_own_code as is_own_code,
        is_rows as is_rows,
        listed_options as listed_options,
        of_run as of_run,
        options_of as options_of,
        own as own,
        published_size as published_size,
        reads_data as reads_data,
        runs_a_program as runs_a_program,
        supplied as supplied,
    )
    from snellen.registry.definitions import (
        BUNDLED as BUNDLED,
        SYNTHETIC as SYNTHETIC,
        is_bundled as is_bundled,
    )
    from snellen.registry.index import (
        FOLDER as FOLDER,
        MODELS as MODELS,
        ROWS as ROWS,
        Entry as Entry,
        bundled as bundled,
        entries as entries,
        list_benchmarks as list_benchmarks,
        list_metrics as list_metrics,
        list_models as list_models,
    )
    from snellen.registry.keys import hub_token as hub_token, keys_set as keys_set
    from snellen.registry.metrics import metric as metric
    from snellen.registry.models import (
        Opened as Opened,
        check_extra as check_extra,
        check_replicated as check_replicated,
        cluster_for_drivers as cluster_for_drivers,
        runs_in_this_process as runs_in_this_process,
        from_object as from_object,
        model as model,
        with_profile as with_profile,
        wrap as wrap,
    )
    from snellen.registry.names import (
        lmms_eval_name as lmms_eval_name,
        vlmevalkit_name as vlmevalkit_name,
    )
    from snellen.registry.recipe_benchmarks import recipe as recipe
    from snellen.registry.sources import source_of as source_of
    from snellen.registry.tools import toolbox as toolbox
    from snellen.registry.toolkits import is_toolkit as is_toolkit, toolkit_code as toolkit_code

_FILES = {
    "BUNDLED": "definitions",
    "FOLDER": "index",
    "MODELS": "index",
    "ROWS": "index",
    "SYNTHETIC": "definitions",
    "Entry": "index",
    "Opened": "models",
    "benchmark": "benchmarks",
    "bundled": "index",
    "check_extra": "models",
    "check_names": "benchmarks",
    "check_replicated": "models",
    "cluster_for_drivers": "models",
    "runs_in_this_process": "models",
    "entries": "index",
    "entry_of": "benchmarks",
    "few_shot": "benchmarks",
    "from_object": "models",
    "hub_token": "keys",
    "is_bundled": "definitions",
    "is_mistakable": "benchmarks",
    "is_own_code": "benchmarks",
    "is_rows": "benchmarks",
    "is_toolkit": "toolkits",
    "keys_set": "keys",
    "list_benchmarks": "index",
    "list_metrics": "index",
    "list_models": "index",
    "listed_options": "benchmarks",
    "lmms_eval_name": "names",
    "metric": "metrics",
    "model": "models",
    "of_run": "benchmarks",
    "options_of": "benchmarks",
    "own": "benchmarks",
    "published_size": "benchmarks",
    "reads_data": "benchmarks",
    "recipe": "recipe_benchmarks",
    "runs_a_program": "benchmarks",
    "source_of": "sources",
    "supplied": "benchmarks",
    "toolbox": "tools",
    "toolkit_code": "toolkits",
    "vlmevalkit_name": "names",
    "watching": "adapters",
    "with_profile": "models",
    "wrap": "models",
}
__all__ = [*_FILES]
__getattr__ = lazy.attributes(__name__, _FILES)
