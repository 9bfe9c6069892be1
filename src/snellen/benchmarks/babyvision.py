"""BabyVision: visual tasks that young children solve, with choices or short answers.

Paper    BabyVision: Visual Reasoning Beyond Language, UniPat-AI/BabyVision@7f92fd4b1dc1c68b7b936a9b
         c09c68b4a944a55a:BabyVision_Paper.pdf, 2026.
Data     data/babyvision_data.zip there: babyvision_data/meta_data.jsonl with 388 tasks, images/.
         The parquet file of UnipatAI/BabyVision on the Hugging Face hub can also be read (pass its
         folder).
Prompt   `official`: the picture, then question, choices, and "Think about the question and give
         your final answer in \\boxed{Answer} format.", babyvision_eval/evaluate_model.py#L35-L53,
         #L170-L179. VLMEvalKit and lmms-eval ask in the same words. The authors set no limit; here,
         it is 8,192 tokens, as in lmms-eval.
Scoring  `official`: a judge, GPT-5.2 by default, says whether the content of the last box, or
         "None", matches the answer (#L55-L77, utils.py#L73-L97). Its text counts as true if it has
         "true" anywhere, else as false, whatever it says; an empty text leaves the reply unjudged.
         A question whose request failed counts as false in the authors' files. Accuracy is over all
         tasks, by type, and by subtype (compute_score.py#L13-L42), as the mean of three runs: use
         --repeats 3. lmms-eval extracts answers by other rules.
Proof    Prompts and readings of generated texts equal those of the authors' code (tests/parity).
         Boxes and accuracies of the 24 rows in babyvision_eval/results were compared once: all are
         equal. No test repeats this comparison, since the rows have no license.
"""

import re
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from snellen.benchmarks.families import authors_files
from snellen.benchmarks.families.judged import check, judge_of_all, judged, presentation, prompts
from snellen.benchmarks.families.questions import picture
from snellen.benchmarks.families.results import of_json
from snellen.core import Benchmark, Interop, Published, Reading, Reply, Sample
from snellen.core.prompts import lettered
from snellen.data import DataFile, Row, find, jsonl
from snellen.data.published import File
from snellen.media.content import user
from snellen.metrics import mean

REVISION = "7f92fd4b1dc1c68b7b936a9bc09c68b4a944a55a"
ARCHIVE = File(
    name="babyvision_data.zip",
    url=f"https://github.com/UniPat-AI/BabyVision/raw/{REVISION}/data/babyvision_data.zip",
    md5="498d4a3dbdc33fa443b1cb2eee41ece1",
    unpack=True,
)
KIND = "mixed"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 388
ALIASES: dict[str, dict[str, str]] = {"BabyVision": {}}
FORM = "Think about the question and give your final answer in \\boxed{Answer} format."
LEAVES = {
    "Fine-grained Discrimination": "perception/attribute",
    "Visual Tracking": "perception/spatial",
    "Spatial Perception": "perception/spatial",
    "Visual Pattern Recognition": "reasoning/logic",
}
BRACES = re.compile(r"\\boxed\{|[{}]")
OTHER_BOX = re.compile(r"<\|begin_of_box\|>(.*?)<\|end_of_box\|>")


def babyvision(data: Path | None = None) -> Benchmark:
    names = ["babyvision_data/meta_data.jsonl", "meta_data.jsonl"]
    data_file = find(data, "babyvision", names, (ARCHIVE,))
    table, file = authors_files.table(data_file, lambda path: iter(jsonl(path)), REVISION)
    judge = judge_of_all("gpt-5.2", judge_prompt, verdict, temperature=None, max_answer_tokens=2048)
    return Benchmark(
        name="babyvision",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, question(sample)),),
        scorings={
            "official": judged(
                f"UniPat-AI/BabyVision@{REVISION}:babyvision_eval/evaluate_model.py#L55-L77",
                judge,
                lambda reading, _: float(reading.answer == "true"),
                {"accuracy": mean},
                missing="wrong",
            )
        },
        max_answer_tokens=8192,
        check=check(
            lambda sample, reply: str(last_box(reply.text) == sample.target),
            ("official",),
            says=lambda _, answer: f"\\boxed{{{answer}}}",
        ),
        presentation=presentation(
            ("type", "subtype"), LEAVES, f"UniPat-AI/BabyVision@{REVISION}:README.md, Overview"
        ),
        interop=Interop(files=file, layout=layout),
    )


def published(**_: object) -> tuple[File, ...]:
    """The authors' archive of tasks and pictures."""
    return (ARCHIVE,)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    # On the hub, the picture itself is in the row.
    names = [f"babyvision_data/{row['image']}", row["image"]]
    image, _ = picture(row, data_file, names if isinstance(row["image"], str) else [])
    blank = row["ansType"] == "blank"
    answer = row["blankAns"] if blank else ascii_uppercase[int(row["choiceAns"])]
    return Sample(
        id=str(row["taskId"]),
        question=row["question"],
        media=(image,),
        target=str(answer),
        tags={"type": row["type"], "subtype": row["subtype"]},
        # Not `choices`: a letter outside a box is no answer, so a blind guess of one scores 0.
        data={"choices": None if blank else list(row["options"])},
    )


def question(sample: Sample) -> str:
    choices: Any = sample.data["choices"]
    if choices is None:
        return f"{sample.question}\n{FORM}"
    return f"{sample.question}\nChoices:\n{lettered(choices, '({letter}) {choice}')}\n{FORM}"


def judge_prompt(sample: Sample, reply: Reply) -> str:
    words: str = prompts("babyvision")["judge"]
    return words.format(
        question=question(sample), groundtruth=sample.target, modeloutput=last_box(reply.text)
    )


def last_box(text: str) -> str | None:
    r"""The content of the last \boxed{...} with balanced braces that is not in another one, or of
    the last box in GLM's form. None if there is none."""
    spans: list[tuple[int, int]] = []
    starts: list[int | None] = []
    for brace in BRACES.finditer(text):
        if brace[0] != "}":
            starts.append(brace.end() if brace[0] != "{" else None)
        elif starts and (start := starts.pop()) is not None:
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, brace.start()))
    if spans:
        return text[slice(*spans[-1])]
    others = OTHER_BOX.findall(text)
    return others[-1].strip() if others else None


def verdict(words: str, _: Sample) -> Reading:
    if not words.strip():
        return Reading(answer=None, rule="nothing said")
    return Reading(answer="true" if "true" in words.lower() else "false", rule="true or false")


def layout(path: Path) -> Published | None:
    """Read the authors' results of one run. A row of a failed request has no reply."""
    rows = of_json(path)
    fields = {"Id", "ModelResult", "LLMJudgeResult"}
    if (
        not rows
        or not isinstance(rows, list)
        or not all(isinstance(row, dict) and fields <= row.keys() for row in rows)
    ):
        return None
    received = [row for row in rows if "Error" not in row]
    return Published(
        replies={
            **{str(row["Id"]): None for row in rows},
            **{str(row["Id"]): str(row["ModelResult"] or "") for row in received},
        },
        verdicts={
            "official": {str(row["Id"]): (str(bool(row["LLMJudgeResult"])),) for row in received}
        },
        only_these=True,
    )
