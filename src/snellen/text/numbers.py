r"""The number that a LaTeX expression stands for, read within bounds; no code is evaluated.

`latex_value` is ours: all of the text is an expression, and the number is the right one.
`latex2sympy_value` gives what latex2sympy2 1.9.1, sympy's printing and Python's arithmetic give one
after the other, since authors of benchmarks compare answers by these. There, each with a test:

- Reading stops, without complaint, at the first token that cannot go on, and what follows that
  token is not looked at: `5)`, `5.` and `5 rows` are 5, and so is `5 triangles`, since `rows` and
  `tr` are tokens (the trace of a matrix).
- Two things side by side are multiplied, in ours too: `2\frac{1}{2}` is 1, `1,0000` is 1,000 × 0.
- `2:3` and `3\over4` are divisions. `/`, `:`, `\cdot` bind equally, from the left, and less than
  standing side by side. `2^3^2` is 64.
- A decimal without a fraction is a whole number (`2.0` is the int 2); any division is a float.
- Brackets around a divisor get lost behind a negative number and around 1/x (`_product_value`).
- `3<5` is 1. Angles are radians. `\log` has base 10. `\sin^0 5` is `\sin 5`.
- Nothing has a value that holds a letter, `e` without an exponent, `=`, a list, `%` without a
  backslash, an absolute value, `\lceil`, `\ln`, infinity, or a root of a negative number.

Where theirs gives a number and this None: values of more than 100,000 bits, nested deeper than 60
or longer than 1,000 tokens; determinants, `\operatorname`, `\gcd`, `\lcm`, `\max` and `\min` of one
number, binomials of anything but whole numbers from 0 to 5,000; `5|_{x=3}`; subscripts with letters
that it ignores (`2^3_n`); `e^{-\infty}`; roots whose index divides by 0; `\tau` and `x=5`, which
are 2π and 5 to it until it has met a `dx`, and nothing after. The last binary digit may differ:
sums of three or more terms are added in another order there, and the factors of a product may be
multiplied in another.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

Number = int | float

MAX_BITS = 100_000
"""Of a whole number. `9^{9^9}` is refused before it is computed."""
MAX_DEPTH = 60
"""Of brackets within brackets."""
MAX_TOKENS = 1_000
MAX_FACTORIAL = 5_000

NUMBER = r"[0-9]*(?:,[0-9]{3})*\.[0-9]+|[0-9]+(?:,[0-9]{3})*"
SIGNS = frozenset("+-")
TIMES = frozenset({"*", r"\times", r"\cdot"})
OVER = frozenset({"/", ":", r"\over", r"\div"})
TRANSPOSED = frozenset({"'", r"^{\top}"})  # of a number: itself
RELATIONS: Mapping[str, Callable[[Number, Number], bool]] = {
    "<": lambda left, right: left < right,
    r"\le": lambda left, right: left <= right,
    r"\leq": lambda left, right: left <= right,
    r"\leqslant": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    r"\ge": lambda left, right: left >= right,
    r"\geq": lambda left, right: left >= right,
    r"\geqslant": lambda left, right: left >= right,
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
"""What may not stand among the further factors of `\\sin 2 …` without brackets."""
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
"""Tokens that never go on from a complete expression. Closing brackets are the others."""

STARTS = frozenset(
    {*BRACKETS, *FLOORS, *SIZED, *BINOMIALS, *FUNCTION_LIKE, "number", r"\frac", r"\pi"}
)
"""Tokens that begin a factor; behind another factor, one of them means a product."""
CLOSING = frozenset({*BRACKETS.values(), *FLOORS.values(), *SIZED.values()})

_TOKENS = (STARTS - {"number"} | SIGNS | TIMES | OVER | TRANSPOSED | CLOSING | ENDS).union(
    RELATIONS, "!^"
)
_TOKEN = re.compile(
    rf"[ \t\r\n]*(?:(?P<number>{NUMBER})(?P<percent>\\%)?|(?P<token>(?!!=)(?:"
    + "|".join(re.escape(token) for token in sorted(_TOKENS, key=len, reverse=True))
    + r"))|\Z)"
)
_OPENS = re.compile(r"[ \t\r\n]*\(")
# (n)_{k} is written for the number of arrangements, n!/(n-k)!.
_ARRANGED = re.compile(r"\(([a-zA-Z0-9+\-*/\\ ]+?)\)_{([a-zA-Z0-9+\-*/\\ ]+?)}")
_REWRITTEN = ((r"\dfrac", r"\frac"), (r"\tfrac", r"\frac"))
_SPACES = re.compile(r"\\displaystyle|\\quad|\\qquad|~|\\,|\$")


def latex_value(text: str) -> Number | None:
    r"""The number that a LaTeX expression stands for, all of it; None for anything else.

    >>> latex_value(r"2\sqrt{3}-1"), latex_value("1,000"), latex_value(r"\frac{6}{2}")
    (2.4641016151377544, 1000, 3.0)
    >>> latex_value("9^{9^9}") is None, latex_value("5 rows") is None
    (True, True)
    """
    return _read(text, theirs=False)


def latex2sympy_value(text: str) -> Number | None:
    r"""The number that latex2sympy2, sympy's printing and Python's arithmetic give, or None.

    >>> latex2sympy_value("5 rows"), latex2sympy_value(r"-\frac{1}{2\cdot3}")
    (5, -1.5)
    """
    return _read(text, theirs=True)


def _read(text: str, *, theirs: bool) -> Number | None:
    for old, new in _REWRITTEN:
        text = text.replace(old, new)
    text = _ARRANGED.sub(r"\\frac{(\1)!}{((\1)-(\2))!}", text)
    try:
        return _LatexReader(_SPACES.sub(" ", text), theirs=theirs).read()
    except (_NoNumber, ArithmeticError, ValueError):
        return None


class _NoNumber(Exception):
    """The text has no value."""


@dataclass(frozen=True)
class _Power:
    """Not computed yet: a root is one with the exponent 1/2, a divisor one with the exponent -1."""

    base: "Fraction | Number | _Power | _Product"
    exponent: Fraction | Number


@dataclass(frozen=True)
class _Product:
    """Factors, none of them a product."""

    factors: tuple[Fraction | Number | _Power, ...]


_Node = Fraction | Number | _Power | _Product
"""A Fraction is a number as it was written; an int or float has been computed. The difference
counts: only what was written as -1, 1/2 or 0 is an inverse, a root or nothing as an exponent."""
_Factors = tuple[Fraction | Number | _Power, ...]


class _LatexReader:
    """Reads from the left, one token ahead."""

    def __init__(self, text: str, *, theirs: bool) -> None:
        self._text = text
        self._theirs = theirs
        self._end = 0
        self._depth = 0
        self._left = MAX_TOKENS
        self._number = Fraction(0)
        self._token = ""
        self._advance()

    def _advance(self) -> str:
        """Go to the next token; gives the one that was left."""
        left = self._token
        found = _TOKEN.match(self._text, self._end)
        self._left -= 1
        if found is None or not self._left:
            raise _NoNumber
        self._end = found.end()
        self._token = found["token"] or ""
        if digits := found["number"]:
            self._token = "number"
            self._number = Fraction(digits.replace(",", "")) / (100 if found["percent"] else 1)
        return left

    def _expect(self, token: str) -> None:
        if self._token != token:
            raise _NoNumber
        self._advance()

    def read(self) -> Number:
        value = _value(self._sum())
        while self._theirs and self._token in RELATIONS:
            holds = RELATIONS[self._advance()]
            value = int(holds(value, _value(self._sum())))
        if self._token and not self._theirs:
            raise _NoNumber
        return value

    def _sum(self) -> _Node:
        total = self._product()
        while self._token in SIGNS:
            sign = self._advance()
            term = self._product()
            total = _bounded(_value(total) + _value(term if sign == "+" else _negated(term)))
        return total

    def _product(self, *, bare: bool = False) -> _Node:
        product = self._signed(bare)
        while self._token in TIMES or self._token in OVER:
            if self._advance() in TIMES:
                product = _times(product, self._signed(bare))
            else:
                product = self._quotient(product, self._signed(bare))
        return product

    def _signed(self, bare: bool) -> _Node:
        negative = False
        while self._token in SIGNS:
            negative ^= self._advance() == "-"
        factors = self._postfixed()
        while self._token in STARTS and not (bare and self._token in FUNCTION_LIKE):
            factors = _times(factors, self._postfixed())
        return _negated(factors) if negative else factors

    def _postfixed(self) -> _Node:
        node = self._power()
        while self._token == "!" or self._token in TRANSPOSED:
            if self._advance() == "!":
                node = _factorial(_value(node))
        return node

    def _power(self) -> _Node:
        node = self._atom()
        while self._token == "^":
            self._advance()
            written = isinstance(node, Fraction) and self._theirs
            node = _Power(node if written else _value(node), self._script())
            if self._token == "_":
                self._advance()
                self._script()  # means nothing to them
        return node

    def _script(self) -> Fraction | Number:
        """What stands behind `^` or `_`."""
        if self._token not in ("number", r"\pi", "{"):
            raise _NoNumber
        node = self._atom()
        return node if isinstance(node, Fraction) else _value(node)

    def _atom(self) -> _Node:
        if self._depth == MAX_DEPTH:
            raise _NoNumber
        self._depth += 1
        node = self._deeper(self._token)
        self._depth -= 1
        return node

    def _deeper(self, token: str) -> _Node:
        if token not in STARTS:
            raise _NoNumber
        number = self._number
        if token in FUNCTIONS or token in (r"\log", r"\exp"):
            return self._function()
        self._advance()
        if token == "number":
            return number
        if token == r"\pi":
            return math.pi
        if token == r"\frac":
            return self._quotient(self._braced(), self._braced())
        if token == r"\sqrt":
            return self._root()
        if token == "e":
            self._expect("^")
            power = _exp(self._script())
            if self._token == "_":
                raise _NoNumber
            return power
        if token in BINOMIALS:
            return _binomial(_value(self._braced()), _value(self._braced()))
        return self._group(token)

    def _quotient(self, upper: _Node, lower: _Node) -> _Product:
        over = _value(upper) if isinstance(upper, _Product) else upper
        # A divisor that is computed at once cannot lose its brackets.
        return _Product((over, _Power(lower if self._theirs else _value(lower), Fraction(-1))))

    def _braced(self) -> _Node:
        self._expect("{")
        node = self._sum()
        self._expect("}")
        return node

    def _group(self, opener: str) -> _Node:
        closing = []
        if opener in SIZED:
            closing.append(SIZED[opener])
            opener = self._advance()
        node = self._sum()
        if opener in FLOORS:
            node = math.floor(_value(node))
            closing.append(FLOORS[opener])
        elif opener in BRACKETS:
            if opener == "{" and self._token == r"\choose" and not closing:
                self._advance()
                node = _binomial(_value(node), _value(self._sum()))
            closing.append(BRACKETS[opener])
        else:
            raise _NoNumber
        for closer in closing:
            self._expect(closer)
        return node

    def _root(self) -> _Node:
        exponent: Fraction | Number = Fraction(1, 2)
        if self._token == "[":
            self._advance()
            root = self._sum()
            self._expect("]")
            exponent = 1 / root if isinstance(root, Fraction) else 1 / _value(root)
        base = self._braced()
        return _Power(base if isinstance(base, Fraction) else _value(base), exponent)

    def _function(self) -> _Node:
        name = self._advance()
        scripts: dict[str, Fraction | Number] = {}
        while self._token in ("_", "^") and self._token not in scripts:
            mark = self._advance()
            scripts[mark] = self._script()
        argument = self._argument()
        power = scripts.get("^", Fraction(0))
        if name in INVERSES and _is_written(power, Fraction(-1)):
            return INVERSES[name](_value(argument))
        value: _Node
        if name == r"\exp":
            value = _exp(argument)
        elif name == r"\log":
            value = math.log(_value(argument), _value(scripts.get("_", Fraction(10))))
        else:
            value = FUNCTIONS[name](_value(argument))
        # They ask whether the exponent is "true", and so lose a 0.
        return value if _is_written(power, Fraction(0)) else _Power(_value(value), power)

    def _argument(self) -> _Node:
        """In round brackets, or bare: a product up to the next function."""
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


def _value(node: _Node) -> Number:
    if isinstance(node, Fraction):
        return node.numerator if node.denominator == 1 else node.numerator / node.denominator
    if isinstance(node, _Power):
        return _raised(_value(node.base), node.exponent)
    if isinstance(node, _Product):
        return _product_value(node.factors)
    return node


def _times(left: _Node, right: _Node) -> _Product:
    factors: list[Fraction | Number | _Power] = []
    for node in (left, right):
        factors += node.factors if isinstance(node, _Product) else [node]
    return _Product(tuple(factors))


def _negated(node: _Node) -> _Node:
    return -node if isinstance(node, Fraction) else _times(Fraction(-1), node)


def _product_value(factors: _Factors) -> Number:
    r"""The product as they write it out in Python's signs and then compute it.

    They leave out brackets around a single divisor in two cases, and so compute another number:
    behind a negative number (-3/2.675 becomes -3/107/40, and -\frac{1}{2\pi} becomes -1*1/2*pi),
    and around 1/x (\frac{1}{2^{-1}} becomes 1/1/2).
    """
    in_order = _in_order(factors)
    over, under = _written_out(factors)
    value = _multiplied(over)
    if len(under) == 1:
        lower = under[0]
        if isinstance(lower, _Power) and in_order and _is_inverse(lower):
            return value / _value(_Power(lower.base, -lower.exponent))
        if isinstance(lower, Fraction) and lower > 0 and _is_negative(factors):
            return value / lower.numerator / lower.denominator
        if isinstance(lower, _Product) and in_order and _is_negative(factors):
            return _divided_bare(value, lower)
    return value / _multiplied([_value(factor) for factor in under]) if under else value


def _divided_bare(value: Number, lower: _Product) -> Number:
    """`value / a * b / c` for a divisor a * b / c without brackets; a negative one keeps them."""
    if _is_negative(lower.factors):
        return value / _value(lower)
    over, under = _written_out(lower.factors)
    if over:
        value = _multiplied([value / over[0], *over[1:]])
    return value / _multiplied([_value(factor) for factor in under]) if under else value


def _written_out(
    factors: _Factors,
) -> tuple[list[Number], list[_Node]]:
    """Numerator and denominator."""
    in_order = _in_order(factors)
    over: list[Number] = []
    under: list[_Node] = []
    for factor in factors if in_order else sorted(factors, key=_rank):
        if isinstance(factor, _Power) and _is_below_zero(factor.exponent):
            # 15 · 10^{-3} is 15/1000, which rounds otherwise than 15 · 0.001.
            inverse = _Power(factor.base, -factor.exponent)
            under.append(factor.base if factor.exponent == -1 else _value(inverse))
        elif isinstance(factor, Fraction) and not in_order:
            over.append(factor.numerator)
            if factor.denominator > 1:
                under.append(factor.denominator)
        else:
            over.append(_value(factor))
    return over, under


def _in_order(factors: _Factors) -> bool:
    """Whether they write the factors out as they come, not numbers first: where numbers meet."""
    first, *others = factors
    return _is_written(first, Fraction(1)) or any(map(_is_plain, others))


def _is_plain(factor: Fraction | Number | _Power) -> bool:
    """A written number, or a power of whole ones."""
    if not isinstance(factor, _Power):
        return isinstance(factor, Fraction)
    parts = (factor.base, factor.exponent)
    return all(isinstance(part, Fraction) and part.denominator == 1 for part in parts)


def _is_inverse(power: _Power) -> bool:
    return isinstance(power.exponent, Fraction) and power.exponent in (-1, Fraction(-1, 2))


def _rank(factor: Fraction | Number | _Power) -> int:
    if isinstance(factor, Fraction):
        return 0
    return 1 if isinstance(factor, _Power) and isinstance(factor.base, Fraction) else 2


def _is_negative(factors: _Factors) -> bool:
    return _is_below_zero(factors[0])


def _is_below_zero(node: _Node) -> bool:
    return isinstance(node, Fraction) and node < 0


def _is_written(node: _Node, number: Fraction) -> bool:
    return isinstance(node, Fraction) and node == number


def _multiplied(factors: Iterable[Number]) -> Number:
    product: Number = 1
    for factor in factors:
        product = _bounded(product * factor)
    return product


def _raised(base: Number, exponent: Fraction | Number) -> Number:
    if isinstance(exponent, Fraction):
        if exponent == Fraction(1, 2):
            return math.sqrt(base)
        if exponent == Fraction(-1, 2):
            return 1 / math.sqrt(base)
        if exponent == -1:
            return 1 / base
        exponent = _value(exponent)
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and int(base).bit_length() * exponent > MAX_BITS:
        raise _NoNumber
    raised: int | float | complex = base**exponent
    if isinstance(raised, complex):
        raise _NoNumber
    return raised


def _factorial(value: Number) -> Number:
    if not isinstance(value, int) or value > MAX_FACTORIAL:
        raise _NoNumber
    return math.factorial(value)


def _binomial(upper: Number, lower: Number) -> Fraction:
    if upper != int(upper) or lower != int(lower) or upper > MAX_FACTORIAL:
        raise _NoNumber
    return Fraction(math.comb(int(upper), int(lower)))


def _exp(argument: _Node) -> _Node:
    """They write exp(1) as a letter, which then has no value."""
    if _is_written(argument, Fraction(0)):
        return Fraction(1)
    if _is_written(argument, Fraction(1)):
        raise _NoNumber
    return math.exp(_value(argument))


def _bounded(value: Number) -> Number:
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise _NoNumber
    return value
