"""Where dots, intervals and curves stand; places worked out by hand."""

import pytest

from snellen.report.charts import BOTTOM, LEFT, RIGHT, TOP, axis, curve, even, mark
from tests.test_report.results import metric


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.25, 0.75, (0.2, 0.4, 0.6, 0.8)),
        (0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (1400.0, 1465.0, (1400.0, 1420.0, 1440.0, 1460.0, 1480.0)),
        (-0.03, 0.02, (-0.03, -0.02, -0.01, 0.0, 0.01, 0.02)),
    ],
)
def test_ticks_are_round_and_reach_beyond_both_ends(
    low: float, high: float, ticks: tuple[float, ...]
) -> None:
    assert even(low, high) == ticks


def test_a_mark_stands_between_the_ends_of_its_axis() -> None:
    estimate = metric(0.5, ci95=(0.25, 0.75))
    on = axis([estimate])
    assert on is not None
    drawn = mark(on, estimate, 0.2)

    # From 0.2 to 0.8 over 168 pixels, after an edge of 6.
    assert drawn is not None
    assert (drawn.dot, drawn.low, drawn.high, drawn.blind) == (90.0, 20.0, 160.0, 6.0)
    assert on.ends == ("20 %", "80 %")


@pytest.mark.parametrize(("value", "ends"), [(0.0, ("0 %", "100 %")), (1.0, ("0 %", "100 %"))])
def test_a_single_share_has_an_axis_from_none_to_all(value: float, ends: tuple[str, str]) -> None:
    on = axis([metric(value)])
    assert on is not None
    assert on.ends == ends


def test_several_units_and_no_values_have_no_axis() -> None:
    assert axis([metric(0.5), metric(3.0, unit="points")]) is None
    assert axis([metric(None), None]) is None


def test_the_threshold_of_a_curve_stands_between_its_levels() -> None:
    levels = {"004 px": metric(0.0), "008 px": metric(0.5), "016 px": metric(1.0, ci95=(0.8, 1.0))}
    drawn = curve(levels, metric(6.0, unit="px", ci95=(4.0, 12.0)))
    first, second, third = (level.x for level in drawn.levels)

    assert (first, third) == (LEFT + 16, RIGHT - 16)
    assert second == pytest.approx((first + third) / 2)
    assert [level.y for level in drawn.levels] == [BOTTOM, (BOTTOM + TOP) / 2, TOP]
    assert [level.name for level in drawn.levels] == ["4", "8", "16"]
    assert drawn.threshold == pytest.approx((first + second) / 2)
    assert drawn.band is not None
    assert drawn.band[0] == first
    assert drawn.band[1] == pytest.approx((second + third) / 2)


def test_names_of_levels_that_would_touch_are_left_out() -> None:
    names = [f"snr {number}.125" for number in range(100, 120)]
    drawn = curve({name: metric(0.5) for name in names}, None)

    shown = [level for level in drawn.levels if level.name]
    apart = shown[1].x - shown[0].x
    assert len(shown) < len(names)
    assert apart > 7 * len("100.125")


def test_a_ladder_of_one_level_has_its_dot() -> None:
    assert len(curve({"4 px": metric(0.5)}, metric(4.0, unit="px")).levels) == 1
