"""Compare pairs of formulas with sympy, in a process of its own (`worker_process.py`).

The rules are those of OpenBMB/OlympiadBench@ba5b26a7e2849940b598a9159c1190daa2b9175f:inference/
code/math_judger.py#L119-L322. Line numbers in comments refer to this file.
"""

import math
import sys
from collections.abc import Callable
from typing import Any

from snellen.benchmarks.families.worker_process import serve

MOST_EXPONENT = 1000


def same(first: str, second: str, precision: float, kit: bool) -> bool:
    """Whether two answers are equal (`is_equal`). `first` is the reply's. With `kit`, the rules are
    those of VLMEvalKit, whose comparison of expressions stops with an error unless sympy builds the
    same expression from both."""
    if is_interval(first) and is_interval(second):
        decision = outcome(same_interval, first, second, precision, kit)
        if decision is not False:
            return decision is True
    decision = outcome(same_expression, first, second, precision, kit)
    if decision and not ("=" in first and "=" in second):
        return True
    return outcome(same_equation, first, second) is True


def outcome(rule: Callable[..., bool], *arguments: object) -> bool | None:
    """What a rule decides; None if it stops with an error. The authors' code catches all errors.

    Raises:
        MemoryError: the comparison needs more memory than it gets, which decides nothing.
    """
    try:
        return rule(*arguments)
    except MemoryError:
        raise
    except Exception:
        return None


def is_interval(text: str) -> bool:
    return text.startswith(("(", "[")) and text.endswith((")", "]"))


def same_interval(first: str, second: str, precision: float, kit: bool) -> bool:
    """Whether all bounds are equal. Bounds that the other interval does not have are not compared,
    since the authors' code zips them (#L303)."""
    parts, others = first.split("\\cup"), second.split("\\cup")
    if len(parts) != len(others):
        return False
    for part, other in zip(parts, others, strict=True):
        # With blanks around \cup, a part begins with a blank, and the strip leaves its brackets.
        if (part[0], part[-1]) != (other[0], other[-1]):
            return False
        bounds = zip(part.strip("[]()").split(","), other.strip("[]()").split(","), strict=False)
        if not all(same_expression(bound, paired, precision, kit) for bound, paired in bounds):
            return False
    return True


def same_expression(first: str, second: str, precision: float, kit: bool) -> bool:
    """Whether two expressions are equal (#L197-L244). Of an equation, the text between the first
    two equality signs counts."""
    sympy = library()

    texts = [(text.split("=")[1] if "=" in text else text).strip() for text in (first, second)]
    right = parsed(texts[1])  # first, since the reply's may be long
    left = parsed(texts[0])
    if left == right:
        return True
    if kit:
        raise NotImplementedError("VLMEvalKit calls sympy_sub_pi, which it no longer has")
    pi = parsed("\\pi")
    left, right = left.subs(pi, math.pi), right.subs(pi, math.pi)
    symbolic = left.has(sympy.Symbol)
    if symbolic != right.has(sympy.Symbol):
        return False
    if not symbolic:
        return outcome(same_number, left, right, precision) is True
    small = outcome(lambda: abs(sympy.simplify(left - right).evalf()) < 1e-3)
    # A difference that has symbols raises TypeError in `bool`: whether it is small is not known. In
    # the authors' code, this happens outside the function's `try` too.
    return bool(small)


def same_number(left: Any, right: Any, precision: float) -> bool:
    """Whether two numbers differ by no more than the precision."""
    if not (computable(left) and computable(right)):
        return False
    return bool(abs(left.evalf() - right.evalf()) <= precision * 1.01)


def computable(value: Any) -> bool:
    """Whether a value is no power with a large exponent or with symbols (#L398-L427). Powers inside
    of sums and products are not looked at."""
    sympy = library()

    if not isinstance(value, sympy.Pow):
        return True
    base, exponent = value.as_base_exp()
    return bool(base.is_number and exponent.is_number and abs(exponent.evalf()) <= MOST_EXPONENT)


def same_equation(first: str, second: str) -> bool:
    """Whether the quotient of two equations, each as a term that equals 0, is an integer, or the
    quotient's inverse is (#L247-L282)."""
    sympy = library()

    left, right = zero_term(first), zero_term(second)
    quotients = (sympy.simplify(left / right), sympy.simplify(right / left))
    return any(quotient.is_Integer and quotient != 0 for quotient in quotients)


def zero_term(text: str) -> Any:
    sympy = library()

    left, right = map(parsed, text.split("="))
    # Of an equation that is always or never true, sympy makes a truth value, which has no sides.
    equation = sympy.Eq(left, right)
    return sympy.simplify(equation.lhs - equation.rhs)


def library() -> Any:
    """The package sympy, whose functions have no types."""
    import sympy.parsing.latex

    return sympy


def parsed(text: str) -> Any:
    return library().parsing.latex.parse_latex(text)


def load() -> None:
    """Load sympy and its parser.

    Raises:
        ImportError: sympy, or the package that its parser needs, is not installed.
    """
    parsed("\\frac{1}{2}")


if __name__ == "__main__":
    sys.set_int_max_str_digits(1_000_000)  # as in the authors' code, #L12
    serve(same, load)
