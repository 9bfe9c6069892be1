"""Frame policies: which frames of a window a model gets, at which size, and in which format.

    uniform:N    N frames from the first to the last frame of the window, evenly spaced by index.
                 `at=middles`: the middle frame of each of N equal parts. If there are fewer than N
                 frames, `few=all` takes all of them, and `few=less2` takes two fewer than there
                 are (at least one), evenly spaced. `round=nearest`: indexes are rounded to the
                 nearest integer instead of down, and `few=less2` also applies to N and N + 1
                 frames. `even`: the number of frames is even
    fps:R        the frame on display every 1/R seconds of the window. `max=N`: at most N of these
                 frames, evenly spaced. `latest`: also the last frame of the window
    last:N@R     the last N frames of fps:R,latest
    every        all frames
    MAKER:N, MAKER:R  as the maker of a model samples frames, see `media.samplers`: qwen3-vl:2 for
                 two frames per second, internvl:32 for 32 frames. `min=N` and `max=N` change the
                 limits of samplers that have limits

These options are allowed after any policy: `pixels=P` (scale down to at most P pixels), `side=S`
(scale down so that the longer side has at most S pixels), `codec=jpeg` or `codec=png`,
`quality=Q` (the JPEG quality), and `stamps=FORM` (a text with the time or number of each frame, see
`media.stamps`). Frames at or after the end of the window are never picked.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Literal

from snellen.errors import UsageError
from snellen.media.samplers import SAMPLERS, SampledVideo, frame_rate
from snellen.media.stamps import STAMPS

QUALITY = 95
PRESETS = {
    # JoeLeelyf/OVO-Bench@c34093f9a072d93f9e1c6b923446dfba71f4528e:models/GPT.py#L31-L46
    "ovo:uniform64": "uniform:64,few=less2",
    # models/QWen2VL.py#L23-L57; qwen_vl_utils changes nframes to an even number and rounds indexes
    "ovo:qwen2vl": "uniform:64,few=less2,round=nearest,even,pixels=151200",
}


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A parsed frame policy."""

    kind: str
    """`uniform`: n evenly spaced frames; `fps`: frames at a rate; `last`: the last n frames at a
    rate; `every`: all frames; or a key of `media.samplers.SAMPLERS`."""
    n: int | None = None
    """The number of frames; only for `uniform`, `last`, and some samplers."""
    rate: float | None = None
    """The number of frames per second; only for `fps`, `last`, and some samplers."""
    max: int | None = None
    """The maximum number of frames for `fps` and some samplers; None means no limit, or the
    sampler's own limit."""
    at: Literal["ends", "middles"] = "ends"
    """Which frames a `uniform` policy picks: evenly spaced frames that include the first and the
    last (`ends`), or the middle frame of each of n equal parts (`middles`)."""
    few: Literal["all", "less2"] = "all"
    """The number of frames that are picked if a window has fewer than n frames: all frames, or all
    but two."""
    round: Literal["down", "nearest"] = "down"
    """How fractional positions are rounded to frame indexes: down, or to the nearest integer."""
    even: bool = False
    """Whether the number of frames is rounded to an even number."""
    latest: bool = False
    """Whether the last frame of the window is always picked."""
    pixels: int | None = None
    """The maximum number of pixels of a frame; None means no limit."""
    side: int | None = None
    """The maximum length of a frame's longer side in pixels; None means no limit."""
    codec: Literal["jpeg", "png"] = "jpeg"
    """The format of encoded frames."""
    quality: int = QUALITY
    """The JPEG quality, up to 100."""
    min: int | None = None
    """The minimum number of frames for some samplers; None means the sampler's own minimum."""
    stamps: str = ""
    """The form of the text that stands beside each frame, a key of `media.stamps.STAMPS`; empty for
    no text."""

    def __str__(self) -> str:
        """The canonical text of the policy, which is part of a run's identity."""
        rate = "" if self.rate is None else f"{self.rate:g}"
        amounts = {"uniform": self.n, "fps": rate, "last": f"{self.n}@{rate}"}
        if self.kind in SAMPLERS:
            amounts[self.kind] = self.n or rate
        parts = [f"{self.kind}:{amounts[self.kind]}" if self.kind in amounts else self.kind]
        for field in fields(self)[3:]:
            value = getattr(self, field.name)
            if value is True:
                parts.append(field.name)
            elif value != field.default:
                parts.append(f"{field.name}={value}")
        return ",".join(parts)

    def size(self, width: int, height: int) -> tuple[int, int]:
        """The size to which a frame of this size is scaled. The result keeps the aspect ratio and
        is never larger than the frame.

        >>> policy("every,pixels=151200").size(1920, 1080)
        (518, 291)
        """
        scale = 1.0
        if self.side:
            scale = min(scale, self.side / max(width, height))
        if self.pixels:
            scale = min(scale, (self.pixels / (width * height)) ** 0.5)
        return max(1, int(width * scale)), max(1, int(height * scale))


OF_KIND = {
    "uniform": ("at", "few", "round", "even"),
    "fps": ("max", "latest"),
    "last": (),
    "every": (),
}
OF_KIND |= {name: tuple(sampler.limits) for name, sampler in SAMPLERS.items()}
OF_ALL = ("pixels", "side", "codec", "quality", "stamps")
VALUES = {
    "at": ("ends", "middles"),
    "few": ("all", "less2"),
    "round": ("down", "nearest"),
    "codec": ("jpeg", "png"),
    "stamps": tuple(STAMPS),
}


@lru_cache(maxsize=64)
def policy(text: str) -> Policy:
    """Parse a policy, or the name of a preset, which may be followed by more options.

    Raises:
        UsageError: The text is not a policy. The error message contains the reason and lists all
            policies.
    """
    first, *options = text.split(",")
    if first in PRESETS:
        first, *implied = PRESETS[first].split(",")
        options = [*implied, *options]
    kind, _, amount = first.partition(":")
    base = _first(text, kind, amount)
    values: dict[str, object] = {}
    for option in options:
        name, sign, value = option.partition("=")
        values[name] = _value(text, kind, name, value if sign else None)
    return replace(base, **values)  # type: ignore[arg-type]


def _first(text: str, kind: str, amount: str) -> Policy:
    n, at, rate = amount.partition("@")
    try:
        if kind == "uniform":
            return Policy(kind="uniform", n=_positive_int(amount))
        if kind == "fps":
            return Policy(kind="fps", rate=_rate(amount))
        if kind == "last" and at:
            return Policy(kind="last", n=_positive_int(n), rate=_rate(rate))
        if kind == "every" and not amount:
            return Policy(kind="every")
        if kind in SAMPLERS and SAMPLERS[kind].takes == "n":
            return Policy(kind=kind, n=_positive_int(amount))
        if kind in SAMPLERS:
            return Policy(kind=kind, rate=_rate(amount))
    except ValueError as error:
        raise _none(text, f"{kind} needs {error}") from error
    raise _none(text, "it does not start with one of the policies below")


def _value(text: str, kind: str, name: str, value: str | None) -> object:
    if name not in (*OF_KIND[kind], *OF_ALL):
        raise _none(
            text,
            f"{kind} has no option {name!r}, only {', '.join((*OF_KIND[kind], *OF_ALL))}",
        )
    if name in ("even", "latest"):
        if value is not None:
            raise _none(text, f"{name} takes no value")
        return True
    if name in VALUES:
        if value not in VALUES[name]:
            raise _none(text, f"{name} must be {' or '.join(VALUES[name])}")
        return value
    try:
        number = _positive_int(value or "")
    except ValueError as error:
        raise _none(text, f"{name} needs {error}") from error
    if name == "quality" and number > 100:
        raise _none(text, "quality must be at most 100")
    return number


def _positive_int(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:9]) > 0 and len(text) < 9):
        raise ValueError(f"a whole number of at least 1, not {text[:20]!r}")
    return int(text)


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0.001 <= rate <= 1000:
        raise ValueError(f"a number of frames per second from 0.001 to 1000, not {text[:20]!r}")
    return rate


def _none(text: str, why: str) -> UsageError:
    return UsageError(
        f"{text!r} is not a frame policy: {why}. Policies: uniform:N, fps:R, last:N@R, every, "
        f"{', '.join(PRESETS)}, and as makers sample frames: {', '.join(_samplers())}. Options "
        "follow after commas: fps:1,max=256,pixels=151200."
    )


def _samplers() -> Iterator[str]:
    for name, sampler in SAMPLERS.items():
        yield f"{name}:{'N' if sampler.takes == 'n' else 'R'}"


def picked(
    policy: Policy, times: Sequence[float], start: float = 0.0, end: float | None = None
) -> list[int]:
    """The ascending indexes of the frames that a policy picks in the window [start, end). They are
    distinct, except that some makers' samplers repeat the last frame.

    `times` are the ascending media times of all frames, in seconds. If no frame begins in the
    window, the frame on display at the start of the window is picked. If no frame is on display
    then, the list is empty.
    """
    stop = len(times) if end is None else bisect_left(times, end)
    first = bisect_left(times, start)
    if first >= stop:
        return [stop - 1] if stop else []
    if policy.kind == "every":
        return list(range(first, stop))
    if policy.kind == "uniform":
        assert policy.n is not None
        if policy.at == "middles":
            n = min(policy.n, stop - first)
            return [first + int((index + 0.5) * (stop - first) / n) for index in range(n)]
        return [first + index for index in _uniform(policy, stop - first)]
    if policy.kind in SAMPLERS:
        return [first + index for index in _sampled(policy, times, stop - first)]
    assert policy.rate is not None
    last = times[stop - 1]
    # The ticks end at the end of the window, or at the last frame if the video ends earlier.
    until = end if end is not None and stop < len(times) else math.nextafter(last, math.inf)
    shown = [index for _, index in on_grid(times, policy.rate, first, start, until)]
    indexes = shown or [first]
    if (policy.latest or policy.kind == "last") and indexes[-1] != stop - 1:
        indexes.append(stop - 1)
    if policy.kind == "last":
        return indexes[-(policy.n or 1) :]
    if policy.max is not None and len(indexes) > policy.max:
        return [indexes[index] for index in _linspace(len(indexes), policy.max)]
    return indexes


def on_grid(
    times: Sequence[float], rate: float, first: int, start: float, until: float
) -> Iterator[tuple[float, int]]:
    """Yield the frames that are on display at regular times, called ticks. The ticks are at `start`
    and every 1/rate seconds after `start`, up to but not including `until`. Each frame is yielded
    once, with the time of the first tick at which it is on display. Frames before the index `first`
    are left out."""
    for index in range(first, len(times)):
        tick = max(0, math.floor((times[index] - start) * rate) - 1)
        while (due := start + tick / rate) < times[index]:
            tick += 1
        if due >= until:
            return
        if index + 1 == len(times) or due < times[index + 1]:
            yield due, index


def _sampled(policy: Policy, times: Sequence[float], there: int) -> Sequence[int]:
    """The indexes that a maker's sampler picks from a window of `there` frames."""
    sampler = SAMPLERS[policy.kind]
    return sampler.pick(
        SampledVideo(
            total=there,
            fps=frame_rate(times),
            amount=policy.n or policy.rate or 0,
            min=policy.min or sampler.limits.get("min", 0),
            max=policy.max or sampler.limits.get("max", 0),
        )
    )


def _uniform(policy: Policy, there: int) -> list[int]:
    """The indexes that a uniform policy picks from a window of `there` frames."""
    assert policy.n is not None
    n = policy.n
    if there < n:
        n = there if policy.few == "all" else max(1, there - 2)
    elif policy.few == "less2" and policy.round == "nearest":
        n = min(n, max(1, there - 2))
    if policy.even:
        n = min(max(2, round(n / 2) * 2), there)
    return _linspace(there, n, nearest=policy.round == "nearest")


def _linspace(there: int, n: int, *, nearest: bool = False) -> list[int]:
    """n evenly spaced indexes from 0 to `there` - 1. If n is 1, the index is 0, as in numpy's
    linspace."""
    if n == 1:
        return [0]
    step = (there - 1) / (n - 1)
    positions = [position * step for position in range(n - 1)]
    return [*(round(position) if nearest else int(position) for position in positions), there - 1]
