"""MedXpertQA against its authors' code on generated replies (scripts/draw_medical_replies.py)."""

import gzip
import json
from pathlib import Path

import pytest

from snellen import registry
from snellen.benchmarks.medxpertqa_mm import Preset, medxpertqa_mm
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from tests.parity.engine import mean
from tests.parity.lines import Line

FIXTURE = Path(__file__).parent / "medical_replies.jsonl.gz"
ROWS = [json.loads(line) for line in gzip.decompress(FIXTURE.read_bytes()).decode().splitlines()]


def scores(prompt: Preset) -> list[tuple[list[str], float | None]]:
    scoring = medxpertqa_mm(prompt, Path(registry.SYNTHETIC)).scorings["official"]
    pairs = []
    for row in ROWS:
        if row["prompt"] == prompt:
            sample = Sample(id=row["id"], question="Which?", target=row["answer"])
            reading = scoring.parse(Reply(text=row["reply"]), sample)
            letters = [] if reading.answer is None else [str(reading.answer)]
            pairs.append((letters, total_score(scoring.score(reading, sample))))
    return pairs


@pytest.mark.parametrize("prompt", ["official", "answer-only"])
def test_every_letter_and_score_is_the_authors(prompt: Preset) -> None:
    rows = [row for row in ROWS if row["prompt"] == prompt]
    # eval/main.py#L180-L181
    expected = [(row["letters"], float(row["letters"] == [row["answer"]])) for row in rows]
    assert len(rows) > 500
    assert scores(prompt) == expected


def parity() -> list[Line]:
    """The lines of docs/parity.md."""
    rows = [row for row in ROWS if row["prompt"] == "official"]
    return [
        Line(
            benchmark="medxpertqa-mm",
            model="made replies",
            metric="accuracy",
            n=len(rows),
            published=None,
            official=mean([float(row["letters"] == [row["answer"]]) for row in rows]),
            ours=mean([value or 0.0 for _, value in scores("official")]),
            proof="generated pairs",
            reason="no model's outputs are published; the replies are generated",
        )
    ]
