"""What is known of a model beyond its name: where it is, how it is sampled, what it takes and
costs."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec

from snellen.core.model import Usage
from snellen.errors import UsageError, check_regular

Count = Annotated[int, msgspec.Meta(ge=1)]
Amount = Annotated[float, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
HeaderName = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9-]+$")]
SERVED_BY_US = re.compile(r"--(host|port|served-model-name|model|model-path)(=|$)")
SECRET = re.compile(r"--[\w-]*(key|token)(=|$)")
"""Arguments of servers that are set for them, and that hold keys."""
KEY = re.compile(r"(^|_)(key|token|secret|password)$", re.IGNORECASE)
"""The names of options, and attributes, that hold a secret."""
Word = Annotated[str, msgspec.Meta(pattern=r"^\S{1,12}$")]
Effort = Literal["none", "low", "medium", "high"] | Count
"""How much a model thinks: a level, or the number of tokens of its thoughts at most."""
ImageRule = Literal["qwen2-vl", "qwen3-vl", "openai-tiles", "anthropic", "anthropic-high", "gemini"]
"""How many tokens a picture is, by its size: `models/image_tokens.py`."""


class StrictStruct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fields that keep their bounds, also where they come from Python: msgspec checks only what it
    decodes.

    Raises:
        UsageError: one is of another type, or beyond its bounds.
    """

    def __post_init__(self) -> None:
        for field in msgspec.structs.fields(self):
            try:
                msgspec.convert(getattr(self, field.name), field.type)
            except msgspec.ValidationError as error:
                kind = type(self).__name__
                raise UsageError(f"{kind}: {field.name}: {error}.") from error


class Timeouts(StrictStruct, frozen=True):
    """How long a request may take."""

    connect: Seconds = 10.0
    """Seconds until there is a connection."""
    first: Seconds = 600.0
    """Seconds until the first byte of the reply."""
    total: Seconds = 1200.0
    """Seconds for the whole request."""


class Prices(StrictStruct, frozen=True, omit_defaults=True):
    """Money for a million tokens."""

    input: Amount
    """For a million tokens of requests."""
    output: Amount
    """For a million tokens of replies."""
    cached: Amount | None = None
    """For a million tokens of requests that the server had cached; None: as `input`."""
    reasoning: Amount | None = None
    """For a million tokens of reasoning; None: as `output`."""
    currency: Word = "USD"
    """The word that reports show after amounts."""

    def cost(self, usage: Usage | None) -> float | None:
        """What a reply cost; None where the server did not say how many tokens it took.

        >>> Prices(input=2, output=8, cached=0.5).cost(Usage(input=1000, output=100, cached=600))
        0.0019
        """
        if usage is None or usage.input is None or usage.output is None:
            return None
        cached = min(usage.cached or 0, usage.input)
        reasoning = min(usage.reasoning or 0, usage.output)
        parts = (
            (usage.input - cached, self.input),
            (cached, self.input if self.cached is None else self.cached),
            (usage.output - reasoning, self.output),
            (reasoning, self.output if self.reasoning is None else self.reasoning),
        )
        return sum(tokens * price for tokens, price in parts) / 1e6


class ImageLimits(StrictStruct, frozen=True, omit_defaults=True):
    """The pictures that a model takes: a larger one is made smaller, a smaller one larger."""

    max_side: Count | None = None
    """Pixels of the longer side at most; None: no limit."""
    max_pixels: Count | None = None
    """Width times height at most; None: no limit."""
    max_bytes: Count | None = None
    """Bytes of the file at most; None: no limit."""
    max_images: Count | None = None
    """Pictures in a request; a question with more fails. None: no limit."""
    min_pixels: Count | None = None
    """Width times height, below which a picture is made larger; None: none is."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_pixels and self.max_pixels and self.min_pixels > self.max_pixels:
            raise UsageError(
                f"min_pixels ({self.min_pixels:,}) of [images] is above max_pixels "
                f"({self.max_pixels:,}). Set it to as many at most."
            )

    @property
    def words(self) -> list[str]:
        """What is done to single pictures, a sentence each."""
        limits = self.per_picture
        lower = limits.pop("min_pixels", None)
        sentences = []
        if limits:
            bounds = ", ".join(f"{name} = {limit:,}" for name, limit in limits.items())
            sentences.append(f"pictures beyond {bounds} were made smaller for the model")
        if lower is not None:
            sentences.append(
                f"pictures below min_pixels = {lower:,} were made larger for the model"
            )
        return sentences

    @property
    def per_picture(self) -> dict[str, int]:
        """The limits of a single picture that are set."""
        limits: dict[str, int] = msgspec.to_builtins(self)
        return {name: limit for name, limit in limits.items() if name != "max_images"}


class Serve(StrictStruct, frozen=True):
    """A server that is started for the model. It is stored, and part of the run's identity."""

    kind: Literal["vllm", "sglang", "transformers"]
    """Which server."""
    args: list[str] = []
    """Its own arguments, each a word of its command line, without keys; empty: none."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for word in self.args:
            if SERVED_BY_US.match(word):
                raise UsageError(f"{word}: this is set for the {self.kind} server; leave it out.")
            if SECRET.match(word):
                raise UsageError(
                    "a key is among the server's arguments, which are stored; leave it out. "
                    "The server is on this machine alone, and finds HF_TOKEN in the environment."
                )


class Profile(StrictStruct, frozen=True):
    """A model's profile, from a TOML file or from flags."""

    base_url: str | None = None
    """The address of the server; None: the service's official one."""
    api_key_env: str | None = None
    """The environment variable that holds the key, never the key itself; None: the service's."""
    key_header: HeaderName | None = None
    """The header that the key goes in; None: the service's usual one."""
    stream: bool = False
    """Whether replies are asked for in pieces; they are put together all the same."""
    revision: str | None = None
    """Which weights the model has; part of a run's identity. None: what the back end knows."""
    temperature: Amount | Literal["default"] | None = None
    """The sampling temperature; `default` sends none, which some services need. None: the
    benchmark's."""
    top_p: Share | None = None
    """The share of probability that tokens are sampled from; None: the model's default."""
    max_tokens: Count | None = None
    """The most tokens of a reply; None: the benchmark's limit."""
    effort: Effort | None = None
    """How much the model thinks before it answers: a level, or a number of tokens at most. None:
    nothing is sent."""
    token_floor: Count | None = None
    """The least `max_tokens` to ask for, whatever the benchmark says: thinking models need room.
    None: no floor."""
    extra: dict[str, Any] = {}
    """Further fields, sent to the server as they are, or options of a model that runs here; empty:
    none."""
    trust_remote_code: bool = False
    """Whether a model's folder may run code of its own."""
    prices: Prices | None = None
    """What tokens cost; None: not known."""
    concurrency: Count | None = None
    """The most concurrent requests; None: the back end's number, or adapted to the server."""
    timeout: Timeouts = Timeouts()
    """How long a request may take."""
    images: ImageLimits = ImageLimits()
    """The limits of the pictures; by default none."""
    server: Literal["openai", "vllm", "sglang"] | None = None
    """The kind of the server at `base_url`, which decides the fields of `effort`: `openai` is
    OpenAI's own service at another address. None: not known."""
    serve: Serve | None = None
    """The server that is started for `openai/NAME`; None: one runs already."""
    image_tokens: Count | ImageRule | None = None
    """The tokens of a picture, for `run --estimate`: a number, or a rule. None: not known."""

    def changes_answers(self, *, but: Collection[str] = ()) -> dict[str, object]:
        """The fields that are part of a run's identity, those that are set; of `extra` all `but`
        those named."""
        fields = {
            "token_floor": self.token_floor,
            "extra": {name: value for name, value in self.extra.items() if name not in but},
            "trust_remote_code": self.trust_remote_code or None,
            "images": self.images.per_picture,
            "serve": msgspec.to_builtins(self.serve),
        }
        return {name: value for name, value in fields.items() if value not in (None, {})}


def refuse_keys(model: str, extra: Mapping[str, object]) -> None:
    """That a model which runs here is given no key by its profile's `extra`.

    Raises:
        UsageError: it is.
    """
    if keys := [option for option in extra if KEY.search(option)]:
        raise UsageError(
            f"{model}: {', '.join(keys)} stands in the profile's [extra], which is stored with the "
            "run. Take it out, and let the model read it from the environment."
        )


def read_profile(path: Path) -> Profile:
    """The profile in a TOML file.

    Raises:
        UsageError: the file is missing, is not TOML, or has a field that a profile has not, or
            one beyond its bounds.
    """
    try:
        check_regular(path)
        return msgspec.toml.decode(path.read_bytes().removeprefix(BOM_UTF8), type=Profile)
    except OSError as error:
        raise UsageError(f"{path}: the profile cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        allowed = _allowed(str(error))
        raise UsageError(f"{path}: {error}. {allowed or _fields(str(error))}") from error


def _fields(error: str) -> str:
    """What fields there are, of the table in which one is unknown by an error that ends in its
    path, else of a profile."""
    match = re.search(r"unknown field .* at `\$\.([\w.]+)`$", error)
    kind: Any = Profile
    for name in match[1].split(".") if match else ():
        kind = _struct(_field_type(kind, name))
    table = f"[{match[1]}]" if match else "A profile"
    return f"{table} has the fields {', '.join(kind.__struct_fields__)}."


def _struct(kind: Any) -> Any:
    """The struct that a type is, or may be."""
    return next(part for part in (kind, *get_args(kind)) if hasattr(part, "__struct_fields__"))


def _field_type(struct: Any, name: str) -> Any:
    """The type of a struct's field."""
    return next(field.type for field in msgspec.structs.fields(struct) if field.name == name)


def _allowed(error: str) -> str:
    """What a field may be whose value is none of its words, by an error that ends in its path."""
    match = re.search(r"Invalid enum value .* at `\$\.([\w.]+)`$", error)
    kind: Any = Profile
    for name in match[1].split(".") if match else ():
        kind = _field_type(_struct(kind), name)
    parts = (kind, *get_args(kind))
    words = [repr(word) for part in parts for word in get_args(part) if isinstance(word, str)]
    if any({int, float} & {part, *get_args(part)} for part in parts):
        words.append("a number")
    return f"It may be {', '.join(dict.fromkeys(words))}." if match and words else ""
