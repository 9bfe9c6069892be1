"""Computes the effects of fields from the scores of the same questions in several
configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen import stats
from snellen.analysis.gap._document import GapEffect, GapInteraction
from snellen.scoring import MetricReport, metric_report

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GAP_LEVEL = 0.05
"""The significance level for the gap, for the part of the gap that the named fields do not explain,
and for interactions."""
FIELD_LEVEL = 0.01
"""The significance level for single fields and pairs, whose p values are adjusted for multiple
tests. This level is lower than `GAP_LEVEL` because naming a field that has no effect is worse than
asking for a larger sample."""

Ways = frozenset[str]
"""A configuration, represented by the set of fields that have the recipe's values. All other fields
have the base's values."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The scores of the same questions in several configurations."""

    fields: Sequence[str]
    """The fields that can be exchanged."""
    scores: Mapping[Ways, NDArray[np.float64]]
    """For each configuration, the scores of the questions (n,), as fractions of the best score; nan
    for a question without a score."""
    cluster: NDArray[np.int64]
    """The cluster of each question (n,)."""

    @property
    def all_fields(self) -> Ways:
        return frozenset(self.fields)

    def has(self, fields: Ways) -> bool:
        """Whether the effect of exchanging these fields was measured in both directions."""
        return fields in self.scores and self.all_fields - fields in self.scores

    def into(self, fields: Ways) -> NDArray[np.float64]:
        """The effect (n,) of these fields in the base: the scores of the base with the recipe's
        values of these fields, minus the scores of the base."""
        return self.scores[fields] - self.scores[frozenset()]

    def out(self, fields: Ways) -> NDArray[np.float64]:
        """The effect (n,) of these fields in the recipe: the scores of the recipe, minus the scores
        of the recipe with the base's values of these fields."""
        return self.scores[self.all_fields] - self.scores[self.all_fields - fields]

    def both(self, fields: Ways) -> NDArray[np.float64]:
        """The mean (n,) of `into` and `out`."""
        return (self.into(fields) + self.out(fields)) / 2

    def after(self, first: str, second: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The two effects (n,) of exchanging the second field in addition to the first field. The
        first effect starts from the base with the recipe's value of the first field. The second
        effect starts from the recipe with the base's value of the first field."""
        pair, single, every = frozenset({first, second}), frozenset({first}), self.all_fields
        into = self.scores[pair] - self.scores[single]
        return into, self.scores[every - single] - self.scores[every - pair]

    def interaction(self, fields: Ways) -> NDArray[np.float64]:
        """The interaction (n,) of these fields: the mean of into(all) - Σ into(field) and Σ
        out(field) - out(all)."""
        import numpy as np

        singles = [frozenset({name}) for name in fields]
        into = self.into(fields) - np.sum([self.into(single) for single in singles], axis=0)
        out = np.sum([self.out(single) for single in singles], axis=0) - self.out(fields)
        return np.asarray((into + out) / 2)

    def interactions(
        self, fields: Sequence[str]
    ) -> tuple[GapInteraction | None, GapInteraction | None]:
        """The interaction of these fields in the base, and in the recipe. Both interactions are
        None if no question has a score in every configuration that is needed."""
        import numpy as np

        group = frozenset(fields)
        known = ~np.isnan(self.interaction(group))
        if not known.any():
            return None, None

        def part(effect: Callable[[Ways], NDArray[np.float64]], sign: int) -> GapInteraction:
            alone = [float(effect(frozenset({name}))[known].mean()) for name in fields]
            together = float(effect(group)[known].mean())
            beyond = sign * (together - sum(alone))
            return GapInteraction(alone=alone, together=together, beyond=beyond)

        return part(self.into, 1), part(self.out, -1)

    def value(self, way: Ways, of: NDArray[np.float64]) -> MetricReport:
        """The mean score of a configuration. Only questions with a known difference in `of` (n,)
        count."""
        import numpy as np

        known = ~np.isnan(of)
        return metric_report(stats.mean(self.scores[way][known], self.cluster[known]))

    def effect(self, difference: NDArray[np.float64]) -> GapEffect:
        """Compute the mean of a difference (n,), with an interval and a p value. Questions without
        a score are left out."""
        import numpy as np

        known = ~np.isnan(difference)
        moved, cluster = difference[known], self.cluster[known]
        _, codes = np.unique(cluster, return_inverse=True)
        sums: NDArray[np.float64] = np.zeros(len(np.unique(codes)))
        np.add.at(sums, codes, moved)
        return GapEffect(
            difference=metric_report(stats.mean(moved, cluster, signed=True)),
            p=stats.sign_flips(sums),
        )
