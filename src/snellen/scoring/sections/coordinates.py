"""Notes in which coordinates boxes and points were read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from snellen.core.coordinates import CoordinateUse
from snellen.scoring.columns import Numbers
from snellen.scoring.draft import Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding

OPTION = "--coordinates"


class CoordinatesSection:
    """Notes the coordinates of each scoring that depends on them, and how many replies cannot be in
    these coordinates."""

    def __init__(self, scorer: Scorer) -> None:
        self._uses: dict[str, CoordinateUse] = {}
        self._faults: list[tuple[int, CoordinateUse, Numbers]] = []
        """For each scoring that depends on coordinates: its index among the findings, its use of
        coordinates, and a column that is 2 for replies that cannot be in them, 1 for other
        replies, and 0 for questions without a reply."""
        for index, name in enumerate(scorer.names):
            use = scorer.benchmark.scorings[name].coordinates
            if use is not None:
                self._uses[name] = use
                self._faults.append((index, use, Numbers("B")))
        self.columns = tuple(column for _, _, column in self._faults)

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        for index, use, column in self._faults:
            is_fault = use.effective.is_fault(findings[index].reading.rule)
            column.append((scored.reply is not None) + is_fault)

    def summarize(self, draft: Draft) -> Part:
        notes: list[str] = []
        for (name, use), column in zip(self._uses.items(), self.columns, strict=True):
            if name in draft.reported:
                replies, faults = (int((column.values >= least).sum()) for least in (1, 2))
                notes += _notes(name, use, faults, replies)
        return {}, notes


def _notes(name: str, use: CoordinateUse, faults: int, n: int) -> Iterator[str]:
    effective = f"{use.effective} ({use.effective.words})"
    if use.of_model is not None:
        other = use.is_demanded and use.of_prompt != use.of_model
        demand = f". The prompt demands {use.of_prompt}" if other else ""
        yield f"`{name}` reads boxes and points as {effective}, as set for the model{demand}"
    else:
        why = "as the prompt demands" if use.is_demanded else "since the prompt demands nothing"
        yield (
            f"the model's coordinates are not set, so `{name}` reads boxes and points as "
            f"{effective}, {why}. Set them with {OPTION}"
        )
    if faults:
        yield (
            f"{faults:,} of {n:,} replies have numbers that cannot be {use.effective}, and are "
            f"unparsed in `{name}`. Check the model's coordinates ({OPTION})"
        )
