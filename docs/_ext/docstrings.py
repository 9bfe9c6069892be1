"""Docstrings as they are written here, made into what Sphinx reads.

Ours are plain text: one pair of backticks is code, a block that is set in after an empty line
stands as it is (a formula, a tree), `- ` begins an item. Whatever else reStructuredText would read
into a sign (`*`, `|`, `_` behind a word) is meant as that sign.
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
    """A docstring's lines in reStructuredText, its sections as napoleon wants them."""
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
    """Text with items and set-in lines, which reStructuredText wants empty lines around."""
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
    """Lines whose signs mean themselves, and what is in backticks is code; it may go on in the
    next line."""
    parts = "\n".join(lines).split("`")
    if len(parts) % 2 == 0:  # a backtick without its other
        return re.sub(r"([\\*`|_])", r"\\\1", "\n".join(lines)).split("\n")
    for position, part in enumerate(parts):
        if position % 2 == 0:
            parts[position] = re.sub(r"([\\*|]|_(?=\W|$))", r"\\\1", part)
        else:
            parts[position] = f"``{part}``" if part else ""
    joined = parts[0]
    for code, after in zip(parts[1::2], parts[2::2], strict=True):
        # Inline code must be set off from letters on both sides.
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
        lines.clear()  # what a NamedTuple says of a field, which is nothing
    # Napoleon takes a value's first words, up to a colon, for its type: an empty comment is none.
    comment = ["..", ""] if what in ("attribute", "data", "property") and lines else []
    lines[:] = [*comment, *restructured(lines)]


def setup(app: Sphinx) -> dict[str, bool]:
    # Before napoleon, which connects at 500.
    app.connect("autodoc-process-docstring", _process, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
