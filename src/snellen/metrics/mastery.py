"""Metrics of problems that are asked whole and in steps: what a model knows, and what it guesses.

The four kinds of We-Math (https://arxiv.org/abs/2407.01284, section 2.4). A problem has one
question for each step, and a composite question that needs all steps.

                          composite right                         composite wrong
    all steps right       complete mastery (CM)                   inadequate generalization (IG)
    some step wrong       strict: rote memorization (RM)          insufficient knowledge (IK)
    all steps wrong       strict and loose: RM                    insufficient knowledge (IK)

In the loose version, a problem with the composite and any step right is CM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snellen import stats
from snellen.metrics._columns import Columns
from snellen.metrics._metric import Metric
from snellen.metrics.groups import NONE_COMPLETE, groups
from snellen.stats import Direction, Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KINDS = ("ik", "ig", "cm_strict", "cm_loose", "rm_strict", "rm_loose")


def mastery(by: str, part: str, composite: str) -> dict[str, Metric]:
    """The rates of the four kinds, and the scores that weigh them, keyed by name.

    P complete problems have m_p = 1 if the composite question is right, a_p = 1 if all steps are
    right, and s_p = 1 if any step is right (for `strict`, s_p = a_p).

        ik = 1/P Σ (1-m)(1-a)    ig = 1/P Σ (1-m)a    cm = 1/P Σ m·s    rm = Σ m(1-s) / Σ m
        score = cm + ig / 2

    All are in [0, 1]. Higher is better for `score` and `cm`, and lower for the others. `n` counts
    complete problems, also for `rm`. A problem is one cluster. The tag `by` has the number of its
    steps ("2"), and the tag `part` tells its questions apart, with the name `composite` for the
    composite question. A problem that lacks the score of any question is left out. With repeats,
    a value is the mean over all ways to pick one reply to each question. The interval resamples
    problems.
    """
    weights: dict[str, tuple[dict[str, float], Direction]] = {
        "score_strict": ({"cm_strict": 1, "ig": 0.5}, "higher"),
        "score_loose": ({"cm_loose": 1, "ig": 0.5}, "higher"),
        **{kind: ({kind: 1}, "higher" if kind.startswith("cm") else "lower") for kind in KINDS},
    }

    def rate(name: str, summands: dict[str, float], better: Direction) -> Metric:
        def metric(columns: Columns) -> Estimate:
            import numpy as np

            problems, kinds = _kinds(columns, by, part, composite)
            n = len(problems)
            if not n:
                return Estimate(value=None, n=0, reason=NONE_COMPLETE)
            total = kinds["cm_loose"] + kinds["rm_loose"] if name[:2] == "rm" else np.ones(n)
            if not total.any():
                return Estimate(value=None, n=n, reason="no composite question is answered right")
            value = sum(weight * kinds[kind] for kind, weight in summands.items())
            return stats.bootstrap_sums(
                np.stack([value, total], axis=1), stats.ratio, n=n, clusters=problems
            )

        return Metric(metric, better=better, unit="fraction", name=name)

    return {name: rate(name, *of_kinds) for name, of_kinds in weights.items()}


def _kinds(
    columns: Columns, by: str, part: str, composite: str
) -> tuple[NDArray[np.integer[Any]], dict[str, NDArray[np.float64]]]:
    """The cluster of each complete problem, and for each kind, 1 if the problem is of this kind,
    else 0. All arrays have the shape (P,)."""
    import numpy as np

    names = set(columns.tags[part].names)
    steps = groups(columns.tagged(part, names - {composite}), by, part)
    final = groups(columns.tagged(part, names & {composite}), by, part)
    needed = np.array([int(name or 0) for name in columns.tags[by].names], dtype=int)
    complete = np.flatnonzero(steps.size == needed[steps.code])
    problems, first, second = np.intersect1d(
        steps.cluster[complete], final.cluster, return_indices=True
    )
    every, none = steps.all_right[complete][first], steps.none_right[complete][first]
    right = final.all_right[second]
    return problems, {
        "ik": (1 - right) * (1 - every),
        "ig": (1 - right) * every,
        "cm_strict": right * every,
        "cm_loose": right * (1 - none),
        "rm_strict": right * (1 - every),
        "rm_loose": right * none,
    }
