"""Which fields are named, from scores whose effects are known by construction."""

import re
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from snellen.analysis.gap import (
    Gap,
    GapField,
    GapGroup,
    GapKind,
    Measured,
    decision,
    exchanges,
    gap_lines,
    gap_verdict,
    group_lines,
    groups_measured,
    measured_fields,
    pairs_in_order,
    partners_in_order,
    smallest_detectable,
    with_adjusted_pairs,
    with_partner,
)
from snellen.scoring import MetricReport

FIELDS = ("a", "b", "c", "d")
N = 100
Level = Callable[[frozenset[str]], float]


def scores(level: Level, ways: list[frozenset[str]]) -> Measured:
    """Question i is right if i + 1/2 is below the level, in hundredths; a few others flip at
    random, other ones in each way."""

    def column(number: int, way: frozenset[str]) -> NDArray[np.float64]:
        right = (np.arange(N) + 0.5 < 100 * level(way)).astype(float)
        flipped = np.random.default_rng(number).choice(N, 3, replace=False)
        right[flipped] = 1 - right[flipped]
        return right

    return Measured(
        fields=FIELDS,
        scores={way: column(number, way) for number, way in enumerate(ways)},
        cluster=np.arange(N),
    )


def every_way() -> list[frozenset[str]]:
    return [frozenset(way) for n in range(5) for way in combinations(FIELDS, n)]


def fields() -> list[GapField]:
    return [GapField(name=name, base="0", recipe="1") for name in FIELDS]


def outcome(level: Level) -> tuple[GapKind, list[str], list[GapField], list[GapGroup]]:
    measured = scores(level, every_way())
    tested = measured_fields(measured, fields())
    names = frozenset(field.name for field in tested if field.matters)
    if len(names) > 1:
        groups = groups_measured(measured, [names])
    else:
        groups = with_adjusted_pairs(groups_measured(measured, pairs_in_order(measured)))
    kind, matters, _ = decision(tested, groups)
    return kind, matters, tested, groups


def test_a_single_field_is_named_with_its_effect_and_share() -> None:
    kind, names, tested, _ = outcome(lambda way: 0.3 + 0.4 * ("b" in way))
    assert (kind, names) == ("field", ["b"])
    field = tested[1]
    assert field.mean is not None and field.mean.difference.value == pytest.approx(0.4, abs=0.06)
    assert field.share == pytest.approx(1.0, abs=0.15)


def test_fields_that_add_up_each_contribute() -> None:
    kind, names, _, [group] = outcome(lambda way: 0.2 + 0.3 * ("a" in way) + 0.3 * ("c" in way))
    assert (kind, names) == ("added", ["a", "c"])
    assert group.share == pytest.approx(1.0, abs=0.1)


def test_fields_that_act_only_together_are_joint() -> None:
    kind, names, tested, [group] = outcome(lambda way: 0.3 + 0.4 * ({"a", "d"} <= way))
    assert (kind, names) == ("joint", ["a", "d"])
    assert group.interaction is not None
    assert group.interaction.difference.value == pytest.approx(0.4, abs=0.08)
    into, out = tested[0].into, tested[0].out
    assert into is not None and into.difference.value == pytest.approx(0, abs=0.06)
    assert out is not None and out.difference.value == pytest.approx(0.4, abs=0.06)


def test_fields_of_which_either_is_enough_overlap() -> None:
    kind, names, _, [group] = outcome(lambda way: 0.3 + 0.4 * bool({"a", "d"} & way))
    assert (kind, names) == ("either", ["a", "d"])
    assert group.interaction is not None
    assert group.interaction.difference.value == pytest.approx(-0.4, abs=0.08)


def test_fields_that_work_against_each_other_are_named_too() -> None:
    kind, names, tested, _ = outcome(lambda way: 0.4 + 0.4 * ("a" in way) - 0.2 * ("b" in way))
    assert (kind, names) == ("added", ["a", "b"])
    assert tested[1].share is not None and tested[1].share < -0.7


def test_fields_that_work_against_each_other_and_do_not_add_up_are_opposed() -> None:
    # 20 of 100, 95 with a alone, 10 with b alone, 55 with both.
    levels = {"": 0.2, "a": 0.95, "b": 0.1, "ab": 0.55}
    kind, names, tested, [group] = outcome(lambda way: levels["".join(sorted(way & {"a", "b"}))])
    assert (kind, names) == ("opposed", ["a", "b"])
    gap = explained("opposed", tested, [group], ["a", "b"])
    assert re.search(
        r"a and b work against each other, and their effects do not add up: a raises the score "
        r"\(\+\d\d\.\d\d pp\) and b lowers it \(-\d\d\.\d\d pp\); together they make "
        r"\d\d\.\d\d pp less than the sum of what each does alone",
        gap_verdict(gap),
    )


def test_what_is_beyond_the_sum_follows_from_the_numbers_that_are_shown() -> None:
    levels = {"": 0.2, "a": 0.95, "b": 0.1, "ab": 0.55}
    measured = scores(lambda way: levels["".join(sorted(way & {"a", "b"}))], every_way())
    for number, column in enumerate(measured.scores.values()):
        column[number : number + 3] = np.nan  # failed, other ones in each way
    tested = measured_fields(measured, fields())
    [group] = groups_measured(measured, [frozenset("ab")])
    into, out, mean = map(numbers, group_lines(explained("opposed", tested, [group], ["a", "b"])))
    together, first, second, both, beyond = into
    assert both == pytest.approx(first + second, abs=0.011)
    assert beyond == pytest.approx(together - both, abs=0.011)
    first, second, both, together, rest = out
    assert both == pytest.approx(first + second, abs=0.011)
    assert rest == pytest.approx(both - together, abs=0.011)
    assert mean[0] == pytest.approx((beyond + rest) / 2, abs=0.011)


def numbers(line: str) -> list[float]:
    """The numbers of a line: `+1.00 - 2.50 = -1.50 pp` as 1.0, -2.5, -1.5."""
    return [float(number.replace(" ", "")) for number in re.findall(r"(?:[+-] ?)?\d+\.\d\d", line)]


def test_a_pair_is_named_if_no_field_moves_the_score_alone() -> None:
    # Any two of three: neither putting a field in nor taking it out changes anything.
    kind, names, tested, groups = outcome(lambda way: 0.3 + 0.4 * (len(way & {"a", "b", "c"}) > 1))
    assert not any(field.matters for field in tested)
    assert kind == "pair"
    assert set(names) < {"a", "b", "c"}
    significant = [set(group.fields) for group in groups if (group.adjusted or 0) <= 0.01]
    assert sorted(map(sorted, significant)) == [["a", "b"], ["a", "c"], ["b", "c"]]


def test_a_gap_that_no_field_and_no_pair_makes_is_unexplained() -> None:
    # Each field moves two questions of a hundred: too few for a test.
    kind, names, _, _ = outcome(lambda way: 0.3 + 0.02 * len(way))
    assert (kind, names) == ("unexplained", [])


def test_a_partner_shows_its_effect_after_the_field_that_matters_singly() -> None:
    measured = scores(lambda way: 0.2 + 0.3 * ("a" in way) + 0.3 * ({"a", "b"} <= way), every_way())
    assert partners_in_order(measured, "a")[0] == "b"
    after = with_partner(measured, fields(), "a", "b")[1]
    assert after.matters and after.after_p is not None and after.after_p < 0.01
    assert after.after is not None
    assert after.after.difference.value == pytest.approx(0.15, abs=0.06)


def test_each_field_is_exchanged_in_both_directions_and_no_run_is_made_twice() -> None:
    ways = exchanges(FIELDS)
    assert len(ways) == 8 == len(set(ways))
    assert {len(way) for way in ways} == {1, 3}
    assert exchanges(("a", "b")) == [frozenset("a"), frozenset("b")]
    assert exchanges(("a",)) == []


def test_questions_without_a_score_are_left_out_of_an_effect() -> None:
    base, recipe = np.zeros(20), np.ones(20)
    base[3] = recipe[5] = np.nan
    measured = Measured(
        fields=("a",),
        scores={frozenset(): base, frozenset("a"): recipe},
        cluster=np.arange(20),
    )
    effect = measured.effect(measured.into(frozenset("a")))
    assert (effect.difference.value, effect.difference.n) == (1.0, 18)
    assert effect.p == pytest.approx(2 * 0.5**18)


def test_questions_of_a_cluster_are_one_observation() -> None:
    measured = Measured(
        fields=("a",),
        scores={frozenset(): np.zeros(40), frozenset("a"): np.ones(40)},
        cluster=np.repeat(np.arange(10), 4),
    )
    assert measured.effect(measured.into(frozenset("a"))).p == pytest.approx(2 * 0.5**10)


def test_the_detectable_gap_is_millers() -> None:
    recipe = np.array([1.0] * 30 + [0.0] * 170)
    base = np.array([0.0] * 15 + [1.0] * 30 + [0.0] * 155)
    measured = Measured(
        fields=("a",),
        scores={frozenset(): base, frozenset("a"): recipe},
        cluster=np.arange(200),
    )
    # 15 questions move up, 15 down: the variance of a difference is 30/199.
    error = (30 / 199 / 200) ** 0.5
    assert smallest_detectable(measured) == pytest.approx((1.959964 + 0.841621) * error, rel=1e-5)


def test_if_no_question_moves_six_would_have_to() -> None:
    same = np.ones(50)
    measured = Measured(
        fields=("a",), scores={frozenset(): same, frozenset("a"): same}, cluster=np.arange(50)
    )
    assert smallest_detectable(measured) == pytest.approx(6 / 50)


def explained(
    kind: GapKind, fields: list[GapField], groups: list[GapGroup], matters: list[str]
) -> Gap:
    report = MetricReport(value=0.5, unit="fraction", n=N, stderr=None, ci95=None)
    return Gap(
        format=1,
        benchmark="mmstar",
        recipe="r",
        model="m",
        against="official",
        scoring="official",
        questions=N,
        requests=1000,
        kind=kind,
        fields=fields,
        matters=matters,
        groups=groups,
        base=report,
        by_recipe=report,
        total=groups[0].mean if groups else None,
    )


def test_the_scores_of_a_gap_are_of_the_questions_that_it_is_of() -> None:
    base, recipe = np.array([0.0] * 10 + [1.0] * 20), np.array([1.0] * 30)
    recipe[:10] = np.nan
    measured = Measured(
        fields=("a",), scores={frozenset(): base, frozenset("a"): recipe}, cluster=np.arange(30)
    )
    gap = measured.into(frozenset("a"))
    ends = [measured.value(frozenset(way), gap) for way in ("", "a")]
    assert [(end.value, end.n) for end in ends] == [(1.0, 20), (1.0, 20)]
    assert measured.effect(gap).difference.n == 20


def test_noise_is_said_with_the_gap_that_would_have_been_seen() -> None:
    measured = scores(lambda way: 0.5, [frozenset(), frozenset(FIELDS)])
    total = measured.effect(measured.into(frozenset(FIELDS)))
    gap = replace(explained("noise", fields(), [], []), total=total, detectable=0.069)
    assert gap_verdict(gap).startswith("The gap is not significant: ")
    assert gap_verdict(gap).endswith("No field is named.")
    assert any("would have shown a gap of 6.9 pp" in line for line in gap_lines(gap))
