"""The value that a reply settles on; the replies are made up, what they say is read by eye."""

import pytest

from snellen.answers.value import boxed, cleaned, final_value, same_value


@pytest.mark.parametrize(
    ("reply", "value", "rule"),
    [
        ("60", "60", "whole reply"),
        ("x = 5", "5", "whole reply"),
        ("12 cm", "12", "whole reply"),
        (r"$5\sqrt3$", r"5\sqrt{3}", "whole reply"),
        ("(3,-4)", "(3,-4)", "whole reply"),
        ("The legs are 3 and 4. The answer is 5.", "5", "the answer is"),
        ("**Answer:** 7 cm", "7", "the answer is"),
        ("the answer is (3, -4).", "(3, -4)", "the answer is"),
        (r"We get $2+3$. \boxed{5\text{ cm}}", "5", "boxed"),
        (r"First \boxed{5}. Thus \boxed{5.0}.", "5", "boxed"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}", "boxed"),
        ("There are 12 triangles.", "12", "only number"),
        ("The answer to the question is 5.</s>", "5", "the answer is"),
        ("100% + 0% = 100%\n\nFinal value: 100.0", "100.0", "the answer is"),
        ("42 / 8 = 5.25\n\nTherefore, the mean is 5.25.", "5.25", "concludes"),
        ("30 years - 25 years\n\nSo the age gap is 5 years.", "5", "concludes"),
        ("<think>3, or 4?</think>5", "5", "whole reply"),
    ],
)
def test_a_reply_that_settles_on_a_value_is_read(reply: str, value: str, rule: str) -> None:
    assert final_value(reply)[:2] == (value, rule)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "1 2 3",
        "1, 2 or 3",
        "The answer is 3 or 4.",
        r"\boxed{3} or \boxed{4}",
        r"\boxed{",
        r"\boxed{}",
        "A B C D",
        "Yes and no",
        "The area is 5π.",
        "It is 3+4 long.",
        "twelve",
        "We cannot determine how many of the 12 there are.",
        "\\boxed{Cannot determine}",
        "<think>The answer is 5.",
        "Of the 9 it is 3, or 4.",
    ],
)
def test_a_reply_that_names_two_values_or_none_is_unparsed(reply: str) -> None:
    assert final_value(reply).answer is None


def test_boxes_nest_and_keep_their_order() -> None:
    assert boxed(r"\boxed{a}, \fbox{b}, \boxed{\sqrt{\boxed{c}}}") == [
        "a",
        r"\sqrt{\boxed{c}}",
        "c",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"$20 \mathrm{~cm}$", "20"),
        (r"$11 \mathrm{~cm}^{2}$", "11"),
        (r"$90^{\circ}$", "90"),
        ("69{degrees}", "69"),
        ("13 %", "13"),
        (r"\dfrac12", r"\frac{1}{2}"),
        ("3 or 4", "3 or 4"),
    ],
)
def test_decoration_and_units_go(text: str, value: str) -> None:
    assert cleaned(text) == value


@pytest.mark.parametrize(
    ("answer", "target", "same"),
    [
        ("0.5", r"\frac{1}{2}", True),
        ("1.33", "4/3", True),
        ("1.34", "4/3", False),
        ("1.3", "4/3", False),
        ("1000", "1,000", True),
        (r"2\frac{1}{2}", "2.5", True),
        ("0", r"\frac{1}{6561}", False),
        ("(3, -4)", "(3,-4)", True),
        ("(3,4)", "(3,-4)", False),
        ("5", "x", False),
        ("", "", False),
    ],
)
def test_values_are_the_same_as_text_or_as_numbers(answer: str, target: str, same: bool) -> None:
    assert same_value(answer, target) is same
