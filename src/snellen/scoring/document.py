"""The report: the outcome of every reply, and the result of each scoring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from snellen.scoring.judged_by import JudgedBy
from snellen.stats import Direction, Estimate


class MetricReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A metric as it appears in reports."""

    value: float | None
    """The metric's value; None if there is no value, in which case `reason` explains why."""
    unit: str
    """The unit of the value. A value with the unit `fraction` is shown in percent."""
    n: int
    """The number of scores from which the value was computed."""
    stderr: float | None
    """The standard error of the value; None if the error is unknown."""
    ci95: tuple[float, float] | None
    """The lower and the upper end of the 95 % confidence interval; None if the interval is
    unknown."""
    reason: str | None = None
    """Why the metric has no value or no interval."""
    bounds: tuple[float, float] | None = None
    """The value if all missing and refused replies were wrong, and the value if all of them were
    right."""
    better: Direction | None = None
    """Whether a higher or a lower value is better; None if the direction is unknown."""


def metric_report(estimate: Estimate, bounds: tuple[float, float] | None = None) -> MetricReport:
    """Convert an estimate to the form that reports use."""
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
    """Set the direction of each metric that has none to the direction that the function `direction`
    returns for its name.

    The metric of a category, such as `f1/adversarial`, has the same direction as the metric of the
    whole set.
    """
    return {
        name: replace(
            metric, better=metric.better or direction(name) or direction(name.partition("/")[0])
        )
        for name, metric in metrics.items()
    }


class ScoringReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of scoring all replies by one scoring."""

    version: int
    """The version of the scoring's rules."""
    source: str
    """The source of the rules."""
    metrics: dict[str, MetricReport]
    """The metrics by name."""
    readings: dict[str, int]
    """The number of replies for each state of the reading (answered, unparsed, and so on). The
    numbers add up to the report's `n`."""


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """The samples to which the headline scoring and another scoring give different scores."""

    scorings: tuple[str, str]
    """The names of the two scorings."""
    n: int
    """The number of samples."""
    by_rule: dict[str, int]
    """The number of samples for each pair of rules: the rule by which the headline scoring parsed
    the reply, and the rule by which the other scoring parsed it."""
    examples: list[str]
    """The ids of some of these samples."""


class CapabilityReport(msgspec.Struct, frozen=True, kw_only=True):
    """The mean score on the samples that require one capability."""

    n: int
    """The number of samples."""
    mean: MetricReport
    """The mean score by the headline scoring, as a fraction of the best score."""


class SliceReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The scores, broken down by one property of the samples, such as the length of the
    question."""

    bins: dict[str, MetricReport]
    """For each bin, the mean score by the headline scoring, as a fraction of the best score."""
    p: float | None = None
    """The p-value of the test for a difference between bins (`scoring/sections/slices.py`); None if
    the test was not possible."""
    adjusted: float | None = None
    """The p-value after Holm's correction over all slices of the report."""

    @property
    def differs(self) -> bool:
        """Whether the score differs significantly between bins, at the 5 % level after correction
        over all slices."""
        return self.adjusted is not None and self.adjusted < 0.05


class Baselines(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The values of the headline scoring's first metric for blind models, which answer without
    looking at the questions.

    A value is None if the headline scoring needs a judge for some replies of the blind model.
    """

    chance: float | None
    """The expected value for a model that picks choices at random; None if some question has no
    choices."""
    constant: float | None
    """The value for a model that gives the same answer to all questions with the same number of
    choices: the most frequent right answer of these questions."""
    answer: str | None
    """The most frequent right answer; None if it depends on the number of choices."""
    draws: int | None = None
    """The number of random draws whose mean is `chance`; None if `chance` is exact."""


class RepeatsReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The statistics of several replies per question, as scored by one scoring.

    These statistics do not change the scoring's own metrics, which use all replies.
    """

    most: int
    """The largest number of replies to one question."""
    questions: int
    """The number of questions with at least one scored reply."""
    metrics: dict[str, MetricReport]
    """The mean score of the majority answer, and pass@k if every reply is either right or wrong."""
    between: float | None = None
    """The variance of scores between questions."""
    within: float | None = None
    """The variance of scores within a question."""
    stderr_questions: float | None = None
    """The part of the mean's standard error that comes from the choice of questions (see
    `stats.components`)."""
    stderr_again: float | None = None
    """The part of the mean's standard error that comes from the variation between replies to the
    same question."""


class StreamReport(msgspec.Struct, frozen=True, kw_only=True):
    """The timing of an online run, over all sessions that reached the end of their video. The part
    of a session before an interruption counts if a later session continued it."""

    sessions: int
    """The number of sessions."""
    media_seconds: float
    """The length of the streamed video, in seconds."""
    model_seconds: float
    """The time that the model took to process the frames that it received, in seconds."""
    real_time_factor: float | None
    """`model_seconds` divided by the seconds of video that the received frames represent. A model
    with a factor above 1 cannot keep up."""
    frames: int
    """The number of frames in the stream."""
    dropped: int
    """The number of frames that the model did not receive because it was busy when they arrived."""
    most_lag: float
    """The largest delay of the model relative to the stream, in seconds."""


class Seconds(msgspec.Struct, frozen=True, kw_only=True):
    """Durations of requests, in seconds."""

    mean: float
    """The mean."""
    p50: float
    """The median."""
    p90: float
    """The 90th percentile."""


class CostReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The cost of replies in tokens, money, and time.

    Failed attempts, and replies that were taken from another run, are not counted.
    """

    replies: int
    """The number of replies."""
    questions: int
    """The number of questions, which is samples times repeats. A question may have several
    turns."""
    tokens: dict[str, int]
    """The total number of tokens of each kind, as reported by the server. `input` includes
    `cached`, and `output` includes `reasoning`."""
    unsaid: int = 0
    """The number of replies for which the server reported no tokens. `tokens` and `cost` do not
    include these replies."""
    cost: float | None = None
    """The cost in `currency`; None if it is unknown."""
    currency: str | None = None
    """The currency of the profile's prices."""
    seconds: float
    """The time between the first request and the last record of each invocation of `snellen run`,
    added up over all invocations, in seconds. Runs of one invocation may overlap, or wait for each
    other."""
    first: Seconds | None = None
    """The time from sending a request to the first byte of its reply."""
    total: Seconds | None = None
    """The time from sending a request to the end of its reply."""
    failed_attempts: int | None = None
    """The number of requests that failed. Most of them were sent again. None in reports of earlier
    versions, which did not count them."""

    @property
    def in_flight(self) -> float | None:
        """The mean number of the run's requests in flight at the same time; None if it is
        unknown."""
        if self.total is None or not self.seconds:
            return None
        return self.total.mean * self.replies / self.seconds


class TokenTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics of one of the times that are measured for streamed replies, in seconds."""

    n: int
    """The number of replies."""
    median: float
    """The median."""
    p95: float
    """The 95th percentile."""


class SpeedReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How fast streamed replies arrived."""

    first_token: TokenTimes
    """The time from sending a request to the first text or reasoning of its reply."""
    per_token: TokenTimes | None = None
    """The time per output token after the first token; None if the server reported no token
    counts."""


class TokenReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The numbers of output tokens, including reasoning. Replies are included if they count in the
    headline and their number of tokens is known."""

    per_reply: MetricReport
    """The mean number of tokens per reply."""
    per_correct: MetricReport | None = None
    """The number of tokens of all included replies, divided by the number of correct answers. The
    number of correct answers is the sum of the scores divided by the best score. None if single
    replies have no score."""


class ToolsReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How questions were answered with tools, or by a model that calls tools itself and hands over
    its steps. Questions without a reply, and replies without steps, are not included."""

    ended: dict[str, int]
    """How many questions ended in each way: `answered` (the last reply calls no tool), `steps`,
    `budget`, or `malformed`. The last reply is scored in all cases. Empty if the model calls tools
    itself."""
    steps: MetricReport | None = None
    """The mean number of steps per question, including the last reply."""
    calls: MetricReport | None = None
    """The mean number of calls per question, including calls that were not carried out."""
    malformed: int = 0
    """The number of calls without a name, or with arguments that are not a JSON object."""
    refused_calls: int | None = None
    """The number of calls that were refused, so that the model got an error instead of a result:
    malformed calls, unknown tools, wrong arguments, and calls over a limit. None in reports of
    earlier versions, which did not count them."""
    unmade_calls: int | None = None
    """The number of calls in the last replies of questions that ended by a limit. These calls were
    not carried out. None in reports of earlier versions."""
    text_calls: int = 0
    """The number of questions whose last reply contains a call as text, which was not made."""
    tokens: MetricReport | None = None
    """The mean number of output tokens per question, including reasoning; None if the server
    reported no token counts."""
    seconds: MetricReport | None = None
    """The mean time of all requests of a question, in seconds; None if no times were measured."""


class JudgeReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The agreement of a scoring's judge with people who labeled some of the judged replies, and
    the mean score corrected with these labels."""

    labelled: int
    """The number of replies that have both a verdict and a label."""
    raters: int
    """The largest number of people who labeled one reply."""
    alpha: float | None
    """Krippendorff's alpha, which measures how well the people agree with each other."""
    agreement: MetricReport
    """The fraction of replies to which the judge and the people give the same score."""
    bias: MetricReport
    """The judge's mean score minus the people's mean score."""
    judged: MetricReport
    """The uncorrected mean score, in which all scores come from rules and from the judge."""
    corrected: MetricReport
    """The mean score corrected by prediction-powered inference."""
    weight: float
    """The weight of the judge's verdicts in `corrected`, from 0 to 1."""
    labels_alone: MetricReport
    """The mean score if judged replies are scored only by people's labels."""
    rogan_gladen: float | None = None
    """The mean score with the correction of Rogan and Gladen, as a check; None unless all scores
    are 0 or 1."""
    confusion: dict[str, int] = {}
    """The confusion matrix of the judge and the people; empty unless all scores are 0 or 1."""
    sensitivity: MetricReport | None = None
    """The fraction of replies that the judge considers right, among the replies that people labeled
    as right."""
    specificity: MetricReport | None = None
    """The fraction of replies that the judge considers wrong, among the replies that people labeled
    as wrong."""
    kappa: float | None = None
    """Cohen's kappa between the judge and the majority of the people."""
    pearson: float | None = None
    """Pearson's correlation between the judge's and the people's scores; None if all scores are 0
    or 1."""
    spearman: float | None = None
    """Spearman's correlation between the judge's and the people's scores; None if all scores are 0
    or 1."""
    seed: str | None = None
    """The seed with which the labeled replies were drawn; None if the seed is unknown, or if there
    are several seeds."""
    notes: list[str] = []
    """Notes on how to interpret these numbers."""


class AttemptReport(msgspec.Struct, frozen=True, kw_only=True):
    """The effect on a judge's verdicts of adding one kind of steering text to replies."""

    added: str
    """The text that was added to replies. If the text depends on the reply, only the text for the
    last reply is stored."""
    to_right: MetricReport
    """The fraction of replies judged right with the added text, among the replies judged wrong
    without the added text."""
    to_wrong: MetricReport
    """The fraction of replies judged wrong with the added text, among the replies judged right
    without the added text."""
    change: MetricReport
    """The mean change of the score over all replies."""
    lost: int
    """The number of verdicts that cannot be parsed. The other three metrics do not include these
    verdicts."""


class SteeringReport(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of steering texts on a judge's verdicts for one scoring."""

    format: int
    """The version of the JSON format."""
    benchmark: str
    """The benchmark's name."""
    scoring: str
    """The scoring's name."""
    judge: str
    """The judge's name."""
    right: int
    """The number of replies that the judge considers right without an added text."""
    wrong: int
    """The number of replies that the judge considers wrong without an added text."""
    seed: int
    """The seed with which the replies were drawn."""
    attempts: dict[str, AttemptReport]
    """For each kind of steering text, the effect on the verdicts."""
    run: str
    """The folder of the run whose replies were used."""


class PlaceReport(msgspec.Struct, frozen=True, kw_only=True):
    """The results for one position among the choices, over all questions that have a choice at this
    position."""

    place: str
    """The position's letter."""
    picked: MetricReport
    """The fraction of replies that pick the choice at this position."""
    expected: float
    """The fraction of replies that would pick the choice at this position if positions did not
    matter."""
    accuracy: MetricReport
    """The accuracy on questions whose right choice is at this position."""


class ProbeReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a probe, as scored by the headline scoring."""

    probe: dict[str, Any]
    """The changes that the probe made to the questions, as in the run's identity."""
    metrics: dict[str, MetricReport]
    """The metrics of the probe. A blind probe has `leakage`, which is the headline scoring's first
    metric minus chance. A probe with permuted choices has `consistency` and `circular`.
    `consistency` is the fraction of questions for which the same choice is picked in every pass.
    `circular` is the fraction of questions for which the right choice is picked in every pass. An
    open-ended probe has the fraction of replies that name a wrong choice, and the fraction of
    replies that name no choice."""
    counts: dict[str, int] = {}
    """A blind probe has the numbers of `right` and of `scored` replies. A probe with permuted
    choices has the number of `questions`, and the number of `complete` questions, which have a
    score in every pass."""
    places: list[PlaceReport] = []
    """For a probe with permuted choices, the results for each position."""
    p: float | None = None
    """For a probe with permuted choices, the p value of a test for whether picks are more uneven
    across positions than they would be if positions did not matter."""


class Report(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of scoring one set of replies, as the option `--json` prints it."""

    format: int
    """The version of the JSON format."""
    benchmark: str
    """The benchmark's name."""
    model: str
    """The model's name; empty if it is unknown."""
    n: int
    """The number of (sample, repeat) pairs, which is the sum of the numbers in `replies`."""
    headline: str
    """The name of the headline scoring, whose first metric represents the whole result."""
    replies: dict[str, int]
    """The number of replies in each state: ok, failed, refused, and so on."""
    scorings: dict[str, ScoringReport]
    """The result of each scoring by name."""
    breakdown: dict[str, list[str]]
    """The categories of each tag, as they appear after the slash in the names of metrics."""
    disagreements: list[Disagreement]
    """The samples that the headline scoring and other scorings score differently."""
    notes: list[str]
    """Notes on how to interpret the scores."""
    identity: dict[str, Any]
    """The identity of the run, or the known part of the identity."""
    incomplete: bool = False
    """Whether replies are missing, which means that the scores may not represent the whole data
    set."""
    asked_of: int | None = None
    """The number of (sample, repeat) pairs in the whole data set, if the run has fewer pairs."""
    question_digest: str | None = None
    """A digest of the questions whose replies count in the headline: their ids, texts, choices, and
    right answers. Headline values with the same digest are about the same questions. None if no
    reply counts, and in reports of earlier versions."""
    spent: CostReport | None = None
    """The cost of the model's replies."""
    other_limits: dict[str, int] = {}
    """For each token limit that differs from the run's token limit, the number of replies that were
    requested with it."""
    judging: dict[str, CostReport] = {}
    """The cost of each judge's replies."""
    output_tokens: TokenReport | None = None
    """The output tokens per reply and per correct answer; None if the server reported no token
    counts."""
    tools: ToolsReport | None = None
    """How the questions were answered with tools; None for a run without tools."""
    speed: SpeedReport | None = None
    """How fast streamed replies arrived; None if no reply was streamed."""
    baselines: Baselines | None = None
    """The values of the headline scoring's first metric for blind models."""
    ladders: dict[str, str] = {}
    """For each tag whose categories are levels of difficulty, the name of the metric that estimates
    the model's threshold, the most difficult level that the model can still read."""
    capabilities: dict[str, CapabilityReport] = {}
    """The scores for each capability. Every sample requires exactly one capability, so the `n` of
    all capabilities add up to the report's `n`."""
    slices: dict[str, SliceReport] = {}
    """The scores, broken down by `answer_place`, `picture_size`, `question_words`, and `pictures`.
    Only properties in which the samples differ are included."""
    streaming: StreamReport | None = None
    """The timing of an online run."""
    repeats: dict[str, RepeatsReport] = {}
    """The statistics of repeats for each scoring, if questions were asked several times."""
    alike: int | None = None
    """The number of repeated questions whose replies are all identical."""
    conversations: int | None = None
    """The number of conversations; None unless each turn is scored, so that `n` counts turns."""
    judges: dict[str, JudgeReport] = {}
    """For each scoring, the comparison of its judge with people's labels."""
    judged_by: dict[str, JudgedBy] = {}
    """For each scoring with judges' verdicts, the judges, and whether these judges are
    qualified."""
    probe: ProbeReport | None = None
    """The result of the run's probe (`snellen.transforms.probes`), if any."""
    out_of_date: list[str] = []
    """The reasons why scoring the run again would give a different report. This field is set when a
    stored report is loaded."""
