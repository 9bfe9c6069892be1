"""Questions of `_replies.py` as files: rows for Snellen, the same for the floor client, pictures,
and predictions."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from _replies import KINDS, Question, question, reply

LARGE, SMALL, NO_PICTURE = 448, 64, 0
"""The side of a picture in pixels: JPEGs of 54 kB, of 2.7 kB, and none."""
PICTURES = {LARGE: 3000, SMALL: 1000}
"""The number of different pictures, which are used in turn."""
SCORING = {"choices": "default", "numbers": "robust", "open": "robust", "yes-no": "default"}
"""The scoring whose accuracy is 70 %, by kind."""


def picture(work: Path, peers: Path, number: int, side: int) -> Path:
    """The picture of a question, from the peers' workload."""
    path = work / f"pictures-{side}/{number % PICTURES[side]:06d}.jpg"
    if not path.exists():
        sys.path.insert(0, str(peers))
        import make_datasets
        import numpy as np

        path.parent.mkdir(parents=True, exist_ok=True)
        random = np.random.default_rng([0, number % PICTURES[side]])
        path.write_bytes(make_datasets.picture(random, side))
    return path


def workload(work: Path, peers: Path, kind: str, n: int, side: int) -> list[str]:
    """Write n questions of a kind, unless they exist. Return the words that name them on Snellen's
    command line. `floor` returns the same questions for the floor client."""
    folder = work / f"{kind}-{side}-{n}"
    # MathVision's questions have numbers as answers. The other kinds are rows without a benchmark.
    rows = folder / ("test.jsonl" if kind == "numbers" else "rows.jsonl")
    if not rows.exists():
        folder.mkdir(parents=True, exist_ok=True)
        lines, for_floor = [], []
        for number in range(n):
            item = question(kind, number)
            image = None
            if side:
                image = picture(work, peers, number, side)
                if not (link := folder / image.name).exists():
                    os.link(image, link)
            lines.append(json.dumps(row(item, image.name if image else None)) + "\n")
            text = marked(item)
            for_floor.append(
                {"question": text, "choices": item.choices, "target": "", "image": str(image)}
            )
        (folder / "inspect").mkdir(exist_ok=True)
        (folder / f"inspect/synmcq{n}.json").write_text(json.dumps(for_floor))
        rows.write_text("".join(lines))
    return ["-b", "mathvision", "--data", str(folder)] if kind == "numbers" else ["-b", str(rows)]


def marked(item: Question) -> str:
    """The text of a question with the mark by which the mock server knows it."""
    return f"[item {item.number:06d}] {item.text}"


def row(item: Question, image: str | None) -> dict[str, object]:
    if item.kind == "numbers":
        return {
            "id": str(item.number),
            "question": marked(item),
            "options": [],
            "answer": item.target,
            "solution": None,
            "level": 1 + item.number // 10 % 5,
            "subject": "algebra",
            "image": image or "none.jpg",
        }
    fields = {"id": item.number, "question": marked(item), "answer": item.target}
    fields |= dict(zip("ABCD", item.choices, strict=bool(item.choices)))
    fields["category"] = f"cat{item.number // 10 % 5}"
    return fields | ({"image": image} if image else {})


def predictions(work: Path, kind: str, form: str, n: int) -> Path:
    """A file of the replies to n questions, as another tool would write them."""
    path = work / f"predictions/{kind}-{form}-{n}.jsonl"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(_predicted(kind, form, n)))
    return path


def _predicted(kind: str, form: str, n: int) -> Iterator[str]:
    assert kind in KINDS
    for number in range(n):
        line = {"id": str(number), "prediction": reply(question(kind, number), form)}
        yield json.dumps(line) + "\n"
