"""VLMs are blind (BlindTest): counting and finding simple shapes.

Paper    Rahmanzadehgervi et al. 2024, Vision language models are blind,
         https://arxiv.org/abs/2407.06581 (ACCV).
Data     XAI/vlmsareblind on the Hugging Face hub has 8,016 questions, data/valid-*.parquet, under
         the MIT license (pass the file). VLMEvalKit's VLMBlind.tsv has the same fields under other
         names. The id is the row's index in a TSV, and the row's position in parquet.
Prompt   The rows have the authors' prompts: anguyen8/
         vision-llms-are-blind@dd2a28d96b3befa4674fc8504a9b944d6ad36fdb:src/prompts.md.
         `official`: the row's prompt. `vlmevalkit`: "Question: " before it, open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/image_mcq.py.
         `lmms-eval`: an instruction after it, EvolvingLMMs-Lab/
         lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/vlmsareblind/
         vlmsareblind.yaml#L27-L29, and at most 32 tokens (#L10). The picture comes first.
Scoring  The authors published no scorer.
         `vlmevalkit`: image_mcq.py#L2538-L2615. Counts, paths, and letters are the first text in
         braces. In olympic counting and touching circles, a reply is right if it contains the
         answer anywhere.
         `lmms-eval`: utils.py#L42-L93. The first number counts, and the first letter from a to z is
         the letter, even in a word.
         `robust`: Snellen's own rule, which takes the numbers, the letter, or the yes or no that a
         reply settles on.
         `average` is the mean over the eight tasks of the paper's table 1. In lmms-eval, a task
         without a right reply is left out of the mean (utils.py#L109).
Proof    For 900 generated replies, every verdict and each average equal those of VLMEvalKit's and
         lmms-eval's code (tests/test_benchmarks/test_vlms_are_blind.py). No replies are published.
         `robust` is checked on examples worked out by hand.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from snellen.benchmarks.families import authors_files, pins
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.tasks import is_target, parse_phrase, parse_verbatim, parse_yes_no
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
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
from snellen.data import Row, find
from snellen.media.content import user
from snellen.metrics import Metric, macro_average, mean
from snellen.metrics.by_category import by_category

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AUTHORS = "anguyen8/vision-llms-are-blind@dd2a28d96b3befa4674fc8504a9b944d6ad36fdb"
KIND = "words"
LANGUAGES = ("en",)
LICENSE = "MIT"
PROOF = "toolkit's code"
SIZE = 8016
ALIASES = {"VLMBlind": {"prompt": "vlmevalkit"}, "vlmsareblind": {"prompt": "lmms-eval"}}
FILES_PUBLISHED = (own_sheet("VLMBlind", md5="e0f960236afe08f9fa48e8ccc908b2a9"),)
Preset = Literal["official", "vlmevalkit", "lmms-eval"]
PROMPTS = {
    "official": "{question}",
    "vlmevalkit": "Question: {question}\n",
    "lmms-eval": "{question}\nAnswer only in the required format.",
}
LEAVES = {
    "circled letter": "OCR/text",
    "counting grid": "perception/counting",
    "line plot intersections": "perception/counting",
    "nested squares": "perception/counting",
    "olympic counting - circles": "perception/counting",
    "olympic counting - pentagons": "perception/counting",
    "subway connections": "perception/spatial",
    "touching circles": "perception/spatial",
}
GRID, LETTER, TOUCHING = "counting grid", "circled letter", "touching circles"


def vlms_are_blind(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    names = ("data/valid-00000-of-00001.parquet", FILES_PUBLISHED[0].name)
    data_file = find(data, "vlms-are-blind", names, FILES_PUBLISHED)
    table, file = authors_files.table(data_file, authors_files.objects)
    average = Metric(macro_average("task"), better="higher")
    kit = Scoring(
        version=1,
        source=f"{pins.VLMEVALKIT}:vlmeval/dataset/image_mcq.py#L2538-L2615",
        parse=kit_answer,
        score=kit_score,
        metrics={"average": average, "accuracy": mean},
        missing="wrong",
    )
    lmms_metrics = {"average": by_category("task", lmms_average, "average"), "accuracy": mean}
    source = f"{pins.LMMS_EVAL}:lmms_eval/tasks/vlmsareblind/utils.py#L42-L112"
    return Benchmark(
        name="vlms-are-blind",
        asks=1,
        data=table,
        sample=to_sample,
        prompt=lambda sample, _: (
            user(*sample.media, PROMPTS[prompt].format(question=sample.question)),
        ),
        scorings={
            "vlmevalkit": kit,
            "lmms-eval": replace(
                kit, source=source, parse=lmms_answer, score=is_target, metrics=lmms_metrics
            ),
            "robust": replace(
                kit, source="ours", parse=robust_answer, score=is_target, missing="excluded"
            ),
        },
        max_answer_tokens=32 if prompt == "lmms-eval" else 512,
        check=Check(
            says=says,
            wrong=lambda sample: WRONG.get(sample.tags["task"], "98"),
            # "1 2 3" contains the number of pentagons. Its first number is right for the lines, and
            # in lmms-eval, tasks without a right reply do not count.
            expect={
                "vlmevalkit": {**PERFECT, "hedging": 1 / 8},
                "lmms-eval": {**PERFECT, "hedging": 1.0},
                "robust": PERFECT,
            },
        ),
        presentation=Presentation(
            break_down_by=("task", "subset"),
            capabilities=Capabilities(
                tag="task", leaves=LEAVES, source=f"{AUTHORS}:README.md#L48-L56"
            ),
        ),
        interop=Interop(files=file),
    )


def to_sample(index: int, row: Row) -> Sample:
    name = row["task"].lower()
    grids = name if name.startswith(GRID) else ""
    target = str(row["groundtruth"] if "groundtruth" in row else row["answers"])
    return Sample(
        id=str(row.get("index", index)),
        question=row["prompt"] if "prompt" in row else row["question"],
        media=(authors_files.picture(row),),
        target=target.strip().lower(),
        # The paper counts both sets of grids as one task.
        tags={"task": GRID if grids else name, "subset": grids},
        data={"answer": target},
    )


# -- scoring, vlmevalkit

ROW, COLUMN = re.compile("[Rr]ow"), re.compile("[Cc]olumn")
DIGITS = re.compile(r"\d+")
PAIR = re.compile(r"\((\d+),\s*(\d+)\)")


def kit_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the first text in braces or, for a grid, the numbers of rows and columns. In the tasks
    in which a reply may contain the answer anywhere, the answer is the full reply."""
    task = sample.tags["task"]
    if task == TOUCHING or "olympic" in task:
        return parse_verbatim(reply, sample)
    if task == GRID:
        rows, columns = (number_after(word, reply.text) for word in (ROW, COLUMN))
        if rows and columns:
            return Reading(answer=numbers(rows, columns), rule="rows and columns")
        if pair := PAIR.search(reply.text):
            return Reading(answer=numbers(*pair.groups()), rule="pair")
        return Reading(answer=None, rule="no numbers")
    return Reading(answer=in_braces(reply.text), rule="braces")


def in_braces(text: str) -> str | None:
    """The first text in braces that is on a single line."""
    for line in text.split("\n"):
        _, opening, after = line.partition("{")
        inside, closing, _ = after.partition("}")
        if opening and closing:
            return inside
    return None


def number_after(word: re.Pattern[str], text: str) -> str | None:
    """The first number in braces that has the word between it and the braces before it."""
    parts = re.split("([{}])", text)
    for before, opening, number, closing in zip(
        parts[::2], parts[1::2], parts[2::2], parts[3::2], strict=False
    ):
        if opening == "{" and closing == "}" and DIGITS.fullmatch(number) and word.search(before):
            return number
    return None


def kit_score(reading: Reading, sample: Sample) -> float:
    answer, target, task = (
        str(reading.answer or ""),
        str(sample.data["answer"]),
        sample.tags["task"],
    )
    if task == TOUCHING:
        return float(target.lower() in answer.lower())
    if "olympic" in task:
        return float(target in answer)
    if task == GRID:
        target = numbers(*target.split(","))
    return float(answer == target)


def numbers(*texts: str) -> str:
    """Join numbers with commas, without zeros at their start."""
    return ",".join(text.strip().lstrip("0") or "0" for text in texts)


# -- scoring, lmms-eval

CHARACTER = re.compile("[a-z]")
GRID_FORMS = (
    re.compile(r"\{(\d+)\}\s*\{(\d+)\}"),
    re.compile(r"\((\d+)\s*,\s*(\d+)\)"),
    re.compile(r"rows=\{(\d+)\}\scolumns=\{(\d+)\}"),
)


def lmms_answer(reply: Reply, sample: Sample) -> Reading:
    text, task = reply.text.strip().lower(), sample.tags["task"]
    if task == TOUCHING:
        return Reading(answer=text if text in ("yes", "no") else None, rule="full reply")
    if task == GRID:
        pairs = (form.search(text) for form in GRID_FORMS)
        pair = next((match for match in pairs if match), None)
        return Reading(answer=f"{pair[1]},{pair[2]}" if pair else None, rule="pair")
    match = (CHARACTER if task == LETTER else DIGITS).search(text)
    return Reading(answer=match[0] if match else None, rule="first")


def lmms_average(score: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean accuracy of the tasks with a right reply, or 0 if there is none."""
    tasks = (score > 0).sum(axis=1)
    average: NDArray[np.float64] = (score / rows.clip(1e-12)).sum(axis=1) / tasks.clip(1)
    return average


# -- scoring, robust


def robust_answer(reply: Reply, sample: Sample) -> Reading:
    task = sample.tags["task"]
    if task == TOUCHING:
        return parse_yes_no(reply, sample)
    reading = parse_phrase(reply, sample)
    text = str(reading.answer or "").lower()
    # A letter in a word and a digit in "3.5" do not count.
    pattern = r"(?<![\w.])[a-z](?![\w'])" if task == LETTER else r"(?<![\w.])\d{1,6}(?![\w]|\.\d)"
    values = tuple(match.lstrip("0") or "0" for match in re.findall(pattern, text))
    if braces := re.findall(r"\{\s*(\w+)\s*\}", text):
        values = tuple(braces)
    if len(values) == (2 if task == GRID else 1):
        return Reading(answer=",".join(values), rule=reading.rule)
    return Reading(answer=None, rule=f"{len(values)} values: {reading.rule}", candidates=values)


# -- check

WRONG = {TOUCHING: "neither", LETTER: "q", GRID: "98,98"}


def says(sample: Sample, answer: str) -> str:
    """The answer in the form that the authors' prompts ask for."""
    return {TOUCHING: answer, GRID: f"({answer})"}.get(sample.tags["task"], f"{{{answer}}}")
