"""OSWorld-G: where to click on a desktop, or that the target does not exist.

Paper    Xie et al. 2025, Scaling Computer-Use Grounding via User Interface Decomposition and
         Synthesis, https://arxiv.org/abs/2505.13227 (564 instructions).
Data     The authors' OSWorld-G.json (xlang-ai/OSWorld-G) with images/, the parquet file of
         MMInstruction/OSWorld-G on the Hugging Face hub, or VLMEvalKit's OSWorld_G.tsv, which has
         boxes only. A target is a box (x, y, width, height), a polygon, or a refusal.
Prompt   `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/osworld_g/utils.py#L20-L27, 128 tokens. `vlmevalkit`: open-compass/VLMEvalKit@
         e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/GUI/osworld_g.py#L19-L21.
Scoring  The authors' repository has no public snapshot, so there is no `official`.
         `lmms-eval`: osworld_g/utils.py#L31-L171. A point with both coordinates in [0, 1] is
         relative, and any other point is in pixels. A refusal is right if both coordinates are
         negative; a refusal in words is wrong. A polygon of four numbers is a rectangle, and a
         polygon with an odd number of coordinates is always missed.
         `vlmevalkit`: GUI/osworld_g.py#L28-L34, #L314-L367, over boxes only, in thousandths.
         `robust`: Snellen's own parser (answers/places.py), which takes the only box or point in
         the reply, in any maker's form. Its numbers are in the model's coordinates if these are
         set, and otherwise pixels of the picture. It never guesses a scale.
Proof    Both other scorings equal their authors' code on 400 generated pairs (tests/parity). No
         model outputs are published.
"""

import json
from functools import partial
from pathlib import Path
from typing import Any, Literal

from snellen.answers.places import single_answer
from snellen.benchmarks.families import authors_files, grounding, pins
from snellen.benchmarks.families.grounding import inside, places
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.core import (
    Benchmark,
    BoxAnswer,
    Capabilities,
    Check,
    Interop,
    PointAnswer,
    PolygonAnswer,
    Presentation,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.core.coordinates import Coordinates
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.media.content import Message, user
from snellen.metrics import Metric, mean
from snellen.metrics.only_tagged import only_tagged
from snellen.text.literals import literal

KIND = "point"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "toolkit's code"
SIZE = 564
Preset = Literal["lmms-eval", "vlmevalkit"]
ALIASES = {"OSWorld_G": {"prompt": "vlmevalkit"}}
SHEET = own_sheet("OSWorld_G", md5="eee81b61210f580cbc98b11c6bced928")
PROMPT = (
    "Identify the UI target for the instruction and output exactly one click point as [x, y]. You "
    "may use either normalized coordinates in [0, 1] or absolute pixel coordinates. If the target "
    "does not exist, output [-1, -1].\nInstruction: {}"
)
REFUSAL = "refusal"
LEAVES = {
    "bbox": "perception/spatial",
    "polygon": "perception/spatial",
    REFUSAL: "hallucination/object",
}


def osworld_g(prompt: Preset = "lmms-eval", data: Path | None = None) -> Benchmark:
    names = ["OSWorld-G.json", "benchmark/OSWorld-G.json", SHEET.name]
    data_file = find(data, "osworld-g", names, published())
    table, file = authors_files.table(data_file, authors_files.objects)
    nothing = {"oracle": 0.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    return Benchmark(
        name="osworld-g",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: message(sample, prompt),
        scorings=scorings(),
        max_answer_tokens=128 if prompt == "lmms-eval" else 512,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda _, answer: middle(answer),
            wrong=lambda _: "[1, 1, 3, 3]",
            # The oracle's replies have no `x=`, which VLMEvalKit's rule requires.
            expect={
                **{name: {**nothing, "oracle": 1.0} for name in ("lmms-eval", "robust")},
                "vlmevalkit": nothing,
            },
        ),
        presentation=Presentation(
            break_down_by=("box_type",),
            target_answer=target,
            capabilities=Capabilities(
                tag="box_type", leaves=LEAVES, source="arXiv:2505.13227, section 2"
            ),
        ),
        interop=Interop(files=file),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    of_boxes = {"accuracy": mean, "wrong_format": grounding.wrong_format}
    metrics = {
        name: only_tagged(Metric(metric, better=metric.better or "higher"), "box_type", ["bbox"])
        for name, metric in of_boxes.items()
    }
    return {
        "lmms-eval": places(
            f"{pins.LMMS_EVAL}:lmms_eval/tasks/osworld_g/utils.py#L31-L171",
            parse_point,
            score_point,
        ),
        "vlmevalkit": places(
            f"{pins.VLMEVALKIT}:vlmeval/dataset/GUI/osworld_g.py#L314-L367",
            grounding.parse_click_in_thousandths,
            partial(score_box, less=0),
            metrics=metrics,
        ),
        "robust": grounding.robust(robust_score, parse=robust_target),
    }


def published(**_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file, which has boxes only."""
    return (SHEET,)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    if "image_path" in row and "image" not in row:
        name = row["image_path"]
        names = [name, f"images/{name}"]
        there = (name for name in names if (data_file.folder / name).is_file())
        image = data_file.image(next(there, names[-1]), name)
    else:
        image = authors_files.picture(row)
    kind = str(row.get("box_type", "bbox")).lower()
    places: Any = row["box_coordinates"] if "box_coordinates" in row else literal(row["bbox"])
    places = grounding.numbers(places, len(places), "box_coordinates")
    if kind == "bbox":
        places = grounding.corners(grounding.numbers(places, 4, "box_coordinates"))
    size = row.get("image_size")
    return Sample(
        id=str(row["id"] if "id" in row else row["index"]),
        question=row["instruction"] if "instruction" in row else row["question"],
        media=(image,),
        target=REFUSAL if kind == REFUSAL else grounding.as_text(places),
        tags={"box_type": kind},
        data={
            "box": [*places],
            "image": authors_files.picture_key(image),
            **({"size": [*grounding.numbers(size, 2, "image_size")]} if size else {}),
        },
    )


def message(sample: Sample, prompt: Preset) -> tuple[Message, ...]:
    if prompt == "vlmevalkit":
        return grounding.click_prompt(sample)
    return (user(*sample.media, PROMPT.format(sample.question)),)


def middle(target: str) -> str:
    """The mean of the corners of a target, or the reply to a target that does not exist."""
    if target == REFUSAL:
        return "[-1, -1]"
    values = json.loads(target)
    half = len(values) / 2
    return f"[{sum(values[::2]) / half:.2f}, {sum(values[1::2]) / half:.2f}]"


def target(sample: Sample) -> BoxAnswer | PolygonAnswer | None:
    """The box or the polygon. A refusal has neither."""
    values: Any = sample.data["box"]
    match sample.tags["box_type"]:
        case "bbox":
            return grounding.target_box(sample)
        case "polygon" if len(values) == 4:
            (left, right), (top, bottom) = sorted(values[::2]), sorted(values[1::2])
            return BoxAnswer(left=left, top=top, right=right, bottom=bottom)
        case "polygon" if len(values) % 2 == 0:
            return PolygonAnswer(points=tuple(zip(values[::2], values[1::2], strict=True)))
    return None


# -- scoring


def parse_point(reply: Reply, sample: Sample) -> Reading:
    """Parse lmms-eval's point."""
    result = grounding.lmms_eval_point(reply.text)
    if result is None:
        return Reading(answer=None, rule=grounding.NO_POINT)
    (x, y), rule = result
    width, height = grounding.size_of(sample)
    if 0 <= x <= 1 and 0 <= y <= 1:
        return grounding.point_in_pixels(x * width, y * height, f"{rule}, relative")
    return grounding.point_in_pixels(x, y, f"{rule}, pixels")


def score_point(reading: Reading, sample: Sample) -> float:
    if not isinstance(reading.answer, PointAnswer):
        return 0.0
    x, y = reading.answer.x, reading.answer.y
    match sample.tags["box_type"]:
        case "bbox":
            return inside((x, y), grounding.box_of(sample))
        case "polygon":
            corners: Any = sample.data["box"]
            return float(in_polygon(x, y, corners))
        case "refusal":
            return float(x < 0 and y < 0)
    return 0.0


def in_polygon(x: float, y: float, values: list[float]) -> bool:
    """Whether a point is in a polygon by the rule of even and odd crossings. Left edges are in the
    polygon, and right edges are not. Four numbers are the corners of a rectangle, whose edges are
    in it."""
    if len(values) == 4:
        left, right = sorted(values[::2])
        top, bottom = sorted(values[1::2])
        return left <= x <= right and top <= y <= bottom
    corners = [*zip(values[::2], values[1::2], strict=False)]
    if len(values) % 2 or len(corners) < 3:
        return False
    crossings = sum(
        x < (left - right) * (y - low) / (high - low) + right
        for (right, low), (left, high) in zip(corners, corners[-1:] + corners[:-1], strict=True)
        if (low > y) != (high > y)
    )
    return crossings % 2 == 1


def score_box(reading: Reading, sample: Sample, less: int) -> float:
    """Score VLMEvalKit's click. Only boxes have a rule; other targets are not in its metrics."""
    is_box = sample.tags["box_type"] == "bbox"
    return grounding.score_click(reading, sample, less) if is_box else 0.0


def robust_target(reply: Reply, sample: Sample, coordinates: Coordinates) -> Reading:
    """Parse the only box or point of a reply. Two negative numbers are the refusal that the prompt
    demands, whatever the model's coordinates."""
    result = single_answer(reply.text)
    if len(result.answers) == 1 and len(result.answers[0]) == 2 and max(result.answers[0]) < 0:
        return grounding.point_in_pixels(*result.answers[0], f"{result.rule}: {REFUSAL}")
    return grounding.robust_target(reply, sample, coordinates)


def robust_score(reading: Reading, sample: Sample) -> float:
    """Score a point, or the center of a box, in pixels."""
    box = grounding.pixels_of(reading)
    if box is not None:
        x, y = grounding.center(box)
        reading = grounding.point_in_pixels(x, y, reading.rule)
    return score_point(reading, sample)
