r"""The number that a LaTeX expression stands for, read with bounds and without any evaluator of code.

It gives what latex2sympy2 1.9.1 followed by Python's arithmetic gives, since the authors of several benchmarks compare answers
by those two. What that means, each held by a test:

- Reading stops, without complaint, at the first token that cannot go on: `5)`, `5.` and `4 triangles` are 5, 5 and 4 (`tr` is
  a token of theirs, the trace). What follows that one token is not even looked at.
- Two things side by side are multiplied: `2\frac{1}{2}` is 1, `1,0000` is 1,000 × 0.
- `2:3` and `3\over4` are divisions; `/`, `\cdot` and the like bind equally and from the left; `2^3^2` is 64.
- A decimal without a fraction is a whole number (`2.0` is 2, an int); any division is a float.
- `3<5` is 1. Angles are radians. `\log` has base 10.
- Nothing has a value that holds a letter, `e` without an exponent, `=`, a list, a percent sign without a backslash,
  an absolute value, `\ceil`, `\ln`, `\max`, infinity, or a root of a negative number.

Where this differs from theirs (they give a number, this gives None): a value of more than 100,000 bits; nesting deeper than
60; matrices, `\gcd`, `\lcm`, `\max` and `\min` of one number, binomials of fractions; `5|_{x=3}`; a subscript that means nothing
to them (`2^3_4`, `\sin_2 3`); `\tau`, which is 2π to them until they have met a `dx`, and nothing after; `x=5`, likewise 5.
Sums of three or more terms are added in another order there, so the last binary digit may differ.
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
MAX_FACTORIAL = 5_000

NUMBER = r"[0-9]*(?:,[0-9]{3})*\.[0-9]+|[0-9]+(?:,[0-9]{3})*"
PERCENT = "\\%"
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
ENDS = frozenset(
    r"""
    . _ & \\ <-> <=> \leftrightarrow \xrightarrow \to \rightarrow \longrightarrow \choose \rvert \rceil \urcorner
    \end{matrix} \end{pmatrix} \end{bmatrix} \end{vmatrix} matrix pmatrix bmatrix vmatrix arsinh arcsinh arcosh arccosh
    artanh arctanh gcd lcm floor ceil eye zeros ones cols rows diag norm rank trace tr rref hstack vstack orth ortho
    orthogonal orthogonalize nullspace eig eigen diagonalize eigenvals eigenvalues eigenvects eigenvectors svd
    """.split()
)
"""Tokens that never go on from a complete expression. Closing brackets are the others."""

_STARTS = frozenset({*BRACKETS, *FLOORS, *SIZED, *BINOMIALS, *FUNCTION_LIKE, "number", r"\frac", r"\pi"})
"""Tokens that begin a factor; behind another factor, one of them means a product."""
_TOKENS = {
    *(_STARTS - {"number"}), *SIGNS, *TIMES, *OVER, *TRANSPOSED, *RELATIONS, *BRACKETS.values(), *FLOORS.values(),
    *SIZED.values(), *ENDS, "!", "^",
}  # fmt: skip
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


def latex_value(text: str, *, whole: bool = False) -> Number | None:
    r"""The number that a LaTeX expression stands for, or None; with `whole`, none where reading stopped before the end.

    >>> latex_value(r"2\sqrt{3}-1"), latex_value("1,000"), latex_value(r"\frac{6}{2}")
    (2.4641016151377544, 1000, 3.0)
    >>> latex_value("9^{9^9}") is None
    True
    """
    for old, new in _REWRITTEN:
        text = text.replace(old, new)
    text = _ARRANGED.sub(r"\\frac{(\1)!}{((\1)-(\2))!}", text)
    try:
        return _Reader(_SPACES.sub(" ", text)).relation(whole)
    except (_NoNumber, ArithmeticError, ValueError):
        return None


class _NoNumber(Exception):
    """The text has no value."""


@dataclass(frozen=True)
class _Power:
    """Not computed yet: a root is one with the exponent 1/2, a divisor one with the exponent -1."""

    base: "Fraction | Number | _Product"
    exponent: Fraction | Number


@dataclass(frozen=True)
class _Product:
    """Factors, none of them a product."""

    factors: tuple[Fraction | Number | _Power, ...]


_Node = Fraction | Number | _Power | _Product
"""A Fraction is a number as it was written; an int or float has been computed. The difference counts: only what was written
as -1, 1/2 or 0 is an inverse, a root or nothing at all where it is an exponent."""


class _Reader:
    """Reads from the left, one token ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self._depth = 0
        self._number = Fraction(0)
        self._token = ""
        self._advance()

    def _advance(self) -> str:
        """Go to the next token; gives the one that was left."""
        left = self._token
        found = _TOKEN.match(self._text, self._end)
        if found is None:
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

    def relation(self, whole: bool) -> Number:
        value = _value(self._sum())
        while self._token in RELATIONS:
            holds = RELATIONS[self._advance()]
            value = int(holds(value, _value(self._sum())))
        if whole and self._token:
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
                product = _quotient(product, self._signed(bare))
        return product

    def _signed(self, bare: bool) -> _Node:
        negative = False
        while self._token in SIGNS:
            negative ^= self._advance() == "-"
        factors = self._postfixed()
        while self._token in _STARTS and not (bare and self._token in FUNCTION_LIKE):
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
            node = _Power(node if isinstance(node, Fraction) else _value(node), self._script())
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
        if token not in _STARTS:
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
            return _quotient(self._braced(), self._braced())
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
        return _Power(_value(self._braced()), exponent)

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
        """In round brackets that hold all of it, or bare: what follows as far as no further function comes."""
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


def _quotient(upper: _Node, lower: _Node) -> _Product:
    over = _value(upper) if isinstance(upper, _Product) else upper
    return _Product((over, _Power(_value(lower) if isinstance(lower, _Power) else lower, Fraction(-1))))


def _negated(node: _Node) -> _Node:
    return -node if isinstance(node, Fraction) else _times(Fraction(-1), node)


def _product_value(factors: tuple[Fraction | Number | _Power, ...]) -> Number:
    """The product as they write it out and compute it, wrongly where it begins with a negative number and has one divisor.

    They leave out the brackets there: -3/2.675 is -3/107/40, and -\\frac{1}{2\\pi} is -1*1/2*pi.
    """
    over, under = _written_out(factors)
    value = _multiplied(over)
    if len(under) == 1 and _is_negative(factors):
        lower = under[0]
        if isinstance(lower, Fraction) and lower > 0:
            return value / lower.numerator / lower.denominator
        if isinstance(lower, _Product) and _in_order(factors) and not _is_negative(lower.factors):
            first, *more = lower_over if (lower_over := _written_out(lower.factors)[0]) else [1]
            value = _multiplied([value / first, *more])
            under = _written_out(lower.factors)[1]
    return value / _multiplied([_value(factor) for factor in under]) if under else value


def _written_out(
    factors: tuple[Fraction | Number | _Power, ...],
) -> tuple[list[Number], list[Fraction | Number | _Product]]:
    """Numerator and denominator."""
    in_order = _in_order(factors)
    over: list[Number] = []
    under: list[Fraction | Number | _Product] = []
    for factor in factors if in_order else sorted(factors, key=_rank):
        if isinstance(factor, _Power) and isinstance(factor.exponent, Fraction) and factor.exponent < 0:
            # 15 · 10^{-3} is 15/1000, which rounds otherwise than 15 · 0.001.
            positive = _Power(factor.base, -factor.exponent)
            under.append(factor.base if factor.exponent == -1 else _value(positive))
        elif isinstance(factor, Fraction) and not in_order:
            over.append(factor.numerator)
            if factor.denominator > 1:
                under.append(factor.denominator)
        else:
            over.append(_value(factor))
    return over, under


def _in_order(factors: tuple[Fraction | Number | _Power, ...]) -> bool:
    """Whether they write the factors out as they come, and not numbers first; so where two written numbers meet."""
    first, *others = factors
    return _is_written(first, Fraction(1)) or any(
        isinstance(factor, Fraction)
        or isinstance(factor, _Power)
        and all(isinstance(n, Fraction) and n.denominator == 1 for n in (factor.base, factor.exponent))
        for factor in others
    )


def _rank(factor: Fraction | Number | _Power) -> int:
    if isinstance(factor, Fraction):
        return 0
    return 1 if isinstance(factor, _Power) and isinstance(factor.base, Fraction) else 2


def _is_negative(factors: tuple[Fraction | Number | _Power, ...]) -> bool:
    return isinstance(factors[0], Fraction) and factors[0] < 0


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
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * exponent > MAX_BITS:
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
