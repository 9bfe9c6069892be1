"""OlympiadBench's verdicts and prompts against the code of its authors and of VLMEvalKit.

olympiad_verdicts.json.gz is written by scripts/olympiad_verdicts.py, which runs their functions.
"""

import gzip
import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.benchmarks import olympiadbench as file
from snellen.benchmarks.olympiadbench import to_sample
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import DataFile, Row
from snellen.media.content import Image
from tests.parity.engine import mean
from tests.parity.lines import Line

BUNDLED = Path(file.__file__).with_name("rows") / "olympiadbench"
FILE = DataFile(BUNDLED / "data/OE_MM_maths_en_COMP.json", "olympiadbench", ())
SCORINGS = ("official", "vlmevalkit")


@cache
def texts() -> dict[str, Any]:
    raw = Path(__file__).with_name("olympiad_verdicts.json.gz").read_bytes()
    content: dict[str, Any] = json.loads(gzip.decompress(raw))
    return content


@cache
def benchmark() -> Benchmark:
    return registry.benchmark("olympiadbench", data=Path("synthetic"))


def sample(**fields: object) -> Sample:
    row = {"id": 1, "question": "?", "is_multiple_answer": False, "unit": None, "error": None}
    return to_sample(Row({**row, "final_answer": ["$1$"], **fields}, 0), FILE)


def scores(scoring: str) -> list[float | None]:
    rule = benchmark().scorings[scoring]
    values = []
    for row in texts()["verdicts"]:
        item = sample(
            source=f"OE_MM_maths_{row['language']}_COMP",
            final_answer=[row["right"]],
            error=row["error"],
            answer_type=row["kind"],
        )
        value = rule.score(rule.parse(Reply(text=row["reply"]), item), item)
        assert not hasattr(value, "values")
        values.append(value)
    return values


@pytest.mark.slow
@pytest.mark.parametrize("scoring", SCORINGS)
def test_every_verdict_is_that_of_the_other_code(scoring: str) -> None:
    rows = texts()["verdicts"]
    assert len(rows) == 1000
    differences = [
        (row, ours) for row, ours in zip(rows, scores(scoring), strict=True) if ours != row[scoring]
    ]
    assert differences == []


def test_replies_of_each_kind_are_right_wrong_and_left_out() -> None:
    verdicts = [row["official"] for row in texts()["verdicts"]]
    assert min(verdicts.count(value) for value in (0.0, 1.0, None)) > 20


def test_every_question_is_asked_in_the_authors_messages() -> None:
    rows = texts()["prompts"]
    assert len(rows) == 128
    for question, digest in rows:
        sent = [
            [
                message.role,
                [
                    # The picture's bytes in the generator are its number.
                    f"data:image/jpeg;base64,{'MQ==' if '_1' in part.label else 'Mg=='}"
                    if isinstance(part, Image)
                    else part
                    for part in message.content
                ],
            ]
            for message in benchmark().prompt(sample(**{**question, "source": question["set"]}), ())
        ]
        assert sha256(json.dumps(sent).encode()).hexdigest() == digest, question


def parity() -> list[Line]:
    """The lines of docs/parity.md."""
    lines = []
    for scoring in SCORINGS:
        theirs = [row[scoring] for row in texts()["verdicts"] if row[scoring] is not None]
        ours = [value for value in scores(scoring) if value is not None]
        lines.append(
            Line(
                benchmark="olympiadbench" + (f":{scoring}" if scoring != "official" else ""),
                model="made replies",
                metric="accuracy",
                n=len(theirs),
                published=None,
                official=mean(theirs),
                ours=mean(ours),
                proof="generated pairs",
                reason="no model's outputs are published; the replies are generated",
            )
        )
    return lines
