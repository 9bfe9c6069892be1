"""Values of options that are more than a word."""

from __future__ import annotations

import re

import click

from snellen.errors import UsageError


class Seconds(click.ParamType[float]):
    """`90`, `90s`, `10m` or `2h`."""

    name = "TIME"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(value))
        if not found:
            self.fail(f"{value!r} is no time; write 90s, 10m or 2h.", param, ctx)
        return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def pairs(values: tuple[str, ...], what: str) -> dict[str, str]:
    """`a=b` arguments as a mapping."""
    found = {}
    for value in values:
        name, equals, rest = value.partition("=")
        if not equals or not name or not rest:
            raise UsageError(f"{what} {value!r}: write NAME=VALUE.")
        found[name] = rest
    return found


def concurrency(value: str) -> int | None:
    """A number, or None for `auto`."""
    if value == "auto":
        return None
    if value.isdigit() and int(value) > 0:
        return int(value)
    raise UsageError(f"--concurrency {value!r}: a number from 1 on, or auto.")
