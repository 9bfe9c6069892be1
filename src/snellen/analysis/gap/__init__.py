"""Finds the settings that cause a gap between the scores of two configurations of a benchmark."""

from snellen.analysis.gap._document import (
    Gap,
    GapEffect,
    GapField,
    GapGroup,
    GapInteraction,
    GapKind,
)
from snellen.analysis.gap._effects import FIELD_LEVEL, GAP_LEVEL, Measured
from snellen.analysis.gap._search import (
    decision,
    exchanges,
    groups_measured,
    measured_fields,
    pairs_in_order,
    partners_in_order,
    smallest_detectable,
    with_adjusted_pairs,
    with_partner,
)
from snellen.analysis.gap._words import (
    direction_lines,
    direction_rows,
    effect_rows,
    gap_lines,
    gap_verdict,
    group_lines,
    group_rows,
    value_rows,
)

__all__ = [
    "FIELD_LEVEL",
    "GAP_LEVEL",
    "Gap",
    "GapEffect",
    "GapField",
    "GapGroup",
    "GapInteraction",
    "GapKind",
    "Measured",
    "decision",
    "direction_lines",
    "direction_rows",
    "effect_rows",
    "exchanges",
    "gap_lines",
    "gap_verdict",
    "group_lines",
    "group_rows",
    "groups_measured",
    "measured_fields",
    "pairs_in_order",
    "partners_in_order",
    "smallest_detectable",
    "value_rows",
    "with_adjusted_pairs",
    "with_partner",
]
