"""ScreenSpot and ScreenSpot-v2: where to click on a screenshot to follow an instruction.

Paper    Cheng et al. 2024, SeeClick: Harnessing GUI Grounding for Advanced Visual GUI Agents,
         https://arxiv.org/abs/2401.10935 (ACL 2024). v2: Wu et al. 2024, OS-ATLAS,
         https://arxiv.org/abs/2410.23218, with corrected annotations.
Data     The authors' screenspot_{mobile,desktop,web}.json and screenspot_imgs/ (v2, on the Hugging
         Face hub as OS-Copilot/ScreenSpot-v2: screenspot_{mobile,desktop,web}_v2.json and
         screenspotv2_image/), or VLMEvalKit's TSV file of a part. Boxes are x, y, width, height. An
         id is the part and the position in the part's file; in a TSV, it is the row's index.
Prompt   `seeclick`: njucckevin/SeeClick@0ef37ac4d7aaf37ba7b990e3e3c3ca77e1fb8f93:pretrain/
         screenspot_test.py#L52. `vlmevalkit`: vlmeval/dataset/GUI/screenspot.py#L36-L38.
         `lmms-eval`: tasks/screenspot/utils_rec.py#L12-L16 (v1, asks for a box) and
         tasks/screenspot_v2/utils.py#L20-L22 (v2), 128 tokens.
Scoring  `official`: pretrain/screenspot_test.py#L69-L108. The point must be in thousandths in a
         <box>, and a share of the picture's size elsewhere. Another format counts as wrong. The
         paper's table averages six cells (`average`), each a platform and a kind of element.
         `vlmevalkit`: GUI/screenspot.py#L340-L439. `lmms-eval`: the IoU of the box for v1
         (screenspot/utils_rec.py#L19-L188), with `lmms-eval-center` for the box's center, and the
         point for v2 (screenspot_v2/utils.py#L37-L105). `lmms-eval-xywh` is v2's rule on boxes in
         pixels, which it takes for corners if width and height exceed x and y.
         `robust`: Snellen's own parser (answers/places.py), which takes the only box or point in
         the reply, in any maker's form. Its numbers are in the model's coordinates if these are
         set, and otherwise pixels of the picture, or shares of its size with the prompt
         `lmms-eval`, which demands these. It never guesses a scale.
Proof    All scorings but `robust` equal their authors' code on 500 generated pairs
         (tests/parity). VLMEvalKit stops at a box outside the picture, where we score. No model
         outputs are published.
"""

import re
from collections.abc import Iterator
from math import inf, isnan
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, grounding, pins
from snellen.benchmarks.families.grounding import (
    NO_BOX,
    Box,
    center,
    inside,
    places,
)
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
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.media.content import Image, Message, user
from snellen.metrics import Metric, macro_average, mean
from snellen.metrics.iou import iou, shares_at

KIND = "point"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 1272
SOURCE = "njucckevin/SeeClick@0ef37ac4d7aaf37ba7b990e3e3c3ca77e1fb8f93:pretrain/screenspot_test.py"
Version = Literal["v1", "v2"]
Part = Literal["all", "mobile", "desktop", "web"]
Preset = Literal["seeclick", "vlmevalkit", "lmms-eval"]
PARTS: tuple[Part, ...] = ("mobile", "desktop", "web")
KIT_MD5 = {
    "ScreenSpot_Mobile": "a5b5299843a75c9b9574c47bc13b2c53",
    "ScreenSpot_Desktop": "e6e7bac21b6b2475276404fce2458132",
    "ScreenSpot_Web": "e51d168c14b8582427cf3107d236cfc5",
    "ScreenSpot_v2_Mobile": "234c858ab4f0e787e8388a73df65a4b7",
    "ScreenSpot_v2_Desktop": "5f2aa2a497327bd33b2512a0c75cf994",
    "ScreenSpot_v2_Web": "01cd0877ee1b735a6d5190b053ba9482",
}
ALIASES = {
    "ScreenSpot_Mobile": {"version": "v1", "part": "mobile", "prompt": "vlmevalkit"},
    "ScreenSpot_Desktop": {"version": "v1", "part": "desktop", "prompt": "vlmevalkit"},
    "ScreenSpot_Web": {"version": "v1", "part": "web", "prompt": "vlmevalkit"},
    "ScreenSpot_v2_Mobile": {"version": "v2", "part": "mobile", "prompt": "vlmevalkit"},
    "ScreenSpot_v2_Desktop": {"version": "v2", "part": "desktop", "prompt": "vlmevalkit"},
    "ScreenSpot_v2_Web": {"version": "v2", "part": "web", "prompt": "vlmevalkit"},
    "screenspot_rec_test": {"version": "v1", "prompt": "lmms-eval"},
    "screenspot_v2": {"version": "v2", "prompt": "lmms-eval"},
}
PROMPTS = {
    "seeclick": "In this UI screenshot, what is the position of the element corresponding to the "
    'command "{}" (with point)?',
    "vlmevalkit": "Please complete the following tasks by clicking using `pyautogui.click`:\n{}",
    "lmms-eval v1": "Bounding box coordinates are specified in the format (top-left x, top-left y, "
    "bottom-right x, bottom-right y). All values are floating point numbers bounded between 0 and "
    "1 with two decimal places of precision (e.g., 0.15). Please provide the bounding box "
    "coordinates of the region that corresponds to the command: {}",
    "lmms-eval v2": grounding.RELATIVE_POINT,
}
PLATFORMS = {"ios": "mobile", "android": "mobile", "macos": "desktop", "windows": "desktop"}
_QWEN_BOX = re.compile(r"<box>\((\d+),(\d+)\),\((\d+),(\d+)\)</box>")
_FLOAT = r"(-?\d+(?:\.\d+)?)"
_BOX = re.compile(rf"[\[(]\s*{_FLOAT},\s*{_FLOAT},\s*{_FLOAT},\s*{_FLOAT}\s*[\])]")


def screenspot(
    version: Version = "v1",
    part: Part = "all",
    prompt: Preset = "seeclick",
    data: Path | None = None,
) -> Benchmark:
    parts = PARTS if part == "all" else (part,)
    sheets = published(version, part)
    end = "_v2" if version == "v2" else ""
    names = [f"screenspot_{parts[0]}{end}.json", *(sheet.name for sheet in sheets)]
    spec = f"screenspot:version={version},part={part}"
    data_file = find(data, "screenspot", names, sheets, spec)
    table, file = authors_files.table(data_file, lambda path: elements(path, parts, end))
    rules = scorings(version, prompt)
    nothing = {"oracle": 0.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    return Benchmark(
        name="screenspot",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file, version),
        prompt=lambda sample, _: message(sample, prompt, version),
        scorings=rules,
        max_answer_tokens=128 if (prompt, version) == ("lmms-eval", "v2") else 512,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda sample, answer: "({:.4f},{:.4f})".format(
                *center(grounding.relative(answer, sample))
            ),
            wrong=lambda _: "[0, 0, 1, 1]",
            # A relative point, which the authors' rule reads, and ours if the prompt demands it.
            expect={
                **dict.fromkeys(rules, nothing),
                "official": {**nothing, "oracle": 1.0},
                "robust": {**nothing, "oracle": 1.0 if prompt == "lmms-eval" else 0.0},
            },
        ),
        presentation=Presentation(
            break_down_by=("cell", "platform", "data_type", "data_source"),
            target_answer=grounding.target_box,
            capabilities=Capabilities(
                tag="", leaves={"": "perception/spatial"}, source="arXiv:2401.10935, section 4"
            ),
        ),
        interop=Interop(files=file),
    )


def scorings(version: Version, prompt: Preset = "seeclick") -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    metrics = {
        "accuracy": Metric(mean, better="higher"),
        "average": Metric(macro_average("cell"), better="higher"),
        "wrong_format": grounding.wrong_format,
    }
    robust = {"robust": grounding.robust(demanded="0-1" if prompt == "lmms-eval" else None)}
    rules = {
        "official": places(f"{SOURCE}#L69-L108", seeclick_point, grounding.in_box, metrics=metrics),
        "vlmevalkit": places(
            f"{pins.VLMEVALKIT}:vlmeval/dataset/GUI/screenspot.py#L340-L439",
            grounding.parse_click,
            grounding.score_click,
            metrics=metrics,
        ),
    }
    if version == "v1":
        source = f"{pins.LMMS_EVAL}:lmms_eval/tasks/screenspot/utils_rec.py#L19-L188"
        shares = shares_at(0.5, 0.1, 0.3, 0.7, 0.9)
        overlap = {**shares, "iou": Metric(mean, better="higher")}
        return {
            **rules,
            "lmms-eval": places(source, parse_box, score_iou, metrics=overlap, partial=True),
            "lmms-eval-center": places(source, parse_box, score_center),
            **robust,
        }
    source = f"{pins.LMMS_EVAL}:lmms_eval/tasks/screenspot_v2/utils.py#L37-L105"
    return {
        **rules,
        "lmms-eval": places(source, grounding.parse_as_lmms_eval, grounding.in_box),
        "lmms-eval-xywh": places(source, grounding.parse_as_lmms_eval, score_as_corners),
        **robust,
    }


def published(version: Version = "v1", part: Part = "all", **_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file of a part. The authors' files have no address of their own."""
    name = f"ScreenSpot{'_v2' if version == 'v2' else ''}_{part.capitalize()}"
    folder = name.rpartition("_")[0]
    url = f"https://opencompass.openxlab.space/utils/benchmarks/GUI/{folder}/{name}.tsv"
    return (File(name=f"{name}.tsv", url=url, md5=KIT_MD5[name]),) if name in KIT_MD5 else ()


def elements(path: Path, parts: tuple[str, ...], end: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of the authors' files. There is one file for each part."""
    for part in parts:
        rows = authors_files.of_json(path.with_name(f"screenspot_{part}{end}.json"))
        for index, row in enumerate(rows):
            yield {"id": f"{part}-{index}", **row}


def to_sample(row: Row, data_file: DataFile, version: Version) -> Sample:
    box = grounding.corners(grounding.numbers(row["bbox"], 4, "bbox"))
    if "img_filename" in row and "image" not in row:
        folder = "screenspotv2_image" if version == "v2" else "screenspot_imgs"
        image: Image = data_file.image(f"{folder}/{row['img_filename']}")
    else:
        image = authors_files.picture(row)
    platform = PLATFORMS.get(row["data_source"], "web")
    return Sample(
        id=str(row["id"] if "id" in row else row["index"]),
        question=row["instruction"] if "instruction" in row else row["question"],
        media=(image,),
        target=grounding.as_text(box),
        tags={
            "platform": platform,
            "data_type": row["data_type"],
            "cell": f"{platform} {row['data_type']}",
            "data_source": row["data_source"],
        },
        data={"box": [*box], "image": authors_files.picture_key(image)},
    )


def message(sample: Sample, prompt: Preset, version: Version) -> tuple[Message, ...]:
    if prompt == "vlmevalkit":
        return grounding.click_prompt(sample)
    text = PROMPTS[f"lmms-eval {version}" if prompt == "lmms-eval" else prompt]
    return (user(*sample.media, text.format(sample.question)),)


# -- scoring, official


def seeclick_point(reply: Reply, sample: Sample) -> Reading:
    """Parse the first <box> if the letters "box" occur anywhere, and the only two or four numbers
    otherwise."""
    if "box" in reply.text:
        first = _QWEN_BOX.search(reply.text)
        try:
            x, y = center([*map(int, first.groups())]) if first else (inf, inf)
        except (ValueError, OverflowError):  # integers of hundreds of digits
            x, y = inf, inf
        return grounding.point(x / 1000, y / 1000, sample, "center of <box>")
    values = [*map(float, re.findall(r"-?\d+\.?\d*", reply.text))]
    if len(values) == 2:
        return grounding.point(values[0], values[1], sample, "two numbers")
    if len(values) == 4:
        return grounding.point(*center(values), sample, "center of four numbers")
    return Reading(answer=None, rule="neither two nor four numbers")


# -- scoring, lmms-eval


def parse_box(reply: Reply, sample: Sample) -> Reading:
    """Parse the first four numbers in brackets. If a number is over 1, all are thousandths."""
    match = _BOX.search(reply.text)
    if match is None:
        return Reading(answer=None, rule="no box")
    values = [*map(float, match.groups())]
    if max(values) > 1:
        values = [value / 1000 for value in values]
    sizes = grounding.size_of(sample) * 2
    return grounding.box([*map(grounding.pixel, values, sizes)], "four numbers in brackets")


def shares_of(reading: Reading, sample: Sample) -> Box:
    """The box of a reading as shares of the picture's size. A reply without a box has the box 0, 0,
    0, 0."""
    return grounding.of_size(grounding.pixels_of(reading) or NO_BOX, grounding.size_of(sample))


def score_iou(reading: Reading, sample: Sample) -> float:
    reference = grounding.of_size(grounding.box_of(sample), grounding.size_of(sample))
    overlap = iou(reference, shares_of(reading, sample))
    return 0.0 if isnan(overlap) else overlap


def score_center(reading: Reading, sample: Sample) -> float:
    """Whether the center of the box is in the reference. Without a box, the center is (0, 0)."""
    reference = grounding.of_size(grounding.box_of(sample), grounding.size_of(sample))
    return inside(center(shares_of(reading, sample)), reference)


def score_as_corners(reading: Reading, sample: Sample) -> float:
    """Score lmms-eval's point by a box of x, y, width, and height in pixels, which counts as left,
    top, right, and bottom if width and height exceed x and y."""
    left, top, right, bottom = grounding.box_of(sample)
    width, height = right - left, bottom - top
    box = (
        (left, top, width, height) if width > left and height > top else (left, top, right, bottom)
    )
    return inside(
        grounding.shares(reading, sample), grounding.of_size(box, grounding.size_of(sample))
    )
