"""Values of options that are more than a word. Click names the option when they raise."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Literal

import click

SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
TIMEOUTS = "connect=S,first=S,total=S"


def seconds(text: str) -> float:
    """
    >>> [seconds(text) for text in ("90", "1.5s", "10m", "2h")]
    [90.0, 1.5, 600.0, 7200.0]
    """
    found = re.fullmatch(r"(\d{1,7}(?:\.\d{1,3})?)([smh]?)", text, re.ASCII)
    if not found or not float(found[1]):
        raise click.BadParameter(f"{text!r} is no time; write 90s, 10m or 2h.")
    return float(found[1]) * SECONDS[found[2]]


def amount(text: str) -> float:
    """A number from 0 on, not infinite."""
    number = _number(text)
    if number < 0:
        raise click.BadParameter(f"{text!r} is below 0.")
    return number


def temperature(text: str) -> float | Literal["default"]:
    """A number from 0 on, or `default`: none is sent."""
    return "default" if text == "default" else amount(text)


def at_once(text: str) -> int | None:
    """A number of requests, or None for `auto`."""
    if text == "auto":
        return None
    if not re.fullmatch("[1-9][0-9]{0,5}", text):
        raise click.BadParameter(f"{text!r} is neither a number from 1 on nor auto.")
    return int(text)


def image_size(text: str) -> int | Literal["original"]:
    """Pixels of the longer side, or `original`: pictures go as they are."""
    if text == "original":
        return "original"
    if not re.fullmatch("[1-9][0-9]{0,4}", text):
        raise click.BadParameter(f"{text!r} is neither pixels of the longer side nor original.")
    return int(text)


def pairs(_: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """`NAME=VALUE` arguments as a mapping."""
    found: dict[str, str] = {}
    for value in values:
        name, equals, rest = value.partition("=")
        if not equals or not name or not rest:
            raise click.BadParameter(f"{value!r}: write {param.metavar}.")
        if name in found:
            raise click.BadParameter(f"{name!r} is given twice.")
        found[name] = rest
    return found


def floors(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, float]:
    """`METRIC=X` arguments."""
    return {name: _number(value) for name, value in pairs(ctx, param, values).items()}


def timeouts(ctx: click.Context, param: click.Parameter, value: str | None) -> dict[str, float]:
    """`connect=5,total=60` in seconds, those that are given."""
    found = pairs(ctx, param, value.split(",") if value else ())
    if strange := set(found) - {"connect", "first", "total"}:
        raise click.BadParameter(f"no {', '.join(sorted(strange))}; write {param.metavar}.")
    return {name: seconds(text) for name, text in found.items()}


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise click.BadParameter(f"{text!r} is no number.")
    return number
