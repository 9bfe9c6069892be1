"""Notes in which coordinates boxes and points were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from snellen.core.coordinates import CoordinateUse
from snellen.scoring.columns import Column
from snellen.scoring.draft import Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding

OPTION = "--coordinates"


class CoordinatesSection:
    """Notes the coordinates of each scoring that depends on them, and how many replies cannot be in
    these coordinates."""

    def __init__(self, scorer: Scorer) -> None:
        self.columns: Sequence[Column] = ()
        self._uses: dict[int, CoordinateUse] = {}
        """The use of coordinates of each scoring that depends on them, keyed by the scoring's index
        among the findings."""
        for index, name in enumerate(scorer.names):
            use = scorer.benchmark.scorings[name].coordinates
            if use is not None:
                self._uses[index] = use
        self._names = scorer.names
        self._n = 0
        self._faults: Counter[int] = Counter()

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        """Count the replies whose numbers cannot be in the coordinates."""
        if scored.reply is None:
            return
        self._n += 1
        for index, use in self._uses.items():
            if use.effective.is_fault(findings[index].reading.rule):
                self._faults[index] += 1

    def summarize(self, draft: Draft) -> Part:
        return {}, [
            note
            for index, use in self._uses.items()
            if self._names[index] in draft.reported
            for note in self._notes(self._names[index], use, self._faults[index])
        ]

    def _notes(self, name: str, use: CoordinateUse, faults: int) -> Iterator[str]:
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
                f"{faults:,} of {self._n:,} replies have numbers that cannot be {use.effective}, "
                f"and are unparsed in `{name}`. Check the model's coordinates ({OPTION})"
            )
