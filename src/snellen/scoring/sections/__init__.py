"""The sections of a report. Each section has its own file.

A section collects columns of its own while rows are added to the table. Then it writes its fields
of the report, and notes. To add a section, write a file here, and add a line to `SECTIONS` and a
field to `Report`. A line in `FACTS` shows the section in every format of the report. A section may
import the table, and anything that the table imports. Start with `coverage.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from snellen.scoring.columns import Column
from snellen.scoring.document import Report
from snellen.scoring.draft import Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.sections.baselines import BaselinesSection
from snellen.scoring.sections.capabilities import CapabilitiesSection
from snellen.scoring.sections.cost import CostSection, cost_facts
from snellen.scoring.sections.coverage import CoverageSection
from snellen.scoring.sections.disagreements import DisagreementsSection
from snellen.scoring.sections.failures import FailuresSection
from snellen.scoring.sections.judged_by import JudgedBySection
from snellen.scoring.sections.judges import JudgesSection
from snellen.scoring.sections.metrics import MetricsSection
from snellen.scoring.sections.probe import ProbeSection
from snellen.scoring.sections.repeats import RepeatsSection
from snellen.scoring.sections.reply_states import ReplyStatesSection
from snellen.scoring.sections.sequential import SequentialSection
from snellen.scoring.sections.slices import SlicesSection
from snellen.scoring.sections.speed import SpeedSection, speed_facts
from snellen.scoring.sections.streaming import StreamingSection, streaming_facts
from snellen.scoring.sections.tokens import TokensSection, tokens_facts
from snellen.scoring.verdicts import Finding


class Section(Protocol):
    """One section of a report."""

    @property
    def columns(self) -> Sequence[Column]:
        """The section's own columns."""

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        """Append the values of a row of the table to the columns. `row` is its number."""

    def summarize(self, draft: Draft) -> Part:
        """Compute the section's fields of the report, and its notes."""


SECTIONS: Sequence[Callable[[Scorer], Section]] = (
    CoverageSection,
    SequentialSection,
    FailuresSection,
    ReplyStatesSection,
    RepeatsSection,
    SlicesSection,
    MetricsSection,
    DisagreementsSection,
    CapabilitiesSection,
    JudgedBySection,
    JudgesSection,
    BaselinesSection,
    CostSection,
    TokensSection,
    SpeedSection,
    ProbeSection,
    StreamingSection,
)
"""The sections, in the order of their notes. `ProbeSection` must come after the metrics and
baselines, which it reads."""

FACTS: Mapping[str, Callable[[Report], Iterator[tuple[str, str]]]] = {
    "Online": streaming_facts,
    "Cost and speed": cost_facts,
    "Tokens": tokens_facts,
    "Streamed replies": speed_facts,
}
"""Maps titles in a report to functions that yield the facts of a section as text: (label, text)."""
