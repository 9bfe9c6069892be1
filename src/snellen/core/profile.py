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
ImageRule = Literal["qwen2-vl", "qwen3-vl", "openai-tiles", "anthropic", "anthropic-high", "gemini"]
"""How many tokens a picture is, by its size: `models/image_tokens.py`."""


class Checked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


class Timeouts(Checked, frozen=True):
    """Seconds to connect, until the first byte of the reply, and for the whole request."""

    connect: Seconds = 10.0
    first: Seconds = 600.0
    total: Seconds = 1200.0


class Prices(Checked, frozen=True, omit_defaults=True):
    """Money for a million tokens. `cached` is for input that the server had already (None: as
    `input`), `reasoning` for that part of the output (None: as `output`); `currency` is a word to
    show."""

    input: Amount
    output: Amount
    cached: Amount | None = None
    reasoning: Amount | None = None
    currency: Word = "USD"

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


class ImageLimits(Checked, frozen=True, omit_defaults=True):
    """The pictures that a model takes: a larger one is made smaller, a smaller one larger."""

    max_side: Count | None = None
    """Pixels of the longer side."""
    max_pixels: Count | None = None
    """Width times height."""
    max_bytes: Count | None = None
    """Bytes of the file."""
    max_images: Count | None = None
    """Pictures in a request; the question fails if it has more."""
    min_pixels: Count | None = None
    """Width times height, below which a picture is made larger."""

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
        limits = self.of_one
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
    def of_one(self) -> dict[str, int]:
        """The limits that are set of a single picture."""
        said: dict[str, int] = msgspec.to_builtins(self)
        return {name: limit for name, limit in said.items() if name != "max_images"}


class Serve(Checked, frozen=True):
    """A server that is started for the model: which one, and its own arguments, each a word of its
    command line. They are stored, and part of the run's identity, so no key may be among them."""

    kind: Literal["vllm", "sglang", "transformers"]
    args: list[str] = []

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


class Profile(Checked, frozen=True):
    """A model's profile, from a TOML file or from flags.

    `api_key_env` names the environment variable that holds the key; the key itself is never here.
    `key_header` is the header that it goes in, where that is not the usual one of the service.
    `stream` asks for replies in pieces, which come whole all the same.
    `temperature = "default"` sends none, whatever the benchmark asks for: some services refuse it.
    `token_floor` is the least `max_tokens` to ask for, whatever the benchmark says: thinking models
    need room. `extra` is sent to the server as it is; a model that runs here says what it takes of
    it. `images` are limits of the pictures. `trust_remote_code` lets a model's folder run code of
    its own. `serve` is the server that is started for `openai/NAME`. `image_tokens` is how many
    tokens a picture is, for `run --estimate`: a number, or a rule.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    key_header: HeaderName | None = None
    stream: bool = False
    revision: str | None = None
    temperature: Amount | Literal["default"] | None = None
    top_p: Share | None = None
    max_tokens: Count | None = None
    token_floor: Count | None = None
    extra: dict[str, Any] = {}
    trust_remote_code: bool = False
    prices: Prices | None = None
    concurrency: Count | None = None
    timeout: Timeouts = Timeouts()
    images: ImageLimits = ImageLimits()
    serve: Serve | None = None
    image_tokens: Count | ImageRule | None = None

    def changes_answers(self, *, but: Collection[str] = ()) -> dict[str, object]:
        """The fields that are part of a run's identity, those that are set; of `extra` all `but`
        those named."""
        fields = {
            "token_floor": self.token_floor,
            "extra": {name: value for name, value in self.extra.items() if name not in but},
            "trust_remote_code": self.trust_remote_code or None,
            "images": self.images.of_one,
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
        UsageError: the file is missing, is no TOML, or has a field that a profile has not, or
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
    found = re.search(r"unknown field .* at `\$\.([\w.]+)`$", error)
    kind: Any = Profile
    for name in found[1].split(".") if found else ():
        kind = _struct(next(one.type for one in msgspec.structs.fields(kind) if one.name == name))
    table = f"[{found[1]}]" if found else "A profile"
    return f"{table} has the fields {', '.join(kind.__struct_fields__)}."


def _struct(kind: Any) -> Any:
    """The struct that a type is, or may be."""
    return next(one for one in (kind, *get_args(kind)) if hasattr(one, "__struct_fields__"))


def _allowed(error: str) -> str:
    """What a field may be whose value is none of its words, by an error that ends in its path."""
    found = re.search(r"Invalid enum value .* at `\$\.([\w.]+)`$", error)
    kind: Any = Profile
    for name in found[1].split(".") if found else ():
        kind = next(one.type for one in msgspec.structs.fields(_struct(kind)) if one.name == name)
    parts = (kind, *get_args(kind))
    words = [repr(one) for part in parts for one in get_args(part) if isinstance(one, str)]
    if any({int, float} & {part, *get_args(part)} for part in parts):
        words.append("a number")
    return f"It may be {', '.join(dict.fromkeys(words))}." if found and words else ""
