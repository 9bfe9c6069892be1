"""Questions asked several times: what is asked, and what the report makes of the replies."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from snellen.analysis.result import Result
from snellen.core.model import Reply, Request
from snellen.core.scoring import Judge, Reading
from snellen.errors import Rejected
from snellen.metrics import Columns
from snellen.report import terminal, words
from snellen.scoring import RepeatsReport, Report, Scored, Tally, score_predictions
from snellen.stats import Estimate
from tests.test_scoring.test_scoring import benchmark, scoring
from tests.tiny import Says, run, states
from tests.tiny import benchmark as tiny

TARGETS: dict[str, str | None] = {"a": "yes", "b": "no", "c": "yes", "d": "no"}


def about(value: float) -> Any:
    """Equal to it but for rounding."""
    return pytest.approx(value)


def tally(replies: Mapping[str, Sequence[str | None]], **fields: object) -> Report:
    """The report of these replies to a to d, "yes" and "no" being right; None: it failed."""
    bench = benchmark(TARGETS, **fields)
    samples = [bench.read(row) for row in bench.data]
    counted = Tally(bench)
    counted.add(
        Scored(sample, repeat, "failed", None, row_index=index)
        if text is None
        else Scored(sample, repeat, "ok", Reply(text=text), row_index=index)
        for index, sample in enumerate(samples)
        for repeat, text in enumerate(replies.get(sample.id, ()))
    )
    return counted.report(model="m", identity={})


def repeats(replies: Mapping[str, Sequence[str | None]], **fields: object) -> RepeatsReport:
    return tally(replies, **fields).repeats["official"]


REPLIES = {
    "a": ("yes", "yes", "no"),
    "b": ("no", "yes", "yes"),
    "c": ("yes", "yes", "yes"),
    "d": ("yes", "maybe", ""),
}


def test_pass_at_k_is_there_for_the_powers_of_two_and_k() -> None:
    # Of three replies 2, 1, 3 and 0 are right: of the three pairs of each 3, 2, 3 and 0 have one.
    metrics = repeats(REPLIES).metrics
    values = {
        name: (estimate.value, estimate.n)
        for name, estimate in metrics.items()
        if name.startswith("pass")
    }
    expected = {"pass@1": 6 / 12, "pass@2": 8 / 12, "pass@3": 3 / 4}
    assert values == {name: (about(value), 4) for name, value in expected.items()}


def test_the_headline_stays_the_mean_of_all_replies() -> None:
    report = tally(REPLIES)
    metric = report.scorings["official"].metrics["accuracy"]
    assert (metric.value, metric.n) == (0.5, 12)


def test_the_majority_is_the_answer_read_most_often_and_a_tie_is_shared() -> None:
    # a: yes, right. b: yes, wrong. c: right. d: yes or maybe, both wrong; "" is not a candidate.
    assert repeats(REPLIES).metrics["majority@3"].value == 2 / 4
    tied = repeats({**REPLIES, "d": ("yes", "no", "")}).metrics["majority@3"]
    assert tied.value == about(2.5 / 4)


def test_unread_replies_that_are_more_than_any_answer_have_no_vote() -> None:
    majority = repeats({**REPLIES, "d": ("", "", "no")}).metrics["majority@3"]
    assert majority.value == 3 / 4


def test_where_nothing_could_be_read_the_majority_is_wrong() -> None:
    majority = repeats({**REPLIES, "d": ("", "", "")}).metrics["majority@3"]
    assert (majority.value, majority.n) == (2 / 4, 4)


def test_a_failed_repeat_leaves_the_others_and_gives_bounds() -> None:
    metrics = repeats({**REPLIES, "b": ("no", "yes", None)}).metrics
    # b has 1 right of 2. pass@2 is (1 + 1 + 1 + 0) / 4; with the third wrong b has 1 - 1/3.
    assert metrics["pass@2"].value == about(3 / 4)
    assert metrics["pass@2"].bounds == (about((1 + 2 / 3 + 1) / 4), about(3 / 4))
    # pass@3 knows three questions; b has it anyway.
    assert (metrics["pass@3"].value, metrics["pass@3"].n) == (about(2 / 3), 3)
    assert metrics["pass@3"].bounds == (about(3 / 4), about(3 / 4))
    # b is a tie now, and would be yes (wrong), or no.
    assert metrics["majority@3"].value == about(2.5 / 4)
    assert metrics["majority@3"].bounds == (2 / 4, 3 / 4)


def test_a_missing_reply_may_be_an_answer_that_nobody_gave() -> None:
    majority = repeats({**REPLIES, "b": ("yes", None, None)}).metrics["majority@3"]
    assert majority.value == 2 / 4
    assert majority.bounds == (2 / 4, 3 / 4)


def test_a_k_that_no_question_has_is_no_number() -> None:
    estimate = repeats({name: (*texts[:2], None) for name, texts in REPLIES.items()}).metrics[
        "pass@3"
    ]
    assert (estimate.value, estimate.n) == (None, 0)
    assert estimate.reason == "no question has 3 scored replies"


def test_partial_scores_have_a_majority_and_no_pass_at_k() -> None:
    def half(reading: Reading, sample: object) -> float:
        return 0.5 if reading.answer == "maybe" else float(reading.answer == "yes")

    result = repeats(REPLIES, scorings={"official": scoring(score=half)})
    # a: 1. b: 1. c: 1. d: yes (1) or maybe (1/2).
    assert {name: estimate.value for name, estimate in result.metrics.items()} == {
        "majority@3": about(3.75 / 4)
    }


def test_a_judges_grades_have_no_majority() -> None:
    judge = Judge(
        name="j",
        prompt=lambda sample, reply: (),
        parse=lambda text, sample: Reading(answer=None, rule="r"),
        when=lambda reading: False,
    )
    result = repeats(REPLIES, scorings={"official": scoring(judge=judge)})
    assert list(result.metrics) == ["pass@1", "pass@2", "pass@3"]


def test_what_only_the_whole_set_has_a_score_for_has_no_repeats() -> None:
    def constant(columns: Columns) -> Estimate:
        return Estimate(value=1.0, n=columns.n)

    set_scoring = scoring(score=lambda reading, sample: None, metrics={"whole": constant})
    assert tally(REPLIES, scorings={"official": set_scoring}).repeats == {}


def test_one_reply_a_question_has_no_repeats() -> None:
    report = tally({name: texts[:1] for name, texts in REPLIES.items()})
    assert (report.repeats, report.alike) == ({}, None)


def test_the_parts_of_the_variance_by_hand() -> None:
    # Right are 2, 1, 3 and 0 of 3, the mean is 1/2: within = (2/3 + 2/3 + 0 + 0) / 8 = 1/6,
    # between = (3 (1/36 + 1/36 + 1/4 + 1/4) / 3 - 1/6) / 3 = (5/9 - 1/6) / 3 = 7/54.
    result = repeats(REPLIES)
    assert (result.most, result.questions) == (3, 4)
    assert (result.within, result.between) == (about(1 / 6), about(7 / 54))
    assert result.stderr_again == about((1 / 6 / 12) ** 0.5)
    assert result.stderr_questions == about((7 / 54 / 4) ** 0.5)


def test_pass_at_k_knows_which_questions_share_a_picture() -> None:
    replies = {str(i): ("yes", "no") if i % 2 else ("no", "no") for i in range(40)}
    bench = benchmark(dict.fromkeys(replies, "yes"))
    pairs = benchmark(
        dict.fromkeys(replies, "yes"), cluster_by=lambda sample: str(int(sample.id) % 20)
    )

    def stderr(of: object) -> float:
        counted = Tally(of)  # type: ignore[arg-type]
        counted.add(
            Scored(bench.read(row), repeat, "ok", Reply(text=text), row_index=row.position)
            for row in bench.data
            for repeat, text in enumerate(replies[row["id"]])
        )
        estimate = counted.report(model="", identity={}).repeats["official"].metrics["pass@1"]
        assert estimate.stderr is not None
        return estimate.stderr

    # 0 and 1/4 from the mean each; pairs (i, i + 20) are alike, so that there are half as many:
    # G/(G-1) · Σ u² / n², with 40 · (1/4)² and 20 · (1/2)².
    assert stderr(bench) == about((40 / 39 * 40 / 16 / 1600) ** 0.5)
    assert stderr(pairs) == about((20 / 19 * 20 / 4 / 1600) ** 0.5)


def test_published_files_with_several_replies_a_question_have_them_too() -> None:
    report = score_predictions(
        benchmark(TARGETS),
        {name: texts[0] for name, texts in REPLIES.items()},
        where="replies.json",
        again={name: texts[1:] for name, texts in REPLIES.items()},
    )
    assert report.repeats["official"].metrics["pass@2"].value == about(8 / 12)


def test_a_few_doubled_rows_of_a_file_are_no_repeats() -> None:
    many: dict[str, str | None] = {str(i): "yes" for i in range(30)}
    report = score_predictions(
        benchmark(many), many, where="replies.json", again={"0": ["no"], "1": ["no"]}
    )
    assert (report.n, report.repeats, report.alike) == (32, {}, None)


# -- runs


def by_seed(request: Request) -> str:
    return "yes" if request.seed else "no"


def test_repeats_of_a_greedy_model_are_said_to_be_alike(tmp_path: Path) -> None:
    finished = run(tmp_path, Says(lambda request: "yes"), tiny(4), repeats=3, temperature=0)
    assert finished.result is not None
    note = "4 of 4 questions got the same reply in every repeat, as is expected at temperature 0"
    assert note in finished.result.report.notes


def test_repeats_at_another_temperature_have_no_such_note(tmp_path: Path) -> None:
    finished = run(tmp_path, Says(by_seed), tiny(4), repeats=3, temperature=0.7)
    assert finished.result is not None
    assert finished.result.report.alike == 0
    assert not any("temperature 0" in note for note in finished.result.report.notes)


def test_more_repeats_later_ask_only_what_is_new(tmp_path: Path) -> None:
    run(tmp_path, Says(by_seed), tiny(4), seed=0)
    again = Says(by_seed)
    second = run(tmp_path, again, tiny(4), seed=0, repeats=3)

    assert sorted(request.seed or 0 for request in again.requests) == [1] * 4 + [2] * 4
    assert states(second) == {"ok": 12}
    assert second.result is not None
    metrics = second.result.report.repeats["official"].metrics
    # Of three replies one is "no", the others "yes": all pairs have a right one.
    assert (metrics["pass@1"].value, metrics["pass@2"].value) == (about(2 / 3), 1.0)


def test_a_repeat_that_failed_is_in_no_pass_at_k(tmp_path: Path) -> None:
    def fails_once(request: Request) -> str:
        if request.seed == 2 and request.messages[0].text == "question 1":
            raise Rejected("no")
        return by_seed(request)

    finished = run(tmp_path, Says(fails_once), tiny(4), repeats=3)
    assert finished.result is not None
    estimate = finished.result.report.repeats["official"].metrics["pass@3"]
    assert (estimate.value, estimate.n, estimate.bounds) == (1.0, 3, (1.0, 1.0))


def test_reports_show_repeats_with_the_parts_of_the_error(tmp_path: Path) -> None:
    result = Result(tally(REPLIES))
    text = terminal.as_text([result])
    assert "3 replies per question" in text
    assert "official   majority@3   50.00 %" in text
    # 1/72 of 1/72 + 7/216: three tenths.
    note = "official: 30.00 % of the mean's variance comes from the model"
    assert note in text
    assert note in words.markdown([result])


def test_a_failed_repeat_is_neither_alike_nor_different(tmp_path: Path) -> None:
    def fails_again(request: Request) -> str:
        if request.seed:
            raise Rejected("no")
        return "yes"

    finished = run(tmp_path, Says(fails_again), tiny(4), repeats=2)
    assert finished.result is not None
    assert finished.result.report.alike is None
