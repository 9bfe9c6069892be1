"""Point-Bench of PointArena: point to what a question asks for, in five categories.

Paper    Cheng et al. 2025, PointArena: Probing Multimodal Grounding Through Language-Guided
         Pointing, https://arxiv.org/abs/2505.09990 (982 questions).
Data     PointArena/pointarena-data on the Hugging Face hub: data.json, selected_images.zip, and
         selected_masks.zip, unpacked, or images/<category>/ and masks/ as in the authors' code.
Prompt   `molmo`: pointarena/pointarena@dcd82f29cfc80d6c2438e9be538ecfd241313d91:molmo_evaluator.py#
         L290-L300, 200 tokens. For questions of the category steerable, the authors add points from
         a table that is not in the data set; we do not. `lmms-eval` and `lmms-eval-json`:
         lmms_eval/tasks/pointbench/utils.py#L18-L54, 256 tokens.
Scoring  `official`: molmo_evaluator.py#L206-L274, #L325-L404, #L410-L457, #L713-L730, which is the
         code for Molmo. A reply is right if all its points are in the mask (gray values over 127).
         Only the first point counts, except in the category counting, where the number of points
         must be right. Points are in percent in Molmo's four forms, and in pixels in brackets.
         `lmms-eval` and `lmms-eval-json`: pointbench/utils.py#L139-L252, the share of points in the
         mask; `-binary` is their counterpart of the official rule.
         `robust`: Snellen's own parser (answers/places.py), which takes all points in the reply, in
         any maker's form, and the centers of boxes, and then the official rule. Their numbers are
         in the model's coordinates if these are set. Otherwise, they are thousandths with the
         prompts `lmms-eval` and `lmms-eval-json`, which demand these, and pixels of the picture
         with `molmo`. It never guesses a scale. (Molmo's percent is read only by `official`.)
Proof    All scorings but `robust` equal their authors' code on 450 generated pairs
         (tests/parity). No model outputs are published.
"""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, grounding, pins
from snellen.benchmarks.families.grounding import places
from snellen.benchmarks.families.masks import (
    STOPS,
    a_point_of,
    at,
    brightness,
    decoded,
    encoded,
    is_inside,
    json_pairs,
    mask_size,
    points_of,
    robust_points,
    several,
    share_inside,
)
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    PointAnswer,
    Presentation,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find
from snellen.media.content import Image, Message, user

KIND = "point"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 982
AUTHORS = (
    "pointarena/pointarena@dcd82f29cfc80d6c2438e9be538ecfd241313d91:"
    "molmo_evaluator.py#L206-L274, #L325-L457, #L713-L730"
)
Preset = Literal["molmo", "lmms-eval", "lmms-eval-json"]
COUNTING = "counting"
TUPLES = (
    "{} Your answer should be formatted as a list of tuples, i.e. [(x1, y1), (x2, y2), ...], where "
    "each tuple contains the x and y coordinates of a point satisfying the conditions above. The "
    "coordinates should be integers between 0 and 999, representing the pixel locations scaled to "
    "a 1000x1000 grid. Return only list of tuples, do not add anything else."
)
ALL_OBJECTS = (
    ", You should point to all the objects in the image that are mentioned in the question."
)
IN_JSON = "\nReturn points in JSON format and normalized to the range [0, 1000]."
LEAVES = {
    "affordance": "reasoning/commonsense",
    COUNTING: "perception/counting",
    "reasoning": "reasoning/logic",
    "spatial": "perception/spatial",
    "steerable": "perception/spatial",
}
_DECIMAL = r"([0-9]+\.[0-9])"
_PERCENT = r'"\s*([0-9]+(?:\.[0-9]+)?)"'
MOLMO = (
    (re.compile(rf"Click\({_DECIMAL}, ?{_DECIMAL}\)"), 1),
    (re.compile(rf"\({_DECIMAL},? ?{_DECIMAL}\)"), 1),
    (re.compile(rf"x\d*={_PERCENT}\s+y\d*={_PERCENT}"), 1),
    (re.compile(r"(?:\d|p)\s*=\s*([0-9]{3})\s*,\s*([0-9]{3})"), 10),
)
"""Molmo's forms of points, and by what their numbers are divided to get percent."""
_TUPLE = re.compile(r"\(([-+]?\d*\.?\d+)\s*,\s*([-+]?\d*\.?\d+)\)")
MOST_PIXELS = 2**31


def pointbench(prompt: Preset = "molmo", data: Path | None = None) -> Benchmark:
    data_file = find(data, "pointbench", ["data.json"])
    table, file = authors_files.table(data_file, questions)
    rules = scorings(prompt)
    nothing = {"oracle": 0.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    return Benchmark(
        name="pointbench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (message(sample, prompt),),
        scorings=rules,
        max_answer_tokens=200 if prompt == "molmo" else 256,
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: '<point x="0.0" y="0.0">',
            # The other rules do not read Molmo's form, except ours, which takes the percent for
            # pixels or thousandths. One of the four points in percent is also right in pixels.
            expect={
                **dict.fromkeys(rules, nothing),
                "official": {**nothing, "oracle": 1.0},
                "robust": {**nothing, "oracle": 0.25 if prompt == "molmo" else 0.0},
            },
        ),
        presentation=Presentation(
            break_down_by=("category",),
            capabilities=Capabilities(
                tag="category", leaves=LEAVES, source="arXiv:2505.09990, section 3"
            ),
        ),
        interop=Interop(files=file),
    )


def scorings(prompt: Preset = "molmo") -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    source = f"{pins.LMMS_EVAL}:lmms_eval/tasks/pointbench/utils.py#L139-L252"
    rules = {}
    for name, parse in {"lmms-eval": tuples, "lmms-eval-json": grid_points}.items():
        rules[name] = places(source, parse, share, partial=True)
        rules[f"{name}-binary"] = places(source, parse, partial(all_inside, first=True))
    robust = grounding.robust(
        partial(all_inside, first=True),
        demanded=None if prompt == "molmo" else "0-1000",
        parse=robust_points,
    )
    return {"official": places(AUTHORS, molmo_points, all_inside), **rules, "robust": robust}


def questions(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows that have a mask."""
    for number, row in enumerate(authors_files.objects(path)):
        if "mask_filename" in row:
            yield {"id": str(number), **row}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    category = str(row.get("category", ""))
    image = picture(row["image_filename"], "images", category, data_file)
    inside = encoded(brightness(picture(row["mask_filename"], "masks", category, data_file)) > 127)
    count = int(row.get("count", 1) or 0)
    return Sample(
        id=str(row["id"]),
        question=row["user_input"],
        media=(image,),
        target=target_of(inside, count if category == COUNTING else 1),
        tags={"category": category},
        data={"mask": inside, "count": count},
    )


def picture(name: str, kind: str, category: str, data_file: DataFile) -> Image:
    """A picture in one of the folders that the authors and their archives use."""
    folders = (f"{kind}/{category}", kind, f"selected_{kind}/{category}", f"selected_{kind}")
    names = [f"{folder}/{name}" for folder in folders]
    there = (name for name in names if (data_file.folder / name).is_file())
    return data_file.image(next(there, names[0]), name)


def target_of(mask: Any, count: int) -> str:
    """A reply in Molmo's form that has this number of points in the mask."""
    x, y = a_point_of(mask)
    width, height = mask["width"], sum(mask["runs"]) // mask["width"]
    point = f'"{(x + 0.5) / width:.2%}" y="{(y + 0.5) / height:.2%}"'.replace("%", "")
    return " ".join(f"<point x={point}>" for _ in range(count))


def message(sample: Sample, prompt: Preset) -> Message:
    question = sample.question.strip()
    if prompt == "lmms-eval":
        return user(*sample.media, TUPLES.format(question))
    text = f"pointing: {question}"
    if prompt == "lmms-eval-json":
        is_counting = sample.tags["category"] == COUNTING
        text += f"{ALL_OBJECTS if is_counting else ''}{IN_JSON}"
    return user(*sample.media, text)


# -- scoring, official


def molmo_points(reply: Reply, sample: Sample) -> Reading:
    """Parse Molmo's forms in percent, or else points in brackets in pixels. A text in the form
    Click(x, y) gives two points. Only the first point counts, except for questions that count."""
    width, height = grounding.size_of(sample)
    points = []
    for pattern, divisor in MOLMO:
        for pair in pattern.findall(reply.text):
            x, y = (float(text) / divisor for text in pair)
            if max(x, y) <= 100:
                points.append((x / 100.0 * width, y / 100.0 * height))
    points = points or bracketed(reply.text)
    kept = points if sample.tags["category"] == COUNTING else points[:1]
    return several(at(x, y) for x, y in kept)


def bracketed(text: str) -> list[tuple[float, float]]:
    """The points between the first and the last bracket: pairs in brackets, or else JSON, or else,
    if the JSON has no points, all numbers in pairs."""
    part = text[text.find("[") : text.rfind("]") + 1] if "[" in text else ""
    if coordinates := re.findall(r"\[(\d+\.?\d*),\s*(\d+\.?\d*)\]", part):
        return [(float(x), float(y)) for x, y in coordinates]
    try:
        items = json.loads(part)
        pairs = [
            item["point"] if isinstance(item, dict) else item for item in items if is_point(item)
        ]
        points = [(float(x), float(y)) for x, y in pairs]
    except (OverflowError, RecursionError, TypeError, ValueError):
        return []
    values = [*map(float, re.findall(r"\d+\.?\d*", part))]
    return points or [*zip(values[::2], values[1::2], strict=False)]


def is_point(item: object) -> bool:
    """Whether an item is a list of two values, or an object whose `point` is one."""
    pair = item.get("point") if isinstance(item, dict) else item
    return isinstance(pair, list) and len(pair) == 2


def all_inside(reading: Reading, sample: Sample, *, first: bool = False) -> float:
    """Whether all points are in the mask and, for questions that count, their number is right. With
    `first`, only the first point counts for the other questions."""
    points = [point for point in points_of(reading) if isinstance(point, PointAnswer)]
    if sample.tags["category"] == COUNTING:
        if len(points) != sample.data["count"]:
            return 0.0
    elif first:
        points = points[:1]
    inside = decoded(sample.data["mask"])
    return float(bool(points) and all(is_inside(point, inside) for point in points))


# -- scoring, lmms-eval


def tuples(reply: Reply, sample: Sample) -> Reading:
    """Parse all (x, y). Numbers up to 1 are shares, numbers up to 1,000 are thousandths, and other
    numbers are pixels. Halves are rounded to even."""
    width, height = mask_size(sample)
    points = []
    for pair in _TUPLE.findall(reply.text):
        x, y = map(float, pair)
        if 0 <= x <= 1 and 0 <= y <= 1:
            x, y = x * width, y * height
        elif 0 <= x <= 1000 and 0 <= y <= 1000:
            x, y = x / 1000.0 * width, y / 1000.0 * height
        if max(abs(x), abs(y)) >= MOST_PIXELS:
            return Reading(answer=None, rule=STOPS)
        points.append(at(float(round(x)), float(round(y))))
    return several(points)


def grid_points(reply: Reply, sample: Sample) -> Reading:
    return json_pairs(reply.text, *mask_size(sample))


def share(reading: Reading, sample: Sample) -> float:
    return share_inside(reading, sample.data["mask"])
