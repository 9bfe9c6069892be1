"""RefCOCO, RefCOCO+, and RefCOCOg: the box of the object that a phrase refers to.

Paper    Yu et al. 2016, Modeling Context in Referring Expressions, https://arxiv.org/abs/1608.00272
         (RefCOCO and RefCOCO+). Mao et al. 2016, https://arxiv.org/abs/1511.02283 (RefCOCOg).
Data     The eight files <data set>_<split>.jsonl of Qwen-VL and InternVL (QwenLM/Qwen-VL@aa00ed04:
         eval_mm/EVALUATION.md), with the pictures of COCO's train2014. `--data` is the folder with
         the files; for one `split`, it can also be the split's parquet file of lmms-lab/RefCOCO,
         RefCOCOplus, or RefCOCOg on the Hugging Face hub, in which a row has several phrases.
Prompt   `internvl`: OpenGVLab/InternVL@2410d1dbf208f0e799459aff9376e5747dbf41a2:internvl_chat/eval/
         refcoco/evaluate_grounding.py#L261, 100 tokens. `qwen-vl`: QwenLM/Qwen-VL@aa00ed04091eea5f
         cdd32985e7915f1c53e7d599:eval_mm/evaluate_grounding.py#L129, 28 tokens.
         `lmms-eval`: lmms_eval/tasks/refcoco/utils_rec.py#L48-L53. `lmms-eval-grounding`:
         refcoco_grounding/utils.py#L48-L50, 512 tokens.
Scoring  The data sets' authors score detectors. Model cards use the scripts of model makers: the
         share of boxes whose IoU, in single precision, is at least 0.5.
         `internvl` (the headline): evaluate_grounding.py#L29-L42, #L187-L202, #L257. Numbers whose
         sum is at least 4 are thousandths. `qwen-vl`: evaluate_grounding.py#L25-L38, #L180-L210, in
         parts of 999. Other toolkits differ: `vlmevalkit` (vlmeval/dataset/refcoco.py#L489-L561),
         whose `average` is the mean over splits; `lmms-eval` (refcoco/utils_rec.py#L56-L160), which
         scales nothing; `lmms-eval-grounding` (refcoco_grounding/utils.py#L58-L217), which takes
         the best of all boxes, as pixels and as thousandths; `evalscope` (refcoco_adapter.py#
         L179-L197). The scorings `-center` are the hits of a center.
         `robust`: Snellen's own parser (answers/places.py), which takes the only box or point in
         the reply, in any maker's form. Its numbers are in the model's coordinates if these are
         set, and otherwise pixels of the picture, or shares of its size with the prompt
         `lmms-eval`, which demands these. It never guesses a scale.
Proof    All scorings but `robust` equal their authors' code on 650 generated pairs
         (tests/parity). No model outputs are published.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import isfinite, isnan
from pathlib import Path
from typing import Any, Literal, get_args

from snellen.benchmarks.families import authors_files, grounding, pins
from snellen.benchmarks.families.grounding import (
    EVALSCOPE,
    NO_BOX,
    Box,
    center,
    inside,
    places,
)
from snellen.benchmarks.families.questions import Unfolded
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find, jsonl
from snellen.data.parquet_files import Parquet
from snellen.media.content import user
from snellen.metrics import Metric, macro_average, mean
from snellen.metrics.iou import iou, iou32, share_at, shares_at

KIND = "box"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "toolkit's code"
SIZE = 57457
INTERNVL = (
    "OpenGVLab/InternVL@2410d1dbf208f0e799459aff9376e5747dbf41a2:"
    "internvl_chat/eval/refcoco/evaluate_grounding.py#L187-L202"
)
QWEN_VL = (
    "QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:"
    "eval_mm/evaluate_grounding.py#L180-L210"
)
Split = Literal[
    "all",
    "refcoco_val",
    "refcoco_testA",
    "refcoco_testB",
    "refcoco+_val",
    "refcoco+_testA",
    "refcoco+_testB",
    "refcocog_val",
    "refcocog_test",
]
Preset = Literal["internvl", "qwen-vl", "lmms-eval", "lmms-eval-grounding"]
SPLITS: tuple[Split, ...] = get_args(Split)[1:]
ALIASES = {
    "refcoco_bbox_rec_val": {"split": "refcoco_val", "prompt": "lmms-eval"},
    "refcoco_bbox_rec_testA": {"split": "refcoco_testA", "prompt": "lmms-eval"},
    "refcoco_bbox_rec_testB": {"split": "refcoco_testB", "prompt": "lmms-eval"},
    "refcoco+_bbox_rec_val": {"split": "refcoco+_val", "prompt": "lmms-eval"},
    "refcoco+_bbox_rec_testA": {"split": "refcoco+_testA", "prompt": "lmms-eval"},
    "refcoco+_bbox_rec_testB": {"split": "refcoco+_testB", "prompt": "lmms-eval"},
    "refcocog_bbox_rec_val": {"split": "refcocog_val", "prompt": "lmms-eval"},
    "refcocog_bbox_rec_test": {"split": "refcocog_test", "prompt": "lmms-eval"},
}
PROMPTS = {
    "internvl": "Please provide the bounding box coordinate of the region this sentence describes: "
    "<ref>{}</ref>",
    "qwen-vl": "<ref>{}</ref><box>",
    "lmms-eval": "Bounding box coordinates are specified in the format (top-left x, top-left y, "
    "bottom-right x, bottom-right y). All values are floating point numbers bounded between 0 and "
    "1. Please provide the bounding box coordinate of the region this sentence describes: {}",
    "lmms-eval-grounding": 'Locate every object that matches the description "{}" in the image. '
    "Report bbox coordinates in JSON format.",
}
IN_THOUSANDTHS = ("internvl", "vlmevalkit", "lmms-eval-grounding")
TOKENS = {"internvl": 100, "qwen-vl": 28}
KEYS = ("bbox_2d", "bbox", "box", "coordinates", "coord", "location", "position")
# The authors' lazy groups match up to the first comma or bracket, but take cubic time.
_INTERNVL = re.compile(r"(?<!\[)\[++([^,\n]*),([^,\n]*),([^,\n]*),([^\]\n]*)\]")
_QWEN_VL = re.compile(r"\(((?:(?!\),\().)*)\),\(([^)\n]*)\)")
_KIT_NUMBER = r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?"
_KIT_BOX = re.compile(r"\[\s*" + r"(?:\s*,\s*|\s+)".join([f"({_KIT_NUMBER})"] * 4) + r"\s*\]")
_FLOAT = r"(-?\d+(?:\.\d+)?)"
_BOX = re.compile(rf"\[\s*{_FLOAT},\s*{_FLOAT},\s*{_FLOAT},\s*{_FLOAT}\s*\]")
# Inside a number, no match can begin. Without the first group, long numbers take quadratic time.
_FOUR = re.compile(r"(?:(?=-)|(?<!\d))" + r"\s*[,\s]\s*".join([_FLOAT] * 4))


def refcoco(
    split: Split = "all", prompt: Preset = "internvl", data: Path | None = None
) -> Benchmark:
    splits = SPLITS if split == "all" else (split,)
    data_file = find(data, "refcoco", [f"{splits[0]}.jsonl"])
    table, file = authors_files.table(data_file, lambda path: phrases(path, splits))
    if isinstance(table, Parquet):
        table = Unfolded(table, unfold)
    nothing = {"oracle": 0.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    rules = scorings(prompt)
    return Benchmark(
        name="refcoco",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file, split),
        prompt=lambda sample, _: (user(*sample.media, PROMPTS[prompt].format(sample.question)),),
        scorings=rules,
        max_answer_tokens=TOKENS.get(prompt, 512),
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda sample, answer: "[[{:.0f}, {:.0f}, {:.0f}, {:.0f}]]".format(
                *(1000 * share for share in grounding.relative(answer, sample))
            ),
            wrong=lambda _: "[0, 0, 1, 1]",
            # InternVL's form is in thousandths. Qwen-VL's rule requires parentheses; the rules of
            # lmms-eval and EvalScope take the numbers for shares and for pixels.
            expect={
                **dict.fromkeys(rules, nothing),
                **{name: {**nothing, "oracle": 1.0} for name in IN_THOUSANDTHS},
            },
        ),
        presentation=Presentation(
            break_down_by=("split",),
            target_answer=grounding.target_box,
            capabilities=Capabilities(
                tag="", leaves={"": "perception/object"}, source="arXiv:1608.00272, section 1"
            ),
        ),
        interop=Interop(files=file),
    )


def scorings(prompt: Preset = "internvl") -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    metrics = {"accuracy": share_at(0.5), "iou": Metric(mean, better="higher")}
    overlap = partial(places, metrics=metrics, partial=True)
    several = {**metrics, **shares_at(0.1, 0.3, 0.7, 0.9)}
    averages = {
        **metrics,
        "average": share_at(0.5, average=macro_average("split")),
        "average_iou": Metric(macro_average("split"), better="higher"),
    }
    lmms_eval = f"{pins.LMMS_EVAL}:lmms_eval/tasks/refcoco/utils_rec.py#L56-L160"
    scope = f"{EVALSCOPE}/refcoco/refcoco_adapter.py#L179-L197"
    return {
        "internvl": overlap(INTERNVL, internvl_box, score_iou32),
        "qwen-vl": overlap(QWEN_VL, qwen_vl_box, score_iou32),
        "vlmevalkit": overlap(
            f"{pins.VLMEVALKIT}:vlmeval/dataset/refcoco.py#L489-L561",
            kit_box,
            score_iou,
            metrics=averages,
        ),
        "lmms-eval": overlap(lmms_eval, share_box, score_shares, metrics=several),
        "lmms-eval-center": places(lmms_eval, share_box, score_center),
        "lmms-eval-grounding": overlap(
            f"{pins.LMMS_EVAL}:lmms_eval/tasks/refcoco_grounding/utils.py#L58-L217",
            best_box,
            score_iou,
            metrics=several,
        ),
        "evalscope": overlap(scope, pixel_box, score_shares, metrics=several),
        "evalscope-center": places(scope, pixel_box, score_center_of_reference),
        "robust": grounding.robust(
            grounding.robust_iou,
            demanded="0-1" if prompt == "lmms-eval" else None,
            metrics=metrics,
            partial=True,
        ),
    }


# -- rows


def phrases(path: Path, splits: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the files of several splits. Qwen-VL's data sets have folders of their
    own."""
    for split in splits:
        file = path.with_name(f"{split}.jsonl")
        if not file.exists():
            file = path.parents[1] / split.partition("_")[0] / file.name
        for number, row in enumerate(jsonl(file)):
            yield {"id": f"{split}-{number}", "split": split, **row}


def unfold(row: Row) -> Iterator[dict[str, Any]]:
    """Yield a row for each phrase of a row of the hub's parquet files."""
    for number, phrase in enumerate(row["answer"]):
        yield {
            "id": f"{row['question_id']}-{number}",
            "sent": phrase,
            "image": row["image"],
            "bbox": grounding.corners(grounding.numbers(row["bbox"], 4, "bbox")),
        }


def to_sample(row: Row, data_file: DataFile, split: Split) -> Sample:
    image = row["image"]
    if isinstance(image, str):
        name = Path(image).name
        names = [image, f"train2014/{name}", f"coco/train2014/{name}"]
        there = (name for name in names if (data_file.folder / name).is_file())
        image = data_file.image(next(there, names[1]), name)
    else:
        image = authors_files.picture(row)
    box = grounding.numbers(row["bbox"], 4, "bbox")
    size = {"size": [row["width"], row["height"]]} if "width" in row else {}
    return Sample(
        id=str(row["id"]),
        question=row["sent"],
        media=(image,),
        target=grounding.as_text(box),
        tags={"split": str(row.get("split", split))},
        data={"box": [*box], "image": authors_files.picture_key(image), **size},
    )


# -- scoring, makers


def first_in_a_line(pattern: re.Pattern[str], bracket: str, text: str) -> re.Match[str] | None:
    """The first match of `_INTERNVL` or `_QWEN_VL`, which begin with a bracket and do not go beyond
    a line. If there is no match at the first bracket of a line, there is none at a later one, and
    trying all of them would take quadratic time."""
    for line in text.split("\n"):
        start = line.find(bracket)
        if start >= 0 and (match := pattern.match(line, start)):
            return match
    return None


def single(values: Sequence[float], scale: float, sample: Sample, rule: str) -> Reading:
    """Create the reading of a box whose corners are divided and scaled in single precision."""
    import numpy as np

    with np.errstate(all="ignore"):
        numbers = np.array(values, dtype=np.float32)
        if scale == 999 or numbers.sum(dtype=np.float32) >= 4:
            numbers = numbers / np.float32(scale)
        numbers *= np.array(grounding.size_of(sample) * 2, dtype=np.float32)
    return grounding.box(numbers.tolist(), rule)


def internvl_box(reply: Reply, sample: Sample) -> Reading:
    """Parse the first four texts between brackets that have commas between them. A text may be
    anything, so an earlier "[1]" can hide the box."""
    match = first_in_a_line(_INTERNVL, "[", reply.text)
    try:
        values = [*map(float, match.groups())] if match else []
    except ValueError:
        return Reading(answer=None, rule="not four numbers")
    if not values:
        return Reading(answer=None, rule="no box")
    return single(values, 1000, sample, "four numbers in brackets")


def qwen_vl_box(reply: Reply, sample: Sample) -> Reading:
    """Parse the first (x,y),(x,y). An earlier parenthesis can hide it."""
    match = first_in_a_line(_QWEN_VL, "(", reply.text)
    try:
        corners = [[*map(float, text.split(","))] for text in match.groups()] if match else []
    except ValueError:
        corners = []
    if [len(corner) for corner in corners] != [2, 2]:
        return Reading(answer=None, rule="no box")
    return single([*corners[0], *corners[1]], 999, sample, "(x,y),(x,y)")


def score_iou32(reading: Reading, sample: Sample) -> float:
    box = grounding.pixels_of(reading)
    overlap = 0.0 if box is None else iou32(box, grounding.box_of(sample))
    return 0.0 if isnan(overlap) else overlap


# -- scoring, toolkits


def kit_box(reply: Reply, sample: Sample) -> Reading:
    """Parse four numbers in brackets, or else the first four numbers. Their size decides whether
    they are shares, thousandths, or pixels."""
    match = _KIT_BOX.search(reply.text)
    numbers = match.groups() if match else re.findall(_KIT_NUMBER, reply.text)[:4]
    if len(numbers) < 4:
        return Reading(answer=None, rule="fewer than four numbers")
    values, sizes = [*map(float, numbers)], grounding.size_of(sample) * 2
    largest = max(map(abs, values))
    if largest <= 1.5:
        values = [value * size for value, size in zip(values, sizes, strict=True)]
    elif largest <= 1000:
        values = [value / 1000.0 * size for value, size in zip(values, sizes, strict=True)]
    left, top, right, bottom = (
        min(max(value, 0), size) for value, size in zip(values, sizes, strict=True)
    )
    (left, right), (top, bottom) = sorted((left, right)), sorted((top, bottom))
    return grounding.box((left, top, right, bottom), "brackets" if match else "first four numbers")


def share_box(reply: Reply, sample: Sample) -> Reading:
    """Parse the first four numbers in brackets as shares of the picture's size."""
    return of_shares(reply, sample, lambda values: values)


def pixel_box(reply: Reply, sample: Sample) -> Reading:
    """Parse the first four numbers in brackets. If a number is over 1, all are pixels."""
    size = grounding.size_of(sample)
    return of_shares(
        reply,
        sample,
        lambda values: grounding.of_size(values, size) if max(values) > 1 else values,
    )


def of_shares(
    reply: Reply, sample: Sample, scaled: Callable[[Sequence[float]], Sequence[float]]
) -> Reading:
    match = _BOX.search(reply.text)
    if match is None:
        return Reading(answer=None, rule="no box")
    shares = scaled([*map(float, match.groups())])
    sizes = grounding.size_of(sample) * 2
    return grounding.box([*map(grounding.pixel, shares, sizes)], "four numbers in brackets")


def score_iou(reading: Reading, sample: Sample) -> float:
    return usual_iou(grounding.pixels_of(reading) or NO_BOX, grounding.box_of(sample))


def score_shares(reading: Reading, sample: Sample) -> float:
    return usual_iou(*as_shares(reading, sample))


def score_center(reading: Reading, sample: Sample) -> float:
    """Whether the center of the box is in the reference. Without a box, the center is (0, 0)."""
    box, reference = as_shares(reading, sample)
    return inside(center(box), reference)


def score_center_of_reference(reading: Reading, sample: Sample) -> float:
    """Whether the center of the reference is in the box."""
    box, reference = as_shares(reading, sample)
    return inside(center(reference), box)


def as_shares(reading: Reading, sample: Sample) -> tuple[Box, Box]:
    """The box of a reading and the reference, as shares of the picture's size."""
    size = grounding.size_of(sample)
    box = grounding.pixels_of(reading) or NO_BOX
    return grounding.of_size(box, size), grounding.of_size(grounding.box_of(sample), size)


def usual_iou(box: Box, reference: Box) -> float:
    overlap = iou(box, reference)
    return 0.0 if isnan(overlap) else overlap


def best_box(reply: Reply, sample: Sample) -> Reading:
    """Of all boxes in the reply, as pixels and as thousandths, take the box that fits best."""
    boxes = [box for box in boxes_in(reply.text) if all(map(isfinite, box))]
    sizes, reference = grounding.size_of(sample) * 2, grounding.box_of(sample)
    both = [
        candidate
        for box in boxes
        for candidate in (
            box,
            [value / 1000.0 * size for value, size in zip(box, sizes, strict=True)],
        )
    ]
    if not both:
        return Reading(answer=None, rule="no box")
    best = max(both, key=lambda box: usual_iou((box[0], box[1], box[2], box[3]), reference))
    return grounding.box(best, f"best of {len(boxes)} boxes")


def boxes_in(text: str) -> list[list[float]]:
    """The boxes in JSON, or else all runs of four numbers."""
    try:
        boxes = [*boxes_of(loaded(text.strip()))]
    except (OverflowError, RecursionError):
        boxes = []
    return boxes or [[*map(float, four)] for four in _FOUR.findall(text)]


def loaded(text: str) -> Any:
    """The first JSON in a fence, the text, its brackets, or its braces; None if there is none."""
    fence = re.search(r"```(?:json)?(.*?)```", text, re.DOTALL | re.IGNORECASE)
    parts = [*([fence[1].strip()] if fence else []), text]
    parts += [text[text.find(a) : text.rfind(b) + 1] for a, b in ("[]", "{}") if a in text]
    for part in parts:
        try:
            return json.loads(part)
        except (ValueError, RecursionError):
            continue
    return None


def boxes_of(value: Any) -> Iterator[list[float]]:
    if isinstance(value, list):
        if len(value) == 4 and all(isinstance(item, int | float) for item in value):
            yield [*map(float, value)]
        else:
            for item in value:
                yield from boxes_of(item)
    elif isinstance(value, dict):
        for key in KEYS:
            if isinstance(value.get(key), list) and len(value[key]) == 4:
                try:
                    yield [*map(float, value[key])]
                except (TypeError, ValueError):
                    continue
                return
        for item in value.values():
            yield from boxes_of(item)
