"""snellen report: shows the results of runs in several formats."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from snellen import api, registry, report
from snellen.cli._exit import FELL_SHORT
from snellen.cli._form import TERMINAL, form_of, put, say_written
from snellen.cli._own_benchmark import own_benchmarks
from snellen.cli._places import RUNS
from snellen.cli._runs import RunArguments
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import results_as_json
from snellen.errors import SnellenError, UsageError, plain
from snellen.store import REPORT, Run

if TYPE_CHECKING:
    from snellen.analysis.comparing import Comparisons
    from snellen.analysis.result import Result
    from snellen.core.benchmark import Benchmark

WRITTEN: Mapping[str, Callable[[Sequence[Result]], str]] = {
    "md": report.markdown,
    "csv": report.csv,
    "json": results_as_json,
}
WITH_COMPARISON: Mapping[str, Callable[[Sequence[Result], Comparisons | None], str]] = {
    "html": report.html,
    "latex": report.latex,
}
DRAWN = ("svg", "png")
ENDINGS = {form: form for form in (*WRITTEN, *WITH_COMPARISON, *DRAWN)} | {
    "tex": "latex",
    "htm": "html",
}
MOST = 20
"""The maximum number of runs that are compared by default. Each run is scored again, and n runs
make n (n - 1) / 2 pairs."""
PATH = click.Path(path_type=Path)


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=RUNS, metavar="RUN...")
@own_benchmarks
@click.option(
    "--format",
    "form",
    type=click.Choice([TERMINAL, *WRITTEN, *WITH_COMPARISON, *DRAWN]),
    help="Default: the format of the output file's extension, otherwise terminal.",
)
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Write to a file.")
@click.option(
    "--plots",
    "folder",
    type=PATH,
    metavar="DIR",
    help="Write all plots to a folder, as svg unless --format is png.",
)
@click.option(
    "--no-compare",
    is_flag=True,
    help="Leave comparisons out of html, latex, and plots, so that no run is scored again.",
)
@click.option(
    "--suite",
    metavar="SUITE",
    help="In the terminal, also show the overall score of each model in this suite "
    "(`suite:openvlm`).",
)
@click.option(
    "--also",
    "companions",
    multiple=True,
    metavar="NAME",
    help="In the terminal, also show this metric of the headline scoring (`precision`), or the "
    "headline metric by this tag (`L1`); repeatable.",
)
@json_option
def command(
    runs: tuple[Path, ...],
    benchmarks: tuple[str, ...],
    form: str | None,
    output: Path | None,
    folder: Path | None,
    no_compare: bool,
    suite: str | None,
    companions: tuple[str, ...],
    as_json: bool,
) -> int:
    """Show the stored results of RUN folders, or of all runs in a folder. No model is asked.

    For several runs, the report is a table with a row for each run. The formats md and html also
    show each run in full. For several runs, html, latex, and plots also include paired comparisons,
    for which the runs are scored again.
    """
    form = "json" if as_json else form_of(output, form, ENDINGS)
    if companions and (form != TERMINAL or output is not None or folder is not None):
        raise UsageError("--also works only in the terminal. The other formats show all metrics.")
    if suite is not None and (form != TERMINAL or output is not None or folder is not None):
        raise UsageError("--suite works only in the terminal. Leave out the format and the file.")
    if suite is not None:
        report.check_suite(suite)  # before the runs are loaded
    results, code = _load(runs, benchmarks)
    if folder is not None or form in (*DRAWN, "latex", "csv"):
        _warn_out_of_date(results)
    compared = None
    if len(results) > 1 and not no_compare and (form in WITH_COMPARISON or folder is not None):
        compared = _compared(results, benchmarks)
    if folder is not None:
        if output is not None or form not in (TERMINAL, *DRAWN):
            raise UsageError(
                "--plots writes nothing but plots. Leave out -o, and use --format only to choose "
                "svg or png."
            )
        drawn = report.plots(results, folder, form if form in DRAWN else "svg", compared)
        for path in drawn:
            click.echo(path)
        if not drawn:
            print("nothing drawn: no result has a value", file=sys.stderr)
        return code if drawn else FELL_SHORT
    if form in DRAWN:
        if output is None:
            raise UsageError(f"The format {form} needs a file to write to. Name one with -o.")
        report.plot(results, output, form)
        say_written(output)
        return code
    if form in WITH_COMPARISON:
        text = WITH_COMPARISON[form](results, compared)
    elif form in WRITTEN:
        text = WRITTEN[form](results)
    elif output is None:
        report.print_results(results)
        if companions:
            report.print_companions(results, companions)
        if suite is not None:
            report.print_overalls(suite, results)
        return code
    else:
        text = report.as_text(results)
    put(text, output)
    return code


def _load(paths: Sequence[Path], benchmarks: Sequence[str]) -> tuple[list[Result], int]:
    """All results, and the exit code."""
    used: set[str] = set()

    def load(run: Path) -> Result:
        spec, benchmark = _benchmark_of(run, benchmarks)
        result = api.load_run(run, benchmark)
        used.add(spec)
        return result

    arguments = RunArguments(paths)
    results = [*arguments.results(load)]
    for spec in benchmarks:
        if spec not in used:
            names = ", ".join(sorted({result.report.benchmark for result in results}))
            raise UsageError(
                f"-b {spec}: none of these runs used that benchmark. They used {names}. Leave out "
                "the option, or name other runs."
            )
    return results, arguments.code


def _benchmark_of(run: Path, specs: Sequence[str]) -> tuple[str, Benchmark | None]:
    """The `-b` argument that names the run's benchmark, and the benchmark itself if it is not in
    the catalog. A benchmark in the catalog is not loaded, because the run's manifest is enough."""
    if not specs:
        return "", None
    manifest = Run(run.parent if run.name == REPORT else run).manifest()
    for spec in specs:
        benchmark = registry.supplied([spec], manifest)
        if benchmark is not None:
            return spec, benchmark
        entry = None if registry.is_own_code(spec) else registry.entry_of(spec)
        if entry is not None and entry.name == manifest["benchmark"]:
            return spec, None
    return "", None


def _warn_out_of_date(results: Sequence[Result]) -> None:
    """Print on standard error which results are out of date, for formats that show no notes."""
    for result in results:
        for note in result.report.out_of_date:
            print(plain(f"{result.run}: {note}"), file=sys.stderr)


def _compared(results: Sequence[Result], benchmarks: Sequence[str]) -> Comparisons | None:
    """Compare the runs. If the runs cannot be compared, print the reason on standard error and
    return None. If no two runs have the same benchmark, return None without a message."""
    questions = {
        (result.report.benchmark, repr(result.report.identity.get("options"))) for result in results
    }
    if len(questions) == len(results):
        return None
    if len(results) > MOST:
        why = f"{len(results)} runs are more than {MOST}. Use `snellen compare` for so many"
    else:
        try:
            runs = (result.run for result in results if result.run)
            return api.compare(*runs, benchmark=benchmarks).comparisons
        except SnellenError as error:
            why = str(error)
    print(plain(f"not compared: {why}"), file=sys.stderr)
    return None
