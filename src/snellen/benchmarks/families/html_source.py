"""The source of HTML after it was read and rewritten, as OmniDocBench's code does with Beautiful
Soup 4.15 and its parser `html.parser`.

Each open element is closed, attributes are sorted and quoted, and other blanks than those in texts
are gone. As in the authors' code, `th` cells become `td` cells, `thead` and `span` elements are
replaced with their content, and `math` elements with the formula in their attribute `alttext`.
Finally, all entities are replaced with their characters, so that texts may look like tags.
"""

from __future__ import annotations

import html
from collections import Counter
from html.entities import html5
from html.parser import HTMLParser

# fmt: off
VOID = frozenset((
    "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "menuitem",
    "meta", "param", "source", "track", "wbr", "basefont", "bgsound", "command", "frame", "image",
    "isindex", "nextid", "spacer",
))
# fmt: on
"""Elements without an end tag."""
VERBATIM = ("script", "style")
"""Elements whose texts have no entities in the rewritten source."""
UNWRAPPED = ("thead", "span")
"""Elements that are replaced with their content."""
LISTS = {
    **dict.fromkeys(("a", "link"), ("rel", "rev")),
    **dict.fromkeys(("td", "th"), ("headers",)),
    "area": ("rel",),
    "form": ("accept-charset",),
    "icon": ("sizes",),
    "iframe": ("sandbox",),
    "object": ("archive",),
    "output": ("for",),
}
"""The attributes, besides class, accesskey, and dropzone, that are lists separated by blanks."""


def rewritten(source: str) -> str:
    """The source with each element closed. Empty if the parser rejects it.

    >>> rewritten("<table><tr><th b=2 a>x &lt; y<td>z</table>")
    '<table><tr><td a="" b="2">x < y<td>z</td></td></tr></table>'
    """
    writer = _SourceWriter()
    try:
        writer.feed(source)
        writer.close()
        return writer.finish()
    # Beautiful Soup stops the authors' code, and so does Python at a reference of 4,300 digits.
    except (AssertionError, ValueError):
        return ""


class _SourceWriter(HTMLParser):
    """Reads a source and writes the other one."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self.text: list[str] = []
        self.open: list[tuple[str, int]] = []
        """The open elements: the name, and the position of the start tag among the parts."""
        self.count: Counter[str] = Counter()
        """How many elements of a name are open."""
        self.closed: Counter[str] = Counter()
        """How many end tags of void elements are to be skipped."""

    # -- elements

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.start(tag, attrs)
        if tag in VOID:
            self.end(tag)
            self.closed[tag] += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.start(tag, attrs)
        self.end(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.closed[tag]:
            self.closed[tag] -= 1
        else:
            self.end(tag)

    def start(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.end_text()
        values = {name: value or "" for name, value in attrs}
        if tag == "math":
            start = f"${values.get('alttext', '')}$"
        elif tag in UNWRAPPED:
            start = ""
        else:
            lists = ("class", "accesskey", "dropzone", *LISTS.get(tag, ()))
            start = f"<{_written(tag)}"
            for name, value in sorted(values.items()):
                value = " ".join(value.split()) if name in lists else value
                start += f" {html.unescape(name)}={_quoted(value)}"
            start += ">"
        if not self.count["math"]:
            self.parts.append(start)
        self.open.append((tag, len(self.parts)))
        self.count[tag] += 1

    def end(self, tag: str) -> None:
        """Close the last open element of a name and those inside it, if there is one."""
        self.end_text()
        if not self.count[tag]:
            return
        while self.close_last() != tag:
            pass

    def close_last(self) -> str:
        tag, position = self.open.pop()
        self.count[tag] -= 1
        if self.count["math"] or tag == "math" or tag in UNWRAPPED:
            return tag
        if tag in VOID and position == len(self.parts):
            self.parts[-1] = f"{self.parts[-1][:-1]}/>"
        else:
            self.parts.append(f"</{_written(tag)}>")
        return tag

    def finish(self) -> str:
        self.end_text()
        while self.open:
            self.close_last()
        return "".join(self.parts)

    # -- texts

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_charref(self, name: str) -> None:
        try:
            number = int(name[1:], 16) if name[0] in "xX" else int(name)
        except ValueError:
            self.text.append(name)
            return
        known = number <= 0x10FFFF
        self.text.append(html.unescape(f"&#{number};") or chr(number) if known else "\ufffd")

    def handle_entityref(self, name: str) -> None:
        self.text.append(html5.get(f"{name};", f"&{name}"))

    def end_text(self) -> None:
        if self.text:
            text = "".join(self.text)
            self.text = []
            text = self.collapsed(text)
            verbatim = self.open and self.open[-1][0] in VERBATIM
            self.write(html.unescape(text) if verbatim else text)

    def write(self, text: str) -> None:
        if not self.count["math"]:
            self.parts.append(text)

    # -- comments and declarations

    def handle_comment(self, data: str) -> None:
        self.markup("<!--", data, "-->")

    def handle_decl(self, decl: str) -> None:
        self.markup("<!DOCTYPE ", decl[len("DOCTYPE ") :], ">\n")

    def unknown_decl(self, data: str) -> None:
        if data.upper().startswith("CDATA["):
            self.markup("<![CDATA[", data[len("CDATA[") :], "]]>")
        else:
            self.markup("<?", data, "?>")

    def handle_pi(self, data: str) -> None:
        self.markup("<?", data, ">")

    def markup(self, start: str, data: str, end: str) -> None:
        self.end_text()
        self.write(html.unescape(f"{start}{self.collapsed(data)}{end}"))

    def collapsed(self, text: str) -> str:
        """A single blank or newline instead of a text of blanks, unless blanks are preserved."""
        if text.strip(" \n\t\f\r") or self.count["pre"] or self.count["textarea"]:
            return text
        return "\n" if "\n" in text else " "


def _written(tag: str) -> str:
    return "td" if tag == "th" else html.unescape(tag)


def _quoted(value: str) -> str:
    quote = "'" if '"' in value and "'" not in value else '"'
    return f"{quote}{value}{quote}"
