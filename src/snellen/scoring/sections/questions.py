"""Identifies the questions behind the headline value. The values of two reports can be ranked only
if they are about the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from snellen.core.sample import Sample
from snellen.scoring.columns import Column, Numbers
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding

HASH_BYTES, DIGEST_BYTES = 8, 16


def question_hash(sample: Sample) -> int:
    """A hash (64 bits) of what a sample asks: its id, question, choices, and right answers."""
    parts = (sample.id, sample.question, sample.choices, sample.target, sample.references)
    digest = blake2b(repr(parts).encode("utf-8", "replace"), digest_size=HASH_BYTES).digest()
    return int.from_bytes(digest, "little")


class QuestionsSection:
    """Writes a digest of the questions whose replies count in the headline."""

    def __init__(self, scorer: Scorer) -> None:
        self._hashes = Numbers("Q")
        self.columns: Sequence[Column] = (self._hashes,)

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        self._hashes.append(question_hash(scored.sample))

    def summarize(self, draft: Draft) -> Part:
        import numpy as np

        headline = draft.scorer.headline
        if headline is None:
            return NOTHING
        # Sorted and without duplicates: neither the order of rows nor repeats change the digest.
        counted = np.unique(self._hashes.values[draft.rows(headline).in_mean])
        if not len(counted):
            return NOTHING
        digest = blake2b(counted.astype("<u8").tobytes(), digest_size=DIGEST_BYTES)
        return {"question_digest": digest.hexdigest()}, ()
