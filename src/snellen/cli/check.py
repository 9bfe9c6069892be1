"""snellen check: dummy models on benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from snellen import registry
from snellen.cli import _complete
from snellen.cli._exit import DONE, FELL_SHORT
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put
from snellen.errors import UsageError, plain

if TYPE_CHECKING:
    from snellen.testing import CheckRow


@click.command("check")
@click.argument("benchmarks", nargs=-1, metavar="[BENCH]...", shell_complete=_complete.benchmarks)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The file or folder with the rows of a single BENCH. Default: the bundled rows.",
)
@json_option
def command(benchmarks: tuple[str, ...], data: Path | None, as_json: bool) -> int:
    """Run dummy models on the bundled rows of each BENCH (default: of all benchmarks).

    The dummy models are always right, always wrong, silent, hedging, or random. Each model must get
    the scores that the benchmark's file declares.
    """
    from snellen.testing import check_benchmark

    if data is not None and len(benchmarks) != 1:
        raise UsageError("--data has the rows of one benchmark. Name exactly one benchmark.")
    documents = []
    passed = True
    for name in benchmarks or [entry.name for entry in registry.entries()]:
        try:
            checked = check_benchmark(name if data is None else registry.benchmark(name, data=data))
        except AssertionError as error:
            passed = False
            documents.append({"benchmark": name, "passed": False, "broken": str(error)})
            if not as_json:
                click.echo(f"{name}: BREAKS THE CONTRACT: {error}")
            continue
        passed &= checked.passed
        documents.append(
            {
                "benchmark": checked.benchmark,
                "passed": checked.passed,
                "n": checked.n,
                "rows": checked.rows,
            }
        )
        if not as_json:
            word = "passed" if checked.passed else "FELL SHORT"
            hidden = (
                "" if checked.rows else ", whose answers are hidden, so there is nothing to score"
            )
            kind = f"{'bundled ' * (data is None)}row{'s' * (checked.n != 1)}"
            kind += "" if data is None else f" of {data}"
            click.echo(plain(f"{checked.benchmark}: {word} on {checked.n:,} {kind}{hidden}"))
            for row in checked.rows:
                click.echo(_line(row))
    if as_json:
        put(documents)
    return DONE if passed else FELL_SHORT


def _line(row: CheckRow) -> str:
    got = "-" if row.got is None else f"{row.got:.4f}"
    match row.expected:
        case None:
            expected = "none"
        case float():
            expected = f"{row.expected:.4f}"
        case low, high:
            expected = f"{low:.4f} to {high:.4f}"
    mark = "" if row.ok else "   <- differs"
    return f"  {row.scoring:<12} {row.dummy:<10} {got:>8}  expected {expected}{mark}"
