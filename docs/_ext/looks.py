"""Sets details of pages that the theme leaves open: numbers in tables, and a page's language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

NUMBERS = re.compile(r"(?=.*\d)[\d\s.,%<±+\-\u2212*\[\]()]*(?:pp)?")
NO_BREAK = "\u00a0"


def unbroken(app: Sphinx, doctree: nodes.document) -> None:
    """Keep a cell of numbers alone, such as `< 0.0001` or `[60.35, 67.41]`, on one line."""
    from docutils import nodes

    for entry in doctree.findall(nodes.entry):
        if NUMBERS.fullmatch(entry.astext()):
            for text in list(entry.findall(nodes.Text)):
                text.parent.replace(text, nodes.Text(text.astext().replace(" ", NO_BREAK)))


def language(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Set the language of a Chinese page, for fonts and screen readers."""
    if page.endswith(".zh-CN"):
        context["language"] = "zh-CN"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_css_file("site.css")
    app.connect("doctree-read", unbroken)
    app.connect("html-page-context", language)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
