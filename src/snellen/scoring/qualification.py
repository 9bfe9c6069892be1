"""Compares a judge with published verdicts, and decides whether the judge may replace the authors'
judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from snellen import stats
from snellen.scoring.document import MetricReport, metric_report

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST_MODELS = 3
"""The smallest number of models whose ranks are compared. With only two models, the two rankings
agree by chance half the time."""
THRESHOLDS: Mapping[str, float | None] = {
    "kappa": 0.6,
    "bias": 0.05,
    "tau": 0.6,
    "within": None,
    "readable": 0.95,
    "replies": 100,
}
"""The default threshold of each criterion. A criterion with None is not required. `bias` is a
fraction of the best score. Agreement with a kappa above 0.6 is called substantial by Landis and
Koch 1977, The Measurement of Observer Agreement for Categorical Data, Biometrics 33:159-174. The
other thresholds are our choice, and docs/decisions/judges.md gives the reasons."""


class VerdictPair(NamedTuple):
    """The published score and the judge's score of one reply."""

    model: str
    """The model whose reply was judged."""
    cluster: str
    """The cluster of the sample. Samples that depend on each other, such as samples with the same
    picture, are in the same cluster."""
    published: float
    """The score that follows from the published verdict, in the unit of the scoring."""
    judge: float | None
    """The score that follows from the judge's verdict; None if there is no readable verdict."""


class ModelScores(msgspec.Struct, frozen=True, kw_only=True):
    """The mean scores of one model's replies."""

    published: float
    """The mean score by the published verdicts."""
    judge: float
    """The mean score by the judge's verdicts."""
    n: int
    """The number of replies with both scores, including the replies that rules decide."""


class Criterion(msgspec.Struct, frozen=True, kw_only=True):
    """One criterion that a judge must meet to be qualified."""

    name: str
    """`kappa`, `bias`, `tau`, `within`, `readable`, or `replies`."""
    threshold: float | None
    """The smallest allowed value of `bound`, or for `bias` the largest allowed value. None if the
    criterion was waived."""
    bound: float | None
    """The number that is compared with the threshold; None if there is no interval. For `kappa`,
    `tau`, and `within`, the bound is the lower end of the 95 % interval. For `bias`, the bound is
    the larger distance of an end of the 95 % interval from 0, as a fraction of the best score. For
    `readable`, the bound is the metric's value. For `replies`, the bound is the number of
    replies."""
    met: bool
    """Whether the criterion is met or was waived."""


class VerdictAgreement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How well a judge's scores agree with the published scores of the same replies."""

    replies: int
    """The number of replies that the judge was asked to score."""
    questions: int
    """The number of clusters of the samples that these replies answer."""
    best: float
    """The best possible score. All scores are between 0 and the best possible score."""
    tolerance: float
    """The largest difference between two scores that counts as agreement in `within`."""
    readable: MetricReport
    """The fraction of replies on which the judge has a readable verdict. All other metrics are
    computed on these replies. `tau` and `models` also include the replies that rules decide."""
    exact: MetricReport
    """The fraction of replies whose two scores are the same."""
    within: MetricReport
    """The fraction of replies whose two scores differ by at most the tolerance."""
    kappa: MetricReport
    """Cohen's kappa with quadratic weights."""
    bias: MetricReport
    """The mean difference between the judge's score and the published score, positive if the
    judge's scores are higher."""
    tau: MetricReport
    """Kendall's tau-b between two rankings of the models: by the published mean score, and by the
    judge's mean score."""
    models: dict[str, ModelScores]
    """The mean scores of each model."""
    criteria: list[Criterion]
    """The criteria that the judge must meet to be qualified."""
    notes: list[str] = []
    """Limitations of these results."""

    @property
    def summary(self) -> str:
        """One line that explains why the judge is qualified or not."""
        failed = [criterion for criterion in self.criteria if not criterion.met]
        if failed:
            return ", ".join(map(_failure, failed))
        waived = [
            criterion.name
            for criterion in self.criteria
            if criterion.threshold is None and THRESHOLDS[criterion.name] is not None
        ]
        without = f", without a condition on {' and '.join(waived)}" if waived else ""
        models = f"{len(self.models):,} model{'s' * (len(self.models) != 1)}"
        return (
            f"kappa {_number(self.kappa)}, bias {_number(self.bias)}, tau {_number(self.tau)} on "
            f"{self.replies:,} replies of {models}{without}"
        )


class Qualification(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of comparing a judge with published verdicts for one scoring. The result is stored
    as `qualification.json` in the folder of the judge's run."""

    format: int
    """The version of the format of `qualification.json`."""
    key: str
    """A digest of everything that identifies the qualification: the judge with its revision,
    settings, and prompt; the benchmark; and the scoring with its version."""
    benchmark: str
    """The benchmark's name."""
    scoring: str
    """The scoring's name."""
    version: int
    """The version of the scoring."""
    judge: str
    """The judge's name."""
    revision: str | None
    """The revision of the judge model; None if the service does not state a revision."""
    authors: str | None
    """The judge that gave the published verdicts; None if this judge is unknown."""
    published_as: str
    """The scoring that the published verdicts are for."""
    measured: str
    """The time at which the judge was compared with the published verdicts (ISO 8601)."""
    sources: list[str]
    """The names of the files with the published verdicts."""
    agreement: VerdictAgreement
    """The metrics, and the criteria with their outcomes."""
    qualified: bool
    """Whether all criteria are met."""
    run: str
    """The folder of the judge's run."""
    repeats: int = 1
    """How often the judge was asked about each reply. If it was asked several times, `agreement` is
    that of its mean score, which agrees better than a single verdict does."""


def _number(metric: MetricReport) -> str:
    return "not measured" if metric.value is None else f"{metric.value:.3f}"


def _failure(criterion: Criterion) -> str:
    name, threshold, bound = criterion.name, criterion.threshold, criterion.bound
    if bound is None:
        return f"{name} has no interval"
    if name == "replies":
        return f"only {bound:,.0f} of the {threshold:,.0f} replies required"
    relation = "above" if name == "bias" else "below"
    what = name if name == "readable" else f"the bound of {name},"
    return f"{what} {bound:.3f}{',' * (name != 'readable')} is {relation} {threshold:g}"


def measure(
    pairs: Sequence[VerdictPair],
    settled: Sequence[VerdictPair] = (),
    *,
    best: float,
    tolerance: float,
    thresholds: Mapping[str, float | None],
) -> VerdictAgreement:
    """Compare a judge's scores with the published scores of the same replies.

    `settled` contains the replies that rules decide, whose two scores are the same. These replies
    count only in the models' means and ranks. `thresholds` has a value for every name in
    `THRESHOLDS`. `tolerance` is in the unit of the score.

    All intervals are computed over clusters of samples, so several models' replies to the same
    question are not treated as independent. If all clusters agree, `kappa` and `bias` have no
    interval over clusters. In that case, the bounds of `kappa` and `bias` follow the rule of three,
    which assumes that 3 of the G clusters could differ by the best score (Hanley and Lippman-Hand
    1983, If Nothing Goes Wrong, Is Everything All Right?, JAMA 249:1743-1745).
    """
    import numpy as np

    known = [pair for pair in pairs if pair.judge is not None]
    theirs, ours = _scores(known)
    cluster_of = _numbered(pair.cluster for pair in pairs)
    cluster = np.array([cluster_of[pair.cluster] for pair in known], dtype=np.intp)
    every = np.array([cluster_of[pair.cluster] for pair in pairs], dtype=np.intp)
    has_verdict = np.array([pair.judge is not None for pair in pairs], dtype=float)
    spare = best * 3 / max(1, len(np.unique(cluster)))
    models, tau, notes = _ranked([*known, *settled])
    difference = np.abs(ours - theirs)
    results = {
        "readable": stats.mean(has_verdict, every),
        "exact": stats.mean((difference <= 1e-9).astype(float), cluster),
        "within": stats.mean((difference <= tolerance + 1e-9).astype(float), cluster),
        "kappa": stats.weighted_kappa(theirs, ours, cluster),
        "bias": stats.mean(ours - theirs, cluster, signed=True),
        "tau": tau,
    }
    reports = {name: metric_report(estimate) for name, estimate in results.items()}
    reports["kappa"] = _with_bound(reports["kappa"], _kappa_loss(theirs, ours, spare * best), -1)
    # The bias is in the unit of the score, not in percent.
    reports["bias"] = replace(_with_bound(reports["bias"], spare, 1), unit="")
    return VerdictAgreement(
        replies=len(pairs),
        questions=len(cluster_of),
        best=best,
        tolerance=tolerance,
        **reports,
        models=models,
        criteria=[*_criteria(reports, len(pairs), best, thresholds)],
        notes=notes,
    )


def _scores(pairs: Sequence[VerdictPair]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The published scores (n,) and the judge's scores (n,) of replies that have both scores."""
    import numpy as np

    return (
        np.array([pair.published for pair in pairs], dtype=float),
        np.array([pair.judge for pair in pairs], dtype=float),
    )


def _ranked(
    pairs: Sequence[VerdictPair],
) -> tuple[dict[str, ModelScores], stats.Estimate, list[str]]:
    """The mean scores of the models, the agreement of their two rankings, and notes."""
    import numpy as np

    theirs, ours = _scores(pairs)
    model_of = _numbered(pair.model for pair in pairs)
    cluster_of = _numbered(pair.cluster for pair in pairs)
    group = np.array([model_of[pair.model] for pair in pairs], dtype=np.intp)
    cluster = np.array([cluster_of[pair.cluster] for pair in pairs], dtype=np.intp)
    models = {
        name: ModelScores(
            published=float(theirs[group == number].mean()),
            judge=float(ours[group == number].mean()),
            n=int((group == number).sum()),
        )
        for name, number in model_of.items()
    }
    if len(models) >= FEWEST_MODELS:
        return models, stats.rank_agreement(theirs, ours, group, cluster), []
    note = (
        f"the effect on ranks was not measured: this requires the replies of at least "
        f"{FEWEST_MODELS} models, but there are only {len(models)}"
    )
    none = stats.Estimate(value=None, n=len(pairs), unit="", reason="too few models")
    return models, none, [note]


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


SAME = ("all clusters have the same mean", "all resamples have the same value")
"""The values of `MetricReport.reason` for an interval that is missing because all clusters agree.
If the reason is another one, data are missing."""


def _with_bound(metric: MetricReport, loss: float, sides: int) -> MetricReport:
    """Add an interval to the metric if the interval is missing only because all clusters agree. The
    interval extends `loss` below the value. If `sides` is 1, it also extends `loss` above the
    value; otherwise, it ends at the value."""
    if metric.value is None or metric.ci95 is not None or metric.reason not in SAME:
        return metric
    high = metric.value + loss if sides == 1 else metric.value
    return replace(metric, ci95=(metric.value - loss, high), reason=None)


def _kappa_loss(theirs: NDArray[np.float64], ours: NDArray[np.float64], apart: float) -> float:
    """The amount by which kappa falls if the mean squared difference grows by `apart`."""
    by_chance = theirs.var() + ours.var() + (theirs.mean() - ours.mean()) ** 2
    return float(apart / by_chance) if by_chance else 0.0


def _criteria(
    reports: Mapping[str, MetricReport],
    replies: int,
    best: float,
    thresholds: Mapping[str, float | None],
) -> list[Criterion]:
    bounds: dict[str, float | None] = {"replies": float(replies)}
    for name in ("kappa", "tau", "within", "readable"):
        ends = reports[name].ci95
        bounds[name] = None if ends is None else ends[0]
    ends = reports["bias"].ci95
    bounds["bias"] = None if ends is None else max(map(abs, ends)) / best
    # The fraction that could be read is a fact about these replies, not an estimate.
    bounds["readable"] = reports["readable"].value
    return [
        Criterion(
            name=name,
            threshold=threshold,
            bound=bounds[name],
            met=_is_met(name, bounds[name], threshold),
        )
        for name, threshold in thresholds.items()
    ]


def _is_met(name: str, bound: float | None, threshold: float | None) -> bool:
    if threshold is None:
        return True
    if bound is None:
        return False
    return bound <= threshold if name == "bias" else bound >= threshold
