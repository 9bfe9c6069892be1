"""Makes BibTeX entries for a benchmark's paper, from the benchmark's sheet, and for Snellen."""

from __future__ import annotations

import re

from snellen import __version__, registry

TITLE = "Snellen: measuring vision-language models on public benchmarks"
AUTHORS = "The Snellen authors"
PAPER = re.compile(r"^Paper +(.+?)\n\S", re.MULTILINE | re.DOTALL)
# `Liu et al. 2023, MMBench: Is Your ... Player?, https://arxiv.org/abs/2307.06281 (ECCV 2024)`
REFERENCE = re.compile(
    r"(?P<first>[A-Z][\w'-]+)(?P<others> et al\.| and (?P<second>[A-Z][\w'-]+))? (?P<year>\d{4}), "
    r"(?P<title>.+?)(?: \((?P<early>[^()]+)\))?, (?P<url>https://[^\s,;]*[^\s,;.])"
    r"(?: \((?P<late>[^()]+)\))?"
)
ARXIV = re.compile(r"arxiv\.org/abs/([0-9]{4}\.[0-9]{4,5})")
# Special characters of TeX, without the backslash and braces, which do not occur in titles.
SIGNS = str.maketrans({sign: f"\\{sign}" for sign in "&%$#_"})


def citations(benchmark: str) -> list[str]:
    """BibTeX entries for the benchmark's paper and for Snellen. The paper has no entry if the sheet
    does not cite it in the format that `REFERENCE` matches."""
    entry = next(
        (candidate for candidate in registry.entries() if candidate.name == benchmark), None
    )
    paper = bibtex(entry.sheet) if entry else None
    return [*([paper] if paper else []), own()]


def bibtex(sheet: str) -> str | None:
    """The BibTeX entry of the first paper in a sheet; None if the sheet cites no paper.

    If a paper has more than two authors, a sheet names only the first author. The entry then names
    the first author, followed by `and others`.
    """
    paper = PAPER.search(f"{sheet}\n.")
    if paper is None:
        return None
    reference = REFERENCE.match(" ".join(paper[1].split()))
    if reference is None:
        return None
    first, title = reference["first"], reference["title"]
    rest = (
        f" and {reference['second']}"
        if reference["second"]
        else " and others"
        if reference["others"]
        else ""
    )
    key = f"{first}{reference['year']}{re.split(r'[ :]', title)[0]}"
    fields = {
        "author": f"{first}{rest}",
        "title": f"{{{title.translate(SIGNS)}}}",
        "year": reference["year"],
        "note": (reference["early"] or reference["late"] or "").translate(SIGNS),
        "url": reference["url"],
    }
    if arxiv := ARXIV.search(reference["url"]):
        fields |= {"eprint": arxiv[1], "archivePrefix": "arXiv"}
    return _entry("misc", re.sub(r"[^a-z0-9]", "", key.lower()), fields)


def own() -> str:
    """The BibTeX entry of Snellen."""
    fields = {
        "author": f"{{{AUTHORS}}}",
        "title": f"{{{TITLE}}}",
        "note": f"Version {__version__}",
    }
    return _entry("software", "snellen", fields)


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])
