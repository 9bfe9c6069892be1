"""MLVU's two tasks with free answers, which GPT-4 grades: descriptions of scenes, and summaries.

JUNJIE99/MLVU@fd060c10a43ea48a35100a22688a927b8e531199:evaluation/generation_evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

from snellen.benchmarks.families.judged import judged, prompts
from snellen.core import Judge, Reading, Reply, Sample, Scoring
from snellen.media.content import Message, system, user
from snellen.metrics import Columns, Metric, mean
from snellen.stats import Estimate

Task = Literal["sub_scene", "summary"]
AUTHORS = "JUNJIE99/MLVU@fd060c10a43ea48a35100a22688a927b8e531199:evaluation/generation_evaluation"
SOURCES: Mapping[Task, str] = {
    "sub_scene": f"{AUTHORS}/evaluate_ssc.py#L30-L104 and calculate.py#L8-L61",
    "summary": f"{AUTHORS}/evaluate_summary.py#L21-L94 and calculate_sum.py#L7-L60",
}
PARTS: Mapping[Task, tuple[str, str]] = {
    "sub_scene": ("accuracy", "relevance"),
    "summary": ("completeness", "reliability"),
}
ASK = (
    "Carefully watch this video and pay attention to every detail. Based on your observations, "
    "answer the given questions.\n"
)
BEST = 10.0


def scorings(task: Task) -> dict[str, Scoring]:
    """The authors' judge. The score of a reply is the sum of two grades from 1 to 5."""
    judge = Judge(
        name="gpt-4-turbo",
        authors_model="gpt-4-turbo",
        prompt=lambda sample, reply: messages(sample, reply, task),
        parse=lambda words, _: grades(words, PARTS[task]),
        when=lambda _: True,
        max_answer_tokens=2048,
    )
    metrics = {
        "total": Metric(mean, better="higher", unit="points"),
        **{name: part_mean(index) for index, name in enumerate(PARTS[task])},
    }
    return {"official": judged(SOURCES[task], judge, total, metrics, best=BEST, partial=True)}


def messages(sample: Sample, reply: Reply, task: Task) -> tuple[Message, ...]:
    texts = prompts("mlvu")
    filled = texts[task].format(
        question=sample.question.replace("\n", ""),
        answer=sample.target,
        points=sample.data["points"],
        reply=reply.text,
    )
    return system(texts[f"{task}_system"]), user(filled)


def grades(words: str, names: tuple[str, str]) -> Reading:
    """Read the numbers after the first `score_NAME`: from the second character after the colon to
    the next comma, as calculate.py#L8-L26 does."""
    values = []
    for name in names:
        key = words.find(f"score_{name}")
        start = words.find(":", key) + 2
        try:
            value = float(words[start : words.find(",", start)]) if key >= 0 else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            return Reading(answer=None, rule="not of the requested form")
        values.append(str(value))
    return Reading(answer=tuple(values), rule="grades")


def total(reading: Reading, _: Sample) -> float:
    return sum(map(float, reading.answer)) if isinstance(reading.answer, tuple) else 0.0


def part_mean(index: int) -> Metric:
    """The mean of one of the two grades."""

    def compute(columns: Columns) -> Estimate:
        import numpy as np

        values = [float(answer[index]) if answer else 0.0 for answer in columns.answer]
        return mean(replace(columns, score=np.array(values, dtype=np.float64)))

    return Metric(compute, better="higher", unit="points")


def perfect_verdict(task: Task) -> Callable[[Sample, Reply], str]:
    first, second = PARTS[task]

    def verdict(sample: Sample, reply: Reply) -> str:
        grade = 5 if reply.text == sample.target else 1
        keys = (f"score_{first}", f"score_{second}", "total_score")
        return str(dict(zip(keys, (grade, grade, 2 * grade), strict=True)))

    return verdict
