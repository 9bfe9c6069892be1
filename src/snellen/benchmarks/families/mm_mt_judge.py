"""The judge of MM-MT-Bench: its two prompts, its rating, and the averages of ratings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from snellen import stats
from snellen.benchmarks.families.judged import judged, prompts
from snellen.core import Judge, Reading, Reply, Sample, Scoring
from snellen.media.content import Message, system, user
from snellen.metrics import Columns, Metric, mean
from snellen.stats import Estimate
from snellen.text.literals import literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

JUDGE = "gpt-4o-2024-05-13"
RATING = re.compile(r"\[\[(\d+\.?\d*)\]\]")
TAGS = ("category", "turn")
Pairs = Iterator[tuple[str, str]]
"""Questions with their reference answers, as the judge reads them."""


def shown(sample: Sample) -> list[Any]:
    """The messages of a conversation, up to the reference answer to the sample's question."""
    messages: Any = sample.data["messages"]
    return list(messages)


def text_of(message: Any) -> str:
    """The text of a message, without its pictures."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(chunk["text"] for chunk in content if chunk["type"] == "text")


def as_printed(sample: Sample) -> Pairs:
    """The names of the fields of each question, and the reference answers as Python prints them:
    whole messages, and of the last one, its content."""
    *messages, last = shown(sample)
    for question, reference in zip(messages[::2], [*messages[1::2], last["content"]], strict=True):
        yield "".join(question), str(reference)


def as_texts(sample: Sample) -> Pairs:
    texts = [*map(text_of, shown(sample))]
    yield from zip(texts[::2], texts[1::2], strict=True)


def rated(source: str, pairs: Callable[[Sample], Pairs], on_request: bool = False) -> Scoring:
    """A scoring whose judge reads the conversation as these pairs."""

    def prompt(sample: Sample, reply: Reply) -> tuple[Message, ...]:
        words = prompts("mm_mt_bench")
        turn_texts = (words["turn"].format(question=q, reference=r) for q, r in pairs(sample))
        text = words["conversation"].format(turns="".join(turn_texts), answer=reply.text)
        return system(words["system"]), user(text)

    judge = Judge(
        name=JUDGE,
        authors_model=JUDGE,
        prompt=prompt,
        parse=rating,
        when=lambda _: True,
        max_answer_tokens=2048,
        on_request=on_request,
    )
    metrics = {
        "micro_average_score": Metric(micro_average, better="higher", unit="points"),
        "macro_average_score": Metric(macro_average, better="higher", unit="points"),
    }
    return judged(
        source,
        judge,
        lambda reading, _: float(str(reading.answer)),
        metrics,
        best=10.0,
        partial=True,
    )


def rating(words: str, _: Sample) -> Reading:
    """Parse the first number in double brackets. Python must be able to read the number: 05 is not
    a number, as in the authors' code."""
    match = RATING.search(words)
    try:
        number = float(str(literal(match[1]))) if match else math.nan
    except ValueError:
        number = math.nan
    return Reading(answer=number if math.isfinite(number) else None, rule="double brackets")


def micro_average(columns: Columns) -> Estimate:
    return replace(mean(columns), unit="points")


def macro_average(columns: Columns) -> Estimate:
    """The mean of the means of all categories and of all turns."""
    import numpy as np

    if columns.score is None or not columns.n:
        return Estimate(value=None, unit="points", n=0, reason="no scores")
    weight = np.ones(columns.n) if columns.weight is None else columns.weight
    codes = [columns.tags[tag].codes for tag in TAGS]
    member = np.concatenate([code[:, None] == np.unique(code) for code in codes], axis=1)
    rows = np.concatenate(
        [member * (weight * columns.score)[:, None], member * weight[:, None]], axis=1
    )
    clusters, cluster = np.unique(columns.cluster, return_inverse=True)
    sums = np.zeros((len(clusters), rows.shape[1]))
    np.add.at(sums, cluster, rows)

    def average(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        of_scores, of_weights = np.split(totals, 2, axis=1)
        means: NDArray[np.float64] = (of_scores / of_weights).mean(axis=1)
        return means

    return stats.bootstrap_sums(sums, average, n=columns.n, unit="points", clusters=clusters)
