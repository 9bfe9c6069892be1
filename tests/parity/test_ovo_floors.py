"""What the blind get of OVO-Bench's forward tasks, and who knows all: from the annotations alone,
against the tables worked out before this code was (to the digit printed there)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest

from snellen import registry
from snellen.benchmarks import ovo_bench
from snellen.benchmarks.families import authors_files
from snellen.benchmarks.families import ovo_proactive as proactive
from snellen.benchmarks.families.ovo_decoys import with_decoys
from snellen.benchmarks.families.ovo_proactive import (
    Spoken,
    Transcript,
    after,
    blind_history,
    eager,
    oracle,
    parse,
    projected_replies,
    reply_text,
    silent,
    target,
    watch,
)
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Scoring
from snellen.metrics import Columns
from snellen.metrics.streaming import METRICS, SpeechLog, Watch, columns_of
from tests.golden_data import golden

Say = Callable[[Watch], tuple[Spoken, ...]]
TASKS = ("CRR", "SSR", "REC")


def later(say: Callable[[Watch, float], tuple[Spoken, ...]], seconds: float) -> Say:
    return lambda query: say(query, seconds)


@cache
def rows(task: str) -> tuple[Mapping[str, Any], ...]:
    annotations = authors_files.of_json(golden("ovobench") / "annotations.json")
    return tuple(row for row in annotations if row["task"] == task)


def heard(row: Mapping[str, Any], messages: tuple[Spoken, ...]) -> SpeechLog:
    """By way of a reply, as in a run."""
    sample = Sample(id=str(row["id"]), question="", target=target(row))
    reading = parse(Reply(text=reply_text(Transcript(messages=messages))), sample)
    return msgspec.json.decode(str(reading.answer), type=SpeechLog)


def columns(task: str, say: Say) -> Columns:
    queries = [(watch(row), heard(row, say(watch(row)))) for row in rows(task)]
    _, video = np.unique([row["video"] for row in rows(task)], return_inverse=True)
    return replace(columns_of(*queries), cluster=video.astype(np.int32))


def value(name: str, task: str, say: Say) -> float:
    metric_value = METRICS[name](columns(task, say)).value
    assert metric_value is not None
    return metric_value


@cache
def polled_benchmark(task: str) -> tuple[Scoring, Mapping[str, Sample]]:
    """The official scoring, and the points by their names."""
    benchmark = registry.benchmark(f"ovo-bench:task={task}", data=golden("ovobench"))
    samples = map(benchmark.read, benchmark.data)
    return benchmark.scorings["official"], {sample.id: sample for sample in samples}


def official(replies: Mapping[str, str], task: str) -> float:
    """The mean over all points of the polled benchmark by its official scoring."""
    scoring, samples = polled_benchmark(task)
    assert set(replies) == set(samples)
    scores = [
        scoring.score(scoring.parse(Reply(text=text), samples[name]), samples[name])
        for name, text in replies.items()
    ]
    return float(np.mean([score for score in scores if score is not None]))


# -- what stands in the annotations


def test_there_are_as_many_queries_windows_and_videos_as_counted_before() -> None:
    queries = {task: [watch(row) for row in rows(task)] for task in TASKS}
    assert {task: len(of) for task, of in queries.items()} == {"CRR": 48, "SSR": 42, "REC": 82}
    slots = {task: sum(len(query.slots) for query in of) for task, of in queries.items()}
    assert slots == {"CRR": 48, "SSR": 145, "REC": 329}
    videos = {task: len({row["video"] for row in rows(task)}) for task in TASKS}
    assert videos == {"CRR": 10, "SSR": 42, "REC": 82}
    assert len({row["video"] for task in TASKS for row in rows(task)}) == 134


def test_windows_of_repetitions_would_else_be_empty_or_short() -> None:
    lasts = [
        end - start
        for row in rows("REC")
        for start, end in zip(
            row["end_times"],
            [*row["end_times"][1:], max(point["realtime"] for point in row["test_info"])],
            strict=True,
        )
    ]
    assert sum(last <= 0 for last in lasts) == 9
    assert sum(0 < last <= 1 for last in lasts) == 21
    assert min(slot.w1 - slot.w0 for row in rows("REC") for slot in watch(row).slots) == 2


@pytest.mark.parametrize("task", TASKS)
def test_points_ask_for_yes_from_the_windows_start_on_alone(task: str) -> None:
    """So what had been said by then is the reply: why the projection is exact."""
    for query in map(watch, rows(task)):
        starts = {slot.number: slot.w0 for slot in query.slots}
        for point in query.points:
            if task != "REC":
                assert point.right == (point.time >= starts[point.number])
    if task == "REC":
        pairs = [(query, point) for query in map(watch, rows(task)) for point in query.points]
        ended = sum(
            point.right == sum(slot.w0 <= point.time for slot in query.slots)
            for query, point in pairs
        )
        assert (ended, len(pairs)) == (692, 698)


def test_a_question_opens_with_the_official_words() -> None:
    for task, template in ovo_bench.TEMPLATES.items():
        assert template.lstrip("\n").startswith(proactive.CONTEXT[task]), task


# -- floors of what speaks by itself

AFTER = {seconds: later(after, seconds) for seconds in (5, 10, 20, 30)}
LATE = {seconds: later(oracle, seconds) for seconds in (0, 1, 2, 3)}
# 76.3 is 183 of 240: 76.25, rounded up. (Points right, of all; what is printed)
PROJECTED: list[tuple[str, Say, int, int, float]] = [
    ("CRR", silent, 96, 240, 40.0),
    ("SSR", silent, 206, 629, 32.8),
    ("REC", silent, 45, 698, 6.4),
    ("CRR", eager, 144, 240, 60.0),
    ("SSR", eager, 423, 629, 67.2),
    ("REC", eager, 143, 698, 20.5),
    ("CRR", AFTER[5], 209, 240, 87.1),
    ("CRR", AFTER[10], 202, 240, 84.2),
    ("CRR", AFTER[20], 183, 240, 76.3),
    ("CRR", AFTER[30], 172, 240, 71.7),
    ("CRR", LATE[0], 240, 240, 100.0),
    ("CRR", LATE[1], 240, 240, 100.0),
    ("CRR", LATE[2], 240, 240, 100.0),
    ("CRR", LATE[3], 192, 240, 80.0),
    ("SSR", LATE[0], 629, 629, 100.0),
    ("SSR", LATE[1], 629, 629, 100.0),
    ("SSR", LATE[2], 629, 629, 100.0),
    ("SSR", LATE[3], 486, 629, 77.3),
    ("REC", LATE[0], 692, 698, 99.1),
    ("REC", LATE[1], 380, 698, 54.4),
    ("REC", LATE[2], 368, 698, 52.7),
    ("REC", LATE[3], 302, 698, 43.3),
]


@pytest.mark.parametrize(("task", "say", "right", "n", "printed"), PROJECTED)
def test_projected_floors_are_those_of_the_table(
    task: str, say: Say, right: int, n: int, printed: float
) -> None:
    estimate = METRICS["projected"](columns(task, say))
    assert estimate.n == n
    assert estimate.value == pytest.approx(right / n, abs=1e-12)
    assert 100 * right / n == pytest.approx(printed, abs=0.05 + 1e-9)


@pytest.mark.parametrize(("task", "say"), [row[:2] for row in PROJECTED])
def test_a_projection_is_what_the_official_scoring_gives_the_same_replies(
    task: str, say: Say
) -> None:
    replies: dict[str, str] = {}
    for row in rows(task):
        texts = projected_replies(watch(row), heard(row, say(watch(row))))
        replies |= {f"{row['id']}_{index}": text for index, text in enumerate(texts)}
    assert official(replies, task) == pytest.approx(value("projected", task, say), abs=1e-12)


@pytest.mark.parametrize(
    ("seconds", "hits", "in_span", "early"),
    [(5, 6, 12.5, 87.5), (10, 21, 43.8, 56.2), (20, 31, 64.6, 35.4), (30, 35, 72.9, 27.1)],
)
def test_blind_delays_have_the_spans_of_the_table(
    seconds: int, hits: int, in_span: float, early: float
) -> None:
    estimate = METRICS["answered_in_span"](columns("CRR", AFTER[seconds]))
    assert estimate.value == pytest.approx(hits / 48)
    assert estimate.ci95 is not None  # 10 videos are the fewest that have one
    assert 100 * hits / 48 == pytest.approx(in_span, abs=0.051)
    assert 100 * value("early", "CRR", AFTER[seconds]) == pytest.approx(early, abs=0.051)


def test_what_says_nothing_errs_by_the_counts_of_the_table() -> None:
    estimate = METRICS["count_mae"](columns("REC", silent))
    assert estimate.n == 82
    assert estimate.value == pytest.approx(1.957, abs=0.0005)
    pooled, time = 0.0, 0.0
    for query in map(watch, rows("REC")):
        last = max(point.time for point in query.points)
        pooled += sum(last - slot.w0 for slot in query.slots)
        time += last
    assert pooled / time == pytest.approx(2.416, abs=0.0005)
    assert value("count_skill", "REC", silent) == 0


@pytest.mark.parametrize("task", TASKS)
def test_who_knows_all_hits_every_window_at_once(task: str) -> None:
    for name, best in {
        "answered_in_span": 1,
        "f1": 1,
        "delay_median": 0,
        "delay_censored": 0,
        "repeats": 0,
    }.items():
        assert value(name, task, LATE[0]) == best, name
    assert value("delay_mean", task, LATE[1]) == 1


def test_who_knows_all_counts_without_error() -> None:
    assert value("count_mae", "REC", LATE[0]) == 0
    assert value("count_skill", "REC", LATE[0]) == 1
    assert value("final_count", "REC", LATE[0]) == 1


# -- floors of who remembers polls


def polled(task: str, reply: Callable[[Sequence[str]], str]) -> float:
    """One session an item, polled in the order of time; a session remembers what it was asked."""
    replies = {}
    for row in rows(task):
        steps: list[str] = []
        order = sorted(enumerate(row["test_info"]), key=lambda indexed: indexed[1]["realtime"])
        for index, point in order:
            steps.append(point.get("step", "the question"))
            replies[f"{row['id']}_{index}"] = reply(steps)
    return official(replies, task)


def test_who_remembers_polls_gets_all_of_crr_unseen() -> None:
    assert polled("CRR", lambda steps: blind_history("CRR", steps)) == 1


def test_who_remembers_polls_gets_nearly_all_of_ssr_unseen() -> None:
    # Three items ask about the second step before the first: 12 points are wrong.
    share = polled("SSR", lambda steps: blind_history("SSR", steps))
    assert share == pytest.approx(617 / 629)
    assert 100 * share == pytest.approx(98.1, abs=0.05)


def test_who_remembers_polls_gets_this_of_rec_at_best_in_sample() -> None:
    totals = proactive.commonest_totals(map(watch, rows("REC")))
    share = polled("REC", lambda steps: blind_history("REC", steps, totals))
    assert share == pytest.approx(259 / 698)
    assert 100 * share == pytest.approx(37.1, abs=0.05)


@pytest.mark.parametrize(
    ("task", "text", "printed"),
    [("CRR", "Yes", 60.0), ("SSR", "Yes", 67.2), ("CRR", "No", 40.0), ("SSR", "No", 32.8),
     ("REC", "1", 20.5), ("REC", "0", 6.4)],
)  # fmt: skip
def test_constant_replies_get_what_the_table_says(task: str, text: str, printed: float) -> None:
    assert 100 * polled(task, lambda steps: text) == pytest.approx(printed, abs=0.05)


def test_each_standing_question_has_a_decoy_and_no_video_has_one_twice() -> None:
    every = [row for task in TASKS for row in rows(task)]
    decoys = [row for row in with_decoys(every, TASKS) if "taken_from" in row]
    assert len(decoys) == len(every) == 172
    videos = {row["id"]: row["video"] for row in every}
    assert all(videos[row["taken_from"]] != row["video"] for row in decoys)
    assert len({(row["video"], row["taken_from"]) for row in decoys}) == 172
