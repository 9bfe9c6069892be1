"""Tables, charts, and pages as trees, as OCRBench v2 compares them.

Yuliang-Liu/MultimodalOCR@794c36d6423cf1d5764081128bcaeb46b240def6:OCRBench_v2/eval_scripts/
TEDS_metric.py, to which the line numbers refer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

from snellen.benchmarks.families.html_tables import (
    DEEPEST,
    VOID,
    first_table,
    page_of,
    readable,
    teds,
)
from snellen.benchmarks.families.trees import Tree, tree_distance

CLOSED_BY_TABLE = frozenset(("p", "a", "pre", "h1", "h2", "h3", "h4", "h5", "h6"))


def with_tags(text: str) -> str:
    """A table with the tags that it lacks (#L505-L525)."""
    text = text.replace("\n", "")
    opened, closed = "<table" in text, "</table>" in text
    text = f"{'' if opened else '<table>'}{text}{'' if closed else '</table>'}"
    return text if "<body>" in text else f"<body>{text}</body>"


def markdown_as_html(text: str) -> str:
    """A Markdown table as HTML (#L167-L205). The characters of "```markdown" are removed from both
    ends, and the second line is left out."""
    lines = text.strip("`markdown").strip("`").strip().split("\n")
    rows = []
    for line in (lines[0], *lines[2:]):
        cells = (
            " " if {*cell} == {" "} else cell.strip() for cell in line.strip().split("|")[1:-1]
        )
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    return f"<body><table>{''.join(rows)}</table></body>".replace("\n", "")


class _TablePosition(HTMLParser):
    """Looks for the first table that is a direct child of the body, as libxml2 reads it."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.position: int | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if self.position is not None or tag in ("html", "body", "head", *VOID):
            return
        if tag == "table":
            while self.open and self.open[-1] in CLOSED_BY_TABLE:
                self.open.pop()
            if not self.open:
                self.position = self.getpos()[1]
                return
        if len(self.open) < DEEPEST:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.position is None and tag in self.open:
            del self.open[len(self.open) - 1 - self.open[::-1].index(tag) :]


def table_similarity(text: str, right: str) -> float:
    """TEDS of the first tables that are direct children of the bodies (#L122-L147)."""
    pages = []
    for part in map(readable, (text, right)):
        position = _TablePosition(part).position
        if position is None:
            return 0.0
        pages.append(page_of(part[position:]))
    # Two tables without elements have no similarity: the authors divide by their number.
    tables = map(first_table, pages)
    return teds(pages[0], pages[1]) if any(table and table.elements for table in tables) else 0.0


def chart_table(values: Mapping[Any, Any]) -> str:
    """A table with a blank between all characters of the values (#L208-L217)."""
    rows = (
        f"<tr><td>{key}</td><td>{' '.join(str(part))}</td></tr>" for key, part in values.items()
    )
    return f"<table>{''.join(rows)}</table>"


def page_similarity(text: str, right: str) -> float:
    """The similarity of the trees of headings and lines. Labels count as equal unless one of them
    is blank (#L445-L502). A tree that is too deep has no similarity: it stops the authors' code."""
    trees = document(text), document(right)
    sizes = [size_of(tree) for tree in trees]
    if max(depth for _, depth in sizes) > DEEPEST:
        return 0.0

    def change(label: str, other: str) -> float:
        return float(not label.strip() or not other.strip())

    return 1 - tree_distance(*trees, lambda _: 1.0, change) / max(nodes for nodes, _ in sizes)


def size_of(tree: Tree[str]) -> tuple[int, int]:
    """The number of nodes, and the depth."""
    nodes, depth, level = 0, 0, [tree]
    while level:
        nodes, depth = nodes + len(level), depth + 1
        level = [child for node in level for child in node.children]
    return nodes, depth


def document(text: str) -> Tree[str]:
    """The tree of a text. A line hangs under the first node, in the order of the text, that has the
    text of the last heading. Before any heading, it hangs under TITLE."""
    title = Tree("TITLE")
    root = Tree("ROOT", [title])
    parent = title
    first = {"ROOT": root, "TITLE": title}
    unknown: set[str] = set()
    """The labels whose first node may be another one than in `first`."""
    for line in map(cleaned, text.split("\n")):
        if not line.startswith("#"):
            node = Tree(line)
            parent.children.append(node)
            if (known := first.setdefault(line, node)) is not node and known is not parent:
                unknown.add(line)
            continue
        heading = line.replace("#", "")
        node = Tree(heading)
        root.children.append(node)
        first.setdefault(heading, node)
        if heading in unknown:
            first[heading] = first_with(root, heading)
            unknown.discard(heading)
        parent = first[heading] if heading else title
    return root


def first_with(root: Tree[str], label: str) -> Tree[str]:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.label == label:
            return node
        stack += reversed(node.children)
    raise ValueError(f"no node {label!r}")


def cleaned(line: str) -> str:
    line = re.sub("<bos>|<eos>|<pad>|<unk>", "", line)
    line = re.sub(r"\s##(\S)", r"\1", line)
    line = re.sub(r"\\\s", r"\\", line)
    line = re.sub(r"\s\*\s\*\s", "**", line)
    line = re.sub(r"\s}", "}", re.sub(r"\s}", "}", re.sub(r"{\s", "{", line)))
    line = re.sub(r"\\(begin|end)\s", r"\\\1", line)
    return line.replace("\\end{table}", "\\end{table}   ").replace("*", " ").replace("_", " ")
