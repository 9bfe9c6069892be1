"""A judge measured against people, and the mean of its scores corrected by what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from snellen import stats
from snellen.scoring.document import JudgeReport, metric_report
from snellen.store import LabelRecord

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHOWN = 3
Reply = tuple[str, int]
"""(sample, repeat)"""


def against(
    labels: Sequence[LabelRecord],
    *,
    metric: str | None,
    rows: Mapping[Reply, int],
    score: NDArray[np.float64],
    cluster: NDArray[np.integer[Any]],
    in_mean: NDArray[np.bool_],
    judged: NDArray[np.bool_],
) -> JudgeReport:
    """What the labels of a scoring's replies say of its judge.

    `rows` says which row each labelled reply is, -1 for those that are not there. All arrays are
    (n,): of each reply its score and cluster, whether it is in the mean, and whether a judge's
    verdict decided. `metric` names the headline, where that is no mean of scores.
    """
    import numpy as np

    given: dict[int, list[float]] = {}
    lost: Counter[str] = Counter()
    strange: list[str] = []
    for one in labels:
        row = rows[one.sample, one.repeat]
        if one.label is None:
            lost["have no label yet: those that have one should be a random part"] += 1
        elif row < 0:
            strange.append(one.sample)
        elif not judged[row]:
            lost["are of replies that rules decided, and no judge"] += 1
        elif not in_mean[row]:
            lost["are of replies that have no verdict"] += 1
        else:
            given.setdefault(row, []).append(one.label)
    notes = [f"{n:,} rows {what}" for what, n in lost.items()]
    if strange:
        which = ", ".join(map(repr, dict.fromkeys(strange[:SHOWN])))
        notes.append(f"{len(strange):,} labels are of no reply of this run, such as {which}")
    if several := sum(len(ratings) > 1 for ratings in given.values()):
        notes.append(f"{several:,} replies have several rows, taken for several people's labels")
    seeds = {one.seed for one in labels}
    if len(seeds) > 1 or None in seeds:
        notes.append(
            "nothing says that the labelled replies were drawn at random (`snellen export RUN --to "
            "labels` draws them): the corrected mean holds only if they were"
        )
    if metric is not None:
        notes.append(f"corrected is the mean score; {metric} is another sum of scores")
    places = np.array(sorted(given), dtype=np.intp)
    people = np.array([fmean(given[place]) for place in places.tolist()])
    label = np.full(len(score), np.nan)
    label[places] = people
    found = stats.powered_mean(score[in_mean], label[in_mean], cluster[in_mean], ~judged[in_mean])
    theirs, groups, open_scores = score[places], cluster[places], score[in_mean & judged]
    said = [one for ratings in given.values() for one in ratings]
    if np.isin(np.concatenate([said, open_scores]), (0, 1)).all():
        compared = _yes_no(theirs, people, groups)
        compared["rogan_gladen"] = _rogan_gladen(
            compared["sensitivity"].value,
            compared["specificity"].value,
            score[in_mean],
            open_scores,
        )
    else:
        compared = _graded(theirs, people, groups)
    return JudgeReport(
        labelled=len(places),
        raters=max(map(len, given.values()), default=0),
        alpha=stats.krippendorff_alpha(list(given.values())),
        seed=next(iter(seeds)) if len(seeds) == 1 else None,
        bias=metric_report(stats.mean(theirs - people, groups, signed=True)),
        judged=metric_report(stats.mean(score[in_mean], cluster[in_mean])),
        corrected=metric_report(found.estimate),
        weight=found.weight,
        labels_alone=metric_report(found.alone),
        notes=notes,
        **compared,
    )


def _yes_no(
    judge: NDArray[np.float64], people: NDArray[np.float64], cluster: NDArray[np.integer[Any]]
) -> dict[str, Any]:
    """How 0s and 1s compare with what most people say; where they are divided evenly they say
    neither."""
    clear = people != 0.5
    yes, right, of = judge[clear] == 1, people[clear] > 0.5, cluster[clear]
    both, alone = int((yes & right).sum()), int((yes & ~right).sum())
    missed, neither = int((~yes & right).sum()), int((~yes & ~right).sum())
    return {
        "agreement": metric_report(stats.mean((yes == right).astype(float), of)),
        "confusion": {
            "both right": both,
            "the judge alone": alone,
            "people alone": missed,
            "both wrong": neither,
            **({"people divided": n} if (n := int((~clear).sum())) else {}),
        },
        "sensitivity": metric_report(stats.mean(yes[right].astype(float), of[right])),
        "specificity": metric_report(stats.mean((~yes[~right]).astype(float), of[~right])),
        "kappa": stats.cohen_kappa(both, alone, missed, neither),
    }


def _graded(
    judge: NDArray[np.float64], people: NDArray[np.float64], cluster: NDArray[np.integer[Any]]
) -> dict[str, Any]:
    return {
        "agreement": metric_report(stats.mean((judge == people).astype(float), cluster)),
        "pearson": _correlation(judge, people),
        "spearman": _correlation(_ranks(judge), _ranks(people)),
    }


def _rogan_gladen(
    sensitivity: float | None,
    specificity: float | None,
    every: NDArray[np.float64],
    judged: NDArray[np.float64],
) -> float | None:
    """The mean of all scores, what is judged corrected as Rogan and Gladen 1978 (American Journal
    of Epidemiology 107) do a test's share of positives; None where the judge tells nothing.

        (share of 1s + specificity - 1) / (sensitivity + specificity - 1), within [0, 1]
    """
    if sensitivity is None or specificity is None or sensitivity + specificity <= 1:
        return None
    share = (float(judged.mean()) + specificity - 1) / (sensitivity + specificity - 1)
    certain = float(every.sum() - judged.sum())
    return (certain + len(judged) * min(1.0, max(0.0, share))) / len(every)


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    """Pearson's; None where one of them does not vary."""
    import numpy as np

    if len(one) < 2 or not one.std() or not other.std():
        return None
    return float(np.corrcoef(one, other)[0, 1])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 0 on, equal values sharing the mean of theirs."""
    import numpy as np

    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts + 1) / 2)[codes]
