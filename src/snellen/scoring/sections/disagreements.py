"""Samples that two scorings score differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from snellen.scoring.columns import Sparse
from snellen.scoring.document import Disagreement
from snellen.scoring.draft import Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding

EXAMPLES = 5


class Difference(NamedTuple):
    """A sample that two scorings score differently."""

    sample: str
    rules: str
    """The rules that fired, the headline's first."""


class DisagreementsSection:
    """The headline against each other scoring."""

    def __init__(self, scorer: Scorer) -> None:
        self._headline = scorer.headline
        self._differences: dict[str, Sparse[Difference]] = {
            name: Sparse() for name in scorer.names[1:]
        }
        self._rules: dict[tuple[str, str], str] = {}
        self.columns = tuple(self._differences.values())

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        headline = findings[0]
        for column, other in zip(self.columns, findings[1:], strict=True):
            if (
                other.score != headline.score
                and scored.reply is not None
                and "not-judged" not in (other.state, headline.state)
            ):
                rules = headline.reading.rule, other.reading.rule
                text = self._rules.setdefault(rules, " | ".join(rules))
                column.append(row, Difference(scored.sample.id, text))

    def summarize(self, draft: Draft) -> Part:
        assert self._headline is not None or not self._differences
        disagreements = [
            Disagreement(
                scorings=(self._headline or "", name),
                n=len(column.data),
                by_rule=dict(Counter(each.rules for each in column).most_common()),
                examples=[each.sample for each in column.data[:EXAMPLES]],
            )
            for name, column in self._differences.items()
            if column.data and name in draft.reported
        ]
        # In the order of their first samples.
        first = {name: column.rows[0] for name, column in self._differences.items() if column.data}
        disagreements.sort(key=lambda each: first[each.scorings[1]])
        return {"disagreements": disagreements}, ()
