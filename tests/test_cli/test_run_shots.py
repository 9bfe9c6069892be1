"""snellen run --shots: examples before each question."""

from pathlib import Path

from tests.servers import completion, serving
from tests.test_cli.conftest import Snellen
from tests.test_transforms.test_shots import questions


def test_the_flag_puts_examples_before_questions(snellen: Snellen, tmp_path: Path) -> None:
    path = questions(tmp_path, "mine.jsonl", [f"q{n}" for n in range(8)])
    with serving(completion("thing q1")) as server:
        command = ["run", "-m", "openai/m", "--base-url", server.url, "-b", str(path)]
        done = snellen(*command, "--shots", "2", "--shots-seed", "3")
        roles = [
            [message["role"] for message in request.json["messages"]] for request in server.requests
        ]

    assert done.code == 0
    assert roles == [["user", "assistant", "user", "assistant", "user"]] * 4
    assert "2 examples before each question" in done.err


def test_a_source_without_a_number_is_wrong_use(snellen: Snellen, tmp_path: Path) -> None:
    path = questions(tmp_path, "mine.jsonl", ["q"])
    done = snellen("run", "-m", "baseline/random", "-b", str(path), "--shots-from", "x")
    assert done.code == 2
    assert "Set the number of examples with --shots" in done.err
