"""Frame policies: what is read, what is picked, how large."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import UsageError
from snellen.media.video import PRESETS, picked, policy

AT_25 = [index / 25 for index in range(2500)]


def pick(text: str, times: list[float], start: float = 0.0, end: float | None = None) -> list[int]:
    return picked(policy(text), times, start, end)


@pytest.mark.parametrize("n", [1, 2, 7, 64, 100])
def test_uniform_is_numpys_linspace_over_the_frames_of_the_window(n: int) -> None:
    for end, frames in ((4.0, 100), (63.0, 1575), (None, 2500)):
        theirs = np.linspace(0, frames - 1, n, dtype=int).tolist()
        assert pick(f"uniform:{n}", AT_25, 0.0, end) == theirs


def test_uniform_of_few_frames_is_all_of_them_or_two_less() -> None:
    assert pick("uniform:64", AT_25[:10]) == list(range(10))
    # models/GPT.py#L38-L41: total_frame_num - 2 of them
    assert pick("ovo:uniform64", AT_25[:10]) == np.linspace(0, 9, 8, dtype=int).tolist()
    assert pick("ovo:uniform64", AT_25[:64]) == list(range(64))
    assert pick("ovo:uniform64", AT_25[:2]) == [0]


def test_qwen2vls_frames_are_an_even_number_to_the_nearest() -> None:
    # models/QWen2VL.py#L23-L25: min(64, n - 2); qwen_vl_utils: round(n / 2) * 2, linspace().round()
    for frames, n in ((2500, 64), (66, 64), (65, 64), (64, 62), (13, 12), (10, 8), (9, 8)):
        theirs = np.linspace(0, frames - 1, n).round().astype(int).tolist()
        assert pick("ovo:qwen2vl", AT_25[:frames]) == theirs, frames


def test_middles_are_those_of_equal_parts() -> None:
    assert pick("uniform:4,at=middles", AT_25[:8]) == [1, 3, 5, 7]
    assert pick("uniform:3,at=middles", AT_25[:100]) == [16, 50, 83]


def test_a_rate_takes_the_frame_on_display_and_never_a_later_one() -> None:
    times = [0.0, 0.9, 1.1, 2.5, 2.6]
    assert pick("fps:1", times) == [0, 1, 2]  # at 0, 1 and 2 s
    assert pick("fps:1,latest", times) == [0, 1, 2, 4]
    assert pick("fps:1", times, 0.0, 2.55) == [0, 1, 2]
    assert pick("fps:1,latest", times, 0.0, 2.55) == [0, 1, 2, 3]
    # A tick behind the last frame but one, where a frame follows after the window
    assert pick("fps:1", [0.0, 0.9, 3.0], 0.0, 2.0) == [0, 1]


def test_a_window_may_end_at_a_whole_number() -> None:
    assert pick("fps:1", AT_25, 0, 3) == [0, 25, 50]


def test_a_rate_above_the_videos_shows_each_frame_once() -> None:
    assert pick("fps:100", AT_25[:50]) == list(range(50))


def test_a_long_gap_costs_nothing() -> None:
    assert pick("fps:1000", [0.0, 1e6, 1e6 + 0.5]) == [0, 1, 2]


def test_too_many_are_thinned_out_evenly_with_the_last() -> None:
    assert pick("fps:1,max=5", AT_25, 0.0, 41.0) == [0, 250, 500, 750, 1000]


def test_the_last_are_counted_from_the_newest_frame() -> None:
    assert pick("last:3@1", AT_25, 0.0, 10.0) == [200, 225, 249]
    assert pick("last:4@2", AT_25, 0.0, 0.5) == [0, 12]


def test_a_window_without_frames_shows_the_one_on_display() -> None:
    assert pick("uniform:4", [0.0, 5.0], 1.0, 2.0) == [0]
    assert pick("every", [0.0, 5.0], 0.0, 0.0) == []


@given(
    st.sampled_from(
        ["uniform:5", "uniform:6,at=middles", "fps:2", "fps:3,max=4,latest", "last:3@1", "every"]
    ),
    st.lists(st.floats(0, 30, width=16), min_size=1, max_size=60, unique=True).map(sorted),
    st.floats(0, 31),
    st.floats(0.01, 31),
)
def test_no_frame_is_ever_later_than_the_window(
    text: str, times: list[float], start: float, length: float
) -> None:
    times = [time - times[0] for time in times]
    frames = pick(text, times, start, start + length)
    assert frames == sorted(set(frames))
    assert frames
    assert all(times[index] < start + length for index in frames)


def test_a_policy_is_written_in_one_way() -> None:
    assert str(policy("ovo:uniform64")) == "uniform:64,few=less2"
    assert str(policy("uniform:8,pixels=100,at=middles")) == "uniform:8,at=middles,pixels=100"
    assert str(policy("fps:0.50,latest,max=9")) == "fps:0.5,max=9,latest"
    for text in (*PRESETS, "last:4@1", "every,codec=png", "ovo:qwen2vl,side=300"):
        assert policy(str(policy(text))) == policy(text)


def test_a_size_keeps_its_aspect_and_never_grows() -> None:
    assert policy("every,pixels=151200").size(1280, 720) == (518, 291)
    assert policy("every,side=100").size(50, 40) == (50, 40)
    assert policy("every,side=100").size(300, 400) == (75, 100)
    assert policy("every,pixels=4").size(4000, 1) == (126, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "does not start with one of"),
        ("uniform", "uniform needs a whole number"),
        ("uniform:0", "uniform needs a whole number"),
        ("uniform:9999999999999", "uniform needs a whole number"),
        ("fps:nan", "fps needs a number of frames per second"),
        ("fps:1e9", "fps needs a number of frames per second"),
        ("last:4", "does not start with one of"),
        ("uniform:4,max=3", "uniform has no option 'max'"),
        ("fps:1,max", "max needs a whole number"),
        ("fps:1,latest=yes", "latest takes no value"),
        ("every,codec=gif", "codec must be jpeg or png"),
        ("every,quality=101", "quality must be at most 100"),
        ("ovo:gemini", "does not start with one of"),
    ],
)
def test_what_is_no_policy_says_why_and_what_there_is(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as raised:
        policy(text)
    assert "Policies: uniform:N, fps:R" in str(raised.value)
