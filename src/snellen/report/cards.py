"""Shows a comparison with a model card in the terminal, or as Markdown, HTML, or LaTeX. If the gap
between a benchmark's two results was explained, a section about the gap follows the tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from snellen.analysis.cards import (
    Card,
    CardTable,
    card_lines,
    card_table,
    card_title,
    figure_lines,
    figure_table,
    paired_lines,
    paired_table,
    value_lines,
    value_table,
)
from snellen.analysis.gap import (
    Gap,
    direction_lines,
    direction_rows,
    effect_rows,
    gap_lines,
    gap_verdict,
    group_lines,
    group_rows,
    value_rows,
)
from snellen.report._compared import Part
from snellen.report.pages import parts_html
from snellen.report.table_rows import without_empty
from snellen.report.terminal import parts_text, print_parts
from snellen.report.tex import parts_latex
from snellen.report.words import parts_markdown

PAGE = 80
"""The width of a card's tables, in characters, if the output is not a terminal. Numbers are never
wrapped."""


def print_card(card: Card) -> None:
    """Show a card on standard output."""
    print_parts(_parts(card))


def card_text(card: Card) -> str:
    """The text that `print_card` shows, without colors."""
    return parts_text(_parts(card))


def card_markdown(card: Card) -> str:
    """A card as Markdown, with a section for each benchmark whose gap was explained."""
    return parts_markdown(_parts(card))


def card_html(card: Card) -> str:
    """A page about a card."""
    return parts_html(card_title(card), [*_parts(card)])


def card_latex(card: Card) -> str:
    """The tables of a card, and of each gap that was explained, in LaTeX."""
    return parts_latex(_parts(card))


def _parts(card: Card) -> Iterator[Part]:
    yield _part(card_title(card), card_table(card), [*card_lines(card)])
    if table := figure_table(card):
        title = "each result by the scoring of the published figure"
        yield _part(title, table, [*figure_lines(card)])
    if table := value_table(card):
        title = "each result by the benchmark's own scoring"
        yield _part(title, table, [*value_lines(card)])
    if table := paired_table(card):
        title = f"by the recipe minus {card.against}, paired, by the benchmark's own scoring"
        yield _part(title, table, [*paired_lines(card)])
    for gap in card.gaps:
        yield from _gap_parts(gap)


def _part(title: str, table: CardTable, below: Sequence[str] = ()) -> Part:
    """A section of the report. Empty columns of its table are left out."""
    headings, rows = without_empty(table[0], table[1:])
    return Part(title, (), [headings, *rows], below, most=PAGE)


def _gap_parts(gap: Gap) -> Iterator[Part]:
    title = f"{gap.name}: which field makes the difference"
    effects, values = effect_rows(gap), value_rows(gap)
    # Without a table, LaTeX would lose the verdict.
    yield Part(title, [gap_verdict(gap)], effects or values, [*gap_lines(gap)], most=PAGE)
    if rows := group_rows(gap):
        title = f"{gap.name}: fields exchanged together"
        yield _part(title, rows, [*group_lines(gap)])
    if rows := direction_rows(gap):
        yield _part(f"{gap.name}: the effect in each direction", rows, [*direction_lines(gap)])
    if effects:
        yield _part(f"{gap.name}: the fields in which the two ways differ", values)
