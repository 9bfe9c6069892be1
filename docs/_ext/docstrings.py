"""Converts our docstrings to reStructuredText for Sphinx.

Our docstrings are plain text. A pair of backticks marks code, an indented block after an empty line
is kept as it is (a formula, a tree), and `- ` begins an item. All other characters with a meaning
in reStructuredText (`*`, `|`, `_` after a word) stand for themselves.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ITEM = re.compile(r"- |\d+\. |>>> ")
SECTION = re.compile(r"(Args|Raises|Returns|Yields):$")


def restructured(lines: list[str]) -> list[str]:
    """Convert a docstring's lines to reStructuredText, with sections in the form that napoleon
    expects."""
    result: list[str] = []
    for blank, group in groupby(lines, lambda line: not line.strip()):
        block = list(group)
        if blank:
            result += block
        elif block[0].startswith(">>> ") or SECTION.match(block[0]):
            result += block if block[0].startswith(">>> ") else [block[0], *_text(block[1:])]
        elif block[0].startswith(" ") and not _inside_item(result):
            result += ["::", "", *(f"    {line}" for line in block)]
        else:
            result += _paragraphs(block)
    return result


def _paragraphs(block: list[str]) -> list[str]:
    """Add the empty lines that reStructuredText requires around items and indented lines."""
    result: list[str] = []
    literal = False
    for line, text in zip(block, _text(block), strict=True):
        item = ITEM.match(line)
        set_in = line.startswith(" ") and not any(ITEM.match(block_line) for block_line in block)
        if result and (item or set_in) and not literal:
            result.append("")
        if set_in and not literal:
            result += ["::", ""]
        if literal and not set_in:
            result.append("")
        literal = set_in
        result.append(f"    {line}" if set_in else text)
    return result


def _text(lines: list[str]) -> list[str]:
    """Escape the characters of lines, and mark text in backticks as code, also across lines."""
    parts = "\n".join(lines).split("`")
    if len(parts) % 2 == 0:  # an unpaired backtick
        return re.sub(r"([\\*`|_])", r"\\\1", "\n".join(lines)).split("\n")
    for position, part in enumerate(parts):
        if position % 2 == 0:
            parts[position] = re.sub(r"([\\*|]|_(?=\W|$))", r"\\\1", part)
        else:
            parts[position] = f"``{part}``" if part else ""
    joined = parts[0]
    for code, after in zip(parts[1::2], parts[2::2], strict=True):
        # reStructuredText requires that inline code does not touch letters.
        before = "\\ " if joined[-1:].isalnum() else ""
        behind = "\\ " if after[:1].isalnum() else ""
        joined += before + code + behind + after
    return joined.split("\n")


def _inside_item(preceding: list[str]) -> bool:
    last = next(
        (line for line in reversed(preceding) if line.strip() and not line.startswith(" ")), ""
    )
    return bool(ITEM.match(last))


def _process(
    app: Sphinx, what: str, name: str, it: object, options: object, lines: list[str]
) -> None:
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()  # a NamedTuple's default text for a field, which says nothing
    # Napoleon would take the text before a colon for the type. The empty comment prevents this.
    comment = ["..", ""] if what in ("attribute", "data", "property") and lines else []
    lines[:] = [*comment, *restructured(lines)]


def setup(app: Sphinx) -> dict[str, bool]:
    # Must run before napoleon, which connects at priority 500.
    app.connect("autodoc-process-docstring", _process, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
