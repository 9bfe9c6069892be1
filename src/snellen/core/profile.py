"""A model's profile: its server, its sampling settings, its limits, and its prices."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import msgspec

from snellen.core.coordinates import coordinates_in
from snellen.errors import UsageError, check_regular

if TYPE_CHECKING:
    from snellen.core.model import Usage

Count = Annotated[int, msgspec.Meta(ge=1)]
Amount = Annotated[float, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
HeaderName = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9-]+$")]
SERVED_BY_US = re.compile(r"--(host|port|served-model-name|model|model-path)(=|$)")
SECRET = re.compile(r"--[\w-]*(key|token)(=|$)")
"""Server arguments that users may not set, because Snellen sets them or because they contain
keys."""
KEY = re.compile(r"(^|_)(key|token|secret|password)$", re.IGNORECASE)
"""Matches the names of options and attributes that hold a secret."""
Word = Annotated[str, msgspec.Meta(pattern=r"^\S{1,12}$")]
Effort = Literal["none", "low", "medium", "high"] | Count
"""How much a model thinks: a level, or the maximum number of tokens that it may spend on
thinking."""
ImageRule = Literal["qwen2-vl", "qwen3-vl", "openai-tiles", "anthropic", "anthropic-high", "gemini"]
"""The rule that computes a picture's number of tokens from the picture's size
(`models/image_tokens.py`)."""


class StrictStruct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A struct that checks the types and bounds of its fields even if it is created in Python.
    msgspec itself checks only structs that it decodes.

    Raises:
        UsageError: a field has the wrong type or is out of bounds.
    """

    def __post_init__(self) -> None:
        for field in _fields(type(self)):
            try:
                msgspec.convert(getattr(self, field.name), field.type)
            except msgspec.ValidationError as error:
                kind = type(self).__name__
                raise UsageError(f"{kind}: {field.name}: {error}.") from error


@cache
def _fields(struct: type[StrictStruct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Return the fields of a struct. msgspec evaluates their annotations at each call."""
    return msgspec.structs.fields(struct)


class Timeouts(StrictStruct, frozen=True):
    """The time limits of a request."""

    connect: Seconds = 10.0
    """The maximum time until the connection is made, in seconds."""
    first: Seconds = 600.0
    """The maximum time until the first byte of the reply, in seconds."""
    total: Seconds = 1200.0
    """The maximum time for the whole request, in seconds."""


class Prices(StrictStruct, frozen=True, omit_defaults=True):
    """Prices per million tokens."""

    input: Amount
    """The price of a million input tokens."""
    output: Amount
    """The price of a million output tokens."""
    cached: Amount | None = None
    """The price of a million input tokens that the server had cached; None: the same as `input`."""
    reasoning: Amount | None = None
    """The price of a million reasoning tokens; None: the same as `output`."""
    currency: Word = "USD"
    """The name of the currency, which reports show after amounts."""

    def cost(self, usage: Usage | None) -> float | None:
        """The cost of a reply; None if the server did not report its number of tokens.

        >>> from snellen.core import Usage
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
    """The limits of the pictures that a model accepts. Pictures outside these limits are
    resized."""

    max_side: Count | None = None
    """The maximum length of the longer side, in pixels; None: no limit."""
    max_pixels: Count | None = None
    """The maximum of width times height, in pixels; None: no limit."""
    max_bytes: Count | None = None
    """The maximum size of the file, in bytes; None: no limit."""
    max_images: Count | None = None
    """The maximum number of pictures in a request. A question with more pictures fails. None: no
    limit."""
    min_pixels: Count | None = None
    """The minimum of width times height, in pixels. A smaller picture is enlarged. None: no
    limit."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_pixels and self.max_pixels and self.min_pixels > self.max_pixels:
            raise UsageError(
                f"min_pixels ({self.min_pixels:,}) of [images] is above max_pixels "
                f"({self.max_pixels:,}). Set min_pixels to at most max_pixels."
            )

    @property
    def words(self) -> list[str]:
        """Sentences that describe how pictures outside the limits are resized."""
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
        """The limits that apply to each picture by itself, keyed by name. Limits that are not set
        are left out."""
        limits: dict[str, int] = msgspec.to_builtins(self)
        return {name: limit for name, limit in limits.items() if name != "max_images"}


class Serve(StrictStruct, frozen=True):
    """A server that is started for the model. These settings are stored, and are part of the run's
    identity."""

    kind: Literal["vllm", "sglang", "transformers"]
    """Which server to start."""
    args: list[str] = []
    """Arguments for the server's command line, one list item for each word. The arguments must not
    contain keys."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for word in self.args:
            if SERVED_BY_US.match(word):
                raise UsageError(
                    f"{word}: Snellen sets this argument of the {self.kind} server itself. "
                    "Leave it out."
                )
            if SECRET.match(word):
                raise UsageError(
                    "the server's arguments contain a key. Remove the key, because the arguments "
                    "are stored. Only this machine can reach the server, so it needs no API key, "
                    "and it gets HF_TOKEN from the environment."
                )


class Profile(StrictStruct, frozen=True):
    """A model's profile, from a TOML file or from flags."""

    base_url: str | None = None
    """The address of the server; None: the service's official address."""
    api_key_env: str | None = None
    """The environment variable that holds the API key (never the key itself); None: the service's
    default variable."""
    key_header: HeaderName | None = None
    """The HTTP header in which the key is sent; None: the service's default header."""
    stream: bool = False
    """Whether replies are streamed. Streamed or not, the run stores the complete reply."""
    revision: str | None = None
    """The revision of the model's weights. The revision is part of a run's identity. None: the
    revision that the back end reports."""
    temperature: Amount | Literal["default"] | None = None
    """The sampling temperature. `default`: no temperature is sent, for services that reject
    requests that set one. None: the benchmark's temperature."""
    top_p: Share | None = None
    """The probability mass from which tokens are sampled; None: the model's default."""
    max_tokens: Count | None = None
    """The token limit of a reply; None: the benchmark's limit."""
    effort: Effort | None = None
    """How much the model thinks before it answers: a level, or the maximum number of tokens. None:
    nothing is sent."""
    token_floor: Count | None = None
    """The minimum token limit of a reply, even if the benchmark sets a lower one. Thinking models
    need the extra tokens. None: no minimum."""
    extra: dict[str, Any] = {}
    """Further fields that are sent to the server unchanged, or options of a model that runs on this
    machine."""
    trust_remote_code: bool = False
    """Whether code in the model's folder may run."""
    prices: Prices | None = None
    """The prices of tokens; None: not known."""
    concurrency: Count | None = None
    """The maximum number of concurrent requests. None: the back end decides, and may adapt the
    number to the server."""
    timeout: Timeouts = Timeouts()
    """The time limits of a request."""
    images: ImageLimits = ImageLimits()
    """The limits of the pictures; by default, there are none."""
    server: Literal["openai", "vllm", "sglang"] | None = None
    """The kind of server at `base_url`, which determines the fields in which `effort` is sent.
    `openai` stands for OpenAI's own service at another address. None: not known."""
    serve: Serve | None = None
    """The server that is started for `openai/NAME`. None: the server is already running."""
    image_tokens: Count | ImageRule | None = None
    """How many tokens a picture has, for `run --estimate`: a number, or the name of a rule. None:
    not known."""
    coordinates: str | None = None
    """The coordinates in which the model writes boxes and points (`core.coordinates`). None: they
    are not set, so scorings read them as the benchmark's prompt demands."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coordinates is not None:
            coordinates_in(self.coordinates)

    def changes_answers(self, *, but: Collection[str] = ()) -> dict[str, object]:
        """The fields that are set and are part of a run's identity, without the options of `extra`
        that `but` names."""
        fields = {
            "token_floor": self.token_floor,
            "extra": {name: value for name, value in self.extra.items() if name not in but},
            "trust_remote_code": self.trust_remote_code or None,
            "images": self.images.per_picture,
            "serve": msgspec.to_builtins(self.serve),
        }
        return {name: value for name, value in fields.items() if value not in (None, {})}


def refuse_keys(model: str, extra: Mapping[str, object]) -> None:
    """Check that no option in a profile's `extra` is a key. Call this for a model that runs on this
    machine, whose `extra` is stored with the run.

    Raises:
        UsageError: the profile contains a key.
    """
    if keys := [option for option in extra if KEY.search(option)]:
        raise UsageError(
            f"{model}: the profile's [extra] contains {', '.join(keys)}, and it is stored with the "
            "run. Remove the key, and let the model read it from the environment."
        )


def read_profile(path: Path) -> Profile:
    """Read a profile from a TOML file.

    Raises:
        UsageError: the file is missing or is not TOML, or one of its fields is unknown or out of
            bounds.
    """
    try:
        check_regular(path)
        return msgspec.toml.decode(path.read_bytes().removeprefix(BOM_UTF8), type=Profile)
    except OSError as error:
        raise UsageError(f"{path}: the profile cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        allowed = _allowed(str(error))
        raise UsageError(f"{path}: {error}. {allowed or fields_of(str(error))}") from error


def fields_of(error: str) -> str:
    """For an error about an unknown or missing field, a sentence that lists the fields of the TOML
    table that the end of the error message names. If the message names no table, the sentence lists
    the fields of a profile."""
    match = re.search(r"(?:unknown|required) field .* at `\$\.([\w.]+)`$", error)
    kind: Any = Profile
    for name in match[1].split(".") if match else ():
        kind = _struct(_field_type(kind, name))
    table = f"[{match[1]}]" if match else "A profile"
    return f"{table} has the fields {', '.join(kind.__struct_fields__)}."


def _struct(kind: Any) -> Any:
    """The struct that a type is or, if the type is a union, contains."""
    return next(part for part in (kind, *get_args(kind)) if hasattr(part, "__struct_fields__"))


def _field_type(struct: Any, name: str) -> Any:
    """The type of a struct's field."""
    return next(field.type for field in msgspec.structs.fields(struct) if field.name == name)


def _allowed(error: str) -> str:
    """For an error about an invalid value, a sentence that lists the allowed values of the field
    that the end of the error message names. "" for other errors."""
    match = re.search(r"Invalid enum value .* at `\$\.([\w.]+)`$", error)
    kind: Any = Profile
    for name in match[1].split(".") if match else ():
        kind = _field_type(_struct(kind), name)
    parts = (kind, *get_args(kind))
    words = [repr(word) for part in parts for word in get_args(part) if isinstance(word, str)]
    if any({int, float} & {part, *get_args(part)} for part in parts):
        words.append("a number")
    return f"It may be {', '.join(dict.fromkeys(words))}." if match and words else ""
