"""A benchmark consists of rows, a prompt, and scorings. All of its functions are pure.

row --sample--> Sample --prompt--> messages --model--> Reply --parse--> Reading --score-->
number --metrics--> Estimate
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import dropwhile
from string import ascii_uppercase
from typing import Any

from snellen.copies import changed
from snellen.core.exchange import Interop
from snellen.core.model import Generation, Origin, Reply, Request
from snellen.core.presentation import Presentation
from snellen.core.procedure import Procedure
from snellen.core.provenance import Provenance
from snellen.core.rule_errors import rule_error, users_call
from snellen.core.sample import Sample
from snellen.core.scoring import Scoring
from snellen.core.source import Source
from snellen.data import Row, Table, unreadable
from snellen.errors import DataError, SnellenError
from snellen.media import forms, images, video
from snellen.media.content import Image, Message, Part, Text, TimedText, Video

History = tuple[tuple[tuple[Message, ...], Reply], ...]
"""The earlier turns of a sample. Each turn is a pair of the messages that were sent and the reply.
If a turn fails, the sample's later turns are not sent."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """The scores that dummy models must get on the bundled rows. `snellen check` uses them to test
    a benchmark.

    The dummy models are `oracle`, `wrong`, `silent`, and `hedging`.
    """

    says: Callable[[Sample, str], str]
    """Returns a reply that gives an answer in the format that the prompt requests."""
    wrong: Callable[[Sample], str]
    """Returns a wrong answer to a sample."""
    expect: Mapping[str, Mapping[str, float | None]]
    """The headline value that each dummy model must get, keyed by scoring and then by dummy model.
    The tolerance is 1e-9. None: the headline must have no value."""
    verdict: Callable[[Sample, Reply], str] | None = None
    """Returns the verdict of a perfect judge on a reply. Required if a scoring has a judge."""


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """Rows, the questions about them, and the rules that score replies."""

    name: str
    """The benchmark's name in the catalog, on the command line, and in runs."""
    asks: int
    """The version of the questions. Increment this number when rows, samples, prompts, or limits
    change."""
    data: Table
    """The rows."""
    sample: Callable[[int, Row], Sample]
    """Makes a sample from a row. The arguments are the row's index, from 0, and the row."""
    prompt: Callable[[Sample, History], tuple[Message, ...]]
    """Returns the conversation to send, whose last message is the user's. Returns () if there is no
    further turn."""
    scorings: Mapping[str, Scoring]
    """The scorings, keyed by name. The first is the headline scoring."""
    max_answer_tokens: int = 512
    """The default token limit of a reply, which an option or a profile can override."""
    cluster_by: Callable[[Sample], str] | None = None
    """Returns the key of a sample's cluster. Samples that share something, such as an image, form a
    cluster, which confidence intervals take into account. The function may use only the sample's
    id, tags, and data. None: the samples share nothing."""
    check: Check | None = None
    """The scores that dummy models must get on the bundled rows; required by `snellen check`."""
    procedure: Procedure = field(default_factory=Procedure)
    """How the questions are asked. By default, each question is asked once, and the model replies
    with text."""
    presentation: Presentation = field(default_factory=Presentation)
    """How results are broken down and explained. By default, there are no breakdowns."""
    interop: Interop = field(default_factory=Interop)
    """The file formats of the benchmark's authors that Snellen can read and write; by default
    none."""
    _provenance: Provenance = field(default_factory=Provenance, repr=False)
    """How the benchmark was loaded and transformed. Only the registry and the transforms set this
    field, by calling `vary`."""

    def __post_init__(self) -> None:
        if self._provenance.from_catalog or self._provenance.source is not None:
            unmarked = replace(self._provenance, from_catalog=False, source=None)
            object.__setattr__(self, "_provenance", unmarked)

    @property
    def provenance(self) -> Provenance:
        """How the benchmark was loaded and transformed."""
        return self._provenance

    @property
    def headline(self) -> str:
        """The name of the first scoring."""
        return next(iter(self.scorings))

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes that every result shows: first those in the benchmark's definition, then those
        that Snellen adds."""
        return (*self.presentation.notes, *self.provenance.notes)

    def read(self, row: Row) -> Sample:
        """Make a sample from a row.

        Raises:
            DataError: the row lacks a field that the benchmark needs, or a field has an unexpected
                value. The error message names the row and the row's fields.
        """
        try:
            return _with_sizes(_checked(self.sample(row.position, row)))
        except SnellenError:
            raise
        except Exception as error:
            where = f"{self.name}: row {row.position + 1} of {self.data.where}"
            call = users_call(error)
            raise DataError(
                f"{unreadable(where, row, error)} Is this the data that `snellen show {self.name}` "
                f"describes?{f' The error is at {call}.' if call else ''}"
            ) from error

    def messages(self, sample: Sample, history: History = ()) -> tuple[Message, ...]:
        """The conversation that `prompt` returns, with every picture converted to an `Image`.

        A part that has one of the forms of a picture (`media.forms`) becomes an `Image`. The
        sample's question and choices and the model's replies always stay text. Text that looks like
        a picture is returned as `Text`, so that it is not converted to a picture later.

        Raises:
            MediaError: a picture cannot be read, or a part is neither text nor a picture.
            DataError: `prompt` raised an exception.
        """
        try:
            return tuple(
                message
                if all(_is_plain(part, message) for part in message.content)
                else replace(message, content=tuple(self._parts(message, sample)))
                for message in self.prompt(sample, history)
            )
        except SnellenError:
            raise
        except Exception as error:
            what = f"{self.name}: the prompt of sample {sample.id!r}"
            raise rule_error(error, what, "Correct the code. Replies so far are kept.") from error

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
        """The next request about this sample, or None if its conversation is over."""
        if (
            self.procedure.conversation.turns is not None
            and len(history) >= self.procedure.conversation.turns
        ):
            return None
        messages = tuple(map(_with_plain_text, self.messages(sample, history)))
        if not messages:
            return None
        self._check_roles(messages, sample)
        by_turn = self.procedure.conversation.by_turn
        turn = sample if by_turn is None else by_turn(sample)[len(history)]
        if any(
            isinstance(part, Video | TimedText) for message in messages for part in message.content
        ):
            messages = _shown_by(
                str(video.policy(self.procedure.frames or video.DEFAULT)), messages
            )
        return Request(
            messages=messages,
            kind=self.procedure.kind,
            choices=turn.choices,
            generation=generation
            or Generation(
                max_tokens=self.max_answer_tokens, temperature=self.procedure.temperature
            ),
            seed=seed,
            origin=Origin(
                benchmark=self.provenance.called or self.name,
                sample=sample.id,
                columns=partial(_question_columns, turn),
            ),
        )

    def _check_roles(self, messages: Sequence[Message], sample: Sample) -> None:
        """Check that user and model take turns, and that the last message is the user's.

        Raises:
            DataError: the roles are in a different order.
        """
        roles = [message.role for message in messages]
        if roles == ["user"]:
            return
        spoken = [*dropwhile("system".__eq__, roles)]
        if spoken != ["user", "assistant"] * (len(spoken) // 2) + ["user"]:
            raise DataError(
                f"{self.name}: the prompt of sample {sample.id!r} is a conversation of "
                f"{', '.join(roles)}. After system messages, user and assistant must take turns, "
                "and the user must be first and last. This is a bug in the benchmark's prompt."
            )

    def turn_samples(self, sample: Sample) -> tuple[Sample, ...]:
        """One sample for each turn of a sample. If turns are not scored separately, the only item
        is the sample itself."""
        return (
            (sample,)
            if self.procedure.conversation.by_turn is None
            else self.procedure.conversation.by_turn(sample)
        )

    def scored_turns(self, sample: Sample) -> tuple[Sample | None, ...]:
        """For each turn, the sample with which the reply is scored, or None if the turn is not
        scored."""
        turns = self.turn_samples(sample)
        every = all(turn.hidden for turn in turns)
        return tuple(turn if every or not turn.hidden else None for turn in turns)


MEDIA = (Image, Video)
PARTS: Mapping[str, type] = {
    "procedure": Procedure,
    "presentation": Presentation,
    "interop": Interop,
    "_provenance": Provenance,
}
"""The fields of a benchmark that contain further fields. `vary` can replace these inner fields,
too."""


def mark_from_catalog(benchmark: Benchmark) -> Benchmark:
    """Mark a benchmark as one that the catalog can rebuild from what a run stores."""
    marked = replace(benchmark.provenance, from_catalog=True)
    object.__setattr__(benchmark, "_provenance", marked)
    return benchmark


def mark_source(benchmark: Benchmark, source: Source | None) -> Benchmark:
    """Set where a benchmark comes from."""
    marked = replace(benchmark.provenance, source=source)
    object.__setattr__(benchmark, "_provenance", marked)
    return benchmark


def vary(benchmark: Benchmark, **changes: Any) -> Benchmark:
    """Replace fields of a benchmark, including inner fields. Use this for changes that runs record,
    such as a probe.

    Unlike `dataclasses.replace`, this function keeps `from_catalog` and `source`. To add a note,
    use `with_note`.
    """
    for name, part in PARTS.items():
        inner = {item.name for item in fields(part)} - {"notes"}
        if values := {key: changes.pop(key) for key in [*changes] if key in inner}:
            changes[name] = replace(changes.get(name, getattr(benchmark, name)), **values)
    changed = mark_source(replace(benchmark, **changes), benchmark.provenance.source)
    return mark_from_catalog(changed) if benchmark.provenance.from_catalog else changed


def with_note(benchmark: Benchmark, note: str) -> Benchmark:
    """Add a sentence that every result of the benchmark shows."""
    provenance = benchmark.provenance
    return vary(benchmark, _provenance=replace(provenance, notes=(*provenance.notes, note)))


def _checked(sample: Sample) -> Sample:
    """Return the sample if its id, question, and target are texts.

    Raises:
        TypeError: one of them is not, because the row's cell has another type.
    """
    target = "" if sample.target is None else sample.target
    for name, value in (("id", sample.id), ("question", sample.question), ("target", target)):
        if not isinstance(value, str):
            raise TypeError(f"its {name} is of type {type(value).__name__}, but must be text")
    return sample


def _with_sizes(sample: Sample) -> Sample:
    """Give the pictures of a sample their sizes. A run stores the sizes but not the pictures, so a
    scoring sees the same sample with and without the pictures."""
    if not sample.media:
        return sample
    media = [
        images.sized(medium) if isinstance(medium, Image) else medium for medium in sample.media
    ]
    return changed(sample, media=tuple(media))


def _is_plain(part: object, message: Message) -> bool:
    """Whether a part of a message needs no conversion, because it is plain text, an `Image`, or a
    `Video`."""
    if isinstance(part, str):
        is_of_model = message.role == "assistant"
        return is_of_model or isinstance(part, Text) or forms.kind_of(part) is None
    return isinstance(part, MEDIA) and forms.is_reference(part)


def _with_plain_text(message: Message) -> Message:
    """Convert the `Text` parts of a message to plain strings."""
    if not any(isinstance(part, Text) for part in message.content):
        return message
    parts = (str(part) if isinstance(part, Text) else part for part in message.content)
    return replace(message, content=tuple(parts))


def _question_columns(sample: Sample) -> Mapping[str, object]:
    """The question as a row of VLMEvalKit: values keyed by column. Columns without a value are
    omitted."""
    is_number = sample.id.isascii() and sample.id.isdigit() and str(int(sample.id)) == sample.id
    columns = {
        **sample.tags,
        "index": int(sample.id) if is_number else sample.id,
        "question": sample.question,
        "hint": sample.data.get("hint"),
        **dict(zip(ascii_uppercase, sample.choices, strict=False)),
    }
    return {name: value for name, value in columns.items() if value not in (None, "")}


def _shown_by(policy: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Set the frame policy of every video in the messages that has no policy."""

    def by(part: Part) -> Part:
        if isinstance(part, TimedText):
            shown = [replace(video, policy=video.policy or policy) for video in part.videos]
            return TimedText(str(part), shown, part.write)
        return replace(part, policy=part.policy or policy) if isinstance(part, Video) else part

    return tuple(replace(message, content=tuple(map(by, message.content))) for message in messages)
