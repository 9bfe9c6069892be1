r"""Computes the values of the parsed parts of a LaTeX expression, with limits on their size.

latex2sympy2 converts LaTeX to a sympy expression, sympy prints the expression as Python code, and
Python runs that code. The value of a float depends on the order of the terms and on the parentheses
in the code, so this module reproduces the order and the parentheses. `numbers.py` lists the cases
in which the result is not mathematically correct.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Number = int | float

MAX_BITS = 100_000
"""The maximum number of bits of a whole number. `9^{9^9}` is refused before it is computed."""
MAX_FACTORIAL = 5_000


class NoNumber(Exception):
    """The exception that is raised if a text has no value."""


@dataclass(frozen=True)
class PowerTerm:
    """A power that is not computed yet. A square root is a power with the exponent 1/2, and a
    divisor is a power with the exponent -1."""

    base: "Fraction | Number | PowerTerm | ProductTerm"
    """The base of the power."""
    exponent: Fraction | Number
    """The exponent of the power."""


@dataclass(frozen=True)
class ProductTerm:
    """A product that is not computed yet."""

    factors: tuple[Fraction | Number | PowerTerm, ...]
    """The factors, none of which is a product."""


Node = Fraction | Number | PowerTerm | ProductTerm
"""A Fraction is a number that was written in the text, and an int or float is a computed number.
The difference matters for exponents. Only a written -1 makes a divisor (or, after the name of a
function, the inverse function), only a written 1/2 makes a square root, and only a written 0 after
the name of a function is ignored."""
Factors = tuple[Fraction | Number | PowerTerm, ...]


def value_of(node: Node) -> Number:
    if isinstance(node, Fraction):
        return node.numerator if node.denominator == 1 else node.numerator / node.denominator
    if isinstance(node, PowerTerm):
        return _raised(value_of(node.base), node.exponent)
    if isinstance(node, ProductTerm):
        return _product_value(node.factors)
    return node


def times(left: Node, right: Node) -> ProductTerm:
    factors: list[Fraction | Number | PowerTerm] = []
    for node in (left, right):
        factors += node.factors if isinstance(node, ProductTerm) else [node]
    return ProductTerm(tuple(factors))


def negated(node: Node) -> Node:
    return -node if isinstance(node, Fraction) else times(Fraction(-1), node)


def _product_value(factors: Factors) -> Number:
    r"""Return the value that Python computes for a product from the code that latex2sympy2 and
    sympy print.

    In two cases, the printed code omits the parentheses around a single divisor, which changes the
    value. One case is a negative dividend: -3/2.675 becomes -3/107/40, and -\frac{1}{2\pi} becomes
    -1*1/2*pi. The other case is a divisor 1/x: \frac{1}{2^{-1}} becomes 1/1/2.
    """
    in_order = _in_order(factors)
    over, under = _written_out(factors)
    value = _multiplied(over)
    if len(under) == 1:
        lower = under[0]
        if isinstance(lower, PowerTerm) and in_order and _is_inverse(lower):
            return value / value_of(PowerTerm(lower.base, -lower.exponent))
        if isinstance(lower, Fraction) and lower > 0 and _is_negative(factors):
            return value / lower.numerator / lower.denominator
        if isinstance(lower, ProductTerm) and in_order and _is_negative(factors):
            return _divided_bare(value, lower)
    return _divided(value, [value_of(factor) for factor in under])


def _divided_bare(value: Number, lower: ProductTerm) -> Number:
    """Divide a value by a product that is printed without parentheses: a divisor a * b / c gives
    `value / a * b / c`. A negative divisor keeps its parentheses."""
    if _is_negative(lower.factors):
        return value / value_of(lower)
    over, under = _written_out(lower.factors)
    if over:
        value = _multiplied([value / over[0], *over[1:]])
    return _divided(value, [value_of(factor) for factor in under])


def _written_out(
    factors: Factors,
) -> tuple[list[Number], list[Node]]:
    """Return the factors of the numerator and of the denominator."""
    in_order = _in_order(factors)
    over: list[Number] = []
    under: list[Node] = []
    for factor in factors if in_order else sorted(factors, key=_rank):
        if isinstance(factor, PowerTerm) and _is_below_zero(factor.exponent):
            # 15 · 10^{-3} is computed as 15/1000, since 15 · 0.001 would be rounded differently.
            inverse = PowerTerm(factor.base, -factor.exponent)
            under.append(factor.base if factor.exponent == -1 else value_of(inverse))
        elif isinstance(factor, Fraction) and not in_order:
            over.append(factor.numerator)
            if factor.denominator > 1:
                under.append(factor.denominator)
        else:
            over.append(value_of(factor))
    return over, under


def _in_order(factors: Factors) -> bool:
    """Return whether latex2sympy2 and sympy keep the written order of the factors, instead of
    moving numbers to the front. The order is kept if the first factor is a written 1, or if any
    other factor is a plain number (see `_is_plain`)."""
    first, *others = factors
    return is_written(first, Fraction(1)) or any(map(_is_plain, others))


def _is_plain(factor: Fraction | Number | PowerTerm) -> bool:
    """Return whether a factor is a written number, or a power whose base and exponent are written
    whole numbers."""
    if not isinstance(factor, PowerTerm):
        return isinstance(factor, Fraction)
    parts = (factor.base, factor.exponent)
    return all(isinstance(part, Fraction) and part.denominator == 1 for part in parts)


def _is_inverse(power: PowerTerm) -> bool:
    return isinstance(power.exponent, Fraction) and power.exponent in (-1, Fraction(-1, 2))


def _rank(factor: Fraction | Number | PowerTerm) -> int:
    if isinstance(factor, Fraction):
        return 0
    return 1 if isinstance(factor, PowerTerm) and isinstance(factor.base, Fraction) else 2


def _is_negative(factors: Factors) -> bool:
    return _is_below_zero(factors[0])


def _is_below_zero(node: Node) -> bool:
    return isinstance(node, Fraction) and node < 0


def is_written(node: Node, number: Fraction) -> bool:
    return isinstance(node, Fraction) and node == number


def _multiplied(factors: Sequence[Number]) -> Number:
    """Return the product. An unknown factor is NaN, and 0 times an unknown factor is 0."""
    product: Number = 1
    for factor in factors:
        product = bounded(product * factor)
    return 0 if 0 in factors and product != product else product


def _divided(value: Number, under: Sequence[Number]) -> Number:
    if not under:
        return value
    divisor = _multiplied(under)
    return value if value == 0 and divisor != divisor else value / divisor


def _raised(base: Number, exponent: Fraction | Number) -> Number:
    if isinstance(exponent, Fraction):
        if exponent == Fraction(1, 2):
            return math.sqrt(base)
        if exponent == Fraction(-1, 2):
            return 1 / math.sqrt(base)
        if exponent == -1:
            return 1 / base
        exponent = value_of(exponent)
    are_integers = isinstance(base, int) and isinstance(exponent, int)
    if are_integers and int(base).bit_length() * exponent > MAX_BITS:
        raise NoNumber
    raised: int | float | complex = base**exponent
    if isinstance(raised, complex):
        raise NoNumber
    return raised


def factorial(value: Number) -> Number:
    if not isinstance(value, int) or value > MAX_FACTORIAL:
        raise NoNumber
    return math.factorial(value)


def binomial(upper: Number, lower: Number) -> Fraction:
    if upper != int(upper) or lower != int(lower) or upper > MAX_FACTORIAL:
        raise NoNumber
    return Fraction(math.comb(int(upper), int(lower)))


def exp(argument: Node) -> Node:
    """Compute an exponential. exp(1) has no value, because sympy prints exp(1) as the letter E."""
    if is_written(argument, Fraction(0)):
        return Fraction(1)
    if is_written(argument, Fraction(1)):
        raise NoNumber
    return math.exp(value_of(argument))


def bounded(value: Number) -> Number:
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise NoNumber
    return value
