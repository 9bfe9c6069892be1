"""snellen show: one benchmark's sheet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from snellen import catalog
from snellen.benchmark import Benchmark
from snellen.cli._json import as_json as json_option
from snellen.cli._json import put
from snellen.errors import DataError


@click.command("show", short_help="Show a benchmark's sheet: data, prompt, scorings, an example.")
@click.argument("benchmark")
@click.option("--data", type=click.Path(path_type=Path), help="Folder or file with its rows, to count them.")
@json_option
def command(benchmark: str, data: Path | None, as_json: bool) -> int:
    """Show where BENCHMARK's data, prompt and scoring come from, what it asks, and what blind models get."""
    made = catalog.benchmark(benchmark, data=data)
    bundled = catalog.benchmark(benchmark, data=Path(catalog.SYNTHETIC))
    entry = next(entry for entry in catalog.entries() if entry.name == made.name)
    document: dict[str, Any] = {
        "benchmark": made.name,
        "sheet": entry.sheet,
        "options": dict(made.options),
        "rows": _rows(made),
        "scorings": {
            name: {"version": scoring.version, "source": scoring.source, "metrics": list(scoring.metrics)}
            for name, scoring in made.scorings.items()
        },
        "broken down by": list(made.break_down_by),
        "answer tokens": made.max_answer_tokens,
        "chance": _chance(bundled),
        "hedging": _hedging(bundled),
        "also known as": list(entry.aliases),
        "example": _example(bundled),
    }
    if as_json:
        put(document)
        return 0
    click.echo(f"{made.name}\n\n{document.pop('sheet')}\n")
    example = document.pop("example")
    scorings = document.pop("scorings")
    for name, scoring in scorings.items():
        click.echo(f"scoring {name} (version {scoring['version']}): {scoring['source']}")
    for name, value in document.items():
        if name != "benchmark" and value not in (None, [], {}):
            click.echo(f"{name}: {_plain(value)}")
    click.echo("\nan example, from the bundled rows:")
    for message in example:
        click.echo(f"  [{message['role']}]")
        for line in message["text"].splitlines():
            click.echo(f"  {line}")
    return 0


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={one}" for name, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _rows(benchmark: Benchmark) -> int | None:
    """How many rows there are, where the data is at hand."""
    try:
        return benchmark.data.facts().rows
    except DataError:
        return None


def _chance(bundled: Benchmark) -> str | None:
    """What a blind draw gets on the bundled rows: the mean of 1 / number of choices."""
    samples = [bundled.sample(row.place, row) for row in bundled.data]
    chances = [1 / len(sample.choices) if sample.choices else 0.0 for sample in samples]
    return f"{sum(chances) / len(chances):.1%} on the bundled rows" if any(chances) else None


def _hedging(bundled: Benchmark) -> dict[str, str]:
    """Scorings under which naming every answer at once scores anything."""
    expect = bundled.check.expect if bundled.check else {}
    return {name: f"{found['hedging']:.1%}" for name, found in expect.items() if found.get("hedging")}


def _example(bundled: Benchmark) -> list[dict[str, str]]:
    row = next(iter(bundled.data))
    request = bundled.request(bundled.sample(row.place, row))
    assert request is not None
    return [
        {
            "role": message.role,
            "text": "\n".join(
                part if isinstance(part, str) else f"<{part.place or 'image'}>" for part in message.content
            ),
        }
        for message in request.messages
    ]
