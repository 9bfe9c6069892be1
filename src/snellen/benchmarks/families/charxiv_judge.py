"""CharXiv's questions with their instructions, the prompts of its judge, and the judge's verdicts.

Source   princeton-nlp/CharXiv@7ebe88f78dee387691551f071abcb2b9e1a8025b:src/descriptive_utils.py,
         src/reasoning_utils.py. The texts are in prompts/charxiv.toml.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from snellen import stats
from snellen.benchmarks.families.judged import prompts
from snellen.core import JudgeBatches, Reading, Reply, Sample
from snellen.media.content import Message, user
from snellen.metrics import Columns, metric
from snellen.stats import Estimate

# descriptive_utils.py#L5-L22
RULES = {
    1: "title",
    **dict.fromkeys((2, 3, 4, 5, 6, 7), "ocr"),
    **dict.fromkeys((8, 9, 10, 12, 14, 15, 17, 19), "quant"),
    11: "bool",
    13: "enum",
    16: "trend",
    18: "layout",
}
"""The kind of rules by which the judge scores the replies to each template."""
INVALID = -1.0
"""The answer for a score that is neither 0 nor 1."""


def question(sample: Sample) -> str:
    """The question with the authors' instructions."""
    texts, qid, kind = prompts("charxiv"), sample.data["qid"], sample.data["inst_category"]
    if qid is None:
        words: str = texts["reasoning_questions"][str(kind)]
        return words.format(sample.question, decimals(sample.target or "") if kind == 4 else "")
    words = texts["descriptive_questions"][str(qid)]
    subplot: Any = sample.data["subplot_loc"]
    if not isinstance(subplot, str):
        row, column = subplot
        subplot = f"the subplot at row {row} and column {column}" if row else "the current plot"
    # The templates 18 and 19 have no field for the subplot.
    return words.format(f"For {subplot}, ")


def decimals(answer: str) -> str:
    """The instruction on a number: its decimals are what follows the first period, up to the second
    (reasoning_utils.py#L49-L60)."""
    parts = answer.split(".")
    form = f"a number with {len(parts[1])} decimal places" if parts[1:] else "an exact integer"
    return f"* Your final answer must be {form}."


def judge_prompt(sample: Sample, reply: Reply) -> str:
    """The prompt about a single reply. The texts replace their fields in this order, so a field's
    name in the question is replaced, too, but not one in the reply."""
    if sample.data["qid"] is not None:
        return batch_prompt([(sample, reply)])
    texts = prompts("charxiv")
    rules: str = texts["reasoning_rules"][str(sample.data["inst_category"])]
    fields = {"question": sample.question, "ground_truth": sample.target, "response": reply.text}
    for name, text in fields.items():
        rules = rules.replace(f"<|{name}|>", text or "")
    return f"{texts['prefixes']['reasoning']}{rules}"


def batch_prompt(pairs: Sequence[tuple[Sample, Reply]]) -> str:
    """The prompt about replies to questions of one template."""
    texts, sample = prompts("charxiv"), pairs[0][0]
    numbers = range(1, len(pairs) + 1)
    keys = [key for n in numbers for key in (f"extract_answer_T{n}", f"score_T{n}")]
    prefix: str = texts["prefixes"]["descriptive"]
    for name, text in (
        ("NUM_TRIPLETS", f"{len(pairs)}"),
        ("OVERARCHING_QUESTION", sample.question),
        ("JSON_KEYS", f"{keys}"),
    ):
        prefix = prefix.replace(f"<|{name}|>", text)
    replies = "".join(
        f"T{n}:\nResponse {n}: {reply.text}\nGround Truth {n}: {sample.target}\n\n"
        for n, (sample, reply) in zip(numbers, pairs, strict=True)
    )
    qid: Any = sample.data["qid"]
    return f"{prefix}{texts['descriptive_rules'][RULES[qid]]}{replies}"


def messages(pairs: Sequence[tuple[Sample, Reply]]) -> tuple[Message, ...]:
    return (user(batch_prompt(pairs)),)


def json_object(words: str) -> dict[str, Any]:
    """The JSON object that is the judge's text; empty if the text is anything else."""
    try:
        content = json.loads(words)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def verdict(words: str, _: Sample) -> Reading:
    """Parse a verdict on one reply. A score that is neither 0 nor 1 is valid JSON, and counts as
    invalid."""
    content = json_object(words)
    if not {"extracted_answer", "score"} <= content.keys():
        return Reading(answer=None, rule="not of the form requested")
    score = content["score"]
    return Reading(answer=float(score) if score in (0, 1) else INVALID, rule="score")


def split(words: str, n: int) -> list[str]:
    """Split a verdict on several replies. Each score must be 0 or 1 (descriptive_utils.py
    #L83-L89)."""
    content = json_object(words)
    parts = [
        {"extracted_answer": content.get(f"extract_answer_T{number}"), "score": score}
        for number in range(1, n + 1)
        if f"extract_answer_T{number}" in content
        and (score := content.get(f"score_T{number}")) in (0, 1)
    ]
    return [json.dumps(part) for part in parts] if len(parts) == n else []


def join(verdicts: Sequence[str]) -> str:
    joined = {}
    for number, part in enumerate(map(json_object, verdicts), 1):
        joined[f"extract_answer_T{number}"] = part["extracted_answer"]
        joined[f"score_T{number}"] = part["score"]
    return json.dumps(joined)


BATCHES = JudgeBatches(
    by=lambda sample: str(sample.data["batch"]), prompt=messages, split=split, join=join
)
SINGLY = replace(BATCHES, by=lambda sample: sample.id)
"""The prompt for several replies, about each reply alone."""


def perfect_verdict(sample: Sample, reply: Reply) -> str:
    score = int(reply.text == sample.target)
    return json.dumps({"extracted_answer": reply.text, "score": score})


@metric(better="lower", unit="fraction")
def invalid(columns: Columns) -> Estimate:
    """The share of verdicts whose score is neither 0 nor 1, which count as 0. In [0, 1]."""
    import numpy as np

    is_invalid = (columns.answer == INVALID).astype(np.float64)
    return stats.mean(is_invalid, columns.cluster, columns.weight)
