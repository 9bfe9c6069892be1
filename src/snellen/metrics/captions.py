"""BLEU, ROUGE-L, and CIDEr of captions, as coco-caption computes them.

coco-caption itself is not used because it returns only scores, whereas intervals require the counts
of each caption.

The source of all formulas is
tylin/coco-caption@3a9afb2682141a03e1cdc02b0df6770d2c884f6f:pycocoevalcap/. Captions are strings of
tokens separated by spaces. Captions are numbered from 0: the n candidates come first, then the
references of the first image, then those of the second image, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from snellen import stats
from snellen.metrics._columns import Columns
from snellen.metrics._metric import Metric
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

ORDERS = 4
TINY, SMALL = 1e-15, 1e-9
BETA, SIGMA = 1.2, 6.0
RESAMPLES = 1_000
"""The number of bootstrap resamples for BLEU. This number is enough even for 40,000 images."""

References = Sequence[Sequence[str]]


def caption_metrics(tokens: Callable[[str], str]) -> Mapping[str, Metric]:
    """The metrics of captions: `cider`, `bleu_4` to `bleu_1`, and `rouge_l`.

    The answers are candidates that are already split into tokens. `tokens` splits the references
    into tokens. An answer that is None counts as a caption without tokens. Higher is better for all
    metrics.

    `cider` is the mean of `cider_scores` over images and can exceed 1. `bleu_n` is `bleu` of the
    summed `bleu_counts` of all images, not a mean over images. `stats.bootstrap_sums` computes the
    interval of `bleu_n`, and `stats.mean` computes the intervals of `cider` and `rouge_l`. The
    interval of `cider` treats the document frequencies as fixed, although they come from the scored
    images: other images would change every score.
    """
    held = _CaptionCache(tokens)
    return {
        "cider": Metric(held.cider, better="higher", unit="CIDEr"),
        **{
            f"bleu_{n}": Metric(partial(held.bleu, order=n), better="higher", unit="BLEU")
            for n in range(ORDERS, 0, -1)
        },
        "rouge_l": Metric(held.rouge_l, better="higher", unit="ROUGE-L"),
    }


class _CaptionCache:
    """Caches the tokens and n-grams of the most recent columns, since six metrics use them in
    turn."""

    def __init__(self, tokens: Callable[[str], str]) -> None:
        self._tokens = tokens
        self._columns: Columns | None = None
        self._captions: Captions | None = None

    def captions(self, columns: Columns) -> Captions:
        if self._columns is not columns or self._captions is None:
            self._captions = captions(
                [answer or "" for answer in columns.answer],
                [[self._tokens(reference) for reference in many] for many in columns.references],
            )
            self._columns = columns
        return self._captions

    def cider(self, columns: Columns) -> Estimate:
        return self.mean(columns, "CIDEr", cider_scores)

    def rouge_l(self, columns: Columns) -> Estimate:
        return self.mean(columns, "ROUGE-L", rouge_l_scores)

    def mean(self, columns: Columns, unit: str, scores: Callable[[Captions], Floats]) -> Estimate:
        if not columns.n:
            return Estimate(value=None, unit=unit, n=0, reason="no captions")
        estimate = stats.mean(scores(self.captions(columns)), columns.cluster, columns.weight)
        return replace(estimate, unit=unit)

    def bleu(self, columns: Columns, order: int) -> Estimate:
        import numpy as np

        if not columns.n:
            return Estimate(value=None, unit="BLEU", n=0, reason="no captions")
        counts = bleu_counts(self.captions(columns))
        clusters, code = np.unique(columns.cluster, return_inverse=True)
        sums = np.zeros((len(clusters), counts.shape[1]))
        np.add.at(sums, code, counts)
        return stats.bootstrap_sums(
            sums,
            lambda totals: bleu(totals)[:, order - 1],
            n=columns.n,
            unit="BLEU",
            resamples=RESAMPLES,
            clusters=clusters,
        )


# -- n-grams


@dataclass(frozen=True, kw_only=True)
class CaptionGrams:
    """The n-grams of one length in all captions. The arrays have one element for each distinct
    n-gram of each caption, (m,)."""

    caption: Ints
    """The index of the caption."""
    gram: Ints
    """The index of the n-gram, from 0 to `many` - 1."""
    count: Floats
    """How often the n-gram occurs in the caption."""
    many: int
    """The number of distinct n-grams in all captions."""


@dataclass(frozen=True, kw_only=True)
class Captions:
    """Candidates and the references for their images. The candidates come first."""

    n: int
    """The number of candidates, which is also the number of images."""
    image: Ints
    """The index of each caption's image, (captions,)."""
    length: Ints
    """The number of tokens of each caption, (captions,)."""
    grams: Sequence[CaptionGrams]
    """The n-grams of 1 to 4 tokens."""
    texts: tuple[Sequence[str], References]
    """The tokens of candidates and references, joined by spaces."""


def captions(candidates: Sequence[str], references: References) -> Captions:
    """Create `Captions` from candidates and references, whose tokens are separated by spaces.

    Raises:
        ValueError: An image has no references, or does not have exactly one candidate.
    """
    import numpy as np

    if len(candidates) != len(references) or not all(references):
        raise ValueError("each image must have one candidate and at least one reference")
    vocabulary: dict[str, int] = {}
    lengths, words = [], []
    for text in chain(candidates, chain.from_iterable(references)):
        split = text.split()
        lengths.append(len(split))
        words += [vocabulary.setdefault(word, len(vocabulary)) for word in split]
    n = len(candidates)
    of_images = np.repeat(np.arange(n), [len(many) for many in references])
    length = np.array(lengths, dtype=np.int64)
    return Captions(
        n=n,
        image=np.concatenate([np.arange(n), of_images]),
        length=length,
        grams=[*_grams(np.array(words, dtype=np.int64), length)],
        texts=(candidates, references),
    )


def _grams(words: Ints, length: Ints) -> Iterator[CaptionGrams]:
    """Yield the n-grams of all captions, for n from 1 to 4. An n-gram is identified by its first
    n-1 words (an n-1-gram) and its last word."""
    import numpy as np

    caption = np.repeat(np.arange(len(length)), length)
    many_words = int(words.max(initial=0)) + 1
    gram = words
    for n in range(1, ORDERS + 1):
        if n > 1:
            inside = caption[n - 1 :] == caption[: len(caption) - n + 1]
            longer = gram[: len(inside)] * many_words + words[n - 1 :][: len(inside)]
            _, gram = np.unique(longer, return_inverse=True)
            of = caption[: len(inside)][inside]
            counted = gram[inside]
        else:
            of, counted = caption, gram
        many = int(gram.max(initial=0)) + 1
        key, count = np.unique(of * many + counted, return_counts=True)
        yield CaptionGrams(
            caption=key // many, gram=key % many, count=count.astype(np.float64), many=many
        )


# -- BLEU


def bleu_counts(captions: Captions) -> Floats:
    """The counts that BLEU sums over candidates, (n, 10).

    Each row has a candidate's length, the closest length of a reference (the shorter of two that
    are equally close), the number of n-grams in the candidate for n = 1, 2, 3, and 4, and the
    number of these n-grams that are right, again for each n. An n-gram counts as right at most as
    many times as it occurs in the reference that contains it most often.
    """
    import numpy as np

    n, length = captions.n, captions.length
    counts = np.zeros((n, 2 + 2 * ORDERS))
    counts[:, 0] = length[:n]
    off = np.abs(length[n:] - length[captions.image[n:]])
    order = np.lexsort((length[n:], off, captions.image[n:]))
    first = np.unique(captions.image[n:][order], return_index=True)[1]
    counts[:, 1] = length[n:][order][first]
    for order_index, grams in enumerate(captions.grams):
        counts[:, 2 + order_index] = np.maximum(0, length[:n] - order_index)
        ours, theirs, key, key_theirs = _parted(captions, grams)
        # Among equal keys, the last one has the largest count.
        order = np.lexsort((grams.count[theirs], key_theirs))
        sorted_keys, most = key_theirs[order], grams.count[theirs][order]
        at = np.searchsorted(sorted_keys, key, side="right") - 1
        there = (at >= 0) & (sorted_keys[at] == key) if len(most) else np.zeros(len(key), bool)
        right = np.minimum(grams.count[ours][there], most[at[there]])
        counts[:, 6 + order_index] = np.bincount(
            grams.caption[ours][there], weights=right, minlength=n
        )
    return counts


def bleu(counts: Floats) -> Floats:
    """Compute BLEU-1 to BLEU-4, (k, 4), from sums of `bleu_counts`, (k, 10). In [0, 1].

        BLEU_n = min(1, exp(1 - r/c)) · (Π_{i<=n} (right_i + 1e-15) / (grams_i + 1e-9))^(1/n)

    c and r are the summed lengths of candidates and references. Their ratio is computed as
    (c + 1e-15) / (r + 1e-9). Papineni et al. 2002, https://aclanthology.org/P02-1040;
    bleu/bleu_scorer.py#L198-L263.
    """
    import numpy as np

    grams, right = counts[:, 2 : 2 + ORDERS], counts[:, 2 + ORDERS :]
    products = np.cumprod((right + TINY) / (grams + SMALL), axis=1)
    precision = products ** (1 / np.arange(1, ORDERS + 1))
    ratio = (counts[:, 0] + TINY) / (counts[:, 1] + SMALL)
    penalty = np.exp(np.minimum(0, 1 - 1 / ratio))
    scores: Floats = precision * penalty[:, np.newaxis]
    return scores


# -- ROUGE-L


def rouge_l_scores(captions: Captions) -> Floats:
    """ROUGE-L of each candidate, (n,). In [0, 1].

        F = (1 + β²)·P·R / (R + β²·P),    β = 1.2

    P is the length of the longest common subsequence divided by the length of the candidate, and R
    is the same length divided by the length of the reference. P and R are each the maximum over the
    references, and the maxima may come from different references. Lin 2004,
    https://aclanthology.org/W04-1013; rouge/rouge.py#L45-L75. coco-caption splits at single spaces,
    so a caption without tokens has one empty token and matches any other caption without tokens.
    """
    import numpy as np
    from rapidfuzz.distance import LCSseq

    scores = np.zeros(captions.n)
    for index, (candidate, references) in enumerate(zip(*captions.texts, strict=True)):
        words = candidate.split(" ")
        precision = recall = 0.0
        for reference in references:
            right = reference.split(" ")
            common = LCSseq.similarity(words, right)
            precision = max(precision, common / len(words))
            recall = max(recall, common / len(right))
        if precision and recall:
            scores[index] = (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)
    return scores


# -- CIDEr


def cider_scores(captions: Captions) -> Floats:
    """CIDEr-D of each candidate, (n,). In [0, 10].

        s = 10/4 · Σ_n 1/|R| · Σ_r exp(-(l - l_r)² / 2·6²) · Σ_g min(h_g, r_g)·r_g / (‖h‖·‖r‖)

    h and r are the vectors of the candidate and the reference. For each n-gram g, a vector contains
    the element count · log(N / df_g). N is the number of images. The document frequency df_g is the
    number of images with g in their references, or 1 if there is none. The lengths of candidate and
    reference are l and l_r. Vedantam et al. 2015, https://arxiv.org/abs/1411.5726;
    cider/cider_scorer.py#L93-L192. In coco-caption, l is the number of bigrams, which is the number
    of tokens minus 1.
    """
    import numpy as np

    n, image = captions.n, captions.image
    many_references = np.bincount(image[n:], minlength=n)
    longer = captions.length[image[n:]] - captions.length[n:]
    penalty = np.exp(-(longer**2) / (2 * SIGMA**2))
    similarity = np.zeros(len(image) - n)
    for grams in captions.grams:
        ours, theirs, key, key_theirs = _parted(captions, grams)
        frequency = np.bincount(np.unique(key_theirs) % grams.many, minlength=grams.many)
        rarity = np.log(n) - np.log(np.maximum(1, frequency))
        weight = grams.count * rarity[grams.gram]
        norm = np.sqrt(np.bincount(grams.caption, weights=weight**2, minlength=len(image)))
        at = np.minimum(np.searchsorted(key, key_theirs), max(0, len(key) - 1))
        there = key[at] == key_theirs if len(key) else np.zeros(len(key_theirs), bool)
        candidate_weight, right = weight[ours][at[there]], weight[theirs][there]
        shared = np.bincount(
            grams.caption[theirs][there] - n,
            weights=np.minimum(candidate_weight, right) * right,
            minlength=len(similarity),
        )
        norms = norm[image[n:]] * norm[n:]
        similarity += np.divide(shared, norms, out=np.zeros(len(shared)), where=norms != 0)
    summed = np.bincount(image[n:], weights=similarity * penalty, minlength=n)
    scores: Floats = summed / ORDERS / many_references * 10
    return scores


def _parted(captions: Captions, grams: CaptionGrams) -> tuple[slice, slice, Ints, Ints]:
    """Return the slice of the candidates' n-grams, the slice of the references' n-grams, and keys
    for both. A key is a number that stands for an image and an n-gram. The candidates' keys are in
    ascending order."""
    import numpy as np

    border = int(np.searchsorted(grams.caption, captions.n))
    key = captions.image[grams.caption] * grams.many + grams.gram
    return slice(border), slice(border, None), key[:border], key[border:]
