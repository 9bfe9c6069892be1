"""Runs of several kinds, for tests of what travels to other tools and back."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import snellen
from snellen.core.model import Reply, Request, Times, Usage
from snellen.errors import Rejected
from tests.servers import ReceivedRequest, completion, serving
from tests.tiny import Says

N = 12
FAILED, UNPARSED, CUT = 3, 5, 7
"""The numbers of the questions whose requests fail, whose replies say nothing, and are cut."""


def choice_rows(folder: Path) -> Path:
    """Twelve questions with two choices; B is right in every third one."""
    rows = [
        {
            "id": f"q{number}",
            "question": f"Question number {number}: which letter?",
            "A": f"left {number}",
            "B": f"right {number}",
            "answer": "B" if number % 3 == 0 else "A",
            "category": "even" if number % 2 == 0 else "odd",
        }
        for number in range(N)
    ]
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def says(request: Request) -> Reply:
    """A, but for the questions that fail, say nothing, or are cut; with counts and times."""
    [number] = map(int, re.findall(r"number (\d+)", request.messages[-1].text))
    if number == FAILED:
        raise Rejected("the server cut the connection")
    text = "I cannot say." if number == UNPARSED else "The answer is A"
    return Reply(
        text=text,
        reasoning="left or right?" if number == 0 else None,
        stop="length" if number == CUT else "stop",
        usage=Usage(input=100 + number, output=7, reasoning=2, cached=10),
        times=Times(first=0.25, total=1.5),
    )


def choice_run(folder: Path, *, repeats: int = 1, **options: Any) -> Path:
    """A run of `choice_rows` with a failed, an unparsed, and a cut reply."""
    more = {"repeats": repeats, "temperature": 0.5} if repeats > 1 else {}
    result = snellen.evaluate(
        str(choice_rows(folder)),
        Says(says, "org/maker"),
        out=folder / "runs",
        **{**more, **options},
    )
    assert result.run is not None
    return result.run


def conversation_run(folder: Path) -> Path:
    """A run of one conversation of three turns, of which two are scored."""
    row = {
        "id": "cat",
        "turns": [
            {"question": "What is it?", "answer": "a cat"},
            {"question": "And this?", "answer": "a dog"},
            {"question": "Which is larger?"},
        ],
    }
    path = folder / "turns.jsonl"
    path.write_text(json.dumps(row) + "\n")
    replies = ("a cat", "a horse", "the first")

    def say(request: ReceivedRequest) -> Any:
        return completion(replies[len(request.json["messages"]) // 2])

    with serving(say) as server:
        result = snellen.evaluate(str(path), "openai/m", base_url=server.url, out=folder / "runs")
    assert result.run is not None
    return result.run


def report_of(run: Path) -> Any:
    """The stored report."""
    return json.loads((run / "report.json").read_bytes())


def lines_of(path: Path) -> list[Any]:
    """The objects in a file of lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def by_question(rows: Sequence[Any], key: str) -> dict[str, Any]:
    """The rows by a field."""
    return {row[key]: row for row in rows}
