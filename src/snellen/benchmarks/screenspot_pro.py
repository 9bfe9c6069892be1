"""ScreenSpot-Pro: where to click on high-resolution screenshots of professional applications.

Paper    Li et al. 2025, ScreenSpot-Pro: GUI Grounding for Professional High-Resolution Computer
         Use, https://arxiv.org/abs/2504.07981 (ACM Multimedia 2025).
Data     The hub's likaixin/ScreenSpot-Pro: annotations/*.json and images/ (1,581 instructions in 26
         applications). `--data` can be a folder of annotations, a single file of them, or
         VLMEvalKit's TSV file of a group. Boxes are left, top, right, bottom.
Prompt   The authors' prompts differ by model; likaixin2000/ScreenSpot-Pro-GUI-Grounding@
         bd8bbbb470fbc4fda2a4fa9ec90bd2572507794e:models/. `gpt`: gpt4x.py#L200-L231. `qwen2vl`:
         qwen2vl.py#L89. `minicpmv`: minicpmv.py#L56. `vlmevalkit`: vlmeval/dataset/GUI/
         screenspot_pro.py. `lmms-eval`: tasks/screenspot_pro/utils.py#L21-L22, 128 tokens.
         `evalscope`: evalscope/benchmarks/screenspot_pro/screenspot_pro_adapter.py#L49-L55.
Scoring  eval_screenspot_pro.py#L137-L152: the point as a share of the picture's size is in the box,
         edges included. A reply without a point counts as wrong. The leaderboard averages over
         rows. How the point is parsed differs by model, and so do the authors' scorings: `official`
         (GPT's), `qwen2vl`, `internvl`, `minicpmv`, and `kimivl`. Where the authors' code stops
         with an error, the reply is unparsed here. `vlmevalkit`: GUI/screenspot_pro.py#L330-L387.
         `lmms-eval`: screenspot_pro/utils.py#L31-L136. `evalscope`: screenspot_pro/utils.py.
         `robust`: Snellen's own parser (answers/places.py), which takes the only box or point in
         the reply, in any maker's form. Its numbers are in the model's coordinates if these are
         set, and otherwise pixels of the picture, or shares of its size with the prompts `gpt`,
         `lmms-eval`, and `evalscope`, which demand these. It never guesses a scale.
Proof    All scorings but `robust` equal their authors' code on 500 generated pairs
         (tests/parity), except that the center of MiniCPM-V's <box> is checked by hand. No model
         outputs are published.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, grounding, pins
from snellen.benchmarks.families.grounding import EVALSCOPE, center, places
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
from snellen.media.content import Image, Message, system, user
from snellen.metrics import Metric, mean

KIND = "point"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 1581
AUTHORS = "likaixin2000/ScreenSpot-Pro-GUI-Grounding@bd8bbbb470fbc4fda2a4fa9ec90bd2572507794e"
Group = Literal["all", "Development", "Creative", "CAD", "Scientific", "Office", "OS"]
Preset = Literal["gpt", "qwen2vl", "minicpmv", "vlmevalkit", "lmms-eval", "evalscope"]
KIT_MD5 = {
    "Development": "45b93df1d5814885011d682fe1b0f959",
    "Creative": "a15867fee82ba8cd95581895c55f03cd",
    "CAD": "0faa3bc29eba359766c3a7ca2c4d8917",
    "Scientific": "edc2e1f2b53af5fff6480b77c4986b81",
    "Office": "8756c128cf567274c2647423ccc4eaf0",
    "OS": "49c3eaaa7df6d22475c39120fe8f1c06",
}
ALIASES = {
    "ScreenSpot_Pro_Development": {"group": "Development", "prompt": "vlmevalkit"},
    "ScreenSpot_Pro_Creative": {"group": "Creative", "prompt": "vlmevalkit"},
    "ScreenSpot_Pro_CAD": {"group": "CAD", "prompt": "vlmevalkit"},
    "ScreenSpot_Pro_Scientific": {"group": "Scientific", "prompt": "vlmevalkit"},
    "ScreenSpot_Pro_Office": {"group": "Office", "prompt": "vlmevalkit"},
    "ScreenSpot_Pro_OS": {"group": "OS", "prompt": "vlmevalkit"},
}
GPT_SYSTEM = (
    "You are an expert in using electronic devices and interacting with graphic interfaces. You "
    "should not call any external tools."
)
PROMPTS = {
    "gpt": "You are asked to find the bounding box of an UI element in the given screenshot "
    "corresponding to a given instruction.\n- If such element does not exist in the screenshot, "
    "output only the text 'Target not existent'.- If you are sure such element exists and you are "
    "confident in finding it, output your result in the format of [[x0,y0,x1,y1]], with x and y "
    "ranging from 0 to 1. \nPlease find out the bounding box of the UI element corresponding to "
    "the following instruction: \nThe instruction is:\n{}\n",
    "qwen2vl": "Output the bounding box in the image corresponding to the instruction "
    '"{}" with grounding.',
    "minicpmv": "What is the bounding box of the UI element corresponding to the user instruction "
    '"{}"? Output in the format of x1 x2 y1 y2.',
    "lmms-eval": grounding.RELATIVE_POINT,
    "evalscope": "Identify the UI element for the instruction and give a single click point. "
    "Coordinates must be normalized to the range 0 to 1 relative to the image size. Do not output "
    "a bounding box.\nInstruction: {}\nEnd your reply with the final answer on its own last line, "
    "formatted exactly as: Answer: [x, y]",
}


IN_SHARES = ("gpt", "lmms-eval", "evalscope")
"""The prompts that demand numbers from 0 to 1."""
_NUMBER = r"(\d+\.\d+|\d+)"
_GPT_POINT = re.compile(rf"\[\[{_NUMBER},{_NUMBER}\]\]")
_GPT_BOX = re.compile(rf"\[\[{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER}\]\]")
_QWEN_BOX = re.compile(r"<\|box_start\|>\((\d+),(\d+)\),\((\d+),(\d+)\)<\|box_end\|>")
_SHARE = r"(0(?:\.\d+)?|1(?:\.0+)?)"
_KIMI_POINT = re.compile(f"x={_SHARE}, y={_SHARE}")
STOPS = "the authors' code stops"


def screenspot_pro(
    group: Group = "all", prompt: Preset = "gpt", data: Path | None = None
) -> Benchmark:
    sheets = published(group)
    names = ["annotations/android_studio_macos.json", *(sheet.name for sheet in sheets)]
    data_file = find(data, "screenspot-pro", names, sheets, f"screenspot-pro:group={group}")
    table, file = authors_files.table(data_file, lambda path: annotations(path, group, data))
    nothing = {"oracle": 0.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    rules = scorings(prompt)
    return Benchmark(
        name="screenspot-pro",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: message(sample, prompt),
        scorings=rules,
        max_answer_tokens=128 if prompt == "lmms-eval" else 2048,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda sample, answer: "[[{:.4f},{:.4f},{:.4f},{:.4f}]]".format(
                *grounding.relative(answer, sample)
            ),
            wrong=lambda _: "[0, 0, 1, 1]",
            # Only GPT's rule and ours parse a box in the form that the prompt asks for. lmms-eval
            # takes the box's first two numbers, a corner, which rounding moves out of two of the
            # six boxes.
            expect={
                **dict.fromkeys(rules, nothing),
                "official": {**nothing, "oracle": 1.0},
                "lmms-eval": {**nothing, "oracle": 4 / 6},
                "robust": {**nothing, "oracle": 1.0 if prompt in IN_SHARES else 0.0},
            },
        ),
        presentation=Presentation(
            break_down_by=("group", "ui_type", "group_ui_type", "application", "platform"),
            target_answer=grounding.target_box,
            capabilities=Capabilities(
                tag="", leaves={"": "perception/spatial"}, source="arXiv:2504.07981, section 3"
            ),
        ),
        interop=Interop(files=file),
    )


def scorings(prompt: Preset = "gpt") -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    metrics = {
        "accuracy": Metric(mean, better="higher"),
        "wrong_format": grounding.wrong_format,
    }
    authors: dict[str, tuple[str, grounding.Parse]] = {
        "official": ("gpt4x.py#L246-L297", gpt_point),
        "qwen2vl": ("qwen2vl.py#L26-L43, #L134-L148", qwen2vl_point),
        "internvl": ("internvl.py#L136-L178", internvl_point),
        "minicpmv": ("minicpmv.py#L73-L115", minicpmv_point),
        "kimivl": ("kimivl.py#L11-L18, #L99", kimivl_point),
    }
    kit = f"{pins.VLMEVALKIT}:vlmeval/dataset/GUI/screenspot_pro.py#L330-L387"
    return {
        **{
            name: places(f"{AUTHORS}:models/{lines}", parse, grounding.in_box, metrics=metrics)
            for name, (lines, parse) in authors.items()
        },
        "vlmevalkit": places(
            kit, grounding.parse_click, partial(grounding.score_click, less=0), metrics=metrics
        ),
        "lmms-eval": places(
            f"{pins.LMMS_EVAL}:lmms_eval/tasks/screenspot_pro/utils.py#L31-L136",
            grounding.parse_as_lmms_eval,
            grounding.in_box,
        ),
        "evalscope": places(
            f"{EVALSCOPE}/screenspot_pro/utils.py#L32-L158", evalscope_point, grounding.in_box
        ),
        "robust": grounding.robust(demanded="0-1" if prompt in IN_SHARES else None),
    }


def published(group: Group = "all", **_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file of a group."""
    if group == "all":
        return ()
    name = f"ScreenSpot_Pro_{group}.tsv"
    url = f"https://opencompass.openxlab.space/utils/benchmarks/GUI/ScreenSpot_Pro/{name}"
    return (File(name=name, url=url, md5=KIT_MD5[group]),)


def annotations(path: Path, group: Group, data: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the rows of all files of annotations, or of the single file that the user passes. The
    data set calls the group Development "Dev"."""
    is_single = data is not None and data.is_file()
    for file in [path] if is_single else sorted(path.parent.glob("*.json")):
        for row in authors_files.objects(file):
            if group in ("all", row["group"]) or group.startswith(row["group"]):
                yield row


def to_sample(row: Row, data_file: DataFile) -> Sample:
    image: Image
    if "img_filename" in row and "image" not in row:
        image = data_file.image(f"images/{row['img_filename']}")
    else:
        image = authors_files.picture(row)
    box = grounding.numbers(row["bbox"], 4, "bbox")
    size = row.get("img_size")
    group = str(row["group"] if "group" in row else row["category"])
    return Sample(
        id=str(row["id"] if "id" in row else row["index"]),
        question=row["instruction"] if "instruction" in row else row["question"],
        media=(image,),
        target=grounding.as_text(box),
        tags={
            "group": group,
            "ui_type": row["ui_type"],
            "group_ui_type": f"{group} {row['ui_type']}",
            "application": row["application"],
            "platform": str(row.get("platform") or ""),
        },
        data={
            "box": [*box],
            "image": authors_files.picture_key(image),
            **({"size": [*grounding.numbers(size, 2, "img_size")]} if size else {}),
        },
    )


def message(sample: Sample, prompt: Preset) -> tuple[Message, ...]:
    if prompt == "vlmevalkit":
        return grounding.click_prompt(sample)
    question = user(*sample.media, PROMPTS[prompt].format(sample.question))
    return (system(GPT_SYSTEM), question) if prompt == "gpt" else (question,)


# -- scoring, official


def gpt_point(reply: Reply, sample: Sample) -> Reading:
    """Parse the first [[x,y]], or else the center of the first [[x1,y1,x2,y2]]."""
    if "not found" in reply.text.lower():
        return Reading(answer=None, rule="not found")
    if pair := _GPT_POINT.search(reply.text):
        return grounding.point(float(pair[1]), float(pair[2]), sample, "[[x,y]]")
    if four := _GPT_BOX.search(reply.text):
        return grounding.point(*center([*map(float, four.groups())]), sample, "center of box")
    return Reading(answer=None, rule=grounding.NO_POINT)


def qwen2vl_point(reply: Reply, sample: Sample) -> Reading:
    """Parse the last box if both marks of a box occur, and the only two or four numbers
    otherwise."""
    if "<|box_start|>" in reply.text and "<|box_end|>" in reply.text:
        last = [*_QWEN_BOX.findall(reply.text)][-1:]
        if not last:
            return Reading(answer=None, rule="no box between the marks")
        return grounding.point(
            *center([float(text) / 1000 for text in last[0]]), sample, "last box"
        )
    values = [*map(float, re.findall(r"-?\d+\.?\d*", reply.text))]
    if len(values) not in (2, 4):
        return Reading(answer=None, rule="neither two nor four numbers")
    x, y = values if len(values) == 2 else center(values)
    return grounding.point(*(x / 1000, y / 1000), sample, f"{len(values)} numbers")


def internvl_point(reply: Reply, sample: Sample) -> Reading:
    """Parse the first [[x,y]]. The authors' code stops at a [[x1,y1,x2,y2]], since it takes a tuple
    for a match (models/internvl.py#L161)."""
    if re.search(r"\[\[\d+,\d+,\d+,\d+\]\]", reply.text):
        return Reading(answer=None, rule=STOPS)
    return first_pair(r"\[\[(\d+),(\d+)\]\]", reply, sample, "[[x,y]]")


def minicpmv_point(reply: Reply, sample: Sample) -> Reading:
    """Parse the <box>, or else the first two integers with a blank between them."""
    if four := re.search(r"<box>(\d+) (\d+) (\d+) (\d+)</box>", reply.text):
        values = [float(text) / 1000 for text in four.groups()]
        return grounding.point(*center(values), sample, "center of <box>")
    return first_pair(r"(?<!\d)(\d+) (\d+)", reply, sample, "two integers")


def kimivl_point(reply: Reply, sample: Sample) -> Reading:
    """Parse the first x and y in [0, 1] after the thinking. The authors' code stops if only one end
    of the thinking is marked."""
    text = reply.text
    if ("◁think▷" in text) != ("◁/think▷" in text):
        return Reading(answer=None, rule=STOPS)
    pair = _KIMI_POINT.search(text.partition("◁/think▷")[2] if "◁/think▷" in text else text)
    if pair is None:
        return Reading(answer=None, rule=grounding.NO_POINT)
    return grounding.point(float(pair[1]), float(pair[2]), sample, "x and y")


def first_pair(pattern: str, reply: Reply, sample: Sample, rule: str) -> Reading:
    pair = re.search(pattern, reply.text)
    if pair is None:
        return Reading(answer=None, rule=grounding.NO_POINT)
    return grounding.point(float(pair[1]) / 1000, float(pair[2]) / 1000, sample, rule)


# -- scoring, evalscope


def evalscope_point(reply: Reply, sample: Sample) -> Reading:
    """Parse the line after the last "Answer:", or else a point in brackets anywhere. Numbers up to
    1 are shares, numbers up to 1,000 are thousandths, and larger numbers are pixels. The shares
    are rounded to six decimals."""
    *_, last = re.split(r"answer\s*[:\uff1a]", reply.text, flags=re.IGNORECASE)
    line = last.lstrip().split("\n", 1)[0] if last != reply.text else ""
    point = grounding.evalscope_point(line) or grounding.evalscope_point(reply.text, strict=True)
    if point is None:
        return Reading(answer=None, rule=grounding.NO_POINT)
    if max(point) > 1000:
        width, height = grounding.size_of(sample)
    else:
        width = height = 1000 if max(point) > 1 else 1
    x, y = (float(f"{at / length:.6f}") for at, length in zip(point, (width, height), strict=True))
    return grounding.point(x, y, sample, "point")
