"""Ref-L4: the box of the object that a long description refers to.

Paper    Chen et al. 2024, Revisiting Referring Expression Comprehension Evaluation in the Era of
         Large Multimodal Models, https://arxiv.org/abs/2406.16866.
Data     JierunChen/Ref-L4 on the Hugging Face hub: ref-l4-{val,test}.parquet (45,341 descriptions)
         and images.tar.gz; CC BY-NC 4.0. `--data` can also be a JSONL file with the same fields.
Prompt   The authors publish no prompt. `snellen` asks for a box in pixels of the picture.
Scoring  `official`: JierunChen/Ref-L4@bae942c852b52c5be1d8214c978e984294793b91:ref_l4/
         evaluation.py#L150-L330 and overlaps.py. A hit is an IoU, in single precision, of more than
         the threshold, and not of exactly the threshold. `macc` is the mean over the thresholds
         0.5, 0.55, ..., 0.95. `class_accuracy` and `class_macc` are means over the categories of
         Objects365. Sizes are those of the reference: small is less than 128, and large is more
         than 256. The authors score files of boxes, which `snellen score` reads, and publish no
         parser. Here, a box is the first four numbers in brackets, in pixels.
         `robust`: Snellen's own parser (answers/places.py), which takes the only box or point in
         the reply, in any maker's form. Its numbers are in the model's coordinates if these are
         set, and otherwise pixels of the picture, which the prompt demands. It never guesses a
         scale.
Proof    All figures and IoUs equal the authors' on 500 generated boxes (tests/parity). The parser
         is checked by hand.
"""

import json
import re
from functools import cache
from math import isnan, sqrt
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, grounding, results
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Filtered, Row, Table, find, jsonl
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import user
from snellen.metrics import Metric, macro_average, mean
from snellen.metrics.iou import iou32, share_at

KIND = "box"
LANGUAGES = ("en",)
LICENSE = "CC-BY-NC-4.0"
PROOF = "authors' code"
SIZE = 45341
SOURCE = "JierunChen/Ref-L4@bae942c852b52c5be1d8214c978e984294793b91:ref_l4/evaluation.py#L150-L330"
HUB = "hf://datasets/JierunChen/Ref-L4@d62c4f4e5f3a639b34adab34e5c8ffeb39f168c1"
Split = Literal["all", "val", "test"]
PROMPT = (
    "Locate the object that this description refers to: {}\n"
    "Answer with its box as [x1, y1, x2, y2], in pixels of the picture."
)
LEAST_UNION = 1e-6
_NUMBER = r"(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
_BOX = re.compile(r"\[\s*" + r"\s*,\s*".join([_NUMBER] * 4) + r"\s*\]")


def ref_l4(split: Split = "all", data: Path | None = None) -> Benchmark:
    parts: tuple[Split, ...] = ("val", "test") if split == "all" else (split,)
    files = [file_of(part, data) for part in parts]
    if data is not None and data.is_file():
        files = files[:1]
    tables = [authors_files.table(file, lambda path: iter(jsonl(path)))[0] for file in files]
    table: Table = authors_files.Joined("Ref-L4", tables) if len(tables) > 1 else tables[0]
    nothing = {"oracle": 0.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    return Benchmark(
        name="ref-l4",
        asks=1,
        data=Filtered(table, lambda row: row.get("split", split) in (*parts, split)),
        sample=lambda _, row: to_sample(row, files[0]),
        prompt=lambda sample, _: (user(*sample.media, PROMPT.format(sample.question)),),
        scorings={"official": official(), "robust": robust()},
        max_answer_tokens=512,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "[0, 0, 1, 1]",
            expect={name: {**nothing, "oracle": 1.0} for name in ("official", "robust")},
        ),
        presentation=Presentation(
            break_down_by=("size",),
            target_answer=grounding.target_box,
            metric_tags=("category",),
            capabilities=Capabilities(
                tag="", leaves={"": "perception/object"}, source="arXiv:2406.16866, section 3"
            ),
        ),
        interop=Interop(files=files[0] if len(files) == 1 else None, layout=boxes),
    )


def official() -> Scoring:
    import numpy as np

    # The authors compare with thresholds in single precision.
    first, third, last = (float(np.float32(at)) for at in (0.5, 0.75, 0.9))
    every = [float(np.float32(percent / 100)) for percent in range(50, 100, 5)]
    by_class = macro_average("category")
    return grounding.places(
        SOURCE,
        parse_box,
        score_iou,
        partial=True,
        metrics={
            "accuracy": share_at(first, strict=True),
            "accuracy@0.75": share_at(third, strict=True),
            "accuracy@0.9": share_at(last, strict=True),
            "macc": share_at(*every, strict=True),
            "class_accuracy": share_at(first, average=by_class, strict=True),
            "class_macc": share_at(*every, average=by_class, strict=True),
            "iou": Metric(mean, better="higher"),
        },
        on_missing="The authors' code stops if a description has no box.",
    )


def robust() -> Scoring:
    metrics = {"accuracy": share_at(0.5), "iou": Metric(mean, better="higher")}
    return grounding.robust(
        grounding.robust_iou, demanded="pixels-original", metrics=metrics, partial=True
    )


def published(split: Split = "all", **_: object) -> tuple[File, ...]:
    """The hub's files of a split, and the archive with all pictures."""
    parts = ("val", "test") if split == "all" else (split,)
    return (
        *(
            File(name=f"ref-l4-{part}.parquet", url=f"{HUB}/ref-l4-{part}.parquet")
            for part in parts
        ),
        File(name="images.tar.gz", url=f"{HUB}/images.tar.gz", unpack=True, note="3.51 GB"),
    )


def file_of(part: Split, data: Path | None) -> DataFile:
    names = [f"ref-l4-{part}.parquet", f"ref-l4-{part}.jsonl"]
    return find(data, "ref-l4", names, published(part), f"ref-l4:split={part}")


def to_sample(row: Row, data_file: DataFile) -> Sample:
    left, top, width, height = grounding.numbers(row["bbox"], 4, "bbox")
    name = row["file_name"]
    names = [f"images/{name}", name]
    there = (name for name in names if (data_file.folder / name).is_file())
    side = sqrt(width * height)
    category = str(row["ori_category_id"])
    box = grounding.corners((left, top, width, height))
    return Sample(
        id=str(row["id"]),
        question=row["caption"],
        media=(data_file.image(next(there, names[0]), name),),
        target=grounding.as_text(box),
        tags={
            "size": "small" if side < 128 else "medium" if side <= 256 else "large",
            "category": categories().get(category, category),
        },
        data={"box": [*box], "image": name},
    )


@cache
def categories() -> dict[str, str]:
    """Map RefCOCO's categories to those of Objects365 (ref_l4/evaluation.py#L11-L92)."""
    table = Path(authors_files.__file__).with_name("ref_l4_categories.tsv")
    lines = table.read_text(encoding="utf-8").splitlines()[1:]
    return dict(line.split("\t") for line in lines)


def boxes(path: Path) -> Published | None:
    """Read the authors' files of boxes, whose rows have an id, a box, and the box's format. Any
    format but `xywh` means left, top, right, bottom."""
    rows = results.rows_with(path, "id", "pred_bbox", "format")
    if rows is None:
        return None
    replies: dict[str, str | None] = {}
    for number, row in enumerate(rows, 1):
        name = str(row["id"])
        if name in replies:
            raise DataError(
                f"{path.name}: row {number} is a second box of {name}. Remove one of them."
            )
        values: Any = row["pred_bbox"]
        try:
            box = grounding.numbers(values, 4, "pred_bbox")
        except ValueError as error:
            raise DataError(f"{path.name}: row {number}: {error}. Correct it.") from error
        replies[name] = json.dumps(grounding.corners(box) if row["format"] == "xywh" else box)
    return Published(replies=replies)


def parse_box(reply: Reply, _: Sample) -> Reading:
    match = _BOX.search(reply.text)
    if match is None:
        return Reading(answer=None, rule="no box")
    return grounding.box([*map(float, match.groups())], "four numbers in brackets")


def score_iou(reading: Reading, sample: Sample) -> float:
    box = grounding.pixels_of(reading)
    overlap = 0.0 if box is None else iou32(grounding.box_of(sample), box, LEAST_UNION)
    return 0.0 if isnan(overlap) else overlap
