"""Groups samples into bins by general properties: the position of the right answer, the size and
number of the pictures, and the length of the question. The bins are the same for all benchmarks, so
that runs can be compared."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from string import ascii_uppercase
from typing import TYPE_CHECKING

import msgspec

from snellen import stats
from snellen.core.sample import Sample
from snellen.media.content import Image
from snellen.media.limits import DEFAULT_PIXELS
from snellen.scoring.columns import Column, Numbers
from snellen.scoring.document import SliceReport
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.rows import ScoredRows, share_of_best
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ANSWER_POSITION, SIZE, LENGTH, PICTURES = (
    "answer_place",
    "picture_size",
    "question_words",
    "pictures",
)
UNKNOWN = 0
"""The code of a sample that does not belong to any bin."""
MEGAPIXELS = (0.1, 0.3, 1.0, 3.0, 10.0)
WORDS = (3, 7, 15, 31, 63, 127)
"""For each bin of question lengths except the last, the maximum number of spaces between words. A
question with n words has n - 1 spaces."""
PER_SAMPLE = (0, 1, 2, 4, 8)
BINS: Mapping[str, tuple[str, ...]] = {
    ANSWER_POSITION: ("", *ascii_uppercase),
    SIZE: (
        "",
        f"up to {MEGAPIXELS[0]:g} MP",
        *(f"{a:g}-{b:g} MP" for a, b in pairwise(MEGAPIXELS)),
        f"over {MEGAPIXELS[-1]:g} MP",
    ),
    LENGTH: (
        *("", "1-4 words", "5-8 words", "9-16 words", "17-32 words", "33-64 words"),
        *("65-128 words", "over 128 words"),
    ),
    PICTURES: (
        *("", "no picture", "1 picture", "2 pictures", "3-4 pictures", "5-8 pictures"),
        "over 8 pictures",
    ),
}
"""Maps the name of each slice to its bins, in the order of their codes."""
FEWEST = 10
"""The minimum number of clusters that a bin must have to be tested."""
FEWEST_EXPECTED = 5
WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
"""Matches a word, or one character of a script that has no spaces between words."""


class SlicesSection:
    """Computes the mean score of each bin by the headline scoring. Only a few bytes are kept for
    each sample. The bins of all samples are computed together at the end."""

    def __init__(self, scorer: Scorer) -> None:
        self._positions, self._pictures = Numbers("B"), Numbers("i")
        self._pixels, self._blanks = Numbers("i"), Numbers("i")
        self.columns: Sequence[Column] = (
            *(self._positions, self._pictures),
            *(self._pixels, self._blanks),
        )
        # `collect` is called for hundreds of thousands of replies, so it avoids attribute lookups.
        self._add_position, self._add_pictures = self._positions.append, self._pictures.append
        self._add_pixels, self._add_blanks = self._pixels.append, self._blanks.append

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        sample = scored.sample
        question, media = sample.question, sample.media
        self._add_position(_position(sample) if sample.choices else UNKNOWN)
        self._add_pictures(len(media))
        self._add_pixels(_pixels(media) if media and media[0].digest else 0)
        self._add_blanks(
            question.count(" ") + question.count("\n")
            if question.isascii()
            else len(WORD.findall(question)) - 1
        )

    def summarize(self, draft: Draft) -> Part:
        if draft.scorer.headline is None:
            return NOTHING
        slices, p_values = {}, {}
        columns = self.codes()
        for name, codes in columns.items():
            bins = {
                BINS[name][code]: share_of_best(draft.headline_rows, codes == code, draft.best)
                for code in known(codes)
            }
            slices[name] = SliceReport(bins=bins)
            if (p := _p_value(draft.headline_rows, codes)) is not None:
                p_values[name] = p
        adjusted = stats.holm([*p_values.values()])
        for (name, p), holm in zip(p_values.items(), adjusted, strict=True):
            slices[name] = msgspec.structs.replace(slices[name], p=p, adjusted=holm)
        note = _position_note(draft, slices.get(ANSWER_POSITION), columns.get(ANSWER_POSITION))
        return {"slices": slices}, [note] if note else []

    def codes(self) -> dict[str, NDArray[np.uint8]]:
        """Compute the bin of each sample (n,) for each slice, by the name of the slice. Slices with
        a single bin are left out."""
        import numpy as np

        pixels = self._pixels.values
        sizes = 1 + np.searchsorted(np.array(MEGAPIXELS) * 1e6, pixels)
        columns = {
            ANSWER_POSITION: self._positions.values,
            SIZE: np.where(pixels > 0, sizes, UNKNOWN).astype(np.uint8),
            LENGTH: _bins(self._blanks.values, WORDS, 1),
            PICTURES: _bins(self._pictures.values, PER_SAMPLE, 1),
        }
        return {name: codes for name, codes in columns.items() if len(known(codes)) > 1}


def _p_value(by_judge: Sequence[ScoredRows], codes: NDArray[np.uint8]) -> float | None:
    """The highest p value over all judges, since a difference must be significant for each
    judge."""
    p_values = []
    for rows in by_judge:
        score, of = rows.columns.score, rows.in_mean
        p = None if score is None else difference_p(score[of], rows.columns.cluster[of], codes[of])
        if p is None:
            return None
        p_values.append(p)
    return max(p_values)


def _position_note(
    draft: Draft, report: SliceReport | None, codes: NDArray[np.uint8] | None
) -> str | None:
    """Write a note if the scores differ between positions of the right answer."""
    if report is None or codes is None or not report.differs:
        return None
    # Leave out positions with too few clusters, such as a single question that was asked ten times.
    rows = draft.headline_rows[0]
    score, of = rows.columns.score, rows.in_mean
    assert score is not None
    bins = tested(score[of], rows.columns.cluster[of], codes[of])
    names = [BINS[ANSWER_POSITION][code] for code in bins]
    means = [(value, name) for name in names if (value := report.bins[name].value) is not None]
    (low, worst), (high, best) = min(means), max(means)
    numbers = (
        f"{100 * high:.1f} % if it is {best}, {100 * low:.1f} % if it is {worst} "
        f"(p {report.adjusted:.2g})"
    )
    if "permute_options" in draft.benchmark.provenance.probe:  # the questions are the same
        return f"the score depends on the position of the right answer: {numbers}"
    return (
        f"the scores differ between positions of the right answer: {numbers}. The model need not "
        "be the cause: the questions may differ in difficulty, or the difference may be chance. "
        "`run --permute-options` asks each question with its choices in different orders"
    )


def _bins(values: NDArray[np.int32], most: Sequence[int], first: int) -> NDArray[np.uint8]:
    """Compute the bin of each value. Bins are numbered from `first`. `most` contains the largest
    value of each bin except the last, in ascending order."""
    import numpy as np

    return (first + np.searchsorted(most, values)).astype(np.uint8)


def known(codes: NDArray[np.uint8]) -> Sequence[int]:
    """The codes of the bins that contain a sample, in ascending order."""
    import numpy as np

    return [code for code, n in enumerate(np.bincount(codes)) if n and code != UNKNOWN]


def _position(sample: Sample) -> int:
    """The position of the right answer, counted from 1. The position is unknown if the answer is
    not a letter, since answers such as yes and no have no position."""
    target = sample.target
    if target is None or len(target) != 1:
        return UNKNOWN
    position = ascii_uppercase.find(target) + 1
    if not 1 <= position <= len(sample.choices):
        return UNKNOWN
    by_letter = target not in sample.choices or sample.choices[position - 1] == target
    return position if by_letter else UNKNOWN


def _pixels(media: Sequence[object]) -> int:
    """The number of pixels of the largest picture; 0 if no size is known."""
    sizes = [
        picture.width * picture.height
        for picture in media
        if isinstance(picture, Image) and picture.width and picture.height
    ]
    return min(max(sizes, default=0), DEFAULT_PIXELS)  # a stored line may contain any number


def difference_p(
    score: NDArray[np.float64], cluster: NDArray[np.int32], codes: NDArray[np.uint8]
) -> float | None:
    """Test whether the mean score differs between bins. Returns the p value of a score test that
    takes clusters into account.

    All arrays are (n,). The bins s = 1..K have sizes n_s, and m is the mean of all scores. For each
    cluster g and bin s

        z_gs = Σ_{i in g} (1[i in s] - n_s/n)·(score_i - m)    T = Σ_g z_g    V = Σ_g z_g z_g'

    If no bin differs, T' V⁻ T has a χ² distribution with K-1 degrees of freedom. This is the
    generalized score test (Rotnitzky and Jewell 1990; Boos 1992). The variance is computed under
    the assumption that there is no difference, so it is not 0 for a bin in which all replies are
    right. Bins with fewer than 10 clusters are left out, since χ² is not a good approximation for
    them. Bins in which fewer than about 5 right or 5 wrong replies are expected are left out for
    the same reason. The result is None if fewer than two bins remain, or if all scores are equal.
    """
    import numpy as np

    counted = np.isin(codes, tested(score, cluster, codes))
    score, cluster, codes = score[counted], cluster[counted], codes[counted]
    if not len(score) or bool((score == score[0]).all()):
        return None
    bins, bin_of, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    if len(bins) < 2:
        return None
    _, cluster_of = np.unique(cluster, return_inverse=True)
    residuals = score - score.mean()
    n_clusters, n_bins = int(cluster_of.max()) + 1, len(bins)
    cells = np.bincount(
        cluster_of * n_bins + bin_of, weights=residuals, minlength=n_clusters * n_bins
    ).reshape(n_clusters, n_bins)
    z = cells - cells.sum(axis=1, keepdims=True) * (sizes / len(score))
    total, variance = z.sum(axis=0), z.T @ z
    statistic = float(total @ np.linalg.pinv(variance, hermitian=True) @ total)
    return chi_square_p(statistic, n_bins - 1)


def tested(
    score: NDArray[np.float64], cluster: NDArray[np.int32], codes: NDArray[np.uint8]
) -> list[int]:
    """The bins that `difference_p` compares."""
    import numpy as np

    width = float(score.max() - score.min()) if len(score) else 0.0
    if not width:
        return []
    # For scores of 0 and 1, this is m(1-m), and n·m(1-m) is close to the number of the rarer score.
    spread = float(score.var()) / width**2
    return [
        code
        for code in known(codes)
        if len(np.unique(cluster[codes == code])) >= FEWEST
        and int((codes == code).sum()) * spread >= FEWEST_EXPECTED
    ]


def chi_square_p(x: float, df: int) -> float:
    """The probability that a χ² variable with `df` degrees of freedom is above x (Abramowitz and
    Stegun 1964, 26.4.4 and 26.4.5).

    >>> round(chi_square_p(3.841459, 1), 6), round(chi_square_p(9.487729, 4), 6)
    (0.05, 0.05)
    """
    if x <= 0:
        return 1.0
    half = x / 2
    first = 0.5 if df % 2 else 1.0
    tail = math.erfc(math.sqrt(half)) if df % 2 else math.exp(-half)
    for step in range((df - 1) // 2):
        power = step + first
        tail += math.exp(power * math.log(half) - half - math.lgamma(power + 1))
    return min(1.0, tail)
