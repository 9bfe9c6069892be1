r"""Computes the value of a LaTeX expression, with limits on its size. No code is evaluated.

latex2sympy2 itself is not used because it sets no limits, and a reply may contain `9^{9^{9}}`.

`latex_value` requires that the whole text is an expression, and returns the correct value.
`latex2sympy_value` reproduces a chain of tools that authors of benchmarks use to compare answers:
latex2sympy2 1.9.1 parses the text, sympy prints the result as code, and Python runs the code. This
function has the following quirks, each of which has a test. `evaluated_value` reproduces another
chain: latex2sympy2 parses the text, and sympy evaluates the result. Its docstring has its quirks.

- Parsing stops silently at the first token that cannot continue the expression. The rest of the
  text is ignored: `5)`, `5.`, and `5 rows` are 5. `5 triangles` is 5, too, because `triangles`
  begins with the token `tr`, the trace of a matrix.

- Adjacent factors are multiplied: `2\frac{1}{2}` is 1, and `1,0000` is 1,000 × 0. `latex_value`
also multiplies adjacent factors.

- `2:3` and `3\over4` are divisions. `/`, `:`, and `\cdot` have the same precedence and are computed
  from left to right. Adjacent factors have a higher precedence. `2^3^2` is 64.

- A decimal without a fractional part is a whole number (`2.0` is the int 2). Every division yields
  a float.

- The parentheses around a single divisor are lost if the dividend is negative, or if the divisor is
  1/x (see `_product_value`).

- `3<5` is 1. Angles are in radians. `\log` has the base 10. `\sin^0 5` is `\sin 5`.

- There is no value if the text contains a letter, `e` without an exponent, `=`, a list, `%` without
  a backslash, an absolute value, `\lceil`, `\ln`, infinity, or a root of a negative number.

In the following cases, the original gives a number, but `latex2sympy_value` returns None:

- values of more than 100,000 bits
- expressions that are nested deeper than 60 levels or longer than 1,000 tokens
- determinants, `\operatorname`, `\gcd`, `\lcm`, and `\max` and `\min` of one number
- binomials of anything except whole numbers from 0 to 5,000
- `5|_{x=3}`, `e^{-\infty}`, and roots whose index divides by 0
- subscripts with letters that the original ignores (`2^3_n`)
- `\tau` and `x=5`, which the original treats as 2π and 5 until it has parsed any `dx`

The last binary digit may differ from the original's. The original uses a different order when it
adds three or more terms, and sometimes when it multiplies factors.
"""

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from operator import ge, gt, le, lt

from snellen.lazy import lazy_pattern
from snellen.text.number_values import (
    Node,
    NoNumber,
    Number,
    PowerTerm,
    ProductTerm,
    binomial,
    bounded,
    exp,
    factorial,
    is_written,
    negated,
    times,
    value_of,
)

MAX_DEPTH = 60
"""The maximum depth of nested brackets."""
MAX_TOKENS = 1_000

NUMBER = r"[0-9]*(?:,[0-9]{3})*\.[0-9]+|[0-9]+(?:,[0-9]{3})*"
SIGNS = frozenset("+-")
TIMES = frozenset({"*", r"\times", r"\cdot"})
OVER = frozenset({"/", ":", r"\over", r"\div"})
TRANSPOSED = frozenset({"'", r"^{\top}"})  # the transpose of a number is the number
RELATIONS: Mapping[str, Callable[[Number, Number], bool]] = {
    "<": lt,
    **dict.fromkeys((r"\le", r"\leq", r"\leqslant"), le),
    ">": gt,
    **dict.fromkeys((r"\ge", r"\geq", r"\geqslant"), ge),
}
BRACKETS: Mapping[str, str] = {
    "(": ")",
    "{": "}",
    "[": "]",
    r"\{": r"\}",
    r"\lbrace": r"\rbrace",
    r"\lbrack": r"\rbrack",
    r"\lgroup": r"\rgroup",
}
FLOORS: Mapping[str, str] = {r"\lfloor": r"\rfloor", r"\llcorner": r"\lrcorner"}
SIZED: Mapping[str, str] = {r"\left": r"\right", r"\mleft": r"\mright"}
BINOMIALS = frozenset({r"\binom", r"\tbinom", r"\dbinom"})
FUNCTIONS: Mapping[str, Callable[[Number], Number]] = {
    r"\sin": math.sin,
    r"\cos": math.cos,
    r"\tan": math.tan,
    r"\arcsin": math.asin,
    r"\arccos": math.acos,
    r"\arctan": math.atan,
    r"\sinh": math.sinh,
    r"\cosh": math.cosh,
    r"\tanh": math.tanh,
    r"\arsinh": math.asinh,
    r"\arcsinh": math.asinh,
    r"\arcosh": math.acosh,
    r"\arccosh": math.acosh,
    r"\artanh": math.atanh,
    r"\arctanh": math.atanh,
    r"\floor": math.floor,
}
INVERSES: Mapping[str, Callable[[Number], Number]] = {
    r"\sin": math.asin,
    r"\cos": math.acos,
    r"\tan": math.atan,
    r"\sinh": math.asinh,
    r"\cosh": math.acosh,
    r"\tanh": math.atanh,
}
FUNCTION_LIKE = frozenset({*FUNCTIONS, r"\log", r"\exp", r"\sqrt", "e"})
"""Tokens that end the argument of a function without parentheses, such as `\\sin 2 …`."""
SIGNS_THAT_END = (
    r". _ & \\ <-> <=> \leftrightarrow \xrightarrow \to \rightarrow \longrightarrow \choose"
)
MATRICES_THAT_END = (
    r"\rvert \rceil \urcorner \end{matrix} \end{pmatrix} \end{bmatrix} \end{vmatrix} "
    "matrix pmatrix bmatrix vmatrix eye zeros ones cols rows diag norm rank trace tr rref hstack "
    "vstack nullspace orth ortho orthogonal orthogonalize eig eigen diagonalize eigenvals "
    "eigenvalues eigenvects eigenvectors svd"
)
NAMES_THAT_END = "arsinh arcsinh arcosh arccosh artanh arctanh gcd lcm floor ceil"
ENDS = frozenset(f"{SIGNS_THAT_END} {MATRICES_THAT_END} {NAMES_THAT_END}".split())
"""Tokens other than closing brackets that never continue a complete expression."""

STARTS = frozenset(
    {*BRACKETS, *FLOORS, *SIZED, *BINOMIALS, *FUNCTION_LIKE}.union(
        ("number", "letter", r"\frac", r"\pi")
    )
)
"""Tokens that start a factor. If such a token follows another factor, the two are multiplied."""
CLOSING = frozenset({*BRACKETS.values(), *FLOORS.values(), *SIZED.values()})

_TOKENS = (
    STARTS - {"number", "letter"} | SIGNS | TIMES | OVER | TRANSPOSED | CLOSING | ENDS
).union(RELATIONS, "!^")
_TOKEN = lazy_pattern(
    rf"[ \t\r\n]*(?:(?P<number>{NUMBER})(?P<percent>\\%)?|(?P<token>(?!!=)(?:"
    + "|".join(re.escape(token) for token in sorted(_TOKENS, key=len, reverse=True))
    + r"))|(?P<letter>(?!d\s*[a-zA-Z])[a-zA-Z]|\\(?:text|mathrm)\{[^{}]+\})|\Z)"
)
_OPENS = lazy_pattern(r"[ \t\r\n]*\(")
# (n)_{k} means the number of arrangements, n!/(n-k)!.
_ARRANGED = lazy_pattern(r"\(([a-zA-Z0-9+\-*/\\ ]+?)\)_{([a-zA-Z0-9+\-*/\\ ]+?)}")
_REWRITTEN = ((r"\dfrac", r"\frac"), (r"\tfrac", r"\frac"))
_ASSIGNED = lazy_pattern(
    r"(?:\s*(?:[a-df-zA-DF-HJ-Z]|\\(?!pi)[a-z]+)(?:_(?:[a-z0-9]|\{[^{}]*\}))?\s*=(?!=))+"
)
"""Matches the symbols at the start of an equation, such as `x=`, whose right side is the value."""
_SPACES = lazy_pattern(r"\\displaystyle|\\quad|\\qquad|~|\\,|\$")


def latex_value(text: str) -> Number | None:
    r"""Return the value of a text if the whole text is a LaTeX expression, or None otherwise.

    >>> latex_value(r"2\sqrt{3}-1"), latex_value("1,000"), latex_value(r"\frac{6}{2}")
    (2.4641016151377544, 1000, 3.0)
    >>> latex_value("9^{9^9}") is None, latex_value("5 rows") is None
    (True, True)
    """
    return _read(text, complete=True)


def latex2sympy_value(text: str) -> Number | None:
    r"""Return the number that latex2sympy2, sympy, and Python compute from a text, or None if there
    is none.

    >>> latex2sympy_value("5 rows"), latex2sympy_value(r"-\frac{1}{2\cdot3}")
    (5, -1.5)
    """
    return _read(text, as_code=True)


def evaluated_value(text: str) -> Number | None:
    r"""Return the number that latex2sympy2 and sympy's evalf compute from a text, or None if there
    is none.

    As in `latex2sympy_value`, the first token that cannot continue the expression ends it, and
    adjacent factors are multiplied. Every value is the correct one. A bare `e` is Euler's number,
    so `3e0` is 0. In `x=5`, the value is 5. A product with another letter has a value only if a
    factor is 0, as in `0 cm`. A comparison has no value.

    latex2sympy2 keeps state: after a text with a differential such as `dx`, every text with a
    letter fails. This function has no state. Three things have no value here: letters that cancel
    out (`x-x`), absolute values, and factorials of fractions.

    >>> evaluated_value("x=5"), evaluated_value("0 cm"), evaluated_value("3 cm")
    (5, 0, None)
    """
    assigned = _ASSIGNED.match(text)
    return _read(text[assigned.end() :] if assigned else text)


def _read(text: str, *, complete: bool = False, as_code: bool = False) -> Number | None:
    for old, new in _REWRITTEN:
        text = text.replace(old, new)
    text = _ARRANGED.sub(r"\\frac{(\1)!}{((\1)-(\2))!}", text)
    try:
        value = _LatexReader(_SPACES.sub(" ", text), complete=complete, as_code=as_code).read()
    except (NoNumber, ArithmeticError, ValueError):
        return None
    return None if value != value else value  # NaN


class _LatexReader:
    """A parser that reads an expression from left to right, looking one token ahead.

    If `complete` is false, tokens after the expression are ignored, as by latex2sympy2. If
    `as_code` is true, values are those of the code that sympy prints.
    """

    def __init__(self, text: str, *, complete: bool, as_code: bool) -> None:
        self._text = text
        self._complete = complete
        self._as_code = as_code
        self._end = 0
        self._depth = 0
        self._left = MAX_TOKENS
        self._number = Fraction(0)
        self._token = ""
        self._advance()

    def _advance(self) -> str:
        """Advance to the next token. Return the previous one."""
        left = self._token
        match = _TOKEN.match(self._text, self._end)
        self._left -= 1
        if match is None or not self._left:
            raise NoNumber
        self._end = match.end()
        self._token = match["token"] or ""
        if digits := match["number"]:
            self._token = "number"
            self._number = Fraction(digits.replace(",", "")) / (100 if match["percent"] else 1)
        elif match["letter"]:
            if self._complete or self._as_code:
                raise NoNumber
            self._token = "letter"
        return left

    def _expect(self, token: str) -> None:
        if self._token != token:
            raise NoNumber
        self._advance()

    def read(self) -> Number:
        value = value_of(self._sum())
        while self._as_code and self._token in RELATIONS:
            holds = RELATIONS[self._advance()]
            value = int(holds(value, value_of(self._sum())))
        if self._token and (self._complete or self._token in RELATIONS):
            raise NoNumber
        return value

    def _sum(self) -> Node:
        total = self._product()
        while self._token in SIGNS:
            sign = self._advance()
            term = self._product()
            total = bounded(value_of(total) + value_of(term if sign == "+" else negated(term)))
        return total

    def _product(self, *, bare: bool = False) -> Node:
        product = self._signed(bare)
        while self._token in TIMES or self._token in OVER:
            if self._advance() in TIMES:
                product = times(product, self._signed(bare))
            else:
                product = self._quotient(product, self._signed(bare))
        return product

    def _signed(self, bare: bool) -> Node:
        negative = False
        while self._token in SIGNS:
            negative ^= self._advance() == "-"
        factors = self._postfixed()
        while self._token in STARTS and not (bare and self._token in FUNCTION_LIKE):
            factors = times(factors, self._postfixed())
        return negated(factors) if negative else factors

    def _postfixed(self) -> Node:
        node = self._power()
        while self._token == "!" or self._token in TRANSPOSED:
            if self._advance() == "!":
                node = factorial(value_of(node))
        return node

    def _power(self) -> Node:
        node = self._atom()
        while self._token == "^":
            self._advance()
            written = isinstance(node, Fraction) and self._as_code
            node = PowerTerm(node if written else value_of(node), self._script())
            if self._token == "_":
                self._advance()
                self._script()  # ignored by latex2sympy2
        return node

    def _script(self) -> Fraction | Number:
        """Parse the number or group after `^` or `_`."""
        if self._token not in ("number", r"\pi", "{"):
            raise NoNumber
        node = self._atom()
        return node if isinstance(node, Fraction) else value_of(node)

    def _atom(self) -> Node:
        if self._depth == MAX_DEPTH:
            raise NoNumber
        self._depth += 1
        node = self._deeper(self._token)
        self._depth -= 1
        return node

    def _deeper(self, token: str) -> Node:
        if token not in STARTS:
            raise NoNumber
        number = self._number
        if token in FUNCTIONS or token in (r"\log", r"\exp"):
            return self._function()
        self._advance()
        if token == "number":
            return number
        if token == "letter":
            if self._token == "_":
                raise NoNumber
            return math.nan
        if token == r"\pi":
            return math.pi
        if token == r"\frac":
            return self._quotient(self._braced(), self._braced())
        if token == r"\sqrt":
            return self._root()
        if token == "e":
            return self._euler()
        if token in BINOMIALS:
            return binomial(value_of(self._braced()), value_of(self._braced()))
        return self._group(token)

    def _quotient(self, upper: Node, lower: Node) -> ProductTerm:
        over = value_of(upper) if isinstance(upper, ProductTerm) else upper
        # A divisor whose value is computed here cannot lose its brackets later.
        return ProductTerm(
            (over, PowerTerm(lower if self._as_code else value_of(lower), Fraction(-1)))
        )

    def _braced(self) -> Node:
        self._expect("{")
        node = self._sum()
        self._expect("}")
        return node

    def _group(self, opener: str) -> Node:
        closing = []
        if opener in SIZED:
            closing.append(SIZED[opener])
            opener = self._advance()
        node = self._sum()
        if opener in FLOORS:
            node = math.floor(value_of(node))
            closing.append(FLOORS[opener])
        elif opener in BRACKETS:
            if opener == "{" and self._token == r"\choose" and not closing:
                self._advance()
                node = binomial(value_of(node), value_of(self._sum()))
            closing.append(BRACKETS[opener])
        else:
            raise NoNumber
        for closer in closing:
            self._expect(closer)
        return node

    def _euler(self) -> Node:
        if self._as_code or self._complete:
            self._expect("^")
            power = exp(self._script())
            if self._token == "_":
                raise NoNumber
            return power
        if self._token != "^":
            return math.e
        self._advance()
        return math.exp(value_of(self._script()))

    def _root(self) -> Node:
        exponent: Fraction | Number = Fraction(1, 2)
        if self._token == "[":
            self._advance()
            root = self._sum()
            self._expect("]")
            exponent = 1 / root if isinstance(root, Fraction) else 1 / value_of(root)
        base = self._braced()
        return PowerTerm(base if isinstance(base, Fraction) else value_of(base), exponent)

    def _function(self) -> Node:
        name = self._advance()
        scripts: dict[str, Fraction | Number] = {}
        while self._token in ("_", "^") and self._token not in scripts:
            mark = self._advance()
            scripts[mark] = self._script()
        argument = self._argument()
        power = scripts.get("^", Fraction(0))
        if name in INVERSES and is_written(power, Fraction(-1)):
            return INVERSES[name](value_of(argument))
        value: Node
        if name == r"\exp":
            value = exp(argument)
        elif name == r"\log":
            value = math.log(value_of(argument), value_of(scripts.get("_", Fraction(10))))
        else:
            value = FUNCTIONS[name](value_of(argument))
        # latex2sympy2 tests the exponent for truth, so it ignores an exponent of 0.
        return value if is_written(power, Fraction(0)) else PowerTerm(value_of(value), power)

    def _argument(self) -> Node:
        """Parse the argument of a function. Without parentheses, the argument is a product that
        ends at the next function."""
        if self._token in SIZED and _OPENS.match(self._text, self._end):
            self._advance()
        if self._token != "(":
            return self._product(bare=True)
        self._advance()
        node = self._sum()
        if self._token in SIZED.values():
            self._advance()
        self._expect(")")
        return node
