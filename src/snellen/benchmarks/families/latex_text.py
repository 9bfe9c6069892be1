"""The plain text of a LaTeX formula, as the library pylatexenc 2.10 writes it.

OmniDocBench compares texts whose formulas are converted by `LatexNodes2Text().latex_to_text`, with
the defaults. The conversion here has the same letters, digits, underscores, slashes, and
backslashes. Other signs can differ, as OmniDocBench deletes them: `\\sum` is `·` here.

The table latex_text.tsv lists the macros with their arguments (`{` a required one, `[` an optional
one, `*` a star) and their text. Other macros have neither. A text has these forms: `%s` is each
argument, `%(2)s` is the second argument, `*` is all arguments, `^` before a text stands for
uppercase, `accent 0301` combines characters with a sign, `style bold` takes letters of a
mathematical alphabet, `·` stands for any sign that OmniDocBench deletes, and `!` has no text, but
is an error without arguments.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import NamedTuple

DEEPEST = 150
"""The greatest depth of nested groups. The library's code fails at a depth of a few hundred."""
STEPS = 20
"""How many steps the parser may take for each character. The library's code reads unclosed
arguments again and again, and so never ends for some texts."""
STYLES = {
    "bold": (0x1D400, 0x1D41A),
    "italic": (0x1D434, 0x1D44E),
    "script": (0x1D49C, 0x1D4B6),
    "fraktur": (0x1D504, 0x1D51E),
    "doublestruck": (0x1D538, 0x1D552),
    "sans": (0x1D5A0, 0x1D5BA),
    "monospace": (0x1D670, 0x1D68A),
}
"""The codes of A and a in the mathematical alphabets."""
EARLIER = {
    "italic": "h210E",
    "script": "B212C E2130 F2131 H210B I2110 L2112 M2133 R211B e212F g210A o2134",
    "fraktur": "C212D H210C I2111 R211C Z2128",
    "doublestruck": "C2102 H210D N2115 P2119 Q211A R211D Z2124",
}
"""Letters of these alphabets that have other codes."""
MATH = ("equation", "eqnarray", "align", "gather", "flalign", "multline")
MATH_ENVIRONMENTS = frozenset(
    {*MATH, *(f"{name}*" for name in MATH), "alignat", "alignat*", "split"}
)
THEOREMS = (
    "theorem proposition lemma corollary definition conjecture remark proof thm prop lem cor conj"
    " rem defn enumerate itemize description figure figure* table table*"
)
ENVIRONMENTS = {
    **dict.fromkeys(THEOREMS.split(), "["),
    **{"tabular": "{", "tabular*": "{{", "tabularx": "{[{", "array": "[{"},
    **{"alignat": "{", "alignat*": "{"},
}
"""The arguments of environments."""
MATRICES = frozenset({"array", "pmatrix", "bmatrix", "smallmatrix", "psmallmatrix", "bsmallmatrix"})
EQUATIONS = frozenset(
    name for name in (*MATH, "dmath") for name in (name, f"{name}*") if "flalign" not in name
)
"""The environments whose text is that of a formula."""
SPECIALS = ("---", "--", "``", "''", "!`", "?`", "~", "&")
OPTIONAL = ("item", "chapter", "section", "texorpdfstring")
"""Macros that may have no arguments, although their text has one."""
NAME = re.compile(r"\s*\{([\w* ._-]+)\}")
COMMENT = re.compile(r"[\n\r]\s*")


class LatexError(ValueError):
    """A formula that the library cannot convert."""


class LatexNode(NamedTuple):
    """A part of a formula."""

    kind: str
    """`text`, `group`, `macro`, `environment`, `special`, `math`, or `comment`."""
    text: str = ""
    """The text, or the name of a macro or environment."""
    nodes: tuple[LatexNode, ...] = ()
    """What a group, an environment, or a formula contains."""
    arguments: tuple[LatexNode | None, ...] = ()
    """The arguments of a macro. None for an optional one that is missing."""
    space: str = ""
    """The blanks after a macro."""


class Token(NamedTuple):
    """A sign, a macro, or a delimiter."""

    kind: str
    """`char`, `macro`, `begin`, `end`, `open`, `close`, `math`, `special`, or `comment`."""
    text: str
    """The sign or the name."""
    start: int
    """The position after the blanks before the token."""
    end: int
    """The position after the token."""
    before: str = ""
    """The blanks before the token."""
    after: str = ""
    """The blanks after a macro."""


class _EndOfText(Exception):
    def __init__(self, space: str = "") -> None:
        self.space = space


@cache
def macros() -> dict[str, tuple[str, str]]:
    """The arguments and the text of each macro."""
    lines = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").split("\n")
    rows = (line.split("\t") for line in lines[1:] if line)
    return {
        name: (arguments, text.replace("\\n", "\n"))
        for names, arguments, text in rows
        for name in names.split()
    }


def latex_text(latex: str) -> str:
    """The text of a formula.

    >>> latex_text(r"\\frac{k_{1}}{2}"), latex_text(r"\\sin\\left(x\\right)")
    ('k_1/2', 'sin(x)')

    Raises:
        LatexError: the library cannot convert the formula.
    """
    return _text(_Parser(latex).nodes(0, "", "", 0)[0], False)


class _Parser:
    """Reads a formula. Errors in the formula are passed over, as the library does."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.steps = STEPS * len(latex) + 1000

    def token(
        self, position: int, mode: str, bracket: bool = False, environments: bool = True
    ) -> Token:
        """The token at a position. `mode` is the delimiter of the formula that it is in."""
        self.steps -= 1
        if self.steps < 0:
            raise LatexError("the formula has too many unclosed arguments")
        latex = self.latex
        start = position
        while position < len(latex) and latex[position].isspace():
            position += 1
            if latex[start:position].endswith("\n\n"):
                return Token("char", "\n\n", position - 2, position, latex[start : position - 2])
        before = latex[start:position]
        if position >= len(latex):
            raise _EndOfText(before)
        sign = latex[position]
        if sign == "\\":
            return self.macro(position, before, environments)
        if sign == "%":
            match = COMMENT.search(latex, position)
            end = len(latex) if match is None else match.start()
            if match is not None and match[0][1:2] not in ("\n", "\r"):
                end = match.end()
            return Token("comment", "", position, end, before)
        if sign in ("{[" if bracket else "{"):
            return Token("open", sign, position, position + 1, before)
        if sign in ("}]" if bracket else "}"):
            return Token("close", sign, position, position + 1, before)
        if latex.startswith("$$", position) and mode != "$":
            return Token("math", "$$", position, position + 2, before)
        if sign == "$":
            return Token("math", "$", position, position + 1, before)
        for special in SPECIALS:
            if latex.startswith(special, position):
                return Token("special", special, position, position + len(special), before)
        return Token("char", sign, position, position + 1, before)

    def macro(self, start: int, before: str, environments: bool) -> Token:
        """The token of a macro, whose backslash is at `start`."""
        latex = self.latex
        if start + 1 >= len(latex):
            raise _EndOfText
        end = start + 2
        if latex[start + 1].isalpha():
            while end < len(latex) and latex[end].isalpha():
                end += 1
        name = latex[start + 1 : end]
        if name in "[]()":
            return Token("math", f"\\{name}", start, end, before)
        if environments and name in ("begin", "end"):
            match = NAME.match(latex, end)
            if match is None:
                return Token("char", f"\\{name}", start, end, before)
            return Token(name, match[1], start, match.end(), before)
        blank = end
        if name.isalpha():
            while end < len(latex) and latex[end].isspace():
                end += 1
                if latex[blank:end].endswith("\n\n"):
                    end -= 2
                    break
        return Token("macro", name, start, end, before, latex[blank:end])

    def nodes(self, position: int, stop: str, mode: str, depth: int) -> tuple[list[LatexNode], int]:
        """The nodes up to a delimiter, and the position after it. `stop` is `}`, `]`, the end of a
        formula, or `end` and the name of an environment."""
        if depth > DEEPEST:
            raise LatexError("the formula has too many nested groups")
        nodes: list[LatexNode] = []
        chars: list[str] = []
        while True:
            try:
                token = self.token(position, mode, bracket=stop == "]")
            except _EndOfText as end:
                chars.append(end.space)
                position += len(end.space)
                break
            position = token.end
            chars.append(token.before)
            if token.kind == "char":
                chars.append(token.text)
                continue
            if text := "".join(chars):
                nodes.append(LatexNode("text", text))
            chars = []
            if token.kind == "close" or token.kind == "end":
                if (token.text if token.kind == "close" else f"end {token.text}") == stop:
                    break
                continue
            if token.kind == "math" and (token.text == stop or token.text in ("\\)", "\\]")):
                if token.text == stop:
                    break
                continue
            node, position = self.node(token, mode, depth)
            nodes.append(node)
        if text := "".join(chars):
            nodes.append(LatexNode("text", text))
        return nodes, position

    def node(self, token: Token, mode: str, depth: int) -> tuple[LatexNode, int]:
        """The node that begins with a token, and the position after it."""
        if token.kind == "comment":
            return LatexNode("comment"), token.end
        if token.kind == "special":
            return LatexNode("special", token.text), token.end
        if token.kind == "macro":
            arguments, end = self.arguments(
                macros().get(token.text, ("", ""))[0], token.end, mode, depth, token.text
            )
            return LatexNode("macro", token.text, arguments=arguments, space=token.after), end
        if token.kind == "begin":
            inner = f"{{{token.text}}}" if token.text in MATH_ENVIRONMENTS else mode
            spec = ENVIRONMENTS.get(token.text, "")
            _, end = self.arguments(spec, token.end, mode, depth)
            nodes, end = self.nodes(end, f"end {token.text}", inner, depth + 1)
            return LatexNode("environment", token.text, tuple(nodes)), end
        if token.kind == "open":
            return self.group(token, mode, depth)
        stop = {"\\(": "\\)", "\\[": "\\]"}.get(token.text, token.text)
        nodes, end = self.nodes(token.end, stop, token.text, depth + 1)
        return LatexNode("math", token.text, tuple(nodes)), end

    def group(self, token: Token, mode: str, depth: int) -> tuple[LatexNode, int]:
        stop = "}" if token.text == "{" else "]"
        nodes, end = self.nodes(token.end, stop, mode, depth + 1)
        return LatexNode("group", nodes=tuple(nodes)), end

    def arguments(
        self, spec: str, position: int, mode: str, depth: int, name: str = ""
    ) -> tuple[tuple[LatexNode | None, ...], int]:
        """The arguments of a macro or an environment, and the position after them. If the formula
        ends before the last argument, there are none."""
        arguments: list[LatexNode | None] = []
        end = position
        try:
            for form in spec:
                argument: LatexNode | None = None
                if form == "{":
                    inner = "" if name.startswith("text") and name != "texorpdfstring" else mode
                    argument, end = self.expression(end, inner, depth)
                elif form == "*":
                    token = self.token(end, mode)
                    if token.kind == "char" and token.text == "*":
                        argument, end = LatexNode("text", "*"), token.end
                elif not (name == "\\" and self.latex[end : end + 1].isspace()):
                    argument, end = self.optional(end, mode, depth)
                arguments.append(argument)
        except _EndOfText:
            return (), position
        return tuple(arguments), end

    def optional(self, position: int, mode: str, depth: int) -> tuple[LatexNode | None, int]:
        try:
            token = self.token(position, mode, bracket=True, environments=False)
        except _EndOfText:
            return None, position
        if token.kind == "open" and token.text == "[":
            return self.group(token, mode, depth)
        return None, position

    def expression(self, position: int, mode: str, depth: int) -> tuple[LatexNode, int]:
        """A single sign, a macro without its arguments, or a group."""
        token = self.token(position, mode, environments=False)
        while token.kind == "comment":
            token = self.token(token.end, mode, environments=False)
        if token.kind == "open":
            return self.group(token, mode, depth)
        if token.kind == "close" or (token.kind == "macro" and token.text == "end"):
            return LatexNode("text"), token.start
        if token.kind == "macro" or (token.kind == "math" and token.text.startswith("\\")):
            return LatexNode("macro", token.text, space=token.after), token.end
        if token.kind == "special":
            return LatexNode("special", token.text), token.end
        return LatexNode("text", token.text), token.end


def _text(nodes: list[LatexNode] | tuple[LatexNode, ...], in_math: bool) -> str:
    """The text of nodes. Between the nodes of a formula, blanks stay as in the source."""
    parts: list[str] = []
    space = ""
    for node in nodes:
        if node.kind == "text" and in_math:
            parts.append(space)
            parts.append(node.text if node.text.strip() else "")
        else:
            parts.append(_node_text(node, in_math))
        space = node.space if node.kind == "macro" and not node.arguments else ""
    return "".join(parts)


def _node_text(node: LatexNode | None, in_math: bool) -> str:
    if node is None or node.kind == "comment":
        return ""
    if node.kind == "text":
        return node.text
    if node.kind == "group":
        return _text(node.nodes, in_math)
    if node.kind == "special":
        return {"&": "   ", "~": "\xa0"}.get(node.text, "-")
    if node.kind == "macro":
        return _macro_text(node, in_math)
    if node.kind == "math":
        inner = _text(node.nodes, True).strip()
        return inner if node.text in ("$", "\\(") else f"\n    {inner}\n"
    if node.text in MATRICES:
        return _matrix_text(node, in_math)
    if node.text in EQUATIONS:
        return f"\n    {_text(node.nodes, True).strip()}\n"
    return _text(node.nodes, in_math)


def _macro_text(node: LatexNode, in_math: bool) -> str:
    form = macros().get(node.text, ("", ""))[1]
    if not re.match(r"[*!^]|style |accent |.*%", form):
        return form
    arguments = [_node_text(argument, in_math) for argument in node.arguments]
    if form == "*":
        return "".join(arguments)
    if form == "!":
        if not arguments:
            raise LatexError(f"\\{node.text} has no argument")
        return ""
    kind, _, name = form.partition(" ")
    if kind == "style":
        return "".join(_styled(sign, name) for sign in "".join(arguments))
    if kind == "accent":
        signs = "".join(arguments).strip() if arguments else " "
        return "".join(_accented(sign, chr(int(name, 16))) for sign in signs)
    if "%s" in form:
        return form.replace("%s", "{}").format(*arguments) if arguments else form
    for number, argument in enumerate(arguments, 1):
        form = form.replace(f"%({number})s", argument)
    if not arguments and "%(" in form:
        if node.text in OPTIONAL or node.text.startswith("sub"):
            return form.partition("%")[0].lstrip("^")
        raise LatexError(f"\\{node.text} has no arguments")
    return form[1:].upper() if form.startswith("^") else form


def _styled(sign: str, style: str) -> str:
    earlier = {code[0]: chr(int(code[1:], 16)) for code in EARLIER.get(style, "").split()}
    if sign in earlier:
        return earlier[sign]
    for first, last, start in zip("Aa", "Zz", STYLES[style], strict=True):
        if first <= sign <= last:
            return chr(start + ord(sign) - ord(first))
    return sign


def _accented(sign: str, accent: str) -> str:
    return unicodedata.normalize("NFC", {"\u0131": "i", "\u0237": "j"}.get(sign, sign) + accent)


def _matrix_text(node: LatexNode, in_math: bool) -> str:
    """The rows of a matrix, separated by semicolons. Empty cells are left out."""
    rows: list[list[str]] = []
    row: list[str] = []
    cell: list[LatexNode] = []
    for part in (*node.nodes, LatexNode("macro", "\\")):
        ends_row = part.kind == "macro" and part.text == "\\"
        if not ends_row and not (part.kind == "special" and part.text == "&"):
            cell.append(part)
            continue
        if cell:
            row.append(_text(cell, in_math).strip())
        cell = []
        if ends_row:
            rows.append(row)
            row = []
    if not any(rows):
        raise LatexError("the matrix is empty")
    width = max(len(text) for row in rows for text in row)
    return f"[ {'; '.join(' '.join(text.rjust(width) for text in row) for row in rows)} ]"
