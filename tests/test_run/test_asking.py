"""Every question is asked once, every reply is kept, and a failure is never a score."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from snellen.api import Plan, run_plan
from snellen.core.benchmark import History
from snellen.core.model import Ranked, Reply, Request
from snellen.core.procedure import Conversation
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring
from snellen.data import Row
from snellen.errors import DataError, Overloaded, Rejected, UsageError
from snellen.media.content import Image, Message, assistant, user
from snellen.metrics import mean
from snellen.registry import Opened
from tests.tiny import QUICK, Says, benchmark, parse, records, right, run, states


def test_each_question_is_asked_once_and_scored(tmp_path: Path) -> None:
    model = Says(lambda request: "yes" if "1" in request.messages[0].text else "no")

    finished = run(tmp_path, model)

    assert sorted(model.questions) == sorted(f"question {i}" for i in range(10))
    assert finished.result is not None
    assert finished.result.headline.value == pytest.approx(0.1)
    assert states(finished) == {"ok": 10}
    assert finished.result.by("kind")["b"].value == pytest.approx(0.2)


def test_a_second_run_asks_nothing_and_gives_the_same_result(tmp_path: Path) -> None:
    first = run(tmp_path, Says(lambda request: "yes"))
    again = Says(lambda request: "no")

    second = run(tmp_path, again)

    assert again.requests == []
    assert first.result is not None and second.result is not None
    assert second.result.json() == first.result.json()


def test_a_failed_request_is_in_no_mean_and_the_next_run_asks_it_alone(tmp_path: Path) -> None:
    def fails(request: Request) -> str:
        if request.messages[0].text in ("question 3", "question 7"):
            raise Rejected("too long")
        return "yes"

    first = run(tmp_path, Says(fails))

    assert states(first) == {"ok": 8, "failed": 2}
    assert first.result is not None
    headline = first.result.headline
    assert (headline.value, headline.n) == (1.0, 8)
    assert headline.bounds == pytest.approx((0.8, 1.0))
    assert first.result.report.incomplete
    assert first.result.report.scorings["official"].readings == {"answered": 8, "no-reply": 2}

    healed = Says(lambda request: "yes")
    second = run(tmp_path, healed)

    assert sorted(healed.questions) == ["question 3", "question 7"]
    assert states(second) == {"ok": 10}


def test_missing_wrong_scores_failures_zero(tmp_path: Path) -> None:
    def fails(request: Request) -> str:
        if request.messages[0].text == "question 3":
            raise Rejected("too long")
        return "yes"

    finished = run(tmp_path, Says(fails), missing="wrong")

    assert finished.result is not None
    assert finished.result.headline.value == pytest.approx(0.9)


def test_a_rate_limited_request_is_asked_again_and_every_attempt_is_kept(tmp_path: Path) -> None:
    turned_away = {"question 2": 3}

    def busy(request: Request) -> str:
        text = request.messages[0].text
        if turned_away.get(text, 0):
            turned_away[text] -= 1
            raise Overloaded("429", throttled=True)
        return "yes"

    finished = run(tmp_path, Says(busy))

    attempts = [(r.attempt, r.state) for r in records(finished) if r.key[0] == "s2"]
    assert attempts == [(1, "failed"), (2, "failed"), (3, "failed"), (4, "ok")]
    assert states(finished) == {"ok": 10}


def test_a_server_that_always_fails_is_asked_the_set_number_of_times(tmp_path: Path) -> None:
    def broken(request: Request) -> str:
        if request.messages[0].text == "question 2":
            raise Overloaded("500")
        return "yes"

    model = Says(broken)
    finished = run(tmp_path, model, retry={**QUICK, "attempts": 4})

    assert model.questions.count("question 2") == 4
    assert states(finished) == {"ok": 9, "failed": 1}


def test_the_server_decides_how_long_to_wait(tmp_path: Path) -> None:
    times: list[float] = []

    class Busy:
        name = "busy"

        async def generate(self, request: Request) -> Reply:
            times.append(asyncio.get_running_loop().time())
            if len(times) == 1:
                raise Overloaded("429", retry_after=0.3)
            return Reply(text="yes", stop="stop")

    run(tmp_path, Busy(), benchmark(1))

    assert times[1] - times[0] >= 0.3


def test_a_rejected_request_is_not_asked_again(tmp_path: Path) -> None:
    def rejects(request: Request) -> str:
        raise Rejected("400: bad")

    model = Says(rejects)
    finished = run(tmp_path, model)

    assert len(model.requests) == 10
    assert states(finished) == {"failed": 10}
    assert finished.result is not None
    assert finished.result.headline.value is None
    assert finished.result.headline.reason == "none of the 10 questions has a reply"


def test_a_wrong_key_ends_the_run_after_a_few_requests(tmp_path: Path) -> None:
    def rejects(request: Request) -> str:
        raise Rejected("401: wrong key", hopeless=True)

    model = Says(rejects)
    finished = run(tmp_path, model, benchmark(500), concurrency=2)

    assert len(model.requests) <= 6
    assert finished.stopped is not None and "401: wrong key" in finished.stopped


def test_a_server_that_is_down_is_given_up_and_the_rest_left_unasked(tmp_path: Path) -> None:
    def down(request: Request) -> str:
        raise Overloaded("connection refused")

    finished = run(
        tmp_path, Says(down), benchmark(500), retry={**QUICK, "attempts": 2, "give_up": 10}
    )

    assert finished.stopped is not None and "connection refused" in finished.stopped
    assert states(finished)["failed"] < 60


def test_no_more_requests_than_allowed_are_in_flight(tmp_path: Path) -> None:
    model = Says(lambda request: "yes")

    run(tmp_path, model, benchmark(60), concurrency=3)

    assert model.most == 3


def test_a_budget_of_requests_stops_the_run_and_it_goes_on_later(tmp_path: Path) -> None:
    model = Says(lambda request: "yes")

    finished = run(tmp_path, model, max_requests=4)

    assert len(model.requests) == 4
    assert finished.interrupted
    assert finished.stopped == "the budget of 4 requests is used up"
    assert finished.result is not None
    assert "partial: 4 of 10" in finished.result.report.notes

    run(tmp_path, model)
    assert sorted(model.questions) == sorted(f"question {i}" for i in range(10))


def test_a_limit_takes_the_first_rows_and_another_limit_continues_the_same_run(
    tmp_path: Path,
) -> None:
    model = Says(lambda request: "yes")

    first = run(tmp_path, model, limit=3)
    second = run(tmp_path, model, limit=5)

    assert first.run == second.run
    assert sorted(model.questions) == [f"question {i}" for i in range(5)]


def test_a_sample_is_drawn_in_proportion_and_the_same_for_a_seed(tmp_path: Path) -> None:
    first, second, other = (
        Says(lambda request: "yes", name=name) for name in ("one", "two", "other")
    )

    finished = run(tmp_path, first, benchmark(100), sample=20, sample_seed=1)
    run(tmp_path, second, benchmark(100), sample=20, sample_seed=1)
    run(tmp_path, other, benchmark(100), sample=20, sample_seed=2)

    assert sorted(first.questions) == sorted(second.questions)
    assert sorted(first.questions) != sorted(other.questions)
    assert finished.result is not None
    assert [metric.n for metric in finished.result.by("kind").values()] == [10, 10]


def test_repeats_are_asked_with_seeds_of_their_own(tmp_path: Path) -> None:
    model = Says(lambda request: "yes" if request.seed == 7 else "no")

    finished = run(tmp_path, model, benchmark(2), repeats=3, seed=7)

    assert sorted(request.seed or 0 for request in model.requests) == [7, 7, 8, 8, 9, 9]
    assert finished.result is not None
    assert finished.result.report.n == 6
    assert finished.result.headline.value == pytest.approx(1 / 3)


def test_more_repeats_of_a_finished_run_ask_only_the_new_ones(tmp_path: Path) -> None:
    model = Says(lambda request: "yes")
    run(tmp_path, model, benchmark(2))

    run(tmp_path, model, benchmark(2), repeats=2)

    assert len(model.requests) == 4


def test_a_missing_image_fails_its_sample_by_name_and_no_other(tmp_path: Path) -> None:
    def with_image(row_index: int, row: Row) -> Sample:
        return Sample(id=row["id"], question=row["q"], target="yes", tags={"kind": row["kind"]})

    def prompt(sample: Sample, history: History) -> tuple[Message, ...]:
        if sample.id != "s4":
            return (user(sample.question),)
        return (user(Image(tmp_path / "gone.png", label="images/gone.png"), sample.question),)

    model = Says(lambda request: "yes")
    finished = run(tmp_path / "runs", model, benchmark(sample=with_image, prompt=prompt))

    assert states(finished) == {"ok": 9, "failed": 1}
    [failure] = [record.error for record in records(finished) if record.error]
    assert failure.type == "MediaError"
    assert "gone.png" in failure.message


def conversation(sample: Sample, history: History) -> tuple[Message, ...]:
    if len(history) == 3:
        return ()
    messages = [message for sent, reply in history for message in (sent[-1], assistant(reply.text))]
    return (*messages, user(f"{sample.question}, turn {len(history)}"))


def test_a_later_turn_gets_the_models_own_replies(tmp_path: Path) -> None:
    model = Says(lambda request: f"reply {len(request.messages)}")

    finished = run(
        tmp_path, model, benchmark(2, prompt=conversation, conversation=Conversation(turns=None))
    )

    assert len(model.requests) == 6
    last = max(model.requests, key=lambda request: len(request.messages))
    roles = [message.role for message in last.messages]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    assert last.messages[3].text == "reply 3"
    assert finished.result is not None
    assert finished.result.report.n == 2


def test_a_failed_turn_ends_the_sample_and_resume_goes_on_from_it(tmp_path: Path) -> None:
    broken = [True]

    def fails_at_second(request: Request) -> str:
        if broken[0] and "question 0, turn 1" in request.messages[-1].text:
            raise Rejected("no")
        return "yes"

    tiny = benchmark(2, prompt=conversation, conversation=Conversation(turns=None))
    first = run(tmp_path, Says(fails_at_second), tiny)
    assert states(first) == {"ok": 1, "failed": 1}

    broken[0] = False
    model = Says(fails_at_second)
    second = run(tmp_path, model, tiny)

    assert [request.messages[-1].text for request in model.requests] == [
        "question 0, turn 1",
        "question 0, turn 2",
    ]
    assert states(second) == {"ok": 2}


def test_ranked_choices_are_stored_as_they_came(tmp_path: Path) -> None:
    class Ranker:
        name = "ranker"

        async def rank(self, request: Request) -> Sequence[Ranked]:
            return [Ranked(-float(i + 1), 2) for i, _ in enumerate(request.choices)]

    def likeliest(reply: Reply, sample: Sample) -> Reading:
        best = max(range(len(reply.choices)), key=lambda i: reply.choices[i].logprob)
        return Reading(answer=sample.choices[best], rule="likeliest")

    scorings = {
        "official": Scoring(
            version=1,
            source="ours",
            parse=likeliest,
            score=right,
            metrics={"accuracy": mean},
            reads="rank",
        ),
        "letters": Scoring(
            version=1, source="ours", parse=parse, score=right, metrics={"accuracy": mean}
        ),
    }

    def with_choices(row_index: int, row: Row) -> Sample:
        return Sample(
            id=row["id"],
            question=row["q"],
            choices=("yes", "no"),
            target="yes",
            tags={"kind": row["kind"]},
        )

    finished = run(
        tmp_path, Ranker(), benchmark(sample=with_choices, scorings=scorings, kind="rank")
    )

    assert {record.kind for record in records(finished)} == {"rank"}
    assert records(finished)[0].choices == [(-1.0, 2), (-2.0, 2)]
    assert finished.result is not None
    assert finished.result.headline.value == 1.0
    assert any("letters is left out" in note for note in finished.result.report.notes)


def test_a_model_that_cannot_be_asked_so_is_refused_before_the_first_question(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match="needs a model with `rank`, which says does not have"):
        run(tmp_path, Says(lambda request: "yes"), benchmark(kind="rank"))


def test_samples_that_share_media_are_asked_together(tmp_path: Path) -> None:
    model = Says(lambda request: "yes")

    run(tmp_path, model, benchmark(group_by=lambda sample: sample.tags["kind"]), concurrency=1)

    kinds = ["ab"[int(text.split()[1]) % 2] for text in model.questions]
    assert kinds == ["a"] * 5 + ["b"] * 5


def test_doubled_ids_are_named_before_anything_is_asked(tmp_path: Path) -> None:
    def same_id(row_index: int, row: Row) -> Sample:
        return Sample(id="one", question=row["q"], tags={"kind": "a"})

    model = Says(lambda request: "yes")
    with pytest.raises(DataError, match="rows 1 and 2 of tiny have the same id 'one'"):
        run(tmp_path, model, benchmark(sample=same_id))
    assert model.requests == []
    assert not any(tmp_path.rglob("*.json*"))


def test_a_row_without_a_needed_field_is_named_with_the_fields_it_has(tmp_path: Path) -> None:
    def needs_hint(row_index: int, row: Row) -> Sample:
        return Sample(id=row["id"], question=row["hint"])

    with pytest.raises(DataError, match=r"row 1 of tiny cannot be read: no field 'hint'.*id, q, a"):
        run(tmp_path, Says(lambda request: "yes"), benchmark(sample=needs_hint))


def test_no_rows_is_an_error_and_no_score(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no rows"):
        run(tmp_path, Says(lambda request: "yes"), benchmark(0))


def test_a_bug_in_a_model_stops_the_run_and_keeps_what_came_before(tmp_path: Path) -> None:
    def buggy(request: Request) -> str:
        if request.messages[0].text == "question 6":
            raise ZeroDivisionError("a bug")
        return "yes"

    with pytest.raises(ZeroDivisionError):
        run(tmp_path, Says(buggy), concurrency=1)

    healed = Says(lambda request: "yes")
    run(tmp_path, healed)
    assert sorted(healed.questions) == [f"question {i}" for i in range(6, 10)]


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        (Reply(text="yes", stop="stop"), "ok"),
        (Reply(text="", stop="stop"), "empty"),
        (Reply(text=" \n", stop="stop"), "empty"),
        (Reply(text="ye", stop="length"), "truncated"),
        (Reply(text="", stop="length"), "truncated"),
        (Reply(text="", stop="filter"), "refused"),
        (Reply(text="I cannot help with that", stop="stop"), "ok"),
    ],
)
def test_each_reply_has_one_state(tmp_path: Path, reply: Reply, state: str) -> None:
    finished = run(tmp_path, Says(lambda request: reply), benchmark(1))

    assert states(finished) == {state: 1}


def test_refused_replies_count_as_wrong_with_bounds_and_are_not_asked_again(
    tmp_path: Path,
) -> None:
    def refuses(request: Request) -> Reply:
        withheld = request.messages[0].text == "question 1"
        return Reply(text="" if withheld else "yes", stop="filter" if withheld else "stop")

    first = run(tmp_path, Says(refuses))
    again = Says(refuses)
    run(tmp_path, again)

    assert again.requests == []
    assert first.result is not None
    assert first.result.headline.value == pytest.approx(0.9)
    assert first.result.headline.bounds == pytest.approx((0.9, 1.0))


def test_many_cut_replies_put_a_warning_beside_the_headline(tmp_path: Path) -> None:
    finished = run(tmp_path, Says(lambda request: Reply(text="yes", stop="length")))

    assert finished.result is not None
    assert any("were cut at the token limit" in note for note in finished.result.report.notes)


def test_replies_cut_in_mid_thought_are_told_apart(tmp_path: Path) -> None:
    def thinks(request: Request) -> Reply:
        match int(request.messages[0].text.split()[1]):
            case 0:
                return Reply(text="", reasoning="Well, ", stop="length")
            case 1:
                return Reply(text="<think>Well, ", stop="length")
            case 2:
                return Reply(text="yes, and", reasoning="Well.", stop="length")
        return Reply(text="yes", reasoning="Well.", stop="stop")

    finished = run(tmp_path, Says(thinks))

    assert finished.result is not None
    notes = finished.result.report.notes
    assert any(note.startswith("3 of 10 replies") for note in notes)
    assert any(note.startswith("2 of these were cut while") for note in notes)


def test_the_order_of_replies_does_not_matter(tmp_path: Path) -> None:
    def slowly(request: Request) -> str:
        return "yes" if int(request.messages[0].text.split()[1]) % 3 else "no"

    serial = run(tmp_path / "1", Says(slowly), benchmark(40), concurrency=1)
    concurrent = run(tmp_path / "2", Says(slowly), benchmark(40), concurrency=16)

    assert serial.result is not None and concurrent.result is not None
    reports = [
        replace(serial.result.report, spent=None),
        replace(concurrent.result.report, spent=None),
    ]
    assert reports[0] == reports[1]  # all but how long it took
    scores = [(finished.run / "scores.jsonl").read_bytes() for finished in (serial, concurrent)]
    assert scores[0] == scores[1]


def test_a_changed_prompt_limit_is_another_run_and_the_field_is_named(tmp_path: Path) -> None:
    first = run(tmp_path, Says(lambda request: "yes"))

    second = run(tmp_path, Says(lambda request: "yes"), max_tokens=64)

    assert second.run != first.run
    assert second.progress.notes == (
        f"a new run: it differs from {first.run.name} in generation.max_tokens (64, was 512)",
    )


def test_two_benchmarks_on_one_server_share_its_limit(tmp_path: Path) -> None:
    model = Says(lambda request: "yes")
    opened = Opened(model=model, name="says", server="one", concurrency=3)
    plan = Plan(
        benchmarks=[benchmark(20), benchmark(20, name="other")], models=[opened], out=tmp_path
    )

    finished = run_plan(plan)

    assert [len(records(outcome)) for outcome in finished] == [20, 20]
    assert model.most == 3


def in_threes(sample: Sample) -> str:
    return str(int(sample.id[1:]) % 4)


def test_what_belongs_together_is_selected_together(tmp_path: Path) -> None:
    """Twelve rows are four questions of three passes: 0, 4, 8; 1, 5, 9; ..."""
    tiny = benchmark(12, together=in_threes)

    def questions(name: str, **selection: int) -> list[int]:
        model = Says(lambda request: "yes")
        run(tmp_path / name, model, tiny, **selection)
        return sorted(int(text.split()[1]) for text in model.questions)

    assert questions("one", limit=1) == [0, 4, 8], "at least one question"
    assert questions("eight", limit=8) == [0, 1, 4, 5, 8, 9], "no more rows than asked for"
    drawn = questions("drawn", sample=7)
    assert len(drawn) == 6
    assert all({number, (number + 4) % 12, (number + 8) % 12} <= set(drawn) for number in drawn)
