"""TEDS, the similarity of HTML tables by tree edit distance: Zhong et al. 2020,
https://arxiv.org/abs/1911.10683.

As in PubTabNet's code: only `td` cells have texts and spans. A `th` cell is a node without them.
The costs are those of AlibabaResearch/AdvancedLiterateMachinery@fb6187eb:Benchmarks/CC-OCR/
evaluation/evaluator/doc_parsing_evaluator.py#L80-L183. The authors use the parser of libxml2. The
parser here closes elements by the rules of its HTMLparser.c, but some malformed HTML can differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import TYPE_CHECKING, NamedTuple

from snellen.benchmarks.families.table_distance import table_distance
from snellen.benchmarks.families.trees import Tree, tree_distance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEEPEST = 200
"""The greatest depth of an element. Deeper elements are skipped, and their texts are kept."""
FIRST_SIGN = 0x100000
"""The code of the first character that stands for a tag, in an area for private use."""
# fmt: off
VOID = frozenset((
    "area", "base", "basefont", "br", "col", "frame", "hr", "img", "input", "isindex", "link",
    "meta", "param",
))
# fmt: on
PAGE = ("html", "head", "body")
LONG_REFERENCE = re.compile(r"&#[0-9]{4000,}")
"""A reference to a character by a number that Python refuses to read."""
NO_CHARACTER = "&#1114112"
"""The reference by the first number that is no character."""
FULL_PAGE = re.compile(r"\s*<(?:html|!doctype)", re.IGNORECASE)
CLOSED_BY = {
    old: frozenset(new.split())
    for olds, new in (
        ("td th", "tbody td tfoot th tr"),
        ("tr", "tbody tfoot tr"),
        ("tbody thead", "tbody tfoot"),
        ("tfoot", "tbody"),
        ("caption col colgroup", "col colgroup tbody tfoot thead tr"),
        ("a", "a fieldset table td th"),
        ("b i", "center p td th"),
        ("font", "center td th"),
        ("u", "p td th"),
        ("span", "td th"),
        ("big s small strike tt", "p"),
        ("li", "li"),
        ("dd", "dt"),
        ("dt", "dd dl"),
        ("dl", "form li"),
        ("ul", "address form menu pre"),
        ("ol hr form", "form"),
        ("dir menu", "dd dl dt form ul"),
        ("h1 h2 h3 h4 h5 h6", "fieldset form li p table"),
        ("pre xmp listing", "dd dl dt fieldset form li table ul"),
        ("option", "optgroup option"),
        (
            "p",
            "address blockquote caption center col colgroup dd dir div dl dt fieldset form h1 h2"
            " h3 h4 h5 h6 hr li listing menu ol p pre table tbody td tfoot th title tr ul xmp",
        ),
    )
    for old in olds.split()
}
"""The elements whose start closes an open element."""
PRIORITY = {
    "div": 150,
    **dict.fromkeys(("td", "th"), 160),
    "tr": 170,
    **dict.fromkeys(("thead", "tbody", "tfoot"), 180),
    "table": 190,
}
"""The end of an element closes no element with a greater number. Others have the number 100."""


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
    """Reads a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("body")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in PAGE:
            return
        while len(self.open) > 1 and tag in CLOSED_BY.get(self.open[-1].tag, ()):
            self.open.pop()
        known = {name: value or "" for name, value in reversed(attrs)}
        element = Element(tag, (known.get("colspan", "1"), known.get("rowspan", "1")))
        if len(self.open) >= DEEPEST:
            return
        self.open[-1].content.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag in PAGE:
            del self.open[1:]
            return
        priority = PRIORITY.get(tag, 100)
        for position in range(len(self.open) - 1, 0, -1):
            name = self.open[position].tag
            if name == tag:
                del self.open[position:]
                return
            if PRIORITY.get(name, 100) > priority:
                return

    def handle_data(self, data: str) -> None:
        self.open[-1].content.append(data)


def first_table(html: str) -> Element | None:
    """The first table of an HTML page, unless it is inside another element than the body. None if
    there is none, or if the text does not begin like a page."""
    if not FULL_PAGE.match(html):
        return None
    html = readable(html)
    reader = _Reader()
    body = reader.open[0]
    unclosed = html.find("<!--", html.rfind("-->") + 1)
    reader.feed(html if unclosed < 0 else html[:unclosed])
    reader.close()
    return next((element for element in body.elements if element.tag == "table"), None)


def readable(html: str) -> str:
    """The HTML without references that Python refuses to read."""
    return LONG_REFERENCE.sub(NO_CHARACTER, html)


def page_of(html: str) -> str:
    """A page whose body is this HTML."""
    return f"<html><body>{html}</body></html>"


def teds(answer: str, right: str, structure_only: bool = False) -> float:
    """The similarity of the first tables of two HTML pages, 0 if a page has none. `structure_only`
    leaves out the texts of cells (TEDS-S).

    >>> row = "<html><body><table><tr><td>{}</td><td>b</td></tr></table></body></html>"
    >>> teds(row.format("a"), row.format("a")), teds(row.format("ax"), row.format("a"))
    (1.0, 0.8333333333333334)
    """
    return teds_and_structure(answer, right)[structure_only]


def teds_and_structure(answer: str, right: str) -> tuple[float, float]:
    """TEDS and TEDS-S."""
    table, other = first_table(answer), first_table(right)
    if table is None or other is None:
        return 0.0, 0.0
    try:
        signs: dict[str, str] = {}
        trees = _tree(table, signs), _tree(other, signs)
    except ValueError:
        return 0.0, 0.0  # a span that is no number stops the authors' code
    nodes = max(_size(table), _size(other))
    if not nodes:
        return 1.0, 1.0
    distances = _distances(*trees)
    return 1 - distances[0] / nodes, 1 - distances[1] / nodes


def _distances(first: Tree[Node], second: Tree[Node]) -> tuple[float, float]:
    """The distances of two trees with the texts of cells, and without them."""
    left, right = _layout(first), _layout(second)
    if left is not None and right is not None and first.label == second.label:
        costs = _costs(_nodes(first), _nodes(second))
        distance, bare = (table_distance(left, right, cost) for cost in costs)
        if distance is not None and bare is not None:
            return distance, bare
    return (
        tree_distance(first, second, lambda _: 1.0, _change),
        tree_distance(first, second, lambda _: 1.0, _change_of_structure),
    )


def _layout(tree: Tree[Node]) -> list[int] | None:
    """The number of cells of each row, -1 for a leaf that is no row. None if cells have children,
    or if there is no row."""
    if not tree.children or any(cell.children for row in tree.children for cell in row.children):
        return None
    return [len(row.children) or -1 for row in tree.children]


def _nodes(tree: Tree[Node]) -> list[Node]:
    return [node.label for row in tree.children for node in (*row.children, row)]


def _costs(
    nodes: Sequence[Node], others: Sequence[Node]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The costs of changing a node into another one, with the texts of cells and without them."""
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    kinds: dict[tuple[object, ...], int] = {}
    codes, other_codes = (
        np.array([kinds.setdefault(node[:2], len(kinds)) for node in side])
        for side in (nodes, others)
    )
    texts, other_texts = ([node.content for node in side] for side in (nodes, others))
    edits = cdist(texts, other_texts, scorer=Levenshtein.distance, dtype=np.int32)
    longer = np.maximum.outer([*map(len, texts)], [*map(len, other_texts)])
    differs = codes[:, np.newaxis] != other_codes
    costs = np.where(differs, 1.0, edits / np.maximum(longer, 1))
    return costs, differs.astype(np.float64)


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


def _change_of_structure(node: Node, other: Node) -> float:
    return float(node.tag != other.tag or node.spans != other.spans)
