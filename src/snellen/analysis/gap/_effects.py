"""Paired effects of fields, from the scores of the same questions under several ways of asking."""

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
"""The level at which there is a gap, and at which its parts are described."""
FIELD_LEVEL = 0.01
"""The level at which a field is named, over all fields: naming an innocent field costs more than
asking for a larger sample."""

Ways = frozenset[str]
"""A way of asking, by the fields that have the recipe's values. The others have the base's."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The scores of the questions under several ways of asking."""

    fields: Sequence[str]
    """The fields that can be exchanged."""
    scores: Mapping[Ways, NDArray[np.float64]]
    """The scores of the questions, (n,), as fractions of the best score; nan without a score."""
    cluster: NDArray[np.int64]
    """The cluster of each question, (n,)."""

    @property
    def all_fields(self) -> Ways:
        return frozenset(self.fields)

    def has(self, fields: Ways) -> bool:
        """Whether exchanging these fields was measured in both directions."""
        return fields in self.scores and self.all_fields - fields in self.scores

    def into(self, fields: Ways) -> NDArray[np.float64]:
        """The base with the recipe's values of these fields, minus the base, (n,)."""
        return self.scores[fields] - self.scores[frozenset()]

    def out(self, fields: Ways) -> NDArray[np.float64]:
        """The recipe, minus the recipe with the base's values of these fields, (n,)."""
        return self.scores[self.all_fields] - self.scores[self.all_fields - fields]

    def both(self, fields: Ways) -> NDArray[np.float64]:
        """The mean of `into` and `out`, (n,)."""
        return (self.into(fields) + self.out(fields)) / 2

    def after(self, first: str, second: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The effect of a second field after the first, (n,): into the base with the first field's
        recipe value, and out of the recipe with its base value."""
        pair, single, every = frozenset({first, second}), frozenset({first}), self.all_fields
        into = self.scores[pair] - self.scores[single]
        return into, self.scores[every - single] - self.scores[every - pair]

    def interaction(self, fields: Ways) -> NDArray[np.float64]:
        """What the fields do together beyond the sum of their single effects, (n,): the mean of
        into(all) - Σ into(field) and Σ out(field) - out(all)."""
        import numpy as np

        singles = [frozenset({name}) for name in fields]
        into = self.into(fields) - np.sum([self.into(single) for single in singles], axis=0)
        out = np.sum([self.out(single) for single in singles], axis=0) - self.out(fields)
        return np.asarray((into + out) / 2)

    def interactions(
        self, fields: Sequence[str]
    ) -> tuple[GapInteraction | None, GapInteraction | None]:
        """The parts of `interaction`: into the base, and out of the recipe. None without a question
        that has a score in all of these ways."""
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
        """The mean score of a way of asking, on the questions of a difference (n,)."""
        import numpy as np

        known = ~np.isnan(of)
        return metric_report(stats.mean(self.scores[way][known], self.cluster[known]))

    def effect(self, difference: NDArray[np.float64]) -> GapEffect:
        """The mean of a difference (n,), and its test. Questions without a score are left out."""
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
