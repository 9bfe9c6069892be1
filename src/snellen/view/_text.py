"""Makes text from models and files safe to display."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from difflib import SequenceMatcher

from markupsafe import Markup, escape

from snellen.errors import UNSEEN

CUT = 20_000
"""The maximum number of a text's characters that a page shows. A link leads to the full text."""
_UNSEEN = re.compile(f"[{UNSEEN}]")
NAMES = {"\x1b": "ESC", "\0": "NUL", "\r": "CR", "\x07": "BEL", "\x08": "BS", "\x7f": "DEL"}
WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)
COMPARED = 4_000
"""The maximum number of tokens in a text for which a diff is computed. A token is a word, a run of
spaces, or another character."""


def visible(text: str, cut: int | None = CUT) -> Markup:
    """Escape the text, and replace each invisible or control character with a visible sign."""
    if cut is not None:
        text = text[:cut]
    parts = []
    at = 0
    for match in _UNSEEN.finditer(text):
        parts += [escape(text[at : match.start()]), _sign(match[0])]
        at = match.end()
    return Markup("").join([*parts, escape(text[at:])])


def _sign(character: str) -> Markup:
    code = f"U+{ord(character):04X}"
    name = NAMES.get(character) or code
    title = unicodedata.name(character, "a control character")
    return Markup('<span class="sign" title="{} {}">{}</span>').format(code, title.lower(), name)


def excerpt(text: str, cut: int) -> str:
    """The beginning of a text, on one line, for a table cell."""
    line = " ".join(text[: 4 * cut].split())
    return line if len(line) <= cut and len(text) <= 4 * cut else f"{line[:cut]}…"


def with_marks(text: str, other: str) -> tuple[Markup, Markup] | None:
    """Two texts with their differences marked; None if a text is too long for a diff."""
    if max(len(text), len(other)) > CUT:
        return None
    mine, theirs = WORDS.findall(text), WORDS.findall(other)
    if len(mine) > COMPARED or len(theirs) > COMPARED:
        return None
    left: list[Markup] = []
    right: list[Markup] = []
    for what, a, b, c, d in SequenceMatcher(None, mine, theirs, autojunk=True).get_opcodes():
        left += _marked(mine[a:b], marked=what != "equal")
        right += _marked(theirs[c:d], marked=what != "equal")
    return Markup("").join(left), Markup("").join(right)


def _marked(words: list[str], *, marked: bool) -> Iterator[Markup]:
    if words:
        text = visible("".join(words), None)
        yield Markup("<mark>{}</mark>").format(text) if marked else text
