"""A model card as a table, with its explained gaps: terminal, Markdown, HTML, LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from snellen.analysis.cards import (
    Card,
    CardTable,
    card_lines,
    card_table,
    card_title,
    paired_table,
    value_table,
)
from snellen.analysis.gap import Gap, field_rows, gap_lines, gap_verdict, group_rows
from snellen.report._compared import Part
from snellen.report.pages import parts_html
from snellen.report.table_rows import without_empty
from snellen.report.terminal import parts_text, print_parts
from snellen.report.tex import parts_latex
from snellen.report.words import parts_markdown

PAGE, WIDE_PAGE = 80, 160
"""The widths of a card's tables, and of those of gaps, in characters where the output is not a
terminal. Numbers are never wrapped."""


def print_card(card: Card) -> None:
    """Show a card on standard output."""
    print_parts(_parts(card))


def card_text(card: Card) -> str:
    """The text that `print_card` shows, without colors."""
    return parts_text(_parts(card))


def card_markdown(card: Card) -> str:
    """A card with a section for each explained gap."""
    return parts_markdown(_parts(card))


def card_html(card: Card) -> str:
    """A page about a card."""
    return parts_html(card_title(card), [*_parts(card)])


def card_latex(card: Card) -> str:
    """Tables of a card and of its explained gaps."""
    return parts_latex(_parts(card))


def _parts(card: Card) -> Iterator[Part]:
    yield _part(card_title(card), card_table(card), [*card_lines(card)])
    if table := value_table(card):
        yield _part("each result with its interval, by the benchmark's scoring", table)
    if table := paired_table(card):
        title = f"by the recipe minus {card.against}, paired, by the benchmark's scoring"
        yield _part(title, table)
    for gap in card.gaps:
        yield from _gap_parts(gap)


def _part(title: str, table: CardTable, below: Sequence[str] = ()) -> Part:
    """A part with a table without empty columns."""
    headings, rows = without_empty(table[0], table[1:])
    return Part(title, (), [headings, *rows], below, most=PAGE)


def _gap_parts(gap: Gap) -> Iterator[Part]:
    title = f"{gap.benchmark}: which field makes the difference"
    table = field_rows(gap) if gap.fields else ()
    yield Part(title, [gap_verdict(gap)], table, [*gap_lines(gap)], most=WIDE_PAGE)
    if rows := group_rows(gap):
        yield Part(f"{gap.benchmark}: fields exchanged together", (), rows, most=WIDE_PAGE)
