"""Compares `snellen.score` with the authors' scorers on a folder of golden packs.

A golden pack is the folder of one benchmark: what its authors published, and what their code gives
for it. An adapter in `tests/parity/packs` says which files of a pack are replies, how they are
scored here, and which figures and items the authors have. Models and rows are taken from the
folder. No adapter and no test lists them.
"""

import gzip
import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np

import snellen
from snellen import SnellenError, registry
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark
from snellen.core.sample import Sample
from snellen.core.scoring import Missing, Scoring
from snellen.data import Row
from snellen.metrics import Columns
from snellen.stats import Estimate
from tests.parity.lines import Line, Proof

PACKS = Path(__file__).parent / "packs"
TOLERANCE = 1e-9
ID = "golden id"


# -- what the authors have


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure of the authors' scorer, and what else is known of it."""

    official: float | None
    """In the unit of our metric; None where their script gives no value: nothing is compared."""
    n: int | None = None
    """Questions behind it, compared with ours; None: not known, or counted otherwise."""
    page_n: int | None = None
    """The number of questions on docs/parity.md, if it is not `n`."""
    bounds: tuple[float, float] | None = None
    """The range of values their script can give, where it draws without a seed."""
    published: float | None = None
    """The figure in the paper or on the leaderboard."""
    reason: str = ""
    """Why published and official differ, or why there is no value."""
    label: str | None = None
    """The name on docs/parity.md, if it is not the metric's; "" keeps it off the page."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """What the authors' code gives for one reply; only what is set is compared."""

    score: float | None = None
    answer: object = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Values of whole-set metrics for this one row."""


@dataclass(frozen=True, kw_only=True)
class Expected:
    """All that the authors have on one file of replies, for one of our scorings."""

    figures: Mapping[str, Figure] = field(default_factory=dict)
    """By the name of our metric."""
    items: Mapping[str, Sequence[Item]] = field(default_factory=dict)
    """By sample id; a sample may have several rows."""
    ids_move: bool = False
    """Whether a row may belong to another sample than its id says: then rows under ids that have
    more rows on one side are compared as one set of scores."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One file or folder of replies as published, and what the authors' code gives for it."""

    model: str
    replies: Path
    benchmark: str
    """With its options, as after `snellen score -b`."""
    data: Path
    expected: Mapping[str, Expected]
    """By scoring. Without figures and items the file is scored and compared with nothing."""
    proof: Proof = "published outputs"
    page: str | None = None
    """The model's name on docs/parity.md, if it is another; "" keeps the case off the page."""
    heading: str | None = None
    """The benchmark's name on docs/parity.md, if it is another."""
    missing: Missing | None = None
    """What a question without a reply counts as, if not what its scoring says."""
    notes: tuple[str, ...] = ()
    """What is not compared, and why."""
    ours: Callable[["Case"], "Scores"] | None = None
    """Our figures and items, where they are not simply those of `snellen.score`: rounded figures,
    or prompts."""


@dataclass(frozen=True, kw_only=True)
class Pack:
    """The files of replies in the folder of a pack, and what is expected of them."""

    cases: Sequence[Case]
    without_output: Sequence[str] = ()
    """Models that have expected figures and no file of replies here."""


# -- scoring


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Our figures and items of one file, by scoring."""

    figures: Mapping[str, Mapping[str, tuple[float | None, int]]]
    items: Mapping[str, Mapping[str, Sequence[Item]]]


def scores(case: Case) -> Scores:
    """What `snellen.score` gives for the published bytes, as figures and for every single row."""
    rows: dict[str, Columns] = {}
    published = registry.benchmark(case.benchmark, data=case.data)
    benchmark = _observed(published, rows, case.expected)
    names = [*(case.expected or benchmark.scorings)]
    result = snellen.score(case.replies, benchmark, scorings=names, missing=case.missing)
    reports = result.report.scorings
    wanted = {
        name: sorted(
            set(chain.from_iterable(item.metrics for items in of.items.values() for item in items))
        )
        for name, of in case.expected.items()
    }
    return Scores(
        figures={
            name: {metric: (figure.value, figure.n) for metric, figure in report.metrics.items()}
            for name, report in reports.items()
        },
        items={
            name: _items(rows[name], published.scorings[name], wanted.get(name, ()))
            for name in reports
            if name in rows
        },
    )


def score(replies: Path, benchmark: str, data: Path, **options: Any) -> Result:
    """`snellen.score` without the baselines, which take most of its time."""
    published = registry.benchmark(benchmark, data=data)
    return snellen.score(replies, replace(published, check=None), **options)


def _observed(
    benchmark: Benchmark, rows: dict[str, Columns], expected: Mapping[str, Expected]
) -> Benchmark:
    """The benchmark with a metric that has no value and keeps the rows it is computed over.

    It has no other metrics than the expected ones: intervals take most of the time.
    """

    def sample(number: int, row: Row) -> Sample:
        read = benchmark.sample(number, row)
        return replace(read, tags={**read.tags, ID: read.id})

    def observer(name: str, scoring: Scoring) -> Scoring:
        def extra_metrics(columns: Columns) -> Mapping[str, Estimate]:
            rows[name] = columns
            return {} if scoring.extra_metrics is None else scoring.extra_metrics(columns)

        figures = expected[name].figures if name in expected else {}
        wanted = {metric.partition("/")[0] for metric in figures}
        metrics = {metric: of for metric, of in scoring.metrics.items() if metric in wanted}
        return replace(scoring, metrics=metrics or scoring.metrics, extra_metrics=extra_metrics)

    return replace(
        benchmark,
        sample=sample,
        scorings={name: observer(name, of) for name, of in benchmark.scorings.items()},
        presentation=replace(
            benchmark.presentation, metric_tags=(*benchmark.presentation.metric_tags, ID)
        ),
        check=None,  # no baselines: their replies would be rows too
    )


def _items(columns: Columns, scoring: Scoring, metrics: Iterable[str]) -> dict[str, list[Item]]:
    items: dict[str, list[Item]] = {}
    ids = columns.tags[ID]
    for number, code in enumerate(ids.codes):
        row = columns.where(np.array([number])) if metrics else columns
        values = (
            (name, scoring.metrics[name](row).value) for name in metrics if name in scoring.metrics
        )
        item = Item(
            score=None if columns.score is None else float(columns.score[number]),
            answer=columns.answer[number],
            metrics={name: value for name, value in values if value is not None},
        )
        items.setdefault(ids.names[code], []).append(item)
    return items


# -- comparing


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Our scores of one case beside the authors'."""

    case: Case
    ours: Mapping[str, Mapping[str, tuple[float | None, int]]] = field(default_factory=dict)
    figures: int = 0
    items: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By scoring the number of items that agree, and of all."""
    differences: Sequence[str] = ()
    figure_differences: int = 0
    largest: float = 0.0
    """The largest difference between figures."""
    error: str = ""
    """Why the file cannot be scored."""

    @property
    def differs(self) -> bool:
        return bool(self.differences)

    def lines(self) -> Iterator[Line]:
        """The lines of docs/parity.md."""
        case = self.case
        for scoring, expected in case.expected.items() if case.page != "" else ():
            for metric, figure in expected.figures.items():
                if figure.label == "":
                    continue
                known = self.ours.get(scoring, {})
                if known and metric not in known and figure.official is not None:
                    continue  # there is no such metric here
                value, n = known.get(metric, (None, 0))
                yield Line(
                    benchmark=case.heading or case.benchmark,
                    model=case.model if case.page is None else case.page,
                    metric=metric if figure.label is None else figure.label,
                    n=next(k for k in (figure.page_n, figure.n, n) if k is not None),
                    published=figure.published,
                    official=figure.official,
                    ours=value,
                    proof=case.proof,
                    reason=figure.reason,
                )


def compare(case: Case) -> Comparison:
    """Score a case and compare every figure and item; what cannot be scored is a difference."""
    count = sum(
        figure.official is not None or figure.bounds is not None
        for of in case.expected.values()
        for figure in of.figures.values()
    )
    of_items = {name: sum(map(len, of.items.values())) for name, of in case.expected.items()}
    try:
        ours = (case.ours or scores)(case)
    except SnellenError as error:
        return Comparison(
            case=case,
            figures=count,
            figure_differences=count,
            items={name: (0, n) for name, n in of_items.items() if n},
            differences=[f"cannot be scored: {error}"] if case.expected else [],
            error=f"cannot be scored: {error}",
        )
    differences: list[str] = []
    largest = 0.0
    for scoring, expected in case.expected.items():
        for metric, figure in expected.figures.items():
            value = ours.figures[scoring].get(metric)
            difference = _figure_difference(figure, value)
            if difference is not None:
                differences.append(f"{scoring} {metric}: {difference}")
            if value is not None and None not in (value[0], figure.official) and not figure.bounds:
                largest = max(largest, abs((value[0] or 0.0) - (figure.official or 0.0)))
    figure_differences = len(differences)
    items = {}
    for scoring, expected in case.expected.items():
        if n := of_items[scoring]:
            wrong = [*_item_differences(expected, ours.items.get(scoring, {}))]
            items[scoring] = (n - len(wrong), n)
            differences += [f"{scoring} item {line}" for line in wrong]
    return Comparison(
        case=case,
        ours=ours.figures,
        figures=count,
        figure_differences=figure_differences,
        items=items,
        differences=differences,
        largest=largest,
    )


def _figure_difference(figure: Figure, ours: tuple[float | None, int] | None) -> str | None:
    value, n = ours or (None, 0)
    if figure.official is None and figure.bounds is None:
        return None
    low, high = figure.bounds or (figure.official or 0.0, figure.official or 0.0)
    theirs = f"{low:.10g}" if low == high else f"{low:.10g} to {high:.10g}"
    if ours is None:
        return f"{theirs} by the authors, and no such metric here"
    if value is None:
        return f"{theirs} by the authors, and no value here"
    if not low - TOLERANCE <= value <= high + TOLERANCE:
        return f"{theirs} by the authors, {value:.10g} here"
    if figure.n is not None and n != figure.n:
        return f"of {figure.n:,} questions by the authors, of {n:,} here"
    return None


def _item_differences(expected: Expected, ours: Mapping[str, Sequence[Item]]) -> Iterator[str]:
    moved: list[tuple[str, Item]] = []
    pool: list[Item] = []
    for name, theirs in expected.items.items():
        rows = ours.get(name, ())
        if expected.ids_move and len(rows) != len(theirs):
            moved += [(name, item) for item in theirs]
            pool += rows
            continue
        if len(theirs) > 1:  # rows of one sample have no order of their own
            theirs, rows = sorted(theirs, key=_score_of), sorted(rows, key=_score_of)
        for item, row in zip_longest(theirs, rows[: len(theirs)]):
            if row is None or not _agrees(item, row):
                yield _item_difference(name, item, row)
    if expected.ids_move:
        others = (rows for name, rows in ours.items() if name not in expected.items)
        pool += chain.from_iterable(others)
    for name, item in moved:
        row = next((row for row in pool if _agrees(item, row)), None)
        if row is None:
            yield _item_difference(name, item, row)
        else:
            pool.remove(row)


def _item_difference(name: str, theirs: Item, ours: Item | None) -> str:
    here = "no row" if ours is None else _written(ours)
    return f"{name}: {_written(theirs)} by the authors, {here} here"


def _score_of(item: Item) -> float:
    return -1.0 if item.score is None else item.score


def _agrees(theirs: Item, ours: Item) -> bool:
    return (
        _same(theirs.score, ours.score)
        and (theirs.answer is None or theirs.answer == (ours.answer or ""))
        # That a metric is missing is a difference of its figure, not of every row.
        and all(_same(theirs.metrics.get(name), value) for name, value in ours.metrics.items())
    )


def _same(theirs: float | None, ours: float | None) -> bool:
    if theirs is None:
        return True
    return ours is not None and abs(theirs - ours) <= TOLERANCE


def _written(item: Item) -> str:
    parts = [] if item.score is None else [f"{item.score:.6g}"]
    parts += [] if item.answer is None else [repr(item.answer)]
    parts += [f"{name} {value:.6g}" for name, value in item.metrics.items()]
    return " ".join(parts) or "nothing"


# -- a folder of packs


def adapters() -> dict[str, ModuleType]:
    """The adapters by the name of their pack, which is that of the file."""
    return {
        path.stem: importlib.import_module(f"tests.parity.packs.{path.stem}")
        for path in sorted(PACKS.glob("*.py"))
        if not path.stem.startswith("_")
    }


def pack_names(folder: Path) -> list[str]:
    """The packs of a folder: those of its folders that have something to compare with."""
    parts = ("expected.json", "differential.jsonl", "differential.jsonl.gz", "outputs")
    return [
        path.name
        for path in sorted(folder.iterdir())
        if any((path / part).exists() for part in parts)
    ]


@cache
def comparisons(folder: Path, name: str) -> tuple[Pack, Sequence[Comparison]]:
    """Every file of replies in the pack `name` of a folder, scored and compared."""
    with TemporaryDirectory() as scratch:
        pack: Pack = adapters()[name].pack(folder / name, Path(scratch))
        return pack, [compare(case) for case in pack.cases]


def lines(folder: Path) -> Iterator[Line]:
    """The lines of docs/parity.md that adapters know."""
    for name, adapter in adapters().items():
        if (folder / name).is_dir():
            for comparison in comparisons(folder, name)[1]:
                yield from comparison.lines()
            if hasattr(adapter, "lines"):  # of outputs that cannot be scored
                yield from adapter.lines(folder / name)


# -- for adapters


def of_json(path: Path) -> Any:
    """The content of a JSON file, gzipped or not."""
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw)


def of_json_lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL file, gzipped or not; none where there is no such file."""
    if not path.exists():
        path = path.with_name(f"{path.name}.gz")
        if not path.exists():
            return []
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
    return [json.loads(line) for line in raw.decode().split("\n") if line]


def expected_of(pack: Path) -> dict[str, Any]:
    """The pack's expected.json; empty where there is none."""
    path = pack / "expected.json"
    return dict(of_json(path)) if path.exists() else {}


def items_of(pack: Path) -> dict[str, Any]:
    """The pack's expected_items.json.gz; empty where there is none."""
    path = pack / "expected_items.json.gz"
    return dict(of_json(path)) if path.exists() else {}


def write_json(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
