"""VisualPuzzles: logic puzzles that need no knowledge of a domain, in five kinds of reasoning.

Paper    Song et al. 2025, VisualPuzzles: Decoupling Multimodal Reasoning Evaluation from Domain
         Knowledge, https://arxiv.org/abs/2504.10342.
Data     neulab/VisualPuzzles on the Hugging Face hub: data.parquet with 1,168 puzzles. VLMEvalKit's
         VisualPuzzles.tsv has the same rows. Each puzzle has four choices, which are in the picture
         if the field `options` is empty.
Prompt   The authors' code is a copy of lmms-eval, neulab/
         VisualPuzzles@ee212f97864bde4f0b662acca8ec14534e2ce9a7:lmms-eval/lmms_eval/tasks/
         VisualPuzzles/utils.py#L9-L22. 4,096 tokens, but 2,048 with the prompt vlmevalkit.
         `cot` asks for steps and a last line, and `direct` for the letter.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_mcq.py#L1714-L1745, like cot without a blank and without "Question: ".
Scoring  `official`: utils.py#L24-L105. Nine patterns are tried in order, each from the end of the
         reply: the letter after "Answer:", in parentheses, before ")", in braces or dollar signs,
         before a period, or alone in a reply of up to four characters. Then the choice after
         "answer:", compared with the lowercased reply, so that a choice with a capital is missed.
         Then the choice whose text occurs last. Otherwise, a letter is drawn at random, without a
         seed.
         `vlmevalkit`: vlmeval/dataset/utils/visualpuzzles.py#L84-L91. The last letter after
         "answer:", in any case. A reply without one is wrong.
         `robust`: the letter that the reply settles on.
         With the prompt vlmevalkit, the scoring vlmevalkit is the headline.
Proof    Both scorings equal the authors' and VLMEvalKit's code on 720 generated replies (tests/
         parity/test_choice_rules.py); lmms-eval's code is the authors'. Their outputs are on a
         site that has no files to compare.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import choice_sets, pins
from snellen.benchmarks.families.authors_files import texts
from snellen.benchmarks.families.draws import by_id, undecided
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.core import Benchmark, Interop, Reading, Reply, Sample, Scoring
from snellen.core.prompts import lettered
from snellen.data import DataFile, Row, find
from snellen.data.published import File

SOURCE = (
    "neulab/VisualPuzzles@ee212f97864bde4f0b662acca8ec14534e2ce9a7:"
    "lmms-eval/lmms_eval/tasks/VisualPuzzles/utils.py#L24-L105"
)
KIT = f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/visualpuzzles.py#L84-L91"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 1168
ALIASES = {"VisualPuzzles": {"prompt": "vlmevalkit"}}
SHEET = own_sheet("VisualPuzzles", md5="12bcc3f6dd7a11b33ffcd526b5601076")
LEAVES = {
    "Algorithmic": "reasoning/mathematical",
    "Analogical": "reasoning/logic",
    "Deductive": "reasoning/logic",
    "Inductive": "reasoning/logic",
    "Spatial": "perception/spatial",
}
STEPS = (
    "Solve the multiple-choice question and then answer with the option letter from the given "
    "choices. The last line of your response should be of the following format:{blank}'Answer: "
    "$LETTER' (without quotes) where LETTER is one of options. Think step by step before answering."
)
PROMPTS = {
    "cot": "Question: {stripped}\n{options}\n" + STEPS.format(blank=" "),
    "direct": "Question: {stripped}\n{options}\n"
    "Answer the question with the option's letter from the given choices directly.",
    "vlmevalkit": "{question}\n{options}\n" + STEPS.format(blank=""),
}
PATTERNS = [
    (name, re.compile(pattern))
    for name, pattern in (
        ("answer: (A)", r"Answer:\s*\(([A-Za-z])\)"),
        ("answer: A", r"(?<!Final )Answer:\s*([A-Za-z])"),
        ("final answer: A", r"Answer:\s*([A-Za-z])"),
        ("(A)", r"\(([A-Za-z])\)"),
        ("A)", r"([A-Za-z])\)"),
        ("{A}", r"\{([A-Za-z])\}"),
        ("$A$", r"\$([A-Za-z])\$"),
        ("A.", r" ([A-Da-d])\."),
        ("short", r" ([A-Da-d])"),
    )
]

Preset = Literal["cot", "direct", "vlmevalkit"]


def visualpuzzles(prompt: Preset = "cot", data: Path | None = None) -> Benchmark:
    data_file = find(data, "visualpuzzles", ["data.parquet", SHEET.name], published())
    table, file = choice_sets.table_of(data_file)
    rules = scorings()
    # The letters that are drawn for unreadable replies are right for two of the eight bundled rows.
    check = choice_sets.check(rules, silent={"official": 2 / 8}, official=2 / 8)
    return Benchmark(
        name="visualpuzzles",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: choice_sets.message(sample, PROMPTS[prompt]),
        scorings=choice_sets.headline(rules, prompt),
        max_answer_tokens=2048 if prompt == "vlmevalkit" else 4096,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=replace(check, says=lambda _, answer: f"Answer: {answer}" if answer else ""),
        presentation=choice_sets.presentation(
            LEAVES,
            "https://arxiv.org/abs/2504.10342, section 2",
            "category",
            by=("category", "difficulty"),
        ),
        interop=Interop(files=file),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name."""
    official = replace(
        choice_sets.rule(SOURCE, official_answer),
        resolve=by_id("The authors' code draws without a seed."),
    )
    return choice_sets.scorings(
        {"official": official, "vlmevalkit": choice_sets.rule(KIT, kit_answer)}
    )


def published(**_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file. For the authors' file, no digest is published."""
    return (SHEET,)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    """Make a sample. If its choices are in the picture, the letters A to D stand for them."""
    listed = texts(row["options"])
    options = f"Options:\n{lettered(listed, '({letter}) {choice}')}"
    if not listed:
        options = "Options: Choose from (A) (B) (C) (D) in the image."
    tags = ("category", "difficulty")
    sample = choice_sets.sample_of(row, data_file, tags=tags, choices=listed or tuple("ABCD"))
    return replace(sample, data={**sample.data, "options": options, "listed": bool(listed)})


def official_answer(reply: Reply, sample: Sample) -> Reading:
    text = reply.text.strip()
    for number, (name, pattern) in enumerate(PATTERNS):
        if number == 4:  # from here on, the authors put a blank before the reply
            text = f" {text}"
        for letter in reversed(pattern.findall(text)):
            if letter.upper() in "ABCD" and (name != "short" or len(text) <= 5):
                return Reading(answer=letter.upper(), rule=name)
    if sample.data.get("listed", True):
        low = text.lower()
        for letter, choice in zip("ABCD", sample.choices, strict=False):
            if f"answer: {choice}" in low or f"answer:{choice}" in low:
                return Reading(answer=letter, rule="answer: choice")
        last = {
            letter: text.rfind(choice)
            for letter, choice in zip("ABCD", sample.choices, strict=False)
        }
        letter = max(last, key=lambda name: last[name])
        if last[letter] >= 0:
            return Reading(answer=letter, rule="last choice")
    return undecided(sample)


def kit_answer(reply: Reply, _: Sample) -> Reading:
    letters = re.findall(r"\banswer\s*:\s*([A-Z])\b", reply.text, re.IGNORECASE)
    if not letters:
        return Reading(answer=None, rule="no answer")
    return Reading(answer=letters[-1].upper(), rule="last answer")
