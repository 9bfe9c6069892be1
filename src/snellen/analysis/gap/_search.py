"""Searches for the fields that cause a gap.

Both configurations are run on the same questions. If their scores do not differ significantly, no
field is named. Otherwise, each field is exchanged alone, in both directions: the base gets the
recipe's value of the field, and the recipe gets the base's value. Three paired tests are computed
for each field: one for each direction, and one for the mean of both directions.

If the effects of several fields add up, each field changes the score by the same amount in both
directions. The mean of both directions has half the variance of a single direction, so the test of
the mean detects smaller effects. If fields have an effect only together, no single field has an
effect in the base. In the recipe, however, resetting any one of these fields removes the gap. If
any one of several fields is enough to cause the gap, each of these fields has an effect in the
base. In the recipe, however, resetting a single field does not remove the gap.

The p value of a field is the smallest of the field's three p values, multiplied by three
(Bonferroni). Holm's method (1979, Scandinavian Journal of Statistics 6) adjusts these p values over
all fields. A field without an effect is therefore named in at most 1 of 100 gaps, whatever effects
the other fields have. The tests are permutation tests of signs (`stats.sign_flips`): if a field has
no effect, its two values are exchangeable in every question.

If several fields are named, these fields are also exchanged together, and their interaction shows
whether their effects add up. If a single field is named, and the rest of the gap is significant,
each of the other fields is exchanged in addition to the named field, as far as the budget allows. A
field that has an effect only together with the named field then shows its full effect. If no field
is named, pairs of fields are exchanged. The search is a factorial experiment in which only the
smallest and the largest combinations are run (Daniel 1973, Journal of the American Statistical
Association 68, One-at-a-time plans; Cox and Reid 2000, The Theory of the Design of Experiments,
chapter 5). `docs/decisions/gap.md` describes the alternatives, and reports how often the search is
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
"""The smallest number of changed scores that can make a difference significant at the 5 % level, if
all of these scores change in the same direction (2 · 2^-6 < 0.05)."""


def exchanges(fields: Sequence[str]) -> list[Ways]:
    """The configurations in which a single field is exchanged, without repetitions. Configurations
    that start from the base come first, followed by configurations that start from the recipe."""
    every = frozenset(fields)
    singles = [frozenset({name}) for name in fields]
    ways = [*singles, *(every - single for single in singles)]
    return [way for way in dict.fromkeys(ways) if way and way != every]


def measured_fields(measured: Measured, fields: Sequence[GapField]) -> list[GapField]:
    """Add to each field the field's effects, and whether these effects are significant."""
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
        # If the configurations differ in a single field, a significant gap is its effect.
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
    """All pairs of fields, sorted so that the fields whose single effects have the smallest p
    values come first."""
    by_name = {name: _evidence(measured, name) for name in measured.fields}
    pairs = sorted(
        combinations(measured.fields, 2), key=lambda pair: sum(by_name[name] for name in pair)
    )
    # If there are only two fields, the effect of the pair is the gap itself.
    return [frozenset(pair) for pair in pairs if len(pair) < len(measured.fields)]


def partners_in_order(measured: Measured, first: str) -> list[str]:
    """All fields except `first`, sorted by the p values of their single effects, the smallest
    first."""
    others = [name for name in measured.fields if name != first]
    return sorted(others, key=lambda name: _evidence(measured, name))


def with_partner(
    measured: Measured, fields: Sequence[GapField], first: str, partner: str
) -> list[GapField]:
    """Store in the field `partner` the effect of exchanging it in addition to the field `first`,
    and whether this effect is significant.

    The p value of the effect is the smallest of three p values, multiplied by three and by the
    number of possible partners.
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
    """Compute the joint effects and the interactions of groups of fields that were exchanged
    together."""
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
    """Adjust the p values of pairs by Holm's method, and sort the pairs by p value, the smallest
    first."""
    adjusted = stats.holm([1.0 if pair.p is None else pair.p for pair in pairs])
    result = [replace(pair, adjusted=p) for pair, p in zip(pairs, adjusted, strict=True)]
    return sorted(result, key=lambda pair: (pair.adjusted or 0.0, pair.p or 0.0))


def decision(
    fields: Sequence[GapField], groups: Sequence[GapGroup]
) -> tuple[GapKind, list[str], GapGroup | None]:
    """Return the outcome for a significant gap, the names of the fields that cause the gap, and the
    group of these fields, if any.

    `groups` contains either the single group of all fields that matter, or the pairs that were
    tried.
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
    """The smallest true gap that a test at the 5 % level on these questions detects with 80 %
    probability, as a fraction of the best score. The result is never smaller than the gap that
    arises if the scores of `FEWEST_MOVED` questions change. The result is None if there are no
    questions."""
    difference = measured.into(measured.all_fields)
    total = measured.effect(difference).difference
    if not total.n:
        return None
    least = FEWEST_MOVED / total.n
    return least if total.stderr is None else max(least, stats.detectable(total.stderr))


def _together(group: GapGroup | None, fields: Sequence[GapField]) -> GapKind:
    """The outcome for several fields: whether their effects add up, or how they interact."""
    if group is None or group.interaction is None or group.interaction.p > GAP_LEVEL:
        return "added"
    if len({field.raises for field in fields}) > 1:
        return "opposed"
    interaction, effect = group.interaction.difference.value, group.mean.difference.value
    assert interaction is not None
    assert effect is not None
    return "joint" if interaction * effect > 0 else "either"


def _evidence(measured: Measured, name: str) -> float:
    """The logarithm of a field's p value. A lower logarithm means stronger evidence for an
    effect."""
    _, p = _tests(measured, frozenset({name}))
    return math.log(p) if p else -math.inf


def _tests(
    measured: Measured, fields: Ways
) -> tuple[tuple[GapEffect, GapEffect, GapEffect], float]:
    """Compute the effects of exchanging fields in the base, in the recipe, and on average, with one
    p value for all three."""
    return _three_tests(measured, measured.into(fields), measured.out(fields))


def _three_tests(
    measured: Measured, first: NDArray[np.float64], second: NDArray[np.float64]
) -> tuple[tuple[GapEffect, GapEffect, GapEffect], float]:
    """Compute the effects for two differences (n,) and for their mean, with one p value for all
    three."""
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
