"""Standard output as one JSON document."""

from __future__ import annotations

import sys
from typing import Any

import click
import msgspec

as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document, and nothing else, on standard output."
)


def put(document: Any) -> None:
    """Print a document of structs, dataclasses, mappings and lists."""
    sys.stdout.buffer.write(msgspec.json.encode(document) + b"\n")
    sys.stdout.buffer.flush()
