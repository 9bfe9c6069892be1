"""Turns a user's data set class with VLMEvalKit's interface into a benchmark:
vlmevalkit-class:FILE:CLASS[:DATASET].

The class provides the rows, `build_prompt(line)`, and `evaluate(eval_file, **judge_kwargs)`, as in
open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/image_base.py.
Single samples have no scores. `evaluate` reads a file with all replies and returns scores for the
whole data set.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from string import ascii_uppercase
from tempfile import TemporaryDirectory
from typing import Any

from snellen.benchmarks.families.stored_messages import messages_of, stored
from snellen.core import Benchmark, Presentation, Reading, Sample, Scoring
from snellen.core.benchmark import vary
from snellen.data import Drawn, Row
from snellen.errors import DataError, UsageError
from snellen.interop import separated, xlsx
from snellen.metrics import Columns
from snellen.models.user_code import errors_as
from snellen.models.vlmevalkit_messages import aside, build, load_class, ours
from snellen.stats import Estimate
from snellen.store import safe_name

KIND = "vlmevalkit-class"
TAGS = ("category", "l2-category", "split")
JUDGE = {"model": "exact_matching", "nproc": 4, "verbose": False}
"""The arguments that turn off the judge in `evaluate`. The names come from get_judge_kwargs in
VLMEvalKit's run.py."""
UNIT = "as evaluate gives it"
NO_INTERVAL = "evaluate gives no interval"
PRIMARY = ("overall", "acc", "score")
"""Words that select the primary metric by its name, in order of preference, if the class names no
primary metric."""


def vlmevalkit_class(spec: str, dataset: str | None = None) -> Benchmark:
    """Build the benchmark of `FILE:CLASS` for one of the class's data sets. If `dataset` is None,
    the class must have only one data set.

    Raises:
        UsageError: the class does not exist, cannot be instantiated, or has videos or several
            turns.
    """
    title = f"{KIND}:{spec}"
    own = load_class(spec, KIND)
    dataset = _meant(own.value, title, dataset)
    instance = build(own, {"dataset": dataset}, title) if isinstance(own.value, type) else own.value
    for method in ("build_prompt", "evaluate"):
        if not callable(getattr(instance, method, None)):
            raise UsageError(f"{title} has no method {method}: {instance!r:.80} is not a data set.")
    if getattr(instance, "MODALITY", "IMAGE") == "VIDEO" or getattr(instance, "TYPE", "") == "MT":
        raise UsageError(
            f"{title}: data sets with videos or several turns are not supported as {KIND}."
        )
    dataset = str(getattr(instance, "dataset_name", dataset))
    rows = _Rows(instance, title, own.source)
    scores = _Evaluated(instance, dataset, title, own.source)
    benchmark = Benchmark(
        name=_name(dataset),
        asks=2,
        data=Drawn(f"{title}, {dataset}", rows.fields),
        sample=rows.sample,
        prompt=lambda sample, _: messages_of(sample),
        scorings={
            "evaluate": Scoring(
                version=1,
                source=f"{spec}, its evaluate",
                parse=lambda reply, _: Reading(answer=reply.text, rule="whole reply"),
                score=lambda reading, sample: None,
                metrics={"primary": scores.primary},
                extra_metrics=scores.by_name,
            )
        },
        max_answer_tokens=2048,
        presentation=Presentation(
            metric_tags=("index",),
            notes=(
                f"scored by {spec}'s own evaluate, without a judge; questions without a reply are "
                "not in the file that it reads",
            ),
        ),
    )
    return vary(benchmark, options={"class": spec, "dataset": dataset, "digest": own.digest})


def _meant(loaded: Any, title: str, dataset: str | None) -> str:
    """Return the name of the requested data set, or of the class's only data set."""
    names = getattr(loaded, "supported_datasets", None)
    known = [str(name) for name in names()] if callable(names) else []
    if dataset is not None and (dataset in known or not known):
        return dataset
    if dataset is None and (len(known) == 1 or not isinstance(loaded, type)):
        return known[0] if len(known) == 1 else str(getattr(loaded, "dataset_name", ""))
    listing = f"it has {', '.join(known[:20])}" if known else "its supported_datasets() names none"
    if dataset is not None:
        raise UsageError(f"{title} has no data set {dataset!r}; {listing}.")
    raise UsageError(f"{title}: name the data set, as in {title}:DATASET; {listing}.")


def _name(dataset: str) -> str:
    """Return the data set's name, with `-class` added if a built-in benchmark has the same name."""
    name = safe_name(dataset)
    taken = (Path(__file__).parents[1] / f"{name.lower().replace('-', '_')}.py").exists()
    return f"{name}-class" if taken else name


# -- rows


class _Rows:
    """The rows in `data` of a VLMEvalKit data set: a pandas DataFrame or a list of dictionaries."""

    def __init__(self, instance: Any, title: str, source: str | None) -> None:
        self._instance = instance
        self._title = title
        self._source = source
        if getattr(instance, "data", None) is None:
            raise UsageError(f"{title} has no `data`. Set `data` in the constructor.")

    def fields(self) -> Iterator[Mapping[str, Any]]:
        """Yield each row's nonempty cells as JSON types, with each picture replaced by its
        digest."""
        for row in records(self._instance.data):
            cells = ((name, _cell(name, cell)) for name, cell in row.items())
            yield {name: cell for name, cell in cells if cell is not None}

    def sample(self, row_index: int, row: Row) -> Sample:
        """Make a sample with the prompt that `build_prompt` returns.

        Raises:
            UsageError: `build_prompt` raised an error.
            ValueError: `build_prompt` returned no prompt.
        """
        data = self._instance.data
        what = f"{self._title}: build_prompt of row {row_index + 1} failed"
        with aside(), errors_as(UsageError, what, self._source):
            prompt = self._instance.build_prompt(
                data.iloc[row_index] if hasattr(data, "iloc") else data[row_index]
            )
        where = f"row {row_index + 1} of {self._title}, a part of its prompt"
        media, turns = stored(ours(prompt, where=where))
        letters = [letter for letter in ascii_uppercase if letter in row]
        return Sample(
            id=str(row.get("index", row_index)),
            question=str(row.get("question", "")),
            choices=tuple(str(row[letter]) for letter in letters),
            media=media,
            # The class knows the right answers. An empty target is therefore not a hidden one.
            target=str(row.get("answer", "")),
            tags={
                "index": str(row.get("index", row_index)),
                **{name: str(row[name]) for name in TAGS if name in row},
            },
            data={"messages": turns, "hint": str(row.get("hint", ""))},
        )


def records(data: Any) -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = data.to_dict("records") if hasattr(data, "iloc") else data
    return rows


def _cell(name: str, value: Any) -> Any:
    """Convert a cell to a JSON type. An empty cell, which pandas marks with NaN, becomes None."""
    if hasattr(value, "item"):  # one of numpy's numbers
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if name == "image" and value is not None:
        return blake2b(str(value).encode(), digest_size=16).hexdigest()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


# -- scores


class _Evaluated:
    """The cached result of `evaluate` for the most recent set of replies."""

    def __init__(self, instance: Any, dataset: str, title: str, source: str | None) -> None:
        self._instance = instance
        self._dataset = dataset
        self._title = title
        self._source = source
        self._columns: Columns | None = None
        self._values: Mapping[str, float] = {}
        self._reason = ""

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
                errors_as(UsageError, f"{self._title}: report_primary_metric", self._source),
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
        """Return all numbers in the result of `evaluate`, keyed by their flattened names."""
        self._see(columns)
        return {name: self._estimate(value, columns) for name, value in self._values.items()}

    def _estimate(self, value: float, columns: Columns) -> Estimate:
        return Estimate(value=value, unit=UNIT, n=columns.n, reason=NO_INTERVAL)

    def _see(self, columns: Columns) -> None:
        if self._columns is columns:
            return
        self._columns, self._values = columns, {}
        index = columns.tags["index"]
        ids = [index.names[code] for code in index.codes]
        if len(set(ids)) < len(ids):
            self._reason = "evaluate reads one reply to each question, but there are several"
            return
        replies = dict(zip(ids, columns.answer, strict=True))
        try:
            self._values = flattened(self._evaluated(replies))
            self._reason = "evaluate gave no number"
        except UsageError as error:
            self._reason = str(error)

    def _evaluated(self, replies: Mapping[str, str | None]) -> object:
        with TemporaryDirectory(prefix="snellen-") as folder:
            path = _written(
                Path(folder, f"model_{self._dataset}.xlsx"), self._instance.data, replies
            )
            with aside(), errors_as(UsageError, f"{self._title}: evaluate failed", self._source):
                return self._instance.evaluate(str(path), **JUDGE)


def _written(path: Path, data: Any, replies: Mapping[str, str | None]) -> Path:
    """Write a prediction file in VLMEvalKit's format, and return its path.

    The file is a spreadsheet with the rows' cells, except pictures, and a column `prediction`. If a
    reply is too long for a spreadsheet cell, the file is a .tsv instead.
    """
    every = records(data)
    columns = list(dict.fromkeys(name for row in every for name in row if name != "image"))
    rows = [
        [*(_cell(name, row.get(name)) for name in columns), replies[index] or ""]
        for row_index, row in enumerate(every)
        if (index := str(_cell("index", row.get("index", row_index)))) in replies
    ]
    try:
        xlsx.write(path, [*columns, "prediction"], rows)
    except DataError:
        path = path.with_suffix(".tsv")
        separated.write(path, [*columns, "prediction"], rows, formulas="kept")
    return path


def flattened(result: Any) -> Mapping[str, float]:
    """Return the numbers in a dictionary, a data frame, or a list, under the names that
    VLMEvalKit's report uses. The name of a nested value joins the keys that lead to it: `a|b`. The
    name of a number in a data frame joins the text in its row and its column's name:
    `column=text|column of numbers`.

    See flatten_summary_metrics in vlmeval/smp/status_report.py.
    """
    out: dict[str, float] = {}
    _flatten(result, "", out)
    return out


def _flatten(result: Any, prefix: str, out: dict[str, float]) -> None:
    if hasattr(result, "iloc"):
        rows = records(result)
        numbers = {name for row in rows for name, cell in row.items() if _number(cell) is not None}
        for row in rows:
            texts = [
                f"{name}={cell}".strip()
                for name, cell in row.items()
                if name not in numbers and _cell(str(name), cell) not in (None, "")
            ]
            for name in (name for name in row if name in numbers):
                _put(out, "|".join(filter(None, (prefix, *texts, str(name)))), row[name])
    elif isinstance(result, Mapping):
        for name, value in result.items():
            _flatten(value, "|".join(filter(None, (prefix, str(name).strip()))), out)
    elif isinstance(result, list | tuple) and len(result) != 1:
        for index, value in enumerate(result):
            _flatten(value, "|".join(filter(None, (prefix, str(index)))), out)
    else:
        _put(out, prefix or "value", result[0] if isinstance(result, list | tuple) else result)


def _put(out: dict[str, float], name: str, value: Any) -> None:
    """Store a number under a name. If the name is taken, append a counter, so that no number is
    lost."""
    number = _number(value)
    if number is not None:
        again = sum(key == name or key.startswith(f"{name}#") for key in out)
        out[f"{name}#{again}" if again else name] = number


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
