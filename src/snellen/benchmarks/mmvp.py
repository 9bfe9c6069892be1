"""MMVP: pairs of pictures that look alike to CLIP, with one question about each pair.

Paper    Tong et al. 2024, Eyes Wide Shut? Exploring the Visual Shortcomings of Multimodal LLMs,
         https://arxiv.org/abs/2401.06209 (CVPR).
Data     MMVP/MMVP on the Hugging Face hub: Questions.csv with 300 questions, and "MMVP Images"/
         {1..300}.jpg. VLMEvalKit's MMVP.tsv and the parquet file of lmms-lab-eval/MMVP have the
         pictures in the rows. In the parquet file, the answers 99, 100, 279, and 280 are corrected
         (EvolvingLMMs-Lab/lmms-eval#1018).
         Rows 2k and 2k+1, counted from 0, are a pair.
Prompt   The picture comes first.
         `official`: tsb0601/MMVP@763500597e65c3446f09047837ceda76f4e264bf:scripts/
         evaluate_mllm.py#L59-L66. Replies are limited to 1,024 tokens (#L94).
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
         lmms_eval/tasks/mmvp/utils.py#L93-L123. Replies are limited to 16 tokens.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_mcq.py#L212-L247. Replies are limited to 2,048 tokens.
Scoring  `pair_accuracy` is the share of complete pairs with two right answers.
         `official`: scripts/gpt_grader.py#L19-L70. GPT-4 says whether a reply is right (`snellen
         judge`). A verdict other than yes or no is wrong.
         `lmms-eval`: lmms_eval/tasks/mmvp/utils.py#L32-L67 and #L209-L256. The answer is a letter A
         or B, which may be the end of a word: "the cab" is read as B.
         `vlmevalkit`: vlmeval/utils/matching_util.py#L18-L127, without VLMEvalKit's judge, and
         vlmeval/dataset/utils/multiple_choice.py#L613-L622.
         `robust`: the letter that the reply settles on.
         The scoring with the name of the prompt is the headline.
Proof    For 600 generated replies, the letters and both metrics of `lmms-eval` equal those of
         lmms-eval's code (tests/parity). `official` is checked on examples worked out by hand.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen import stats
from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families.judged import for_the_judge
from snellen.core import (
    Benchmark,
    Capabilities,
    Interop,
    Judge,
    Presentation,
    Procedure,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, csv, find
from snellen.media.content import Message, system, user
from snellen.metrics import Columns, metric
from snellen.metrics.groups import NONE_COMPLETE, groups
from snellen.stats import Estimate

AUTHORS = "tsb0601/MMVP@763500597e65c3446f09047837ceda76f4e264bf"
KIND = "choice"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "by hand"
SIZE = 300
ALIASES = {"MMVP": {"prompt": "vlmevalkit"}}
FILES_PUBLISHED = (choice_sets.sheet("MMVP"),)
LIMITS = {"official": 1024, "lmms-eval": 16, "vlmevalkit": 2048}
OPTION = re.compile(r"\([a-z]\)\s*([^(]+?)(?=\s*\([a-z]\)|$)", re.IGNORECASE)
FORMS = (
    *(r"^\(?([AB])\)?\.?$", r"^\(?([AB])\)?[.\s]", r"answer\s+is\s+\(?([AB])\)?"),
    *(r"option\s+\(?([AB])\)?", r"([AB])\)?(?:\s|$)"),
)
JUDGE = (
    "You are a helpful and precise assistant for checking the quality of the answer. Please answer "
    "in only yes or no."
)
TO_JUDGE = (
    "Given the following question {question}, the correct answer is ({answer}). Does the following "
    "answer correctly answers the question, answer:{reply}?"
)

Preset = Literal["official", "lmms-eval", "vlmevalkit"]


def mmvp(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    data_file = find(data, "mmvp", ("Questions.csv", "MMVP.tsv"), FILES_PUBLISHED)
    table, file = authors_files.table(data_file, lambda path: iter(csv(path)))
    scorings = choice_sets.scorings(RULES, METRICS)
    return Benchmark(
        name="mmvp",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (
            (user(*sample.media, question_line(sample)),)
            if prompt == "official"
            else choice_sets.message(sample, choice_sets.PROMPTS[prompt])
        ),
        scorings=choice_sets.headline(scorings, prompt),
        max_answer_tokens=LIMITS[prompt],
        cluster_by=pair_of,
        check=replace(
            choice_sets.check(scorings),
            verdict=lambda sample, reply: "yes" if reply.text == sample.target else "no",
        ),
        procedure=Procedure(together=pair_of),
        presentation=Presentation(
            metric_tags=("pair", "side"),
            capabilities=Capabilities(
                tag="", leaves={"": "perception/attribute"}, source="arXiv:2401.06209, section 3"
            ),
        ),
        interop=Interop(files=file),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    fields = row
    if "Options" in row:
        fields = Row(
            {
                "index": row["Index"],
                "image": row.get("image") or f"MMVP Images/{row['Index']}.jpg",
                "question": row["Question"],
                "choices": OPTION.findall(row["Options"]),
                "answer": row["Correct Answer"],
            },
            row.position,
        )
    sample = choice_sets.sample_of(fields, data_file)
    pair, side = divmod(row.position, 2)
    return replace(sample, tags={"pair": f"pair {pair}", "side": f"side {side}"})


def pair_of(sample: Sample) -> str:
    return sample.tags["pair"]


def question_line(sample: Sample) -> str:
    """The question and its choices in one line, as the authors ask it."""
    options = zip("abcdefgh", sample.choices, strict=False)
    return " ".join([sample.question, *(f"({letter}) {choice}" for letter, choice in options)])


# -- scoring


def lmms_answer(reply: Reply, _: Sample) -> Reading:
    text = reply.text.strip()
    for form in FORMS:
        if match := re.search(form, text, re.IGNORECASE):
            return Reading(answer=match[1].upper(), rule=form)
    if text[:1].upper() in ("A", "B"):
        return Reading(answer=text[0].upper(), rule="first character")
    return Reading(answer=None, rule="no letter")


def judge_prompt(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    answer = (sample.target or "").lower()
    text = TO_JUDGE.format(question=question_line(sample), answer=answer, reply=reply.text)
    return (system(JUDGE), user(text))


def verdict(words: str, _: Sample) -> Reading:
    """Parse the judge's verdict. Only "yes" is yes, in any case and without a full stop."""
    if not words.strip():
        return Reading(answer=None, rule="nothing said")
    return Reading(answer="yes" if words.lower() == "yes" else "no", rule="judge")


@metric(better="higher", unit="fraction")
def pair_accuracy(columns: Columns) -> Estimate:
    """The share of complete pairs with two right answers."""
    pairs = groups(columns, "pair", "side")
    complete = pairs.size == 2
    if not complete.any():
        return Estimate(value=None, n=0, reason=NONE_COMPLETE)
    return stats.mean(pairs.all_right[complete], pairs.cluster[complete])


METRICS = {"pair_accuracy": pair_accuracy, **choice_sets.ACCURACY}
RULES = {
    "official": Scoring(
        version=1,
        source=f"{AUTHORS}:scripts/gpt_grader.py#L19-L70",
        parse=for_the_judge,
        score=lambda reading, _: float(reading.answer == "yes"),
        metrics=METRICS,
        missing="wrong",
        judge=Judge(
            name="official",
            authors_model="gpt-4-0314",
            prompt=judge_prompt,
            parse=verdict,
            when=lambda reading: reading.answer is None,
            temperature=0.2,
        ),
    ),
    "lmms-eval": choice_sets.rule(
        f"{pins.LMMS_EVAL}:lmms_eval/tasks/mmvp/utils.py#L32-L67 and #L209-L256",
        lmms_answer,
        METRICS,
    ),
}
