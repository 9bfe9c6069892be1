"""The search for the fields that make a gap.

Both ways of asking answer the same questions. If their difference is not significant, no field is
named. Otherwise each field is exchanged alone, in both directions: into the base, and out of the
recipe. A field has three tests on paired scores: of each direction, and of their mean.

- Fields that add up move the score by the same amount in both directions. The mean has half the
  variance of a single direction, so it finds small effects.
- Fields that act only together do nothing in the base, and each removes the gap from the recipe.
- Fields of which either is enough each make the gap in the base, and none removes it.

The p of a field is the smallest of its three, times three (Bonferroni). Holm's method (1979,
Scandinavian Journal of Statistics 6) adjusts it over the fields, so that an innocent field is named
in at most 1 of 100 gaps, whatever the others do. Tests are permutation tests of signs
(`stats.sign_flips`): if a field does nothing, its two ways of asking can be exchanged in every
question.

If several fields are named, they are exchanged together too, and the interaction says whether they
add up. If a single field is named, and the rest of the gap is significant, the other fields are
exchanged after it, as far as the budget allows: a partner that acts only together with it shows
its full effect there. If no field is named, pairs are exchanged. This is a factorial experiment of
which only the smallest and the largest combinations are run (Daniel 1973, Journal of the American
Statistical Association 68, One-at-a-time plans; Cox and Reid 2000, The Theory of the Design of
Experiments, chapter 5). `docs/decisions/gap.md` has the alternatives, and how often the search is
right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from msgspec.structs import replace

from snellen import stats
from snellen.analysis.gap._document import GapEffect, GapField, GapGroup, GapKind
from snellen.analysis.gap._effects import FIELD_LEVEL, GAP_LEVEL, Measured, Ways

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST_MOVED = 6
"""The fewest questions that make a difference significant at 5 %, if all move to the same side:
2 · 2^-6 < 0.05."""


def exchanges(fields: Sequence[str]) -> list[Ways]:
    """The ways of asking in which a single field is exchanged: first into the base, then out of
    the recipe, without repetitions."""
    every = frozenset(fields)
    singles = [frozenset({name}) for name in fields]
    ways = [*singles, *(every - single for single in singles)]
    return [way for way in dict.fromkeys(ways) if way and way != every]


def measured_fields(measured: Measured, fields: Sequence[GapField]) -> list[GapField]:
    """The fields with their effects, and which of them matter."""
    names = [field.name for field in fields if field.name in measured.fields]
    tested = {name: _tests(measured, frozenset({name})) for name in names}
    ps = dict(zip(names, stats.holm([p for _, p in tested.values()]), strict=True))
    gap = _gap(measured)
    result = []
    for field in fields:
        if field.name not in tested:
            result.append(field)
            continue
        (into, out, mean), p = tested[field.name]
        # The only field in which the ways differ makes the gap, if there is one.
        level = FIELD_LEVEL if len(names) > 1 else GAP_LEVEL
        result.append(
            replace(
                field,
                into=into,
                out=out,
                mean=mean,
                p=p,
                adjusted=ps[field.name],
                matters=ps[field.name] <= level,
                share=_share(mean, gap),
            )
        )
    return result


def pairs_in_order(measured: Measured) -> list[Ways]:
    """All pairs of fields, those whose single exchanges moved the score most first."""
    by_name = {name: _evidence(measured, name) for name in measured.fields}
    pairs = sorted(
        combinations(measured.fields, 2), key=lambda pair: sum(by_name[name] for name in pair)
    )
    # A pair of all fields is the gap itself.
    return [frozenset(pair) for pair in pairs if len(pair) < len(measured.fields)]


def partners_in_order(measured: Measured, first: str) -> list[str]:
    """The other fields, those whose single exchanges moved the score most first."""
    others = [name for name in measured.fields if name != first]
    return sorted(others, key=lambda name: _evidence(measured, name))


def with_partner(
    measured: Measured, fields: Sequence[GapField], first: str, partner: str
) -> list[GapField]:
    """The fields with the effect of a partner after the `first` field, and whether it matters.

    Its p is the smallest of three, times three, times the number of possible partners.
    """
    tests, p = _three_tests(measured, *measured.after(first, partner))
    after_p = min(1.0, p * (len(measured.fields) - 1))
    return [
        replace(field, after=tests[2], after_p=after_p, matters=after_p <= FIELD_LEVEL)
        if field.name == partner
        else field
        for field in fields
    ]


def groups_measured(measured: Measured, groups: Sequence[Ways]) -> list[GapGroup]:
    """The effects of fields that were exchanged together, and their interactions."""
    result = []
    for group in groups:
        (into, out, mean), p = _tests(measured, group)
        names = [name for name in measured.fields if name in group]
        in_base, in_recipe = measured.interactions(names)
        result.append(
            GapGroup(
                fields=names,
                into=into,
                out=out,
                mean=mean,
                share=_share(mean, _gap(measured)),
                interaction=measured.effect(measured.interaction(group)),
                interaction_into=in_base,
                interaction_out=in_recipe,
                p=p,
            )
        )
    return result


def with_adjusted_pairs(pairs: Sequence[GapGroup]) -> list[GapGroup]:
    """The pairs of a search, the most significant first, with p adjusted by Holm's method."""
    adjusted = stats.holm([1.0 if pair.p is None else pair.p for pair in pairs])
    result = [replace(pair, adjusted=p) for pair, p in zip(pairs, adjusted, strict=True)]
    return sorted(result, key=lambda pair: (pair.adjusted or 0.0, pair.p or 0.0))


def decision(
    fields: Sequence[GapField], groups: Sequence[GapGroup]
) -> tuple[GapKind, list[str], GapGroup | None]:
    """The outcome of a significant gap, the fields that make it, and their group.

    `groups` has the fields that matter as its only group, or the pairs of a search.
    """
    matters = [field for field in fields if field.matters]
    names = [field.name for field in matters]
    if len(matters) == 1:
        return "field", names, None
    if matters:
        group = next((group for group in groups if group.fields == names), None)
        return _together(group, matters), names, group
    best = groups[0] if groups else None
    if best is not None and best.adjusted is not None and best.adjusted <= FIELD_LEVEL:
        return "pair", best.fields, best
    return "unexplained", [], None


def smallest_detectable(measured: Measured) -> float | None:
    """The smallest true gap that these questions detect with 80 % probability at 5 %, as a fraction
    of the best score. If hardly a question moved, that in which `FEWEST_MOVED` of them move. None
    without questions."""
    difference = measured.into(measured.all_fields)
    total = measured.effect(difference).difference
    if not total.n:
        return None
    least = FEWEST_MOVED / total.n
    return least if total.stderr is None else max(least, stats.detectable(total.stderr))


def _together(group: GapGroup | None, fields: Sequence[GapField]) -> GapKind:
    """How several fields act: added up, jointly, so that either is enough, or against each
    other."""
    if group is None or group.interaction is None or group.interaction.p > GAP_LEVEL:
        return "added"
    if len({field.raises for field in fields}) > 1:
        return "opposed"
    interaction, effect = group.interaction.difference.value, group.mean.difference.value
    assert interaction is not None
    assert effect is not None
    return "joint" if interaction * effect > 0 else "either"


def _evidence(measured: Measured, name: str) -> float:
    """The logarithm of the p of a field."""
    _, p = _tests(measured, frozenset({name}))
    return math.log(p) if p else -math.inf


def _tests(
    measured: Measured, fields: Ways
) -> tuple[tuple[GapEffect, GapEffect, GapEffect], float]:
    """The effects into the base, out of the recipe, and their mean, and the p of all of them."""
    return _three_tests(measured, measured.into(fields), measured.out(fields))


def _three_tests(
    measured: Measured, first: NDArray[np.float64], second: NDArray[np.float64]
) -> tuple[tuple[GapEffect, GapEffect, GapEffect], float]:
    """The effects of two differences (n,) and of their mean, and the p of all three."""
    import numpy as np

    into, out, mean = map(measured.effect, (first, second, (first + second) / 2))
    is_only = np.array_equal(first, second, equal_nan=True)
    p = mean.p if is_only else min(1.0, 3 * min(into.p, out.p, mean.p))
    return (into, out, mean), p


def _gap(measured: Measured) -> NDArray[np.float64]:
    return measured.into(measured.all_fields)


def _share(effect: GapEffect, gap: NDArray[np.float64]) -> float:
    """An effect as a fraction of the gap."""
    import numpy as np

    value = effect.difference.value
    return math.nan if value is None else value / float(np.nanmean(gap))
