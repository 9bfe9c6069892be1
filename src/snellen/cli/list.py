"""snellen list: what there is."""

from __future__ import annotations

import click

from snellen import catalog
from snellen.cli._json import as_json as json_option
from snellen.cli._json import put


@click.command("list", short_help="List benchmarks, models and metrics.")
@click.argument("what", type=click.Choice(["benchmarks", "models", "metrics", "all"]), default="all")
@json_option
def command(what: str, as_json: bool) -> int:
    """List what there is; nothing is imported for it but its files' first lines."""
    found = {
        "benchmarks": [(entry.name, entry.title) for entry in catalog.entries()],
        "models": [(name, words) for name, (_, words) in catalog.MODELS.items()],
        "metrics": list(catalog.metrics()),
    }
    wanted = {kind: rows for kind, rows in found.items() if what in (kind, "all")}
    if as_json:
        put({kind: [{"name": name, "what": words} for name, words in rows] for kind, rows in wanted.items()})
        return 0
    for kind, rows in wanted.items():
        click.echo(f"{kind}:")
        width = max(len(name) for name, _ in rows)
        for name, words in rows:
            click.echo(f"  {name:<{width}}  {words}")
    return 0
