"""Loads recipes, and matches the data sets in a user's or a package's recipe to benchmarks."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from snellen import recipes
from snellen.errors import CatalogError
from snellen.registry.names import resolve


def recipe(name: str) -> recipes.Recipe:
    """Load a recipe. In a user's or a package's recipe, a data set is matched to the benchmark with
    the same name or alias, unless the recipe itself names a benchmark. In bundled recipes, only
    `benchmarks.toml` matches data sets to benchmarks.

    Args:
        name: A recipe's name, or the path of a TOML file.

    Raises:
        UsageError: there is no such recipe, or the file is not a recipe.
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
