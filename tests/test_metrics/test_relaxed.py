"""Relaxed accuracy, as pix2struct computes it; expected values by its rule, by hand."""

from typing import Any

import pytest

from snellen.metrics.relaxed import relaxed_accuracy


@pytest.mark.parametrize(
    ("answer", "target"),
    [
        ("100", "100"),
        ("105", "100"),
        ("95", "100"),
        ("-105", "-100"),
        ("1e2", "100"),
        ("1_00", "100"),
        ("+100", "100"),
        (" 100\n", "100"),
        ("\uff11\uff10\uff10", "100"),
        ("20%", "0.2"),
        ("0.2", "20%"),
        ("20%%", "0.2"),
        ("2015", "2010"),
        ("YES", "yes"),
        ("0", "0"),
        ("", ""),
    ],
)
def test_it_is_right(answer: str, target: str) -> None:
    assert relaxed_accuracy(answer, target) == 1.0


@pytest.mark.parametrize(
    ("reason", "answer", "target"),
    [
        ("more than 5 % off", "105.1", "100"),
        ("the other sign", "-100", "100"),
        ("per cent is a hundredth", "20%", "20"),
        ("thousands have no sign", "1,000", "1000"),
        ("nor has money", "$5", "5"),
        ("nor a unit", "5 cm", "5"),
        ("zero is compared as text", "0.0", "0"),
        ("and so is what is near it", "0.01", "0"),
        ("blanks count in a text", " yes", "yes"),
        ("a full stop, too", "Yes.", "yes"),
        ("a blank before zero", " 0", "0"),
        ("nothing said", "", "5"),
        ("infinite", "inf", "5"),
        ("not a number", "nan", "5"),
        ("which is near nothing", "nan", "nan"),
    ],
)
def test_it_is_wrong(reason: str, answer: str, target: str) -> None:
    assert relaxed_accuracy(answer, target) == 0.0, reason


@pytest.mark.parametrize(
    ("answer", "target", "words"),
    [
        ("105", ["100"], "the target must be text, not a list: "),
        (None, "100", "the answer must be text, not a NoneType: None"),
        (105, "100", "the answer must be text, not a int: 105"),
    ],
)
def test_what_is_no_text_is_refused(answer: Any, target: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        relaxed_accuracy(answer, target)
