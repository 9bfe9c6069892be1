"""MathVision against what the authors published: every reply of every visible model."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from snellen.benchmarks.mathvision import mathvision
from snellen.model import Reply
from tests.golden_data import golden

MODELS = (
    "Random-Chance",
    "ChatGPT3.5-CoT (Text+Image Caption)",
    "Gemini-Pro",
    "Qwen-VL-Max",
    "Qwen-VL-Plus",
    "LLaVA-v1.5-13B",
    "ShareGPT4V-7B",
    "SPHINX-MoE",
)


def replies(path: Path) -> dict[str, str]:
    """The responses of an output file by id; some are gzipped."""
    raw = path.read_bytes() if path.exists() else gzip.decompress(Path(f"{path}.gz").read_bytes())
    rows = [json.loads(line) for line in raw.decode().split("\n") if line]
    return {row["id"]: row["response"] for row in rows}


@pytest.mark.parametrize("model", MODELS)
def test_every_answer_verdict_and_published_count_is_the_authors(model: str) -> None:
    folder = golden("mathvision")
    expected: dict[str, Any] = json.loads((folder / "expected.json").read_bytes())[model]
    every = json.loads(gzip.decompress((folder / "expected_items.json.gz").read_bytes()))
    items: dict[str, tuple[str, int]] = every[model]
    said = replies(folder / "outputs" / expected["file"])
    benchmark = mathvision(data=folder)
    scoring = benchmark.scorings["official"]
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    differences = []
    for row in benchmark.data:
        sample = benchmark.sample(row.place, row)
        reading = scoring.parse(Reply(text=said[sample.id]), sample)
        score = scoring.score(reading, sample)
        if [reading.answer or "", score] != list(items[sample.id]):
            differences.append((sample.id, reading.answer, score, items[sample.id]))
        tags = sample.tags
        for key in (
            "-all",
            f"-{tags['level']}",
            tags["subject"],
            tags["subject_level"],
            f"-{tags['level']}_{tags['subject']}",
        ):
            right[key] += int(score or 0)
            total[key] += 1
    assert differences == []
    published = {
        key: scores for key, scores in expected["scores"].items() if not key.startswith("extra:")
    }
    assert set(total) == set(published)
    for key, scores in published.items():
        assert (right[key], total[key]) == (scores["correct"], scores["total"]), key
        assert right[key] / total[key] * 100 == pytest.approx(scores["percent"], abs=1e-9), key
