"""VisuLogic: visual puzzles whose four choices are in the picture.

Paper    Xu et al. 2025, VisuLogic: A Benchmark for Evaluating Visual Reasoning in Multi-modal Large
         Language Models, https://arxiv.org/abs/2504.15279.
Data     VisuLogic/VisuLogic on the Hugging Face hub, under Apache-2.0: data.jsonl with 1,000
         questions, and images.zip. VLMEvalKit's VisuLogic.tsv has the pictures in the rows.
Prompt   The picture comes first.
         `official`: VisuLogic-Benchmark/VisuLogic-Eval@f54d3c2ee93996e42ef587f429260e33e58c3d69:
         models/prompts.py#L1, after a line break (models/openai_api.py#L55). Replies are limited to
         8,192 tokens (models/qwenvl_model.py).
         `vlmevalkit`, nearly the same text: open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/image_mcq.py#L1872-L1895.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
         lmms_eval/tasks/visulogic/_default_template_yaml. Replies are limited to 64 tokens.
Scoring  `official`: VisuLogic-Benchmark/VisuLogic-Eval@00fba6ddafdc0d6805a4b9455c8df36502aeda2a:
         evaluation/eval_model.py#L36-L129. The answer is the letter in the last \\boxed{}, or else
         the letter at an end of the reply or after a phrase such as "the answer is". A judge
         extracts the letter from any other reply (`snellen judge`).
         `vlmevalkit`: these rules without a judge, vlmeval/dataset/utils/visulogic.py#L9-L91. Other
         replies are wrong.
         `lmms-eval`: lmms_eval/tasks/visulogic/utils.py#L31-L46.
         `robust`: the letter that the reply settles on.
Proof    For 600 generated replies, the letters of `official`, `lmms-eval`, and `vlmevalkit` equal
         those of the others' code (tests/parity). No model outputs are published.
"""

import re
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

from snellen.benchmarks.families import choice_sets, pins, results
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.core import (
    UNMAPPED,
    Benchmark,
    Capabilities,
    Interop,
    Judge,
    Presentation,
    Reading,
    Reply,
    Sample,
)
from snellen.data import DataFile, Row, find
from snellen.media.content import Message, system, user

SCORER = (
    "VisuLogic-Benchmark/VisuLogic-Eval@00fba6ddafdc0d6805a4b9455c8df36502aeda2a:"
    "evaluation/eval_model.py"
)
KIND = "choice"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "Apache-2.0"
PROOF = "authors' code"
SIZE = 1000
ALIASES = {"VisuLogic": {"prompt": "vlmevalkit"}}
FILES_PUBLISHED = (own_sheet("VisuLogic", md5="b0820b5ec1e01dfe3951927f0def73b6"),)
LETTERS = ("A", "B", "C", "D")
KINDS = ("Quantitative", "Spatial", "Positional", "Attribute", "Stylistic")
LEAVES = {**{f"{kind} Reasoning": "reasoning/logic" for kind in KINDS}, "Other": UNMAPPED}
STEPS = "Solve the complex visual logical reasoning problem through step-by-step reasoning."
FORMAT = "Think about the reasoning process first and answer the question following this format: "
PROMPTS = {
    "official": f"\n{STEPS} {FORMAT}Answer: \\boxed{{$LETTER}}.",
    "vlmevalkit": f"\n{STEPS}{FORMAT}Answer: \\boxed{{$LETTER}}",
    "lmms-eval": "\nAnswer with the option letter only.",
}
PHRASES = (
    *("answer:", "the final answer is:", "the answer is option:", "the answer is:"),
    *("the correct answer is option:", "the correct answer is:", "the answer should be:"),
    *("the final answer is", "the answer is option", "the answer is"),
    *("the correct answer is option", "the correct answer is", "the answer should be"),
)
"""The phrases before a letter, in the order in which the authors' code tries them."""
LMMS_FORMS = (
    *(r"<answer>\s*\(?([A-D])\)?\s*</answer>", r"\\boxed\{\s*([A-D])\s*\}"),
    *(r"answer\s*(?:is|:|-)\s*\(?([A-D])\)?\b", r"option\s*([A-D])\b", r"\(([A-D])\)"),
)
JUDGE = "You are a helpful and precise assistant for extract the final option in the answer."
TO_JUDGE = (
    "Extract the option in the solution. Just answer only capital letters. If solution have multi "
    "options or has no clear option just answer None.\nSolution: {reply}\n"
)


def visulogic(
    prompt: Literal["official", "vlmevalkit", "lmms-eval"] = "official", data: Path | None = None
) -> Benchmark:
    data_file = find(data, "visulogic", ("data.jsonl", "VisuLogic.tsv"), FILES_PUBLISHED)
    table, file = choice_sets.table_of(data_file)
    return Benchmark(
        name="visulogic",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, f"{sample.question}{PROMPTS[prompt]}"),),
        scorings=choice_sets.scorings(RULES),
        max_answer_tokens=64 if prompt == "lmms-eval" else 8192,
        check=replace(choice_sets.check(choice_sets.scorings(RULES)), verdict=lambda *_: "None"),
        presentation=Presentation(
            break_down_by=("tag",),
            capabilities=Capabilities(tag="tag", leaves=LEAVES, source=f"{SCORER}#L27-L34"),
        ),
        interop=Interop(files=file, layout=results.by_row("id", "model_response", verdicts)),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    right = row["label"] if "label" in row else row["answer"]
    return Sample(
        id=choice_sets.id_of(row),
        question=row["question"],
        choices=LETTERS,
        media=choice_sets.pictures(row.get("image") or row["image_path"], data_file),
        target=choice_sets.target_of(right, ascii_uppercase),
        tags={"tag": row.get("tag") or row.get("category") or ""},
    )


# -- scoring


def authors_answer(reply: Reply, *, without_box: str | None = None) -> Reading:
    """Parse the letter in the last box, or else the letter that the reply states. `without_box` is
    the text that takes the place of a missing box."""
    box = last_box(reply.text)
    box = without_box if box is None else box
    if box is not None and box.strip() in LETTERS:
        return Reading(answer=box.strip(), rule="box")
    letter = stated_letter(reply.text.replace("<|endoftext|>", ""))
    return Reading(answer=letter, rule="stated" if letter else "no box and no statement")


def last_box(text: str) -> str | None:
    """The content of the last outermost box, without some LaTeX commands. None without a box. The
    full text if it has fewer than three characters, or if the content is more than a letter."""
    if len(text) < 3:
        return text
    starts: list[int] = []
    content = None
    # A brace right after another match, as in "}}" or "\\boxed{}", is not seen.
    for match in re.finditer(r"\\boxed\{|[^\\]\}", text):
        if match[0] == r"\boxed{":
            starts.append(match.end())
        elif starts:
            start = starts.pop()
            content = content if starts else text[start : match.start() + 1]
    for command in (r"\text{", r"\rm{", r"\mathbf{", "$", "}"):
        content = content and content.replace(command, "")
    if content and ("letter" in content.lower() or "or" in content or len(content) > 2):
        return text
    return content


def stated_letter(text: str) -> str | None:
    for letter in LETTERS:
        ends = (f" {letter}.", f" ({letter}).")
        begins = (f"{letter}\n", f"({letter})\n", f"({letter}) {letter}\n")
        if text == letter or text.endswith(ends) or text.startswith(begins):
            return letter
    rest = text.lower()
    for phrase in PHRASES:
        if phrase in rest:
            # The next phrase is sought only in the rest that this phrase leaves.
            rest = rest.rpartition(phrase)[2].strip().split("\n")[0].split(".")[0]
            if rest.upper() in LETTERS:
                return rest.upper()
    return None


def lmms_answer(reply: Reply, _: Sample) -> Reading:
    text = reply.text.strip()
    for form in LMMS_FORMS:
        if letters := re.findall(form, text, re.IGNORECASE):
            return Reading(answer=letters[-1].upper(), rule=f"last of {form}")
    letter = text[:1].upper()
    if len(text) <= 3 and letter in LETTERS:
        return Reading(answer=letter, rule="begins with")
    return Reading(answer=None, rule="no letter")


def judge_prompt(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    return (system(JUDGE), user(TO_JUDGE.format(reply=reply.text)))


def verdict(words: str, _: Sample) -> Reading:
    """Parse the judge's letter, in any case. N is no answer, which is wrong."""
    text = words.strip().split("\n")[0].split(".")[0]
    if not text:
        return Reading(answer=None, rule="nothing said")
    return Reading(answer="N" if "none" in text.lower() else text.upper(), rule="judge")


def verdicts(rows: results.Rows) -> dict[str, dict[str, list[str]]]:
    """The judge's letters in the authors' file of results."""
    judged = (row for row in rows if row.get("extractor") == "gpt")
    return {"official": {str(row["id"]): [str(row["extracted_answer"])] for row in judged}}


RULES = {
    "official": replace(
        choice_sets.rule(f"{SCORER}#L36-L129", lambda reply, _: authors_answer(reply)),
        judge=Judge(
            name="official",
            authors_model="gpt-4o-mini",  # the default of the argument --judge_model_name
            prompt=judge_prompt,
            parse=verdict,
            when=lambda reading: reading.answer is None,
            temperature=None,
        ),
    ),
    "vlmevalkit": choice_sets.rule(
        f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/visulogic.py#L9-L91",
        # An error in this version of the code is caught, and the full text counts as the box.
        lambda reply, _: authors_answer(reply, without_box=reply.text),
    ),
    "lmms-eval": choice_sets.rule(
        f"{pins.LMMS_EVAL}:lmms_eval/tasks/visulogic/utils.py#L31-L46", lmms_answer
    ),
}
