"""snellen check: dummy models through benchmarks."""

from __future__ import annotations

import click

from snellen import catalog
from snellen.cli._json import as_json as json_option
from snellen.cli._json import put


@click.command("check", short_help="Put dummy models through benchmarks on their bundled rows.")
@click.argument("benchmarks", nargs=-1, metavar="[BENCH]...")
@json_option
def command(benchmarks: tuple[str, ...], as_json: bool) -> int:
    """Models that are always right, always wrong, silent, hedging and random must score what the benchmark's file says."""
    from snellen.testing import check_benchmark

    names = benchmarks or tuple(entry.name for entry in catalog.entries())
    reports = []
    for name in names:
        try:
            reports.append(check_benchmark(name))
        except AssertionError as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        put([{"benchmark": r.benchmark, "n": r.n, "passed": r.passed, "rows": list(r.rows)} for r in reports])
    else:
        for report in reports:
            click.echo(f"{report.benchmark}: {'passed' if report.passed else 'FELL SHORT'} on {report.n} bundled rows")
            for row in report.rows:
                wanted = (
                    f"{row.expected[0]:.4f} to {row.expected[1]:.4f}"
                    if isinstance(row.expected, tuple)
                    else f"{row.expected:.4f}"
                )
                got = "-" if row.got is None else f"{row.got:.4f}"
                mark = "" if row.ok else "   <- not as stated"
                click.echo(f"  {row.scoring:<12} {row.dummy:<10} {got:>8}  expected {wanted}{mark}")
    return int(not all(report.passed for report in reports))
