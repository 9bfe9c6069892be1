"""MMStar: 1,500 questions on six capabilities, chosen because they need the picture.

Paper    Chen et al. 2024, Are We on the Right Way for Evaluating Large Vision-Language Models?,
         https://arxiv.org/abs/2403.20330 (NeurIPS).
Data     Lin-Chen/MMStar on the Hugging Face hub: MMStar.tsv, or the parquet file of the split val,
         in which the question has its choices in its text. VLMEvalKit's MMStar.tsv has the choices
         in columns. Both have 250 questions for each capability. No license is stated.
Prompt   `official`: MMStar-Benchmark/MMStar@88f243ab4a39cb339530085c33aecb22819881a1:eval/vlmeval/
         vlm/llava_next.py#L64-L92, for a question with its choices in its text. Replies are limited
         to 32 tokens (eval/README.md#L50).
         `vlmevalkit`: see families/choice_sets.py. 2,048 tokens (vlmeval/api/gpt.py#L93).
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/mmstar/utils.py#L63-L71. The instruction ends without a period. 1,024 tokens.
Scoring  `official`: eval/vlmeval/evaluate/mmstar.py#L41-L81. The answer is the letter at the
         beginning of the reply, which may follow "(", "option ", or "the answer is ". Case is
         ignored, and the letter may begin a word: "A dog" is A. Missing questions are wrong.
         `vlmevalkit`: VLMEvalKit's rules without its judge.
         `lmms-eval`: lmms_eval/tasks/mmstar/utils.py#L74-L146. The figure is the mean over the 18
         axes, which have different sizes.
         `robust`: the letter that the reply settles on.
         The scoring with the name of the prompt is the headline.
Proof    `official` and `vlmevalkit` equal the authors' and VLMEvalKit's code on 3,000 generated
         replies (tests/parity, mcq_parsing), and `lmms-eval` equals lmms-eval's code on 720
         (tests/parity/test_choice_rules.py). No model outputs are published.
"""

from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

from snellen.answers.choice import Letter
from snellen.answers.others import LMMS_EVAL, MMSTAR, lmms_eval_letter, mmstar_letter
from snellen.benchmarks.families import choice_sets
from snellen.core import Benchmark, Interop, Sample, Scoring
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.metrics import Metric, macro_average

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 1500
ALIASES = {"MMStar": {"prompt": "vlmevalkit"}}
LEAVES = {
    "image scene and topic": "perception/scene",
    "object counting": "perception/counting",
    "recognition": "perception/object",
    "code & sequence reasoning": "reasoning/logic",
    "diagram reasoning": "OCR/table",
    "common reasoning": "reasoning/commonsense",
    **dict.fromkeys(("localization", "cross-instance relation reasoning"), "perception/spatial"),
    **dict.fromkeys(("image style & quality", "image emotion"), "perception/attribute"),
    "single-instance reasoning": "perception/attribute",
    "cross-instance attribute reasoning": "perception/attribute",
    "biology & chemistry & physics": "knowledge/domain",
    "electronics & energy & mechanical eng.": "knowledge/domain",
    "geography & earth science & agriculture": "knowledge/domain",
    **dict.fromkeys(("geometry", "statistical reasoning"), "reasoning/mathematical"),
    "numeric commonsense and calculation": "reasoning/mathematical",
}
"""The capability of each of the authors' 18 axes (eval/vlmeval/evaluate/mmstar.py#L6-L37)."""
MARKS = (r"(?:\n?Options:\s*|,\s*){letter}: ", r"(?:\n?Choices:\s*|\n)\({letter}\) ")
"""The patterns of the choices in a question's text."""

Preset = Literal["official", "vlmevalkit", "lmms-eval"]
PROMPTS = {
    "official": "{listed}\nAnswer the question directly.",
    "vlmevalkit": choice_sets.PROMPTS["vlmevalkit"],
    "lmms-eval": "{bare}\nAnswer with the option's letter from the given choices directly",
}
TOKENS = {"official": 32, "vlmevalkit": 2048, "lmms-eval": 1024}


def mmstar(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    data_file = find(data, "mmstar", ["MMStar.tsv", "mmstar.parquet"], published())
    table, file = choice_sets.table_of(data_file)
    rules = scorings()
    return Benchmark(
        name="mmstar",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: choice_sets.message(sample, PROMPTS[prompt]),
        scorings=choice_sets.headline(rules, prompt),
        max_answer_tokens=TOKENS[prompt],
        cluster_by=lambda sample: str(sample.data["image"]),
        # "A B C D" begins with A, the right answer of two of the eight bundled rows, which are of
        # eight axes.
        check=choice_sets.check(rules, official=2 / 8, lmms_eval=2 / 8),
        presentation=choice_sets.presentation(
            LEAVES,
            "https://arxiv.org/abs/2403.20330, fig. 4",
            "l2_category",
            by=("category", "l2_category"),
        ),
        interop=Interop(files=file),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name."""
    axes = {"average": Metric(macro_average("l2_category"), better="higher")}
    return choice_sets.scorings(
        {
            "official": choice_sets.rule(MMSTAR, choice_sets.parser(mmstar_letter)),
            "lmms-eval": choice_sets.rule(LMMS_EVAL, choice_sets.parser(lmms_letter), axes),
        }
    )


def lmms_letter(text: str, _: object) -> Letter:
    """The letter that lmms-eval finds. It always looks for A to D, even if there are fewer
    choices."""
    return lmms_eval_letter(text, "ABCD")


def published(**_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file. For the authors' TSV file, no digest is published."""
    return (choice_sets.sheet("MMStar"),)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    """Make a sample. The choices are in columns or in the question's text. If they cannot be read
    there, letters stand for them: A to D, or up to the right one."""
    text, choices = row["question"], choice_sets.lettered_cells(row)
    pairs = zip(ascii_uppercase, choices, strict=False)
    stem, listed = text, f"{text}\nOptions: {', '.join(map(': '.join, pairs))}"
    if not choices:
        right = ascii_uppercase.find(row["answer"].strip() or "?")
        split = (choice_sets.split_choices(text, mark) for mark in MARKS)
        unreadable = (text, tuple(ascii_uppercase[: max(4, right + 1)]))
        stem, choices = next(
            (parts for parts in split if parts[1] and len(parts[1]) > right), unreadable
        )
        listed = text
    tags = ("category", "l2_category")
    sample = choice_sets.sample_of(row, data_file, tags=tags, choices=choices, question=stem)
    bare = listed.strip().replace(" Please answer yes or no.", "")
    return replace(sample, data={**sample.data, "listed": listed, "bare": bare})
