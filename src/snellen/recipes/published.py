"""Which benchmark of Snellen a published figure is of, and what it is compared with."""

from functools import cache

import msgspec

from snellen.recipes.facts import CardFigure
from snellen.recipes.reading import FOLDER, PUBLISHED, converted, read_table


class FigureBenchmark(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of the benchmark of a published figure."""

    benchmark: str = ""
    """The benchmark in Snellen, with its options; empty if there is none, or none for sure."""
    note: str = ""
    """What was assumed; empty if nothing was."""
    unclear: str = ""
    """What the name leaves open, so that the figure may be of another data set; empty: nothing."""


class FigureMetric(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The metric of the published figures of a benchmark, if it is not the headline's first."""

    metric: str
    """The metric."""
    scoring: str = ""
    """The scoring that published figures are by; empty: the headline's."""
    points: int = 0
    """The points of the best score, for figures above 100; 0 if no figure is in points."""


class PublishedTables(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tables of `published.toml`."""

    names: dict[str, FigureBenchmark]
    """Benchmarks by their name in a source, in lower case."""
    metrics: dict[str, FigureMetric]
    """Metrics by the benchmark's name in Snellen."""


@cache
def _tables() -> PublishedTables:
    file = FOLDER / f"{PUBLISHED}.toml"
    return converted(read_table(file), PublishedTables, f"{file}")


def benchmark_of(figure: CardFigure) -> FigureBenchmark:
    """Which benchmark a figure is of, by what the figure says, or else by its name."""
    if figure.snellen:
        return FigureBenchmark(benchmark=figure.snellen)
    return _tables().names.get(figure.benchmark.casefold(), FigureBenchmark())


def metric_of(benchmark: str) -> FigureMetric | None:
    """The metric of the published figures of a benchmark; None: the headline's first.

    Args:
        benchmark: The benchmark in Snellen, with or without options.
    """
    return _tables().metrics.get(benchmark.partition(":")[0])
