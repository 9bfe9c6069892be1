"""snellen view: runs in a browser on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from snellen.cli._exit import DONE
from snellen.errors import UsageError


@click.command("view")
@click.argument("folder", default="runs", type=click.Path(path_type=Path), metavar="[DIR]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="0: any that is free. Default: 7878, or the next that is free.",
)
@click.option("--no-open", is_flag=True, help="Open no browser; print the address alone.")
def command(folder: Path, port: int | None, no_open: bool) -> int:
    """Show the runs in DIR (default: runs) in a browser, also while they are written: samples,
    what the model saw and said, how it was scored, and runs side by side.

    Only this machine can reach it. Nothing is sent anywhere, and no run's file is changed.
    """
    try:
        from snellen.view import serve
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the viewer needs {error.name}, of the extra `view`: pip install 'snellen[view]'"
        ) from error
    serve(folder, port, open_browser=not no_open)
    return DONE
