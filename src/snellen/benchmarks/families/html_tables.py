"""TEDS, the similarity of HTML tables by tree edit distance: Zhong et al. 2020,
https://arxiv.org/abs/1911.10683.

As in PubTabNet's code: only `td` cells have texts and spans. A `th` cell is a node without them.
The costs are those of AlibabaResearch/AdvancedLiterateMachinery@fb6187eb:Benchmarks/CC-OCR/
evaluation/evaluator/doc_parsing_evaluator.py#L80-L183. The authors use the parser of libxml2. The
parser here closes elements by the rules of its HTMLparser.c, but some malformed HTML can differ.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple

from snellen.benchmarks.families.trees import Tree, tree_distance

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
    reader = _Reader()
    body = reader.open[0]
    unclosed = html.find("<!--", html.rfind("-->") + 1)
    reader.feed(html if unclosed < 0 else html[:unclosed])
    reader.close()
    return next((element for element in body.elements if element.tag == "table"), None)


def teds(answer: str, right: str, structure_only: bool = False) -> float:
    """The similarity of the first tables of two HTML pages, 0 if a page has none. `structure_only`
    leaves out the texts of cells (TEDS-S).

    >>> row = "<html><body><table><tr><td>{}</td><td>b</td></tr></table></body></html>"
    >>> teds(row.format("a"), row.format("a")), teds(row.format("ax"), row.format("a"))
    (1.0, 0.8333333333333334)
    """
    table, other = first_table(answer), first_table(right)
    if table is None or other is None:
        return 0.0
    try:
        signs: dict[str, str] = {}
        trees = _tree(table, signs, structure_only), _tree(other, signs, structure_only)
        distance = tree_distance(trees[0], trees[1], lambda _: 1.0, _change)
    except ValueError:
        return 0.0  # a span that is no number stops the authors' code
    nodes = max(_size(table), _size(other))
    return 1 - distance / nodes if nodes else 1.0


def _size(element: Element) -> int:
    """The number of elements below an element."""
    return sum(1 + _size(child) for child in element.elements)


def _tree(element: Element, signs: dict[str, str], bare: bool) -> Tree[Node]:
    """The tree of an element. `signs` maps tags to the characters that stand for them in cells. The
    cells of a bare tree have no texts."""
    if element.tag != "td":
        return Tree(Node(element.tag), [_tree(child, signs, bare) for child in element.elements])
    spans = int(element.spans[0]), int(element.spans[1])
    if bare:
        return Tree(Node("td", spans))
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
