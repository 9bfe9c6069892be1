"""Plots results and comparisons for papers and slides, as dots with 95 % intervals.

This module needs matplotlib. The same results give the same bytes, because the user's matplotlib
settings and the current time have no effect.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.analysis.comparing import Comparisons
from snellen.analysis.result import Result, metric_label
from snellen.errors import UsageError, install, plain
from snellen.report import by_tokens, side_by_side, table_rows
from snellen.report._differences import in_points
from snellen.report.by_tokens import TokenPoint
from snellen.report.ladder import number, numeral, position
from snellen.scoring import MetricReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "png")
# The colors of Okabe and Ito 2008, which color-blind people can distinguish. Shapes differ as well.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SHAPES = "osD^vPX"
WIDTH = 6.4
"""The width of a plot in inches. The height is ROW inches for each row, plus EDGES inches for the
title and the axis."""
ROW, EDGES = 0.3, 1.1
SETTINGS: Mapping[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "text.parse_math": False,  # names are not formulas
    "svg.fonttype": "path",
    "svg.hashsalt": "snellen",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 200,
}
Row = tuple[str, Sequence[MetricReport | None]]
"""A row of a plot: the row's name, and its metric in each series."""


def plot(results: Sequence[Result], path: Path, form: str) -> None:
    """Write one plot. Several results are plotted by their headline metrics. A single result is
    plotted with the headline metric and the categories of the first tag.

    Raises:
        UsageError: matplotlib is missing, the path cannot be written, or nothing can be drawn.
    """
    with _matplotlib():
        figure = _categories(results[0]) if len(results) == 1 else None
        figure = figure or _headlines(results)
        if figure is None:
            raise UsageError(f"{path}: there is nothing to plot, because no result has a value.")
        _write(figure, path, form)


def plots(
    results: Sequence[Result], folder: Path, form: str, compared: Comparisons | None = None
) -> list[Path]:
    """Write all plots of the results to a folder, which is created if necessary. The plots show the
    headline metrics, each model's values by category and by level of difficulty, and the
    differences of a comparison. Returns their paths.

    Raises:
        UsageError: matplotlib is missing, or the folder cannot be written.
    """
    with _matplotlib():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder} cannot be created: {error.strerror}.") from error
        written: list[Path] = []
        uses: Counter[str] = Counter()
        for name, figure in _all(results, compared):
            stem = _file_name(name)
            uses[stem] += 1
            again = f"-{uses[stem]}" if uses[stem] > 1 else ""
            path = folder / f"{stem}{again}.{form}"
            _write(figure, path, form)
            written.append(path)
    return written


def _all(results: Sequence[Result], compared: Comparisons | None) -> Iterator[tuple[str, Figure]]:
    if figure := _headlines(results):
        yield "headline", figure
    for benchmark, results_by_model in side_by_side.by_benchmark(results).items():
        of = {name: result for name, result in results_by_model.items() if result.report.scorings}
        tags = dict.fromkeys(tag for result in of.values() for tag in result.report.breakdown)
        for tag in tags:
            if any(table_rows.levels(result, tag) for result in of.values()):
                yield f"{benchmark}-{tag}", _ladder(benchmark, tag, of)
            elif figure := _by_tag(benchmark, tag, of):
                yield f"{benchmark}-{tag}", figure
    for title, points in by_tokens.sweeps(results):
        yield f"{title.rpartition(': ')[0]}-tokens", _by_tokens(title, points)
    if compared is not None and compared.comparisons:
        yield from _differences(compared)


def _headlines(results: Sequence[Result]) -> Figure | None:
    """A plot with a panel for each benchmark and a row for each run."""
    panels = []
    for benchmark, of in side_by_side.by_benchmark(results).items():
        there = [
            (model, result)
            for model, result in of.items()
            if result.report.scorings and result.headline.value is not None
        ]
        if there:
            first = there[0][1]
            metric = first.headline_label
            rows: list[Row] = [
                (f"{plain(model)}\n{_counted(result)}", [result.headline])
                for model, result in there
            ]
            panels.append((f"{benchmark}: {metric}", rows, first.report.baselines))
    if not panels:
        return None
    heights = [len(rows) * ROW + EDGES for _, rows, _ in panels]
    figure = _figure(sum(heights))
    axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for on, (title, rows, blind) in zip(axes, panels, strict=True):
        chance, draws = (None, None) if blind is None else (blind.chance, blind.draws)
        label = f"by chance ({draws} draws)" if draws else "by chance"
        _dots(on, rows, title, line=chance, line_label=label)
    return figure


def _counted(result: Result) -> str:
    """The counts of a result as text: `n 904, 96 failed`."""
    counts = result.counts
    absent = (("failed", counts.failed), ("not judged", counts.not_judged))
    return ", ".join([f"n {counts.n:,}", *(f"{n:,} {name}" for name, n in absent if n)])


def _categories(result: Result) -> Figure | None:
    """A plot of the headline metric and, below it, of the categories of the first tag. Ladders,
    which are tags whose categories are levels of difficulty, are skipped."""
    report = result.report
    tag = next((tag for tag in report.breakdown if not table_rows.levels(result, tag)), None)
    if tag is None or not result.by(tag):
        return None
    rows: list[Row] = [(f"all\n{_counted(result)}", [result.headline])]
    rows += [(label, [metric]) for label, metric in result.by(tag).items()]
    figure = _figure(len(rows) * ROW + EDGES)
    title = f"{side_by_side.title(result)}: {result.headline_label} by {tag}"
    _dots(figure.subplots(), rows, title)
    return figure


def _by_tag(benchmark: str, tag: str, of: Mapping[str, Result]) -> Figure | None:
    """A plot with a row for each category and a dot for each model."""
    by = {model: result.by(tag) for model, result in of.items() if tag in result.report.breakdown}
    labels = dict.fromkeys(label for metrics in by.values() for label in metrics)
    rows: list[Row] = [(label, [metrics.get(label) for metrics in by.values()]) for label in labels]
    rows = [row for row in rows if any(metric and metric.value is not None for metric in row[1])]
    if not rows:
        return None
    figure = _figure(len(rows) * max(ROW, 0.13 * len(by)) + EDGES)
    on = figure.subplots()
    metric = of[next(iter(by))].headline_label
    _dots(on, rows, f"{benchmark}: {metric} by {tag}", names=list(by))
    return figure


def _ladder(benchmark: str, tag: str, of: Mapping[str, Result]) -> Figure:
    """A plot with a curve for each model, which shows the accuracy at each level. A dashed line
    marks each model's threshold."""
    figure = _figure(3.2)
    on = figure.subplots()
    every = sorted(
        {level for result in of.values() for level in table_rows.levels(result, tag)},
        key=lambda level: float(number(level)),
    )
    numbers = [float(number(level)) for level in every]
    for n, (model, result) in enumerate(of.items()):
        levels = table_rows.levels(result, tag)
        if not levels:
            continue
        color, shape = COLORS[n % len(COLORS)], SHAPES[n % len(SHAPES)]
        across = [every.index(level) for level in levels]
        on.plot(across, _values(levels), color=color, marker=shape, label=plain(model), ms=5)
        for at, metric in zip(across, levels.values(), strict=True):
            if metric.ci95 is not None:
                low, high = metric.ci95
                on.vlines(at, 100 * low, 100 * high, color=color, linewidth=1)
        _, end = table_rows.threshold(result, tag)
        if end is not None and end.value is not None:
            on.axvline(position(numbers, end.value), color=color, linestyle="--", linewidth=1)
    on.set_xticks(range(len(every)), [numeral(level) for level in every])
    on.set_xlabel(plain(table_rows.level_unit(every[0])))
    on.set_ylabel("right, %")
    on.set_ylim(-4, 104)
    on.set_title(_wrapped(f"{benchmark} by {tag} (dashed: where reading ends)", 64), loc="left")
    if len(of) > 1:
        on.legend(loc="best", fontsize=8)
    return figure


def _values(levels: Mapping[str, MetricReport]) -> list[float]:
    return [100 * metric.value for metric in levels.values() if metric.value is not None]


def _by_tokens(title: str, points: Sequence[TokenPoint]) -> Figure:
    """A plot of each setting's score against the number of tokens per reply. Scores and token
    counts have intervals, and a line connects each model's settings."""
    figure = _figure(3.6)
    on = figure.subplots()
    unit = points[0].score.unit
    scale = 100 if unit == "fraction" else 1
    models = dict.fromkeys(point.model for point in points)
    for n, model in enumerate(models):
        color, shape = COLORS[n % len(COLORS)], SHAPES[n % len(SHAPES)]
        drawn = sorted(
            (point.per_reply.value, scale * point.score.value, point)
            for point in points
            if point.model == model
            and point.per_reply.value is not None
            and point.score.value is not None
        )
        across, up = [x for x, _, _ in drawn], [y for _, y, _ in drawn]
        on.plot(across, up, color=color, marker=shape, markersize=5.5, label=plain(model))
        for x, y, point in drawn:
            if point.score.ci95 is not None:
                low, high = point.score.ci95
                on.vlines(x, scale * low, scale * high, color=color, linewidth=1.2)
            if point.per_reply.ci95 is not None:
                on.hlines(y, *point.per_reply.ci95, color=color, linewidth=1.2)
            name = _wrapped(point.setting, 24)
            on.annotate(name, (x, y), (5, -9), textcoords="offset points", fontsize=7)
    on.set_xlabel("output tokens per reply")
    on.set_ylabel("%" if unit == "fraction" else plain(unit))
    on.set_title(_wrapped(title, 64), loc="left")
    if len(models) > 1:
        on.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    return figure


def _differences(compared: Comparisons) -> Iterator[tuple[str, Figure]]:
    """Plots of differences, one for each benchmark and scoring. A row shows the difference of a
    pair in the first metric."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for comparison in compared.comparisons:
        metric, metric_difference = next(iter(comparison.metrics.items()))
        row: Row = (
            f"{comparison.b} minus {comparison.a}",
            [in_points(metric_difference.difference)],
        )
        label = metric_label(metric, comparison.direction)
        groups.setdefault((comparison.benchmark, comparison.scoring, label), []).append(row)
    for (benchmark, scoring, metric), rows in groups.items():
        if not any(
            metric and metric.value is not None for _, metrics in rows for metric in metrics
        ):
            continue
        figure = _figure(len(rows) * ROW + EDGES)
        title = f"{benchmark}: differences in {metric} ({scoring})"
        _dots(figure.subplots(), rows, title, line=0.0)
        yield f"{benchmark}-differences", figure


# -- drawing


def _dots(
    on: Axes,
    rows: Sequence[Row],
    title: str,
    names: Sequence[str] = ("",),
    line: float | None = None,
    line_label: str = "",
) -> None:
    """Draw rows from the top down. If there are several series, the dots and intervals of a row are
    slightly apart."""
    unit = next(
        metric.unit
        for _, metrics in rows
        for metric in metrics
        if metric and metric.value is not None
    )
    scale = 100 if unit == "fraction" else 1
    apart = 0.6 / len(names)
    for n, name in enumerate(names):
        color, shape = COLORS[n % len(COLORS)], SHAPES[n % len(SHAPES)]
        shift = (n - (len(names) - 1) / 2) * apart
        there = [
            (position_of_row + shift, metric.value, metric.ci95)
            for position_of_row, metric in enumerate(metrics[n] for _, metrics in rows)
            if metric is not None and metric.value is not None
        ]
        for up, _, ci95 in there:
            if ci95 is not None:
                low, high = ci95
                on.hlines(up, scale * low, scale * high, color=color, linewidth=1.6)
        on.plot(
            [scale * value for _, value, _ in there],
            [up for up, _, _ in there],
            linestyle="none",
            marker=shape,
            color=color,
            markersize=5.5,
            label=plain(name),
        )
    if line is not None:
        on.axvline(scale * line, color="#555555", linestyle="--", linewidth=1, label=line_label)
    on.set_yticks(range(len(rows)), [_wrapped(name, 36) for name, _ in rows])
    on.set_ylim(len(rows) - 0.5, -0.5)
    on.grid(axis="y", visible=False)
    on.set_xlabel("%" if unit == "fraction" else plain(unit))
    on.set_title(_wrapped(title, 64), loc="left")
    if len(names) > 1 or (line_label and line is not None):
        on.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)


def _wrapped(text: str, width: int) -> str:
    """The text in lines of at most `width` characters. Line breaks in the text are kept."""
    lines = text.split("\n")
    return "\n".join("\n".join(textwrap.wrap(plain(line), width)) or "-" for line in lines)


def _figure(height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH, height))


@contextmanager
def _matplotlib() -> Iterator[None]:
    """Use matplotlib with its defaults and our settings, without the user's configuration."""
    try:
        import matplotlib
    except ImportError as error:
        raise UsageError(f"Plots need an extra: {install('plots')}.") from error
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **SETTINGS}):
        yield


def _write(figure: Figure, path: Path, form: str) -> None:
    # Without the time and matplotlib's version in the file, equal plots give equal files.
    metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    try:
        figure.savefig(path, format=form, metadata=metadata)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error


def _file_name(text: str) -> str:
    """A short file name that consists of letters, digits, dots, and dashes."""
    kept = "".join(sign if sign.isalnum() or sign == "." else "-" for sign in text)
    return kept.strip("-.")[:60] or "plot"
