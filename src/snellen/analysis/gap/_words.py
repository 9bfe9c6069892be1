"""Describes an explained gap in sentences and table rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from snellen.analysis.comparing import p_value, shown_difference
from snellen.analysis.gap._document import Gap, GapEffect, GapField
from snellen.analysis.gap._effects import FIELD_LEVEL, GAP_LEVEL
from snellen.analysis.result import shown

EFFECT_HEADINGS = ("field", "mean effect", "95 % interval", "share", "adjusted p", "matters")
DIRECTION_HEADINGS = ("field", "into the base", "out of the recipe", "mean effect", "n")
VALUE_HEADINGS = ("field", "base", "recipe", "remark")
GROUP_HEADINGS = ("fields together", "mean effect", "95 % interval", "n", "share", "adjusted p")
Rows = list[tuple[str, ...]]
"""The cells of a table, with the headings as the first row; empty if there are no other rows."""


def effect_rows(gap: Gap) -> Rows:
    """Build a table with a row for each field that was exchanged, with the field's mean effect and
    p value."""
    rows = [
        (
            field.name,
            *shown_difference(field.mean.difference)[:2],
            _share(field.share),
            p_value(field.adjusted),
            "yes" if field.matters else "no",
        )
        for field in gap.fields
        if field.mean is not None
    ]
    return [EFFECT_HEADINGS, *rows] if rows else []


def direction_rows(gap: Gap) -> Rows:
    """Build a table with a row for each field that was exchanged, with the field's effect in each
    direction."""
    rows = [
        (
            field.name,
            *(_value(effect) for effect in (field.into, field.out, field.mean)),
            _counts(field.into, field.out, field.mean),
        )
        for field in gap.fields
        if field.mean is not None
    ]
    return [DIRECTION_HEADINGS, *rows] if rows else []


def direction_lines(gap: Gap) -> Iterator[str]:
    """Yield a line that explains n, if the effects of some field were measured on different
    questions."""
    if any(_varies(field.into, field.out, field.mean) for field in gap.fields):
        yield (
            "n: the number of questions for the effect into the base, for the effect out of the "
            "recipe, and for the mean effect. These numbers differ because questions without a "
            "score are left out"
        )


def value_rows(gap: Gap) -> Rows:
    """Build a table with a row for each field in which the two configurations differ, with the
    field's two values."""
    rows = [
        (field.name, field.base, field.recipe, field.reason or _after(field))
        for field in gap.fields
    ]
    return [VALUE_HEADINGS, *rows] if rows else []


def _after(field: GapField) -> str:
    if field.after is None:
        return ""
    return (
        "in addition to the field that matters by itself: "
        f"{_effect(field.after)} (p {p_value(field.after_p)})"
    )


def group_rows(gap: Gap) -> Rows:
    """Build a table with a row for each group of fields that were exchanged together."""
    rows = [
        (
            " + ".join(group.fields),
            *shown_difference(group.mean.difference)[:2],
            _counts(group.into, group.out, group.mean),
            _share(group.share),
            p_value(group.adjusted),
        )
        for group in gap.groups
    ]
    return [GROUP_HEADINGS, *rows] if rows else []


def gap_verdict(gap: Gap) -> str:
    """Describe the outcome of the search in one or two sentences."""
    names = _joined(gap.matters)
    match gap.kind:
        case "alike":
            return "The two configurations do not differ in any field that can be exchanged."
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
            how = "act together: together they do more than the sum of what each does alone"
        case "either":
            how = "overlap: together they do less than the sum of what each does alone"
        case "opposed":
            how = f"work against each other, and their effects do not add up: {_directions(gap)}"
        case "added":
            how = "each contribute, and their effects add up"
    return f"{names} {how}. Together they make {_share_text(gap)} of the gap of {_gap_text(gap)}."


def gap_lines(gap: Gap) -> Iterator[str]:
    """Yield further lines about the outcome, such as the scores, the rest of the gap, and notes."""
    if gap.base is not None and gap.by_recipe is not None:
        yield (
            f"{gap.against}: {shown(gap.base).value}; recipe: {shown(gap.by_recipe).value}; "
            f"{gap.base.n:,} questions, {gap.scoring} score"
        )
    if gap.total is not None and (absent := gap.questions - gap.total.difference.n) > 0:
        yield f"left out, without a score both ways: {absent:,} of {gap.questions:,}"
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
            "mean effect: the mean of the effects into the base and out of the recipe. A field "
            "matters if its p, adjusted over the fields by Holm's method, is at most "
            f"{FIELD_LEVEL:g}"
        )
    if gap.total is not None:
        yield (
            "p: the p value of a permutation test of signs. The table of paired differences shows "
            "a different p for the same gap, because that table uses t-tests"
        )
    yield from (f"note: {note}" for note in gap.notes)


def group_lines(gap: Gap) -> Iterator[str]:
    """Yield lines that show the interaction of the fields that cause the gap. The sums can be
    checked by hand, since all numbers are from the same questions."""
    group = next((group for group in gap.groups if group.fields == gap.matters), None)
    if group is None or group.interaction is None:
        return
    into, out = group.interaction_into, group.interaction_out
    if into is None or out is None:
        return
    yield (
        f"into the base: {_pp(into.together)} together, {_sum(into.alone)} alone: "
        f"{_pp(into.beyond)} beyond their sum"
    )
    yield (
        f"out of the recipe: {_sum(out.alone)} alone, {_pp(out.together)} together: "
        f"{_pp(out.beyond)} beyond"
    )
    interaction = group.interaction
    yield (
        f"beyond their sum: the mean of both, {_effect(interaction)} "
        f"(p {p_value(interaction.p)}, n {interaction.difference.n:,})"
    )


def _pp(value: float) -> str:
    """`+37.50 pp`"""
    return f"{100 * value:+.2f} pp"


def _sum(values: Sequence[float]) -> str:
    """`81.25 - 9.38 = +71.88 pp`"""
    terms = " ".join(f"{'-' if value < 0 else '+'} {100 * abs(value):.2f}" for value in values)
    return f"{terms.removeprefix('+ ')} = {_pp(sum(values))}"


def _directions(gap: Gap) -> str:
    """`prompt raises the score (+67.19 pp) and images.min_pixels lowers it (-26.56 pp); together
    they make 35.94 pp less than the sum of what each does alone`"""
    fields = [field for field in gap.fields if field.name in gap.matters]
    parts = [
        f"{field.name} {'raises' if field.raises else 'lowers'} {what} ({_value(field.mean)})"
        for field, what in zip(fields, ["the score", *["it"] * len(fields)], strict=False)
    ]
    group = next((group for group in gap.groups if group.fields == gap.matters), None)
    beyond = _value(None if group is None else group.interaction)
    more = "less" if beyond.startswith("-") else "more"
    return (
        f"{_joined(parts)}; together they make {beyond.lstrip('+-')} {more} than the sum of what "
        "each does alone"
    )


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


def _varies(*effects: GapEffect | None) -> bool:
    return len({effect.difference.n for effect in effects if effect is not None}) > 1


def _counts(*effects: GapEffect | None) -> str:
    """Format the numbers of questions, such as `32`, or `28; 27; 24` if the effects were measured
    on different questions."""
    counts = [f"{effect.difference.n:,}" for effect in effects if effect is not None]
    return "; ".join(counts if _varies(*effects) else counts[:1])


def _share(share: float | None) -> str:
    return "" if share is None or share != share else f"{100 * share:.0f} %"


def _joined(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b, and c`"""
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"
