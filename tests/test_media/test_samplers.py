"""Frames as makers' code takes them. The expected indexes are from that code itself, see
scripts/draw_frame_times.py."""

import gzip
import json
from fractions import Fraction
from functools import cache
from itertools import accumulate
from pathlib import Path

import pytest

from snellen.media.samplers import SAMPLERS, frame_rate
from snellen.media.video import picked, policy

DRAWN = json.loads(
    gzip.decompress((Path(__file__).parents[1] / "data/frame_indexes.json.gz").read_bytes())
)


@cache
def times_of(total: int, above: int, below: int) -> list[float]:
    return [index * below / above for index in range(total)]


@pytest.mark.parametrize("name", DRAWN["samplers"])
def test_frame_times_are_those_of_the_makers_code(name: str) -> None:
    rows = DRAWN["samplers"][name]
    compared = 0
    for video, steps in zip(DRAWN["videos"], rows, strict=True):
        if steps is None:
            continue
        times = times_of(*video)
        # For one video, an index of Qwen2.5-VL is behind the last frame.
        theirs = [times[min(index, len(times) - 1)] for index in accumulate(steps)]
        ours = [times[index] for index in picked(policy(name), times)]
        assert ours == theirs, video
        compared += 1
    assert len(rows) == 50 and compared >= 44


def test_at_least_eight_makers_are_compared() -> None:
    assert len(DRAWN["samplers"]) >= 11
    assert SAMPLERS.keys() >= {name.partition(":")[0] for name in DRAWN["samplers"]}


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("total", [1, 2, 3, 5])
def test_a_few_frames_are_sampled_too(name: str, total: int) -> None:
    indexes = picked(policy(f"{name}:8"), times_of(total, 25, 1))

    assert indexes == sorted(indexes)
    assert indexes and indexes[0] >= 0 and indexes[-1] < total


def test_a_sampler_sees_only_the_window() -> None:
    times = times_of(1000, 25, 1)

    shown = picked(policy("qwen3-vl:2"), times, 10.0, 20.0)

    assert [index - 250 for index in shown] == picked(policy("qwen3-vl:2"), times_of(250, 25, 1))


def test_vlmevalkit_takes_neither_the_first_nor_the_last_frame() -> None:
    # By hand: 100 / 5 = 20.
    assert picked(policy("vlmevalkit:4"), times_of(100, 25, 1)) == [20, 40, 60, 80]


def test_a_samplers_limits_are_part_of_the_policy() -> None:
    assert str(policy("qwen3-vl:2,max=512")) == "qwen3-vl:2,max=512"
    assert len(picked(policy("qwen3-vl:2,max=16"), times_of(1000, 25, 1))) == 16
    assert len(picked(policy("qwen3-vl:2,min=90"), times_of(1000, 25, 1))) == 90


@pytest.mark.parametrize("rate", [Fraction(24000, 1001), Fraction(25), Fraction(60000, 1001)])
def test_a_rate_is_exact_although_times_are_rounded_to_milliseconds(rate: Fraction) -> None:
    times = [round(float(index / rate), 3) for index in range(300)]

    assert frame_rate(times) == float(rate)


def test_a_variable_rate_is_the_mean() -> None:
    assert frame_rate([0.0, 0.1, 0.7, 1.3]) == pytest.approx(3 / 1.3)
    assert frame_rate([0.0]) == 24.0
