"""Recipes whose data sets are benchmarks by their names."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from snellen import recipes
from snellen.errors import CatalogError
from snellen.registry.names import resolve


def recipe(name: str) -> recipes.Recipe:
    """A recipe. In a recipe of the user's or of a package, a data set that has the name or an alias
    of a benchmark is that benchmark, unless the recipe says which it is. In bundled recipes, a data
    set is only what `benchmarks.toml` says.

    Args:
        name: A recipe's name, or the path of a TOML file.

    Raises:
        UsageError: there is no such recipe, or the file is not one.
    """
    plain = recipes.load(name)
    if plain.provider == "bundled":
        return plain
    return replace(plain, asks={key: _with_benchmark(ask) for key, ask in plain.asks.items()})


def _with_benchmark(ask: recipes.Ask) -> recipes.Ask:
    if ask.manner.benchmark is not None:
        return ask
    try:
        entry, options = resolve(ask.data_set)
    except CatalogError:
        return ask
    # The prompt is the recipe's.
    chosen = ",".join(f"{key}={value}" for key, value in options.items() if key != "prompt")
    spec = f"{entry.name}:{chosen}" if chosen else entry.name
    return replace(ask, manner=structs.replace(ask.manner, benchmark=spec))
