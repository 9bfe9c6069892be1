"""RefSpatial-Bench: point to a place or an object that a phrase describes by spatial relations.

Paper    Zhou et al. 2025, RoboRefer: Towards Spatial Referring with Reasoning in Vision-Language
         Models for Robotics, https://arxiv.org/abs/2506.04308 (NeurIPS 2025).
Data     The authors' folders Location, Placement, and Unseen (BAAI/RefSpatial-Bench on the Hugging
         Face hub), each with question.json, image/, and mask/: 277 questions.
Prompt   Zhoues/RoboRefer@d97a995ad28376720a4c8beb64915c58ed16c844:Evaluation/test_benchmark.py#
         L6-L16: `official`, `molmo`, `robobrain`, `gemini`, and `qwen`.
         `lmms-eval`: lmms_eval/tasks/refspatial/utils.py#L29-L33. `vlmevalkit`: vlmeval/dataset/
         refspatialbench.py#L101-L111.
Scoring  Evaluation/summarize_acc.py#L11-L122: the share of points in the mask. Any gray value over
         0 is in it. How points are parsed depends on the model: `official` for RoboRefer,
         RoboPoint, Claude, and GPT-4o, `absolute` for RoboBrain and Qwen, `molmo`, and `gemini`. A
         reply without points has the score 0. A reply at which the parser fails is left out of the
         mean. Where the authors' whole script stops, the reply is left out here.
         `lmms-eval`, `lmms-eval-0-999`, and `lmms-eval-json`: refspatial/utils.py#L46-L112, with
         gray values over 127. `vlmevalkit`: refspatialbench.py#L185-L213, as its code intends; at
         this commit, an error in its logging makes all scores 0.
         `robust`: Snellen's own parser (answers/places.py), which takes all points in the reply, in
         any maker's form, and the centers of boxes. Their numbers are in the model's coordinates if
         these are set, and otherwise shares of the picture's size with the prompts `official` and
         `lmms-eval`, which demand these, and pixels with the others. It never guesses a scale.
Proof    All scorings but `robust` equal their authors' code on 500 generated pairs
         (tests/parity). No model outputs are published.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, grounding, pins
from snellen.benchmarks.families.grounding import places
from snellen.benchmarks.families.masks import (
    OUTSIDE,
    STOPS,
    a_point_of,
    at,
    brightness,
    encoded,
    json_pairs,
    mask_size,
    mean_of_parsed,
    robust_points,
    several,
    share_inside,
    texts_in_parentheses,
)
from snellen.core import (
    Answer,
    Benchmark,
    BoxAnswer,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find
from snellen.media.content import user
from snellen.metrics import Metric, mean
from snellen.text.literals import literal

KIND = "point"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 277
AUTHORS = (
    "Zhoues/RoboRefer@d97a995ad28376720a4c8beb64915c58ed16c844:Evaluation/summarize_acc.py#L11-L122"
)
Part = Literal["all", "location", "placement", "unseen"]
Preset = Literal["official", "molmo", "robobrain", "gemini", "qwen", "lmms-eval", "vlmevalkit"]
PARTS: tuple[Part, ...] = ("location", "placement", "unseen")
ALIASES = {
    "RefSpatial": {"prompt": "vlmevalkit"},
    "refspatial_location": {"part": "location", "prompt": "lmms-eval"},
    "refspatial_placement": {"part": "placement", "prompt": "lmms-eval"},
    "refspatial_unseen": {"part": "unseen", "prompt": "lmms-eval"},
}
PROMPTS = {
    "official": "{prompt} {suffix}",
    "molmo": "Locate several points of {object}.",
    "robobrain": "{prompt} Please provide its 2D coordinates.",
    "gemini": "Locate one point of {object}.",
    "qwen": "Locate {object} in this image and output the point coordinates in JSON format.",
    "lmms-eval": "{prompt} {suffix} Return only list of tuples, don't add anything else.",
    "vlmevalkit": "{prompt}Output the point coordinates in JSON format.\nFor example:\n[\n"
    '  {{"point_2d": [x, y], "label": "point_1"}}\n]\n',
}
IN_SHARES = ("official", "lmms-eval")
"""The prompts that demand numbers from 0 to 1, in a sentence of each row."""
RELATIVE = ("official", "lmms-eval", "lmms-eval-json", "vlmevalkit")
NO_PARSE = "the parser fails"
_MOLMO = re.compile(r'x\d+="(-?\d+\.?\d*)"\s+y\d+="(-?\d+\.?\d*)"')
_FENCE = re.compile(r"```(?:\w+)?\n(.*?)```", re.DOTALL)
FAILURES = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


def refspatial(
    part: Part = "all", prompt: Preset = "official", data: Path | None = None
) -> Benchmark:
    parts = PARTS if part == "all" else (part,)
    data_file = find(data, "refspatial", [f"{parts[0].capitalize()}/question.json"])
    table, file = authors_files.table(data_file, lambda path: questions(path, parts))
    nothing = {"oracle": 0.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    rules = scorings(prompt)
    return Benchmark(
        name="refspatial",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, PROMPTS[prompt].format(**sample.data)),),
        scorings=rules,
        max_answer_tokens=1024,
        check=Check(
            says=relative_reply,
            wrong=lambda _: "(-1, -1)",
            # A point is two shares of the picture's size, which four rules and ours read, and at
            # which the rule of absolute points stops.
            expect={
                **dict.fromkeys(rules, nothing),
                **{name: {**nothing, "oracle": 1.0} for name in RELATIVE},
                "robust": {**nothing, "oracle": 1.0 if prompt in IN_SHARES else 0.0},
                "absolute": {**nothing, "oracle": None, "wrong": None},
            },
        ),
        presentation=Presentation(
            break_down_by=("task", "step"),
            capabilities=Capabilities(
                tag="", leaves={"": "perception/spatial"}, source="arXiv:2506.04308, section 4"
            ),
        ),
        interop=Interop(files=file),
    )


def scorings(prompt: Preset = "official") -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    evaluated = {"accuracy": mean_of_parsed, "unparsed": grounding.wrong_format}
    every = {"accuracy": Metric(mean, better="higher")}
    authors = partial(places, AUTHORS, partial=True, metrics=evaluated)
    lmms_eval = partial(
        places,
        f"{pins.LMMS_EVAL}:lmms_eval/tasks/refspatial/utils.py#L46-L112",
        score=lambda reading, sample: share_inside(reading, sample.data["bright"]),
        metrics=every,
        partial=True,
    )

    def score(reading: Reading, sample: Sample) -> float:
        return share_inside(reading, sample.data["mask"])

    return {
        "official": authors(parse=relative_points, score=score),
        "absolute": authors(parse=absolute_points, score=score),
        "molmo": authors(parse=molmo_points, score=score),
        "gemini": authors(parse=gemini_points, score=score),
        "lmms-eval": lmms_eval(parse=partial(scaled_points, scale=1)),
        "lmms-eval-0-999": lmms_eval(parse=partial(scaled_points, scale=1000)),
        "lmms-eval-json": lmms_eval(
            parse=lambda reply, sample: json_pairs(reply.text, *mask_size(sample))
        ),
        "vlmevalkit": places(
            f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/spatial_bench/tools/utils.py#L280-L503",
            kit_points,
            lambda reading, sample: share_inside(reading, sample.data["mask"], clip=True),
            metrics=every,
            partial=True,
        ),
        "robust": grounding.robust(
            score,
            demanded="0-1" if prompt in IN_SHARES else None,
            parse=robust_points,
            metrics=every,
            partial=True,
        ),
    }


def questions(path: Path, parts: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the authors' files. There is one file for each part."""
    for part in parts:
        folder = part.capitalize()
        for row in authors_files.objects(path.parents[1] / folder / path.name):
            yield {**row, "part": part, "folder": folder}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    image, mask = (
        data_file.image(f"{row['folder']}/{row[field]}") for field in ("rgb_path", "mask_path")
    )
    gray = brightness(mask)
    inside = encoded(gray > 0)
    return Sample(
        id=f"{row['part']}-{row['id']}",
        question=row["prompt"],
        media=(image,),
        target=grounding.as_text(a_point_of(inside)),
        tags={"task": row["part"], "step": str(row.get("step", ""))},
        data={
            "object": row["object"],
            "prompt": row["prompt"],
            "suffix": row["suffix"],
            "mask": inside,
            "bright": encoded(gray > 127),
        },
    )


def relative_reply(sample: Sample, answer: str) -> str:
    """A point in pixels as shares of the picture's size, in the middle of the pixel."""
    x, y = grounding.numbers(answer, 2, "answer")
    width, height = mask_size(sample)
    return f"[({(x + 0.5) / width:.4f}, {(y + 0.5) / height:.4f})]"


# -- scoring, official


def relative_points(reply: Reply, sample: Sample) -> Reading:
    """Parse points, and boxes as all their pixels. A point is in pixels if both numbers are
    integers. A box is always relative."""
    width, height = mask_size(sample)
    answers: list[Answer] = []
    try:
        for texts in texts_in_parentheses(reply.text):
            values = [float(text) if "." in text else int(text) for text in texts]
            if len(values) == 2:
                x, y = values
                if any("." in text for text in texts):
                    x, y = int(x * width), int(y * height)
                answers.append(at(x, y))
            elif len(values) == 4:
                sizes = (width, height) * 2
                corners = [int(value * size) for value, size in zip(values, sizes, strict=True)]
                answers += all_pixels(corners)
    except FAILURES:
        return Reading(answer=None, rule=NO_PARSE)
    return several(answers)


def absolute_points(reply: Reply, sample: Sample) -> Reading:
    """Parse points in pixels. A point that is not whole stops the authors' script."""
    answers: list[Answer] = []
    has_fraction = False
    try:
        for texts in texts_in_parentheses(reply.text):
            values = [float(text) if "." in text else int(text) for text in texts]
            if len(values) == 2:
                has_fraction |= any(isinstance(value, float) for value in values)
                answers.append(at(*values))
            elif len(values) == 4:
                if not all(isinstance(value, int) for value in values):
                    return Reading(answer=None, rule=NO_PARSE)
                answers += all_pixels(values)
    except FAILURES:
        return Reading(answer=None, rule=NO_PARSE)
    return Reading(answer=None, rule=STOPS) if has_fraction else several(answers)


def all_pixels(corners: list[Any]) -> list[Answer]:
    """A box that stands for all its pixels; none if the box is empty.

    Raises:
        ValueError: the box is reversed.
    """
    left, top, right, bottom = corners
    if right < left or bottom < top:
        raise ValueError("a side of the box is negative")
    if right == left or bottom == top:
        return []
    return [BoxAnswer(left=float(left), top=float(top), right=float(right), bottom=float(bottom))]


def molmo_points(reply: Reply, sample: Sample) -> Reading:
    """Parse x1="..." y1="..." in percent. The form without a digit, x="...", is not parsed."""
    width, height = mask_size(sample)
    try:
        return several(
            at(int(float(x) / 100 * width), int(float(y) / 100 * height))
            for x, y in _MOLMO.findall(reply.text)
        )
    except FAILURES:
        return Reading(answer=None, rule=NO_PARSE)


def gemini_points(reply: Reply, sample: Sample) -> Reading:
    """Parse the JSON in the first fence: a list of objects whose `point` is y and x in
    thousandths."""
    width, height = mask_size(sample)
    fence = _FENCE.search(reply.text)
    try:
        items = json.loads(fence[1].strip()) if fence else []
    except json.JSONDecodeError:
        items = []
    except RecursionError:
        return Reading(answer=None, rule=NO_PARSE)
    answers: list[Answer] = []
    try:
        for item in items:
            if "point" in item and isinstance(item["point"], list) and len(item["point"]) == 2:
                y, x = item["point"]
                answers.append(at(int(x / 1000 * width), int(y / 1000 * height)))
    except FAILURES:
        return Reading(answer=None, rule=NO_PARSE)
    return several(answers)


# -- scoring, toolkits


def scaled_points(reply: Reply, sample: Sample, scale: int) -> Reading:
    """Parse pairs of numbers, which are divided by `scale` and then relative, even integers."""
    width, height = mask_size(sample)
    try:
        pairs = [
            [float(text) if "." in text else int(text) for text in texts]
            for texts in texts_in_parentheses(reply.text)
            if len(texts) == 2
        ]
        return several(at(int(x / scale * width), int(y / scale * height)) for x, y in pairs)
    except FAILURES:
        return Reading(answer=None, rule=STOPS)


def kit_points(reply: Reply, sample: Sample) -> Reading:
    """Parse objects with `point_2d` or `point` if the whole reply is JSON or a Python literal, and
    numbers in parentheses otherwise. Points move into the picture before they are rounded."""
    width, height = mask_size(sample)
    points = kit_json(reply.text, width, height)
    if points:
        return several(kit_pixel(x, y, width, height) for x, y in points)
    answers: list[Answer] = []
    try:
        for texts in texts_in_parentheses(reply.text):
            values = [*map(float, texts)]
            is_relative = max(map(abs, values)) <= 1.5
            if len(values) == 2:
                scale = (1, 1) if is_relative else (width, height)
                answers.append(kit_pixel(values[0] / scale[0], values[1] / scale[1], width, height))
            elif len(values) == 4:
                scale = (width, height) if is_relative else (1, 1)
                (left, right), (top, bottom) = (
                    sorted(round(value * size) for value in values[axis::2])
                    for axis, size in enumerate(scale)
                )
                answers += all_pixels([left, top, right, bottom])
    except FAILURES:
        return Reading(answer=None, rule=NO_PARSE)
    return several(answers)


def kit_json(text: str, width: int, height: int) -> list[tuple[float, float]]:
    """The points of objects, as shares of the picture's size. The size of a point's numbers decides
    whether they are shares, thousandths, or pixels."""
    items = kit_literal(text.strip())
    points = []
    for item in [items] if isinstance(items, dict) else items if isinstance(items, list) else []:
        pair = (item.get("point_2d") or item.get("point")) if isinstance(item, dict) else None
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            continue
        try:
            x, y = map(float, pair)
        except (OverflowError, TypeError, ValueError):
            continue
        largest = max(abs(x), abs(y))
        if largest <= 1.5:
            points.append((x, y))
        elif largest <= 1000:
            points.append((x / 1000.0, y / 1000.0))
        else:
            points.append((x / width, y / height))
    return points


def kit_literal(text: str) -> Any:
    """The value of a text without a fence around it; None if it has no value."""
    if text.startswith("```"):
        _, line, rest = text.partition("\n")
        text = (rest if line else text.lstrip("`")).strip().removesuffix("```").strip()
    for loads in (json.loads, literal):
        with suppress(ValueError, RecursionError):
            value = loads(text)
            if value is not None:
                return value
    return None


def kit_pixel(x: float, y: float, width: int, height: int) -> Answer:
    """The pixel at shares of the picture's size. NaN is no pixel."""
    if x != x or y != y:
        return at(OUTSIDE, OUTSIDE)
    return at(*(round(min(max(v * n, 0.0), n - 1.0)) for v, n in ((x, width), (y, height))))
