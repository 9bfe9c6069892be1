"""Compares a judge's scores with people's labels, and corrects the mean score with these labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from snellen import stats
from snellen.metrics import is_mean
from snellen.scoring.document import JudgeReport, metric_report
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.sections._base import Base
from snellen.store import LabelRecord

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHOWN = 3
Reply = tuple[str, int]
"""(sample, repeat)"""


class JudgesSection(Base):
    """Compares the judge of each scoring with people, if people have labeled replies."""

    def summarize(self, draft: Draft) -> Part:
        import numpy as np

        source, table, scorer = draft.source, draft.table, draft.scorer
        if not source.labels or source.questions is None:
            return NOTHING
        labelled = {(label.sample, label.repeat): -1 for label in source.labels}
        for row, scored in draft.samples():
            if (scored.sample.id, scored.repeat) in labelled:
                labelled[scored.sample.id, scored.repeat] = row
        reports = {}
        for name in draft.reported:
            columns = table.findings[name]
            if columns.slots is None or name not in scorer.verdicts:
                continue
            headline, function = next(iter(draft.benchmark.scorings[name].metrics.items()))
            reports[name] = against(
                [label for label in source.labels if label.scoring in (None, name)],
                metric=None if is_mean(function) else headline,
                rows=labelled,
                score=columns.scores.values,
                cluster=table.clusters,
                in_mean=columns.has_score,
                judged=np.array([bool(slots) for slots in columns.slots.data], dtype=np.bool_),
            )
        return {"judges": reports}, ()


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
    """Compare a judge's scores with people's labels of the same replies.

    `rows` maps each labeled reply to its row, or to -1 if it has no row. The arrays (n,) contain,
    for each row, its score, its cluster, whether it is in the mean, and whether a judge scored it.
    `metric` is the name of the scoring's first metric if this metric is not a mean of scores.
    """
    import numpy as np

    ratings, notes = _usable(labels, rows, in_mean, judged)
    if metric is not None:
        notes.append(f"the corrected value is the mean score, since {metric} is not a mean")
    places = np.array(sorted(ratings), dtype=np.intp)
    people = np.array([fmean(ratings[row]) for row in places.tolist()])
    label_of = np.full(len(score), np.nan)
    label_of[places] = people
    powered = stats.powered_mean(
        score[in_mean], label_of[in_mean], cluster[in_mean], ~judged[in_mean]
    )
    theirs, groups, open_scores = score[places], cluster[places], score[in_mean & judged]
    every_label = [value for of_reply in ratings.values() for value in of_reply]
    if np.isin(np.concatenate([every_label, open_scores]), (0, 1)).all():
        compared = _yes_no(theirs, people, groups)
        compared["rogan_gladen"] = _rogan_gladen(
            compared["sensitivity"].value,
            compared["specificity"].value,
            score[in_mean],
            open_scores,
        )
    else:
        compared = _graded(theirs, people, groups)
    seeds = {label.seed for label in labels}
    return JudgeReport(
        labelled=len(places),
        raters=max(map(len, ratings.values()), default=0),
        alpha=stats.krippendorff_alpha(list(ratings.values())),
        seed=next(iter(seeds)) if len(seeds) == 1 else None,
        bias=metric_report(stats.mean(theirs - people, groups, signed=True)),
        judged=metric_report(stats.mean(score[in_mean], cluster[in_mean])),
        corrected=metric_report(powered.estimate),
        weight=powered.weight,
        labels_alone=metric_report(powered.alone),
        notes=notes,
        **compared,
    )


def _usable(
    labels: Sequence[LabelRecord],
    rows: Mapping[Reply, int],
    in_mean: NDArray[np.bool_],
    judged: NDArray[np.bool_],
) -> tuple[dict[int, list[float]], list[str]]:
    """The usable labels of each row, and notes on the labels that cannot be used."""
    ratings: dict[int, list[float]] = {}
    lost: Counter[str] = Counter()
    strange: list[str] = []
    for label in labels:
        row = rows[label.sample, label.repeat]
        if label.label is None:
            lost["have no label yet: the labeled rows should be a random subset"] += 1
        elif row < 0:
            strange.append(label.sample)
        elif not judged[row]:
            lost["have replies that were scored by rules, not by a judge"] += 1
        elif not in_mean[row]:
            lost["have replies without a verdict"] += 1
        else:
            ratings.setdefault(row, []).append(label.label)
    notes = [f"{n:,} rows {what}" for what, n in lost.items()]
    if strange:
        which = ", ".join(map(repr, dict.fromkeys(strange[:SHOWN])))
        notes.append(f"{len(strange):,} labels match no reply of this run, such as {which}")
    if several := sum(len(of_reply) > 1 for of_reply in ratings.values()):
        notes.append(
            f"{several:,} replies have several rows, which count as labels by different people"
        )
    seeds = {label.seed for label in labels}
    if len(seeds) > 1 or None in seeds:
        notes.append(
            "the corrected mean is valid only if the labeled replies were drawn at random, which "
            "is unknown (`snellen export RUN --to labels` draws replies at random)"
        )
    return ratings, notes


def _yes_no(
    judge: NDArray[np.float64], people: NDArray[np.float64], cluster: NDArray[np.integer[Any]]
) -> dict[str, Any]:
    """Compare the judge's scores of 0 and 1 with the majority of people's labels. Replies on which
    people are evenly divided are left out, but are counted as `people divided`."""
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
    """Compute the mean of all scores, with a corrected share of right answers among the judged
    replies. The result is None if the judge is no better than chance.

    The correction is from Rogan and Gladen 1978 (American Journal of Epidemiology 107). The
    corrected share is

        (share of 1s + specificity - 1) / (sensitivity + specificity - 1), within [0, 1]
    """
    if sensitivity is None or specificity is None or sensitivity + specificity <= 1:
        return None
    share = (float(judged.mean()) + specificity - 1) / (sensitivity + specificity - 1)
    certain = float(every.sum() - judged.sum())
    return (certain + len(judged) * min(1.0, max(0.0, share))) / len(every)


def _correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """Pearson's correlation; None if either array does not vary."""
    import numpy as np

    if len(first) < 2 or not first.std() or not second.std():
        return None
    return float(np.corrcoef(first, second)[0, 1])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks, starting at 0. Equal values get the mean of their ranks."""
    import numpy as np

    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts + 1) / 2)[codes]
