"""snellen list: lists benchmarks, suites, models, metrics, and recipes."""

from __future__ import annotations

import click

from snellen import recipes, registry
from snellen.cli._exit import DONE
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put
from snellen.registry import suites

KINDS = ["benchmarks", "suites", "models", "metrics", "recipes"]


@click.command("list")
@click.argument("what", type=click.Choice(KINDS), required=False)
@json_option
def command(what: str | None, as_json: bool) -> int:
    """List benchmarks, suites, models, metrics, and recipes. By default, all of these are
    listed."""
    kinds = {
        "benchmarks": list(registry.list_benchmarks()),
        "suites": [
            (f"{suites.PREFIX}{name}", f"{suite.title} ({', '.join(suite.benchmarks)})")
            for name, suite in suites.SUITES.items()
        ],
        "models": list(registry.list_models()),
        "metrics": list(registry.list_metrics()),
        "recipes": [(name, _title(recipes.load(name))) for name in recipes.names()],
    }
    if what is not None:
        kinds = {what: kinds[what]}
    if as_json:
        put(
            {
                kind: [{"name": name, "title": words} for name, words in rows]
                for kind, rows in kinds.items()
            }
        )
        return DONE
    for kind, rows in kinds.items():
        click.echo(f"{kind}:")
        width = max(len(name) for name, _ in rows)
        for name, words in rows:
            click.echo(f"  {name:<{width}}  {words}")
    return DONE


def _title(recipe: recipes.Recipe) -> str:
    """A one-line description of a recipe."""
    data_sets = {data_set for data_set, _ in recipe.asks}
    provider = "" if recipe.provider == "bundled" else f" From {recipe.provider}."
    family = "any model" if recipe.family == "any" else recipe.family
    return f"{family}: {len(data_sets)} data sets ({recipe.evidence}).{provider}"
