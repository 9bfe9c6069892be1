"""TreeBench's prompts, letters, and overlaps against the code of its authors and of VLMEvalKit.

tree_verdicts.json.gz is written by scripts/tree_verdicts.py, which runs their functions.
"""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.benchmarks.treebench import to_sample
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import DataFile, Row
from tests.parity.engine import mean
from tests.parity.lines import Line

FILE = DataFile(Path("TreeBench.tsv"), "treebench", ())
PARTS = {"official": ("official", "boxes"), "vlmevalkit": ("vlmevalkit", "vlmevalkit-boxes")}
"""The scorings of letters and of boxes with each prompt."""


@cache
def content() -> dict[str, Any]:
    raw = Path(__file__).with_name("tree_verdicts.json.gz").read_bytes()
    texts: dict[str, Any] = json.loads(gzip.decompress(raw))
    return texts


@cache
def samples() -> list[Sample]:
    return [to_sample(Row(row, number), FILE) for number, row in enumerate(content()["rows"])]


def scores(scoring: str) -> list[float]:
    rule = registry.benchmark("treebench", data=Path("synthetic")).scorings[scoring]
    values = []
    for row, sample in zip(content()["rows"], samples(), strict=True):
        value = rule.score(rule.parse(Reply(text=row["reply"]), sample), sample)
        assert isinstance(value, float)
        values.append(value)
    return values


@pytest.mark.parametrize("prompt", PARTS)
def test_every_letter_and_overlap_is_that_of_the_other_code(prompt: str) -> None:
    rows = content()[prompt]
    assert len(rows) == 720
    letters, boxes = map(scores, PARTS[prompt])
    assert letters == [letter for _, letter, _ in rows]
    assert boxes == pytest.approx([overlap for _, _, overlap in rows], abs=1e-12)
    assert 100 < sum(letters) < 620
    assert len({round(value, 6) for value in boxes}) > 100


def test_every_question_is_asked_in_the_authors_messages() -> None:
    prompt = registry.benchmark("treebench", data=Path("synthetic")).prompt
    for sample, (messages, _, _) in zip(samples(), content()["official"], strict=True):
        ours = [
            [message.role, [part if isinstance(part, str) else None for part in message.content]]
            for message in prompt(sample, ())
        ]
        # The fixture has no pictures.
        assert ours == [[role, [text for text in texts if text]] for role, texts in messages]


def test_every_question_is_asked_in_vlmevalkits_words() -> None:
    benchmark = registry.benchmark("treebench:prompt=vlmevalkit", data=Path("synthetic"))
    for sample, (text, _, _) in zip(samples(), content()["vlmevalkit"], strict=True):
        assert benchmark.prompt(sample, ())[0].text == text


def test_vlmevalkits_figures_are_the_means() -> None:
    rating = content()["rating"]
    letters, boxes = map(scores, PARTS["vlmevalkit"])
    assert (mean(letters), mean(boxes)) == pytest.approx((rating["Overall"], rating["mIoU"]))


def parity() -> list[Line]:
    """The lines of docs/parity.md."""
    return [
        Line(
            benchmark="treebench" + (f":{scoring}" if scoring != "official" else ""),
            model="made replies",
            metric="mean_iou" if scoring.endswith("boxes") else "accuracy",
            n=len(content()["rows"]),
            published=None,
            official=mean([row[1 + number] for row in content()[prompt]]),
            ours=mean(scores(scoring)),
            proof="generated pairs",
            reason="no model's outputs are published; the replies are generated",
        )
        for prompt, scorings in PARTS.items()
        for number, scoring in enumerate(scorings)
    ]
