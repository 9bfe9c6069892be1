"""Reads people's labels of replies from tables with the columns `id` and `label`, and optionally
`repeat`, `scoring`, `rater`, and `seed` (the seed that drew the replies)."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.errors import DataError
from snellen.interop._rows import rows_of
from snellen.store import FORMAT, LabelRecord

COLUMNS = ("id", "repeat", "scoring", "question", "right", "reply", "label", "seed")
"""The columns of a blank sheet for people to fill in."""


def read(path: Path) -> list[LabelRecord]:
    """The rows of a sheet, including rows with blank labels. Several rows for one reply are the
    labels of several people.

    Raises:
        DataError: the file cannot be read or lacks the column of ids or of labels, a label is not a
            number, or one person labels a reply twice. The error message names the row.
    """
    labels: list[LabelRecord] = []
    first: dict[tuple[str, int, str | None, str], str] = {}
    for where, row in rows_of(path):
        missing = [column for column in ("id", "label") if column not in row]
        if missing:
            raise DataError(
                f"{path}: no column {' and '.join(missing)}. It has {', '.join(row)}. The columns "
                "id and label are required; repeat, scoring, and rater are optional."
            )
        label = _label(row, f"{path}: {where}")
        if label.rater is not None:
            key = label.sample, label.repeat, label.scoring, label.rater
            if key in first:
                raise DataError(
                    f"{path}: {first[key]} and {where} are both labels by {label.rater} for the "
                    f"same reply to {label.sample!r}. Keep only one of these rows."
                )
            first[key] = where
        labels.append(label)
    return labels


def _label(row: Mapping[str, Any], where: str) -> LabelRecord:
    cells = {name: _text(row.get(name)) for name in ("id", "label", *COLUMNS[1:3], "rater", "seed")}
    if not cells["id"]:
        raise DataError(f"{where} has no id.")
    label = _number(cells["label"], f"{where}: the label")
    repeat = _number(cells["repeat"], f"{where}: repeat") or 0.0
    if repeat < 0 or not repeat.is_integer():
        raise DataError(f"{where}: repeat is {cells['repeat']}, which is not an integer from 0 up.")
    return LabelRecord(
        format=FORMAT,
        sample=cells["id"],
        label=label,
        repeat=int(repeat),
        scoring=cells["scoring"] or None,
        rater=cells["rater"] or None,
        seed=cells["seed"] or None,
    )


def _text(value: object) -> str:
    """A cell as text. A float without a fraction becomes an integer, because some programs convert
    integer ids to floats."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def _number(text: str, where: str) -> float | None:
    if not text:
        return None
    try:
        number = float(text)
    except ValueError as error:
        raise DataError(f"{where} is {text!r}, which is not a number.") from error
    if not math.isfinite(number):
        raise DataError(f"{where} is {text!r}, which is not a finite number.")
    return number
