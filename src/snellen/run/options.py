"""The options of a run, each declared once.

The command line, plan files, `evaluate`, the manifest, and the documentation read them from
`RunOptions`. To add an option, add a field there, and use its value in this room.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypedDict,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from snellen.core.profile import Amount, Count, Profile, Seconds
from snellen.core.scoring import Missing
from snellen.errors import UsageError
from snellen.run import option_text
from snellen.store import data_at, place_of, runs_at
from snellen.transforms.probes import Blind

Role = Literal["identity", "amount", "environment"]


@dataclass(frozen=True, kw_only=True)
class Option:
    """What an option means, beside its name and type."""

    group: str
    """The heading of the documentation that it is listed under."""
    role: Role
    """`identity`: part of what is asked; `amount`: how much of it; `environment`: how it runs."""
    help: str
    """One or two sentences, as `--help` shows them."""
    default: Any = None
    """The value where nothing sets it."""
    default_text: str | None = None
    """How the default is shown; None: as it is, if it says anything."""
    metavar: str | None = None
    """What stands for its value in `--help`; None: a word for its type."""
    flag: str | None = None
    """Its name on the command line and in plan files; None: the field's."""
    expected: str | None = None
    """What its value must be, for messages; None: derived from its type."""
    read: Callable[[Any], Any] | None = None
    """Gives the value that a text stands for, and raises ValueError; None: the text itself."""
    is_setting: bool = False
    """Whether repeating the flag asks for a run with each value."""


WHAT, HOW_MUCH, EXAMPLES, PROBES = "What is asked", "How much", "Examples", "Probes"
MODEL, SAMPLING, REQUESTS = "The model", "Sampling", "Requests"
BUDGET, RESULTS = "Budget", "Replies and results"


class RunOptions(TypedDict, total=False):
    """The options of `snellen run`, of a plan file, and of `evaluate`, in the order of `--help`."""

    data: Annotated[
        str | Path | None,
        Option(
            group=WHAT,
            role="identity",
            expected="a path",
            read=data_at,
            help="Where the rows are; `synthetic`: the bundled ones.",
        ),
    ]
    task: Annotated[
        str | None,
        Option(
            group=WHAT,
            role="identity",
            metavar="KIND",
            help="What a file of rows asks: mcq, vqa, yesno, count, caption.",
        ),
    ]
    columns: Annotated[
        Mapping[str, str] | None,
        Option(
            group=WHAT,
            role="identity",
            flag="map",
            metavar="COL=FIELD",
            expected="a mapping of columns to fields",
            help="What a column of a file of rows means; repeatable.",
        ),
    ]
    prompt: Annotated[
        str | None,
        Option(
            group=WHAT,
            role="identity",
            metavar="PRESET",
            is_setting=True,
            help="A prompt preset of the benchmark; repeated, each is a run, and all are compared.",
        ),
    ]
    frames: Annotated[
        str | None,
        Option(
            group=WHAT,
            role="identity",
            metavar="POLICY",
            is_setting=True,
            help="How videos are shown: uniform:64, fps:1,max=256,pixels=151200, last:4@1, or a "
            "preset; repeatable, as --prompt.",
        ),
    ]
    image_size: Annotated[
        Count | Literal["original"] | None,
        Option(
            group=WHAT,
            role="identity",
            metavar="PX|original",
            is_setting=True,
            read=option_text.image_size,
            help="The longer side of pictures at most, in pixels; repeatable, as --prompt.",
        ),
    ]
    adapter: Annotated[
        str | None,
        Option(
            group=WHAT,
            role="identity",
            metavar="KIND",
            help="How a model that does not watch streams is shown them: window:4 (the newest four "
            "frames), window:all, reask:POLICY.",
        ),
    ]
    limit: Annotated[
        Count | None, Option(group=HOW_MUCH, role="amount", help="Only the first N rows.")
    ]
    sample: Annotated[
        Count | None,
        Option(
            group=HOW_MUCH,
            role="amount",
            help="N rows drawn in proportion to the categories.",
        ),
    ]
    sample_seed: Annotated[
        int, Option(group=HOW_MUCH, role="amount", default=0, help="Draws other rows.")
    ]
    repeats: Annotated[
        Count,
        Option(group=HOW_MUCH, role="amount", default=1, help="How often each question is asked."),
    ]
    shots: Annotated[
        Count | None,
        Option(
            group=EXAMPLES,
            role="identity",
            metavar="K",
            help="K answered examples before each question.",
        ),
    ]
    shots_from: Annotated[
        str | None,
        Option(
            group=EXAMPLES,
            role="identity",
            metavar="FILE|OPTIONS",
            help="Where they come from: a file in the same form, or another split (split=dev); "
            "without it, rows of your own that are then not asked.",
        ),
    ]
    shots_seed: Annotated[
        int, Option(group=EXAMPLES, role="identity", default=0, help="Draws other examples.")
    ]
    blind: Annotated[
        Blind | None,
        Option(
            group=PROBES,
            role="identity",
            help="Is it about seeing? Ask without the pictures: with nothing, a grey one, or "
            "another question's in their place.",
        ),
    ]
    permute_options: Annotated[
        Annotated[int, msgspec.Meta(ge=2, le=120)] | None,
        Option(
            group=PROBES,
            role="identity",
            metavar="K",
            help="Ask each question up to K times with its options in other places.",
        ),
    ]
    open_ended: Annotated[
        bool,
        Option(
            group=PROBES,
            role="identity",
            default=False,
            help="Ask questions with options without showing them.",
        ),
    ]
    probe_seed: Annotated[
        int,
        Option(group=PROBES, role="identity", default=0, help="Draws other pictures or orders."),
    ]
    out: Annotated[
        str | Path,
        Option(
            group=RESULTS,
            role="environment",
            default=Path("runs"),
            expected="a path",
            read=place_of,
            help="For run folders; also s3://BUCKET/FOLDER.",
        ),
    ]
    base_url: Annotated[
        str | None,
        Option(
            group=MODEL,
            role="environment",
            metavar="URL",
            help="A compatible server: http://localhost:8000/v1",
        ),
    ]
    api_key_env: Annotated[
        str | None,
        Option(
            group=MODEL,
            role="environment",
            metavar="NAME",
            help="Environment variable that holds the key.",
        ),
    ]
    serve: Annotated[
        Literal["vllm", "sglang", "transformers"] | None,
        Option(
            group=MODEL,
            role="identity",
            help="Start a server of openai/NAME's NAME, here, for this run, and stop it at the "
            "end.",
        ),
    ]
    serve_args: Annotated[
        Sequence[str],
        Option(
            group=MODEL,
            role="identity",
            flag="serve_arg",
            metavar="WORD",
            default=(),
            expected="a list of words",
            help="A word of that server's command line (--serve-arg=--dtype=float16); repeatable.",
        ),
    ]
    replicas: Annotated[
        Count | None,
        Option(
            group=MODEL,
            role="environment",
            metavar="N",
            help="N copies of a model that runs here, each in a process of its own, by Ray.",
        ),
    ]
    executor: Annotated[
        Literal["ray"] | None,
        Option(
            group=MODEL,
            role="environment",
            help="Copies by Ray: without --replicas as many as there are GPUs.",
        ),
    ]
    ray_address: Annotated[
        str | None,
        Option(
            group=MODEL,
            role="environment",
            metavar="HOST:PORT|auto",
            help="The Ray cluster that they are in (RAY_ADDRESS); by default one of this run's "
            "own, here.",
        ),
    ]
    gpus_per_replica: Annotated[
        Amount | None,
        Option(
            group=MODEL,
            role="environment",
            metavar="G",
            help="A copy's GPUs, or its part of one; by default an equal share of all.",
        ),
    ]
    trust_remote_code: Annotated[
        bool | None,
        Option(
            group=MODEL,
            role="identity",
            help="Let a model that runs here (hf/…) bring code of its own, and run it.",
        ),
    ]
    profile: Annotated[
        Profile | str | Path | None,
        Option(
            group=MODEL,
            role="identity",
            expected="a Profile or the path of a TOML file",
            help="A model profile (TOML).",
        ),
    ]
    concurrency: Annotated[
        Count | None,
        Option(
            group=REQUESTS,
            role="environment",
            metavar="N|auto",
            default_text="auto",
            read=option_text.concurrency,
            help="Requests at once; auto finds what a server bears, and asks a sync function of "
            "your own one at a time.",
        ),
    ]
    max_tokens: Annotated[
        Count | None,
        Option(
            group=SAMPLING,
            role="identity",
            help="For a reply, instead of the benchmark's limit.",
        ),
    ]
    temperature: Annotated[
        Amount | Literal["default"] | None,
        Option(
            group=SAMPLING,
            role="identity",
            metavar="X|default",
            read=option_text.temperature,
            help="Of sampling; default sends none, for services that refuse it.",
        ),
    ]
    seed: Annotated[
        int | None, Option(group=SAMPLING, role="identity", help="Sent with each request.")
    ]
    timeout: Annotated[
        Mapping[Literal["connect", "first", "total"], Seconds] | None,
        Option(
            group=REQUESTS,
            role="environment",
            metavar=option_text.TIMEOUTS,
            expected="a mapping of connect, first, or total to seconds",
            read=option_text.timeouts,
            help="For one request.",
        ),
    ]
    max_requests: Annotated[
        Count | None,
        Option(
            group=BUDGET,
            role="amount",
            help="Stop after so many in this call, to go on later.",
        ),
    ]
    max_cost: Annotated[
        Amount | None,
        Option(
            group=BUDGET,
            role="amount",
            metavar="X",
            read=option_text.amount,
            help="Stop when this call has spent so much; needs the profile's prices.",
        ),
    ]
    max_time: Annotated[
        Amount | None,
        Option(
            group=BUDGET,
            role="amount",
            metavar="TIME",
            read=option_text.seconds,
            help="Stop after 90s, 10m, 2h.",
        ),
    ]
    missing: Annotated[
        Missing | None,
        Option(
            group=RESULTS,
            role="environment",
            help="What failed questions count as; by default they are in no mean.",
        ),
    ]
    allow_urls: Annotated[
        bool,
        Option(
            group=REQUESTS,
            role="environment",
            default=False,
            help="Fetch pictures from URLs in the data. Without this option, such a URL is an "
            "error.",
        ),
    ]
    reuse: Annotated[
        Sequence[str | Path],
        Option(
            group=RESULTS,
            role="environment",
            metavar="RUN",
            default=(),
            expected="a list of run folders",
            read=runs_at,
            help="Take replies to the very same requests from this run of the same model; "
            "repeatable.",
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """One option as its field of `RunOptions` declares it."""

    name: str
    """The keyword of `evaluate`."""
    option: Option
    """What it means."""
    types: tuple[Any, ...]
    """The types of its values, each with its bounds, without None."""
    is_optional: bool
    """Whether None is a value: not set."""

    @property
    def flag(self) -> str:
        """Its name in plan files; with hyphens, on the command line."""
        return self.option.flag or self.name

    @property
    def is_list(self) -> bool:
        """Whether its value is a list, to which each use of the flag adds an item."""
        return _origin(self.types[0]) is Sequence

    @property
    def is_mapping_of_flags(self) -> bool:
        """Whether its value is a mapping, to which each use of the flag adds NAME=VALUE."""
        return _origin(self.types[0]) is Mapping and self.option.read is None

    @property
    def is_path(self) -> bool:
        """Whether its value, or an item of it, is a path."""
        return Path in self.types or Path in get_args(_items(self.types[0]))

    @property
    def choices(self) -> tuple[str, ...] | None:
        """The words that its value is one of; None if it may be something else."""
        return get_args(self.types[0]) if _origin(self.types[0]) is Literal else None

    @property
    def expected(self) -> str:
        """What its value must be, as messages say it.

        >>> declarations()["limit"].expected, declarations()["missing"].expected
        ('a whole number from 1 on', 'wrong or excluded')
        """
        return self.option.expected or ", or ".join(map(_in_words, self.types))

    def check(self, value: object) -> Any:
        """The value, read if it is a text that stands for one.

        Raises:
            UsageError: it is of another type, or beyond its bounds.
        """
        if value is None and self.is_optional:
            return None
        try:
            value = self._read(value)
        except ValueError as error:
            raise UsageError(f"{self.name}: {error}") from error
        if not self._fits(value):
            raise UsageError(f"{self.name} is {self.expected}, not {value!r:.80}.")
        return value

    def _read(self, value: Any) -> Any:
        read = self.option.read
        if read is None:
            return value
        if self.is_list:
            return tuple(map(read, value)) if isinstance(value, list | tuple) else value
        return read(value) if isinstance(value, str | Path) else value

    def _fits(self, value: object) -> bool:
        if isinstance(value, float) and not math.isfinite(value):
            return False
        if self.is_list and self.is_path:
            return isinstance(value, tuple)
        if self.is_path:
            return isinstance(value, self.types)
        try:
            msgspec.convert(value, reduce(or_, self.types))
        except msgspec.ValidationError:
            return False
        return True


@cache
def declarations() -> Mapping[str, Declaration]:
    """All options by their keyword, in the order of `--help`."""
    hints = get_type_hints(RunOptions, include_extras=True)
    return {name: _declaration(name, hint) for name, hint in hints.items()}


def _declaration(name: str, hint: Any) -> Declaration:
    declared, *metadata = get_args(hint)
    (option,) = (item for item in metadata if isinstance(item, Option))
    bounds = [item for item in metadata if isinstance(item, msgspec.Meta)]
    if get_origin(declared) in (Union, UnionType):
        types = get_args(declared)
    else:
        types = (Annotated[declared, bounds[0]] if bounds else declared,)
    return Declaration(
        name=name,
        option=option,
        types=tuple(kind for kind in types if kind is not NoneType),
        is_optional=NoneType in types,
    )


def checked(options: Mapping[str, object]) -> RunOptions:
    """These options, each with the value that it stands for.

    Raises:
        UsageError: there is no option of a name, or it cannot have the value.
    """
    known = declarations()
    for name in options:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"Options: {', '.join(known)}."
            raise UsageError(f"There is no option {name!r}. {hint}")
    return cast(RunOptions, {name: known[name].check(value) for name, value in options.items()})


def with_defaults(options: Mapping[str, object]) -> RunOptions:
    """These options, checked, and the defaults of all others.

    Raises:
        UsageError: there is no option of a name, or it cannot have the value.
    """
    defaults = {name: declared.option.default for name, declared in declarations().items()}
    return cast(RunOptions, {**defaults, **checked(options)})


def bounds_of(kind: Any) -> tuple[Any, msgspec.Meta]:
    """A type without its bounds, and these."""
    if get_origin(kind) is not Annotated:
        return kind, msgspec.Meta()
    bare, *metadata = get_args(kind)
    return bare, metadata[0]


def _origin(kind: Any) -> Any:
    return get_origin(bounds_of(kind)[0])


def _items(kind: Any) -> Any:
    return next(iter(get_args(kind)), None)


def _in_words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        *others, last = get_args(kind)
        commas = ", ".join(others)
        return f"{commas}{',' * (len(others) > 1)} or {last}" if others else last
    bare, bounds = bounds_of(kind)
    words = {int: "a whole number", float: "a number", bool: "true or false"}.get(bare, "text")
    if bounds.ge is None:
        return words
    return f"{words} from {bounds.ge} {'on' if bounds.le is None else f'to {bounds.le}'}"
