"""COCO captions against coco-caption's code, on made captions: tokens, images, and the set."""

import gzip
import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from snellen.metrics.captions import (
    bleu,
    bleu_counts,
    captions,
    cider_scores,
    rouge_l_scores,
)
from snellen.text.ptb import tokens
from tests.golden_data import golden
from tests.parity.engine import score

METRICS = {
    "cider": "CIDEr",
    "bleu_4": "Bleu_4",
    "bleu_3": "Bleu_3",
    "bleu_2": "Bleu_2",
    "bleu_1": "Bleu_1",
    "rouge_l": "ROUGE_L",
}
UNEQUAL = 0.005
"""The share of captions that may have other tokens; those that do are listed."""

Item = Mapping[str, Any]


@cache
def items() -> Sequence[Item]:
    lines = gzip.decompress((golden("coco_caption") / "differential.jsonl.gz").read_bytes())
    return [json.loads(line) for line in lines.decode().split("\n") if line]


@cache
def expected() -> Mapping[str, float]:
    values = json.loads((golden("coco_caption") / "expected.json").read_bytes())["differential"]
    return {name: values[theirs] for name, theirs in METRICS.items()}


def of_tokens(some: Sequence[Item]) -> dict[str, float]:
    """The set's metrics, from the stored tokens."""
    tokens_of_set = captions(
        [item["tokens_prediction"] for item in some], [item["tokens_references"] for item in some]
    )
    of_set = bleu(bleu_counts(tokens_of_set).sum(axis=0, keepdims=True))[0]
    return {
        "cider": float(cider_scores(tokens_of_set).mean()),
        **{f"bleu_{n}": float(of_set[n - 1]) for n in range(4, 0, -1)},
        "rouge_l": float(rouge_l_scores(tokens_of_set).mean()),
    }


def scored(replies: Mapping[int, str], order: Sequence[Item]) -> dict[str, float | None]:
    """What `snellen.score` gives for a file of results as the server takes it."""
    annotations = {
        "info": {},
        "images": [{"id": item["id"], "file_name": f"{item['id']}.jpg"} for item in order],
        "annotations": [
            {"id": 10 * item["id"] + number, "image_id": item["id"], "caption": caption}
            for item in order
            for number, caption in enumerate(item["references"])
        ],
    }
    results = [{"image_id": name, "caption": reply} for name, reply in replies.items()]
    with TemporaryDirectory() as folder:
        (Path(folder) / "captions_val2014.json").write_text(
            json.dumps(annotations), encoding="utf-8"
        )
        path = Path(folder) / "captions_val2014_made_results.json"
        path.write_text(json.dumps(results), encoding="utf-8")
        report = score(path, "coco-captions:split=val2014", Path(folder)).report
    return {name: metric.value for name, metric in report.scorings["official"].metrics.items()}


def test_captions_have_the_stored_tokens() -> None:
    stored = {
        caption.replace("\n", " "): split
        for item in items()
        for caption, split in zip(
            [item["prediction"], *item["references"]],
            [item["tokens_prediction"], *item["tokens_references"]],
            strict=True,
        )
    }
    unequal = {caption: tokens(caption) for caption in stored if tokens(caption) != stored[caption]}
    assert len(unequal) <= UNEQUAL * len(stored), unequal
    assert unequal == {}, "no exception is known in these captions: list it where there is one"


def test_every_metric_of_the_set_from_stored_tokens() -> None:
    assert of_tokens(items()) == pytest.approx(expected(), abs=1e-9)


def test_every_image_has_the_scores_of_coco_caption() -> None:
    tokens_of_set = captions(
        [item["tokens_prediction"] for item in items()],
        [item["tokens_references"] for item in items()],
    )
    ours = np.column_stack(
        [
            bleu(bleu_counts(tokens_of_set)),
            rouge_l_scores(tokens_of_set),
            cider_scores(tokens_of_set),
        ]
    )
    names = ("Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "CIDEr")
    theirs = np.array([[item["official"][name] for name in names] for item in items()])
    assert float(np.abs(ours - theirs).max()) <= 1e-9


@pytest.mark.parametrize("seed", range(1))
def test_images_in_another_order_with_half_of_the_captions(seed: int) -> None:
    draw = random.Random(seed)
    order = draw.sample(items(), len(items()))
    kept = {item["id"] for item in draw.sample(order, len(order) // 2)}
    figures = scored({i["id"]: i["prediction"] for i in order if i["id"] in kept}, order)
    # Only images with a caption are scored, and count for how rare a phrase is.
    assert figures == pytest.approx(
        written_out([item for item in items() if item["id"] in kept]), abs=1e-9
    )


def written_out(some: Sequence[Item]) -> dict[str, float]:
    """The formulas once more, in plain loops, from the stored tokens."""
    predictions = [item["tokens_prediction"].split() for item in some]
    right = [[reference.split() for reference in item["tokens_references"]] for item in some]
    grams = [[counted(words) for words in many] for many in right]
    rare: dict[tuple[str, ...], int] = {}
    for many in grams:
        for gram in set().union(*many):
            rare[gram] = rare.get(gram, 0) + 1
    correct, guessed, length, wanted = [0] * 4, [0] * 4, 0, 0
    cider = []
    for words, many, references in zip(predictions, grams, right, strict=True):
        length += len(words)
        wanted += min(
            (abs(len(reference) - len(words)), len(reference)) for reference in references
        )[1]
        ours = counted(words)
        for gram, count in ours.items():
            correct[len(gram) - 1] += min(count, max(reference.get(gram, 0) for reference in many))
            guessed[len(gram) - 1] += count
        cider.append(
            10 * sum(likeness(ours, reference, rare, len(some)) for reference in many) / len(many)
        )
    short = min(1.0, np.exp(1 - wanted / length))
    shares = [(c + 1e-15) / (g + 1e-9) for c, g in zip(correct, guessed, strict=True)]
    return {
        "cider": float(np.mean(cider)),
        **{f"bleu_{n}": float(short * np.prod(shares[:n]) ** (1 / n)) for n in range(4, 0, -1)},
        "rouge_l": float(np.mean([item["official"]["ROUGE_L"] for item in some])),
    }


def counted(words: Sequence[str]) -> dict[tuple[str, ...], int]:
    counts: dict[tuple[str, ...], int] = {}
    for n in range(1, 5):
        for start in range(len(words) - n + 1):
            gram = tuple(words[start : start + n])
            counts[gram] = counts.get(gram, 0) + 1
    return counts


def likeness(
    ours: Mapping[tuple[str, ...], int],
    theirs: Mapping[tuple[str, ...], int],
    rare: Mapping[tuple[str, ...], int],
    images: int,
) -> float:
    def weights(of: Mapping[tuple[str, ...], int], n: int) -> dict[tuple[str, ...], float]:
        return {
            gram: count * (np.log(images) - np.log(max(1, rare.get(gram, 0))))
            for gram, count in of.items()
            if len(gram) == n
        }

    def bigrams(of: Mapping[tuple[str, ...], int]) -> int:
        return sum(count for gram, count in of.items() if len(gram) == 2)

    total = 0.0
    for n in range(1, 5):
        weights_a, weights_b = weights(ours, n), weights(theirs, n)
        norms = np.sqrt(
            sum(w**2 for w in weights_a.values()) * sum(w**2 for w in weights_b.values())
        )
        shared = sum(
            min(weights_a[gram], weights_b[gram]) * weights_b[gram]
            for gram in weights_a
            if gram in weights_b
        )
        total += shared / norms if norms else 0.0
    return float(total / 4 * np.exp(-((bigrams(ours) - bigrams(theirs)) ** 2) / 72))
