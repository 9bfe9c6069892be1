"""Parses the values of options on the command line and in plan files."""

from __future__ import annotations

import math
import os.path
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from snellen.core.coordinates import Coordinates
from snellen.store import RunPart

SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
LEVELS = ("none", "low", "medium", "high")
TIMEOUTS = "connect=S,first=S,total=S"
UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
CACHE = 20 * 10**9
"""The maximum size of a frame cache, in bytes, if the user states none."""


def seconds(text: str) -> float:
    """Parse a time into seconds.

    >>> [seconds(text) for text in ("90", "1.5s", "10m", "2h")]
    [90.0, 1.5, 600.0, 7200.0]

    Raises:
        ValueError: the text is not a time.
    """
    match = re.fullmatch(r"(\d{1,7}(?:\.\d{1,3})?)([smh]?)", text, re.ASCII)
    if not match or not float(match[1]):
        raise ValueError(f"{text!r} is not a time. Write 90s, 10m, or 2h.")
    return float(match[1]) * SECONDS[match[2]]


def number(text: str) -> float:
    """Parse a finite number.

    Raises:
        ValueError: the text is not a number.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a number.")
    return value


def amount(text: str) -> float:
    """Parse a finite number of at least 0.

    Raises:
        ValueError: the text is not such a number.
    """
    value = number(text)
    if value < 0:
        raise ValueError(f"{text!r} is below 0.")
    return value


def positive(text: str) -> float:
    """Parse a finite number above 0.

    Raises:
        ValueError: the text is not such a number.
    """
    value = number(text)
    if value <= 0:
        raise ValueError(f"{text!r} is not above 0.")
    return value


def temperature(text: str) -> float | Literal["default"]:
    """Parse a number of at least 0, or `default`, with which no temperature is sent.

    Raises:
        ValueError: the text is neither a number nor `default`.
    """
    return "default" if text == "default" else amount(text)


def effort(text: str) -> int | str:
    """Parse a level of thinking or a number of tokens.

    Raises:
        ValueError: the text is neither a level nor a number of tokens.
    """
    if text in LEVELS:
        return text
    if not re.fullmatch("[1-9][0-9]{0,6}", text):
        raise ValueError(f"{text!r} is neither {', '.join(LEVELS)}, nor a number of tokens.")
    return int(text)


def on_truncation(text: str) -> str:
    """Check that a text is `stop`, `continue`, or `raise:N`, where N is a number of tokens.

    Raises:
        ValueError: the text is none of these.
    """
    if not re.fullmatch("stop|continue|raise:[1-9][0-9]{0,6}", text):
        raise ValueError(f"{text!r} is neither stop, continue, nor raise:N (N tokens).")
    return text


def concurrency(text: str) -> int | Literal["auto"]:
    """Parse a number of concurrent requests, or `auto`, which adapts to the server.

    Raises:
        ValueError: the text is neither a number nor `auto`.
    """
    if text == "auto":
        return "auto"
    if not re.fullmatch("[1-9][0-9]{0,5}", text):
        raise ValueError(f"{text!r} is neither a whole number of at least 1 nor auto.")
    return int(text)


def image_size(text: str) -> int | Literal["original"]:
    """Parse the maximum longer side in pixels, or `original`, which leaves pictures unchanged.

    Raises:
        ValueError: the text is neither a number nor `original`.
    """
    if text == "original":
        return "original"
    if not re.fullmatch("[1-9][0-9]{0,4}", text):
        raise ValueError(f"{text!r} is neither a number of pixels nor original.")
    return int(text)


def coordinates(text: str) -> str:
    """Check that a text states coordinates of boxes and points.

    Raises:
        ValueError: the text states none.
    """
    Coordinates.read(text)
    return text


def part(text: str) -> RunPart:
    """Parse a part of a run.

    >>> part("3/8")
    RunPart(number=3, total=8)

    Raises:
        ValueError: the text is not a part, or there is no such part.
    """
    match = re.fullmatch(r"([0-9]{1,5})/([0-9]{1,5})", text)
    if match is None:
        raise ValueError(f"{text!r} is not a part of a run. Write 3/8 for the third of eight.")
    number, total = map(int, match.groups())
    if not 1 <= number <= total:
        raise ValueError(f"there is no part {text}. Parts are numbered from 1: 1/{max(total, 1)}.")
    return RunPart(number, total)


def frame_cache(text: str) -> str:
    """Check that a text is a folder, or a folder and a size.

    Raises:
        ValueError: the folder is missing, or the size is wrong.
    """
    folder_and_size(text)
    return text


def folder_and_size(text: str) -> tuple[Path, int]:
    """Parse a folder and the maximum size of its files in bytes. The folder's own name has a colon
    only if the folder exists, so that a mistyped size is not taken for a part of the name.

    >>> folder_and_size("frames:1.5GB")
    (PosixPath('frames'), 1500000000)

    Raises:
        ValueError: the folder is missing, or the size is wrong.
    """
    match = re.fullmatch(
        r"(.*?)(?::(\d{1,6}(?:\.\d{1,3})?)(MB|GB|TB))?", text, re.ASCII | re.DOTALL
    )
    assert match is not None
    folder, amount_text, unit = match.groups()
    if not folder or "\0" in folder:
        raise ValueError(f"{text!r} names no folder. Write FOLDER or FOLDER:50GB.")
    if "://" in folder:
        raise ValueError(f"{text!r} is not a folder on this machine. Write FOLDER or FOLDER:50GB.")
    size = CACHE if unit is None else round(float(amount_text) * UNITS[unit])
    if size < UNITS["MB"]:
        raise ValueError(f"{text!r} allows less than 1MB. Write FOLDER or FOLDER:50GB.")
    try:
        path = Path(folder).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{text!r} starts in the home folder of an unknown user.") from error
    if ":" in path.name and not os.path.isdir(path):
        raise ValueError(
            f"{text!r} does not end in a size. Write FOLDER or FOLDER:50GB, with MB, GB, or TB. To "
            "use a folder whose name has a colon, create it first."
        )
    return path, size


def pairs(texts: Sequence[str], form: str) -> dict[str, str]:
    """Parse texts of the form `NAME=VALUE` into a mapping. The error message for any other text
    shows `form`.

    Raises:
        ValueError: a text has no name or no value, or a name occurs twice.
    """
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise ValueError(f"{text!r} is not valid. Write {form}.")
        if name in values:
            raise ValueError(f"{name!r} is set twice. Set it once.")
        values[name] = value
    return values


def timeouts(text: str) -> dict[str, float]:
    """Parse time limits such as `connect=5,total=60` into seconds.

    Raises:
        ValueError: a name or a time is wrong.
    """
    values = pairs(text.split(","), TIMEOUTS)
    if unknown := set(values) - {"connect", "first", "total"}:
        raise ValueError(f"there is no time limit {', '.join(sorted(unknown))}. Write {TIMEOUTS}.")
    return {name: seconds(value) for name, value in values.items()}
