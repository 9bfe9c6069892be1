"""The benchmarks in `snellen list`: filters, and a table that fits the terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from snellen import registry
from snellen.errors import UsageError
from snellen.registry import facts

HEADINGS = ("name", "n", "kind", "lang", "license", "proof")
LANGUAGES_SHOWN = 2
"""The maximum number of languages in a cell. `+N` stands for N more."""
TITLE_ROOM = 30
"""If a line has fewer columns left than this, the title gets a line of its own."""
VALUES: Mapping[str, Callable[[registry.Entry], Sequence[str]]] = {
    "kind": lambda entry: (entry.facts.kind,),
    "language": lambda entry: entry.facts.languages,
    "license": lambda entry: (entry.facts.license,),
    "proof": lambda entry: (entry.facts.proof,),
}
"""Maps each filter to the function that returns a benchmark's values for the filter."""
VOCABULARIES: Mapping[str, Mapping[str, str]] = {
    "kind": facts.KINDS,
    "language": facts.LANGUAGES,
    "license": facts.LICENSES,
    "proof": facts.PROOFS,
}


def selected(
    entries: Sequence[registry.Entry], filters: Mapping[str, Sequence[str]], judge: bool | None
) -> list[registry.Entry]:
    """Return the benchmarks that match all filters. A benchmark matches a filter if one of the
    filter's patterns, such as `CC-BY*`, equals one of the benchmark's values, in any case.

    `judge` selects the benchmarks that need a judge, or those that need none; None selects both.

    Raises:
        UsageError: a pattern matches neither a benchmark nor a possible value.
    """
    chosen = [entry for entry in entries if judge in (None, entry.facts.needs_judge)]
    for name, patterns in filters.items():
        values = VALUES[name]
        known = sorted({*VOCABULARIES[name], *(v for entry in entries for v in values(entry) if v)})
        for pattern in patterns:
            if not any(_matches(pattern, value) for value in known):
                raise UsageError(
                    f"--{name} {pattern}: there is no such {name}. Choose from: {', '.join(known)}."
                )
        if patterns:
            chosen = [
                entry
                for entry in chosen
                if any(_matches(pattern, value) for pattern in patterns for value in values(entry))
            ]
    return chosen


def _matches(pattern: str, value: str) -> bool:
    return fnmatchcase(value.lower(), pattern.lower())


def document(entry: registry.Entry) -> dict[str, Any]:
    """A benchmark as it appears in the output of `--json`. Unknown facts are null."""
    known = entry.facts
    return {
        "name": entry.name,
        "title": entry.full_title,
        "n": known.size,
        "kind": known.kind or None,
        "needs_judge": known.needs_judge,
        "languages": list(known.languages),
        "license": known.license or None,
        "proof": known.proof or None,
    }


def lines(entries: Sequence[registry.Entry]) -> Iterator[str]:
    """Yield the lines of the table. In a terminal, no line is wider than the terminal; elsewhere,
    each benchmark has a single line, which is not shortened."""
    if not entries:
        yield "  no benchmark matches"
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    cells = [_cells(entry) for entry in entries]
    widths = [max(map(len, column)) for column in zip(HEADINGS, *cells, strict=True)]
    room = None if width is None else width - sum(widths) - 2 * len(widths) - 2
    has_line_of_title = room is not None and room < TITLE_ROOM
    head = _joined(HEADINGS, widths)
    yield _cut(head.rstrip() if has_line_of_title else f"{head}  title", width)
    for entry, row in zip(entries, cells, strict=True):
        line, title = _joined(row, widths), entry.full_title
        if has_line_of_title:
            yield _cut(line.rstrip(), width)
            yield _cut(f"      {title}", width)
        else:
            yield _cut(f"{line}  {title}".rstrip(), width)
    if any(entry.facts.needs_judge for entry in entries):
        yield "  * needs a judge"


def _cells(entry: registry.Entry) -> tuple[str, ...]:
    known = entry.facts
    more = len(known.languages) - LANGUAGES_SHOWN
    languages = known.languages[: LANGUAGES_SHOWN - (more > 0)]
    return (
        entry.name,
        "" if known.size is None else f"{known.size:,}",
        f"{known.kind}{'*' * known.needs_judge}",
        " ".join([*languages, *[f"+{more + 1}"] * (more > 0)]),
        known.license,
        known.proof,
    )


def _joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    """A line of the table. Numbers are aligned to the right."""
    aligned = [
        f"{cell:>{width}}" if heading == "n" else f"{cell:<{width}}"
        for heading, cell, width in zip(HEADINGS, cells, widths, strict=True)
    ]
    return f"  {'  '.join(aligned)}"


def _cut(line: str, width: int | None) -> str:
    return line if width is None or len(line) <= width else f"{line[: max(0, width - 1)]}…"
