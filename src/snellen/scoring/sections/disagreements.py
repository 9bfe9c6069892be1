"""Finds samples that two scorings score differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from snellen.core.scoring import Scoring
from snellen.scoring.columns import Column, Sparse
from snellen.scoring.document import Disagreement
from snellen.scoring.draft import Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding

EXAMPLES = 5
ROBUST = "robust"
"""The scoring with Snellen's own rules, which most benchmarks have."""
NOTED_SHARE = 0.05
"""The maximum share of replies with different scores by the headline and `robust` scorings. If the
share is larger, the report gets a note."""


def measure_the_same(first: Scoring, second: Scoring) -> bool:
    """Whether two scorings give replies the same kind of score, so that their scores can be
    compared reply by reply. Both decide only whether an answer is right, or both have the same
    headline metric and the same best score. An overlap of boxes, for example, cannot be compared
    with the verdict on a letter."""
    if first.best != second.best:
        return False
    has_partial = first.partial or second.partial
    return not has_partial or next(iter(first.metrics)) == next(iter(second.metrics))


def disagreement_note(headline: str, n: int, of: int) -> str | None:
    """Write a note which states that the headline and `robust` scorings give different scores to
    `n` of `of` replies; None if there are few such replies."""
    if not of or n / of <= NOTED_SHARE:
        return None
    return (
        f"{headline} and {ROBUST} score {n:,} of {of:,} replies differently "
        f"({100 * n / of:.1f} %). One of the two scorings misreads these replies. Compare "
        f"by --scoring {ROBUST} too, or read such replies in the viewer (snellen view)"
    )


class Differences:
    """The rows to which another scoring gives a different score than the headline scoring."""

    def __init__(self) -> None:
        self.samples, self.rules = Sparse(), Sparse()


class DisagreementsSection:
    """Compares the headline scoring with each of the other scorings that give the same kind of
    score."""

    def __init__(self, scorer: Scorer) -> None:
        self._others: dict[str, Differences] = {}
        self._numbered: list[tuple[int, Differences]] = []
        """For each of these scorings: its index among the findings, and its differences."""
        scorings = scorer.benchmark.scorings
        for number, name in enumerate(scorer.names):
            if number and measure_the_same(scorings[scorer.names[0]], scorings[name]):
                self._others[name] = Differences()
                self._numbered.append((number, self._others[name]))
        self._rules: dict[tuple[str, str], str] = {}
        self.columns: Sequence[Column] = [
            column for of in self._others.values() for column in (of.samples, of.rules)
        ]

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        headline = findings[0]
        for number, differences in self._numbered:
            other = findings[number]
            scores = headline.score, other.score
            if None not in scores and scores[0] != scores[1] and scored.reply is not None:
                rules = headline.reading.rule, other.reading.rule
                differences.samples.append(row, scored.sample.id)
                # Rows with the same rules share one text.
                differences.rules.append(row, self._rules.setdefault(rules, " | ".join(rules)))

    def summarize(self, draft: Draft) -> Part:
        reported = {
            name: of
            for name, of in self._others.items()
            if of.samples.data and name in draft.reported
        }
        disagreements = [
            Disagreement(
                scorings=(draft.scorer.names[0], name),
                n=len(of.samples.data),
                by_rule=dict(Counter(of.rules.data).most_common()),
                examples=of.samples.data[:EXAMPLES],
            )
            # In the order of their first rows.
            for name, of in sorted(reported.items(), key=lambda item: item[1].samples.rows[0])
        ]
        headline, replies = draft.scorer.names[:1], draft.table.states
        note = None
        if headline and ROBUST in reported:
            answered = len(draft.table) - replies.get("failed", 0)
            note = disagreement_note(headline[0], len(reported[ROBUST].samples.data), answered)
        return {"disagreements": disagreements}, [note] if note else ()
