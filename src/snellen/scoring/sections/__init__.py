"""The sections of a report, a file each.

A section keeps columns of its own while rows are added, and writes its fields of the report and its
notes. A new one is a file here, a line in `SECTIONS`, and a field of `Report`; a line in `FACTS`
shows it in every form of the report. May import the table
and what it stands on. Start with `coverage.py`.
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
from snellen.scoring.sections.judges import JudgesSection
from snellen.scoring.sections.metrics import MetricsSection
from snellen.scoring.sections.probe import ProbeSection
from snellen.scoring.sections.repeats import RepeatsSection
from snellen.scoring.sections.reply_states import ReplyStatesSection
from snellen.scoring.sections.slices import SlicesSection
from snellen.scoring.sections.speed import SpeedSection, speed_facts
from snellen.scoring.sections.streaming import StreamingSection, streaming_facts
from snellen.scoring.sections.tokens import TokensSection, tokens_facts
from snellen.scoring.verdicts import Finding


class Section(Protocol):
    """One section of a report."""

    @property
    def columns(self) -> Sequence[Column]:
        """The columns that it keeps."""

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        """Append a row of the table, with its number, to the columns."""

    def summarize(self, draft: Draft) -> Part:
        """The section's fields of the report, and its notes."""


SECTIONS: Sequence[Callable[[Scorer], Section]] = (
    CoverageSection,
    FailuresSection,
    ReplyStatesSection,
    RepeatsSection,
    SlicesSection,
    MetricsSection,
    DisagreementsSection,
    CapabilitiesSection,
    JudgesSection,
    BaselinesSection,
    CostSection,
    TokensSection,
    SpeedSection,
    ProbeSection,
    StreamingSection,
)
"""In the order of their notes; `ProbeSection` reads the metrics and baselines before it."""

FACTS: Mapping[str, Callable[[Report], Iterator[tuple[str, str]]]] = {
    "Online": streaming_facts,
    "Cost and speed": cost_facts,
    "Tokens": tokens_facts,
    "Streamed replies": speed_facts,
}
"""The facts of sections in words, (what, how much), by the title that a report gives them."""
