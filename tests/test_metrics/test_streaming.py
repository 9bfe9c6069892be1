"""Metrics of watching: one query at a time, all worked out by hand."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from snellen.metrics import Columns, streaming
from snellen.metrics.streaming import (
    METRICS,
    Point,
    Slot,
    SpeechLog,
    Utterance,
    Watch,
    columns_of,
    projection,
    share_of_hits,
    to_json,
)
from snellen.stats import Estimate

# Asked at 10 s; the answer is seen from 20 s on.
CLUE = Watch(
    task="CRR",
    asked=10,
    end=50,
    slots=(Slot(20, 50),),
    points=(Point(10, 0), Point(15, 0), Point(22, 1), Point(30, 1), Point(50, 1)),
)
STEPS = Watch(task="SSR", asked=0, end=40, slots=(Slot(0, 8, 1), Slot(20, 40, 2)))
TOTAL = Watch(
    task="REC",
    asked=0,
    end=40,
    slots=(Slot(10, 20, 1), Slot(20, 40, 2)),
    points=(Point(10, 1), Point(20, 2), Point(22, 2), Point(40, 2)),
    counts=True,
)


def at(*times: float) -> SpeechLog:
    """Messages that are done when they begin."""
    return SpeechLog(tuple(Utterance(time, time) for time in times))


def with_totals(*totals: tuple[float, int | None]) -> SpeechLog:
    return SpeechLog(tuple(Utterance(time, time, number) for time, number in totals))


def with_slots(watch: Watch, *slots: Slot) -> Watch:
    return Watch(task=watch.task, asked=watch.asked, end=watch.end, slots=slots)


def until(heard: SpeechLog, time: float) -> SpeechLog:
    return SpeechLog(heard.messages, until=time)


def of(name: str, watch: Watch, heard: SpeechLog | None) -> Estimate:
    return METRICS[name](columns_of((watch, heard)))


def value(name: str, watch: Watch, heard: SpeechLog | None) -> float | None:
    return of(name, watch, heard).value


def outcomes(watch: Watch, heard: SpeechLog) -> dict[str, float | None]:
    names = ("answered_in_span", "early", "late", "silent")
    return {name: share for name in names if (share := value(name, watch, heard))}


# -- outcomes


@pytest.mark.parametrize(
    ("heard", "outcome"),
    [
        (at(), "silent"),
        (at(20), "answered_in_span"),
        (at(50), "answered_in_span"),
        (at(19.9), "early"),
        (at(12, 25), "early"),
        (SpeechLog((Utterance(19, 21),)), "early"),
        (SpeechLog((Utterance(19, 60),)), "early"),
        (SpeechLog((Utterance(20, 50),)), "answered_in_span"),
        (SpeechLog((Utterance(49, 51),)), "late"),
        (at(9), "silent"),
        (at(51), "silent"),
    ],
)
def test_the_first_message_while_the_query_is_open_decides_a_slot(
    heard: SpeechLog, outcome: str
) -> None:
    assert outcomes(CLUE, heard) == {outcome: 1.0}


def test_a_slot_with_a_number_hears_messages_with_that_number_alone() -> None:
    heard = with_totals((1, 2), (3, 1), (25, 2), (30, None))
    assert outcomes(STEPS, heard) == {"answered_in_span": 0.5, "early": 0.5}


def test_one_message_speaks_for_one_of_two_windows_that_overlap() -> None:
    watch = Watch(task="REC", asked=0, end=12, slots=(Slot(10, 12, 1), Slot(10, 12, 2)))
    assert outcomes(watch, with_totals((11, 2))) == {"answered_in_span": 0.5, "silent": 0.5}
    assert value("repeats", watch, with_totals((11, 2))) == 0


def test_a_number_after_its_window_is_late() -> None:
    assert outcomes(STEPS, with_totals((9, 1))) == {"late": 0.5, "silent": 0.5}


def test_never_speaking_has_no_delay_and_no_skill() -> None:
    assert value("delay_median", CLUE, at()) is None
    assert of("delay_mean", CLUE, at()).reason == "no message lies in a window"
    assert value("delay_censored", CLUE, at()) == 30
    assert value("count_skill", TOTAL, with_totals()) == 0
    assert value("final_count", TOTAL, with_totals()) == 0
    assert of("precision", CLUE, at()).reason == "nothing was said"
    assert value("f1", CLUE, at()) == 0


def test_early_and_again_in_the_window_is_early_and_one_false_alarm() -> None:
    heard = at(15, 26)
    assert value("answered_in_span_any", CLUE, heard) == value("recall", CLUE, heard) == 1
    assert value("answered_in_span", CLUE, heard) == 0
    assert value("repeats", CLUE, heard) == 0
    assert value("delay_median", CLUE, heard) == 6
    # One in the 10 s before the window.
    assert value("false_alarms_per_min", CLUE, heard) == 6
    assert value("precision", CLUE, heard) == 0.5


def test_messages_beyond_the_first_in_a_window_are_repeats() -> None:
    assert value("repeats", CLUE, at(21, 22, 23)) == 2
    assert value("delay_mean", CLUE, at(21, 22, 23)) == 1
    assert value("precision", CLUE, at(21, 22, 23)) == pytest.approx(1 / 3)
    assert value("false_alarms_per_min", CLUE, at(21, 22, 23)) == 0


def test_wider_windows_take_what_is_a_little_early_or_late() -> None:
    def wider(heard: SpeechLog) -> list[float | None]:
        return [value(f"answered_in_span_{by}s", CLUE, heard) for by in (1, 2, 3)]

    assert wider(at(18)) == [0, 1, 1]
    assert wider(at(53)) == [0, 0, 1]
    assert wider(SpeechLog((Utterance(49, 51.5),))) == [0, 1, 1]
    assert wider(at(54)) == [0, 0, 0]


def test_of_two_early_messages_a_wider_window_hears_the_first() -> None:
    assert value("answered_in_span_1s", CLUE, at(12, 19.5)) == 0


# -- what is in force


@pytest.mark.parametrize(
    ("heard", "share"),
    [
        (with_totals(), 0),
        (with_totals((1, 2)), 0.5),  # early and right counts from w0
        (with_totals((25, 2)), 0.5 * 15 / 20),
        (with_totals((25, 2), (30, 7)), 0.5 * 5 / 20),  # a change of mind
        (with_totals((1, 7), (30, 2)), 0.5 * 10 / 20),
        (with_totals((25, 2), (30, None)), 0.5 * 15 / 20),  # no number changes nothing
        (with_totals((45, 2)), 0),
    ],
)
def test_the_latest_message_is_in_force_until_the_next(heard: SpeechLog, share: float) -> None:
    assert value("span_auc", STEPS, heard) == pytest.approx(share)


def test_a_message_is_in_force_from_when_it_is_done() -> None:
    assert value("span_auc", CLUE, SpeechLog((Utterance(20, 35),))) == 0.5
    # The one that began first is done last: right from 30 of [20, 40] on.
    assert value("span_auc", STEPS, SpeechLog((Utterance(21, 30, 2), Utterance(22, 23, 7)))) == 0.25


# -- false alarms, and what nobody asked for


@pytest.mark.parametrize("other", [Slot(10, 25, 2), Slot(10, 15, 2)])
def test_minutes_outside_windows_that_overlap_are_counted_once(other: Slot) -> None:
    watch = with_slots(STEPS, Slot(5, 25, 1), other)
    # 40 s without the 20 from 5 to 25.
    assert value("false_alarms_per_min", watch, at(30)) == 3


def test_a_wrong_number_in_a_window_costs_precision_and_is_no_false_alarm() -> None:
    assert value("false_alarms_per_min", STEPS, with_totals((25, 7))) == 0
    assert value("precision", STEPS, with_totals((25, 7))) == 0


def test_false_alarms_have_no_rate_where_windows_are_always_open() -> None:
    watch = with_slots(STEPS, Slot(0, 40))
    estimate = of("false_alarms_per_min", watch, at(3))
    assert (estimate.value, estimate.unit) == (None, "1/min")
    assert estimate.reason == "windows are open all the time"


def test_messages_before_the_question_and_after_its_end_are_unsolicited() -> None:
    # Open from 10 to 50 of 60 s: 20 s are not.
    heard = until(at(5, 25, 55), 60)
    assert value("unsolicited_per_hour", CLUE, heard) == pytest.approx(2 / 20 * 3600)
    assert value("precision", CLUE, heard) == 1
    assert outcomes(CLUE, heard) == {"answered_in_span": 1}
    # Without word of how far it was watched, to the last message: 10 + 5 s.
    assert value("unsolicited_per_hour", CLUE, at(25, 55)) == pytest.approx(3600 / 15)
    assert of("unsolicited_per_hour", STEPS, with_totals()).reason == "a query is open all the time"


def test_guesses_and_acknowledgements_are_shares() -> None:
    heard = SpeechLog((Utterance(10, 11, acknowledges=True), Utterance(22, 23, by="guessed")))
    assert value("ambiguous", CLUE, heard) == 0.5
    assert value("acknowledgements", CLUE, heard) == 1
    assert outcomes(CLUE, heard) == {"early": 1}


# -- videos that end, sessions that fail


def test_windows_end_with_the_video_and_those_after_it_are_dropped() -> None:
    assert outcomes(CLUE, until(SpeechLog((Utterance(29, 31),)), 30)) == {"late": 1}
    assert value("delay_censored", CLUE, until(at(), 30)) == 10
    ended = until(with_totals((3, 1)), 20)
    assert outcomes(STEPS, ended) == {"answered_in_span": 1}
    assert value("slots_dropped", STEPS, ended) == 0.5
    assert of("answered_in_span", CLUE, until(at(), 20)).reason == "no scores"


def test_a_query_whose_slots_are_all_dropped_weighs_nothing_but_is_counted() -> None:
    """With no score at all it would be in no row that a metric sees."""
    assert share_of_hits(to_json(CLUE), to_json(until(at(), 20))) == 0
    both = columns_of((CLUE, at(25)), (CLUE, until(at(), 20)))
    spoken, dropped = METRICS["answered_in_span"](both), METRICS["slots_dropped"](both)
    assert (spoken.value, spoken.n) == (1, 1)
    assert (dropped.value, dropped.n) == (0.5, 2)


def test_slots_after_a_failure_are_failed_and_earlier_ones_kept() -> None:
    failed = SpeechLog((Utterance(3, 3, 1), Utterance(25, 25, 2)), until=39, failed=True)
    assert outcomes(STEPS, failed) == {"answered_in_span": 1}
    assert of("answered_in_span", STEPS, failed).n == 1
    assert value("slots_failed", STEPS, failed) == 0.5
    assert value("slots_dropped", STEPS, failed) == 0
    assert share_of_hits(to_json(STEPS), to_json(failed)) == 1
    assert share_of_hits(to_json(CLUE), to_json(SpeechLog(until=49, failed=True))) is None


def test_what_was_said_in_a_window_that_was_not_over_is_neither_needed_nor_false() -> None:
    failed = SpeechLog(
        (Utterance(3, 3, 1), Utterance(15, 15, 7), Utterance(25, 25, 2)), 39, failed=True
    )
    assert value("precision", STEPS, failed) == 1 / 2
    assert of("precision", STEPS, failed).n == 2
    # One in the 12 s from 8 to 20.
    assert value("false_alarms_per_min", STEPS, failed) == pytest.approx(5)
    overlapping = with_slots(STEPS, Slot(10, 20, 1), Slot(15, 40, 2))
    failed = SpeechLog((Utterance(17, 17, 1), Utterance(18, 18, 2)), 39, failed=True)
    assert value("precision", overlapping, failed) == 1


def test_a_session_that_failed_before_the_question_was_not_open_so_long() -> None:
    failed = SpeechLog((Utterance(3, 3),), until=5, failed=True)
    assert value("unsolicited_per_hour", CLUE, failed) == pytest.approx(3600 / 5)
    assert of("false_alarms_per_min", CLUE, failed).value is None


def test_a_failed_session_counts_points_and_time_up_to_its_end() -> None:
    failed = SpeechLog((Utterance(12, 12, 1),), until=20, failed=True)
    assert of("projected", TOTAL, failed).n == 2
    assert value("projected", TOTAL, failed) == 0
    assert value("count_mae", TOTAL, failed) == pytest.approx(2 / 20)
    assert value("final_count", TOTAL, failed) is None
    at_once = SpeechLog(until=0, failed=True)
    assert of("count_mae", TOTAL, at_once).reason == "no query asks for a total"


# -- running totals


@pytest.mark.parametrize(
    ("heard", "error", "right", "over", "final"),
    [
        (with_totals(), 10 + 2 * 20, 10, 0, 0),
        (with_totals((10, 1), (20, 2)), 0, 40, 0, 1),
        (with_totals((11, 1), (21, 2)), 2, 38, 0, 1),
        (with_totals((10, 1), (20, 2), (30, 5)), 3 * 10, 30, 10, 0),
        (with_totals((0, 9)), 9 * 10 + 8 * 10 + 7 * 20, 0, 40, 0),
        (with_totals((10, 1), (15, None), (20, 2)), 0, 40, 0, 1),
        (with_totals((10, 1), (20, 3), (20, 2)), 0, 40, 0, 1),
    ],
)
def test_a_total_is_what_was_last_said(
    heard: SpeechLog, error: float, right: float, over: float, final: float
) -> None:
    assert value("count_mae", TOTAL, heard) == pytest.approx(error / 40)
    assert value("count_skill", TOTAL, heard) == pytest.approx(1 - error / 50)
    assert value("count_right_time", TOTAL, heard) == pytest.approx(right / 40)
    assert value("overcount", TOTAL, heard) == pytest.approx(over / 40)
    assert value("final_count", TOTAL, heard) == final


def test_skill_is_not_known_where_saying_nothing_has_no_error() -> None:
    slots, points = (Slot(40, 42, 1),), (Point(40, 1),)
    at_the_end = Watch(task="REC", asked=0, end=42, slots=slots, points=points, counts=True)
    assert value("count_mae", at_the_end, with_totals()) == 0
    assert value("count_skill", at_the_end, with_totals()) is None
    assert value("final_count", at_the_end, with_totals((40, 1))) == 1


def test_totals_are_of_queries_that_ask_for_one() -> None:
    both = columns_of((CLUE, at(25)), (TOTAL, with_totals()))
    assert METRICS["count_right_time"](both).n == 1
    assert (of("count_mae", CLUE, at(25)).value, of("count_mae", CLUE, at(25)).n) == (None, 0)


# -- points


def test_a_point_asks_whether_it_was_said_by_then() -> None:
    assert projection(CLUE, at()) == (0, 0, 0, 0, 0)
    assert projection(CLUE, SpeechLog((Utterance(14, 15),))) == (0, 1, 1, 1, 1)
    assert projection(CLUE, SpeechLog((Utterance(14, 15.1),))) == (0, 0, 1, 1, 1)
    assert projection(CLUE, at(5)) == (0, 0, 0, 0, 0)  # said before it was asked
    assert projection(TOTAL, with_totals((10, 1), (21, 2), (22, 3))) == (1, 1, 3, 3)


def test_projected_is_the_mean_over_tasks() -> None:
    both = columns_of((CLUE, at()), (TOTAL, with_totals((10, 1), (20, 2))))
    assert METRICS["projected"](both).value == pytest.approx((2 / 5 + 1) / 2)
    assert METRICS["projected"](both).n == 9


# -- sets of queries


def test_a_row_without_an_answer_is_what_its_score_says() -> None:
    nothing = columns_of((TOTAL, None))
    perfect = replace(nothing, score=np.ones(1))
    for name, worst, best in [
        ("answered_in_span", 0, 1),
        ("silent", 1, 0),
        ("projected", 0, 1),
        ("count_mae", 50 / 40, 0),
        ("f1", 0, 1),
        ("delay_censored", 15, 0),
    ]:
        assert METRICS[name](nothing).value == worst, name
        assert METRICS[name](perfect).value == best, name
    assert value("projected", CLUE, None) == 0  # and 2/5 for who is silent
    assert value("projected", CLUE, at()) == 2 / 5


def test_few_videos_have_a_reason_instead_of_an_interval() -> None:
    nine = columns_of(*[(CLUE, at(25) if index else at()) for index in range(9)])
    ten = columns_of(*[(CLUE, at(25) if index else at()) for index in range(10)])
    for name in ("answered_in_span", "f1", "delay_censored", "projected"):
        few, enough = METRICS[name](nine), METRICS[name](ten)
        assert few.reason == "9 independent clusters: an interval needs at least 10"
        assert enough.ci95 is not None and enough.value is not None
        assert enough.ci95[0] < enough.value < enough.ci95[1], name


def test_slots_of_one_video_widen_the_interval() -> None:
    every = columns_of(*[(CLUE, at(25) if index % 3 else at()) for index in range(60)])
    shared = replace(every, cluster=np.repeat(np.arange(20, dtype=np.int32), 3))
    in_threes = replace(every.where(np.argsort(np.arange(60) % 3)), cluster=shared.cluster)

    def width(columns: Columns) -> float:
        ci95 = METRICS["answered_in_span"](columns).ci95
        assert ci95 is not None
        return ci95[1] - ci95[0]

    assert width(in_threes) > width(every)


def thirty() -> Columns:
    """Queries of two kinds, with replies at random."""
    drawing = Random(3)

    def times() -> list[float]:
        return sorted(drawing.uniform(5, 55) for _ in range(drawing.randrange(4)))

    return columns_of(
        *((CLUE, at(*times())) for _ in range(15)),
        *(
            (TOTAL, with_totals(*((time, drawing.randrange(3)) for time in times())))
            for _ in range(15)
        ),
    )


@pytest.mark.parametrize("name", sorted({*METRICS} - {"delay_median"}))
def test_a_metric_is_the_aggregate_of_its_clusters_sums(name: str) -> None:
    every = replace(thirty(), cluster=5 + np.arange(30, dtype=np.int32) % 10 * 2)
    sums = METRICS[name](every).sums
    assert sums is not None
    total = sums.sums.sum(axis=0)
    assert sums.aggregate(total[np.newaxis])[0] == pytest.approx(METRICS[name](every).value)
    first = int(sums.cluster[0])
    rest = METRICS[name](every.where(every.cluster != first))
    assert sums.aggregate((total - sums.sums[0])[np.newaxis])[0] == pytest.approx(rest.value)


def test_a_median_is_no_aggregate_of_sums() -> None:
    assert METRICS["delay_median"](thirty()).sums is None


@pytest.mark.parametrize("name", METRICS)
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    drawing, ordered = Random(4), thirty()
    other = ordered.where(np.array(drawing.sample(range(30), 30)))
    assert METRICS[name](ordered).value == pytest.approx(METRICS[name](other).value, rel=1e-12)
    nothing = METRICS[name](ordered.where(np.zeros(30, dtype=bool)))
    assert nothing.value is None and nothing.reason


@pytest.mark.parametrize("name", METRICS)
def test_where_all_sessions_failed_at_once_the_failed_share_alone_is_known(name: str) -> None:
    failed = columns_of(
        (CLUE, SpeechLog(until=0, failed=True)), (TOTAL, SpeechLog(until=0, failed=True))
    )
    estimate = METRICS[name](replace(failed, score=None))
    known = {"slots_failed": 1.0, "slots_dropped": 0.0, "acknowledgements": 0.0}
    assert estimate.value == known.get(name)
    assert estimate.value is not None or estimate.reason


def test_without_scores_a_row_without_an_answer_is_not_taken_for_right() -> None:
    unknown = replace(columns_of((CLUE, None)), score=None)
    assert streaming.answered_in_span(unknown).value == 0
