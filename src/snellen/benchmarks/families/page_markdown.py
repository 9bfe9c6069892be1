"""The elements of a page in Markdown: texts, formulas, and tables, as OmniDocBench takes them.

The rules are those of open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
dataset/OmniDocBench/utils.py#L429-L737 (`md_tex_filter`), with every quirk. All of them read a
reply in linear time, but for tables that are never closed (see `nested_spans`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from snellen.benchmarks.families.spans import Finder, Pairs, without

Kind = Literal["text", "formula", "html_table", "latex_table"]

FENCE = re.compile(r"^```markdown\n?", re.MULTILINE)
FENCE_END = re.compile(r"```\n?$", re.MULTILINE)
REPEATED = re.compile(r"([^a-zA-Z0-9])\1{10,}")
LATEX_TABLES = Pairs(("\\begin{table}", "\\end{table}"))
FORMULAS = Pairs(("$$", "$$"), ("\\[", "\\]"), ("$", "$"), ("\\(", "\\)"))
DOLLARS = Pairs(("$$", "$$"), ("$", "$"), ("\\(", "\\)"))
CODE = re.compile(r"```(\w+)\n")
COMMENTS = Pairs(("<!--", "-->"))
TABLES = Pairs(("<table>", "</table>"))
HTML_TABLES = Pairs(("<table", "</table>"))
COMMANDS = (
    (re.compile(r"\\title\{"), False),
    (re.compile(r"\\title\s*\{"), True),
    (re.compile(r"\\text\s*\{"), True),
    (re.compile(r"\\section\*?\{"), False),
    (re.compile(r"\\section\*?\{"), True),
)
"""Commands that are removed, and whether their argument may have several lines."""
TAG = re.compile(r"</?t(?:able|head|body)>")
TOKENS = 200_000
"""How many tags of tables the search may read again for tables that are not closed. The authors'
code fails at about 1,000 such tables, each of which makes it read the rest of the text again."""


class PageElement(NamedTuple):
    """A part of a page."""

    kind: Kind
    """What it is."""
    position: int
    """Where it begins. The positions of texts do not count the newlines between them."""
    text: str
    """Its source. Formulas have no blanks."""


def elements(reply: str) -> list[PageElement]:
    """The elements of a page, by position.

    >>> [(part.kind, part.text) for part in elements("# A\\n\\n$$ x + 1 $$\\n\\nand so on")]
    [('text', '# A'), ('formula', '\\\\[x+1\\\\]'), ('text', 'and so on')]
    """
    page = shortened(without_fences(without_images(reply)))
    tables = latex_tables(page)
    parts = [PageElement("latex_table", start, page[start:end]) for start, end in tables]
    page = without(page, tables, " ")
    tables = nested_spans(page, "<table", "</table>", 8)
    parts += [PageElement("html_table", start, page[start:end]) for start, end in tables]
    page = without(page, tables, " ")
    formulas, page = display_formulas(page)
    parts += formulas
    if has_rows(page):
        page = with_html_tables(page)
        tables = [(start, end) for start, end, _ in HTML_TABLES(page)]
        parts += [PageElement("html_table", start, page[start:end]) for start, end in tables]
        page = without(page, tables, " ")
    blocks = list(code_blocks(page))
    parts += [PageElement("text", start, code) for start, _, code in blocks]
    page = without(page, [(start, end) for start, end, _ in blocks], " ")
    for opening, multiline in COMMANDS:
        page = without_command(page, opening, multiline)
    parts += paragraphs(page)
    return sorted(parts, key=lambda part: part.position)


def without_images(text: str) -> str:
    """The text without Markdown pictures, whose two brackets are in one line."""
    spans: list[tuple[int, int]] = []
    links = Finder(text, "](")
    closings, lines, openings = (Finder(text, sign) for sign in (")", "\n", "!["))
    position = 0
    while (start := openings.after(position)) < len(text):
        link = links.after(start + 2)
        end = closings.after(min(link + 2, len(text)))
        if end >= len(text) or lines.after(start) < end:
            # No picture begins in the rest of this line, unless a closing bracket comes before.
            position = start + 2
            continue
        spans.append((start, end + 1))
        position = end + 1
    return without(text, spans)


def without_fences(text: str) -> str:
    return FENCE_END.sub("", FENCE.sub("", text))


def shortened(text: str) -> str:
    """The text with at most four underscores, blanks, or other repeated signs in a row."""
    text = re.sub(r"_{4,}", "____", text)
    text = re.sub(r" {4,}", "    ", text)
    return REPEATED.sub(r"\1\1\1\1", text)


# -- tables


def latex_tables(text: str) -> list[tuple[int, int]]:
    tables = [(start, end) for start, end, _ in LATEX_TABLES(text)]
    rest = without(text, tables, " ")
    return sorted(tables + nested_spans(rest, "\\begin{tabular}", "\\end{tabular}", 14))


def nested_spans(text: str, opening: str, closing: str, step: int) -> list[tuple[int, int]]:
    """The outermost spans between balanced tags. After a tag that is not closed, the search starts
    again.

    The authors take the length of a regular expression for the length of a tag. So the search goes
    on `step` characters after the start of each tag (`<table></table>` is not closed), a span ends
    `step` characters after the start of its last tag, and the search starts again 16 characters
    after the start of the tag that is not closed.
    """
    last = text.rfind(">") if opening == "<table" else len(text)
    starts, ends = Finder(text, opening), Finder(text, closing)
    spans: list[tuple[int, int]] = []
    position, budget = 0, TOKENS
    while budget > 0:
        stack: list[int] = []
        while budget > 0:
            budget -= 1
            start, end = starts.after(position), ends.after(position)
            if start > last:
                start = len(text)
            if start == end == len(text):
                break
            if start < end:
                stack.append(start)
                position = start + step
                continue
            position = end + step
            if stack:
                begin = stack.pop()
                if not stack:
                    spans.append((begin, min(end + step, len(text))))
        if not stack:
            break
        position = stack[0] + 16
        starts, ends = Finder(text, opening), Finder(text, closing)
    return spans


def has_rows(text: str) -> bool:
    """Whether a text has at least two rows of a Markdown table."""
    rows = markdown_rows(f"{text}\n")
    return next(rows, None) is not None and next(rows, None) is not None


def markdown_rows(text: str) -> Iterator[tuple[int, int]]:
    """The spans from a bar to a bar at the end of a line."""
    bars, ends = Finder(text, "|"), Finder(text, "|\n")
    position = 0
    while (start := bars.after(position)) < len(text):
        end = ends.after(start + 1)
        if end >= len(text):
            return
        position = end + 2
        yield start, position


def with_html_tables(page: str) -> str:
    """The page with each row of a Markdown table as an HTML table, and tables that follow each
    other as one. A table's text has a line for each tag."""
    page = page.replace("\r", "") + "\n"
    parts, position = [], 0
    for start, end in markdown_rows(page):
        parts += [page[position:start], row_table(page[start:end])]
        position = end
    merged = with_merged_tables("".join([*parts, page[position:]]))
    merged = merged.replace("<table>", '<table border="1" >')
    return merged.replace("<td>", '<td colspan="1" rowspan="1">')


def row_table(row: str) -> str:
    """The HTML table of a Markdown row. If the row has several lines, the first one is the head,
    and the second one is left out."""
    lines = [
        [cell.strip() for cell in line.strip().split("|")[1:-1]] for line in row.strip().split("\n")
    ]
    head = "".join(f"      <th>{cell}</th>\n" for cell in lines[0])
    rows = ("".join(f"      <td>{cell}</td>\n" for cell in cells) for cells in lines[2:])
    body = "".join(f"    <tr>\n{row}    </tr>\n" for row in rows)
    return (
        f"<table>\n  <thead>\n    <tr>\n{head}    </tr>\n  </thead>\n  <tbody>\n{body}"
        "  </tbody>\n</table>\n"
    )


def with_merged_tables(text: str) -> str:
    """The text with adjacent tables as one. Lines of tables with a colon or with three hyphens are
    treated as the line below the head, and left out."""
    output: list[str] = []
    block: list[str] = []
    in_table = False
    last = ""
    for line in text.split("\n"):
        if "<table>" in line:
            in_table = True
            block.append(last)
        elif in_table:
            if not (":" in last or "---" in last or "</thead>" in last):
                block += ["\n", last]
            if "</table>" in last:
                in_table = False
                output.append(merged_table("".join(block)))
                block = []
        else:
            output.append(last)
        last = line
    if last:
        if in_table or "</table>" in last:
            output.append(merged_table("".join([*block, "\n", last])))
        else:
            output.append(last)
    return "\n".join(output)


def merged_table(block: str) -> str:
    """The rows of all tables of a block as one table."""
    block = without(block, [(start, end) for start, end, _ in COMMENTS(block)])
    lines: list[str] = []
    for start, end, _ in TABLES(block):
        rows = [
            line.replace("<th>", "<td>").replace("</th>", "</td>") if "<th>" in line else line
            for line in block[start:end].split("\n")
        ]
        rows = [line for line in rows if not TAG.search(line)]
        lines += rows if len(rows) > 2 else []
    return "\n\n<table>\n{}\n</table>\n\n".format("\n".join(lines))


# -- formulas and texts


def display_formulas(page: str) -> tuple[list[PageElement], str]:
    """The formulas of a page, and the page without those that stand by themselves. Formulas inside
    a text are formulas too, and stay in the text."""
    formulas: list[PageElement] = []
    blank: list[tuple[int, int]] = []
    for start, end, _ in FORMULAS(page):
        source = "".join(page[start:end].split())
        spans = list(DOLLARS(source))
        if not spans:
            text = source
        elif spans[0][2] == 0 and spans[0][1] - spans[0][0] > 4:
            text = bracketed(source, spans, display=True)
        else:
            formulas.append(PageElement("formula", start, bracketed(source, spans, display=False)))
            continue
        formulas.append(PageElement("formula", start, text))
        blank.append((start, end))
    return formulas, without(page, blank, " ")


def bracketed(source: str, spans: list[tuple[int, int, int]], display: bool) -> str:
    """The source with brackets around each formula. A formula of the other kind becomes empty."""
    parts, position = [], 0
    for start, end, number in spans:
        inner = source[start + 2 : end - 2] if number != 1 else source[start + 1 : end - 1]
        parts += [source[position:start], f"\\[{inner if (number == 0) == display else ''}\\]"]
        position = end
    return "".join([*parts, source[position:]])


def code_blocks(page: str) -> Iterator[tuple[int, int, str]]:
    """The start, the end, and the code of each block with a language."""
    fences = Finder(page, "```")
    position = 0
    while match := CODE.search(page, position):
        end = fences.after(match.end())
        if end >= len(page):
            return
        position = end + 3
        yield match.start(), position, page[match.end() : end].strip()


def without_command(page: str, opening: re.Pattern[str], multiline: bool) -> str:
    """The page with the argument of a command instead of the command. An argument ends at the first
    brace. In several lines, blanks around it are left out."""
    braces, lines = Finder(page, "}"), Finder(page, "\n")
    parts, position, search = [], 0, 0
    while match := opening.search(page, search):
        search = match.end()
        end = braces.after(search)
        if end >= len(page):
            break
        inner = page[search:end]
        if not multiline and lines.after(search) < end:
            continue
        parts += [page[position : match.start()], inner.strip() if multiline else inner]
        position = search = end + 1
    return "".join([*parts, page[position:]])


def paragraphs(page: str) -> Iterator[PageElement]:
    """The texts between blank lines, or between newlines if there is no blank line."""
    pieces = page.split("\n\n")
    if len(pieces) == 1:
        pieces = page.split("\n")
    position = 0
    for piece in pieces:
        lines = (line.strip() for line in piece.strip().split("\n"))
        text = "\n".join(line for line in lines if line)
        start = position
        position += len(piece)
        if not text:
            continue
        if text.startswith("<table") and text.endswith("</table>"):
            yield PageElement("html_table", start, text)
        elif text.startswith("$") and text.endswith("$"):
            if text.replace("$", "").strip():
                yield PageElement("formula", start, text)
        else:
            yield PageElement("text", start, text)
