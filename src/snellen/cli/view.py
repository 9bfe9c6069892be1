"""snellen view: shows runs in a browser on this machine."""

from __future__ import annotations

import sys
import threading
import webbrowser
from pathlib import Path

import click

from snellen import registry
from snellen.cli._exit import DONE
from snellen.cli._own_benchmark import own_benchmarks, runs_toolkit_code
from snellen.cli._places import RUNS
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put
from snellen.errors import UsageError, install, plain


@click.command("view")
@click.argument("folders", nargs=-1, type=RUNS, metavar="[DIR]...")
@own_benchmarks
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="The port, or 0 for any free port. Default: 7878, or the next free port.",
)
@click.option("--no-open", is_flag=True, help="Print the address without opening a browser.")
@json_option
@runs_toolkit_code
def command(
    folders: tuple[Path, ...],
    benchmarks: tuple[str, ...],
    port: int | None,
    no_open: bool,
    as_json: bool,
) -> int:
    """Show the runs in each DIR (default: runs) in the browser, even while they are in progress.
    The pages show samples, what the model saw and said, the scores, and runs side by side.

    Only this machine can reach the viewer. Nothing is sent to other machines, and no file of a run
    is changed. With --json, the output is a JSON document with the viewer's address. The viewer
    runs until it is stopped.
    """
    try:
        from snellen.view import serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise UsageError(
            f"The viewer needs {error.name}, which is not installed: {install('view')}."
        ) from error

    shown = folders or (Path("runs"),)

    def started(address: str) -> None:
        if as_json:
            put({"address": address, "runs": [f"{folder}" for folder in shown]})
        where = plain(" and ".join(f"{folder}" for folder in shown))
        print(f"Showing the runs in {where} at {address} (stop with Ctrl-C)", file=sys.stderr)
        if not no_open:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    # The toolkit's benchmarks are loaded here, since pages may load nothing that runs code.
    own = [registry.benchmark(spec) if registry.is_toolkit(spec) else spec for spec in benchmarks]
    serve(shown, port, started, benchmarks=own)
    return DONE
