"""snellen contamination: near-duplicates, and benchmarks in training data."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from time import monotonic

import click
import msgspec

from snellen import registry, report
from snellen.analysis.contamination import Duplicate, Hit, contamination
from snellen.cli._exit import DONE
from snellen.cli._places import DATA, RUNS
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put
from snellen.errors import UsageError, plain
from snellen.run.progress_text import EVERY, FIRST

PATH = click.Path(path_type=Path)


@click.command("contamination")
@click.argument("benchmarks", nargs=-1, required=True, metavar="BENCH...")
@click.option(
    "--corpus",
    "corpora",
    multiple=True,
    type=PATH,
    metavar="PATH",
    help="Training data: JSONL, JSON, TSV, CSV, parquet, text, pictures, or a folder; repeatable.",
)
@click.option(
    "--images",
    "images",
    type=PATH,
    metavar="FOLDER",
    help="The folder of the pictures that the corpus names, if the pictures are not next to the "
    "corpus.",
)
@click.option(
    "--run",
    type=RUNS,
    help="Compare this run's scores on samples found in the corpus with the run's scores on other "
    "samples.",
)
@click.option("--data", type=DATA, help="The path of the rows, if there is a single BENCH.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Use only the first N rows of each BENCH.",
)
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Write all matches as JSONL.")
@json_option
def command(
    benchmarks: tuple[str, ...],
    corpora: tuple[Path, ...],
    images: Path | None,
    run: Path | None,
    data: Path | None,
    limit: int | None,
    output: Path | None,
    as_json: bool,
) -> int:
    """Find samples that occur more than once, in one BENCH or across several, and samples that
    occur in a corpus. Samples are compared by their pictures and by their text.

    Pictures match even if they were recompressed, scaled, brightened, or slightly cropped.
    Paraphrases, translations, and larger crops are not found.
    """
    if data is not None and len(benchmarks) > 1:
        raise UsageError(
            "--data works with a single BENCH only. Leave out --data to compare several."
        )
    if images is not None and not images.is_dir():
        raise UsageError(f"{images}: there is no such folder of pictures.")
    if output is not None and not output.absolute().parent.is_dir():
        raise UsageError(f"{output} cannot be written: there is no folder {output.parent}.")
    loaded = [registry.benchmark(spec, data=data) for spec in dict.fromkeys(benchmarks)]
    document, rows = contamination(
        loaded, corpus=corpora, pictures_in=images, run=run, limit=limit, say=_Now()
    )
    if output is not None:
        _write(output, rows)
    if as_json:
        put(document)
    else:
        report.print_contamination(document)
    return DONE


class _Now:
    """Prints progress on standard error from time to time."""

    def __init__(self) -> None:
        self._next = monotonic() + FIRST

    def __call__(self, text: str) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + EVERY
            print(plain(text), file=sys.stderr, flush=True)


def _write(path: Path, rows: Iterable[Duplicate | Hit]) -> None:
    encode = msgspec.json.Encoder().encode
    try:
        with path.open("wb") as file:
            file.writelines(encode(row) + b"\n" for row in rows)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error
