"""snellen show: shows the description of a benchmark, a suite, or a recipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from snellen import registry
from snellen.cli import _benchmark_table
from snellen.cli._complete import benchmarks
from snellen.cli._exit import DONE
from snellen.cli._own_benchmark import runs_toolkit_code
from snellen.cli._places import DATA
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put
from snellen.errors import DataError, UsageError, plain
from snellen.registry import facts, suites
from snellen.text.amounts import percent

if TYPE_CHECKING:
    from snellen.core.benchmark import Benchmark
    from snellen.core.sample import Sample


@click.command("show")
@click.argument("benchmark", metavar="BENCH", required=False, shell_complete=benchmarks)
@click.option("--data", type=DATA, help="The path of the benchmark's rows, which are counted.")
@click.option(
    "--recipe",
    metavar="NAME[:DATA_SET]",
    help="Instead of a benchmark, show how a model's makers evaluated it.",
)
@json_option
@runs_toolkit_code
def command(benchmark: str | None, data: Path | None, recipe: str | None, as_json: bool) -> int:
    """Show the sources of BENCH's data, prompt, and scorings, with an example question and the
    score of random guessing. For a suite (`suite:math`), show its benchmarks and their sizes."""
    if (benchmark is None) == (recipe is None):
        raise click.UsageError("Name a benchmark, or a recipe with --recipe NAME.")
    if recipe is not None:
        from snellen.cli._recipe_sheet import recipe_lines, recipe_sheet

        document = recipe_sheet(recipe)
        lines = recipe_lines(document)
    elif benchmark is not None and benchmark.startswith(suites.PREFIX):
        if data is not None:
            raise UsageError("--data is only for benchmarks. Leave it out to show a suite.")
        from snellen.cli._suite_sheet import suite_lines, suite_sheet

        document = suite_sheet(benchmark)
        lines = suite_lines(document)
    else:
        assert benchmark is not None
        document = sheet(benchmark, data)
        lines = _lines(document)
    if as_json:
        put(document)
    else:
        for line in lines:
            click.echo(plain(line))
    return DONE


def sheet(benchmark: str, data: Path | None = None) -> dict[str, Any]:
    """Everything that is shown about a benchmark, as a dictionary that JSON can represent."""
    loaded = registry.benchmark(benchmark, data=data)
    entry = registry.entry_of(benchmark)
    # A file of rows has no bundled rows, so its own rows are used.
    has_bundled = entry is not None and (entry.bundled is not None or not entry.reads_data)
    bundled = _bundled(benchmark) if has_bundled else loaded
    is_file = entry is None and "columns" in loaded.provenance.options
    there, few = _survey(loaded, is_file=is_file), _survey(bundled)
    return {
        "benchmark": loaded.name,
        "sheet": entry.sheet if entry else "",
        "also_known_as": list(entry.aliases) if entry else [],
        **(_facts(entry, loaded) if entry else {}),
        "options": registry.options_of(benchmark) if entry else {},
        "rows": there.rows or None,
        "is_published": loaded.interop.files is not None,
        "chance": there.chance,
        "bundled_rows": few.rows,
        "bundled_chance": few.chance,
        "max_answer_tokens": loaded.max_answer_tokens,
        "break_down_by": list(loaded.presentation.break_down_by),
        "scorings": {
            name: {
                "version": scoring.version,
                "source": scoring.source,
                "metrics": list(scoring.metrics),
                "hedging": _hedging(bundled, name, few.chance),
            }
            for name, scoring in loaded.scorings.items()
        },
        "notes": [*loaded.notes, *_data_notes(loaded, there.rows)],
        "example": _example(bundled, few.first),
    }


def _facts(entry: registry.Entry, benchmark: Benchmark) -> dict[str, Any]:
    """The facts that `snellen list` shows, with the number of questions for the benchmark's
    options."""
    listed = _benchmark_table.document(entry)
    known = {name: value for name, value in listed.items() if name not in ("name", "title")}
    if not benchmark.provenance.from_catalog:  # the user's own file
        return known
    return {**known, "n": registry.published_size(benchmark)}


def _bundled(spec: str) -> Benchmark:
    return registry.benchmark(spec, data=Path(registry.SYNTHETIC))


@dataclass(frozen=True)
class _Survey:
    """The number of rows, the score of choosing at random, and the first sample.

    `chance` is the mean of 1 / number of choices over the questions, where a question without
    choices counts as 0. `chance` is None if no question has choices.
    """

    rows: int
    chance: float | None
    first: Sample | None


def _survey(benchmark: Benchmark, *, is_file: bool = False) -> _Survey:
    """Survey the rows in one pass. The survey is empty if the rows were not downloaded.

    Raises:
        DataError: a row cannot be read. If not even the first row can be read, the error is raised
            only if the user named the file (`is_file`); otherwise the survey is empty.
    """
    rows, chance, first = 0, 0.0, None
    try:
        for row in benchmark.data:
            sample = benchmark.sample(row.position, row)
            rows += 1
            chance += 1 / len(sample.choices) if sample.choices else 0.0
            first = first or sample
    except DataError:
        if is_file or rows:
            raise
        return _Survey(0, None, None)
    return _Survey(rows, chance / rows if chance else None, first)


def _data_notes(benchmark: Benchmark, rows: int) -> list[str]:
    """Notes on whether the rows, if there are any, are those of the published data set."""
    if not rows:
        return []
    from snellen.run.data_notes import data_notes, size_notes  # imported on use: few pass --data

    return [*data_notes(benchmark), *size_notes(benchmark, rows)]


def _hedging(bundled: Benchmark, scoring: str, chance: float | None) -> float | None:
    """The score, on the bundled rows, of replies that name every answer at once. None if this score
    is not above chance, or if lower scores are better."""
    if bundled.scorings[scoring].better == "lower":
        return None
    expected = bundled.check.expect[scoring]["hedging"] if bundled.check else 0.0
    return expected if expected is not None and expected > (chance or 0.0) else None


def _example(benchmark: Benchmark, sample: Sample | None) -> dict[str, Any] | None:
    """A sample in the form in which a model gets it."""
    request = benchmark.request(sample) if sample else None
    if sample is None or request is None:
        return None
    messages = []
    for message in request.messages:
        parts = [
            part if isinstance(part, str) else f"<{part.label or type(part).__name__.lower()}>"
            for part in message.content
        ]
        messages.append({"role": message.role, "text": "\n".join(parts)})
    return {"sample": sample.id, "messages": messages, "target": sample.target}


def _where_to_get(document: Mapping[str, Any]) -> str:
    """A message that says that the benchmark's rows were not found, and how to get them."""
    if not document["is_published"]:
        return "not found: pass --data"
    return f"not found: run `snellen data get {document['benchmark']}`, or pass --data"


def _fact_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the facts that are known, each with its meaning."""
    if document.get("n"):
        yield f"questions      {document['n']:,}"
    if kind := document.get("kind"):
        judge = "; needs a judge" if document["needs_judge"] else ""
        yield f"kind           {_with_meaning(kind, facts.KINDS)}{judge}"
    if languages := document.get("languages"):
        names = (facts.LANGUAGES.get(code, code) for code in languages)
        yield f"languages      {', '.join(names)}"
    if document.get("license"):
        yield f"license        {_with_meaning(document['license'], facts.LICENSES)}"
    if document.get("proof"):
        yield f"proof          {_with_meaning(document['proof'], facts.PROOFS)}"


def _with_meaning(value: str, meanings: Mapping[str, str]) -> str:
    meaning = meanings.get(value)
    return f"{value}: {meaning}" if meaning else value


def _lines(document: Mapping[str, Any]) -> list[str]:
    lines = [document["benchmark"], "", *document["sheet"].splitlines(), ""]
    if document["also_known_as"]:
        lines.append(f"also known as  {', '.join(document['also_known_as'])}")
    lines += _fact_lines(document)
    for name, option in document["options"].items():
        allowed = f", one of {', '.join(map(str, option['choices']))}" if option["choices"] else ""
        lines.append(f"option         {name}={option['default']}{allowed}")
    rows = document["rows"]
    lines.append(f"rows           {f'{rows:,}' if rows else _where_to_get(document)}")
    chance, where = document["chance"], ""
    if chance is None:
        chance, where = document["bundled_chance"], " on the bundled rows"
    if chance is not None:
        lines.append(f"chance         {percent(chance)}{where}, by drawing a choice blindly")
    lines.append(f"answers        up to {document['max_answer_tokens']:,} tokens")
    lines.append(f"broken down by {', '.join(document['break_down_by']) or 'nothing'}")
    for name, scoring in document["scorings"].items():
        lines.append(f"scoring        {name}, version {scoring['version']}: {scoring['source']}")
        lines.append(f"               gives {', '.join(scoring['metrics'])}")
        if scoring["hedging"] is not None:
            # Values above 1 are points, not fractions.
            hedging = scoring["hedging"]
            value = percent(hedging) if hedging <= 1 else f"{hedging:g}"
            sentence = f"naming every answer at once scores {value}"
            lines.append(f"               {sentence} on the bundled rows, more than chance")
    lines += [f"note           {note}" for note in document["notes"]]
    if document["example"]:
        lines += ["", f"sample {document['example']['sample']}, as a model gets it:"]
        for message in document["example"]["messages"]:
            lines.append(f"  [{message['role']}]")
            lines += [f"  {line}" for line in message["text"].splitlines()]
        lines.append(f"  target: {document['example']['target']}")
    return lines
