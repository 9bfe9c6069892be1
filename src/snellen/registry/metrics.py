"""Finds metrics by name: Snellen's own, those of plug-ins, and those in the user's files or
modules."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

from snellen.errors import CatalogError
from snellen.models.user_code import attribute_of, module_of
from snellen.registry import index
from snellen.registry.names import ambiguous, is_same_name, plugins_by_name
from snellen.registry.plugins import plugins
from snellen.registry.sources import load_plugin


def metric(name: str) -> Any:
    """Return the metric with this name: one of Snellen's own (`mean`, `acuity.threshold`), a
    plug-in's, or the user's (`module:NAME`, `FILE.py:NAME`).

    Raises:
        CatalogError: there is no metric with that name, or there are several.
        UsageError: the metric's file or module cannot be loaded.
    """
    file, colon, attribute = name.rpartition(":")
    if colon:
        return attribute_of(module_of(file, f"the metric {name}"), attribute, file)
    own = dict(index.own_metrics())
    offers = plugins_by_name("snellen.metrics", name)
    origins = [f"snellen.metrics.{known}" for known in own if is_same_name(known, name)]
    if len(origins) + len(offers) > 1:
        raise ambiguous(name, [*origins, *map(str, offers)], kind="metric")
    if offers and offers[0].name == name:
        return load_plugin(offers[0])
    if name not in own:
        known = [*own, *(plugin.name for plugin in plugins("snellen.metrics"))]
        close = get_close_matches(name, known, 3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(close)}?" if close else "See `snellen list metrics`."
        raise CatalogError(f"there is no metric {name!r}. {hint}")
    module, dot, attribute = name.rpartition(".")
    return getattr(import_module(f"snellen.metrics{dot}{module}"), attribute)
