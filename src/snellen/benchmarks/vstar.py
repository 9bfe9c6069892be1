"""V*: small objects in large photographs, their attributes and positions.

Paper    Wu and Xie 2024, V*: Guided Visual Search as a Core Mechanism in Multimodal LLMs,
         https://arxiv.org/abs/2312.14135 (CVPR).
Data     craigwu/vstar_bench on the Hugging Face hub: test_questions.jsonl with 191 questions, and a
         folder of pictures for each category. VLMEvalKit's VStarBench.tsv and the parquet file of
         lmms-lab-encoder/vstar-bench have the pictures in the rows.
         The authors' annotation files are not read, since the right choice comes first in them.
Prompt   The picture comes first.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
         lmms_eval/tasks/vstar_bench/utils.py#L12-L41. The data set's question ends with the line
         that this prompt adds, so the line is sent twice. Replies are limited to 16 tokens.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_mcq.py#L212-L247. Replies are limited to 2,048 tokens.
         With ask=rank, the prompt is the bare question, as in the authors' code.
Scoring  `official` (ask=rank): penghao-wu/vstar@4ede6647959cfb59eeabd09286adf6a5f9478da0:
         vstar_bench_eval.py#L117-L165. The answer is the choice with the smallest mean loss of its
         tokens. The authors also count the token that ends the choice, which is not scored here.
         The authors have no rule for letters. With ask=generate:
         `lmms-eval`: utils.py#L44-L72. The answer is a letter A to D at the start of the reply,
         even of a word, or else one in a form such as "answer: B" or "(B)".
         `vlmevalkit`: vlmeval/utils/matching_util.py#L18-L127, without VLMEvalKit's judge.
         `robust`: the letter that the reply settles on.
Proof    For 600 generated replies, the letters of `lmms-eval` equal those of lmms-eval's code
         (tests/parity). `official` is checked on examples worked out by hand.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import choice_sets, pins
from snellen.benchmarks.families.choice_sets import DIRECTLY
from snellen.core import (
    Benchmark,
    Capabilities,
    Interop,
    Presentation,
    Procedure,
    Reading,
    Reply,
    Sample,
)
from snellen.data import DataFile, Row, find

AUTHORS = "penghao-wu/vstar@4ede6647959cfb59eeabd09286adf6a5f9478da0"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "toolkit's code"
SIZE = 191
ALIASES = {"VStarBench": {"prompt": "vlmevalkit"}, "vstar_bench": {"prompt": "lmms-eval"}}
FILES_PUBLISHED = (choice_sets.sheet("VStarBench"),)
LEAVES = {"direct_attributes": "perception/attribute", "relative_position": "perception/spatial"}
PROMPTS = {
    "lmms-eval": f"{{question}}\n{{choices}}{{rest}}{DIRECTLY}",
    "vlmevalkit": choice_sets.PROMPTS["vlmevalkit"],
}
OPTION = re.compile(r"\([A-D]\)\s*([^()]+?)(?=\s*\([A-D]\)|$)")
FORMS = (
    *("^([A-D])", r"(?:ANSWER|CHOICE|OPTION)(?:\s+IS)?[\s:]+([A-D])", r"\(([A-D])\)"),
    *(r"([A-D])\s*[.)\]]", r"(?:^|\s)([A-D])(?:\s|$)"),
)


def vstar(
    ask: Literal["generate", "rank"] = "generate",
    prompt: Literal["lmms-eval", "vlmevalkit"] = "lmms-eval",
    data: Path | None = None,
) -> Benchmark:
    data_file = find(data, "vstar", ("test_questions.jsonl", "VStarBench.tsv"), FILES_PUBLISHED)
    table, file = choice_sets.table_of(data_file)
    form = "{question}" if ask == "rank" else PROMPTS[prompt]
    scorings = choice_sets.scorings(RULES)
    return Benchmark(
        name="vstar",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: choice_sets.message(sample, form),
        scorings=scorings,
        max_answer_tokens=2048 if prompt == "vlmevalkit" else 16,
        # A quarter of the bundled rows have the answer A, the first of equally likely choices.
        check=choice_sets.check(scorings, silent={"official": 0.25}, official=0.25, lmms_eval=0.25),
        procedure=Procedure(kind=ask),
        presentation=Presentation(
            break_down_by=("category",),
            capabilities=Capabilities(
                tag="category", leaves=LEAVES, source="https://arxiv.org/abs/2312.14135, section 4"
            ),
        ),
        interop=Interop(files=file),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    tags = ("category",)
    if "text" not in row:
        sample = choice_sets.sample_of(row, data_file, tags=tags)
        return replace(sample, data={**sample.data, "rest": ""})
    # The text goes on after the last choice: "(D) red\nAnswer with the option's letter ...".
    *before, last = OPTION.findall(row["text"]) or [""]
    if not last:
        raise ValueError("no choices such as (A) red in the field text")
    last, _, rest = last.partition("\n")
    sample = choice_sets.sample_of(
        row,
        data_file,
        tags=tags,
        question=row["text"].split("(A)")[0].strip(),
        choices=[choice.strip() for choice in (*before, last)],
        letter=row["label"],
    )
    return replace(sample, data={**sample.data, "rest": f"{rest}\n" if rest else ""})


def lmms_answer(reply: Reply, _: Sample) -> Reading:
    text = reply.text.strip().upper()
    for form in FORMS:
        if match := re.search(form, text):
            return Reading(answer=match[1], rule=form)
    letters = re.findall("[A-D]", text)
    only = letters[0] if len(letters) == 1 else None
    return Reading(answer=only, rule="only letter" if only else "no letter or several")


def likeliest(reply: Reply, sample: Sample) -> Reading:
    losses = [-choice.logprob / choice.tokens for choice in reply.choices]
    if not losses:
        return Reading(answer=None, rule="not ranked")
    return Reading(answer="ABCDEFGH"[losses.index(min(losses))], rule="smallest loss by token")


RULES = {
    "lmms-eval": choice_sets.rule(
        f"{pins.LMMS_EVAL}:lmms_eval/tasks/vstar_bench/utils.py#L44-L72", lmms_answer
    ),
    "official": replace(
        choice_sets.rule(f"{AUTHORS}:vstar_bench_eval.py#L117-L165", likeliest), reads="rank"
    ),
}
