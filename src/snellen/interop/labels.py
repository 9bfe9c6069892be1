"""Reads people's labels of replies: sheets with the columns id and label, and optionally repeat,
scoring, rater, and the seed of a drawn sheet."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.errors import DataError
from snellen.interop._rows import rows_of
from snellen.store import FORMAT, LabelRecord

COLUMNS = ("id", "repeat", "scoring", "question", "right", "reply", "label", "seed")
"""The columns of a sheet for people."""


def read(path: Path) -> list[LabelRecord]:
    """The rows of a sheet, including blank labels. Several rows for one reply are labels of several
    people.

    Raises:
        DataError: the file cannot be read, has no columns of ids and labels, a label is not a
            number, or somebody labels one reply twice. The message names the row.
    """
    labels: list[LabelRecord] = []
    first: dict[tuple[str, int, str | None, str], str] = {}
    for where, row in rows_of(path):
        missing = [column for column in ("id", "label") if column not in row]
        if missing:
            raise DataError(
                f"{path}: no column {' and '.join(missing)}; it has {', '.join(row)}. Labels are "
                "read from id and label; repeat, scoring and rater may stand beside them."
            )
        label = _label(row, f"{path}: {where}")
        if label.rater is not None:
            key = label.sample, label.repeat, label.scoring, label.rater
            if key in first:
                raise DataError(
                    f"{path}: {first[key]} and {where} are both {label.rater}'s label of "
                    f"{label.sample!r}. Keep one of them."
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
        raise DataError(f"{where}: repeat is {cells['repeat']}, not a whole number from 0 on.")
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
    """A cell as text. A whole number loses its decimal point, because programs turn ids into
    floats."""
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
