"""How replies are scored: readings, scorings, judges.

reply --parse--> Reading --score--> number --metrics--> Estimate; `resolve` sees all replies.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from snellen.core.answer import Answer
from snellen.core.model import Kind, Reply
from snellen.core.sample import Sample
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


Missing = Literal["wrong", "excluded"]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What one scoring read in one reply."""

    answer: Answer | None
    """The answer; None: nothing could be read."""
    rule: str
    """The name of the rule that read it."""
    guessed: bool = False
    """Whether the authors' code draws the answer at random."""
    candidates: tuple[Answer, ...] = ()
    """The answers that it could have been."""

    @property
    def undecided(self) -> bool:
        """Whether the answer is one of the candidates that `Scoring.resolve` draws from."""
        return self.guessed and self.answer is None


Order = Literal["data", "authors", "file"]
"""The order of a table of replies: that of the data set (a run), of a file in the layout that the
benchmark's authors read, or of any other file of predictions."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A row of a `ReplyTable`: a sample and the reading of its reply."""

    sample: Sample
    """The sample; its media know their sizes, and hold no bytes."""
    reading: Reading
    """What `Scoring.parse` returned."""
    row_index: int
    """The index of the sample's row in the data set."""


@dataclass(frozen=True, kw_only=True)
class ReplyTable:
    """All replies of one pass over a benchmark, in the order of their source."""

    lines: Sequence[Line]
    """The samples that have a reply."""
    order: Order
    """The order of the lines."""


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """The result of `Scoring.resolve` for a table of replies."""

    readings: Mapping[str, Reading] = field(default_factory=dict)
    """Readings, by sample id, that replace those of `Scoring.parse`."""
    notes: tuple[str, ...] = ()
    """Notes for the result: how it differs from that of the authors' code."""


@dataclass(frozen=True, kw_only=True)
class Judge:
    """What a judge is asked about a reply that rules left open, and how its verdict is read."""

    name: str
    """What reports call it."""
    prompt: Callable[[Sample, Reply], tuple[Message, ...]]
    """The messages that ask for a verdict on a reply."""
    parse: Callable[[str, Sample], Reading]
    """Reads a verdict strictly: without the form asked for it has no answer, and isn't judged."""
    when: Callable[[Reading], bool]
    """Whether the rules left this reading open."""
    asks: int = 1
    """Raised when prompt or settings change, so that verdicts must be asked for again."""
    max_answer_tokens: int = 512
    """The most tokens of a verdict."""
    temperature: float | None = 0.0
    """The sampling temperature where no profile sets it; None: the model's own."""
    reads_cut: bool = False
    """Whether a verdict that was cut at the token limit counts: some authors ask for so few."""
    needs_target: bool = True
    """Whether published verdicts count only for samples whose right answer is known."""
    authors_model: str | None = None
    """The model whose verdicts are behind the authors' figures; None: the prompt isn't theirs."""
    on_request: bool = False
    """Whether a judge is asked only where the scoring is named, as it costs more verdicts."""
    perfect: Callable[[Sample, Reply], str] | None = None
    """What a judge that is right says of a reply, for tests; None: what `Check.verdict` says."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A score in named parts."""

    values: Mapping[str, float]
    """The score of each part, by its name."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """The weight of each part in the whole; a part without one weighs 1."""

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
"""The score of one reply: a number, named parts, or None where only the whole set has a score."""


def total_score(score: Score) -> float | None:
    """A score as one number."""
    return score.total if isinstance(score, Parts) else score


Verdicts = Mapping[str, Callable[[Sample, Reply], Sequence[str | None]]]
"""By scoring, what judges said of a reply: for each judge and time it was asked its words, None
where it gave no verdict. Every reply has as many, in the same order."""


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """One way to score a benchmark's replies."""

    version: int
    """Raised when scores change; replies stay valid."""
    source: str
    """repository@commit:file#lines of the rule, or `ours`."""
    parse: Callable[[Reply, Sample], Reading]
    """Reads the answer out of a reply; pure."""
    score: Callable[[Reading, Sample], Score]
    """A number, or named parts, also of an unparsed reply; None: only the whole set has one."""
    metrics: Mapping[str, Compute]
    """Metrics of the whole set, by name; the first is the headline."""
    reads: Kind = "generate"
    """The kind of reply that `parse` reads."""
    missing: Missing = "excluded"
    """What a question without a reply counts as in other people's files of predictions."""
    judge: Judge | None = None
    """The judge of replies that rules leave open; None: rules decide every reply."""
    best: float = 1.0
    """The score of a perfect answer, for the bounds of an incomplete run."""
    partial: bool = False
    """Whether an answer may be worth a part of `best`."""
    extra_metrics: Callable[[Columns], Mapping[str, Estimate]] | None = None
    """Further metrics of the whole set, if their names are known only with the answers."""
    resolve: Callable[[ReplyTable], Resolution] | None = None
    """Decides what needs all replies or their order, once for each repeat; None: nothing does."""
    on_missing: str = ""
    """What the authors' code does with a file that lacks rows, where that is not `missing`."""

    @property
    def better(self) -> Direction | None:
        """Whether a higher or a lower value of the first metric is better; None if unknown."""
        return self.direction(next(iter(self.metrics)))

    def direction(self, metric: str) -> Direction | None:
        """Whether a higher or a lower value of a metric is better; None if unknown."""
        return direction_of(metric, self.metrics[metric]) if metric in self.metrics else None

    @property
    def zero_is_wrong(self) -> bool:
        """Whether 0 is known to be the score of a wrong answer. A distance is 0 at its best."""
        return self.better == "higher"

    def has_bounds(self, metric: str) -> bool:
        """Whether it is known what a metric would be if all missing answers were wrong, or right:
        not where its own direction is unknown, nor where scores may be distances."""
        return self.direction(metric) is not None and self.better != "lower"


def reading_state(reading: Reading, sample: Sample) -> ReadingState:
    """The one state of a reading of a reply that exists."""
    if sample.hidden:
        return "no-target"
    if reading.answer is None:
        return "unparsed"
    return "guessed" if reading.guessed else "answered"
