"""snellen list: lists benchmarks, suites, models, metrics, and recipes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import click

from snellen import recipes, registry
from snellen.cli import _benchmark_table
from snellen.cli._exit import DONE
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put
from snellen.errors import UsageError, plain
from snellen.registry import suites
from snellen.text.amounts import counted

KINDS = ["benchmarks", "suites", "models", "metrics", "recipes"]


def _filter(name: str, help_text: str) -> Callable[[Any], Any]:
    return click.option(f"--{name}", multiple=True, metavar=name.upper(), help=help_text)


@click.command("list")
@click.argument("what", type=click.Choice(KINDS), required=False)
@_filter("kind", "Only benchmarks with this kind of answer (`choice`, `words`); repeatable.")
@_filter("language", "Only benchmarks in this language (`en`, `zh`); repeatable.")
@_filter("license", "Only benchmarks whose data has this license (`MIT`, `'CC-BY*'`); repeatable.")
@_filter("proof", "Only benchmarks with this proof (`published outputs`); repeatable.")
@click.option(
    "--judge/--no-judge",
    default=None,
    help="Only benchmarks that need a judge, or that need none.",
)
@json_option
def command(what: str | None, as_json: bool, judge: bool | None, **filters: Sequence[str]) -> int:
    """List benchmarks, suites, models, metrics, and recipes. By default, all of these are listed.

    Benchmarks are listed with their number of questions, kind of answer, languages, license of the
    data, and proof of the headline scoring. With a filter, only benchmarks are listed.
    """
    if judge is not None or any(filters.values()):
        if what not in (None, "benchmarks"):
            raise UsageError(f"The filters apply only to benchmarks. Leave out {what}.")
        what = "benchmarks"
    kinds = [what] if what is not None else KINDS
    chosen: Sequence[registry.Entry] = ()
    if "benchmarks" in kinds:
        chosen = _benchmark_table.selected(registry.entries(), filters, judge)
    others = {kind: list(rows()) for kind, rows in OTHERS.items() if kind in kinds}
    if as_json:
        documents: dict[str, list[dict[str, Any]]] = {
            kind: [{"name": name, "title": title} for name, title in rows]
            for kind, rows in others.items()
        }
        if "benchmarks" in kinds:
            listed = [_benchmark_table.document(entry) for entry in chosen]
            documents = {"benchmarks": listed, **documents}
        put(documents)
        return DONE
    if "benchmarks" in kinds:
        click.echo("benchmarks:")
        for line in _benchmark_table.lines(chosen):
            click.echo(plain(line))
    for kind, rows in others.items():
        click.echo(f"{kind}:")
        width = max(len(name) for name, _ in rows)
        for name, title in rows:
            click.echo(f"  {name:<{width}}  {title}")
    return DONE


def _title(recipe: recipes.Recipe) -> str:
    """A one-line description of a recipe."""
    data_sets = {data_set for data_set, _ in recipe.asks}
    provider = "" if recipe.provider == "bundled" else f" From {recipe.provider}."
    family = "any model" if recipe.family == "any" else recipe.family
    # Most figures are listed with a data set. The others are for benchmarks for which no source
    # states how they are asked.
    figures = sum(len(ask.manner.figures) for ask in recipe.asks.values())
    figures += sum(not figure.data_set for figure in recipe.figures)
    sizes = [
        counted(len(data_sets), "data set", "data sets"),
        counted(figures, "published figure", "published figures"),
    ]
    return f"{family}: {', '.join(sizes)} ({recipe.evidence}).{provider}"


def _suites() -> Iterator[tuple[str, str]]:
    for name, suite in suites.SUITES.items():
        yield f"{suites.PREFIX}{name}", f"{suite.title} ({', '.join(suite.benchmarks)})"


OTHERS: Mapping[str, Callable[[], Iterable[tuple[str, str]]]] = {
    "suites": _suites,
    "models": registry.list_models,
    "metrics": registry.list_metrics,
    "recipes": lambda: ((name, _title(recipes.load(name))) for name in recipes.names()),
}
"""Maps each kind of object except benchmarks to the function that lists names and titles."""
