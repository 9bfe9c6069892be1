"""Charades-STA: its lines, and the intervals that two scripts and Snellen read."""

import time
from pathlib import Path

import pytest

from snellen.benchmarks import charades_sta as file
from snellen.benchmarks.charades_sta import charades_sta, lines, to_sample
from snellen.benchmarks.families.intervals import overlap
from snellen.core import IntervalAnswer
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import Row, find
from snellen.errors import DataError

BUNDLED = Path(file.__file__).parent / "rows" / "charades_sta"
ANY = Sample(id="1", question="?", target="1 - 2")


def interval(scoring: str, text: str) -> tuple[float, float] | None:
    answer = charades_sta(data=BUNDLED).scorings[scoring].parse(Reply(text=text), ANY).answer
    return (answer.start, answer.end) if isinstance(answer, IntervalAnswer) else None


@pytest.mark.parametrize(
    ("text", "task", "script"),
    [
        ("starts at 00:00:16\nends at 00:00:19", (16, 19), (0, 0)),
        ("The person opens the door from 00:05 to 00:07.", (5, 7), None),
        ("2.56 seconds to 8.94 seconds", None, None),
        ("3.0 - 9.0", (3, 9), None),
        ("happens in 00:03 - 00:09", (3, 9), (0, 3)),
        ("It starts at 3 and ends at 9.", None, None),
        ("Tomorrow? 12.9 \u2013 19.8", (12.9, 19.8), None),
        ("A specific example is : 20.8 - 30.0 seconds. It happens in 3 - 4.", (3, 4), (3, 4)),
        ("It happens twice: 22 - 25 and 1.0 - 2.0.", (22, 25), (22, 25)),
        ("happens in 9 - 3", (3, 9), (3, 9)),
        ("starts 8! ends 10!", (8, 10), (8, 10)),
        ("1:00:00 - 1:00:05", (3600, 3605), None),
        ("", None, None),
    ],
)
def test_intervals_of_both_scripts(
    text: str, task: tuple[float, float] | None, script: tuple[float, float] | None
) -> None:
    assert interval("lmms-eval", text) == task
    assert interval("lmms-eval-script", text) == script


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It starts at 3 and ends at 9.", (3, 9)),
        ("2.56 seconds to 8.94 seconds", (2.56, 8.94)),
        (r"\boxed{[00:03, 00:09]}", (3, 9)),
        ("<think>1 - 2</think>From 3s to 9s.", (3, 9)),
        ("3 - 9 or 4 - 8", None),
        ("In 2 videos, it starts at 3 and later, at 9, ends.", None),
        ("none", None),
    ],
)
def test_robust_reads_the_only_interval(text: str, expected: tuple[float, float] | None) -> None:
    assert interval("robust", text) == expected


def test_the_overlap_is_the_intersection_over_the_hull() -> None:
    assert overlap(IntervalAnswer(start=16, end=19), (16.3, 19.8)) == pytest.approx(2.7 / 3.8)
    assert overlap(IntervalAnswer(start=0, end=1), (2, 3)) == 0.0
    assert overlap(IntervalAnswer(start=0, end=0), (0, 0)) == 0.0


def test_a_row_of_the_hub_may_have_its_times_as_text(tmp_path: Path) -> None:
    data_file = find(BUNDLED, "charades-sta", ["charades_sta_test.txt"])
    row = {"video": "A.mp4", "caption": "a person sits.", "timestamp": "[24.3, 30.4]"}

    assert to_sample(Row(row, 3), data_file).target == "24.3 - 30.4"
    with pytest.raises(ValueError, match="not enough values"):
        to_sample(Row({**row, "timestamp": "soon"}, 3), data_file)
    (tmp_path / "charades_sta_test.txt").write_text("A 1.0 2.0##sits.\nB 3.0\n")
    with pytest.raises(DataError, match="line 2 is not of the form"):
        list(lines(tmp_path / "charades_sta_test.txt"))


@pytest.mark.parametrize("text", ["1" * 100_000, "1" + " " * 100_000, "1 - " * 20_000])
def test_long_replies_take_little_time(text: str) -> None:
    start = time.process_time()
    for scoring in ("lmms-eval", "lmms-eval-script", "robust"):
        interval(scoring, f"start {text}")
    assert time.process_time() - start < 5
