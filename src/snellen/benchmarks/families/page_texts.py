"""What OmniDocBench compares of texts, formulas, and tables.

The rules are those of open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
dataset/OmniDocBench/utils.py: texts #L83-L108 and #L413-L417, formulas #L109-L143, tables
#L145-L213.
"""

from __future__ import annotations

import re
import unicodedata

from snellen.benchmarks.families.html_source import rewritten
from snellen.benchmarks.families.latex_text import LatexError, latex_text
from snellen.benchmarks.families.spans import Pairs, without

INLINE = Pairs(("$", "$"), ("\\(", "\\)"), single_line=True)
ESCAPED = re.compile(r"\\[\\_&%^]")
DROPPED = ("\\t", "\\n", "\t", "\n", "/t", "/n")
SIGNS = re.compile(r"[^\w\u4e00-\u9fff]")
DISPLAY = re.compile(r"(?<!\\)\\\]")
ARGUMENTS = tuple(
    Pairs((f"\\{name}", "}"), single_line=True)
    for name in ("tag{", "hspace{", "begin{", "end{", "arraycolsep")
)
# fmt: off
COMMANDS = (
    "mathbf", "mathrm", "mathnormal", "mathit", "mathbb", "mathcal", "mathscr", "mathfrak",
    "mathsf", "mathtt", "textbf", "text", "boldmath", "boldsymbol", "operatorname", "bm",
    "symbfit", "mathbfcal", "symbf", "scriptscriptstyle", "notag", "setlength", "coloneqq",
    "space", "thickspace", "thinspace", "medspace", "nobreakspace", "negmedspace", "quad", "qquad",
    "enspace", "substackw",
)
"""The commands that are deleted, in this order: what follows their names stays."""
# fmt: on
ATTRIBUTES = tuple(
    Pairs((f' {name}="', '"'), single_line=True)
    for name in ("style", "height", "width", "align", "class")
)
TABLE = re.compile(r"<table\b[^>]*>", re.IGNORECASE)
TABLE_END = re.compile(r"</table>", re.IGNORECASE)
COLUMNS = Pairs(("<colgroup>", "</colgroup>"), single_line=True)
PLAIN_TAGS = ("sup", "sub", "span", "div", "p")


def plain_text(text: str) -> str:
    """A text without blanks and punctuation, whose formulas are converted to Unicode.

    >>> plain_text("rate \\\\(k_{1}\\\\) grows by 5\\\\%"), plain_text("**$ 5** _A_")
    ('ratek_1growsby5', '5_A_')
    """
    parts, position = [], 0
    for start, end, number in INLINE(text):
        inner = text[start + 2 : end - 2] if number else text[start + 1 : end - 1]
        latex = ESCAPED.sub("", inner)
        if not any(sign in latex for sign in "\\^_"):
            continue
        try:
            converted = latex_text(f"{latex} " if latex.endswith("\\") else latex)
        except LatexError:
            continue
        parts += [text[position:start], converted.strip()]
        position = end
    text = "".join([*parts, text[position:]])
    for part in DROPPED:
        text = text.replace(part, "")
    return SIGNS.sub("", text)


def plain_formula(text: str) -> str:
    """A formula in lowercase, without blanks, styles, and environments.

    >>> plain_formula("\\\\[ \\\\mathbf{A} x \\\\tag{1} \\\\]"), plain_formula("$$x$$")
    ('{a}x', '$$x$$')
    """
    text = display_content(text)
    for pairs in ARGUMENTS:
        text = without(text, [(start, end) for start, end, _ in pairs(text)])
    text = text.strip(".")
    for command in COMMANDS:
        text = text.replace(f"\\{command}", "")
    return text.replace(" ", "").lower()


def display_content(text: str) -> str:
    """The first formula in square brackets, if it is in one line and not empty, or the text."""
    position = 0
    while (start := text.find("\\[", position)) >= 0:
        line = text.find("\n", start)
        match = DISPLAY.search(text, start + 3, len(text) if line < 0 else line)
        if match is not None:
            return text[start + 2 : match.start()].strip()
        if line < 0:
            break
        position = line
    return text


def plain_table(text: str) -> str:
    """The HTML page of a table, with equal markup for equal tables; empty if there is no table.

    >>> plain_table('<table><thead><tr><th class="x">a</th></tr></thead></table>')
    '<html><body><table border="1" ><tr><td>a</td></tr></table></body></html>'
    """
    if "<table" not in text.replace(" ", ""):
        return ""
    page = rewritten(text).replace("\n", "")
    page = unicodedata.normalize("NFKC", page).strip()
    table = between_tables(page)
    for pairs in ATTRIBUTES:
        table = without(table, [(start, end) for start, end, _ in pairs(table)])
    table = re.sub(r"\s+", " ", re.sub(r"</?tbody>", "", table))
    table = f'<html><body><table border="1" >{table}</table></body></html>'
    for tag in PLAIN_TAGS:
        table = table.replace(f"<{tag}>", "").replace(f"</{tag}>", "")
    table = table.replace('<spandata-span-identity="">', "")
    return without(table, [(start, end) for start, end, _ in COLUMNS(table)])


def between_tables(page: str) -> str:
    """What stands between the first start of a table and the last end of one."""
    start = TABLE.search(page, 0, page.rfind(">") + 1)
    ends = [match.start() for match in TABLE_END.finditer(page)]
    if start is None or not ends or ends[-1] < start.end():
        return ""
    return page[start.end() : ends[-1]]
