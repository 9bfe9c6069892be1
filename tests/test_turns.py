"""Conversations of several turns and pictures between words: rows without code, asked of a server
on this machine."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.analysis.result import Result
from snellen.api import explain
from snellen.benchmarks.families.own_rows import guess, own_data, stored
from snellen.core.benchmark import History
from snellen.core.model import Reply, Request
from snellen.core.procedure import Conversation
from snellen.core.sample import Sample
from snellen.errors import DataError, Rejected, UsageError
from snellen.media.content import Message, assistant, system, user
from snellen.media.drawing import Canvas
from snellen.models.recorded import Recorded
from snellen.registry import of_run
from snellen.run.dummies import DUMMIES, most_frequent, oracle, table
from snellen.scoring import score_predictions
from snellen.store import Run
from snellen.testing import check_benchmark
from tests.servers import Decide, ReceivedRequest, completion, serving, status
from tests.tiny import Says, benchmark, records, run

PICTURES = {f"{n}.png": Canvas(8 + n, 8).png() for n in range(1, 5)}
CAT: dict[str, Any] = {
    "id": "cat",
    "image": "1.png",
    "turns": [
        {"question": "What is it?", "answer": "a cat"},
        {"question": "And this?", "image": ["2.png", "3.png"], "answer": "a dog"},
        {"question": "Which is larger?"},
    ],
}


def rows(folder: Path, *rows: Mapping[str, Any]) -> Path:
    for name, data in PICTURES.items():
        (folder / name).write_bytes(data)
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def only(folder: Path, row: Mapping[str, Any], **options: Any) -> Sample:
    benchmark = own_data(rows(folder, row), **options)
    (sample,) = [benchmark.read(row) for row in benchmark.data]
    return sample


def evaluated(folder: Path, url: str, **options: Any) -> Result:
    return snellen.evaluate(
        str(folder / "mine.jsonl"), "openai/m", base_url=url, out=folder / "runs", **options
    )


def heard(request: ReceivedRequest) -> list[tuple[str, list[str]]]:
    """A request's messages: (role, parts), a part being text or a picture's name."""

    def part(item: Mapping[str, Any]) -> str:
        if item["type"] == "text":
            return str(item["text"])
        data = base64.b64decode(item["image_url"]["url"].partition(",")[2])
        return next(name for name, there in PICTURES.items() if there == data)

    return [
        (item["role"], [item["content"]])
        if isinstance(item["content"], str)
        else (item["role"], [part(parts) for parts in item["content"]])
        for item in request.json["messages"]
    ]


ASK = "\nAnswer the question using a single word or phrase."


def in_order(*texts: str) -> Decide:
    """By how many turns the conversation has."""
    return lambda request: completion(texts[len(request.json["messages"]) // 2])


# -- what is asked


def test_the_models_own_replies_stand_between_the_turns(tmp_path: Path) -> None:
    rows(tmp_path, CAT)
    with serving(in_order("a cat", "a horse", "the first")) as server:
        evaluated(tmp_path, server.url)
        first, second, third = map(heard, server.requests)

    assert first == [("user", ["1.png", f"What is it?{ASK}"])]
    assert second == [
        *first,
        ("assistant", ["a cat"]),
        ("user", ["2.png", "3.png", f"And this?{ASK}"]),
    ]
    assert third == [*second, ("assistant", ["a horse"]), ("user", [f"Which is larger?{ASK}"])]


def test_turns_may_be_plain_questions_and_the_answers_a_list(tmp_path: Path) -> None:
    row = {"image": "1.png", "turns": ["Is it a cat?", "Is it a dog?"], "answers": ["yes", "no"]}
    rows(tmp_path, row)
    with serving(in_order("yes", "yes")) as server:
        result = evaluated(tmp_path, server.url)

    metric = result.headline
    assert (metric.value, metric.n, result.report.conversations) == (0.5, 2, 1)


def test_a_turn_may_have_choices_of_its_own(tmp_path: Path) -> None:
    turns = [
        {"question": "What is it?", "A": "a cat", "B": "a dog", "answer": "A"},
        {"question": "Its color?", "A": "red", "B": "blue", "C": "grey", "answer": "grey"},
    ]
    rows(tmp_path, {"image": "1.png", "turns": turns})
    with serving(in_order("A", "C")) as server:
        result = evaluated(tmp_path, server.url)
        request = heard(server.requests[1])[-1]

    assert request == (
        "user",
        [
            "Its color?\nA. red\nB. blue\nC. grey\n"
            "Answer with the option's letter from the given choices directly."
        ],
    )
    assert result.headline.value == 1.0
    assert result.report.baselines is not None
    assert result.report.baselines.chance == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_single_questions_and_conversations_may_be_in_one_file(tmp_path: Path) -> None:
    single = {"id": "dog", "image": "2.png", "question": "What is it?", "answer": "a dog"}
    rows(tmp_path, CAT, single)
    with serving(lambda request: completion("a cat")) as server:
        result = evaluated(tmp_path, server.url)

    assert len(server.requests) == 4
    # Right is the first turn, of two that have an answer and the single question.
    assert result.headline.value == pytest.approx(1 / 3)
    assert result.headline.n == 3
    assert result.report.conversations == 2


# -- what is scored


def test_turns_without_an_answer_are_asked_and_not_scored(tmp_path: Path) -> None:
    rows(tmp_path, {"turns": ["One?", "Two?", "Three?"], "answer": "3"})
    with serving(in_order("1", "2", "3")) as server:
        result = evaluated(tmp_path, server.url, task="vqa")

    assert len(server.requests) == 3
    assert result.report.replies == {"ok": 1}
    assert result.headline.value == 1.0
    assert result.report.spent is not None
    assert result.report.spent.tokens == {"input": 900, "output": 3}


def test_a_conversation_without_answers_is_stored_and_scored_nowhere(tmp_path: Path) -> None:
    rows(tmp_path, {"turns": ["One?", "Two?"]})
    with serving(completion("1")) as server:
        result = evaluated(tmp_path, server.url)
    assert result.scoring().readings == {"no-target": 2}
    assert result.headline.value is None


def test_a_failed_turn_ends_the_conversation_and_those_behind_it_fail_with_it(
    tmp_path: Path,
) -> None:
    row = {**CAT, "turns": [*CAT["turns"][:2], {"question": "Which?", "answer": "a dog"}]}
    rows(tmp_path, row)

    def breaks(request: ReceivedRequest) -> Any:
        return (
            status(400, "too long") if len(request.json["messages"]) == 3 else completion("a cat")
        )

    with serving(breaks) as server:
        broken = evaluated(tmp_path, server.url)
    with serving(in_order("-", "a dog", "a dog")) as server:
        mended = evaluated(tmp_path, server.url)

    assert broken.report.replies == {"ok": 1, "failed": 2}
    # In no mean, with bounds that know the turn that was never asked.
    assert (broken.headline.value, broken.headline.n) == (1.0, 1)
    assert broken.headline.bounds is not None
    assert broken.headline.bounds[0] == pytest.approx(1 / 3)
    assert any("turn 2 has no reply" in note for note in broken.report.notes)
    assert len(server.requests) == 2
    assert mended.report.replies == {"ok": 3}
    assert mended.headline.value == 1.0


def test_who_wants_to_know_is_told_of_each_turn_that_is_scored(tmp_path: Path) -> None:
    rows(tmp_path, CAT)
    received = []
    with serving(in_order("a cat", "a horse", "the first")) as server:
        evaluated(
            tmp_path,
            server.url,
            on_sample=lambda sample, reply, scores: received.append(
                (sample.id, reply.text, scores["default"])
            ),
        )

    assert received == [("cat#1", "a cat", 1.0), ("cat#2", "a horse", 0.0)]


def test_turns_of_one_conversation_share_a_cluster(tmp_path: Path) -> None:
    turns = ["Is it a cat?", "Is it a dog?"]
    every = [{"id": str(i), "turns": turns, "answers": ["yes", "yes"]} for i in range(40)]
    rows(tmp_path, *every)

    def says(request: ReceivedRequest) -> Any:
        return completion("yes" if request.number < 40 else "no")

    # The first twenty conversations are right in both turns, the others in none: 40 clusters.
    with serving(says) as server:
        result = evaluated(tmp_path, server.url, concurrency=1)
    assert result.headline.stderr == pytest.approx((40 / 39 * 40 * 1 / 80**2) ** 0.5)


def test_what_is_not_finished_is_in_no_result_and_goes_on_where_it_ended(tmp_path: Path) -> None:
    rows(tmp_path, CAT, {**CAT, "id": "other"})
    with serving(in_order("a cat", "a dog", "-")) as server:
        part = evaluated(tmp_path, server.url, limit=1)
        assert len(server.requests) == 3
        result = evaluated(tmp_path, server.url)
        assert len(server.requests) == 6

    assert "partial: 1 of 2" in part.report.notes
    assert result.report.replies == {"ok": 4}
    assert result.report.asked_of is None


def test_a_conversation_that_was_stopped_goes_on_with_its_next_turn(tmp_path: Path) -> None:
    benchmark = own_data(rows(tmp_path, CAT))
    first = run(tmp_path, Says(lambda request: "a cat"), benchmark, max_requests=1)
    again = Says(lambda request: "a dog")
    second = run(tmp_path, again, benchmark)

    assert first.result is not None and second.result is not None
    assert first.result.report.n == 0
    assert [len(request.messages) for request in again.requests] == [3, 5]
    assert again.requests[0].messages[1] == assistant("a cat")
    assert (second.result.headline.value, second.result.headline.n) == (1.0, 2)


def test_turns_that_another_run_has_are_taken_from_there_and_counted(tmp_path: Path) -> None:
    benchmark = own_data(rows(tmp_path, CAT))
    first = run(tmp_path / "first", Says(lambda request: "a cat"), benchmark, max_requests=1)
    again = Says(lambda request: "a dog")
    second = run(tmp_path / "second", again, benchmark, reuse=[first.run])

    assert second.result is not None
    assert [len(request.messages) for request in again.requests] == [3, 5]
    report = second.result.report
    assert "1 reply was taken from another run (--reuse)" in report.notes
    assert report.spent is not None
    assert (report.spent.replies, report.spent.questions) == (2, 1)


def test_a_stored_conversation_is_scored_without_its_rows(tmp_path: Path) -> None:
    rows(tmp_path, CAT)
    with serving(in_order("a cat", "a horse", "-")) as server:
        result = evaluated(tmp_path, server.url)
    assert result.run is not None
    for name in ("mine.jsonl", *PICTURES):
        (tmp_path / name).unlink()

    again = snellen.score(result.run)

    assert again.headline == result.headline
    lines = (result.run / "scores.jsonl").read_text().splitlines()
    rows_of = [json.loads(line) for line in lines if json.loads(line)["scoring"] == "default"]
    assert [(row["sample"], row["score"]) for row in rows_of] == [("cat#1", 1.0), ("cat#2", 0.0)]


def test_a_conversations_story_has_a_part_for_each_turn(tmp_path: Path) -> None:
    rows(tmp_path, CAT)
    with serving(in_order("a cat", "a horse", "-")) as server:
        result = evaluated(tmp_path, server.url)
    assert result.run is not None
    first, second, third = explain(result.run, "cat")

    assert (first.sample, first.target, first.attempts[0].reply) == ("cat#1", "a cat", "a cat")
    assert (second.sample, len(second.messages), second.attempts[0].reply) == (
        "cat#2",
        3,
        "a horse",
    )
    assert (third.sample, third.target) == ("cat#3", None)
    # scores.jsonl, and notes of failures, call turns so.
    assert explain(result.run, "cat#2") == [second]


def test_repeats_of_a_conversation_are_repeats_of_its_turns(tmp_path: Path) -> None:
    rows(tmp_path, {"turns": ["One?", "Two?"], "answers": ["a", "b"]})

    def says(request: ReceivedRequest) -> Any:
        right = "ab"[len(request.json["messages"]) // 2]
        return completion(right if request.json.get("seed") else "c")

    with serving(says) as server:
        result = evaluated(tmp_path, server.url, repeats=2, task="vqa")

    repeats = result.report.repeats["default"]
    assert (repeats.questions, result.report.n, result.report.conversations) == (2, 4, 2)
    assert (repeats.metrics["pass@1"].value, repeats.metrics["pass@2"].value) == (0.5, 1.0)


def test_conversations_keep_to_the_contract_of_benchmarks(tmp_path: Path) -> None:
    choices = {"A": "a cat", "B": "a dog", "C": "a cow"}
    every = [
        {
            "image": "1.png",
            "turns": [
                {"question": f"What is {number}?", **choices, "answer": letter} for letter in "BC"
            ],
        }
        for number in range(10)
    ]
    report = check_benchmark(own_data(rows(tmp_path, *every)))
    assert report.passed, report.rows
    assert {row.dummy for row in report.rows} == {*DUMMIES, "random"}


def test_a_file_of_predictions_does_not_say_which_turn_is_answered(tmp_path: Path) -> None:
    benchmark = own_data(rows(tmp_path, CAT))
    with pytest.raises(UsageError, match="does not say which turn a reply belongs to"):
        score_predictions(benchmark, {"cat": "a cat"}, where="replies.json")


def test_a_model_that_knows_all_is_right_in_every_turn(tmp_path: Path) -> None:
    benchmark = own_data(rows(tmp_path, CAT))
    assert benchmark.check is not None
    finished = run(
        tmp_path, Recorded("oracle", table(benchmark, oracle(benchmark.check))), benchmark
    )
    assert finished.result is not None
    assert (finished.result.headline.value, finished.result.headline.n) == (1.0, 2)


# -- rows that are wrong


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"turns": "What is it?"}, "row 1 of mine.jsonl has turns that are not a list"),
        ({"turns": [3]}, "turn 1 of row 1 of mine.jsonl is of type int\\. Write the question"),
        ({"turns": ["One?"], "question": "Two?"}, "has both a question and turns"),
        ({"turns": ["1?", "2?"], "answers": ["a", "b", "c"]}, "has 2 turns and 3 answers"),
        (
            {"turns": [{"question": "1?", "answer": "a"}], "answer": ["b"]},
            "turn 1 of row 1 of mine.jsonl has an answer, and so does its row",
        ),
        ({"turns": [{"image": "1.png"}, "2?"]}, "turn 1 of row 1 of mine.jsonl has no question"),
        (
            {"turns": ["1?", {"question": "2?", "A": "a", "B": "b", "answer": "C"}], "A": "a"},
            "turn 2 of row 1 of mine.jsonl has the answer 'C'",
        ),
    ],
)
def test_turns_that_are_wrong_are_said_to_be(
    tmp_path: Path, row: Mapping[str, Any], message: str
) -> None:
    options = {"task": "mcq"} if "A" in row else {"task": "vqa"}
    if "A" in row:
        row = {**row, "B": "b"}
    with pytest.raises(DataError, match=message):
        only(tmp_path, row, **options)


def test_the_task_is_guessed_from_what_turns_hold(tmp_path: Path) -> None:
    turn = {"question": "Is it?", "A": "a", "B": "b", "answer": "A"}
    assert guess(rows(tmp_path, {"turns": [turn]})).task == "mcq"
    assert guess(rows(tmp_path, {"turns": ["Is it?"], "answer": "no"})).task == "yesno"


def test_a_sheet_has_turns_as_json_text(tmp_path: Path) -> None:
    turns = json.dumps([{"question": "What is it? " * 40, "answer": "yes"}, "And this?"])
    path = tmp_path / "mine.csv"
    quoted = turns.replace('"', '""')
    path.write_text(f'id,turns\n1,"{quoted}"\n')
    benchmark = own_data(path)
    (sample,) = [benchmark.read(row) for row in benchmark.data]

    assert benchmark.provenance.options["task"] == "yesno"
    assert benchmark.procedure.conversation.by_turn is not None
    assert [turn.target for turn in benchmark.procedure.conversation.by_turn(sample)] == [
        "yes",
        None,
    ]


def test_columns_can_be_mapped_inside_of_turns(tmp_path: Path) -> None:
    row = {"dialogue": [{"q": "What is it?", "gold": "yes"}]}
    columns = {"dialogue": "turns", "q": "question", "gold": "answer"}
    benchmark = own_data(rows(tmp_path, row), columns=columns)
    (sample,) = [benchmark.read(row) for row in benchmark.data]
    assert benchmark.procedure.conversation.by_turn is not None
    assert [
        (turn.question, turn.target) for turn in benchmark.procedure.conversation.by_turn(sample)
    ] == [("What is it?", "yes")]
    again = stored(benchmark.name, json.loads(json.dumps(dict(benchmark.provenance.options))))
    assert (again.procedure.conversation.turns, again.procedure.conversation.by_turn) == (
        None,
        benchmark.procedure.conversation.by_turn,
    )


# -- conversations that no model takes


def bad(*messages: Message) -> Any:
    return benchmark(1, prompt=lambda sample, history: messages)


@pytest.mark.parametrize(
    ("messages", "roles"),
    [
        ((user("1"), user("2")), "user, user"),
        ((user("1"), assistant("2")), "user, assistant"),
        ((assistant("1"), user("2")), "assistant, user"),
        ((user("1"), system("2"), user("3")), "user, system, user"),
        ((system("1"),), "system"),
    ],
)
def test_a_conversation_that_does_not_alternate_is_a_bug_of_the_benchmark(
    tmp_path: Path, messages: tuple[Message, ...], roles: str
) -> None:
    model = Says(lambda request: "yes")
    with pytest.raises(DataError, match=f"sample 's0' is a conversation of {roles}\\. After"):
        run(tmp_path, model, bad(*messages))
    assert model.requests == []


def test_system_messages_may_stand_in_front(tmp_path: Path) -> None:
    model = Says(lambda request: "yes")
    run(tmp_path, model, bad(system("Be brief."), user("1"), assistant("2"), user("3")))
    assert [message.role for message in model.requests[0].messages] == [
        "system",
        "user",
        "assistant",
        "user",
    ]


def test_a_conversation_without_scored_turns_has_the_last_reply_scored(tmp_path: Path) -> None:
    def prompt(sample: Sample, history: History) -> tuple[Message, ...]:
        if len(history) == 2:
            return ()
        before = (*history[-1][0], assistant(history[-1][1].text)) if history else ()
        return (*before, user(f"turn {len(history)}"))

    def says(request: Request) -> str:
        return "yes" if len(request.messages) == 3 else "no"

    finished = run(
        tmp_path, Says(says), benchmark(2, prompt=prompt, conversation=Conversation(turns=None))
    )
    assert finished.result is not None
    assert (finished.result.headline.value, finished.result.report.n) == (1.0, 2)
    assert len(records(finished)) == 4


# -- pictures between words


def test_pictures_stand_where_the_text_calls_them(tmp_path: Path) -> None:
    row = {
        "image": ["1.png", "2.png", "3.png", "4.png"],
        "question": "Is <image 3> more like <image> or like <image>?",
        "answer": "yes",
    }
    rows(tmp_path, row)
    with serving(completion("yes")) as server:
        evaluated(tmp_path, server.url)
        (message,) = heard(server.requests[0])

    assert message == (
        "user",
        [
            "4.png",
            "Is ",
            "3.png",
            " more like ",
            "1.png",
            " or like ",
            "2.png",
            "?\nAnswer with yes or no.",
        ],
    )


def test_choices_may_be_pictures(tmp_path: Path) -> None:
    row = {"image": ["1.png", "2.png"], "question": "Which?", "A": "<image 1>", "B": "<image 2>"}
    rows(tmp_path, {**row, "answer": "A"})
    with serving(completion("A")) as server:
        evaluated(tmp_path, server.url)
        ((_, parts),) = heard(server.requests[0])

    end = "\nAnswer with the option's letter from the given choices directly."
    assert parts == ["Which?\nA. ", "1.png", "\nB. ", "2.png", end]


def test_a_mark_in_a_row_without_pictures_is_text(tmp_path: Path) -> None:
    rows(tmp_path, {"question": "What does <image> do in HTML?", "answer": "nothing"})
    with serving(completion("nothing")) as server:
        evaluated(tmp_path, server.url)
        assert heard(server.requests[0]) == [("user", [f"What does <image> do in HTML?{ASK}"])]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("<image 2>?", "row 1 of mine.jsonl has <image 2> in its text, but no image 2"),
        ("<image><image>?", "row 1 of mine.jsonl has <image> in its text, but no image 2"),
        ("<image 0>?", "has <image 0> in its text, but no image 0"),
    ],
)
def test_a_mark_without_its_picture_is_an_error(
    tmp_path: Path, question: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        only(tmp_path, {"image": "1.png", "question": question})


def test_marks_in_a_turn_call_the_pictures_of_that_turn(tmp_path: Path) -> None:
    turns = [
        {"question": "<image>What is it?", "image": "1.png"},
        {"question": "Like <image 1>?", "image": "2.png", "answer": "yes"},
    ]
    rows(tmp_path, {"turns": turns})
    with serving(completion("yes")) as server:
        evaluated(tmp_path, server.url)
        _, _, (_, parts) = heard(server.requests[1])
    assert parts == ["Like ", "2.png", "?\nAnswer with yes or no."]


def test_the_most_frequent_answer_is_counted_over_turns(tmp_path: Path) -> None:
    benchmark = own_data(rows(tmp_path, CAT, {**CAT, "id": "other"}))
    sample = Sample(id="x", question="?")
    assert most_frequent(benchmark)(sample) == "a cat"


def test_a_manifest_of_a_conversation_names_its_benchmark(tmp_path: Path) -> None:
    rows(tmp_path, CAT)
    with serving(in_order("a cat", "a dog", "-")) as server:
        result = evaluated(tmp_path, server.url)
    assert result.run is not None
    assert of_run(Run(result.run).manifest()).procedure.conversation.turns is None


def test_the_rows_of_the_guide_are_read(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[1] / "docs/turns.md").read_text()
    block = guide.partition("```\n")[2].partition("```")[0]
    (tmp_path / "mine.jsonl").write_text(block)
    benchmark = own_data(tmp_path / "mine.jsonl")
    right = [
        [turn.target for turn in benchmark.turn_samples(benchmark.read(row))]
        for row in benchmark.data
    ]
    assert right == [["cat", "grey"], ["yes", "no"], [None, "poodle"]]


def test_failures_are_told_by_turn(tmp_path: Path) -> None:
    def fails(request: Request) -> str | Reply:
        raise Rejected("no")

    benchmark = own_data(rows(tmp_path, CAT))
    finished = run(tmp_path, Says(fails), benchmark)
    assert finished.result is not None
    assert finished.result.report.replies == {"failed": 2}


def test_samples_of_scored_turns_have_their_own_reply(tmp_path: Path) -> None:
    rows(tmp_path, CAT)
    with serving(in_order("a cat", "a fish", "the dog")) as server:
        result = evaluated(tmp_path, server.url)
    assert [
        (record["sample"], record["turn"], record["reply"], record["score"])
        for record in result.samples()
    ] == [("cat#1", 0, "a cat", 1.0), ("cat#2", 1, "a fish", 0.0)]
