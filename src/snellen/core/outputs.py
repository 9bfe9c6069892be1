"""Checks a model's output before it is used or stored, because the model may be third-party code.
If a value does not have the type that the interface declares, the question fails with a message
that names the field and the type. Equivalent values are converted: a subclass of `str` becomes a
`str`, and NumPy's numbers become Python's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, TypeVar, cast

from snellen.core.model import (
    Emission,
    FrameSizes,
    Ranked,
    Ranking,
    Reply,
    Request,
    Shown,
    Times,
    Usage,
)
from snellen.errors import Rejected, message_of, type_of
from snellen.media.content import Size, ToolCall

T = TypeVar("T")
MAX_COUNT = 2**53
"""The maximum token count. Many JSON parsers cannot represent larger integers exactly."""
REPLY_FIELDS = tuple(field.name for field in fields(Reply))
EMISSION_FIELDS = tuple(field.name for field in fields(Emission))


def check_reply(value: object, model: str) -> Reply:
    """Check a reply, and convert its fields to plain Python values.

    Raises:
        Rejected: the value is not a `Reply`, or a field does not have the type that `Reply`
            declares.
    """
    if not isinstance(value, Reply):
        raise Rejected(f"{model} returned {type_of(value)}, not a Reply.")
    if type(value) is Reply and _is_plain(value):
        return value
    content = _read(value, REPLY_FIELDS, f"{model}: Reply")
    where = f"{model}: Reply."
    return Reply(
        text=_text(content["text"], f"{where}text"),
        reasoning=_optional(_text, content["reasoning"], f"{where}reasoning"),
        stop=_optional(_text, content["stop"], f"{where}stop"),
        usage=_optional(_usage, content["usage"], f"{where}usage"),
        times=_optional(_times, content["times"], f"{where}times"),
        choices=_choices(content["choices"], f"{where}choices"),
        shown=_optional(_shown, content["shown"], f"{where}shown"),
        tool_calls=_tool_calls(content["tool_calls"], f"{where}tool_calls"),
        continuation=_optional(_text, content["continuation"], f"{where}continuation"),
        sizes=_optional(_sizes, content["sizes"], f"{where}sizes"),
        frame_sizes=_optional(_frame_sizes, content["frame_sizes"], f"{where}frame_sizes"),
    )


def check_ranking(value: object, request: Request, model: str) -> Ranking:
    """Check that there is one log-probability for each choice of the request.

    Raises:
        Rejected: there are more or fewer log-probabilities than choices, or one is not a finite
            number.
    """
    ranking = Ranking(_choices(value, f"{model}: rank()"))
    if len(ranking) != len(request.choices):
        raise Rejected(
            f"{model}: rank() returned {len(ranking)} log-probabilities for "
            f"{len(request.choices)} choices."
        )
    shown = getattr(value, "shown", None)
    ranking.shown = _optional(_shown, shown, f"{model}: rank().shown")
    sizes = getattr(value, "sizes", None)
    ranking.sizes = _optional(_sizes, sizes, f"{model}: rank().sizes")
    frame_sizes = getattr(value, "frame_sizes", None)
    ranking.frame_sizes = _optional(_frame_sizes, frame_sizes, f"{model}: rank().frame_sizes")
    return ranking


def check_emissions(value: object, model: str) -> list[Emission]:
    """Check the messages of a session, and convert their fields to plain Python values.

    Raises:
        Rejected: the value is not a list of `Emission`, or a field does not have the type that
            `Emission` declares.
    """
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Rejected(f"{model}: the session returned {type_of(value)}, not a list of Emission.")
    return [_emission(item, model) for item in value]


def _emission(value: object, model: str) -> Emission:
    if not isinstance(value, Emission):
        raise Rejected(f"{model}: the session returned {type_of(value)}, not an Emission.")
    content = _read(value, EMISSION_FIELDS, f"{model}: Emission")
    where = f"{model}: Emission."
    if not isinstance(content["final"], bool):
        raise Rejected(f"{where}final is {type_of(content['final'])}, not True or False.")
    return Emission(
        text=_text(content["text"], f"{where}text"),
        query=_optional(_text, content["query"], f"{where}query"),
        final=content["final"],
        silence=_optional(_number, content["silence"], f"{where}silence"),
        stop=_optional(_text, content["stop"], f"{where}stop"),
        usage=_optional(_usage, content["usage"], f"{where}usage"),
    )


# -- fields


def _is_plain(reply: Reply) -> bool:
    """Whether a reply needs no conversion, and none of the checks can fail. This is so for most
    replies, and takes much less time than the checks and the copy."""
    usage, times = reply.usage, reply.times
    return (
        type(reply.text) is str
        and reply.text.isascii()
        and _is_plain_text(reply.reasoning)
        and _is_plain_text(reply.stop)
        and reply.shown is None
        and reply.sizes is None
        and reply.frame_sizes is None
        and reply.choices == ()
        and reply.tool_calls == ()
        and reply.continuation is None
        and (
            usage is None
            or (
                type(usage) is Usage
                and _is_plain_count(usage.input)
                and _is_plain_count(usage.output)
                and _is_plain_count(usage.reasoning)
                and _is_plain_count(usage.cached)
            )
        )
        and (
            times is None
            or (
                type(times) is Times
                and _is_plain_time(times.first)
                and _is_plain_time(times.token)
                and _is_plain_time(times.total)
            )
        )
    )


def _is_plain_text(value: object) -> bool:
    return value is None or (type(value) is str and value.isascii())


def _is_plain_count(value: object) -> bool:
    return value is None or (type(value) is int and 0 <= value <= MAX_COUNT)


def _is_plain_time(value: object) -> bool:
    return value is None or (type(value) is float and -math.inf < value < math.inf)


def _read(value: object, names: Sequence[str], what: str) -> dict[str, Any]:
    """The attributes of an instance. Reading an attribute can fail, because the class may compute
    the attribute."""
    try:
        return {name: getattr(value, name) for name in names}
    except Exception as error:
        raise Rejected(
            f"{what} cannot be read: {type(error).__name__}: {message_of(error)}"
        ) from error


def _optional(check: Callable[[object, str], T], value: object, where: str) -> T | None:
    return None if value is None else check(value, where)


def _text(value: object, where: str) -> str:
    if type(value) is not str:
        if not isinstance(value, str):
            raise Rejected(f"{where} is {type_of(value)}, not text.")
        value = str.__str__(value)
    if value.isascii():
        return value
    # Half of a surrogate pair cannot be stored, because UTF-8 cannot encode it.
    return value.encode(errors="replace").decode()


def _count(value: object, where: str) -> int:
    # Check the usual types first, since `isinstance` with an abstract class takes much longer.
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, Integral)):
        raise Rejected(f"{where} is {type_of(value)}, not a whole number of tokens.")
    number = int(cast(int, value))
    if not 0 <= number <= MAX_COUNT:
        raise Rejected(f"{where} is not a number of tokens from 0 to {MAX_COUNT:,}.")
    return number


def _number(value: object, where: str) -> float:
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, Real)):
        raise Rejected(f"{where} is {type_of(value)}, not a number.")
    try:
        number = float(cast(float, value))
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Rejected(f"{where} is not a finite number.")
    return number


def _usage(value: object, where: str) -> Usage:
    if not isinstance(value, Usage):
        raise Rejected(f"{where} is {type_of(value)}, not a Usage.")
    content = _read(value, ("input", "output", "reasoning", "cached"), where)
    return Usage(
        **{name: _optional(_count, part, f"{where}.{name}") for name, part in content.items()}
    )


def _times(value: object, where: str) -> Times:
    if not isinstance(value, Times):
        raise Rejected(f"{where} is {type_of(value)}, not a Times.")
    content = _read(value, ("first", "token", "total"), where)
    return Times(
        **{name: _optional(_number, part, f"{where}.{name}") for name, part in content.items()}
    )


def _choices(value: object, where: str) -> tuple[Ranked, ...]:
    if type(value) is not tuple and (isinstance(value, str) or not isinstance(value, Sequence)):
        raise Rejected(
            f"{where} gives {type_of(value)}, not one pair (log-probability, tokens) per choice."
        )
    return tuple(_ranked(pair, f"{where}[{index}]") for index, pair in enumerate(value))


def _ranked(value: object, where: str) -> Ranked:
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise Rejected(f"{where} is {type_of(value)}, not a pair (log-probability, tokens).")
    logprob, tokens = value
    return Ranked(_number(logprob, f"{where}, its log-probability,"), _count(tokens, where))


def _tool_calls(value: object, where: str) -> tuple[ToolCall, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Rejected(f"{where} is {type_of(value)}, not a list of ToolCall.")
    return tuple(_tool_call(call, f"{where}[{index}]") for index, call in enumerate(value))


def _tool_call(value: object, where: str) -> ToolCall:
    if not isinstance(value, ToolCall):
        raise Rejected(f"{where} is {type_of(value)}, not a ToolCall.")
    content = _read(value, ("id", "name", "arguments"), where)
    return ToolCall(**{name: _text(part, f"{where}.{name}") for name, part in content.items()})


def _sizes(value: object, where: str) -> tuple[Size, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Rejected(f"{where} is {type_of(value)}, not a list with the size of each picture.")
    return tuple(_size(size, f"{where}[{index}]") for index, size in enumerate(value))


def _size(value: object, where: str) -> Size:
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise Rejected(f"{where} is {type_of(value)}, not a pair (width, height).")
    width, height = (_count(side, where) for side in value)
    return width, height


def _frame_sizes(value: object, where: str) -> FrameSizes:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Rejected(
            f"{where} is {type_of(value)}, not a list with the sizes of each video's frames."
        )
    return tuple(
        _optional(_size_pair, pair, f"{where}[{index}]") for index, pair in enumerate(value)
    )


def _size_pair(value: object, where: str) -> tuple[Size, Size]:
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise Rejected(f"{where} is {type_of(value)}, not a pair (size shown, original size).")
    shown, original = (_size(size, where) for size in value)
    return shown, original


def _shown(value: object, where: str) -> Shown:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Rejected(f"{where} is {type_of(value)}, not a list of the frame times of each video.")
    return tuple(tuple(_number(time, where) for time in _times_of(video, where)) for video in value)


def _times_of(video: object, where: str) -> Sequence[object]:
    if isinstance(video, str) or not isinstance(video, Sequence):
        raise Rejected(f"{where} has {type_of(video)}, not a list of the frame times of a video.")
    return video
