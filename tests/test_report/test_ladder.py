"""A ladder's picture: a bar a level, and the threshold where its number lies."""

import pytest

from snellen.report.ladder import ladder

SHARES = {"002 pixels": 0.0, "004 pixels": 0.5, "008 pixels": 1.0}


def test_each_level_stands_above_a_bar_for_its_share() -> None:
    assert ladder(SHARES) == ["   2   4   8", "   _   ▄   █"]


@pytest.mark.parametrize(
    ("share", "bar"),
    [(0.0, "_"), (0.06, "_"), (0.07, "▁"), (0.5, "▄"), (0.93, "▇"), (0.94, "█"), (1.0, "█")],
)
def test_bars_are_eighths_to_the_nearest(share: float, bar: str) -> None:
    assert ladder({"1": share})[1].strip() == bar


@pytest.mark.parametrize(
    ("threshold", "line"),
    [
        (2.0, "   ┼"),
        (3.0, "     ┼"),
        (4.0, "       ┼"),
        (7.0, "          ┼"),
        (8.0, "           ┼"),
        (0.5, "   ┼"),
        (99.0, "           ┼"),
    ],
)
def test_the_threshold_stands_between_the_levels_that_it_lies_between(
    threshold: float, line: str
) -> None:
    assert ladder(SHARES, threshold)[2] == line


def test_the_interval_reaches_to_both_sides_of_the_threshold() -> None:
    assert ladder(SHARES, 4.0, (3.0, 6.0))[2] == "     ├─┼─┤"


def test_levels_may_fall_and_have_decimals() -> None:
    shares = {"snr 4.000": 1.0, "snr 1.000": 0.5, "snr 0.083": 0.0}
    assert ladder(shares, 2.5, (1.0, 4.0)) == [
        " 4.000 1.000 0.083",
        "     █     ▄     _",
        "     ├──┼──┤",
    ]


def test_no_levels_make_no_picture() -> None:
    assert ladder({}) == []


def test_a_level_without_a_number_is_named() -> None:
    with pytest.raises(ValueError, match="'small' contains no number"):
        ladder({"small": 0.5})
