"""A report: what became of every reply, and what each scoring makes of them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from snellen.stats import Direction, Estimate


class MetricReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A metric as it is published; `bounds` are its values if all that is missing or refused were
    wrong, or right. `better` says whether a higher or a lower value is better; it is absent where
    that is not known."""

    value: float | None
    unit: str
    n: int
    stderr: float | None
    ci95: tuple[float, float] | None
    reason: str | None = None
    bounds: tuple[float, float] | None = None
    better: Direction | None = None


def metric_report(estimate: Estimate, bounds: tuple[float, float] | None = None) -> MetricReport:
    """An estimate as it is published."""
    return MetricReport(
        value=estimate.value,
        unit=estimate.unit,
        n=estimate.n,
        stderr=estimate.stderr,
        ci95=estimate.ci95,
        reason=estimate.reason,
        bounds=bounds,
        better=estimate.better,
    )


def with_directions(
    metrics: Mapping[str, MetricReport], direction: Callable[[str], Direction | None]
) -> dict[str, MetricReport]:
    """The metrics with what `direction` says of each, where they do not state it themselves. A
    category's metric, `f1/adversarial`, points the same way as that of the whole set."""
    return {
        name: replace(
            metric, better=metric.better or direction(name) or direction(name.partition("/")[0])
        )
        for name, metric in metrics.items()
    }


class ScoringReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one scoring made of all replies; `readings` sums to the report's n."""

    version: int
    source: str
    metrics: dict[str, MetricReport]
    readings: dict[str, int]


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """Samples to which the headline scoring and another give different scores, by the two rules
    that fired."""

    scorings: tuple[str, str]
    n: int
    by_rule: dict[str, int]
    examples: list[str]


class CapabilityReport(msgspec.Struct, frozen=True, kw_only=True):
    """The samples that ask for one capability: how many there are, and the mean of their scores
    under the headline scoring, as a share of the best."""

    n: int
    mean: MetricReport


class SliceReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The mean score under the headline scoring, as a share of the best, for each bin of something
    that samples differ in. `p` says whether it differs between bins (`scoring/slices.py`), None
    where that is not known; `adjusted` is Holm's over the slices of the report."""

    bins: dict[str, MetricReport]
    p: float | None = None
    adjusted: float | None = None

    @property
    def differs(self) -> bool:
        """Whether the score differs between bins, at 5 % over all slices."""
        return self.adjusted is not None and self.adjusted < 0.05


class Baselines(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the headline's first metric gives blind models on the same questions.

    `chance` is its expected value for choices drawn at random, None where a question has none;
    where that has no formula it is the mean of so many `draws`. `constant` is its value for the
    answer that is most often right among questions with as many choices, which is `answer` where it
    is always the same. What waits for a judge has neither.
    """

    chance: float | None
    constant: float | None
    answer: str | None
    draws: int | None = None


class RepeatsReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What several replies to each question tell under one scoring, beside the mean of all, which
    stays its metric.

    A question was asked up to `most` times; of `questions` a reply has a score. `metrics` are
    pass@k, where replies are right or wrong, and the majority's score. `between` and `within` are
    the variances of single scores between questions and within one, `stderr_questions` and
    `stderr_again` the standard errors of the mean that they make: the first is of other questions,
    the second of the same ones asked again (`stats.components`).
    """

    most: int
    questions: int
    metrics: dict[str, MetricReport]
    between: float | None = None
    within: float | None = None
    stderr_questions: float | None = None
    stderr_again: float | None = None


class StreamReport(msgspec.Struct, frozen=True, kw_only=True):
    """All sessions that came to their end.

    `media_seconds` were streamed, of whose `frames` those `dropped` came while the model was busy.
    The others took it `model_seconds`; `real_time_factor` is that by the seconds that they stand
    for, above 1 where it cannot keep up. `most_lag` is by how many seconds it was behind at worst.
    """

    sessions: int
    media_seconds: float
    model_seconds: float
    real_time_factor: float | None
    frames: int
    dropped: int
    most_lag: float


class Seconds(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of requests: mean, median, and what nine of ten do not pass."""

    mean: float
    p50: float
    p90: float


class Spent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the `replies` to so many `questions` (samples x repeats; a question may have several
    turns) took; what was taken from another run, and failed attempts, are not in it.

    `tokens` are the sums that the server counted: input (`cached` is part of it), output
    (`reasoning` is part of it); `unsaid` replies have no count, and are in neither tokens nor
    `cost`, which is None where prices are not known. `seconds` are those from the start of each
    call to its last record; `first` and `total` those of a request to its first byte and its end.
    """

    replies: int
    questions: int
    tokens: dict[str, int]
    unsaid: int = 0
    cost: float | None = None
    currency: str | None = None
    seconds: float
    first: Seconds | None = None
    total: Seconds | None = None


class JudgeReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a scoring's judge compares with people who labelled some of the replies that it decides,
    and the mean score corrected by what they say.

    `labelled` replies have a verdict and a label, of up to `raters` people, who agree by `alpha`
    (Krippendorff's); `seed` is that of the sheet that was drawn for them. `agreement` is the share
    of equal scores, `bias` the judge's mean less the people's. Of 0 and 1 there are `confusion`,
    `sensitivity` (what share of that which people take for right the judge does), `specificity` and
    Cohen's `kappa`, for which most people count; of others correlations.

    `judged` is the mean score as it is, `corrected` by prediction-powered inference, with the
    `weight` that the judge has in it, `labels_alone` by labels without a judge; `rogan_gladen`
    another correction, as a check.
    """

    labelled: int
    raters: int
    alpha: float | None
    agreement: MetricReport
    bias: MetricReport
    judged: MetricReport
    corrected: MetricReport
    weight: float
    labels_alone: MetricReport
    rogan_gladen: float | None = None
    confusion: dict[str, int] = {}
    sensitivity: MetricReport | None = None
    specificity: MetricReport | None = None
    kappa: float | None = None
    pearson: float | None = None
    spearman: float | None = None
    seed: str | None = None
    notes: list[str] = []


class AttemptReport(msgspec.Struct, frozen=True, kw_only=True):
    """How verdicts move when a reply has one kind of attempt to steer the judge in it.

    `to_right` is the share of replies taken for wrong that are now taken for right, `to_wrong` the
    other way round, `change` the mean change of all scores. `lost` have no verdict that can be
    read, and are in none of the three. `added` is what was added to the last reply.
    """

    added: str
    to_right: MetricReport
    to_wrong: MetricReport
    change: MetricReport
    lost: int


class SteeringReport(msgspec.Struct, frozen=True, kw_only=True):
    """How one judge's verdicts under one scoring move under replies that try to steer it: of
    `right` and `wrong` replies by its verdicts without, drawn with `seed`."""

    format: int
    benchmark: str
    scoring: str
    judge: str
    right: int
    wrong: int
    seed: int
    attempts: dict[str, AttemptReport]
    run: str


class PlaceReport(msgspec.Struct, frozen=True, kw_only=True):
    """One place among options, over the questions that have it: how often the option there was
    picked, and would be (`expected`) if places did not matter; and the accuracy where the right
    option stands there."""

    place: str
    picked: MetricReport
    expected: float
    accuracy: MetricReport


class ProbeReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a probe tells by itself, under the headline scoring.

    `probe` says how it was asked, as the identity does. Blind: `leakage`, the headline's first
    metric less chance, and how many questions are answered right. Permuted options: `consistency`,
    the share of questions of which the same option was picked in every pass, and `circular`, of
    which the right one was; the `places`, and by `p` how likely so uneven picks are if the order of
    the options has no part in them. Open-ended: what share of replies is another option, and none.
    """

    probe: dict[str, Any]
    metrics: dict[str, MetricReport]
    counts: dict[str, int] = {}
    places: list[PlaceReport] = []
    p: float | None = None


class Report(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of scoring one set of replies; what `--json` prints. Each count sums to n (samples
    × repeats).

    `breakdown` lists, for each tag, what stands behind the slash in its metrics' names. `asked_of`
    is the number of (sample, repeat)s that the whole
    data set has, where fewer were asked. `ladders` are the tags whose categories are levels, with
    the metric that says where on them reading ends. `capabilities` are the samples by what they ask
    of a model; their numbers sum to n. `slices` are the samples by the place of the right answer
    (`answer_place`), the size of the largest picture, the words of the question, and the number of
    pictures, where they differ in it. `streaming` is of online runs. `repeats` are there by scoring
    where questions were asked several times; `alike` is how many of them got the same words each
    time. `conversations` is how many the n replies are turns of, where each turn is scored.
    `judges` are judges measured against people, by scoring. `probe` is of runs that were asked
    otherwise (`snellen.transforms.probes`). `spent` is of the model's own replies, `judging` of
    each judge's.
    """

    format: int
    benchmark: str
    model: str
    n: int
    headline: str
    replies: dict[str, int]
    scorings: dict[str, ScoringReport]
    breakdown: dict[str, list[str]]
    disagreements: list[Disagreement]
    notes: list[str]
    identity: dict[str, Any]
    incomplete: bool = False
    asked_of: int | None = None
    spent: Spent | None = None
    judging: dict[str, Spent] = {}
    baselines: Baselines | None = None
    ladders: dict[str, str] = {}
    capabilities: dict[str, CapabilityReport] = {}
    slices: dict[str, SliceReport] = {}
    streaming: StreamReport | None = None
    repeats: dict[str, RepeatsReport] = {}
    alike: int | None = None
    conversations: int | None = None
    judges: dict[str, JudgeReport] = {}
    probe: ProbeReport | None = None
    out_of_date: list[str] = []
    """Why scoring the run again would give another report. Set when a stored report is read."""
