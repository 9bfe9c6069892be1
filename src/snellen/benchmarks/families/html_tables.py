"""TEDS, the similarity of HTML tables by tree edit distance: Zhong et al. 2020,
https://arxiv.org/abs/1911.10683.

As in PubTabNet's code: only `td` cells have texts and spans. A `th` cell is a node without them.
The costs are those of AlibabaResearch/AdvancedLiterateMachinery@fb6187eb:Benchmarks/CC-OCR/
evaluation/evaluator/doc_parsing_evaluator.py#L80-L183. The authors use the parser of libxml2. The
parser here closes cells, rows, and sections as libxml2 does, but other malformed HTML can differ.
"""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple

from snellen.benchmarks.families.trees import Tree, tree_distance

DEEPEST = 200
"""The greatest depth of an element. Deeper elements are skipped, and their texts are kept."""
FIRST_SIGN = 0x100000
"""The code of the first character that stands for a tag, in an area for private use."""
VOID = frozenset({"br", "img", "hr", "input", "col", "wbr", "area", "embed", "source"})
SECTIONS = ("thead", "tbody", "tfoot")
CLOSES = {
    **dict.fromkeys(("td", "th"), ("td", "th")),
    "tr": ("td", "th", "tr"),
    **dict.fromkeys(SECTIONS, ("td", "th", "tr", *SECTIONS)),
}
"""The open elements that the start of an element closes."""


class Element:
    """An element of a table, with its texts in order."""

    def __init__(self, tag: str, spans: tuple[str, str] = ("1", "1")) -> None:
        self.tag = tag
        self.spans = spans
        self.content: list[Element | str] = []

    @property
    def elements(self) -> list[Element]:
        return [part for part in self.content if isinstance(part, Element)]


class Node(NamedTuple):
    """A node of the compared trees."""

    tag: str
    """The name of the element."""
    spans: tuple[int, int] | None = None
    """The numbers of columns and rows that a `td` cell spans; None for other elements."""
    content: str = ""
    """The text of a `td` cell, with a character for each tag; empty for other elements."""


class _Reader(HTMLParser):
    """Reads the first table of a text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.table: Element | None = None
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.table is not None and not self.open:
            return  # after the first table
        if not self.open:
            if tag == "table":
                self.table = Element(tag)
                self.open = [self.table]
            return
        while self.open[-1].tag in CLOSES.get(tag, ()):
            self.open.pop()
        known = {name: value or "" for name, value in reversed(attrs)}
        element = Element(tag, (known.get("colspan", "1"), known.get("rowspan", "1")))
        if len(self.open) >= DEEPEST:
            return
        self.open[-1].content.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        names = [element.tag for element in self.open]
        if tag in names:
            position = len(names) - 1 - names[::-1].index(tag)
            # An end tag closes nothing outside its own table.
            if tag == "table" or "table" not in names[position + 1 :]:
                del self.open[position:]

    def handle_data(self, data: str) -> None:
        if self.open:
            self.open[-1].content.append(data)


def first_table(html: str) -> Element | None:
    """The first table of an HTML text. None if it has none."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.table


def teds(answer: str, right: str) -> float:
    """The similarity of the first tables of two HTML texts, 0 if a text has none.

    >>> row = "<table><tr><td>{}</td><td>b</td></tr></table>"
    >>> teds(row.format("a"), row.format("a")), teds(row.format("ax"), row.format("a"))
    (1.0, 0.8333333333333334)
    """
    table, other = first_table(answer), first_table(right)
    if table is None or other is None:
        return 0.0
    try:
        signs: dict[str, str] = {}
        trees = _tree(table, signs), _tree(other, signs)
        distance = tree_distance(trees[0], trees[1], lambda _: 1.0, _change)
    except ValueError:
        return 0.0  # a span that is no number stops the authors' code
    nodes = max(_size(table), _size(other))
    return 1 - distance / nodes if nodes else 1.0


def _size(element: Element) -> int:
    """The number of elements below an element."""
    return sum(1 + _size(child) for child in element.elements)


def _tree(element: Element, signs: dict[str, str]) -> Tree[Node]:
    """The tree of an element. `signs` maps tags to the characters that stand for them in cells."""
    if element.tag != "td":
        return Tree(Node(element.tag), [_tree(child, signs) for child in element.elements])
    spans = int(element.spans[0]), int(element.spans[1])
    content = "".join(
        token if len(token) == 1 else signs.setdefault(token, chr(FIRST_SIGN + len(signs)))
        for token in _tokens(element)[1:-1]
    )
    return Tree(Node("td", spans, content))


def _tokens(element: Element) -> list[str]:
    """The tags and characters of an element. Texts after an inner cell are left out."""
    tokens = [f"<{element.tag}>"]
    after_cell = False
    for part in element.content:
        if isinstance(part, Element):
            tokens += _tokens(part)
            after_cell = part.tag == "td"
        elif not after_cell:
            tokens += part
    return [*tokens, f"</{element.tag}>"]


def _change(node: Node, other: Node) -> float:
    from rapidfuzz.distance import Levenshtein

    if node.tag != other.tag or node.spans != other.spans:
        return 1.0
    if node.content == other.content:
        return 0.0
    length = max(len(node.content), len(other.content))
    return Levenshtein.distance(node.content, other.content) / length
