"""Generates the page with the table of all benchmarks, which a script can search.

The script is `docs/assets/benchmarks.js`. It adds the search box, so that the page is a plain table
without JavaScript.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from snellen import registry
from snellen.registry.facts import LANGUAGES

HEADINGS = ("name", "what it asks", "n", "kind", "languages", "license", "proof")
INTRO = """# Benchmarks

Each benchmark has a page, generated from its file: paper, data, license, prompt, scorings, proof,
an example, commands. `snellen show NAME` shows the same in the terminal, and `snellen list` shows
this table. [Choose benchmarks](../benchmarks.md) explains the columns. `n` is the number of
questions with the default options.

<div class="benchmark-search" data-label="Search" data-hint="such as: choice chinese mit"></div>

"""
SCRIPT = '\n<script src="../_static/benchmarks.js" defer></script>\n'


def page(
    entries: Sequence[registry.Entry],
    text: Callable[[str], str],
    table: Callable[[Sequence[str], Sequence[Sequence[str]]], str],
) -> str:
    """Write the page. `text` escapes plain text, and `table` formats a table."""
    rows = [_row(entry, text) for entry in entries]
    tree = "\n".join(f"benchmarks/{entry.name}" for entry in entries)
    toctree = f"\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    return INTRO + table(HEADINGS, rows) + SCRIPT + toctree


def _row(entry: registry.Entry, text: Callable[[str], str]) -> list[str]:
    facts = entry.facts
    return [
        f"[{text(entry.name)}](benchmarks/{entry.name}.md)",
        text(entry.title),
        "" if facts.size is None else f"{facts.size:,}",
        facts.kind + ", with a judge" * facts.needs_judge,
        ", ".join(LANGUAGES.get(code, code) for code in facts.languages),
        text(facts.license),
        text(facts.proof),
    ]
