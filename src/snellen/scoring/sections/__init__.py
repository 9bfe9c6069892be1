"""The sections of a report. Each section has its own file.

While rows are added to the table, a section collects its own columns. After the last row, the
section writes its own fields of the report, and its notes. To add a section, write a file here, and
add a line to `SECTIONS` and a field to `Report`. To show the section in every format of the report,
also add a line to `FACTS`. A section may import the table, and every module that the table imports.
Start with `coverage.py`.
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
from snellen.scoring.sections.coordinates import CoordinatesSection
from snellen.scoring.sections.cost import CostSection, cost_facts
from snellen.scoring.sections.coverage import CoverageSection
from snellen.scoring.sections.disagreements import DisagreementsSection
from snellen.scoring.sections.failures import FailuresSection
from snellen.scoring.sections.judged_by import JudgedBySection
from snellen.scoring.sections.judges import JudgesSection
from snellen.scoring.sections.metrics import MetricsSection
from snellen.scoring.sections.probe import ProbeSection
from snellen.scoring.sections.questions import QuestionsSection
from snellen.scoring.sections.repeats import RepeatsSection
from snellen.scoring.sections.reply_states import ReplyStatesSection
from snellen.scoring.sections.sequential import SequentialSection
from snellen.scoring.sections.slices import SlicesSection
from snellen.scoring.sections.speed import SpeedSection, speed_facts
from snellen.scoring.sections.streaming import StreamingSection, streaming_facts
from snellen.scoring.sections.tokens import TokensSection, tokens_facts
from snellen.scoring.sections.tools import ToolsSection, tools_facts
from snellen.scoring.sections.unparsed import UnparsedSection
from snellen.scoring.verdicts import Finding


class Section(Protocol):
    """One section of a report."""

    @property
    def columns(self) -> Sequence[Column]:
        """The section's own columns."""

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        """Append the values of a row of the table to the section's columns. `row` is the number of
        the row."""

    def summarize(self, draft: Draft) -> Part:
        """Compute the section's fields of the report, and its notes."""


SECTIONS: Sequence[Callable[[Scorer], Section]] = (
    CoverageSection,
    QuestionsSection,
    SequentialSection,
    FailuresSection,
    ReplyStatesSection,
    CoordinatesSection,
    RepeatsSection,
    SlicesSection,
    MetricsSection,
    UnparsedSection,
    DisagreementsSection,
    CapabilitiesSection,
    JudgedBySection,
    JudgesSection,
    BaselinesSection,
    CostSection,
    TokensSection,
    ToolsSection,
    SpeedSection,
    ProbeSection,
    StreamingSection,
)
"""The sections, in the order in which the report shows their notes. `ProbeSection` and
`UnparsedSection` come after the sections whose fields they read."""

FACTS: Mapping[str, Callable[[Report], Iterator[tuple[str, str]]]] = {
    "Online": streaming_facts,
    "Cost and speed": cost_facts,
    "Tokens": tokens_facts,
    "Tools": tools_facts,
    "Streamed replies": speed_facts,
}
"""Maps titles of a report's sections to functions. Each function yields facts for the section, and
a fact consists of a label and a text."""
