"""What a benchmark is: rows, a prompt, and ways to score. All of it pure.

row --sample--> Sample --prompt--> messages --model--> Reply --parse--> Reading --score-->
number --metrics--> Estimate
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import dropwhile
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

from snellen.core.model import Generation, Kind, Origin, Reply, Request
from snellen.core.sample import Sample
from snellen.data import Found, Row, Table
from snellen.errors import DataError
from snellen.media import forms, images, video
from snellen.media.content import Image, Message, Part, Text, Video
from snellen.metrics import Columns, Metric
from snellen.stats import Estimate

History = tuple[tuple[tuple[Message, ...], Reply], ...]
"""A sample's earlier turns: what was sent and what came. A failed turn ends the sample."""

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


Verdicts = Mapping[str, Callable[[Sample, Reply], Sequence[str | None]]]
"""By scoring, what judges said of a reply: for each judge and time it was asked its words, None
where it gave no verdict. Every reply has as many, in the same order."""


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """One way to score a benchmark's replies.

    `version` is raised when scores move; replies stay valid. `source` is
    repository@commit:file#lines, or `ours`. `score`
    gives None where only the whole set has a score; an unparsed reply is given to it as any other,
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
    score: Callable[[Reading, Sample], float | None]
    metrics: Mapping[str, Metric]
    reads: Kind = "generate"
    missing: Missing = "excluded"
    judge: Judge | None = None
    best: float = 1.0
    partial: bool = False
    named: Callable[[Columns], Mapping[str, Estimate]] | None = None
    resolve: Callable[[ReplyTable], Resolution] | None = None
    on_missing: str = ""


@dataclass(frozen=True, kw_only=True)
class Check:
    """What dummy models must score on the bundled rows, so that `snellen check` can prove a file.

    `says` puts an answer into the words that the prompt asks for; `wrong` gives an answer that is
    not right. `expect` maps a
    scoring to the headline value that each dummy (`oracle`, `wrong`, `silent`, `hedging`) must get,
    to 1e-9 (None: it must have none). `verdict` is what a judge that is right says of a reply, for
    scorings that have one.
    """

    says: Callable[[Sample, str], str]
    wrong: Callable[[Sample], str]
    expect: Mapping[str, Mapping[str, float | None]]
    verdict: Callable[[Sample, Reply], str] | None = None


@dataclass(frozen=True, kw_only=True)
class Submission:
    """The file that a benchmark's test server takes: its usual name, whose ending says of which
    kind it is, and a row for each sample and what the model replied ("" where it failed).

    A `.json` file is a list of objects, or with `by_id` one object of the second column's values by
    those of the first.
    """

    name: str
    columns: tuple[str, ...]
    row: Callable[[Sample, str], Sequence[object]]
    by_id: bool = False


Said = Mapping[str, Any]
"""A message of a session: `onset` and `done` (media seconds), `text`, `query` (None: not named)."""


@dataclass(frozen=True, kw_only=True)
class Streaming:
    """How a video is streamed to a model's session, and when a sample's question is put to it.

    `when` is the media time in seconds at which it is put, with all that is shown before it seen;
    `until` that up to which the session may say something about it (None: it must answer then).
    Samples of one `session` share it. The frames are those of the benchmark's policy, `fps:R`; with
    its `latest` a question also sees the newest frame before it. `memory`: a question that must be
    answered is put to a fork of the session, so that it leaves no trace, or kept in it.

    `clock`: `logical` (each frame waits for the model), `simulated` (a call takes as long as it
    took, or as `costs` say in seconds, by `speed`) or `real`. `drop` is what becomes of frames that
    come while the model is busy: `none` is lost, or all but the `latest`, or the `oldest` of more
    than `queue`. `attribute` says which of several open questions each message is for.
    """

    when: Callable[[Sample], float]
    session: Callable[[Sample], str]
    until: Callable[[Sample], float] | None = None
    memory: Literal["fork", "keep"] = "fork"
    clock: Literal["logical", "simulated", "real"] = "logical"
    drop: Literal["none", "latest", "oldest"] = "none"
    queue: int = 256
    speed: float = 1.0
    costs: Mapping[str, float] = field(default_factory=dict)
    attribute: Callable[[Sequence[Said], Sequence[Sample]], Mapping[str, Sequence[Said]]] | None = (
        None
    )


UNMAPPED = "unmapped"


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What each category of a tag asks of a model: a leaf of `capabilities.TREE`, or `unmapped`.

    `source` is where the benchmark's authors say what the categories are. The tag "" has the one
    category "", which all samples are of.
    """

    tag: str
    leaves: Mapping[str, str]
    source: str

    def leaf(self, sample: Sample) -> str:
        """The leaf that a sample counts for; `unmapped` where nobody has said which."""
        return self.leaves.get(sample.tags.get(self.tag, ""), UNMAPPED)


@dataclass(frozen=True, kw_only=True)
class Published:
    """What the authors' own files say of one model: its replies by sample id (None: a row without
    one), and the words of the judges that read them, by scoring and sample id.

    `again` are further rows of a sample, which count like repeats. `only_these`: the authors score
    the rows that are there, and a sample without one is not in the result, unless who asks wants it
    (`missing`). `readings` are answers that the file itself states, by scoring and sample id; they
    replace those of `Scoring.parse` where the authors' code takes them from the file. `tags` are
    the tags that the file gives its samples, by id, where the authors' code groups by these rather
    than by the data set's. `unread` says, a sentence for
    each reason, which rows or files could not be read: the result is then incomplete.
    """

    replies: Mapping[str, str | None]
    verdicts: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    again: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    only_these: bool = False
    readings: Mapping[str, Mapping[str, Reading]] = field(default_factory=dict)
    tags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Results:
    """A file of one model's replies as a benchmark's authors publish them: its usual name, what it
    holds, as JSON, and what a reader must know."""

    name: str
    holds: Mapping[str, Any]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """Rows, what is asked about each, and how the replies are scored; the first scoring is the
    headline.

    `asks` is raised when rows, sample, prompt or limits change, so that questions must be asked
    again. `prompt` gives the whole conversation to send, and () when there is no further turn; it
    is not asked for more than `turns` turns (None: until it gives ()). A conversation begins with
    the user, system messages before it, alternates, and ends with the user. The last turn's reply
    is what scorings read, or with `by_turn` each reply, as one to the sample that its turn is;
    those whose answers are hidden are asked and not scored, where another's is known. `cluster_by`
    and `group_by` name what samples share (an image, a video), from a sample's id, tags and data
    alone: clusters widen intervals, groups are scheduled together. Samples that mean something only
    `together` (the passes of one question) are selected so. `metric_tags` are tags that metrics
    read, and results are not broken down by. `ladders` names the break-downs that are levels of
    difficulty, with the metric that says where on them reading ends. `files` is where the rows are
    read from, if from published files. `layout` reads replies as the authors publish them where
    these are not rows with an id and a reply each; it gives None for a file or folder that is not
    of that form. `results` writes it, of a model's name and its replies by sample id (None: it
    failed). `temperature` is what it is asked with where neither a flag nor a profile says another
    (None: the model's own), `frames` the policy by which it is shown videos, likewise. `streaming`
    is of benchmarks that ask for sessions. `capabilities` says what its categories ask of a model.
    `options` are what this benchmark was loaded with; `called` is what a model is told it is
    called, where one is told at all (`model.Prompts`); `shots` are the examples that its prompt was
    lengthened by; `probe` says how else it is asked (`snellen.transforms.probes`), if it is;
    `notes` are said in every result.
    """

    name: str
    asks: int
    data: Table
    sample: Callable[[int, Row], Sample]
    prompt: Callable[[Sample, History], tuple[Message, ...]]
    scorings: Mapping[str, Scoring]
    turns: int | None = 1
    by_turn: Callable[[Sample], tuple[Sample, ...]] | None = None
    ask: Kind = "generate"
    break_down_by: tuple[str, ...] = ()
    metric_tags: tuple[str, ...] = ()
    ladders: Mapping[str, str] = field(default_factory=dict)
    cluster_by: Callable[[Sample], str] | None = None
    group_by: Callable[[Sample], str] | None = None
    together: Callable[[Sample], str] | None = None
    max_answer_tokens: int = 512
    temperature: float | None = 0.0
    frames: str | None = None
    streaming: Streaming | None = None
    stop: tuple[str, ...] = ()
    check: Check | None = None
    submission: Submission | None = None
    files: Found | None = None
    layout: Callable[[Path], Published | None] | None = None
    results: Callable[[str, Mapping[str, str | None]], Results] | None = None
    capabilities: Capabilities | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    called: str | None = None
    shots: Mapping[str, object] = field(default_factory=dict)
    probe: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    from_catalog: bool = field(default=False, init=False, repr=False, compare=False)
    """Whether the catalog can rebuild it from what a run stores. Only the catalog sets it.
    `dataclasses.replace` drops it, because a changed benchmark is a different benchmark."""

    @property
    def headline(self) -> str:
        """The name of the first scoring."""
        return next(iter(self.scorings))

    def read(self, row: Row) -> Sample:
        """The sample of a row.

        Raises:
            DataError: the row lacks what the benchmark needs; names the row and its fields.
        """
        try:
            return _with_sizes(self.sample(row.place, row))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            what = (
                f"no field {error}"
                if isinstance(error, KeyError)
                else f"{type(error).__name__}: {error}"
            )
            raise DataError(
                f"{self.name}: row {row.place + 1} of {self.data.where} cannot be read: {what}. "
                f"It has the fields {', '.join(row)}. Is this the data that `snellen show "
                f"{self.name}` describes?"
            ) from error

    def messages(self, sample: Sample, history: History = ()) -> tuple[Message, ...]:
        """The conversation that `prompt` gives, with every picture in it as one.

        A part that is a picture by its form (`media.forms`) is that picture, and not text. The
        sample's own question and choices are text, and so is what the model said. What is text but
        looks like a picture comes as `Text`, so that who takes these messages does not ask again.

        Raises:
            MediaError: a part is a picture that cannot be shown, or neither text nor a picture.
        """
        return tuple(
            message
            if all(_is_plain(part, message) for part in message.content)
            else replace(message, content=tuple(self._parts(message, sample)))
            for message in self.prompt(sample, history)
        )

    def _parts(self, message: Message, sample: Sample) -> Iterator[Part]:
        where = f"{self.name}: a part of the prompt of sample {sample.id!r}"
        for part in message.content:
            if _is_plain(part, message):
                yield part
            elif isinstance(part, str) and part in (sample.question, *sample.choices):
                yield Text(part)
            else:
                shown = forms.parts(part, where)
                yield from (Text(item) if isinstance(item, str) else item for item in shown)

    def request(
        self,
        sample: Sample,
        history: History = (),
        *,
        generation: Generation | None = None,
        seed: int | None = None,
    ) -> Request | None:
        """The next request about this sample, or None when its conversation is over."""
        if self.turns is not None and len(history) >= self.turns:
            return None
        messages = tuple(map(_with_plain_text, self.messages(sample, history)))
        if not messages:
            return None
        self._check_roles(messages, sample)
        asked = sample if self.by_turn is None else self.by_turn(sample)[len(history)]
        if any(message.videos for message in messages):
            messages = _shown_by(str(video.policy(self.frames or video.DEFAULT)), messages)
        return Request(
            messages=messages,
            kind=self.ask,
            choices=asked.choices,
            generation=generation
            or Generation(max_tokens=self.max_answer_tokens, temperature=self.temperature),
            seed=seed,
            stop=self.stop,
            origin=Origin(
                benchmark=self.called or self.name, sample=sample.id, asked=partial(_asked, asked)
            ),
        )

    def _check_roles(self, messages: Sequence[Message], sample: Sample) -> None:
        """Back ends take conversations in which user and model take turns, and the user asks last.

        Raises:
            DataError: this is none.
        """
        roles = [message.role for message in messages]
        spoken = [*dropwhile("system".__eq__, roles)]
        if spoken != ["user", "assistant"] * (len(spoken) // 2) + ["user"]:
            raise DataError(
                f"{self.name}: the prompt of sample {sample.id!r} is a conversation of "
                f"{', '.join(roles)}. After system messages, user and assistant must take turns, "
                "and the user be first and last: this is a bug of the benchmark's prompt."
            )

    def each_turn(self, sample: Sample) -> tuple[Sample, ...]:
        """What each turn asks, as a sample; the sample itself where turns are not scored apart."""
        return (sample,) if self.by_turn is None else self.by_turn(sample)

    def scored_turns(self, sample: Sample) -> tuple[Sample | None, ...]:
        """For each turn the sample that its reply is scored as, None where it is not scored."""
        turns = self.each_turn(sample)
        every = all(turn.hidden for turn in turns)
        return tuple(turn if every or not turn.hidden else None for turn in turns)


def mark_from_catalog(benchmark: Benchmark) -> Benchmark:
    """Mark a benchmark that the catalog can rebuild from what a run stores."""
    object.__setattr__(benchmark, "from_catalog", True)
    return benchmark


def vary(benchmark: Benchmark, **changes: Any) -> Benchmark:
    """Replace fields in a way that a run stores: a probe, examples, a frame policy.

    Unlike `dataclasses.replace` it keeps `from_catalog`.
    """
    changed = replace(benchmark, **changes)
    return mark_from_catalog(changed) if benchmark.from_catalog else changed


def _with_sizes(sample: Sample) -> Sample:
    """The sample with the sizes of its pictures, as a run stores them: a scoring that reads them
    sees the same on every path."""
    if not sample.media:
        return sample
    media = [
        images.sized(medium) if isinstance(medium, Image) else medium for medium in sample.media
    ]
    # For hundreds of thousands of samples: `replace` would take as long as making them.
    copy = object.__new__(type(sample))
    copy.__dict__.update(sample.__dict__, media=tuple(media))
    return copy


def _is_plain(part: object, message: Message) -> bool:
    """Whether a part of a message needs no conversion: plain text, or a picture of our types."""
    if isinstance(part, str):
        is_of_model = message.role == "assistant"
        return is_of_model or isinstance(part, Text) or forms.kind_of(part) is None
    return isinstance(part, Image | Video) and forms.is_reference(part)


def _with_plain_text(message: Message) -> Message:
    """The message with `Text` parts as plain strings."""
    if not any(isinstance(part, Text) for part in message.content):
        return message
    parts = (str(part) if isinstance(part, Text) else part for part in message.content)
    return replace(message, content=tuple(parts))


def _asked(sample: Sample) -> Mapping[str, object]:
    """What a sample asks, by the names of VLMEvalKit's columns; one without a value is absent."""
    whole = sample.id.isascii() and sample.id.isdigit() and str(int(sample.id)) == sample.id
    columns = {
        **sample.tags,
        "index": int(sample.id) if whole else sample.id,
        "question": sample.question,
        "hint": sample.data.get("hint"),
        **dict(zip(ascii_uppercase, sample.choices, strict=False)),
    }
    return {name: value for name, value in columns.items() if value not in (None, "")}


def _shown_by(policy: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with the frame policy in their videos, but for those that have one."""

    def by(part: Part) -> Part:
        return replace(part, policy=part.policy or policy) if isinstance(part, Video) else part

    return tuple(Message(one.role, tuple(map(by, one.content))) for one in messages)


def reading_state(reading: Reading, sample: Sample) -> ReadingState:
    """The one state of a reading of a reply that exists."""
    if sample.hidden:
        return "no-target"
    if reading.answer is None:
        return "unparsed"
    return "guessed" if reading.guessed else "answered"
