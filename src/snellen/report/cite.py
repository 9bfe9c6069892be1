"""What to cite: a benchmark's paper, out of its sheet, and Snellen itself."""

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
# What TeX acts on, beside the backslash and braces, which no title has.
SIGNS = str.maketrans({sign: f"\\{sign}" for sign in "&%$#_"})


def citations(benchmark: str) -> list[str]:
    """BibTeX of the benchmark's paper, where its file names one in the usual form, and of
    Snellen."""
    entry = next((one for one in registry.entries() if one.name == benchmark), None)
    paper = bibtex(entry.sheet) if entry else None
    return [*([paper] if paper else []), own()]


def bibtex(sheet: str) -> str | None:
    """The first paper that a sheet names, as BibTeX; None where it names none.

    Of more than two authors a sheet has the first; BibTeX's `and others` stands for the rest.
    """
    found = PAPER.search(f"{sheet}\n.")
    if found is None:
        return None
    one = REFERENCE.match(" ".join(found[1].split()))
    if one is None:
        return None
    first, title = one["first"], one["title"]
    rest = f" and {one['second']}" if one["second"] else " and others" if one["others"] else ""
    key = f"{first}{one['year']}{re.split(r'[ :]', title)[0]}"
    fields = {
        "author": f"{first}{rest}",
        "title": f"{{{title.translate(SIGNS)}}}",
        "year": one["year"],
        "note": (one["early"] or one["late"] or "").translate(SIGNS),
        "url": one["url"],
    }
    if arxiv := ARXIV.search(one["url"]):
        fields |= {"eprint": arxiv[1], "archivePrefix": "arXiv"}
    return _entry("misc", re.sub(r"[^a-z0-9]", "", key.lower()), fields)


def own() -> str:
    """Snellen, as BibTeX."""
    fields = {
        "author": f"{{{AUTHORS}}}",
        "title": f"{{{TITLE}}}",
        "note": f"Version {__version__}",
    }
    return _entry("software", "snellen", fields)


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])
