"""An explained gap in sentences and rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from snellen.analysis.comparing import p_value, shown_difference
from snellen.analysis.gap._document import Gap, GapEffect, GapField
from snellen.analysis.gap._effects import FIELD_LEVEL, GAP_LEVEL
from snellen.analysis.result import shown

FIELD_HEADINGS = (
    "field",
    "base",
    "recipe",
    "into the base",
    "out of the recipe",
    "mean effect",
    "95 % interval",
    "share",
    "adjusted p",
    "matters",
    "remark",
)
GROUP_HEADINGS = (
    "fields together",
    "into the base",
    "out of the recipe",
    "mean effect",
    "95 % interval",
    "share",
    "beyond their sum",
    "adjusted p",
)


def field_rows(gap: Gap) -> list[tuple[str, ...]]:
    """Headings, and a row for each field."""
    return [FIELD_HEADINGS, *map(_field_row, gap.fields)]


def _field_row(field: GapField) -> tuple[str, ...]:
    if field.mean is None:
        return (field.name, field.base, field.recipe, *[""] * 7, field.reason)
    return (
        field.name,
        field.base,
        field.recipe,
        _value(field.into),
        _value(field.out),
        *shown_difference(field.mean.difference)[:2],
        _share(field.share),
        p_value(field.adjusted),
        "yes" if field.matters else "no",
        "" if field.after is None else _after(field),
    )


def _after(field: GapField) -> str:
    return (
        f"after the field that matters singly: {_effect(field.after)} (p {p_value(field.after_p)})"
    )


def group_rows(gap: Gap) -> list[tuple[str, ...]]:
    """Headings, and a row for each group of fields; empty if there is none."""
    rows = [
        (
            " + ".join(group.fields),
            _value(group.into),
            _value(group.out),
            *shown_difference(group.mean.difference)[:2],
            _share(group.share),
            _value(group.interaction),
            p_value(group.adjusted),
        )
        for group in gap.groups
    ]
    return [GROUP_HEADINGS, *rows] if rows else []


def gap_verdict(gap: Gap) -> str:
    """The outcome in a sentence."""
    names = _joined(gap.matters)
    match gap.kind:
        case "alike":
            return "The two ways of asking do not differ in a field that can be exchanged."
        case "unfinished":
            return "The search is not finished. The same command resumes it."
        case "noise":
            return f"The gap is not significant: {_gap_text(gap)}. No field is named."
        case "unexplained":
            return f"No single field explains the gap of {_gap_text(gap)}."
        case "pair":
            return (
                f"No single field explains the gap of {_gap_text(gap)}. {names} explain "
                f"{_share_text(gap)} of it together."
            )
        case "field":
            (field,) = (field for field in gap.fields if field.matters)
            return (
                f"{names} makes the difference: {_effect(field.mean)}, {_share(field.share)} of "
                f"the gap of {_gap_text(gap)}."
            )
        case "joint":
            how = "act together: their joint effect is larger than the sum of the single effects"
        case "either":
            how = "overlap: one of them is enough for most of the joint effect"
        case "added":
            how = "each contribute"
    return f"{names} {how}. Together they make {_share_text(gap)} of the gap of {_gap_text(gap)}."


def gap_lines(gap: Gap) -> Iterator[str]:
    """What else must be known of the outcome."""
    if gap.base is not None and gap.by_recipe is not None:
        yield (
            f"{gap.against}: {shown(gap.base).value}; by the recipe: {shown(gap.by_recipe).value}; "
            f"{gap.questions:,} questions, {gap.scoring} score"
        )
    if gap.total is not None and (absent := gap.questions - gap.total.difference.n) > 0:
        yield f"left out, without a score both ways: {absent:,}"
    if gap.kind == "noise" and gap.detectable is not None:
        yield (
            f"these questions would have shown a gap of {100 * gap.detectable:.1f} pp with 80 % "
            f"probability at {100 * GAP_LEVEL:g} %"
        )
    if gap.rest is not None:
        sure = gap.rest.p <= GAP_LEVEL
        yield (
            f"the rest of the gap: {_effect(gap.rest)}, "
            + ("which no single field explains" if sure else "not significant")
        )
    if gap.kind == "pair" and len(others := _significant_pairs(gap)) > 1:
        yield f"other pairs that explain part of it: {'; '.join(others[1:])}"
    if any(field.mean is not None for field in gap.fields):
        yield (
            f"a field matters if its p, adjusted over the fields by Holm's method, is at most "
            f"{FIELD_LEVEL:g}"
        )
    yield from (f"note: {note}" for note in gap.notes)


def _significant_pairs(gap: Gap) -> list[str]:
    return [
        " + ".join(group.fields)
        for group in gap.groups
        if group.adjusted is not None and group.adjusted <= FIELD_LEVEL
    ]


def _gap_text(gap: Gap) -> str:
    return "-" if gap.total is None else f"{_effect(gap.total)} (p {p_value(gap.total.p)})"


def _share_text(gap: Gap) -> str:
    group = next((group for group in gap.groups if group.fields == gap.matters), None)
    return "part" if group is None else _share(group.share)


def _effect(effect: GapEffect | None) -> str:
    """`+24.10 pp, [+18.00, +30.20]`"""
    if effect is None:
        return "-"
    return ", ".join(filter(None, shown_difference(effect.difference)[:2]))


def _value(effect: GapEffect | None) -> str:
    return "" if effect is None else shown_difference(effect.difference).value


def _share(share: float | None) -> str:
    return "" if share is None or share != share else f"{100 * share:.0f} %"


def _joined(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b, and c`"""
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"
