"""OlympiadBench: mathematics and physics of olympiads and Chinese entrance exams, with pictures.

Paper    He et al. 2024, OlympiadBench: A Challenging Benchmark for Promoting AGI with
         Olympiad-Level Bilingual Multimodal Scientific Problems, https://arxiv.org/abs/2402.14008.
Data     The authors' folder, linked in their README: data/{set}.json and images/. The parquet files
         of Hothan/OlympiadBench on the Hugging Face hub and VLMEvalKit's TSV files have the
         pictures in the rows. Five sets have pictures (OE_MM), and five have none (OE_TO). Their
         sizes are those in modelscope/evalscope@fde259d2a32ab8a4cdb3af44dc8b18f504f1e277:docs/en/
         benchmarks/olympiad_bench.md. Theorems to prove (TP), which no code scores, are left out.
         An id consists of the set's name and the authors' id or, in a TSV, is the row's index.
Prompt   `official`: OpenBMB/OlympiadBench@ba5b26a7e2849940b598a9159c1190daa2b9175f:inference/code/
         evaluators/{evaluator.py#L18-L104,gpt_4v.py#L18-L74}. Each picture replaces its mark.
         2,048 tokens. A physics question has its context before it.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_vqa.py#L1307-L1388. The pictures come after the text. Each prompt mentions a
         unit, since VLMEvalKit takes an empty cell for one.
Scoring  `official`: inference/{judge.py#L6-L33,code/math_judger.py}, where sympy compares formulas
         (`pip install 'snellen[latex]'`). families/olympiad_judge.py describes the quirks. A reply
         has no score if sympy needs more than 30 seconds or 4 GB for a pair of formulas. Replies
         that are empty or withheld are left out (calculate_accuracy.py#L33).
         `vlmevalkit`: vlmeval/dataset/image_vqa.py#L1475-L1506. Its comparison of expressions calls
         a function that is commented out (utils/olympiadbench.py#L299), so only expressions that
         sympy writes alike are equal. The right answer is cut out of the text of a list, in which
         backslashes are doubled. No reply is left out.
Proof    For 1,000 generated pairs of a reply and an answer, every verdict of both scorings equals
         that of the authors' and VLMEvalKit's code (tests/parity). No outputs are published.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import authors_files, mmmu, pins, results
from snellen.benchmarks.families.olympiad_judge import SYMPY, USUAL, is_right
from snellen.benchmarks.families.questions import Unfolded
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.benchmarks.families.worker_process import Uncompared
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
from snellen.core.prompts import interleaved
from snellen.data import DataFile, Filtered, Row, Table, json_list, parquet, vlmevalkit_tsv
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, Message, Part, system, user
from snellen.metrics import Columns, mean, metric
from snellen.stats import Estimate
from snellen.text.literals import literal

AUTHORS = "OpenBMB/OlympiadBench@ba5b26a7e2849940b598a9159c1190daa2b9175f:inference"
KIT = f"{pins.VLMEVALKIT}:vlmeval"
KIND = "mixed"
LANGUAGES = ("en", "zh")
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 4055
OTHER_SIZES = {"modality=TO": 2673, "modality=all": 6728}
ALIASES = {"OlympiadBench": {"modality": "all", "prompt": "vlmevalkit"}}
SHEET = own_sheet("OlympiadBench", md5="9735ae0f0299eae1e7d07f5a7feab914")
SETS = tuple(
    f"OE_{modality}_{name}"
    for modality in ("MM", "TO")
    for name in (
        "maths_en_COMP",
        "maths_zh_CEE",
        "maths_zh_COMP",
        "physics_en_COMP",
        "physics_zh_CEE",
    )
)
LEAVES = {"maths": "reasoning/mathematical", "physics": "knowledge/domain"}
MARK = re.compile(r"<(?:img|image)_(\d+)>")
WITHHELD = ("", "<No response>", "<Inappropriate content in response>")
KINDS = {
    "Numerical": ("a numerical value", "数值"),
    "Expression": ("an expression", "表达式"),
    "Equation": ("an equation", "方程"),
    "Interval": ("an interval", "区间"),
}
SUBJECTS = {"maths": ("Math", "数学"), "physics": ("Physics", "物理")}
SYSTEM = (
    "You are an AI assistant. Please answer the following {} competition problems as required.",
    "你是一个中文人工智能助手。请根据要求，完成下面的{}竞赛题目。",
)
ASK = (
    "The following is an open-ended problem from an International {subject} competition. {form}"
    "Please calculate the answer according to the given requirements and the information provided. "
    "Please use LaTeX format to represent the variables and formulas used in the solution process "
    'and results. Please end your solution with "So the final answer is {box}." and give the '
    "result explicitly{unit}.",
    "以下是中国{subject}竞赛中的解答题{form}。请根据题目的要求和所提供的信息计算得出答案。"
    "解答过程和结果中使用的变量和公式请使用LaTeX格式表示。请在最后以“所以最终答案是{box}。”显式给出结果{unit}。",
)
FINAL = (re.compile("So the final answer is (.*)"), re.compile("所以最终答案是(.*)"))
Modality = Literal["MM", "TO", "all"]
Subject = Literal["all", "maths", "physics"]
Language = Literal["all", "en", "zh"]
Preset = Literal["official", "vlmevalkit"]


def olympiadbench(
    modality: Modality = "MM",
    subject: Subject = "all",
    language: Language = "all",
    prompt: Preset = "official",
    data: Path | None = None,
) -> Benchmark:
    wanted = [part for part in (modality, subject, language) if part != "all"]
    sets = [name for name in SETS if {*wanted} <= {*name.split("_")}]
    patterns = [
        f"{folder}{name}.{kind}"
        for name in sets
        for folder, kind in (("data/", "json"), ("**/", "parquet"))
    ]
    data_file = mmmu.looked_for(
        data, "olympiadbench", patterns, (f"data/{sets[0]}.json", SHEET.name), (SHEET,), ""
    )
    official = Scoring(
        version=1,
        source=f"{AUTHORS}/code/math_judger.py#L17-L427",
        parse=final_answer,
        score=official_score,
        metrics={"accuracy": mean_of_replies},
        check_installation=SYMPY.check_installation,
    )
    return Benchmark(
        name="olympiadbench",
        asks=1,
        data=mmmu.Late(str(data_file), lambda: rows(data_file, sets)),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: messages(sample, prompt),
        scorings={
            "official": official,
            "vlmevalkit": replace(
                official,
                source=f"{KIT}/dataset/image_vqa.py#L1475-L1506",
                parse=lambda reply, sample: extracted(reply.text, sample),
                score=kit_score,
                metrics={"accuracy": mean_of_replies},
            ),
        },
        max_answer_tokens=2048,
        check=Check(
            says=lambda sample, answer: (
                f"{FINAL[chinese(sample)].pattern.removesuffix('(.*)')}\\boxed{{{answer}}}"
            ),
            wrong=lambda _: "-98765",
            # Empty replies are left out. VLMEvalKit doubles the backslash of a formula, so that no
            # reply to its question is right.
            expect={
                "official": {"oracle": 1.0, "wrong": 0.0, "silent": None, "hedging": 0.0},
                "vlmevalkit": {"oracle": 7 / 8, "wrong": 0.0, "silent": 0.0, "hedging": 0.0},
            },
        ),
        presentation=Presentation(
            break_down_by=("subject", "language", "set", "subfield"),
            capabilities=Capabilities(
                tag="subject", leaves=LEAVES, source="https://arxiv.org/abs/2402.14008, section 3"
            ),
        ),
        interop=Interop(files=data_file, layout=layout),
    )


def published(**_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file. The authors' folder is on a site that needs a browser."""
    return (SHEET,)


# -- rows


def rows(data_file: DataFile, sets: Sequence[str]) -> Table:
    """The rows of all files of these sets, each with its set's name in the field `source`."""
    path = data_file.path
    if path.suffix == ".tsv":
        return Filtered(vlmevalkit_tsv(data_file), lambda row: row["source"] in sets)
    paths = [path]
    if data_file.data is None or data_file.data.is_dir():
        names = dict.fromkeys(name for name in data_file.names if name.endswith(path.suffix))
        paths = [file for name in names if (file := data_file.folder / name).is_file()]
    for file in paths:
        if file.stem not in SETS:
            raise DataError(
                f"{file} does not have the name of a set of OlympiadBench, such as {SETS[0]}"
                f"{file.suffix}. Rename it as its authors do."
            )
    tables = (in_set(parquet if file.suffix == ".parquet" else json_list, file) for file in paths)
    return authors_files.Joined(str(data_file), tables)


def in_set(read: Callable[[Path], Table], file: Path) -> Table:
    return Unfolded(read(file), lambda row: iter([{**row, "source": file.stem}]))


def to_sample(row: Row, data_file: DataFile) -> Sample:
    name = row["source"]
    _, _, subject, language, _ = name.split("_")
    kind, several = row["answer_type"] or "", str(row["is_multiple_answer"]).lower() == "true"
    context = row.get("context") if subject == "physics" else None
    question = f"{context}\n{row['question']}" if context else row["question"]
    images = pictures(row, question, data_file)
    cell = row["final_answer"]
    rights = literal(cell) if isinstance(cell, str) else cell
    if not isinstance(rights, list) or not rights:
        raise ValueError(f"final_answer is {cell!r}, which is not a list of answers")
    return Sample(
        id=str(row["index"]) if "index" in row else f"{name}-{row['id']}",
        question=question,
        media=tuple(images.values()),
        target=str(rights[0]),  # others do not count, judge.py#L78-L89
        tags={
            "subject": subject,
            "language": language,
            "set": name,
            "subfield": row.get("subfield") or "",
        },
        data={
            "form": form_of_answer(kind, zh=language == "zh", several=several),
            "several": several,
            "unit": bool(row["unit"]),
            "precisions": precisions(row["error"] or "", kind),
            "cell": str(cell),
            "marks": [*images],
        },
    )


def pictures(row: Row, question: str, data_file: DataFile) -> dict[str, Image]:
    """The pictures by the numbers in their marks. Pictures in the row are numbered from 1."""
    if isinstance(cell := row.get("image"), Image | tuple):
        images = cell if isinstance(cell, tuple) else (cell,)
        return {str(number): image for number, image in enumerate(images, 1)}
    if "image_1" in row:
        cells = {str(number): row.get(f"image_{number}") for number in range(1, 10)}
        return {number: image for number, image in cells.items() if isinstance(image, Image)}
    folder = data_file.path.parents[1]
    files = {number: f"images/img_{number}.jpg" for number in MARK.findall(question)}
    return {n: Image(folder / file, label=file, within=folder) for n, file in files.items()}


def precisions(error: str, kind: str) -> list[float]:
    """The largest differences of equal numbers: one for each answer, or one for all."""
    if not error or "Tuple" in kind:
        return [USUAL]
    return [float(part) if part else USUAL for part in str(error).split(",")]


# -- prompts


def chinese(sample: Sample) -> bool:
    return sample.tags["language"] == "zh"


def instruction(sample: Sample, unit: bool) -> str:
    zh, several = chinese(sample), sample.data["several"]
    box = (
        ("\\boxed{multiple answers connected with commas}", "\\boxed{用英文逗号连接的多个答案}")
        if several
        else ("\\boxed{answer}", "\\boxed{答案}")
    )[zh]
    note = (
        ", note that the unit of the answer should not be included in \\boxed{}",
        "，注意答案的单位不要放在\\boxed{}中",
    )[zh]
    return ASK[zh].format(
        subject=SUBJECTS[sample.tags["subject"]][zh],
        form=sample.data["form"],
        box=box + ("(unit)", "(单位)")[zh] * unit,
        unit=note * unit,
    )


def form_of_answer(text: str, *, zh: bool, several: bool) -> str:
    """What the prompt says about the form of the answer (evaluator.py#L18-L62)."""
    if "Need_human_evaluate" in text or "Tuple" in text:
        return ""
    parts = text.split(",") if several else [text]
    names = []
    for part in parts:
        known = next((kind for kind in KINDS if kind in part.partition("-")[0]), None)
        if known is None:
            raise ValueError(f"the answer_type {text!r} is none of {', '.join(KINDS)}")
        names.append(KINDS[known][zh])
    if not several:
        return (f"The answer of The problem should be {names[0]}. ", f"，答案类型为{names[0]}")[zh]
    if len({*names}) == 1:
        return (
            f"The problem has multiple answers, each of them should be {names[0]}. ",
            f"，题目有多个答案，答案类型均为{names[0]}",
        )[zh]
    return (
        f"The problem has multiple answers, with the answers in order being {', '.join(names)}. ",
        f"，题目有多个答案，答案类型分别为{'、'.join(names)}",
    )[zh]


def messages(sample: Sample, prompt: Preset) -> tuple[Message, ...]:
    zh = chinese(sample)
    if prompt == "vlmevalkit":
        text = instruction(sample, unit=True).replace("“", '"').replace("”", '"')
        return (user(f"{text}\n{sample.question}", *sample.media),)
    images = dict(zip(map(str, sample.data["marks"]), sample.media, strict=True))  # type: ignore

    def picture(number: str | None) -> Part:
        return images.get(number or "", f"<img_{number}>")

    text = f"{instruction(sample, bool(sample.data['unit']))}\n{sample.question}"
    parts = interleaved(text, MARK, picture)
    stripped = (part.strip() if isinstance(part, str) else part for part in parts)
    role = SYSTEM[zh].format(SUBJECTS[sample.tags["subject"]][zh])
    return (system(role), user(*(part for part in stripped if part)))


# -- scoring


def final_answer(reply: Reply, sample: Sample) -> Reading:
    text = reply.text
    if text in WITHHELD or ("code:" in text and "message:" in text):
        return Reading(answer=None, rule="nothing said")
    return extracted(text, sample)


def extracted(text: str, sample: Sample) -> Reading:
    """Parse what follows the last announcement of an answer on its line, else the reply
    (judge.py#L21-L33)."""
    matches = FINAL[chinese(sample)].findall(text)
    if matches:
        return Reading(answer=matches[-1].strip(), rule="announced")
    return Reading(answer=text, rule="whole reply")


def official_score(reading: Reading, sample: Sample) -> float | None:
    """1 if the answer is right, else 0. None for an empty or withheld reply, which the authors
    leave out, and if the formulas could not be compared."""
    if reading.answer is None:
        return None
    return score_of(str(reading.answer), sample.target or "", sample)


@metric(better="higher", unit="fraction")
def mean_of_replies(columns: Columns) -> Estimate:
    """The mean over the replies that are not empty or withheld, and whose formulas could be
    compared.

        m = Σ right / Σ replies

    In [0, 1]; higher is better. There is no value if no reply has a score.
    """
    if columns.score is None:
        return Estimate(value=None, n=0, reason="every reply is empty, withheld, or not compared")
    return mean(columns)


def kit_score(reading: Reading, sample: Sample) -> float | None:
    target = str(sample.data["cell"])[2:-2]
    return score_of(str(reading.answer), target, sample, kit=True)


def score_of(answer: str, target: str, sample: Sample, *, kit: bool = False) -> float | None:
    """1 if the answer is right, else 0. None if the formulas could not be compared."""
    try:
        return float(is_right(answer, target, limits(sample), kit=kit))
    except Uncompared:
        return None


def limits(sample: Sample) -> list[float]:
    return sample.data["precisions"]  # type: ignore[return-value]


# -- published results


def layout(path: Path) -> Published | None:
    """Read a file of the authors' results, merged_result/MODEL/SET.json: a list of questions, each
    with its `model_output`, which maps the model's name to its output."""
    content = results.of_json(path)
    if not isinstance(content, list) or not content or path.stem not in SETS:
        return None
    replies: dict[str, str | None] = {}
    for number, row in enumerate(content, 1):
        outputs = row.get("model_output") if isinstance(row, dict) else None
        if not isinstance(outputs, dict) or len(outputs) != 1:
            return None
        (output,) = outputs.values()
        name = f"{path.stem}-{row.get('id')}"
        text = output.get("raw_output") if isinstance(output, dict) else None
        if not isinstance(text, str | None):
            raise DataError(f"{path.name}: row {number} has a raw_output that is not text.")
        if name in replies:
            raise DataError(f"{path.name}: row {number} repeats question {name}. Remove one.")
        replies[name] = text
    return Published(replies=replies, only_these=True)
