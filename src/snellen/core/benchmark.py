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
from typing import Any

from snellen.core.exchange import Published, Results, Submission
from snellen.core.model import Generation, Kind, Origin, Reply, Request
from snellen.core.sample import Sample
from snellen.core.scoring import Scoring
from snellen.core.source import Source
from snellen.core.streaming import Streaming
from snellen.data import Found, Row, Table
from snellen.errors import DataError
from snellen.media import forms, images, video
from snellen.media.content import Image, Message, Part, Text, Video

History = tuple[tuple[tuple[Message, ...], Reply], ...]
"""A sample's earlier turns: what was sent and what came. A failed turn ends the sample."""


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
    source: Source | None = field(default=None, init=False, repr=False, compare=False)
    """Where somebody's own benchmark comes from. Only the registry sets it, and
    `dataclasses.replace` drops it too."""

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


def mark_source(benchmark: Benchmark, source: Source | None) -> Benchmark:
    """Mark a benchmark with where it comes from."""
    object.__setattr__(benchmark, "source", source)
    return benchmark


def vary(benchmark: Benchmark, **changes: Any) -> Benchmark:
    """Replace fields in a way that a run stores: a probe, examples, a frame policy.

    Unlike `dataclasses.replace` it keeps `from_catalog` and `source`.
    """
    changed = mark_source(replace(benchmark, **changes), benchmark.source)
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
