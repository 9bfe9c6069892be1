"""Replies to a report: every reply is accounted for, and no failure becomes a number."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from snellen.core.benchmark import Benchmark, Check, vary
from snellen.core.coordinates import Convention, Coordinates, CoordinateUse
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring
from snellen.data import Drawn, Row
from snellen.errors import DataError, UsageError
from snellen.interop import predictions
from snellen.media.content import user
from snellen.metrics import Columns, Compute, Metric, mean, yes_no
from snellen.scoring import FileQuestions, Report, Scored, Tally, score_predictions
from snellen.stats import Estimate

TARGETS = {"a": "yes", "b": "no", "c": "yes", "d": "no"}


def read_all(reply: Reply, sample: Sample) -> Reading:
    return Reading(answer=reply.text or None, rule="whole")


def first_word(reply: Reply, sample: Sample) -> Reading:
    words = reply.text.split()
    return Reading(answer=words[0] if words else None, rule="first word")


def right(reading: Reading, sample: Sample) -> float:
    return float(reading.answer == sample.target)


def scoring(**fields: Any) -> Scoring:
    created: dict[str, Any] = {
        "version": 1,
        "source": "ours",
        "parse": read_all,
        "score": right,
        "metrics": {"accuracy": mean},
        **fields,
    }
    return Scoring(**created)


def benchmark(targets: dict[str, str | None] | None = None, **fields: Any) -> Benchmark:
    answers = TARGETS if targets is None else targets

    def rows() -> Iterator[dict[str, Any]]:
        return ({"id": name, "target": target} for name, target in answers.items())

    def sample(position: int, row: Row) -> Sample:
        vowel = "vowel" if row["id"] in "aeiou" else "consonant"
        return Sample(id=row["id"], question="?", target=row["target"], tags={"letter": vowel})

    created: dict[str, Any] = {
        "name": "four",
        "asks": 1,
        "data": Drawn("four", rows),
        "sample": sample,
        "prompt": lambda sample, history: (user(sample.question),),
        "scorings": {"official": scoring()},
    }
    return vary(Benchmark(**created), **{"break_down_by": ("letter",), **fields})


def report(benchmark: Benchmark, replies: dict[str, str], **options: Any) -> Report:
    return score_predictions(benchmark, replies, where="replies.jsonl", **options)


def test_metrics_come_for_the_whole_and_for_each_category() -> None:
    actual = report(benchmark(), {"a": "yes", "b": "yes", "c": "yes", "d": "no"})

    metrics = actual.scorings["official"].metrics
    assert {name: (metric.value, metric.n) for name, metric in metrics.items()} == {
        "accuracy": (0.75, 4),
        "accuracy/consonant": (pytest.approx(2 / 3), 3),
        "accuracy/vowel": (1.0, 1),
    }
    assert actual.breakdown == {"letter": ["consonant", "vowel"]}


def test_every_count_sums_to_n() -> None:
    actual = report(benchmark(), {"a": "yes", "b": "", "c": " "})

    assert actual.n == 4
    assert actual.replies == {"ok": 1, "empty": 2, "absent": 1}
    assert actual.scorings["official"].readings == {"answered": 2, "unparsed": 1, "no-reply": 1}


def test_an_unparsed_reply_scores_zero_and_is_counted() -> None:
    actual = report(benchmark(), {"a": "", "b": "no", "c": "yes", "d": "no"})

    assert actual.scorings["official"].metrics["accuracy"].value == 0.75
    assert actual.scorings["official"].readings["unparsed"] == 1


def test_absent_rows_are_in_no_mean_where_the_authors_leave_them_out() -> None:
    actual = report(benchmark(), {"a": "yes", "b": "yes"})

    assert actual.scorings["official"].metrics["accuracy"].value == 0.5
    assert (
        "official: 2 rows without a reply are left out of the means, by this scoring's default; "
        "accuracy is 0.2500 if they count as wrong"
    ) in actual.notes


def test_absent_rows_score_zero_where_the_authors_count_them_and_the_report_says_so() -> None:
    created = benchmark(scorings={"official": scoring(missing="wrong")})

    actual = report(created, {"a": "yes", "b": "yes"})

    assert actual.scorings["official"].metrics["accuracy"].value == 0.25
    assert (
        "official: 2 rows without a reply scored 0, by this scoring's default; without them, "
        "accuracy is 0.5000"
    ) in actual.notes


def test_what_the_authors_code_does_with_missing_rows_is_said_where_it_is_known() -> None:
    theirs = scoring(on_missing="The authors' script stops at such a file")
    result = report(benchmark(scorings={"official": theirs}), {"a": "yes", "b": "yes"})

    [note] = result.notes
    assert note.endswith(
        "is 0.2500 if they count as wrong. The authors' script stops at such a file"
    )


def test_missing_overrides_the_authors_rule() -> None:
    actual = report(benchmark(), {"a": "yes"}, missing="wrong")

    assert actual.scorings["official"].metrics["accuracy"].value == 0.25
    assert any("as --missing says" in note for note in actual.notes)


def test_disagreements_name_the_rules_and_examples() -> None:
    created = benchmark(scorings={"official": scoring(), "robust": scoring(parse=first_word)})

    actual = report(created, {"a": "yes it is", "b": "no", "c": "yes", "d": "no way"})

    [disagreement] = actual.disagreements
    assert (disagreement.scorings, disagreement.n) == (("official", "robust"), 2)
    assert disagreement.by_rule == {"whole | first word": 2}
    assert disagreement.examples == ["a", "d"]


def test_a_row_without_a_reply_is_no_disagreement_whatever_becomes_of_it() -> None:
    created = benchmark(scorings={"official": scoring(missing="wrong"), "robust": scoring()})

    actual = report(created, {"a": "yes", "b": "no"})

    assert actual.scorings["official"].metrics["accuracy"].value == 0.5
    assert actual.scorings["robust"].metrics["accuracy"].value == 1.0
    assert actual.disagreements == []


def test_what_becomes_of_rows_without_a_reply_is_said_for_each_scoring_by_its_name() -> None:
    theirs = scoring(missing="wrong", source="them/theirs@0123abc:score.py#L1-L9")
    created = benchmark(
        scorings={"official": theirs, "copied": scoring(source="others/theirs@4567def:s.py#L1-L2")}
    )

    actual = report(created, {"a": "yes", "b": "yes"})

    assert actual.notes == [
        "official: 2 rows without a reply scored 0, by this scoring's default; without them, "
        "accuracy is 0.5000",
        "copied: 2 rows without a reply are left out of the means, by this scoring's default; "
        "accuracy is 0.2500 if they count as wrong",
    ]


def test_hidden_answers_give_no_number_but_the_reason() -> None:
    actual = report(benchmark({"a": None, "b": None}), {"a": "yes", "b": "no"})

    metric = actual.scorings["official"].metrics["accuracy"]
    assert (metric.value, metric.reason) == (None, "the answers are hidden")
    assert actual.scorings["official"].readings == {"no-target": 2}


def test_questions_with_hidden_answers_that_have_no_reply_are_counted() -> None:
    actual = report(benchmark({"a": None, "b": None, "c": None}), {"a": "yes"})

    assert "2 questions whose answers are hidden have no reply in replies.jsonl" in actual.notes


# -- questions beside replies


def asking(questions: dict[str, str]) -> Benchmark:
    return benchmark(
        dict.fromkeys(questions, "yes"),
        sample=lambda _, row: Sample(id=row["id"], question=questions[row["id"]], target="yes"),
        break_down_by=(),
        options={"split": "val"},
    )


CARS = {f"{n}": f"Is car {n} red?" for n in range(10)}


def notes_on(benchmark: Benchmark, questions: dict[str, str]) -> list[str]:
    stated = FileQuestions(texts=questions)
    return report(benchmark, dict.fromkeys(questions, "yes"), questions=stated).notes


def test_a_file_of_other_questions_is_refused_with_one_of_them() -> None:
    others = {**CARS, **{name: f"Is cat {name} red?" for name in "159"}}

    with pytest.raises(
        DataError,
        match=r"3 of the 10 questions .* from those of four: '1' is 'Is cat 1 red\?' in the file, "
        r"but 'Is car 1 red\?' in the data set.*It was read with split=val",
    ):
        notes_on(asking(CARS), others)


def test_a_few_other_questions_are_said_with_an_example() -> None:
    notes = notes_on(asking(CARS), {**CARS, "5": "Is cat 5 red?", "6": "Is cat 6 red?"})

    assert notes == [
        "2 of the 10 questions in the file differ from those of the data set, for example: '5' is "
        "'Is cat 5 red?' in the file, but 'Is car 5 red?' in the data set"
    ]


@pytest.mark.parametrize(
    "theirs",
    [
        "{}\nAnswer with yes or no.",
        "<image>\nQuestion: {}",
        "  {}  ",
        "<image 1>{}",
        "Is the\ncar “Is” red?",  # one form for all
    ],
)
def test_a_prompt_around_a_question_or_a_form_for_all_is_none_other(theirs: str) -> None:
    replies = {name: theirs.format(text.upper()) for name, text in CARS.items()}

    assert notes_on(asking(CARS), replies) == []


def test_a_question_in_the_data_may_have_more_than_the_file() -> None:
    benchmark = asking({name: f"<image 1> {text} <image 2>Choose." for name, text in CARS.items()})

    assert notes_on(benchmark, CARS) == []


def test_what_all_samples_are_asked_alike_may_be_worded_otherwise() -> None:
    benchmark = asking(dict.fromkeys(CARS, "Describe it."))

    assert notes_on(benchmark, CARS) == []


def test_a_metric_of_the_whole_set_sees_answers_without_scores() -> None:
    def yes_ratio(columns: Columns) -> Estimate:
        assert columns.score is None
        yes = [answer == "yes" for answer in columns.answer]
        return Estimate(value=sum(yes) / len(yes), n=len(yes))

    created = benchmark(
        scorings={
            "official": scoring(score=lambda reading, sample: None, metrics={"yes": yes_ratio})
        }
    )

    actual = report(created, {"a": "yes", "b": "yes", "c": "no"})

    metric = actual.scorings["official"].metrics["yes"]
    assert metric.value == pytest.approx(2 / 3)
    assert metric.n == 3


def test_categories_of_two_tags_with_one_name_are_told_apart() -> None:
    def sample(position: int, row: Row) -> Sample:
        tags = {"color": "orange", "fruit": "orange" if row["id"] == "a" else "plum"}
        return Sample(id=row["id"], question="?", target="yes", tags=tags)

    created = benchmark(sample=sample, break_down_by=("color", "fruit"))

    actual = report(created, dict.fromkeys("abcd", "yes"))

    names = list(actual.scorings["official"].metrics)
    assert names == [
        "accuracy",
        "accuracy/color=orange",
        "accuracy/fruit=orange",
        "accuracy/plum",
    ]


def test_a_tuple_is_one_answer() -> None:
    def words(reply: Reply, sample: Sample) -> Reading:
        return Reading(answer=tuple(reply.text.split()), rule="words")

    created = benchmark(scorings={"official": scoring(parse=words)})
    tally = Tally(created)
    sample = Sample(id="a", question="?", target="yes", tags={"letter": "vowel"})
    replies = [Scored(sample, 0, "ok", Reply(text="one two", stop="stop"))]

    rows = b"".join(tally.rows(replies))

    assert json.loads(rows)["answer"] == ["one", "two"]
    assert tally.report(model="", identity={}).n == 1


def test_replies_to_unknown_questions_are_left_out_and_counted() -> None:
    actual = report(benchmark(), {"a": "yes", "zzz": "yes"})

    assert any(note.startswith("1 replies of replies.jsonl are left out") for note in actual.notes)


def test_a_file_of_another_benchmark_is_refused() -> None:
    with pytest.raises(DataError, match=r"none of its 1 ids .*'zzz'.* is an id of four"):
        report(benchmark(), {"zzz": "yes"})


def test_a_file_of_another_benchmark_is_refused_where_a_few_ids_are_the_same() -> None:
    others = {"a": "yes", "y": "yes", "z": "yes"}
    with pytest.raises(
        DataError, match=r"2 of its 3 replies .* 3 of the 4 questions there have no"
    ):
        report(benchmark(), others)
    # A part of the questions, and replies to more than there are, are both well.
    assert report(benchmark(), {"a": "yes"}).n == 4
    assert report(benchmark(), dict.fromkeys("abcdefghijkl", "yes")).n == 4


def test_an_unknown_scoring_is_named_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no scoring 'robust'\. Scorings: official"):
        report(benchmark(), {"a": "yes"}, scorings=["robust"])


def file_of(tmp_path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path = tmp_path / "model.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_predictions_are_read_by_their_ids(tmp_path: Path) -> None:
    path = file_of(tmp_path, [{"id": "b", "response": "no"}, {"id": 7, "response": 3}])

    assert predictions.read(path).replies == {"b": "no", "7": "3"}


def test_two_different_replies_to_one_question_are_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, [{"id": "b", "response": "no"}, {"id": "b", "response": "yes"}])

    with pytest.raises(
        DataError, match=r"the id 'b' has two different replies, .* the second in row 2"
    ):
        predictions.read(path)


def test_the_same_reply_twice_is_counted_once_and_said(tmp_path: Path) -> None:
    path = file_of(tmp_path, [{"id": "b", "response": "no"}] * 2)

    read = predictions.read(path)

    assert read.replies == {"b": "no"}
    assert "1 rows repeat the reply of an earlier row: counted once" in read.notes


def test_a_file_without_ids_says_which_columns_it_has(tmp_path: Path) -> None:
    path = file_of(tmp_path, [{"name": "b", "response": "no"}])

    with pytest.raises(DataError, match=r"no column of ids. It has name, response"):
        predictions.read(path)


def tallied(benchmark: Benchmark, states: dict[str, str]) -> Report:
    tally = Tally(benchmark)
    replies = []
    for row in benchmark.data:
        sample = benchmark.sample(row.position, row)
        refused = states.get(sample.id) == "refused"
        reply = Reply(text="", stop="filter") if refused else Reply(text="yes", stop="stop")
        replies.append(Scored(sample, 0, reply.state, reply))
    tally.add(replies)
    return tally.report(model="", identity={})


def test_a_refused_reply_to_a_question_with_a_hidden_answer_is_no_number() -> None:
    tally = tallied(benchmark({"a": None, "b": None}), {"a": "refused"})

    assert tally.scorings["official"].metrics["accuracy"].value is None
    assert tally.scorings["official"].readings == {"no-target": 2}


def test_a_refused_reply_leaves_a_metric_of_the_whole_set_its_other_rows() -> None:
    def rows(columns: Columns) -> Estimate:
        assert columns.score is None
        return Estimate(value=float(columns.n), unit="rows", n=columns.n)

    def counted(metric: Compute) -> float | None:
        official = scoring(score=lambda reading, sample: None, metrics={"rows": metric})
        created = benchmark(scorings={"official": official})
        return tallied(created, {"a": "refused"}).scorings["official"].metrics["rows"].value

    # A refusal is an answer of nothing where that is known to be the worst.
    assert counted(Metric(rows, better="higher", unit="rows")) == 4
    assert counted(Metric(rows, better="lower", unit="rows")) == 3
    assert counted(rows) == 3


def test_a_refused_reply_among_hidden_answers_is_the_only_score() -> None:
    created = benchmark({"a": None, "b": None, "c": "yes"})
    tally = Tally(created)
    rows = list(created.data)
    for row, reply in zip(rows, (Reply(text="yes"), Reply(text="no"), None), strict=True):
        sample = created.sample(row.position, row)
        state = "refused" if reply is None else reply.state
        tally.add([Scored(sample, 0, state, reply)])

    accuracy = tally.report(model="m", identity={}).scorings["official"].metrics["accuracy"]

    assert (accuracy.value, accuracy.n, accuracy.bounds) == (0.0, 1, (0.0, 1.0))


def test_failures_at_questions_with_hidden_answers_open_no_bounds() -> None:
    created = benchmark({"a": "yes", "b": "yes", "c": None})
    tally = Tally(created)
    rows = [created.sample(row.position, row) for row in created.data]
    replies = [Reply(text="yes"), Reply(text="yes"), None]
    scored = [
        Scored(sample, 0, "failed" if reply is None else "ok", reply)
        for sample, reply in zip(rows, replies, strict=True)
    ]
    tally.add(scored)

    accuracy = tally.report(model="m", identity={}).scorings["official"].metrics["accuracy"]

    assert (accuracy.value, accuracy.n, accuracy.bounds) == (1.0, 2, None)


def test_rows_without_a_reply_and_without_an_answer_are_not_said_to_score() -> None:
    created = benchmark(
        {"a": "yes", "b": None, "c": "yes"}, scorings={"official": scoring(missing="wrong")}
    )

    actual = report(created, {"a": "yes"})

    assert any(
        note.startswith("official: 1 rows without a reply scored 0") for note in actual.notes
    )


# -- blind baselines


def sample_of(id: str, target: str | None, n: int, references: tuple[str, ...] = ()) -> Sample:
    return Sample(
        id=id, question="?", choices=tuple("wxyz"[:n]), target=target, references=references
    )


def with_samples(samples: Sequence[Sample], **fields: Any) -> Benchmark:
    by_id = {sample.id: sample for sample in samples}

    def rows() -> Iterator[dict[str, Any]]:
        return ({"id": name} for name in by_id)

    created = {
        "data": Drawn("some", rows),
        "sample": lambda position, row: by_id[row["id"]],
        "break_down_by": (),
        **fields,
    }
    return benchmark(**created)


def test_chance_is_one_over_the_number_of_choices_and_the_constant_answer_its_share() -> None:
    samples = [
        sample_of("a", "A", 4),
        sample_of("b", "B", 4),
        sample_of("c", "B", 2),
        sample_of("d", None, 4),
    ]

    replies = {"a": "A", "b": "A", "c": "A", "d": "A"}

    baselines = report(with_samples(samples), replies).baselines

    assert baselines is not None
    assert baselines.chance == pytest.approx((1 / 4 + 1 / 4 + 1 / 2) / 3)
    assert baselines.constant == pytest.approx(2 / 3)
    assert baselines.answer is None, "A among four, B among two"


def test_open_questions_have_a_constant_answer_and_no_chance() -> None:
    samples = [sample_of("a", "yes", 0), sample_of("b", "yes", 0), sample_of("c", "no", 0)]

    check = Check(says=lambda sample, answer: answer, wrong=lambda sample: "-", expect={})
    replies = {"a": "yes", "b": "yes", "c": "yes"}

    baselines = report(with_samples(samples, check=check), replies).baselines

    assert baselines is not None
    assert baselines.constant == pytest.approx(2 / 3)
    assert (baselines.chance, baselines.answer) == (None, "yes")


def test_hidden_answers_have_no_baselines() -> None:
    assert report(with_samples([sample_of("a", None, 4)]), {"a": "A"}).baselines is None


def test_where_there_is_no_formula_blind_models_are_scored_like_any_other() -> None:
    def all_right(columns: Columns) -> Estimate:
        assert columns.score is not None
        return Estimate(value=float(columns.score.min()), n=columns.n)

    check = Check(says=lambda sample, answer: answer, wrong=lambda sample: "-", expect={})
    samples = [sample_of(f"q{i}", "A", 4) for i in range(6)]
    benchmark = with_samples(
        samples, scorings={"official": scoring(metrics={"all": all_right})}, check=check
    )

    baselines = report(benchmark, {f"q{i}": "B" for i in range(6)}).baselines

    assert baselines is not None
    assert baselines.constant == 1.0, "always A gets all six"
    assert baselines.chance == 0.0, "three models that draw among four do not"


def test_the_bounds_of_precision_and_recall_take_a_failure_for_the_wrong_word() -> None:
    """By hand: one yes and one no are right, and one question of each kind has no reply. If both
    were wrong, yes would have been said twice and been right once, of two times that it is right.
    """
    metrics = {"precision": yes_no.precision, "recall": yes_no.recall, "f1": yes_no.f1}
    created = benchmark(
        {"a": "yes", "b": "no", "c": "yes", "d": "no"},
        scorings={"official": scoring(metrics=metrics)},
    )
    samples = [created.sample(row.position, row) for row in created.data]
    replies = [Reply(text="yes"), Reply(text="no"), None, None]
    tally = Tally(created)
    tally.add(
        Scored(sample, 0, "ok" if reply else "failed", reply)
        for sample, reply in zip(samples, replies, strict=True)
    )

    report = tally.report(model="m", identity={}).scorings["official"].metrics

    assert {name: (report[name].value, report[name].bounds) for name in metrics} == {
        "precision": (1.0, (0.5, 1.0)),
        "recall": (1.0, (0.5, 1.0)),
        "f1": (1.0, (0.5, 1.0)),
    }


# -- the questions behind a value


def test_values_about_the_same_questions_share_a_digest() -> None:
    first = report(benchmark(), {"a": "yes", "b": "no", "c": "yes", "d": "no"})
    other = report(benchmark(), {"d": "", "c": "maybe", "b": "no", "a": "no"})
    again = report(
        benchmark(), {name: "yes" for name in TARGETS}, again={name: ["no"] for name in TARGETS}
    )

    assert first.question_digest is not None
    assert first.question_digest == other.question_digest == again.question_digest


def test_values_without_some_replies_or_about_other_answers_have_digests_of_their_own() -> None:
    replies = {name: "yes" for name in TARGETS}
    digests = [
        report(benchmark(), replies).question_digest,
        report(benchmark(), {"a": "yes", "b": "yes"}).question_digest,
        report(benchmark({**TARGETS, "d": None}), replies).question_digest,
        report(benchmark({**TARGETS, "d": "nein"}), replies).question_digest,
    ]

    assert len({*digests}) == len(digests)
    assert report(benchmark(dict.fromkeys(TARGETS)), replies).question_digest is None


# -- coordinates


def test_scorings_that_read_the_same_coordinates_share_a_note() -> None:
    def in_(convention: Convention) -> CoordinateUse:
        return CoordinateUse(
            parse=lambda reply, sample, coordinates: read_all(reply, sample),
            of_prompt=Coordinates(convention=convention),
            is_demanded=True,
        )

    scorings = {
        "official": scoring(coordinates=in_("pixels-original")),
        "judged": scoring(coordinates=in_("pixels-original")),
        "other": scoring(coordinates=in_("0-1")),
        "words": scoring(),
    }
    notes = report(benchmark(scorings=scorings), {name: "yes" for name in TARGETS}).notes

    start, end = "the model's coordinates are not set, so ", ", as the prompt demands. Set them"
    assert [note.partition(end)[0].removeprefix(start) for note in notes if end in note] == [
        "`official` and `judged` read boxes and points as pixels-original (pixels of the original "
        "picture)",
        "`other` reads boxes and points as 0-1 (shares of the picture's width and height)",
    ]
