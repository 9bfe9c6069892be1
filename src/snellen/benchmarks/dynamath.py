"""DynaMath: 501 questions about mathematics, in ten variants that programs generate.

Paper    Zou et al. 2024, DynaMath: A Dynamic Visual Benchmark for Evaluating Mathematical Reasoning
         Robustness of Vision Language Models, https://arxiv.org/abs/2411.00836 (ICLR 2025).
Data     DynaMath/DynaMath@598c3c3d732422d29580e9ecf8f2a7928a068fdd:samples and result/10trials/
         trial{1..10}/dataset.json, with the pictures in image/; MIT (README.md). Pass the folder
         10trials. VLMEvalKit's DynaMath.tsv has ten variants with their pictures in the rows.
         An id is the question's number and the variant's number (12-3). In a TSV, the id is the
         row's index.
Prompt   `official`: evaluation/opensource_json_eval.py#L52-L84; the picture comes first. The
         authors' scripts for closed models have another wording.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/dynamath.py#L123-L164.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/dynamath/reasoning/utils.py#L21-L37.
         `answer_format=false` leaves out the form of the answer, as DynaMath_noprompt does.
         Replies are limited to 8,192 tokens, as for Claude (claude_json_eval.py#L125). With
         prompt=lmms-eval, replies are limited to 49,152 tokens (_default_template_yaml#L13).
Scoring  `official`: evaluation/opensource_json_eval.py#L26-L49, #L96-L146. The answer is the `short
         answer` of the reply's JSON. Without JSON, it is the last line without its last character.
         A number may differ by 0.001. A choice must be in the first three characters of a longer
         answer. A text must be contained in the answer.
         `average` is the share of right replies, `worst_case` the share of questions with all
         variants right, `best_case` (ours) that with any variant right, and `robustness` is
         worst_case / average (section 4).
         `vlmevalkit`: vlmeval/dataset/dynamath.py#L15-L106. VLMEvalKit asks a judge for the short
         answer if it cannot parse a reply. Here, such a reply is scored as VLMEvalKit does if the
         judge's answer cannot be parsed either.
         `robust`: Snellen's own rule, which takes the letter, number, or phrase that the short
         answer, an <answer> tag, or the whole reply settles on. It is the headline if
         prompt=lmms-eval, whose replies have no JSON.
Proof    For the published verdicts of 14 models, every figure equals the one by the paper's
         definitions. For 1,000 generated replies, every short answer and verdict equals that of the
         authors' and VLMEvalKit's code (tests/parity). `robust` is checked by hand.
"""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, choice_sets
from snellen.benchmarks.families.dynamath import REVISION, VERDICT, kind_of, scorings
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.lmms_eval import THINK_THEN_ANSWER
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Procedure,
    Published,
    Reading,
    Sample,
)
from snellen.data import DataFile, Row, file_content, find, utf8
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, Message, system, user

KIND = "mixed"
LANGUAGES = ("en",)
LICENSE = "MIT"
PROOF = "published outputs"
SIZE = 5010
ALIASES = {
    "DynaMath": {"prompt": "vlmevalkit"},
    "DynaMath_noprompt": {"prompt": "vlmevalkit", "answer_format": False},
    "dynamath_reasoning": {"prompt": "lmms-eval"},
}
TOPICS = (
    *("algebra", "analytic geometry", "arithmetic", "graph theory", "plane geometry"),
    *("scientific figure", "solid geometry", "statistics"),
)
GUIDE = (
    "\n## Answer Instruction Please provide an answer to the question outlined above. Your "
    "response should adhere {newline}to the following JSON format, which includes two keys: "
    "'solution' and 'short answer'. The 'solution' key can contain {newline}detailed steps needed "
    "to solve the question, and the 'short answer' key should provide a concise response. "
    "{instruction}\n\nExample of expected JSON response format:\n\n"
    '{{\n    "solution": "[Detailed step-by-step explanation]",\n'
    '    "short answer": "[Concise Answer]"\n}}'
)
OFFICIAL = GUIDE.format(
    newline="\n",
    instruction="If the problem is a multiple choice problem, just provide the corresponing choice "
    "option, \nsuch as 'A', 'B', 'C', or 'D'. If the answer is a numerical value, format it as a "
    "three-digit floating-point number.",
)
KIT_INSTRUCTIONS = {
    "multiple choice": "Provide the corresponing choice option in the 'short answer' key, such as "
    "'A', 'B', 'C', or 'D'.",
    "float": "Format the answer as a three-digit floating-point number and provide it in the "
    "'short answer' key.",
}
KIT_TEXT = "Float numbers in the answer should be formatted as three-digit floating-point numbers."
Preset = Literal["official", "vlmevalkit", "lmms-eval"]


def dynamath(
    prompt: Preset = "official", answer_format: bool = True, data: Path | None = None
) -> Benchmark:
    folders = ("", "10trials/", "samples and result/10trials/")
    names = [f"{folder}trial1/dataset.json" for folder in folders]
    data_file = find(data, "dynamath", [*names, "DynaMath.tsv"], published())
    table, file = authors_files.table(data_file, trials, REVISION)
    return Benchmark(
        name="dynamath",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: messages(sample, prompt, answer_format),
        scorings=choice_sets.headline(
            scorings(), "robust" if prompt == "lmms-eval" else "official"
        ),
        max_answer_tokens=49_152 if prompt == "lmms-eval" else 8192,
        cluster_by=lambda sample: sample.tags["question"],
        check=Check(
            says=lambda _, answer: json.dumps({"solution": "Seen.", "short answer": answer}),
            wrong=lambda sample: "E" if kind_of(sample) == "multiple choice" else "-98765",
            # For VLMEvalKit, an empty reply is right for the two of eight answers that are texts.
            expect={
                "official": PERFECT,
                "vlmevalkit": {**PERFECT, "silent": 0.25},
                "robust": PERFECT,
            },
        ),
        procedure=Procedure(together=lambda sample: sample.tags["question"]),
        presentation=Presentation(
            break_down_by=("topic", "level", "variant"),
            metric_tags=("question",),
            capabilities=Capabilities(
                tag="topic",
                leaves={
                    **dict.fromkeys(TOPICS, "reasoning/mathematical"),
                    "puzzle test": "reasoning/logic",
                },
                source="https://arxiv.org/abs/2411.00836, section 3.1",
            ),
        ),
        interop=Interop(files=file, layout=verdicts),
    )


def published(**_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file. The authors publish each picture as a separate file."""
    return (own_sheet("DynaMath", md5="b8425ad9a7114571fc9366e013699494"),)


# -- rows


def trials(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions of each trial, which has a variant of every question."""
    folders = path.parents[1].glob("trial*/dataset.json")
    for file in sorted(folders, key=lambda file: int(file.parent.name.removeprefix("trial"))):
        variant = file.parent.name.removeprefix("trial")
        for qid, row in authors_files.of_json(file).items():
            path_in_data = f"{file.parent.name}/{row['image']}"
            yield {**row, "qid": qid, "varid": variant, "image_path": path_in_data}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    if "image_path" in row and "index" not in row:
        folder = data_file.path.parents[1]
        image = Image(folder / row["image_path"], label=row["image_path"], within=folder)
    else:
        image = authors_files.picture(row)
    return Sample(
        id=str(row.get("index", f"{row['qid']}-{row['varid']}")),
        question=row["question"],
        media=(image,),
        target=str(row["answer"]),
        tags={
            # One row of dataset/dataset.json has "analytic     geometry".
            "topic": " ".join(row["subject"].split()),
            "level": row["level"] if "level" in row else row["knowledge_level"],
            "variant": f"variant {row['varid']}",
            "question": f"question {row['qid']}",
        },
        data={"answer_type": row["answer_type"]},
    )


def messages(sample: Sample, prompt: Preset, answer_format: bool) -> tuple[Message, ...]:
    if prompt == "lmms-eval":
        return (system(THINK_THEN_ANSWER), user(*sample.media, sample.question.strip()))
    if prompt == "vlmevalkit":
        instruction = KIT_INSTRUCTIONS.get(kind_of(sample), KIT_TEXT)
        text = f"## Question\n {sample.question}"
        form = GUIDE.format(newline="", instruction=instruction)
    else:
        text = f"## Question\n{sample.question}"
        text += "Please answer in a floating-point number." if kind_of(sample) == "float" else ""
        form = OFFICIAL
    return (user(*sample.media, text + form if answer_format else text),)


# -- published verdicts


def verdicts(path: Path) -> Published | None:
    """Read the authors' verdicts, "samples and result/<model>-result.csv": a row for each question,
    with `correct` or `fail` for each variant. The replies are not published."""
    if ".csv" not in path.suffixes or not path.is_file():
        return None
    rows = [*csv.DictReader(utf8(file_content(path), path).decode().splitlines())]
    columns = [name for name in (rows[0] if rows else ()) if re.fullmatch(r"Variant \d+", name)]
    if not columns or "Question ID" not in rows[0]:
        return None
    readings = {}
    for row in rows:
        if not re.fullmatch(r"Q\d+", row["Question ID"] or ""):
            continue  # the sums below the questions
        for column in columns:
            verdict = (row[column] or "").strip()
            if verdict not in ("correct", "fail"):
                raise DataError(
                    f"{path}: the verdict on {row['Question ID']}, {column}, is {verdict!r}. It "
                    "must be correct or fail."
                )
            name = f"{row['Question ID'][1:]}-{column.split()[1]}"
            readings[name] = Reading(answer=verdict, rule=VERDICT)
    return Published(
        replies=dict.fromkeys(readings, ""),
        readings=dict.fromkeys(scorings(), readings),
        notes=("the file has verdicts and no replies, so only `official` has a value",),
    )
