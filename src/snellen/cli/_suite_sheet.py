"""What `snellen show` and `snellen run` say about suites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from snellen.registry import suites
from snellen.registry.suites import SuiteMember

HEADINGS = ("benchmark", "n", "kind", "proof", "score")


def suite_sheet(name: str) -> dict[str, Any]:
    """Everything that is shown about a suite, as a dictionary that JSON can represent.

    Raises:
        CatalogError: there is no suite with that name.
        UsageError: a file is not a suite.
    """
    members = suites.members([name])
    bundled = suites.SUITES.get(name.removeprefix(suites.PREFIX))
    return {
        "suite": name,
        "title": bundled.title if bundled else "",
        "overall": bundled is not None and bundled.overall,
        "benchmarks": [
            {
                "name": member.spec,
                "n": member.size,
                "kind": member.entry.facts.kind or None if member.entry else None,
                "needs_judge": member.entry is not None and member.entry.facts.needs_judge,
                "proof": member.entry.facts.proof or None if member.entry else None,
                "score": bundled.metrics.get(member.spec) if bundled else None,
            }
            for member in members
        ],
        "size": size_of(members),
    }


def suite_lines(document: dict[str, Any]) -> list[str]:
    """The sheet of a suite as lines of text."""
    rows = [HEADINGS] + [
        (
            row["name"],
            "" if row["n"] is None else f"{row['n']:,}",
            (row["kind"] or "") + "*" * row["needs_judge"],
            row["proof"] or "",
            row["score"] or "headline metric",
        )
        for row in document["benchmarks"]
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [document["suite"], *[document["title"]] * bool(document["title"]), ""]
    for row in rows:
        cells = [
            cell.rjust(width) if heading == "n" else cell.ljust(width)
            for heading, cell, width in zip(HEADINGS, row, widths, strict=True)
        ]
        lines.append(f"  {'  '.join(cells)}".rstrip())
    if any(row["needs_judge"] for row in document["benchmarks"]):
        lines.append("  * needs a judge")
    lines += ["", document["size"]]
    if document["overall"]:
        lines.append("overall score: the mean of the benchmarks' scores, with an interval")
    else:
        lines.append("no overall score")
    lines.append(f"cost: `snellen run -b {document['suite']} -m MODEL --estimate`")
    return lines


def size_of(members: Sequence[SuiteMember]) -> str:
    """The numbers of benchmarks and questions in words, such as `5 benchmarks, 11,578 questions`.
    The benchmarks whose size is unknown are listed."""
    known = [member.size for member in members if member.size is not None]
    unknown = [member.spec for member in members if member.size is None]
    text = f"{len(members)} benchmark{'s' * (len(members) != 1)}"
    if known:
        text += f", {sum(known):,} questions"
    if unknown and known:
        text += f" and those of {', '.join(unknown)}, whose number is not known here"
    elif unknown:
        text += ", whose numbers of questions are not known here"
    return text
