"""Scores all replies of a run with the `evaluate` of a data set written for VLMEvalKit.

`evaluate(eval_file, **judge_kwargs)` reads a file with the rows and the column `prediction`, and
returns a dictionary or a data frame. If a request failed, `evaluate` is not called: it would score
the failure, or return a sum over fewer questions.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from snellen.benchmarks.families.toolkit import seeded
from snellen.errors import DataError, UsageError
from snellen.interop import separated, xlsx
from snellen.metrics import Columns
from snellen.models.user_code import errors_as
from snellen.models.vlmevalkit_messages import aside
from snellen.stats import Estimate

JUDGE: Mapping[str, object] = {"model": "exact_matching", "nproc": 4, "verbose": False}
"""The arguments that turn off the judge in `evaluate`. The names come from get_judge_kwargs in
VLMEvalKit's run.py."""
UNIT = "as evaluate gives it"
NO_INTERVAL = "evaluate gives no interval"
GUESSED = "guessed at random"
PRIMARY = ("overall", "acc", "score")
"""Words that select the primary metric by its name, in order of preference, if the class names no
primary metric."""
SEED = 0
"""The seed of the random generators during `evaluate`, so that the same replies get the same
scores. VLMEvalKit sets none."""


@dataclass(frozen=True, kw_only=True)
class KitDataSet:
    """A data set with VLMEvalKit's interface."""

    instance: Any
    """The object with `data`, `build_prompt`, and `evaluate`."""
    name: str
    """The name of the data set. It is part of the name of the file that `evaluate` reads."""
    title: str
    """The spec, for messages."""
    source: str | None
    """The file with the class, for messages; None if it is not known."""
    judge: Mapping[str, object] = field(default_factory=lambda: JUDGE)
    """The keyword arguments of `evaluate`."""


class Evaluated:
    """The cached result of `evaluate` for the most recent set of replies."""

    def __init__(self, data_set: KitDataSet) -> None:
        self._set = data_set
        self._instance = data_set.instance
        self._columns: Columns | None = None
        self._values: Mapping[str, float] = {}
        self._reason = ""
        self._guesses = 0

    def primary(self, columns: Columns) -> Estimate:
        """Return the metric that the class names as primary. If the class names none, return the
        first metric whose name contains a word in PRIMARY, or else the first metric."""
        self._see(columns)
        if not self._values:
            return Estimate(value=None, unit=UNIT, n=columns.n, reason=self._reason)
        value = None
        if report := getattr(self._instance, "report_primary_metric", None):
            with (
                aside(),
                errors_as(
                    UsageError, f"{self._set.title}: report_primary_metric", self._set.source
                ),
            ):
                value = next(iter((report(dict(self._values)) or {}).values()), None)
            if value is not None and (value := _number(value)) is None:
                reason = "report_primary_metric gave no number"
                return Estimate(value=None, unit=UNIT, n=columns.n, reason=reason)
        if value is None:
            by_name = (name for word in PRIMARY for name in self._values if word in name.lower())
            value = self._values[next(by_name, next(iter(self._values)))]
        return self._estimate(value, columns)

    def by_name(self, columns: Columns) -> Mapping[str, Estimate]:
        """Return all numbers in the result of `evaluate`, keyed by their flattened names, and the
        number of guesses if there are any."""
        self._see(columns)
        estimates = {name: self._estimate(value, columns) for name, value in self._values.items()}
        if self._guesses:
            estimates[GUESSED] = Estimate(
                value=float(self._guesses),
                unit="answers",
                n=columns.n,
                reason="evaluate picked these answers at random",
            )
        return estimates

    def _estimate(self, value: float, columns: Columns) -> Estimate:
        guessed = f". {self._guesses} answers are random guesses of evaluate"
        reason = NO_INTERVAL + (guessed if self._guesses else "")
        return Estimate(value=value, unit=UNIT, n=columns.n, reason=reason)

    def _see(self, columns: Columns) -> None:
        if self._columns is columns:
            return
        self._columns, self._values, self._guesses = columns, {}, 0
        turns = _turns(columns)
        if turns is None:
            self._reason = "evaluate reads one reply to each question, but there are several"
            return
        predictions = _predictions(turns)
        failed = len(turns) - len(predictions) + (columns.unscored.n if columns.unscored else 0)
        if failed:
            self._reason = (
                f"not every question has a reply ({failed:,} missing), and some figures of "
                "evaluate need all replies, such as sums. Run the same command again, or count the "
                "missing replies as empty ones with --missing wrong"
            )
            return
        try:
            self._values = flattened(self._evaluated(predictions))
            self._reason = "evaluate gave no number"
        except UsageError as error:
            self._reason = str(error)

    def _evaluated(self, replies: Mapping[str, str]) -> object:
        with TemporaryDirectory(prefix="snellen-") as folder:
            path = _written(
                Path(folder, f"model_{self._set.name}.xlsx"), self._instance.data, replies
            )
            with (
                aside(),
                errors_as(UsageError, f"{self._set.title}: evaluate failed", self._set.source),
                seeded(SEED, SEED),
                _counted_guesses() as guesses,
            ):
                result = self._instance.evaluate(str(path), **self._set.judge)
                failed = self._judge_failures(path, len(replies))
        if failed:
            raise UsageError(
                f"{self._set.title}: {failed} of the {len(replies)} requests to evaluate's judge "
                "failed, and evaluate scored them as answers. Score the run again"
            )
        self._guesses = len(guesses)
        return result

    def _judge_failures(self, path: Path, n: int) -> int:
        """Return how many of the judge's replies are a failure text, as VLMEvalKit counts them."""
        count = getattr(self._instance, "report_judge_err", None)
        if count is None or self._set.judge["model"] == JUDGE["model"]:
            return 0
        counted = count(str(path), total_samples=n, judge_model=self._set.judge["model"])
        return int(counted.get("failed") or 0)


Turns = Mapping[str, Mapping[str, str | None]]
"""The replies of each question, keyed by the question's index and by the turn, such as 2/3. None:
the reply is VLMEvalKit's text for a failed request."""


def _turns(columns: Columns) -> Turns | None:
    """Return the replies, or None if a question was asked several times. A reply that a service
    refused to give is empty, and so is a missing reply that the user counts as wrong."""
    tags = [columns.tags[name] for name in ("index", "turn") if name in columns.tags]
    names = [[tag.names[code] for code in tag.codes] for tag in tags]
    states = [columns.state.names[code] for code in columns.state.codes]
    turns: dict[str, dict[str, str | None]] = defaultdict(dict)
    for index, *turn, answer, state in zip(*names, columns.answer, states, strict=True):
        number = turn[0] if turn else ""
        if number in turns[index]:
            return None
        turns[index][number] = "" if state == "no-reply" else answer
    return turns


def _predictions(turns: Turns) -> dict[str, str]:
    """Return the predictions of the questions whose every turn has a reply. The prediction of a
    conversation is a list as text, as a data frame with lists is written to a file."""
    predictions = {}
    for index, by_number in turns.items():
        replies = [reply for reply in by_number.values() if reply is not None]
        total = next(iter(by_number)).partition("/")[2]
        if len(replies) == int(total or 1):
            predictions[index] = str(replies) if total else replies[0]
    return predictions


@contextmanager
def _counted_guesses() -> Iterator[list[object]]:
    """Collect what `random.choice` returns. VLMEvalKit guesses answers with it (vlmeval/dataset/
    utils/multiple_choice.py, extract_answer_from_item, and vmcbench.py)."""
    choice = random.choice
    guesses: list[object] = []

    def counted(options: Sequence[object]) -> object:
        guesses.append(choice(options))
        return guesses[-1]

    random.choice = counted  # type: ignore[assignment]
    try:
        yield guesses
    finally:
        random.choice = choice


def _written(path: Path, data: Any, replies: Mapping[str, str]) -> Path:
    """Write a prediction file in VLMEvalKit's format, and return its path.

    The file is a spreadsheet with the rows' cells, except pictures, and a column `prediction`. If a
    reply is too long for a spreadsheet cell, the file is a .tsv instead.
    """
    every = records(data)
    columns = list(dict.fromkeys(name for row in every for name in row if name != "image"))
    rows = [
        [*(cell_of(name, row.get(name)) for name in columns), replies[index]]
        for row_index, row in enumerate(every)
        if (index := str(cell_of("index", row.get("index", row_index)))) in replies
    ]
    try:
        xlsx.write(path, [*columns, "prediction"], rows)
    except DataError:
        path = path.with_suffix(".tsv")
        separated.write(path, [*columns, "prediction"], rows, formulas="kept")
    return path


def records(data: Any) -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = data.to_dict("records") if hasattr(data, "iloc") else data
    return rows


def cell_of(name: str, value: Any) -> Any:
    """Convert a cell to a JSON type. An empty cell, which pandas marks with NaN, becomes None."""
    if hasattr(value, "item"):  # one of numpy's numbers
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if name == "image" and value is not None:
        return blake2b(str(value).encode(), digest_size=16).hexdigest()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def flattened(result: Any) -> Mapping[str, float]:
    """Return the numbers in a dictionary, a data frame, or a list, under the names that
    VLMEvalKit's report uses. The name of a nested value joins the keys that lead to it: `a|b`. The
    name of a number in a data frame joins the text in its row and its column's name:
    `column=text|column of numbers`. If a name in a data frame is taken, `#` and the row's label
    follow, and elsewhere `#dup`.

    See flatten_summary_metrics in vlmeval/smp/status_report.py.
    """
    out: dict[str, float] = {}
    _flatten(result, "", out)
    return out


def _flatten(result: Any, prefix: str, out: dict[str, float]) -> None:
    if hasattr(result, "iloc"):
        for name, number in _frame_numbers(result).items():
            _put(out, _joined(prefix, name), number)
    elif isinstance(result, Mapping):
        for name, value in result.items():
            _flatten(value, _joined(prefix, _key(name)), out)
    elif isinstance(result, list | tuple) and (len(result) != 1 or _number(result[0]) is None):
        for index, value in enumerate(result):
            _flatten(value, _joined(prefix, str(index)), out)
    else:
        _put(out, prefix or "value", result[0] if isinstance(result, list | tuple) else result)


def _frame_numbers(frame: Any) -> Mapping[str, float]:
    """Return the numbers in a data frame. A column with a number in any row is a column of
    numbers, and its other cells are left out."""
    rows = records(frame)
    columns = {
        name
        for row in rows
        for name, cell in row.items()
        if isinstance(cell, bool) or _number(cell) is not None
    }
    out: dict[str, float] = {}
    for label, row in zip(getattr(frame, "index", range(len(rows))), rows, strict=True):
        texts = [
            f"{_key(name)}={text}"
            for name, cell in row.items()
            if name not in columns
            and cell_of(str(name), cell) is not None
            and (text := str(cell).strip())
        ]
        for name in (name for name in row if name in columns):
            if (number := _number(row[name])) is not None:
                key = "|".join((*texts, _key(name)))
                out[f"{key}#{label}" if key in out else key] = number
    return out


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}|{name}" if prefix else name


def _key(name: object) -> str:
    return str(name).strip() or "value"


def _put(out: dict[str, float], name: str, value: Any) -> None:
    """Store a number under a name, unless the value is not a number."""
    if (number := _number(value)) is not None:
        out[f"{name}#dup" if name in out else name] = number


def _number(value: Any) -> float | None:
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
