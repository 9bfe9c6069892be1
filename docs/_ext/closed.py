"""Warns if a built page loads anything from another server, since pages must work offline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

OUTSIDE = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"(?:url\(\s*|@import\s+)[\"']?\s*((?:https?:)?//[^\"')\s;]+)", re.IGNORECASE)


def loaded(page: str) -> Iterator[str]:
    """Yield the outside addresses that a browser fetches to show a page. Links don't count."""
    addresses: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            for name, value in attrs:
                if value is None or tag == "a":
                    continue
                if name in ("src", "data", "poster", "action") or (
                    name == "href" and dict(attrs).get("rel") not in ("canonical", "next", "prev")
                ):
                    addresses.extend([value] if OUTSIDE.match(value) else [])
                elif name == "srcset":
                    parts = [part.split()[0] for part in value.split(",") if part.strip()]
                    addresses.extend(part for part in parts if OUTSIDE.match(part))
                elif name == "style":
                    addresses.extend(styled(value))

    Reader().feed(page)
    for block in re.findall(r"<style[^>]*>(.*?)</style>", page, re.DOTALL | re.IGNORECASE):
        addresses.extend(styled(block))
    yield from addresses


def styled(sheet: str) -> Iterator[str]:
    """Yield the outside addresses that a style sheet loads."""
    yield from IN_STYLE.findall(sheet)


def _check(app: Sphinx, error: Exception | None) -> None:
    from sphinx.util import logging

    if error is not None or app.builder.format != "html":
        return
    for path in sorted(Path(app.outdir).rglob("*")):
        if path.suffix in (".html", ".css"):
            read = loaded if path.suffix == ".html" else styled
            for address in read(path.read_text(encoding="utf-8")):
                message = (
                    f"{path.relative_to(app.outdir)} loads {address}: keep a copy here instead"
                )
                logging.getLogger(__name__).warning(message)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
