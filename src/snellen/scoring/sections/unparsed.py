"""Adds a note if almost none of the replies in a file of predictions could be parsed."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.scoring.columns import Sparse
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding

NOTED_SHARE = 0.9
"""The minimum share of unparsed replies for a note."""
SHOWN = 80
"""The maximum length, in characters, of a reply in a note."""


class UnparsedSection:
    """Adds a note with an example if almost none of the replies in a file could be parsed. The
    column of replies may then contain something other than the model's words."""

    def __init__(self, scorer: Scorer) -> None:
        self._names = scorer.names
        self._examples = [Sparse() for _ in scorer.names]
        """For each scoring, its first unparsed reply that is not empty."""
        self.columns = tuple(self._examples)

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        for examples, finding in zip(self._examples, findings, strict=True):
            if finding.state == "unparsed" and not examples.data and scored.reply is not None:
                text = scored.reply.text.strip()
                if text:
                    examples.append(row, (scored.sample.id, text[:SHOWN]))

    def summarize(self, draft: Draft) -> Part:
        if draft.source.run is not None:
            return NOTHING
        by_words: dict[str, list[str]] = {}
        for name, examples in zip(self._names, self._examples, strict=True):
            if name not in draft.reported or not examples.data:
                continue
            readings = draft.parts["scorings"][name].readings
            n = sum(readings.values()) - readings.get("no-reply", 0)
            unparsed = readings.get("unparsed", 0)
            if unparsed < NOTED_SHARE * n:
                continue
            sample, text = examples.data[0]
            words = f"{unparsed:,} of {n:,} replies are unparsed, such as {text!r} to {sample!r}"
            by_words.setdefault(words, []).append(name)
        return {}, [
            f"{', '.join(names)}: {words}. Check that the column of replies contains what the "
            "model wrote, in the form that the benchmark's prompt demands"
            for words, names in by_words.items()
        ]
