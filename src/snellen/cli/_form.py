"""The format of an output."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from snellen.errors import UsageError, plain

TERMINAL = "terminal"


def form_of(output: Path | None, form: str | None, endings: Mapping[str, str]) -> str:
    """The requested format. By default, the output file's extension determines the format. A file
    that ends in `.txt` or has no extension gets the terminal's format.

    Raises:
        UsageError: the extension is unknown.
    """
    if form or output is None:
        return form or TERMINAL
    ending = output.suffix.removeprefix(".").lower()
    if ending in ("", "txt"):
        return TERMINAL
    if ending not in endings:
        raise UsageError(
            f"{output}: unknown extension .{ending}. Use .{', .'.join(endings)}, or .txt, or pass "
            "--format."
        )
    return endings[ending]


def put(text: str, output: Path | None) -> None:
    """Write a text to a file, or print the text if no file is named.

    Raises:
        UsageError: the file cannot be written.
    """
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}.") from error
    say_written(output)


def say_written(output: Path) -> None:
    """Print the path of the report on standard error."""
    print(plain(f"wrote {output}"), file=sys.stderr)
