"""How replies are scored: readings, scorings, judges.

reply --parse--> Reading --score--> number --metrics--> Estimate; `resolve` sees all replies.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from snellen.core.model import Kind, Reply
from snellen.core.sample import Sample
from snellen.media.content import Message
from snellen.metrics import Columns, Metric
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
    """What one scoring found in one reply.

    `answer` is None where nothing could be read; `rule` names the rule that fired; `guessed` says
    that the authors' code drew
    at random; `candidates` are the answers it could have been.
    """

    answer: str | float | tuple[str, ...] | None
    rule: str
    guessed: bool = False
    candidates: tuple[str, ...] = ()

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
    """The sample, without its media."""
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
    """What a judge is asked about a reply that rules left open, and how its verdict is read.

    `when` says that rules left it open. `parse` is strict: a verdict that is not of the form asked
    for has no answer, and leaves the sample not judged. `asks` is raised when the prompt or the
    settings change, so that verdicts must be asked for again. `reads_cut` says that a verdict which
    was cut at the token limit is one (the authors ask for so few); `needs_target` that published
    verdicts are worth nothing where it is not known what is right.
    """

    name: str
    prompt: Callable[[Sample, Reply], tuple[Message, ...]]
    parse: Callable[[str, Sample], Reading]
    when: Callable[[Reading], bool]
    asks: int = 1
    max_answer_tokens: int = 512
    temperature: float | None = 0.0
    reads_cut: bool = False
    needs_target: bool = True


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A score in named parts."""

    values: Mapping[str, float]
    """The score of each part, by its name."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """The weight of each part in the whole; a part without one weighs 1."""

    @property
    def whole(self) -> float:
        """The weighted mean of the parts.

        >>> Parts(values={"subject": 1.0, "style": 0.5}, weights={"subject": 3.0}).whole
        0.875
        """
        weights = {name: self.weights.get(name, 1.0) for name in self.values}
        return sum(weights[name] * value for name, value in self.values.items()) / sum(
            weights.values()
        )


Score = float | Parts | None
"""The score of one reply: a number, named parts, or None where only the whole set has a score."""


def whole_score(score: Score) -> float | None:
    """A score as one number."""
    return score.whole if isinstance(score, Parts) else score


Verdicts = Mapping[str, Callable[[Sample, Reply], Sequence[str | None]]]
"""By scoring, what judges said of a reply: for each judge and time it was asked its words, None
where it gave no verdict. Every reply has as many, in the same order."""


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """One way to score a benchmark's replies.

    `version` is raised when scores move; replies stay valid. `source` is
    repository@commit:file#lines, or `ours`. `score` gives a number or named parts, and
    None where only the whole set has a score; an unparsed reply is given to it as any other,
    and scores 0 unless the authors' rule says else.
    `missing` is what becomes of a question without a reply in other people's prediction files.
    `best` is the score of a perfect answer, for the bounds of an incomplete run; `partial` says
    that an answer may be worth a part of it. `named` gives further metrics of the whole set, whose
    names are known only with them. `resolve` decides what one reply does not tell: answers that the
    authors' code draws from one random sequence, or what depends on the order of a file's lines. It
    is called once for each repeat. `on_missing` says what the authors' code does with a file that
    lacks rows, where that is not `missing`.
    """

    version: int
    source: str
    parse: Callable[[Reply, Sample], Reading]
    score: Callable[[Reading, Sample], Score]
    metrics: Mapping[str, Metric]
    reads: Kind = "generate"
    missing: Missing = "excluded"
    judge: Judge | None = None
    best: float = 1.0
    partial: bool = False
    named: Callable[[Columns], Mapping[str, Estimate]] | None = None
    resolve: Callable[[ReplyTable], Resolution] | None = None
    on_missing: str = ""


def reading_state(reading: Reading, sample: Sample) -> ReadingState:
    """The one state of a reading of a reply that exists."""
    if sample.hidden:
        return "no-target"
    if reading.answer is None:
        return "unparsed"
    return "guessed" if reading.guessed else "answered"
