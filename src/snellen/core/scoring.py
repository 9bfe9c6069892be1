"""How replies are scored: readings, scorings, and judges.

reply --parse--> Reading --score--> number --metrics--> Estimate

After `parse` and before `score`, `resolve` can change the readings, based on all replies.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from snellen.core.answer import Answer
from snellen.core.coordinates import Coordinates, CoordinateUse
from snellen.core.missing import Missing as Missing
from snellen.core.model import Kind, Reply
from snellen.core.sample import Sample
from snellen.errors import SnellenError
from snellen.media.content import Message
from snellen.metrics import Columns, Compute, Direction, direction_of
from snellen.stats import Estimate

ReadingState = Literal["answered", "guessed", "unparsed", "not-judged", "no-target", "no-reply"]


READING_STATES: tuple[ReadingState, ...] = (
    "answered",
    "guessed",
    "unparsed",
    "not-judged",
    "no-target",
    "no-reply",
)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The result of parsing one reply with one scoring."""

    answer: Answer | None
    """The answer; None if no answer was found."""
    rule: str
    """The name of the rule that found the answer, or the reason why none was found."""
    guessed: bool = False
    """Whether the benchmark authors' code picks the answer at random."""
    candidates: tuple[Answer, ...] = ()
    """The answers from which the benchmark authors' code picks one at random."""

    @property
    def undecided(self) -> bool:
        """Whether `Scoring.resolve` must still pick an answer from the candidates at random."""
        return self.guessed and self.answer is None


Order = Literal["data", "authors", "file"]
"""The order of a table of replies: that of the data set, for the replies of a run (`data`); that of
a file in the benchmark authors' format (`authors`); or that of another file of predictions
(`file`)."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A row of a `ReplyTable`: a sample and the reading of its reply."""

    sample: Sample
    """The sample, whose media have sizes but no bytes."""
    reading: Reading
    """What `Scoring.parse` returned."""
    row_index: int
    """The index of the sample's row in the data set."""


@dataclass(frozen=True, kw_only=True)
class ReplyTable:
    """All replies of one pass over a benchmark, in the order of their source."""

    lines: Sequence[Line]
    """One line for each sample that has a reply."""
    order: Order
    """The order of the lines."""


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """The result of `Scoring.resolve` for a table of replies."""

    readings: Mapping[str, Reading] = field(default_factory=dict)
    """Readings that replace the readings of `Scoring.parse`, keyed by sample id."""
    notes: tuple[str, ...] = ()
    """Notes that say how the result differs from the result of the authors' code."""


@dataclass(frozen=True, kw_only=True)
class JudgeBatches:
    """How a judge is asked about several replies with one prompt."""

    by: Callable[[Sample], str]
    """Returns a key that is the same for samples whose replies share a prompt. Several replies to
    one sample, such as repeats, never share a prompt."""
    prompt: Callable[[Sequence[tuple[Sample, Reply]]], tuple[Message, ...]]
    """Returns the messages that ask for verdicts on several replies."""
    split: Callable[[str, int], Sequence[str]]
    """Splits the judge's text about this number of replies into a verdict on each reply, in the
    form that `Judge.parse` reads. Empty if the text does not have the requested form."""
    join: Callable[[Sequence[str]], str]
    """The inverse of `split`, for tests with a perfect judge."""


@dataclass(frozen=True, kw_only=True)
class Judge:
    """How a judge is asked about a reply that rules cannot decide, and how the verdict is
    parsed."""

    name: str
    """The judge's name in reports."""
    prompt: Callable[[Sample, Reply], tuple[Message, ...]]
    """Returns the messages that ask for a verdict on a reply."""
    parse: Callable[[str, Sample], Reading]
    """Parses a verdict strictly. If the verdict does not have the requested form, the reading has
    no answer, and the reply counts as not judged."""
    when: Callable[[Reading], bool]
    """Whether the judge must decide this reading because the rules cannot."""
    then: Callable[[Sample, Reply, str], tuple[Message, ...]] | None = None
    """For a judge that works in two stages: returns the messages of the second stage, from the
    sample, the reply to it, and the judge's reply in the first stage. The verdict is the judge's
    reply in the second stage. None: there is one stage."""
    then_when: Callable[[str], bool] | None = None
    """Whether the judge's reply in the first stage requires the second stage. If it does not, it is
    the verdict. None: every reply has both stages."""
    asks: int = 1
    """The version of the prompt and the settings. Increment this number when the prompt or a
    setting changes, so that the judge is asked for new verdicts."""
    max_answer_tokens: int = 512
    """The token limit of a verdict."""
    temperature: float | None = 0.0
    """The sampling temperature, which a profile can override; None: the model's default."""
    reads_cut: bool = False
    """Whether a verdict that was cut at the token limit is parsed. Some authors set the limit so
    low that judges often reach it."""
    needs_target: bool = True
    """Whether published verdicts are used only for samples whose right answer is public."""
    authors_model: str | None = None
    """The judge model with which the benchmark's authors computed their published scores; None if
    the prompt is not the authors' prompt."""
    on_request: bool = False
    """Whether a judge is asked only if the user names this scoring: the scoring needs verdicts of
    its own, in addition to those of the other scorings."""
    batches: JudgeBatches | None = None
    """How the judge is asked about several replies with one prompt; None: each reply has a prompt
    of its own."""
    perfect: Callable[[Sample, Reply], str] | None = None
    """The verdict of a perfect judge on a reply, for tests; None: the verdict of
    `Check.verdict`."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A score that consists of named parts."""

    values: Mapping[str, float]
    """The scores of the parts, keyed by name."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """The weights of the parts, keyed by name. The default weight is 1."""

    @property
    def total(self) -> float:
        """The weighted mean of the parts.

        >>> Parts(values={"subject": 1.0, "style": 0.5}, weights={"subject": 3.0}).total
        0.875
        """
        weights = {name: self.weights.get(name, 1.0) for name in self.values}
        return sum(weights[name] * value for name, value in self.values.items()) / sum(
            weights.values()
        )


Score = float | Parts | None
"""The score of one reply: a number, named parts, or None if only the full set of replies has a
score."""


def total_score(score: Score) -> float | None:
    """Convert a score to a single number."""
    return score.total if isinstance(score, Parts) else score


Verdicts = Mapping[str, Callable[[Sample, Reply], Sequence[str | None]]]
"""For each scoring, a function that returns the judges' verdicts on a reply. Each verdict is a
text, or None if the judge gave no verdict. A judge that was asked several times has several
verdicts. All replies have the same number of verdicts, in the same order."""


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """One way to score a benchmark's replies."""

    version: int
    """The version of the rules. Increment this number when scores change. Stored replies remain
    valid."""
    source: str
    """repository@commit:file#lines of the rule, or `ours`."""
    parse: Callable[[Reply, Sample], Reading]
    """Parses the answer in a reply. The function must be pure."""
    score: Callable[[Reading, Sample], Score]
    """Returns a number or named parts for any reading, even if the reading has no answer. Returns
    None if only the full set of replies has a score."""
    metrics: Mapping[str, Compute]
    """The metrics of the whole set, keyed by name. The first is the headline metric."""
    reads: Kind = "generate"
    """The kind of reply that `parse` expects."""
    missing: Missing = "excluded"
    """How a question without a reply counts in a file of predictions that another tool wrote."""
    judge: Judge | None = None
    """The judge for replies that rules cannot decide. None: rules decide every reply."""
    best: float = 1.0
    """The score of a perfect answer. It is used to compute the bounds of an incomplete run; see
    `has_bounds`."""
    partial: bool = False
    """Whether an answer can get partial credit, which is a score between 0 and `best`."""
    extra_metrics: Callable[[Columns], Mapping[str, Estimate]] | None = None
    """Computes further metrics of the whole set, whose names depend on the answers."""
    resolve: Callable[[ReplyTable], Resolution] | None = None
    """Completes the readings that depend on all replies or on the order of the replies. The
    function is called once for each repeat. None: there are no such readings."""
    coordinates: CoordinateUse | None = None
    """How `parse` depends on the coordinates in which the model writes boxes and points. None: it
    does not depend on them."""
    check_installation: Callable[[], object] | None = None
    """Checks that the optional packages and data that `parse` and `score` need are installed. If
    something is missing, the function raises a `SnellenError` that says how to install it. It is
    called before a run asks its first question. None: nothing optional is needed."""
    on_missing: str = ""
    """A sentence that describes how the authors' code treats a file in which rows are missing.
    Empty if their code does what `missing` states."""

    @property
    def better(self) -> Direction | None:
        """Whether a higher or a lower value of the first metric is better; None if unknown."""
        return self.direction(next(iter(self.metrics)))

    def direction(self, metric: str) -> Direction | None:
        """Whether a higher or a lower value of a metric is better; None if unknown."""
        return direction_of(metric, self.metrics[metric]) if metric in self.metrics else None

    @property
    def is_installed(self) -> bool:
        """Whether all optional packages and data that the scoring needs are installed."""
        try:
            if self.check_installation is not None:
                self.check_installation()
        except SnellenError:
            return False
        return True

    @property
    def zero_is_wrong(self) -> bool:
        """Whether 0 is known to be the score of a wrong answer. (For a distance, 0 is the best
        score.)"""
        return self.better == "higher"

    def has_bounds(self, metric: str) -> bool:
        """Whether a metric's bounds can be computed. The bounds are the value that the metric would
        have if all missing answers were wrong, and the value if all were right. There are no bounds
        if the metric's direction is unknown. There are also none if a lower headline value is
        better, because scores may then be distances."""
        return self.direction(metric) is not None and self.better != "lower"


def model_coordinates(scorings: Mapping[str, Scoring]) -> Coordinates | None:
    """The coordinates that are set for the model; None if none are set, or if no scoring depends on
    them."""
    uses = (scoring.coordinates for scoring in scorings.values())
    return next((use.of_model for use in uses if use is not None), None)


def reading_state(reading: Reading, sample: Sample) -> ReadingState:
    """The state of a reading. The question must have a reply."""
    if sample.hidden:
        return "no-target"
    if reading.answer is None:
        return "unparsed"
    return "guessed" if reading.guessed else "answered"
