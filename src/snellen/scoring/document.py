"""A report: what became of every reply, and the result of each scoring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from snellen.stats import Direction, Estimate


class MetricReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A metric as it is published."""

    value: float | None
    """The metric's value; None if there is none."""
    unit: str
    """The unit of the value; `fraction` is shown in percent."""
    n: int
    """The number of scores behind the value."""
    stderr: float | None
    """The standard error of the value; None if it is not known."""
    ci95: tuple[float, float] | None
    """The 95 % confidence interval, (low, high)."""
    reason: str | None = None
    """Why there is no value."""
    bounds: tuple[float, float] | None = None
    """(low, high): the value if all missing and refused replies were wrong, and if they were
    right."""
    better: Direction | None = None
    """Whether a higher or a lower value is better; None if that is not known."""


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
    """The metrics with the direction that `direction` gives for those that do not state their own.

    A category's metric, such as `f1/adversarial`, has the direction of the metric of the whole set.
    """
    return {
        name: replace(
            metric, better=metric.better or direction(name) or direction(name.partition("/")[0])
        )
        for name, metric in metrics.items()
    }


class ScoringReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one scoring."""

    version: int
    """The version of the scoring's rules."""
    source: str
    """Where the rules come from."""
    metrics: dict[str, MetricReport]
    """The metrics by name."""
    readings: dict[str, int]
    """The number of replies by the state of their reading (answered, unparsed, and so on). The
    numbers sum to the report's `n`."""


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """The samples to which the headline scoring and another scoring give different scores."""

    scorings: tuple[str, str]
    """The names of the two scorings."""
    n: int
    """The number of samples."""
    by_rule: dict[str, int]
    """The number of samples by the pair of rules that read the reply."""
    examples: list[str]
    """The ids of some of the samples."""


class CapabilityReport(msgspec.Struct, frozen=True, kw_only=True):
    """The samples that require one capability."""

    n: int
    """The number of samples."""
    mean: MetricReport
    """The mean score under the headline scoring, as a fraction of the best score."""


class SliceReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The scores by one property of the samples, such as the length of the question."""

    bins: dict[str, MetricReport]
    """For each bin the mean score under the headline scoring, as a fraction of the best score."""
    p: float | None = None
    """The p-value of the test for a difference between bins (`scoring/sections/slices.py`); None if
    the test was not possible."""
    adjusted: float | None = None
    """The p-value after Holm's correction over all slices of the report."""

    @property
    def differs(self) -> bool:
        """Whether the score differs between bins, at the 5 % level over all slices."""
        return self.adjusted is not None and self.adjusted < 0.05


class Baselines(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The headline's first metric for blind models on the same questions.

    A scoring that waits for a judge has no baselines.
    """

    chance: float | None
    """The expected value for choices drawn at random; None if some question has no choices."""
    constant: float | None
    """The value for always giving the most frequent answer among questions with as many choices."""
    answer: str | None
    """That answer; None if it is not the same for all questions."""
    draws: int | None = None
    """The number of random draws whose mean `chance` is; None if a formula gives `chance`."""


class RepeatsReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What several replies per question show under one scoring.

    The scoring's own metric stays the mean over all replies.
    """

    most: int
    """The largest number of replies to one question."""
    questions: int
    """The number of questions with at least one scored reply."""
    metrics: dict[str, MetricReport]
    """pass@k, if every reply is right or wrong, and the score of the majority answer."""
    between: float | None = None
    """The variance of scores between questions."""
    within: float | None = None
    """The variance of scores within a question."""
    stderr_questions: float | None = None
    """The standard error of the mean over a new draw of questions (`stats.components`)."""
    stderr_again: float | None = None
    """The standard error of the mean if the same questions are asked again."""


class StreamReport(msgspec.Struct, frozen=True, kw_only=True):
    """The timing of all sessions of an online run that reached their end."""

    sessions: int
    """The number of sessions."""
    media_seconds: float
    """The seconds of video that were streamed."""
    model_seconds: float
    """The seconds that the model took for the frames that it saw."""
    real_time_factor: float | None
    """`model_seconds` divided by the seconds of video that those frames stand for. A model with a
    factor above 1 cannot keep up."""
    frames: int
    """The number of frames in the stream."""
    dropped: int
    """The number of frames that came while the model was busy, and that it did not see."""
    most_lag: float
    """The largest delay behind the stream, in seconds."""


class Seconds(msgspec.Struct, frozen=True, kw_only=True):
    """Durations of requests, in seconds."""

    mean: float
    """The mean."""
    p50: float
    """The median."""
    p90: float
    """The 90th percentile."""


class CostReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What replies cost in tokens, money, and time.

    Replies that were taken from another run and failed attempts are not counted.
    """

    replies: int
    """The number of replies."""
    questions: int
    """The number of questions: samples x repeats. A question may have several turns."""
    tokens: dict[str, int]
    """The sums that the server counted: `input` (with `cached`) and `output` (with `reasoning`)."""
    unsaid: int = 0
    """The number of replies for which the server reported no tokens. They are neither in `tokens`
    nor in `cost`."""
    cost: float | None = None
    """The cost in `currency`; None if prices are not known."""
    currency: str | None = None
    """The currency of the profile's prices."""
    seconds: float
    """The seconds from the start of each call of `snellen run` to its last record."""
    first: Seconds | None = None
    """The time from a request to the first byte of its reply."""
    total: Seconds | None = None
    """The time from a request to the end of its reply."""


class TokenTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Times of streamed replies, in seconds."""

    n: int
    """The number of replies."""
    median: float
    """The median."""
    p95: float
    """The 95th percentile."""


class SpeedReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How fast streamed replies came."""

    first_token: TokenTimes
    """From a request to the first text or reasoning of its reply."""
    per_token: TokenTimes | None = None
    """For each output token after the first; None if the server reported no token counts."""


class TokenReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The output tokens, thoughts included, of the replies that count in the headline and whose
    tokens are known."""

    per_reply: MetricReport
    """The mean per reply."""
    per_correct: MetricReport | None = None
    """The tokens of all these replies, divided by the number of correct answers among them: the sum
    of the scores divided by the best score. None if single replies have no score."""


class JudgeReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a scoring's judge compares with people who labeled some of the replies that it decides,
    and the mean score corrected with their labels."""

    labelled: int
    """The number of replies with a verdict and a label."""
    raters: int
    """The largest number of people who labeled one reply."""
    alpha: float | None
    """Krippendorff's alpha: how well the people agree with each other."""
    agreement: MetricReport
    """The fraction of replies to which the judge and the people give the same score."""
    bias: MetricReport
    """The judge's mean score minus that of the people."""
    judged: MetricReport
    """The mean score by the judge alone."""
    corrected: MetricReport
    """The mean score corrected by prediction-powered inference."""
    weight: float
    """The weight of the judge's verdicts in `corrected`, from 0 to 1."""
    labels_alone: MetricReport
    """The mean score by the labels alone."""
    rogan_gladen: float | None = None
    """The mean score by the correction of Rogan and Gladen, as a check; for scores of 0 and 1."""
    confusion: dict[str, int] = {}
    """The confusion matrix of judge and people; for scores of 0 and 1."""
    sensitivity: MetricReport | None = None
    """Of the replies that the people judge right, the fraction that the judge judges right, too."""
    specificity: MetricReport | None = None
    """Of the replies that the people judge wrong, the fraction that the judge judges wrong, too."""
    kappa: float | None = None
    """Cohen's kappa between the judge and the majority of the people."""
    pearson: float | None = None
    """Pearson's correlation; for scores other than 0 and 1."""
    spearman: float | None = None
    """Spearman's correlation; for scores other than 0 and 1."""
    seed: str | None = None
    """The seed with which the sheet of replies to label was drawn."""
    notes: list[str] = []
    """What a reader of these figures must know."""


class AttemptReport(msgspec.Struct, frozen=True, kw_only=True):
    """How verdicts change when a reply contains one kind of attempt to steer the judge."""

    added: str
    """The text that was added to the last reply."""
    to_right: MetricReport
    """The fraction of replies judged wrong that are judged right with the attempt."""
    to_wrong: MetricReport
    """The fraction of replies judged right that are judged wrong with the attempt."""
    change: MetricReport
    """The mean change of all scores."""
    lost: int
    """The number of verdicts that cannot be parsed; they are in none of the three metrics."""


class SteeringReport(msgspec.Struct, frozen=True, kw_only=True):
    """How one judge's verdicts under one scoring change for replies that try to steer it."""

    format: int
    """The version of this document's form."""
    benchmark: str
    """The benchmark's name."""
    scoring: str
    """The scoring's name."""
    judge: str
    """The judge's name."""
    right: int
    """The number of replies that the judge takes to be right without an attempt."""
    wrong: int
    """The number of replies that the judge takes to be wrong without an attempt."""
    seed: int
    """The seed with which the replies were drawn."""
    attempts: dict[str, AttemptReport]
    """The changes by kind of attempt."""
    run: str
    """The folder of the run whose replies were used."""


class PlaceReport(msgspec.Struct, frozen=True, kw_only=True):
    """One position among the choices, over the questions that have it."""

    place: str
    """The position's letter."""
    picked: MetricReport
    """How often the choice at this position was picked."""
    expected: float
    """How often it would be picked if positions did not matter."""
    accuracy: MetricReport
    """The accuracy on questions whose right choice is at this position."""


class ProbeReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a probe under the headline scoring."""

    probe: dict[str, Any]
    """How the questions were changed, as in the run's identity."""
    metrics: dict[str, MetricReport]
    """Blind: `leakage`, the headline's first metric minus chance. Permuted choices: `consistency`,
    the fraction of questions for which the same choice was picked in every pass, and `circular`,
    for which the right choice was picked in every pass. Open-ended: the fraction of replies that
    name another choice, and of those that name none."""
    counts: dict[str, int] = {}
    """Blind: of the `scored` questions, how many are `right`. Permuted choices: of the `questions`,
    how many are `complete`, with a score in every pass."""
    places: list[PlaceReport] = []
    """Permuted choices: the picks by position."""
    p: float | None = None
    """Permuted choices: the probability of picks at least as uneven if positions do not matter."""


class Report(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of scoring one set of replies, as `--json` prints it."""

    format: int
    """The version of this document's form."""
    benchmark: str
    """The benchmark's name."""
    model: str
    """The model's name; empty if it is not known."""
    n: int
    """The number of (sample, repeat) pairs. The numbers in `replies` sum to it."""
    headline: str
    """The name of the scoring whose first metric stands for the whole result."""
    replies: dict[str, int]
    """The number of replies by state: ok, failed, refused, and so on."""
    scorings: dict[str, ScoringReport]
    """The result of each scoring by name."""
    breakdown: dict[str, list[str]]
    """For each tag its categories: the part after the slash in the names of metrics."""
    disagreements: list[Disagreement]
    """Where the headline scoring and other scorings differ."""
    notes: list[str]
    """What a reader of the scores must know."""
    identity: dict[str, Any]
    """The identity of the run, or what is known of it."""
    incomplete: bool = False
    """Whether replies are missing, so that the scores do not stand for the whole set."""
    asked_of: int | None = None
    """The number of (sample, repeat) pairs in the whole data set, if the run asked fewer."""
    spent: CostReport | None = None
    """What the model's replies cost."""
    judging: dict[str, CostReport] = {}
    """What each judge's replies cost."""
    tokens: TokenReport | None = None
    """The output tokens per reply and per correct answer; None if the server reported none."""
    speed: SpeedReport | None = None
    """How fast streamed replies came; None if none was streamed."""
    baselines: Baselines | None = None
    """The headline's first metric for blind models."""
    ladders: dict[str, str] = {}
    """For each tag whose categories are levels, the metric that gives the level at which reading
    ends."""
    capabilities: dict[str, CapabilityReport] = {}
    """The scores by the capability that a sample requires. Each sample has one, so that their `n`
    sum to this report's."""
    slices: dict[str, SliceReport] = {}
    """The scores by `answer_place`, `picture_size`, `question_words`, and `pictures`, where samples
    differ in them."""
    streaming: StreamReport | None = None
    """The timing of an online run."""
    repeats: dict[str, RepeatsReport] = {}
    """The repeats by scoring, if questions were asked several times."""
    alike: int | None = None
    """The number of repeated questions whose replies all have the same words."""
    conversations: int | None = None
    """The number of conversations, if each turn is scored and `n` counts turns."""
    judges: dict[str, JudgeReport] = {}
    """The judges compared with people, by scoring."""
    probe: ProbeReport | None = None
    """The result of a probe (`snellen.transforms.probes`)."""
    out_of_date: list[str] = []
    """Why scoring the run again would give another report. It is set when a stored report is
    read."""
