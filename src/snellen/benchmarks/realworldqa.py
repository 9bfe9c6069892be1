"""RealWorldQA: 765 questions about photographs, many of them taken from vehicles.

Paper    xAI 2024, Grok-1.5 Vision Preview, https://x.ai/blog/grok-1.5v. There is no paper.
Data     The authors publish annotations.json with images/ (realworldqa.zip), and the same rows as
         parquet, xai-org/RealworldQA on the Hugging Face hub, under CC BY-ND 4.0. The choices and
         an instruction are in the question's text. Some questions have no choices, and a word or
         number as the right answer.
         VLMEvalKit's RealWorldQA.tsv has the choices in columns.
         The id is the row's position or, in a TSV, its index.
Prompt   `official`: the question as the authors publish it, with the choices and their instruction.
         For rows with choices in columns, this text is put together.
         `vlmevalkit`: see families/choice_sets.py. Questions without choices are sent as they are.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/realworldqa/utils.py#L13-L24, which strips the authors' question. 16 tokens
         (realworldqa.yaml#L14). The others are limited to 2,048.
Scoring  The authors published no scorer.
         `lmms-eval`: lmms_eval/tasks/realworldqa/utils.py#L34-L51. If the right answer is A, B, C,
         or D, lmms-eval's shared rule finds the letter. Otherwise, the reply must be the right
         answer, in any case. Blanks around the reply and periods at its end are ignored.
         `vlmevalkit`: VLMEvalKit's rules without its judge. A question without choices is wrong.
         `robust`: the letter, word, or number that the reply settles on.
         The scoring with the name of the prompt is the headline. With official, it is lmms-eval.
Proof    `lmms-eval` equals lmms-eval's code on 720 generated replies (tests/parity/
         test_choice_rules.py), and `vlmevalkit` equals VLMEvalKit's on 3,000 (tests/parity,
         mcq_parsing). No model outputs are published.
"""

from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

from snellen.answers.others import lmms_eval_letter
from snellen.benchmarks.families import choice_sets, pins, tasks
from snellen.core import Benchmark, Interop, Reading, Reply, Sample, Scoring
from snellen.data import DataFile, Row, find
from snellen.data.published import File

LMMS_EVAL = f"{pins.LMMS_EVAL}:lmms_eval/tasks/realworldqa/utils.py#L34-L51"
KIND = "mixed"
LANGUAGES = ("en",)
LICENSE = "CC-BY-ND-4.0"
PROOF = "toolkit's code"
SIZE = 765
ALIASES = {"RealWorldQA": {"prompt": "vlmevalkit"}}
INSTRUCTION = "Please answer directly with only the letter of the correct option and nothing else."
MARK = r"\n\s*{letter}\. "
"""The pattern of the mark before a choice in a question's text."""
OPEN = tasks.scorings("vqa")["robust"]

Preset = Literal["official", "vlmevalkit", "lmms-eval"]
PROMPTS = {
    "official": "{full}",
    "vlmevalkit": choice_sets.PROMPTS["vlmevalkit"],
    "lmms-eval": "{bare}",
}


def realworldqa(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    names = ["annotations.json", "RealWorldQA.tsv"]
    data_file = find(data, "realworldqa", names, published())
    table, file = choice_sets.table_of(data_file)
    rules = scorings()
    return Benchmark(
        name="realworldqa",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: choice_sets.message(
            sample, PROMPTS[prompt] if sample.choices or prompt == "lmms-eval" else "{full}"
        ),
        scorings=choice_sets.headline(rules, prompt),
        max_answer_tokens=16 if prompt == "lmms-eval" else 2048,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=replace(
            # "A B C D" is A, the right answer of two of the eight bundled rows. Two other rows have
            # no choices.
            choice_sets.check(rules, oracle={"vlmevalkit": 6 / 8}, lmms_eval=2 / 8),
            wrong=lambda sample: (
                tasks.wrong_letter(sample) if sample.choices else "nothing of the kind"
            ),
        ),
        presentation=choice_sets.presentation(
            {"": "perception/spatial"}, "https://x.ai/blog/grok-1.5v, Real-World Understanding"
        ),
        interop=Interop(files=file),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name."""
    robust = replace(
        choice_sets.scorings()["robust"],
        parse=lambda reply, sample: (tasks.parse_letter if sample.choices else OPEN.parse)(
            reply, sample
        ),
        score=lambda reading, sample: (tasks.is_target if sample.choices else OPEN.score)(
            reading, sample
        ),
    )
    lmms = replace(choice_sets.rule(LMMS_EVAL, lmms_answer), score=lmms_score)
    return choice_sets.scorings({"lmms-eval": lmms, "robust": robust})


def published(**_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file. For the authors' files, no digest is published."""
    return (choice_sets.sheet("RealWorldQA"),)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    """Make a sample. The choices are in columns or in the question's text, or there are none."""
    text, choices = row["question"], choice_sets.lettered_cells(row)
    stem, full = text, f"{text.strip()}\n\n{choice_sets.choice_lines(choices)}{INSTRUCTION}"
    if not choices:
        stem, choices = choice_sets.split_choices(text, MARK)
        choices, full = tuple(choice.split("\n")[0] for choice in choices), text
        if row["answer"].strip() not in [*ascii_uppercase[: len(choices)]]:
            stem, choices = text, ()
    if isinstance(row["image"], str):
        row = Row({**row, "image": f"images/{row['image']}"}, row.position, row.digest)
    # The answer to a question without choices is a text.
    letter = None if choices else ""
    sample = choice_sets.sample_of(row, data_file, choices=choices, question=stem, letter=letter)
    target = sample.target if choices else row["answer"].strip() or None
    return replace(sample, target=target, data={**sample.data, "full": full, "bare": full.strip()})


def lmms_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter, or the whole reply if the right answer is not A, B, C, or D."""
    if (sample.target or "").upper() in ("A", "B", "C", "D"):
        return tasks.as_reading(lmms_eval_letter(reply.text, "ABCD"))
    answer = reply.text.strip().lower().rstrip(".")
    return Reading(answer=answer or None, rule="whole reply")


def lmms_score(reading: Reading, sample: Sample) -> float:
    target = sample.target or ""
    letter = target.upper() in ("A", "B", "C", "D")
    return float(reading.answer == (target.upper() if letter else target.lower()))
