"""snellen power: shows how small a difference a benchmark can detect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from snellen import api, registry
from snellen.cli._exit import DONE
from snellen.cli._places import RUNS
from snellen.cli._run_options import run_options
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put
from snellen.errors import plain
from snellen.text.amounts import percent

if TYPE_CHECKING:
    from snellen.api import Observed, Power

NEVER = "none"


@click.command("power")
@click.argument("benchmark", metavar="BENCH")
@run_options("data", "task", "columns")
@click.option(
    "--limit", type=click.IntRange(1), help="The number of rows to use, from the first row on."
)
@click.option(
    "--difference",
    type=float,
    metavar="X",
    help="Show how many samples are needed to detect this difference, such as 0.02.",
)
@click.option(
    "--accuracy", type=float, default=0.7, show_default=True, help="The accuracy of the models."
)
@click.option(
    "--disagree",
    type=float,
    multiple=True,
    metavar="X",
    help="The fraction of samples on which exactly one of two models is right; repeatable.",
)
@click.option(
    "--icc",
    type=float,
    default=0.0,
    show_default=True,
    help="The correlation between the models' differences on questions about the same picture or "
    "video.",
)
@click.option(
    "--power",
    "wanted",
    type=float,
    default=0.8,
    show_default=True,
    help="The probability of detecting the difference.",
)
@click.option(
    "--level",
    type=float,
    default=0.05,
    show_default=True,
    help="The significance level of the two-sided test.",
)
@click.option(
    "--from",
    "runs",
    type=(RUNS, RUNS),
    metavar="RUN RUN",
    help="Two runs. The standard error of the difference between these runs is used.",
)
@json_option
def command(
    benchmark: str,
    data: Path | None,
    task: str | None,
    columns: Mapping[str, str],
    limit: int | None,
    difference: float | None,
    accuracy: float,
    disagree: tuple[float, ...],
    icc: float,
    wanted: float,
    level: float,
    runs: tuple[Path, Path] | None,
    as_json: bool,
) -> int:
    """Show the smallest difference between two models that BENCH can detect, and the number of
    samples that are needed to detect a given difference.

    Differences are fractions: 0.02 means 2 percentage points. No model is asked.
    """
    power_document = api.power(
        registry.benchmark(benchmark, data=data, task=task, columns=columns or None),
        runs=runs or (),
        limit=limit,
        accuracy=accuracy,
        disagree=disagree,
        icc=icc,
        difference=difference,
        power=wanted,
        level=level,
    )
    if as_json:
        put(power_document)
    else:
        for line in _lines(power_document):
            click.echo(plain(line))
    return DONE


def _lines(document: Power) -> Iterator[str]:
    yield f"{document.benchmark}: {_size(document)}"
    yield (
        f"A two-sided test at {100 * document.level:g} % detects such a difference with "
        f"{100 * document.power:g} % power, if both models answer the same samples:"
    )
    yield ""
    if document.observed is not None:
        yield from _observed(document, document.observed)
    else:
        yield from _table(document)
    if document.notes:
        yield ""
        yield from (f"note  {note}" for note in document.notes)


def _size(document: Power) -> str:
    if document.clusters == document.samples:
        return f"{document.samples:,} samples"
    size = f"{document.samples:,} samples in {document.clusters:,} clusters"
    if document.design_effect > 1:
        worth = document.samples / document.design_effect
        size += (
            f", equivalent to {worth:,.0f} independent samples (design effect "
            f"{document.design_effect:.2f})"
        )
    return size


def _table(document: Power) -> Iterator[str]:
    """A table with a row for each rate at which two models disagree."""
    asks = document.difference is not None
    head = ["they disagree on", "standard error", "smallest difference"]
    if document.difference is not None:
        head.append(f"samples for {_points(document.difference)}")
        head += ["clusters"] * (document.clusters < document.samples)
    rows = [head]
    for row in document.rows:
        cells = [
            percent(row.disagree),
            _points(row.stderr),
            NEVER if row.smallest is None else _points(row.smallest),
        ]
        if asks:
            needed = [row.samples_needed, row.clusters_needed][: len(head) - len(cells)]
            cells += [NEVER if number is None else f"{number:,}" for number in needed]
        rows.append(cells)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        yield "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    yield ""
    if any(row.smallest is None for row in document.rows):
        yield f"{NEVER}: not detectable, even if one model is right wherever the two disagree"
    if any(row.disagree == document.unrelated for row in document.rows):
        yield (
            f"{percent(document.unrelated)}: two models with {100 * document.accuracy:.0f} % "
            "accuracy and independent errors; similar models disagree less"
        )


def _points(difference: float) -> str:
    """The difference between two fractions, in percentage points."""
    return f"{100 * difference:.2f} pp"


def _observed(document: Power, seen: Observed) -> Iterator[str]:
    """Lines about the difference between two runs."""

    def value(of: float) -> str:
        return _points(of) if seen.unit == "fraction" else f"{of:.4g} {seen.unit}"

    yield f"a  {seen.a}"
    yield f"b  {seen.b}"
    clusters = f" in {seen.clusters:,} clusters" if seen.clusters < seen.samples else ""
    disagree = "" if seen.disagree is None else f"; they disagree on {percent(seen.disagree)}"
    yield (
        f"{seen.metric} of b minus a: {value(seen.difference)}, standard error "
        f"{value(seen.stderr)}, on {seen.samples:,} samples{clusters}{disagree}"
    )
    yield f"smallest difference with {seen.samples:,} samples: {value(seen.smallest)}"
    if seen.samples != document.samples:
        yield f"smallest difference with all {document.samples:,}: {value(seen.smallest_of_all)}"
    if seen.samples_needed is not None and document.difference is not None:
        yield f"samples needed for {value(document.difference)}: {seen.samples_needed:,}"
