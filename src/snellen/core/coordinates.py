"""The coordinates in which a model writes boxes and points.

They are a fact about the model, which its profile, a recipe, or an option states. They are never
guessed from a reply.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, cast, get_args

from snellen.errors import UsageError
from snellen.media.sizes import in_squares

if TYPE_CHECKING:
    from snellen.core.model import Reply
    from snellen.core.sample import Sample
    from snellen.core.scoring import Reading
    from snellen.media.content import Size

Convention = Literal["0-1", "0-999", "0-1000", "pixels-original", "pixels-shown", "yxyx-0-1000"]
WORDS: Mapping[Convention, str] = {
    "0-1": "shares of the picture's width and height",
    "0-999": "parts of the picture's width and height, of which 999 is the right or lower edge",
    "0-1000": "thousandths of the picture's width and height",
    "pixels-original": "pixels of the original picture",
    "pixels-shown": "pixels of the picture that the model is shown",
    "yxyx-0-1000": "thousandths of the picture's height and width, with y before x",
}
"""The meaning of each convention."""
FORMS = f"{', '.join(get_args(Convention))}, or pixels-shown with the processor's resizing"
RANGES: Mapping[Convention, float] = {"0-1": 1, "0-999": 999, "0-1000": 1000, "yxyx-0-1000": 1000}
"""The number of the right and lower edge of every picture. The other conventions count pixels."""
MARGIN = 0.01
"""How far a number may be outside the picture in conventions that count pixels, as a share of the
picture's side. Models with such a convention write numbers slightly beyond an edge."""


@dataclass(frozen=True, kw_only=True)
class Resizing:
    """How a model's processor resizes a picture that it receives. Both sides become multiples of
    `factor`, and their product stays within bounds (`media.sizes.in_squares`)."""

    factor: int
    """The number that divides both sides, in pixels: the side of a patch times the number of
    patches that are merged."""
    min_pixels: int
    """The smallest area, in pixels."""
    max_pixels: int
    """The largest area, in pixels."""

    def __post_init__(self) -> None:
        if self.factor < 1 or not self.factor**2 <= self.max_pixels >= self.min_pixels >= 1:
            raise ValueError(
                f"{self}: the factor must be at least 1, and max_pixels at least min_pixels and "
                "the factor's square."
            )

    def __str__(self) -> str:
        return ",".join(f"{field.name}={getattr(self, field.name)}" for field in fields(self))

    def size(self, received: Size) -> Size:
        """The width and height, in pixels, to which the processor resizes a picture."""
        return in_squares(
            *received, factor=self.factor, least=self.min_pixels, most=self.max_pixels
        )


RESIZINGS: Mapping[str, Resizing] = {
    "qwen2.5-vl": Resizing(factor=28, min_pixels=56 * 56, max_pixels=28 * 28 * 16_384),
}
"""The resizing of processors whose models write pixels of the resized picture.

`qwen2.5-vl`: preprocessor_config.json of Qwen/Qwen2.5-VL-7B-Instruct, whose numbers are the
defaults of QwenLM/Qwen3-VL@96588727e44c78b25ba03ea03b8e12f7e64fd0da:qwen-vl-utils/src/
qwen_vl_utils/vision_process.py#L26-L27, #L131-L132. That its boxes are pixels of the resized
picture: qwen-vl-finetune/tools/process_bbox.ipynb#L110.
"""


@dataclass(frozen=True, kw_only=True)
class Coordinates:
    """The coordinates in which a model writes boxes and points."""

    convention: Convention
    """The scale and the order of the numbers."""
    resizing: Resizing | None = None
    """How the model's processor resizes pictures, for `pixels-shown`. None: the model is shown the
    picture as it was sent."""

    @classmethod
    def read(cls, text: str) -> Coordinates:
        """Read coordinates from a text such as `0-1000`, `pixels-shown:qwen2.5-vl`, or
        `pixels-shown:qwen2.5-vl,max_pixels=1003520`.

        >>> str(Coordinates.read("pixels-shown:qwen2.5-vl,max_pixels=1003520"))
        'pixels-shown:factor=28,min_pixels=3136,max_pixels=1003520'

        Raises:
            ValueError: the text states no coordinates.
        """
        name, colon, rest = text.partition(":")
        if name not in get_args(Convention) or (colon and name != "pixels-shown"):
            raise ValueError(f"{text!r} is none of {FORMS}.")
        convention = cast(Convention, name)
        return cls(convention=convention, resizing=_resizing(text, rest) if colon else None)

    def __str__(self) -> str:
        return self.convention if self.resizing is None else f"{self.convention}:{self.resizing}"

    @property
    def words(self) -> str:
        """What the numbers mean."""
        if self.convention != "pixels-shown":
            return WORDS[self.convention]
        if self.resizing is None:
            return "pixels of the picture as it was sent, before any resizing by the processor"
        return "pixels of the picture as the processor resized it"

    @property
    def counts_pixels(self) -> bool:
        """Whether the numbers are pixels, so that their meaning depends on a picture's size."""
        return self.convention not in RANGES

    def extent(self, original: Size, sent: Size) -> tuple[float, float]:
        """The numbers (x, y) of the lower right corner of a picture.

        Args:
            original: The width and height of the original picture.
            sent: The width and height of the picture as it was sent.
        """
        match self.convention:
            case "pixels-original":
                return original
            case "pixels-shown":
                return sent if self.resizing is None else self.resizing.size(sent)
        return RANGES[self.convention], RANGES[self.convention]

    def fault(self, numbers: tuple[float, ...], extent: tuple[float, float]) -> str:
        """Why these numbers (x, y, x, y, ...) cannot be in these coordinates; empty if they can.

        Numbers from 0 to 1 that are not all 0 are shares, or else the pixel or thousandth in the
        upper left corner. Which of these they are cannot be decided, so they have a fault unless
        the coordinates are shares.
        """
        for number, edge in zip(numbers, extent * (len(numbers) // 2), strict=True):
            beyond = max(1.0, MARGIN * edge) if self.counts_pixels else 0.0
            if not -beyond <= number <= edge + beyond:
                return self._outside
        if self.convention != "0-1" and any(numbers) and all(0 <= n <= 1 for n in numbers):
            return self._ambiguous
        return ""

    def is_fault(self, rule: str) -> bool:
        """Whether the name of a reading's rule ends with a fault in these coordinates."""
        return rule.endswith((self._outside, self._ambiguous))

    @property
    def _outside(self) -> str:
        return f"outside {self.convention}"

    @property
    def _ambiguous(self) -> str:
        return f"0-1, or the corner in {self.convention}"

    def ordered(self, numbers: tuple[float, ...]) -> tuple[float, ...]:
        """Put the numbers of a box or point into the order x, y."""
        if self.convention != "yxyx-0-1000":
            return numbers
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        return tuple(number for y, x in pairs for number in (x, y))

    def pixels(
        self, numbers: tuple[float, ...], extent: tuple[float, float], original: Size
    ) -> tuple[float, ...]:
        """Convert numbers (x, y, x, y, ...) to pixels of the original picture."""
        if self.convention == "pixels-original":
            return numbers
        n = len(numbers) // 2
        return tuple(
            pixel(number / edge, length)
            for number, edge, length in zip(numbers, extent * n, original * n, strict=True)
        )


def _resizing(text: str, rest: str) -> Resizing:
    """Read a resizing: a name of `RESIZINGS`, `NAME=NUMBER` of each field, or both.

    Raises:
        ValueError: the text states no resizing.
    """
    first, *others = rest.split(",")
    known = RESIZINGS.get(first)
    names = [field.name for field in fields(Resizing)]
    values: dict[str, int] = {}
    for part in others if known else [first, *others]:
        name, _, number = part.partition("=")
        if name not in names or not (number.isascii() and number.isdigit() and len(number) < 12):
            raise ValueError(
                f"{text!r}: {part!r} is no resizing. Write {', '.join(RESIZINGS)}, or "
                f"{','.join(f'{name}=N' for name in names)}."
            )
        values[name] = int(number)
    if known is not None:
        return replace(known, **values)
    if missing := [name for name in names if name not in values]:
        raise ValueError(f"{text!r} lacks {', '.join(missing)}.")
    return Resizing(**values)


def coordinates_in(text: str) -> Coordinates:
    """Read coordinates that a user states.

    Raises:
        UsageError: the text states no coordinates.
    """
    try:
        return Coordinates.read(text)
    except ValueError as error:
        raise UsageError(f"coordinates: {error}") from error


def pixel(share: float, length: int) -> float:
    """Return the pixel coordinate that gives exactly `share` when it is divided by `length`.

    >>> 0.29 * 100, pixel(0.29, 100)
    (28.999999999999996, 29.0)
    """
    product = share * length
    if not math.isfinite(product):
        return product
    near = (float(round(product)), product, math.nextafter(product, math.inf))
    return next((value for value in near if value / length == share), product)


@dataclass(frozen=True, kw_only=True)
class CoordinateUse:
    """How a scoring depends on the coordinates in which the model writes."""

    parse: Callable[[Reply, Sample, Coordinates], Reading]
    """Parses the answer in a reply that is written in the given coordinates. The function must be
    pure."""
    of_prompt: Coordinates
    """The coordinates that the benchmark's prompt demands. If it demands none, those that the
    scoring assumes."""
    is_demanded: bool
    """Whether the prompt demands coordinates."""
    of_model: Coordinates | None = None
    """The coordinates that are set for the model; None: none are set."""

    @property
    def effective(self) -> Coordinates:
        """The coordinates in which replies are read: those of the model, or else those of the
        prompt."""
        return self.of_model or self.of_prompt

    @property
    def bound(self) -> Callable[[Reply, Sample], Reading]:
        """The parse function for these coordinates."""
        return partial(_parsed, use=self)


def _parsed(reply: Reply, sample: Sample, use: CoordinateUse) -> Reading:
    return use.parse(reply, sample, use.effective)
