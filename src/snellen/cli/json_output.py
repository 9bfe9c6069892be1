"""Prints one JSON document on standard output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

if TYPE_CHECKING:
    from snellen.analysis.result import Result

as_json = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON document on standard output, and nothing else.",
)


def put(document: Any) -> None:
    """Print a document that consists of structs, dataclasses, mappings, and lists."""
    click.echo(msgspec.json.encode(document))


def put_results(results: Sequence[Result]) -> None:
    """Print one report, or a list of several reports."""
    click.echo(results_as_json(results), nl=False)


def results_as_json(results: Sequence[Result]) -> str:
    """One report, or a list of several reports. Each report includes the run folder and the reason
    why the run stopped."""
    documents = []
    for result in results:
        document = msgspec.to_builtins(result.report)
        if result.run is not None:
            # Bytes in the folder's name that are not UTF-8 become `?`.
            document["run"] = f"{result.run}".encode(errors="replace").decode()
        if result.stopped is not None:
            document["stopped"] = result.stopped
        documents.append(document)
    only = documents[0] if len(documents) == 1 else documents
    return msgspec.json.encode(only).decode() + "\n"
