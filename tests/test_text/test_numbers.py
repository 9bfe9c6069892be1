"""Numbers in LaTeX: ours by hand, theirs as latex2sympy2 1.9.1 (antlr4 4.7.2, sympy 1.14) says."""

import math

import pytest

from snellen.text.number_values import Number
from snellen.text.numbers import evaluated_value, latex2sympy_value, latex_value


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("60", 60),
        ("-4", -4),
        ("2.0", 2),
        ("1,000", 1000),
        (".5", 0.5),
        (r"\frac{3}{4}", 0.75),
        (r"$\dfrac{3}{4}$", 0.75),
        (r"2\sqrt{9}-1", 5.0),
        (r"\sqrt[3]{27}", 3.0),
        (r"4\pi", 12.566370614359172),
        ("2^{10}", 1024),
        ("2^{-1}", 0.5),
        (r"-\frac{1}{2\cdot3}", -1 / 6),
        ("-3/2.5", -1.2),
        (r"\frac{1}{2^{-1}}", 2.0),
        (r"\left(2+3\right)\cdot4", 20),
        ("5!", 120),
        (r"\binom{5}{2}", 10),
        (r"\sin\frac{\pi}{6}", 0.5),
        (r"\log 100", 2.0),
        (r"50\%", 0.5),
        ("2:4", 0.5),
    ],
)
def test_an_expression_is_the_number_it_stands_for(text: str, number: Number) -> None:
    value = latex_value(text)
    assert value is not None
    assert type(value) is type(number)
    assert math.isclose(value, number, rel_tol=1e-12)


@pytest.mark.parametrize(
    "text",
    ["", " ", "x", "5x", "5)", "5 rows", "1, 2", "1<2", "x=5", "5%", "½", "(5", "{}", "2^", "1/0"],
)
def test_what_is_no_number_as_a_whole_has_none(text: str) -> None:
    assert latex_value(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "9^{9^9}",
        "9^{9^{9^9}}",
        "1000000!",
        "12!!",
        r"\binom{99999999}{49999999}",
        "2^{99999}" * 200,
        "1,000" * 100_000,
        r"\pi" * 100_000,
        "(" * 100_000 + "5" + ")" * 100_000,
        "-" * 100_000 + "5",
        "2^" * 100_000 + "2",
        "9" * 100_000,
        "10^{400}/3",
    ],
    ids=lambda text: text[:12],
)
def test_what_would_grow_without_bounds_ends_at_once_without_a_number(text: str) -> None:
    assert latex_value(text) is None
    assert latex2sympy_value(text) is None
    assert evaluated_value(text) is None


THEIRS: list[tuple[str, str, Number | None]] = [
    ("a bracket too many ends it", "5)", 5),
    ("a full stop ends it", "5.", 5),
    ("a full stop ends it, whatever follows", "12.therefore", 12),
    ("what follows the ending token is not looked at", "5)☃", 5),
    ("a sign that is no token spoils it where it is looked at", "5☃", None),
    ("a word that is a token ends it", "5rows", 5),
    ("a word that begins with a token ends it", "4triangles", 4),
    ("a word of letters spoils it", "4cubes", None),
    ("a subscript ends it", "5_2", 5),
    ("a subscript behind an exponent is left out", "2^3_4", 8),
    ("an arrow ends it", r"5\to3", 5),
    ("a comma goes on", "5,", None),
    ("a list is not a number", "5,6", None),
    ("a sign goes on", "5-", None),
    ("groups of three digits are one number", "1,000", 1000),
    ("a fourth digit is another factor", "1,0000", 0),
    ("two points are two numbers", "1.2.3", 0.36),
    ("side by side is a product", r"2\frac{1}{2}", 1.0),
    ("side by side binds more than a division", "2/3 5", 0.13),
    ("times and over bind equally", "2/3*5", 3.33),
    ("a ratio is a division", "2:3", 0.67),
    ("over is a division", r"5\over2", 2.5),
    ("a division is a float", "4/2", 2.0),
    ("a decimal may be whole", "2.0", 2),
    ("powers bind from the left", "2^3^2", 64),
    ("a bare exponent is one atom", "2^-1", None),
    ("two stars are none", "2**3", None),
    ("a factorial behind a power takes it all", "2^3!", 40320),
    ("a power behind a factorial ends it", "3!^2", 6),
    ("no factorial of a fraction", "2.5!", None),
    ("a prime is left out", "5'", 5),
    ("no braces, no root", r"\sqrt2", None),
    ("no braces, no fraction", r"\frac12", None),
    ("a root of a negative number has no value", r"\sqrt{-1}", None),
    ("nor has a complex power", "(-8)^{1/3}", None),
    ("a root with an index", r"\sqrt[3]{8}", 2.0),
    ("e alone has no value", "e", None),
    ("e times ten to the ... is e", "1e5", None),
    ("e with an exponent", "e^2", 7.39),
    ("e to the first is e alone", "e^{1}", None),
    ("a natural logarithm has e in it", r"\ln 2", None),
    ("a logarithm has base ten", r"\log 100", 2.0),
    ("or another", r"\log_2 8", 3.0),
    ("angles are radians", r"\sin 30", -0.99),
    ("a bare argument is a product", r"\sin 2*3", -0.28),
    ("but not in brackets", r"\sin(2)*3", 2.73),
    ("nor past another function", r"\sin 2 \cos 3", -0.9),
    ("a root is a function", r"\sin 2\sqrt{3}", 1.57),
    ("the power -1 is the inverse", r"\sin^{-1}(0.5)", 0.52),
    ("the power 0 is left out", r"\sin^0 5", -0.96),
    ("an absolute value has no name", "|5|", None),
    ("nor has a ceiling", r"\lceil2.5\rceil", None),
    ("a floor has", r"\lfloor2.5\rfloor", 2),
    ("a relation is 1", "3<5", 1),
    ("or 0", r"5\le3", 0),
    ("and goes on from the left", "3>2>1", 0),
    ("an equation is none", "3=3", None),
    ("a percent sign without a backslash is not a token", "50%", None),
    ("arrangements", "(5)_{2}", 20.0),
    ("brackets lost behind a negative number, decimal", "-3/2.675", -3 / 107 / 40),
    ("brackets lost behind a negative number, product", r"-\frac{3}{2\pi}", -4.71),
    ("brackets lost behind a minus sign", r"1-\frac{1}{2\sqrt{3}}", 0.13),
    ("the root comes first there", r"-\frac{2}{\pi\sqrt{3}}", -3.63),
    ("brackets kept without another whole number", r"-\frac{\sqrt{3}}{2\pi}", -0.28),
    ("brackets kept around a negative divisor", r"-\frac{2}{-3*5}", 0.13),
    ("brackets kept around two divisors", r"-\frac{1}{2}\frac{1}{2\pi}", -0.08),
    ("brackets lost around an inverse", r"\frac{1}{2^{-1}}", 0.5),
    ("brackets kept around an inverse", r"\frac{3}{2^{-1}}", 6.0),
    ("a negative power is a divisor", r"15\cdot10^{-3}", 0.01),
    ("spaces by name", r"~\quad5\,$", 5),
    ("a form feed is not a token", "\x0crac{36}{13}", None),
    ("infinity has no value", r"\infty", None),
    ("letters have none", "5x", None),
]


@pytest.mark.parametrize(
    ("text", "number"), [row[1:] for row in THEIRS], ids=[r[0] for r in THEIRS]
)
def test_their_reading_is_kept_with_its_quirks(text: str, number: Number | None) -> None:
    value = latex2sympy_value(text)
    if number is None:
        assert value is None
    else:
        assert value is not None
        assert repr(round(value, 2)) == repr(round(number, 2))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5 rows", 5),
        ("5.", 5),
        ("e", math.e),
        ("3e0", 0),
        ("e^{2}", math.exp(2)),
        ("$e_0$", math.e),
        ("x=12", 12),
        ("v_{max} = 3", 3),
        (r"\theta=x=3", 3),
        (r"-\frac{1}{4\pi}", -1 / (4 * math.pi)),
        (r"50\%", 0.5),
        ("0 cm", 0),
        (r"0 \text{m}", 0),
        ("option 0", 0),
        ("0/x", 0),
        ("x^0", 1),
        ("3 cm", None),
        ("2x=6", None),
        ("e=3", None),
        ("i", None),
        ("3<5", None),
        ("50%", None),
        ("0 degrees", None),
        ("0 - none", None),
        ("[1,2]", None),
        (r"\frac12", None),
        ("", None),
    ],
)
def test_an_evaluated_value_is_that_of_latex2sympy2_and_evalf(
    text: str, number: Number | None
) -> None:
    value = evaluated_value(text)
    assert value == number if number is None else value == pytest.approx(number, rel=1e-12)
