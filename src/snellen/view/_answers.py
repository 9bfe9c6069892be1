"""Lays out parsed answers: tables as tables, named parts with their names, long texts in full."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from snellen.core.answer import Answer, NamedAnswers, SeveralAnswers, TableAnswer, answer_words
from snellen.view._text import visible

ITEMS = 100
"""The maximum number of rows, columns, or answers that a page shows."""
DEPTH = 8
"""The maximum depth of answers within answers that a page lays out."""
LONG = 400
"""The number of characters from which a text is folded."""


def laid_out(answer: Answer, depth: int = DEPTH) -> Markup:
    """An answer as HTML. All texts are escaped."""
    match answer:
        case TableAnswer():
            return _table(answer)
        case NamedAnswers(answers=parts) if depth:
            shown = ((name, laid_out(of, depth - 1)) for name, of in [*parts.items()][:ITEMS])
            items = (
                Markup("<dt>{}</dt><dd>{}</dd>").format(visible(name, LONG), inner)
                for name, inner in shown
            )
            return _with_rest(Markup('<dl class="facts">'), items, Markup("</dl>"), len(parts))
        case SeveralAnswers(answers=several) if depth:
            entries = (
                Markup("<li>{}</li>").format(laid_out(of, depth - 1)) for of in several[:ITEMS]
            )
            return _with_rest(Markup("<ol>"), entries, Markup("</ol>"), len(several))
        case str() if len(answer) > LONG:
            return Markup(
                '<details class="long"><summary>{} … ({} characters)</summary>'
                '<div class="said" dir="auto">{}</div></details>'
            ).format(visible(answer, LONG // 4), f"{len(answer):,}", visible(answer))
    text = answer if isinstance(answer, str) else answer_words(answer)
    return Markup("<code><bdi>{}</bdi></code>").format(visible(text, LONG))


def _table(table: TableAnswer) -> Markup:
    def line(cells: tuple[str, ...], tag: str) -> Markup:
        kept = cells if len(cells) <= ITEMS else (*cells[:ITEMS], "…")
        shown = (
            Markup("<{0} dir=auto>{1}</{0}>").format(tag, visible(cell, LONG)) for cell in kept
        )
        return Markup("<tr>{}</tr>").format(Markup("").join(shown))

    head = Markup("<thead>{}</thead>").format(line(table.header, "th")) if table.header else ""
    rows = (line(row, "td") for row in table.rows[:ITEMS])
    opening = Markup('<div class="wide-table"><table class="answer">{}<tbody>').format(head)
    return _with_rest(opening, rows, Markup("</tbody></table></div>"), len(table.rows))


def _with_rest(opening: Markup, items: Iterable[Markup], closing: Markup, n: int) -> Markup:
    """Join items, and state how many of `n` are left out."""
    left_out = Markup('<p class="small faint">{} more</p>').format(n - ITEMS)
    return opening + Markup("").join(items) + closing + (left_out if n > ITEMS else Markup(""))
