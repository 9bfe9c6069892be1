"""Verdicts that also state how confident a reply is, and the calibration error of such replies.

They are those of Humanity's Last Exam, whose calibration error comes from Hendrycks et al. 2019,
https://arxiv.org/abs/1812.04606.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from snellen import stats
from snellen.core import Reading, Sample
from snellen.metrics import Columns, metric
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BIN = 100
"""The number of replies in a bin of the calibration error."""
MOST = 10**6
"""The bound of a confidence, which keeps means finite."""
LINES = re.compile(
    r"^\W*(correct|confidence)\W*:\W*(yes\b|no\b|\d{1,3}(?![\d.]*\d))", re.IGNORECASE | re.MULTILINE
)


class Verdict(msgspec.Struct, frozen=True):
    """A verdict in the form that HLE's authors request, centerforaisafety/hle@67b325111a0c3678eeb56
    3eb30f98344f06846ad:hle_eval/run_judge_results.py#L35-L40."""

    extracted_final_answer: str
    """The answer that the judge found in the reply."""
    reasoning: str
    """The reason of the verdict."""
    correct: Literal["yes", "no"]
    """Whether the reply is right."""
    confidence: Annotated[int, msgspec.Meta(ge=-MOST, le=MOST)]
    """The confidence that the reply states, in percent. The authors set no bounds."""
    strict: Any
    """Always true."""


def verdict(words: str, _: Sample) -> Reading:
    """Parse whether the reply is right, and the confidence that it states, in percent."""
    if words.lstrip().startswith("{"):
        try:
            content = msgspec.json.decode(words, type=Verdict, strict=False)
        except msgspec.DecodeError:
            return Reading(answer=None, rule="not the authors' form")
        answer = (content.correct, str(content.confidence)) if content.strict == 1 else None
        return Reading(answer=answer, rule="JSON")
    fields = {(name.lower(), value.lower()) for name, value in LINES.findall(words)}
    values = dict(sorted(fields))
    complete = len(fields) == 2 and values.get("correct") in ("yes", "no")
    if not complete or not values.get("confidence", "").isdigit():
        return Reading(answer=None, rule="not two lines with a verdict and a confidence")
    return Reading(answer=(values["correct"], values["confidence"]), rule="lines")


def score(reading: Reading, _: Sample) -> float:
    return float(isinstance(reading.answer, tuple) and reading.answer[0] == "yes")


def written(correct: object, confidence: object, answer: object = "", reason: object = "") -> str:
    """Write a verdict in the authors' form."""
    fields = {"extracted_final_answer": answer, "reasoning": reason}
    return json.dumps({**fields, "correct": correct, "confidence": confidence, "strict": True})


@metric(better="lower", unit="fraction")
def calibration_error(columns: Columns) -> Estimate:
    """The root mean square difference between mean confidence and accuracy, in bins of 100 replies
    in the order of confidence. The last bin is left out, as in the authors' code."""
    import numpy as np

    if columns.score is None or columns.n < 2 * BIN:
        reason = f"{columns.n} replies: the authors' bins need at least {2 * BIN}"
        return Estimate(value=None, n=columns.n, reason=reason)
    right = columns.score
    confidence = np.array([float(percent) for _, percent in columns.answer]) / 100

    def error(rows: NDArray[np.intp]) -> float:
        used = len(rows) // BIN * BIN - BIN
        in_order = rows[np.argsort(confidence[rows], kind="stable")[:used]].reshape(-1, BIN)
        gaps = confidence[in_order].mean(axis=1) - right[in_order].mean(axis=1)
        return float(np.sqrt((gaps**2).sum() * BIN / len(rows)))

    return stats.bootstrap(error, columns.cluster)
