"""A model card as a table, with its explained gaps: terminal, Markdown, HTML, LaTeX."""

from __future__ import annotations

from collections.abc import Iterator

from snellen.analysis.cards import Card, card_lines, card_rows, card_title
from snellen.analysis.gap import Gap, field_rows, gap_lines, gap_verdict, group_rows
from snellen.report._compared import Part
from snellen.report.pages import parts_html
from snellen.report.terminal import parts_text, print_parts
from snellen.report.tex import parts_latex
from snellen.report.words import parts_markdown


def print_card(card: Card) -> None:
    """Show a card on standard output."""
    print_parts(_parts(card))


def card_text(card: Card) -> str:
    """The text that `print_card` shows, without colors and with unlimited width."""
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
    yield Part(card_title(card), (), card_rows(card), [*card_lines(card)])
    for gap in card.gaps:
        yield from _gap_parts(gap)


def _gap_parts(gap: Gap) -> Iterator[Part]:
    title = f"{gap.benchmark}: which field makes the difference"
    table = field_rows(gap) if gap.fields else ()
    yield Part(title, [gap_verdict(gap)], table, [*gap_lines(gap)])
    if rows := group_rows(gap):
        yield Part(f"{gap.benchmark}: fields exchanged together", (), rows)
