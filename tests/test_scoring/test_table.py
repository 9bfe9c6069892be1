"""Rows of replies: keyed, in any order, in several tables, and scored in parts."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.core import Judge, Parts, Reading, Reply, Sample, Scoring, user
from snellen.core.benchmark import Benchmark
from snellen.core.presentation import Presentation
from snellen.data import Drawn
from snellen.metrics import mean
from snellen.scoring import Report, Scored, Tally

SAMPLES = [
    Sample(
        id=f"s{index}",
        question="Which " + "word " * (index % 7),
        choices=("w", "x", "y"),
        target="ABC"[index % 3],
        references=("A", "B") if index % 4 == 0 else (),
        tags={"kind": ("z", "b", "m")[index % 3]},
    )
    for index in range(12)
]
WORDS = ("A", "B", "a cat", "", "C it is")


def scoring(**fields: Any) -> Scoring:
    values: dict[str, Any] = {
        "version": 1,
        "source": "ours",
        "parse": lambda reply, _: Reading(answer=reply.text[:1] or None, rule="first letter"),
        "score": lambda reading, sample: float(reading.answer == sample.target),
        "metrics": {"accuracy": mean},
        **fields,
    }
    return Scoring(**values)


def strict(reply: Reply, _: Sample) -> Reading:
    return Reading(answer=reply.text if len(reply.text) == 1 else None, rule="one letter")


def benchmark(**scorings: Scoring) -> Benchmark:
    return Benchmark(
        name="letters",
        asks=1,
        data=Drawn("letters", lambda: iter(())),
        sample=lambda sample_index, row: SAMPLES[sample_index],
        prompt=lambda sample, _: (user(sample.question),),
        scorings=scorings or {"official": scoring(), "strict": scoring(parse=strict)},
        presentation=Presentation(break_down_by=("kind",)),
    )


def reply(sample_index: int, repeat: int, text: str | None) -> Scored:
    if text is None:
        error = f"file{sample_index}.png: no such file"
        return Scored(
            SAMPLES[sample_index], repeat, "failed", None, error=error, row_index=sample_index
        )
    answer = Reply(text=text, stop="stop")
    return Scored(SAMPLES[sample_index], repeat, answer.state, answer, row_index=sample_index)


def tallied(replies: Sequence[Scored]) -> Tally:
    tally = Tally(benchmark())
    tally.add(replies)
    return tally


def report(tally: Tally) -> Report:
    return tally.report(model="m", identity={"generation": {"temperature": 0}}, of=100)


# Three replies to each question, of which some failed; a failure may have been tried again.
replies = st.lists(
    st.tuples(st.sampled_from([None, *WORDS]), st.sampled_from([None, *WORDS])),
    min_size=3 * len(SAMPLES),
    max_size=3 * len(SAMPLES),
)


@given(replies, st.data())
@settings(max_examples=60, deadline=None)
def test_no_order_of_arrival_and_no_split_changes_the_report(
    texts: list[tuple[str | None, str | None]], data: st.DataObject
) -> None:
    in_order, attempts = [], []
    for index, (first, second) in enumerate(texts):
        sample_index, repeat = divmod(index, 3)
        in_order.append(reply(sample_index, repeat, second if first is None else first))
        attempts.append(reply(sample_index, repeat, first))
        if first is None and second is not None:
            attempts.append(reply(sample_index, repeat, second))

    shuffled = data.draw(st.permutations(attempts))
    cut = data.draw(st.integers(0, len(shuffled)))
    tally, other = tallied(shuffled[:cut]), tallied(shuffled[cut:])
    tally.table.merge(other.table)

    assert report(tally) == report(tallied(in_order))


@given(st.permutations(range(2 * len(SAMPLES))), st.data())
@settings(max_examples=60, deadline=None)
def test_rows_are_joined_with_their_samples_by_key_in_any_order(
    order: Sequence[int], data: st.DataObject
) -> None:
    attempts = [reply(*divmod(index, 2), "A") for index in (*order, order[0])]
    tally = tallied(attempts)
    tally.table.sort()
    in_order = [reply(*divmod(index, 2), "A") for index in range(2 * len(SAMPLES))]

    assert [attempts[index] for index in tally.table.arrivals] == in_order
    read_again = data.draw(st.permutations(in_order))
    assert [row for row, _ in tally.table.numbered(read_again)] == [
        in_order.index(scored) for scored in read_again
    ]


def test_a_reply_without_a_row_is_an_error() -> None:
    tally = tallied([reply(0, 0, "A")])

    with pytest.raises(ValueError, match="'s1', repeat 0, turn 0 has no row"):
        list(tally.table.numbered([reply(1, 0, "A")]))


def test_rows_added_after_sorting_keep_the_number_of_their_arrival() -> None:
    tally = tallied([reply(2, 0, "A"), reply(1, 0, "A"), reply(1, 0, "B")])
    tally.table.sort()
    tally.add([reply(0, 0, "C")])
    tally.table.sort()

    assert tally.table.arrivals.tolist() == [3, 2, 0]


@pytest.mark.parametrize("retry_first", [False, True])
def test_a_retry_replaces_the_failure_and_no_failure_replaces_a_reply(retry_first: bool) -> None:
    attempts = [reply(1, 0, None), reply(1, 0, "B")]
    if retry_first:
        attempts.reverse()
    tally = tallied([reply(2, 0, "C"), *attempts, reply(0, 0, "A")])

    result = report(tally)

    assert result.replies == {"ok": 3}
    assert result.scorings["official"].metrics["accuracy"].value == 1.0
    assert not result.incomplete


def test_of_two_replies_with_one_key_the_later_counts() -> None:
    result = report(tallied([reply(0, 0, "A"), reply(1, 0, "A"), reply(1, 0, "B")]))

    assert (result.n, result.scorings["official"].metrics["accuracy"].value) == (2, 1.0)


def test_a_table_takes_rows_after_a_report() -> None:
    tally = tallied([reply(1, 0, "B")])
    assert report(tally).n == 1
    tally.add([reply(0, 0, "A")])
    assert report(tally) == report(tallied([reply(0, 0, "A"), reply(1, 0, "B")]))


# -- scores in parts

WEIGHTS = {"subject": 3.0, "style": 1.0}


def in_parts(reading: Reading, sample: Sample) -> Parts:
    """Two words of a reply, each right or wrong: the subject weighs three times the style."""
    assert isinstance(reading.answer, str)
    subject, style = reading.answer.split()
    return Parts(
        values={"subject": float(subject == "cat"), "style": float(style == "oil")},
        weights=WEIGHTS,
    )


def full_reply(reply: Reply, _: Sample) -> Reading:
    return Reading(answer=reply.text, rule="whole")


PARTS = scoring(parse=full_reply, score=in_parts)
PAINTED = ["cat oil", "cat ink", "dog oil", "dog ink"]


def lines(tally: Tally, replies: Sequence[Scored]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(tally.rows(replies)).splitlines()]


def test_the_mean_is_of_the_weighted_whole_and_each_part_has_its_own() -> None:
    tally = Tally(benchmark(official=PARTS))
    rows = lines(tally, [reply(sample_index, 0, text) for sample_index, text in enumerate(PAINTED)])
    metrics = report(tally).scorings["official"].metrics

    # (3 · subject + 1 · style) / 4: 1, 3/4, 1/4, 0.
    assert [row.get("score") for row in rows] == [1.0, 0.75, 0.25, 0.0]
    assert rows[1]["parts"] == {"subject": 1.0, "style": 0.0}
    values = {name: (of.value, of.n) for name, of in metrics.items()}
    assert values["accuracy"] == (0.5, 4)
    assert values["accuracy/part=subject"] == (0.5, 4)
    assert values["accuracy/part=style"] == (0.5, 4)


def test_a_number_has_no_parts_in_its_row() -> None:
    [row] = lines(Tally(benchmark(official=scoring())), [reply(0, 0, "A")])
    assert "parts" not in row


def test_a_withheld_reply_is_wrong_in_every_part_and_a_failed_one_is_in_none() -> None:
    tally = Tally(benchmark(official=PARTS))
    withheld = Reply(text="", stop="filter")
    refused = Scored(SAMPLES[2], 0, "refused", withheld, row_index=2)
    tally.add([refused, reply(1, 0, None), reply(0, 0, "cat ink")])
    metrics = report(tally).scorings["official"].metrics

    assert {name: (of.value, of.n) for name, of in metrics.items() if "/part" in name} == {
        "accuracy/part=style": (0.0, 2),
        "accuracy/part=subject": (0.5, 2),
    }


def test_parts_of_tables_that_are_merged_belong_to_their_rows() -> None:
    tally, other = Tally(benchmark(official=PARTS)), Tally(benchmark(official=PARTS))
    other.add([reply(0, 0, "cat oil"), reply(1, 0, "dog oil")])
    tally.add([reply(2, 0, None)])
    tally.table.merge(other.table)
    metrics = report(tally).scorings["official"].metrics

    assert metrics["accuracy/part=subject"].value == 0.5
    assert metrics["accuracy/part=style"].value == 1.0


def test_parts_by_several_judges_are_averaged() -> None:
    judge = Judge(
        name="words",
        prompt=lambda sample, reply: (),
        parse=lambda words, _: Reading(answer=words, rule="verdict"),
        when=lambda reading: True,
    )
    tally = Tally(
        benchmark(official=replace(PARTS, judge=judge)),
        verdicts={"official": lambda *_: ["cat oil", "dog oil"]},
    )
    [row] = lines(tally, [reply(0, 0, "?")])
    metrics = report(tally).scorings["official"].metrics

    assert row["score"] == 0.625
    assert row["parts"] == {"subject": 0.5, "style": 1.0}
    assert metrics["accuracy/part=subject"].value == 0.5
    assert metrics["accuracy"].value == 0.625
