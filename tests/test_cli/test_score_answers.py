"""snellen score --answers-in-file: the file's answers are right, and the result says so."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.test_cli.conftest import Snellen

ROWS = (
    {"id": "1", "question": "Which?", "A": "an ant", "B": "an elephant", "answer": "B"},
    {"id": "2", "question": "Why?", "A": "ice", "B": "steam", "answer": "A"},
    {"id": "3", "question": "Who?", "A": "you", "B": "I"},
)


def write(name: str, *rows: dict[str, Any]) -> Path:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Path(name)


def reply(name: str, text: str, answer: object = None) -> dict[str, Any]:
    return {"id": name, "prediction": text, **({} if answer is None else {"answer": answer})}


def score(snellen: Snellen, *replies: dict[str, Any], flag: bool = True) -> Any:
    mine, file = write("mine.jsonl", *ROWS), write("replies.jsonl", *replies)
    flags = ["--answers-in-file"] if flag else []
    return snellen("score", file, "-b", mine, "--json", *flags)


def accuracy(done: Any) -> tuple[float, int]:
    assert done.code == 0, done.err
    metric = done.json["scorings"]["default"]["metrics"]["accuracy"]
    return metric["value"], metric["n"]


def test_the_data_sets_answers_are_right_by_default(snellen: Snellen) -> None:
    replies = [reply("1", "A", "A"), reply("2", "B", "B"), reply("3", "A", "A")]
    assert accuracy(score(snellen, *replies, flag=False)) == (0.0, 2)


def test_the_files_answers_are_right_on_request(snellen: Snellen) -> None:
    done = score(snellen, reply("1", "A", "a"), reply("2", "B", "ice"), reply("3", "A", "A"))
    assert accuracy(done) == (2 / 3, 3)
    [note] = [note for note in done.json["notes"] if "scored with the answers in" in note]
    assert "replies.jsonl, not with the data set's: 3 of 3 questions. Of these, 1 have" in note
    assert note.endswith("hides the answers to 1")


def test_a_question_without_an_answer_keeps_the_data_sets(snellen: Snellen) -> None:
    done = score(snellen, reply("1", "A", "A"), reply("2", "A"), reply("3", "A"))
    assert accuracy(done) == (1.0, 2)


def test_one_sample_is_explained_with_the_files_answer(snellen: Snellen) -> None:
    mine, file = write("mine.jsonl", *ROWS), write("replies.jsonl", reply("1", "A", "A"))
    done = snellen("score", file, "-b", mine, "--explain", "1", "--answers-in-file")
    assert done.code == 0, done.err
    assert "right       A" in done.out


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        ([reply("1", "A")], "has no answers. --answers-in-file needs a column of right answers"),
        (
            [reply("1", "A", "C")],
            "sample '1' has the answer 'C', which is neither the text of a choice",
        ),
        (
            [reply("1", "A", 7)],
            "sample '1' has the answer '7', which is neither the text of a choice",
        ),
    ],
)
def test_answers_that_cannot_be_used_are_an_error(
    snellen: Snellen, replies: list[dict[str, Any]], message: str
) -> None:
    done = score(snellen, *replies)
    assert done.code == 2
    assert message in done.err


def test_several_peoples_answers_are_refused(snellen: Snellen) -> None:
    rows = [{"id": "1", "question": "q", "answers": ["a", "b", "c"]}]
    mine, file = write("mine.jsonl", *rows), write("replies.jsonl", reply("1", "a", "b"))
    done = snellen("score", file, "-b", mine, "--answers-in-file")
    assert done.code == 2
    assert "have answers from several people" in done.err


def test_a_run_folder_has_its_own_answers(snellen: Snellen) -> None:
    mine = write("mine.jsonl", *ROWS)
    assert snellen("run", "-b", mine, "-m", "baseline/first").code == 0
    [run] = Path("runs").glob("*/*/*")
    done = snellen("score", run, "--answers-in-file")
    assert done.code == 2
    assert "is a run folder, but --answers-in-file is for files" in done.err


def test_yes_and_no_have_the_data_sets_spelling(snellen: Snellen) -> None:
    rows = [
        {"id": "1", "question": "q", "answer": "yes"},
        {"id": "2", "question": "r", "answer": "no"},
    ]
    mine = write("mine.jsonl", *rows)
    file = write("replies.jsonl", reply("1", "No.", "No"), reply("2", "No.", "NO"))
    done = snellen("score", file, "-b", mine, "--answers-in-file", "--json")
    assert accuracy(done) == (1.0, 2)
