"""MMVU's judge and its authors' prompts.

yale-nlp/MMVU@4d54223d912f498707c105ab645a921abce6e39a:utils/eval_utils.py and utils/constant.py.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from snellen.benchmarks.families.judged import judged, prompts
from snellen.core import Judge, Reading, Reply, Sample, Scoring
from snellen.media.content import Message, system, user
from snellen.metrics import mean

SOURCE = "yale-nlp/MMVU@4d54223d912f498707c105ab645a921abce6e39a:utils/eval_utils.py#L8-L99"
VERDICTS = ("correct", "incorrect")

Preset = Literal["cot", "direct"]


def scoring(**settings: Any) -> Scoring:
    """The scoring by the authors' judge, which returns JSON with `extracted_answer` and `correct`.
    `settings` are further fields of `Judge`."""
    judge = Judge(
        name="gpt-4o",
        authors_model="gpt-4o",
        prompt=messages,
        parse=lambda words, _: verdict(words),
        when=lambda _: True,
        max_answer_tokens=128,
        temperature=1.0,
        perfect=perfect_verdict,
        **settings,
    )
    return judged(
        SOURCE,
        judge,
        lambda reading, _: float(reading.answer == VERDICTS[0]),
        {"accuracy": mean},
        missing="wrong",
    )


def kind_of(sample: Sample) -> str:
    return "choice" if sample.choices else "open"


def listed(sample: Sample) -> str:
    pairs = zip("ABCDE", sample.choices, strict=False)
    return "\n".join(f"{letter}: {choice}" for letter, choice in pairs)


def question_text(sample: Sample, preset: Preset) -> str:
    text: str = prompts("mmvu")[f"{preset}_{kind_of(sample)}"]
    return text.format(question=sample.question, choices=listed(sample))


def messages(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    options = f"\n\nOptions:\n{listed(sample)}" if sample.choices else ""
    text = (
        f"Question: {sample.question}{options}\n\nGround Truth Answer: {sample.target}\n\n"
        f"Model Response to the Question: {reply.text}"
    )
    return system(prompts("mmvu")[f"judge_{kind_of(sample)}"]), user(text)


def verdict(words: str) -> Reading:
    try:
        value = json.loads(words)
    except (ValueError, RecursionError):
        value = None
    if (
        not isinstance(value, dict)
        or not isinstance(value.get("extracted_answer"), str)
        or not isinstance(value.get("correct"), bool)
    ):
        return Reading(answer=None, rule="not of the requested form")
    return Reading(answer=VERDICTS[not value["correct"]], rule="verdict")


def perfect_verdict(sample: Sample, reply: Reply) -> str:
    return json.dumps({"extracted_answer": reply.text, "correct": reply.text == sample.target})
