"""Notes in which coordinates boxes and points were read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from snellen.core.coordinates import Coordinates, CoordinateUse
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
        names: dict[_Use, list[str]] = {}
        names_by_fault: dict[tuple[Coordinates, int, int], list[str]] = {}
        for (name, use), column in zip(self._uses.items(), self.columns, strict=True):
            if name in draft.reported:
                replies, faults = (int((column.values >= least).sum()) for least in (1, 2))
                names.setdefault(_Use(use.of_prompt, use.is_demanded, use.of_model), []).append(
                    name
                )
                names_by_fault.setdefault((use.effective, faults, replies), []).append(name)
        notes = [_how(use, of) for use, of in names.items()]
        notes += [
            f"{faults:,} of {n:,} replies have numbers that cannot be {effective}, and are "
            f"unparsed in {_joined(of)}. Check the model's coordinates ({OPTION})"
            for (effective, faults, n), of in names_by_fault.items()
            if faults
        ]
        return {}, notes


class _Use(NamedTuple):
    """The coordinates that several scorings share."""

    of_prompt: Coordinates
    is_demanded: bool
    of_model: Coordinates | None


def _how(use: _Use, names: Sequence[str]) -> str:
    """Write a note that states in which coordinates scorings read boxes and points, and why."""
    effective = use.of_model or use.of_prompt
    read = "reads" if len(names) == 1 else "read"
    how = f"{_joined(names)} {read} boxes and points as {effective} ({effective.words})"
    if use.of_model is not None:
        other = use.is_demanded and use.of_prompt != use.of_model
        demand = f". The prompt demands {use.of_prompt}" if other else ""
        return f"{how}, as set for the model{demand}"
    why = "as the prompt demands" if use.is_demanded else "since the prompt demands nothing"
    return f"the model's coordinates are not set, so {how}, {why}. Set them with {OPTION}"


def _joined(names: Sequence[str]) -> str:
    """The names of scorings: `a`, `a and b`, or `a, b, and c`, with each name in backquotes."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) < 3:
        return " and ".join(quoted)
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"
