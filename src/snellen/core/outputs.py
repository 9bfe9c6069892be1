"""Checks a model's output before it is used or stored, because the model may be third-party code.
If a value does not have the type that the interface declares, the question fails with a message
that names the field and the type. Equivalent values are converted: a subclass of `str` becomes a
`str`, and NumPy's numbers become Python's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields

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
from snellen.core.output_fields import (
    MAX_COUNT,
    as_count,
    as_number,
    as_size,
    as_text,
    as_times,
    as_tool_calls,
    as_usage,
    attributes,
    optional,
)
from snellen.core.output_steps import checked_steps
from snellen.errors import Rejected, type_of
from snellen.media.content import Size

REPLY_FIELDS = tuple(field.name for field in fields(Reply))
EMISSION_FIELDS = tuple(field.name for field in fields(Emission))


def check_reply(value: object, model: str, sample: str = "") -> Reply:
    """Check a reply, and convert its fields to plain Python values. The pictures in its steps are
    read. `sample` is the id of the sample, which messages on steps name; empty if not known.

    Raises:
        Rejected: the value is not a `Reply`, or a field does not have the type that `Reply`
            declares.
    """
    if not isinstance(value, Reply):
        raise Rejected(f"{model} returned {type_of(value)}, not a Reply.")
    if type(value) is Reply and _is_plain(value):
        return value
    content = attributes(value, REPLY_FIELDS, f"{model}: Reply")
    where = f"{model}: Reply."
    usage = optional(as_usage, content["usage"], f"{where}usage")
    of_sample = f"{model}: sample {sample}: Reply" if sample else f"{model}: Reply"
    return Reply(
        text=as_text(content["text"], f"{where}text"),
        reasoning=optional(as_text, content["reasoning"], f"{where}reasoning"),
        stop=optional(as_text, content["stop"], f"{where}stop"),
        usage=usage,
        times=optional(as_times, content["times"], f"{where}times"),
        choices=_choices(content["choices"], f"{where}choices"),
        shown=optional(_shown, content["shown"], f"{where}shown"),
        tool_calls=as_tool_calls(content["tool_calls"], f"{where}tool_calls"),
        continuation=optional(as_text, content["continuation"], f"{where}continuation"),
        sizes=optional(_sizes, content["sizes"], f"{where}sizes"),
        frame_sizes=optional(_frame_sizes, content["frame_sizes"], f"{where}frame_sizes"),
        steps=checked_steps(content["steps"], usage, of_sample),
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
    ranking.shown = optional(_shown, shown, f"{model}: rank().shown")
    sizes = getattr(value, "sizes", None)
    ranking.sizes = optional(_sizes, sizes, f"{model}: rank().sizes")
    frame_sizes = getattr(value, "frame_sizes", None)
    ranking.frame_sizes = optional(_frame_sizes, frame_sizes, f"{model}: rank().frame_sizes")
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
    content = attributes(value, EMISSION_FIELDS, f"{model}: Emission")
    where = f"{model}: Emission."
    if not isinstance(content["final"], bool):
        raise Rejected(f"{where}final is {type_of(content['final'])}, not True or False.")
    return Emission(
        text=as_text(content["text"], f"{where}text"),
        query=optional(as_text, content["query"], f"{where}query"),
        final=content["final"],
        silence=optional(as_number, content["silence"], f"{where}silence"),
        stop=optional(as_text, content["stop"], f"{where}stop"),
        usage=optional(as_usage, content["usage"], f"{where}usage"),
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
        and reply.steps is None
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
    return Ranked(as_number(logprob, f"{where}, its log-probability,"), as_count(tokens, where))


def _sizes(value: object, where: str) -> tuple[Size, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Rejected(f"{where} is {type_of(value)}, not a list with the size of each picture.")
    return tuple(as_size(size, f"{where}[{index}]") for index, size in enumerate(value))


def _frame_sizes(value: object, where: str) -> FrameSizes:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Rejected(
            f"{where} is {type_of(value)}, not a list with the sizes of each video's frames."
        )
    return tuple(
        optional(_size_pair, pair, f"{where}[{index}]") for index, pair in enumerate(value)
    )


def _size_pair(value: object, where: str) -> tuple[Size, Size]:
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise Rejected(f"{where} is {type_of(value)}, not a pair (size shown, original size).")
    shown, original = (as_size(size, where) for size in value)
    return shown, original


def _shown(value: object, where: str) -> Shown:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Rejected(f"{where} is {type_of(value)}, not a list of the frame times of each video.")
    return tuple(
        tuple(as_number(time, where) for time in _times_of(video, where)) for video in value
    )


def _times_of(video: object, where: str) -> Sequence[object]:
    if isinstance(video, str) or not isinstance(video, Sequence):
        raise Rejected(f"{where} has {type_of(video)}, not a list of the frame times of a video.")
    return video
