"""POPE against the published outputs of LLaVA-1.5-13B, and the official rule on made replies."""

import json
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from snellen.benchmarks.pope import pope
from snellen.core.model import Reply
from tests.golden_data import FOLDER, golden
from tests.parity.engine import of_json_lines, score
from tests.parity.packs.mathvision import models, outputs

SPEC = "pope:release=e3e3926"
SETS = ("adversarial", "popular", "random")
MODELS = models(FOLDER / "pope")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def replies_of(model: str) -> dict[str, str]:
    path = outputs(golden("pope"))[model]
    return {str(row["question_id"]): row["text"] for row in of_json_lines(path)}


def figures(path: Path, scoring: str = "official") -> dict[str, tuple[float | None, int]]:
    result = score(path, SPEC, golden("pope"), scorings=[scoring])
    metrics = result.report.scorings[scoring].metrics
    return {name: (metric.value, metric.n) for name, metric in metrics.items()}


@pytest.mark.parametrize("model", MODELS)
def test_every_count_is_the_official_scripts(model: str) -> None:
    pack = golden("pope")
    expected = json.loads((pack / "expected.json").read_bytes())[model]
    stored_replies = replies_of(model)
    benchmark = pope(release="e3e3926", data=pack)
    parse = benchmark.scorings["official"].parse
    counts = {name: dict.fromkeys(("TP", "FP", "TN", "FN"), 0) for name in SETS}
    for row in benchmark.data:
        sample = benchmark.sample(row.position, row)
        answer = parse(Reply(text=stored_replies[sample.id]), sample).answer
        kind = ("T" if answer == sample.target else "F") + ("P" if answer == "yes" else "N")
        counts[sample.tags["set"]][kind] += 1
    assert counts == {name: {k: expected[name][k] for k in counts[name]} for name in SETS}


def test_llavas_questions_are_these_with_these_ids() -> None:
    pack = golden("pope")
    benchmark = pope(release="e3e3926", prompt="llava", data=pack)
    ours = {}
    for row in benchmark.data:
        sample = benchmark.sample(row.position, row)
        (message,) = benchmark.prompt(sample, ())
        ours[int(sample.id)] = (sample.data["image"], message.text, sample.tags["set"])
    question_rows = rows(pack / "annotations" / "llava_pope_test.jsonl")
    theirs = {
        row["question_id"]: (row["image"], row["text"], row["category"]) for row in question_rows
    }
    assert ours == theirs


def test_the_figures_of_the_made_replies_are_those_of_the_official_verdicts(tmp_path: Path) -> None:
    """Precision, recall and F1 by the counts of the script's own verdicts, on answers without ids
    as evaluate.py takes them."""
    replies = rows(golden("pope") / "differential.jsonl")
    labels = tmp_path / "coco" / "coco_pope_random.json"
    labels.parent.mkdir()
    questions = [f"Is there a thing {number} in the image?" for number in range(len(replies))]
    labels.write_text(
        "".join(
            json.dumps({"question_id": n, "image": f"{n}.jpg", "text": text, "label": row["label"]})
            + "\n"
            for n, (text, row) in enumerate(zip(questions, replies, strict=True), 1)
        )
    )
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        "".join(
            json.dumps({"question": text, "answer": row["prediction"]}) + "\n"
            for text, row in zip(questions, replies, strict=True)
        )
    )
    report = score(answers, "pope:sets=random", tmp_path, scorings=["official"]).report
    metrics = report.scorings["official"].metrics
    kinds = Counter((row["official_parsed"], row["label"]) for row in replies)
    both = kinds["yes", "yes"]
    p, r = both / (both + kinds["yes", "no"]), both / (both + kinds["no", "yes"])
    expected = {"precision": p, "recall": r, "f1": 2 * p * r / (p + r)}
    expected["accuracy"] = (both + kinds["no", "no"]) / len(replies)
    assert {name: metrics[name].value for name in expected} == pytest.approx(expected, abs=1e-9)


def by_formula(stored_replies: Mapping[str, str]) -> dict[str, float]:
    """The script's figures of these replies, worked out again from what it prints."""
    figures_by_name: dict[str, float] = {}
    pack = golden("pope")
    for name, offset in zip(SETS, (0, 20_000_000, 10_000_000), strict=True):
        questions = rows(pack / "annotations" / "coco_e3e3926" / f"coco_pope_{name}.json")
        pairs = [
            (stored_replies[str(offset + row["question_id"])], row["label"])
            for row in questions
            if str(offset + row["question_id"]) in stored_replies
        ]
        first = [text.partition(".")[0].replace(",", "").split(" ") for text, _ in pairs]
        yes = [not {"No", "not", "no"} & set(words) for words in first]
        right = [label != "no" for _, label in pairs]
        both = sum(a and b for a, b in zip(yes, right, strict=True))
        p, r = both / sum(yes), both / sum(right)
        figures_by_name |= {
            f"accuracy/{name}": sum(a == b for a, b in zip(yes, right, strict=True)) / len(pairs),
            f"precision/{name}": p,
            f"recall/{name}": r,
            f"f1/{name}": 2 * p * r / (p + r),
            f"yes_ratio/{name}": sum(yes) / len(yes),
        }
    figures_by_name["mean_f1"] = sum(figures_by_name[f"f1/{name}"] for name in SETS) / 3
    return figures_by_name


def scored(stored_replies: Mapping[str, str], folder: Path) -> dict[str, float | None]:
    path = folder / "replies.jsonl"
    lines = (
        json.dumps({"question_id": name, "text": reply, "prompt": ""})
        for name, reply in stored_replies.items()
    )
    path.write_text("\n".join(lines))
    return {name: value for name, (value, _) in figures(path).items()}


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_shuffled_halved_and_replaced_replies_score_as_the_script_would(
    tmp_path: Path, model: str
) -> None:
    draw = random.Random(model)
    stored_replies = replies_of(model)
    stored_texts = [row["prediction"] for row in rows(golden("pope") / "differential.jsonl")]
    order = draw.sample(list(stored_replies), len(stored_replies))
    shuffled = {name: stored_replies[name] for name in order}
    halved = {name: stored_replies[name] for name in order[: len(order) // 2]}
    replaced = {
        name: draw.choice(stored_texts) if draw.random() < 0.1 else stored_replies[name]
        for name in shuffled
    }
    for replies in (shuffled, halved, replaced):
        figures_by_name = scored(replies, tmp_path)
        for name, value in by_formula(replies).items():
            assert figures_by_name[name] == pytest.approx(value, abs=1e-9), name
