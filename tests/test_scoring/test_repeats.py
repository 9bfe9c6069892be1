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
    made = benchmark(TARGETS, **fields)
    samples = [made.read(row) for row in made.data]
    counted = Tally(made)
    counted.add(
        Scored(sample, repeat, "failed", None, row_index=place)
        if said is None
        else Scored(sample, repeat, "ok", Reply(text=said), row_index=place)
        for place, sample in enumerate(samples)
        for repeat, said in enumerate(replies.get(sample.id, ()))
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
    found = repeats(REPLIES).metrics
    values = {name: (one.value, one.n) for name, one in found.items() if name.startswith("pass")}
    expected = {"pass@1": 6 / 12, "pass@2": 8 / 12, "pass@3": 3 / 4}
    assert values == {name: (about(value), 4) for name, value in expected.items()}


def test_the_headline_stays_the_mean_of_all_replies() -> None:
    report = tally(REPLIES)
    metric = report.scorings["official"].metrics["accuracy"]
    assert (metric.value, metric.n) == (0.5, 12)


def test_the_majority_is_the_answer_read_most_often_and_a_tie_is_shared() -> None:
    # a: yes, right. b: yes, wrong. c: right. d: yes or maybe, both wrong; "" is no candidate.
    assert repeats(REPLIES).metrics["majority@3"].value == 2 / 4
    tied = repeats({**REPLIES, "d": ("yes", "no", "")}).metrics["majority@3"]
    assert tied.value == about(2.5 / 4)


def test_unread_replies_that_are_more_than_any_answer_have_no_vote() -> None:
    found = repeats({**REPLIES, "d": ("", "", "no")}).metrics["majority@3"]
    assert found.value == 3 / 4


def test_where_nothing_could_be_read_the_majority_is_wrong() -> None:
    found = repeats({**REPLIES, "d": ("", "", "")}).metrics["majority@3"]
    assert (found.value, found.n) == (2 / 4, 4)


def test_a_failed_repeat_leaves_the_others_and_gives_bounds() -> None:
    found = repeats({**REPLIES, "b": ("no", "yes", None)}).metrics
    # b has 1 right of 2. pass@2 is (1 + 1 + 1 + 0) / 4; with the third wrong b has 1 - 1/3.
    assert found["pass@2"].value == about(3 / 4)
    assert found["pass@2"].bounds == (about((1 + 2 / 3 + 1) / 4), about(3 / 4))
    # pass@3 knows three questions; b has it anyway.
    assert (found["pass@3"].value, found["pass@3"].n) == (about(2 / 3), 3)
    assert found["pass@3"].bounds == (about(3 / 4), about(3 / 4))
    # b is a tie now, and would be yes (wrong), or no.
    assert found["majority@3"].value == about(2.5 / 4)
    assert found["majority@3"].bounds == (2 / 4, 3 / 4)


def test_a_missing_reply_may_be_an_answer_that_nobody_gave() -> None:
    found = repeats({**REPLIES, "b": ("yes", None, None)}).metrics["majority@3"]
    assert found.value == 2 / 4
    assert found.bounds == (2 / 4, 3 / 4)


def test_a_k_that_no_question_has_is_no_number() -> None:
    found = repeats({name: (*said[:2], None) for name, said in REPLIES.items()}).metrics["pass@3"]
    assert (found.value, found.n) == (None, 0)
    assert found.reason == "no question has 3 replies that are scored"


def test_partial_scores_have_a_majority_and_no_pass_at_k() -> None:
    def half(reading: Reading, sample: object) -> float:
        return 0.5 if reading.answer == "maybe" else float(reading.answer == "yes")

    found = repeats(REPLIES, scorings={"official": scoring(score=half)})
    # a: 1. b: 1. c: 1. d: yes (1) or maybe (1/2).
    assert {name: one.value for name, one in found.metrics.items()} == {
        "majority@3": about(3.75 / 4)
    }


def test_a_judges_grades_have_no_majority() -> None:
    judge = Judge(
        name="j",
        prompt=lambda sample, reply: (),
        parse=lambda text, sample: Reading(answer=None, rule="r"),
        when=lambda reading: False,
    )
    found = repeats(REPLIES, scorings={"official": scoring(judge=judge)})
    assert list(found.metrics) == ["pass@1", "pass@2", "pass@3"]


def test_what_only_the_whole_set_has_a_score_for_has_no_repeats() -> None:
    def whole(columns: Columns) -> Estimate:
        return Estimate(value=1.0, n=columns.n)

    made = scoring(score=lambda reading, sample: None, metrics={"whole": whole})
    assert tally(REPLIES, scorings={"official": made}).repeats == {}


def test_one_reply_a_question_has_no_repeats() -> None:
    report = tally({name: said[:1] for name, said in REPLIES.items()})
    assert (report.repeats, report.alike) == ({}, None)


def test_the_parts_of_the_variance_by_hand() -> None:
    # Right are 2, 1, 3 and 0 of 3, the mean is 1/2: within = (2/3 + 2/3 + 0 + 0) / 8 = 1/6,
    # between = (3 (1/36 + 1/36 + 1/4 + 1/4) / 3 - 1/6) / 3 = (5/9 - 1/6) / 3 = 7/54.
    found = repeats(REPLIES)
    assert (found.most, found.questions) == (3, 4)
    assert (found.within, found.between) == (about(1 / 6), about(7 / 54))
    assert found.stderr_again == about((1 / 6 / 12) ** 0.5)
    assert found.stderr_questions == about((7 / 54 / 4) ** 0.5)


def test_pass_at_k_knows_which_questions_share_a_picture() -> None:
    replies = {str(i): ("yes", "no") if i % 2 else ("no", "no") for i in range(40)}
    made = benchmark(dict.fromkeys(replies, "yes"))
    pairs = benchmark(dict.fromkeys(replies, "yes"), cluster_by=lambda one: str(int(one.id) % 20))

    def stderr(of: object) -> float:
        counted = Tally(of)  # type: ignore[arg-type]
        counted.add(
            Scored(made.read(row), repeat, "ok", Reply(text=text), row_index=row.position)
            for row in made.data
            for repeat, text in enumerate(replies[row["id"]])
        )
        found = counted.report(model="", identity={}).repeats["official"].metrics["pass@1"]
        assert found.stderr is not None
        return found.stderr

    # 0 and 1/4 from the mean each; pairs (i, i + 20) are alike, so that there are half as many:
    # G/(G-1) · Σ u² / n², with 40 · (1/4)² and 20 · (1/2)².
    assert stderr(made) == about((40 / 39 * 40 / 16 / 1600) ** 0.5)
    assert stderr(pairs) == about((20 / 19 * 20 / 4 / 1600) ** 0.5)


def test_published_files_with_several_replies_a_question_have_them_too() -> None:
    found = score_predictions(
        benchmark(TARGETS),
        {name: said[0] for name, said in REPLIES.items()},
        where="replies.json",
        again={name: said[1:] for name, said in REPLIES.items()},
    )
    assert found.repeats["official"].metrics["pass@2"].value == about(8 / 12)


def test_a_few_doubled_rows_of_a_file_are_no_repeats() -> None:
    many: dict[str, str | None] = {str(i): "yes" for i in range(30)}
    found = score_predictions(
        benchmark(many), many, where="replies.json", again={"0": ["no"], "1": ["no"]}
    )
    assert (found.n, found.repeats, found.alike) == (32, {}, None)


# -- runs


def by_seed(request: Request) -> str:
    return "yes" if request.seed else "no"


def test_repeats_of_a_greedy_model_are_said_to_be_alike(tmp_path: Path) -> None:
    finished = run(tmp_path, Says(lambda request: "yes"), tiny(4), repeats=3, temperature=0)
    assert finished.result is not None
    said = "repeats of a greedy model are alike: 4 of 4 samples got the same words each time"
    assert said in finished.result.report.notes


def test_repeats_at_another_temperature_have_no_such_note(tmp_path: Path) -> None:
    finished = run(tmp_path, Says(by_seed), tiny(4), repeats=3, temperature=0.7)
    assert finished.result is not None
    assert finished.result.report.alike == 0
    assert not any("greedy" in note for note in finished.result.report.notes)


def test_more_repeats_later_ask_only_what_is_new(tmp_path: Path) -> None:
    run(tmp_path, Says(by_seed), tiny(4), seed=0)
    again = Says(by_seed)
    second = run(tmp_path, again, tiny(4), seed=0, repeats=3)

    assert sorted(request.seed or 0 for request in again.requests) == [1] * 4 + [2] * 4
    assert states(second) == {"ok": 12}
    assert second.result is not None
    found = second.result.report.repeats["official"].metrics
    # Of three replies one is "no", the others "yes": all pairs have a right one.
    assert (found["pass@1"].value, found["pass@2"].value) == (about(2 / 3), 1.0)


def test_a_repeat_that_failed_is_in_no_pass_at_k(tmp_path: Path) -> None:
    def fails_once(request: Request) -> str:
        if request.seed == 2 and request.messages[0].text == "question 1":
            raise Rejected("no")
        return by_seed(request)

    finished = run(tmp_path, Says(fails_once), tiny(4), repeats=3)
    assert finished.result is not None
    found = finished.result.report.repeats["official"].metrics["pass@3"]
    assert (found.value, found.n, found.bounds) == (1.0, 3, (1.0, 1.0))


def test_reports_show_repeats_with_the_parts_of_the_error(tmp_path: Path) -> None:
    result = Result(tally(REPLIES))
    text = terminal.as_text([result])
    assert "3 replies per question" in text
    assert "official   majority@3   50.00 %" in text
    # 1/72 of 1/72 + 7/216: three tenths.
    said = "official: 30.00 % of the mean's variance comes from the model"
    assert said in text
    assert said in words.markdown([result])


def test_a_failed_repeat_is_neither_alike_nor_different(tmp_path: Path) -> None:
    def fails_again(request: Request) -> str:
        if request.seed:
            raise Rejected("no")
        return "yes"

    finished = run(tmp_path, Says(fails_again), tiny(4), repeats=2)
    assert finished.result is not None
    assert finished.result.report.alike is None
