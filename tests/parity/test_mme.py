"""MME against the published outputs of LaVIN, and the official rule and sums on made replies."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from snellen.benchmarks.mme import COGNITION, PERCEPTION, TASKS, mme
from snellen.core.model import Reply
from tests.golden_data import FOLDER, golden
from tests.parity.engine import score

Rows = Mapping[str, Sequence[Sequence[str]]]
"""For each task the lines of its text: image, question, right answer, reply."""
MODELS = sorted(
    path.name for path in (FOLDER / "mme" / "outputs").glob("*") if (path / "OCR.txt").exists()
)


def figures(path: Path) -> dict[str, float | None]:
    result = score(path, "mme", golden("mme"), scorings=["official"])
    metrics = result.report.scorings["official"].metrics
    return {name: metric.value for name, metric in metrics.items()}


@pytest.mark.parametrize("model", MODELS)
def test_every_count_is_the_official_scripts(model: str) -> None:
    pack = golden("mme")
    expected = json.loads((pack / "expected.json").read_bytes())[model]
    benchmark = mme(data=pack)
    parse = benchmark.scorings["official"].parse
    assert benchmark.interop.layout is not None
    published = benchmark.interop.layout(pack / "outputs" / model)
    assert published is not None
    keys = ("TP", "FN", "TN", "FP", "other_num")
    counts = {task: dict.fromkeys(keys, 0) for task in TASKS}
    for row in benchmark.data:
        sample = benchmark.sample(row.position, row)
        answer = parse(Reply(text=published.replies[sample.id] or ""), sample).answer
        kind = ("T" if answer == sample.target else "F") + ("P" if answer == "yes" else "N")
        counts[sample.tags["task"]]["other_num" if answer is None else kind] += 1
    assert counts == {task: {key: expected[task][key] for key in keys} for task in TASKS}


def test_llavas_questions_are_these() -> None:
    pack = golden("mme")
    benchmark = mme(prompt="llava", data=pack)
    ours = set()
    for row in benchmark.data:
        sample = benchmark.sample(row.position, row)
        (message,) = benchmark.prompt(sample, ())
        ours.add((sample.tags["task"], sample.data["image"], message.text))
    lines = (pack / "annotations" / "llava_mme.jsonl").read_text(encoding="utf-8").split("\n")
    theirs = {
        (row["category"], Path(row["image"]).name, row["text"])
        for row in (json.loads(line) for line in lines if line)
    }
    assert len(ours) == 2374
    assert ours == theirs


def synthetic_rows() -> list[dict[str, Any]]:
    lines = (golden("mme") / "differential.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def by_formula(rows: Rows) -> dict[str, float]:
    """calculation.py's sums of these lines, of which two and two are one image, worked out again
    from what its page says."""
    sums = {}
    for task, lines in rows.items():
        right = [
            answer.lower() == next((w for w in ("yes", "no") if w in reply.lower()[:4]), "other")
            for _, _, answer, reply in lines
        ]
        pairs = [a and b for a, b in zip(right[::2], right[1::2], strict=True)]
        sums[f"score/{task}"] = 100 * sum(right) / len(right) + 100 * sum(pairs) / len(pairs)
    sums["perception"] = sum(sums[f"score/{task}"] for task in PERCEPTION)
    sums["cognition"] = sum(sums[f"score/{task}"] for task in COGNITION)
    return sums


def written(rows: Rows, folder: Path) -> Path:
    folder.mkdir()
    for task, lines in rows.items():
        text = "".join("\t".join(line) + "\n" for line in lines)
        (folder / f"{task}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_shuffled_halved_and_replaced_replies_score_as_the_script_would(
    tmp_path: Path, model: str
) -> None:
    draw = random.Random(model)
    folder = golden("mme") / "outputs" / model
    texts = [
        row["prediction"]
        for row in synthetic_rows()
        if not {"\t", "\n", "\r"} & set(row["prediction"])
    ]
    shuffled, halved, replaced = {}, {}, {}
    for task in TASKS:
        lines = (folder / f"{task}.txt").read_text(encoding="utf-8").split("\n")[:-1]
        rows = [line.split("\t") for line in lines]
        pairs = [(a, b) for a, b in zip(rows[::2], rows[1::2], strict=True)]
        order = draw.sample(pairs, len(pairs))
        shuffled[task] = [row for pair in order for row in pair]
        halved[task] = shuffled[task][: 2 * (len(pairs) // 2)]
        replaced[task] = [
            [*row[:3], draw.choice(texts) if draw.random() < 0.3 else row[3]]
            for row in shuffled[task]
        ]
    for name, changed in (("shuffled", shuffled), ("halved", halved), ("replaced", replaced)):
        metrics = figures(written(changed, tmp_path / name))
        for metric, value in by_formula(changed).items():
            assert metrics[metric] == pytest.approx(value, abs=1e-9), (name, metric)
