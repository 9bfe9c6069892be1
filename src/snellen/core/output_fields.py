"""Checks the fields of a model's output, and converts them to plain Python values.

`where` names the field in messages. Each check raises `Rejected` if a value has the wrong type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar, cast

from snellen.core.model import Times, Usage
from snellen.errors import Rejected, message_of, type_of
from snellen.media.content import Size, ToolCall

T = TypeVar("T")
MAX_COUNT = 2**53
"""The maximum token count. Many JSON parsers cannot represent larger integers exactly."""


def attributes(value: object, names: Sequence[str], what: str) -> dict[str, Any]:
    """The attributes of an instance. Reading an attribute can fail, because the class may compute
    the attribute."""
    try:
        return {name: getattr(value, name) for name in names}
    except Exception as error:
        raise Rejected(
            f"{what} cannot be read: {type(error).__name__}: {message_of(error)}"
        ) from error


def optional(check: Callable[[object, str], T], value: object, where: str) -> T | None:
    """Apply a check to a value unless it is None."""
    return None if value is None else check(value, where)


def as_text(value: object, where: str) -> str:
    """Check a text. Half of a surrogate pair becomes `?`, because UTF-8 cannot encode it."""
    if type(value) is not str:
        if not isinstance(value, str):
            raise Rejected(f"{where} is {type_of(value)}, not text.")
        value = str.__str__(value)
    if value.isascii():
        return value
    return value.encode(errors="replace").decode()


def as_count(value: object, where: str) -> int:
    """Check a whole number from 0 to `MAX_COUNT`."""
    # Check the usual types first, since `isinstance` with an abstract class takes much longer.
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, Integral)):
        raise Rejected(f"{where} is {type_of(value)}, not a whole number of tokens.")
    number = int(cast(int, value))
    if not 0 <= number <= MAX_COUNT:
        raise Rejected(f"{where} is not a number of tokens from 0 to {MAX_COUNT:,}.")
    return number


def as_number(value: object, where: str) -> float:
    """Check a finite number."""
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, Real)):
        raise Rejected(f"{where} is {type_of(value)}, not a number.")
    try:
        number = float(cast(float, value))
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Rejected(f"{where} is not a finite number.")
    return number


def as_usage(value: object, where: str) -> Usage:
    """Check token counts."""
    if not isinstance(value, Usage):
        raise Rejected(f"{where} is {type_of(value)}, not a Usage.")
    content = attributes(value, ("input", "output", "reasoning", "cached"), where)
    return Usage(
        **{name: optional(as_count, part, f"{where}.{name}") for name, part in content.items()}
    )


def as_times(value: object, where: str) -> Times:
    """Check times in seconds."""
    if not isinstance(value, Times):
        raise Rejected(f"{where} is {type_of(value)}, not a Times.")
    content = attributes(value, ("first", "token", "total"), where)
    return Times(
        **{name: optional(as_number, part, f"{where}.{name}") for name, part in content.items()}
    )


def as_tool_calls(value: object, where: str) -> tuple[ToolCall, ...]:
    """Check a list of tool calls."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Rejected(f"{where} is {type_of(value)}, not a list of ToolCall.")
    return tuple(as_tool_call(call, f"{where}[{index}]") for index, call in enumerate(value))


def as_tool_call(value: object, where: str) -> ToolCall:
    """Check a tool call. Its arguments may be any text."""
    if not isinstance(value, ToolCall):
        raise Rejected(f"{where} is {type_of(value)}, not a ToolCall.")
    content = attributes(value, ("id", "name", "arguments"), where)
    return ToolCall(**{name: as_text(part, f"{where}.{name}") for name, part in content.items()})


def as_size(value: object, where: str) -> Size:
    """Check a pair of width and height."""
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise Rejected(f"{where} is {type_of(value)}, not a pair (width, height).")
    width, height = (as_count(side, where) for side in value)
    return width, height
