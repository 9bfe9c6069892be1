"""Finds the benchmark and the metric in Snellen that a published figure belongs to."""

from functools import cache

import msgspec

from snellen.recipes.facts import CardFigure
from snellen.recipes.reading import FOLDER, PUBLISHED, converted, read_table


class FigureBenchmark(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The benchmark of a published figure, as far as it is known."""

    benchmark: str = ""
    """The benchmark in Snellen, with its options; empty if there is none or if the benchmark is
    uncertain."""
    note: str = ""
    """What was assumed about the benchmark; empty if nothing was assumed."""
    unclear: str = ""
    """The reason why the name does not identify the data set; empty if the name does."""


class FigureMetric(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The metric of a benchmark's published figures, if that is not the headline metric."""

    metric: str
    """The metric."""
    scoring: str = ""
    """The scoring that computes the metric; empty: the headline scoring."""
    points: int = 0
    """The highest possible score, if figures are in points and the highest possible score is above
    100; otherwise 0."""


class PublishedTables(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tables of `published.toml`."""

    names: dict[str, FigureBenchmark]
    """The benchmarks, keyed by the names that sources use, in lowercase."""
    metrics: dict[str, FigureMetric]
    """The metrics, keyed by the benchmark's name in Snellen."""


@cache
def _tables() -> PublishedTables:
    file = FOLDER / f"{PUBLISHED}.toml"
    return converted(read_table(file), PublishedTables, f"{file}")


def benchmark_of(figure: CardFigure) -> FigureBenchmark:
    """Return a figure's benchmark, from the field `snellen` or, if that is empty, from the
    benchmark's name."""
    if figure.snellen:
        return FigureBenchmark(benchmark=figure.snellen)
    return _tables().names.get(figure.benchmark.casefold(), FigureBenchmark())


def metric_of(benchmark: str) -> FigureMetric | None:
    """Return the metric of a benchmark's published figures, or None for the headline metric.

    Args:
        benchmark: The benchmark in Snellen, with or without options.
    """
    return _tables().metrics.get(benchmark.partition(":")[0])
