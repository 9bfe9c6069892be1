"""Metrics by name: our own, plug-ins', and those of a file or module."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

from snellen.errors import CatalogError
from snellen.models.user_code import attribute_of, module_of
from snellen.registry import index
from snellen.registry.plugins import plugins
from snellen.registry.sources import load_plugin


def metric(name: str) -> Any:
    """The metric of a name: `mean`, `acuity.threshold`, a plug-in's, `module:NAME`, `FILE.py:NAME`.

    Raises:
        CatalogError: there is no such metric, or several packages offer one. UsageError: its file
            or module cannot be loaded.
    """
    file, colon, attribute = name.rpartition(":")
    if colon:
        return attribute_of(module_of(file, f"the metric {name}"), attribute, file)
    own = dict(index.own_metrics())
    offers = [plugin for plugin in plugins("snellen.metrics") if plugin.name == name]
    origins = [*map(str, offers), *(["snellen.metrics"] if name in own else [])]
    if len(origins) > 1:
        raise CatalogError(f"there is more than one metric {name!r}: {' and '.join(origins)}.")
    if offers:
        return load_plugin(offers[0])
    if name not in own:
        close = get_close_matches(name, own, 3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else "`snellen list metrics` has all."
        raise CatalogError(f"no metric {name!r}; {hint}")
    module, dot, attribute = name.rpartition(".")
    return getattr(import_module(f"snellen.metrics{dot}{module}"), attribute)
