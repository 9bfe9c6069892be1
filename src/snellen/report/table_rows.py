"""Prepares the rows of the tables for one result, as plain text. All formats use these rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from snellen.analysis.result import (
    MetricText,
    Result,
    category_metrics,
    first_label,
    metric_label,
    shown,
)
from snellen.report.ladder import ladder, number
from snellen.report.run_facts import in_words
from snellen.scoring import (
    Disagreement,
    JudgeReport,
    MetricReport,
    ScoringReport,
    SliceReport,
    SteeringReport,
)
from snellen.text.amounts import percent

HEADINGS = ("scoring", "metric", "value", "95 % interval", "n", "remark")
SLICES = {
    "answer_place": "position of the right answer",
    "picture_size": "size of the largest picture",
    "question_words": "length of the question",
    "pictures": "number of pictures",
}
SLICE = ("bin", "mean score", "95 % interval", "n", "remark")
STEERING = (
    *("attempt", "wrong to right", "95 % interval", "n"),
    *("right to wrong", "n", "change", "95 % interval", "remark"),
)
NAMES = (
    *("model", "against", "capability", "metric", "benchmark", "benchmarks", "run", "remark"),
    *("groups", "where", "setting", "with", "notes"),
)
"""The headings of columns that contain words. The first column of a table always contains words, so
its heading need not be listed here."""
PLACES = (
    *("place", "picked", "95 % interval", "expected", "accuracy where right", "95 % interval"),
    *("n", "remark"),
)
COUNTED = (
    ("right", "scored", "questions are answered right without seeing"),
    (
        "complete",
        "questions",
        "questions have a score in all of their passes; only these count here",
    ),
)
"""The lines about a probe's counts. Each line is defined by the name of a count, the name of the
total, and the text that follows the two numbers."""
EMPTY = MetricText("", "", "", "")


def headline_rows(result: Result) -> Iterator[tuple[str, ...]]:
    """A row for each metric over all samples, with the columns that HEADINGS lists. The metrics of
    the headline scoring come first."""
    for name, scoring in result.report.scorings.items():
        for metric, metric_report in scoring.metrics.items():
            if "/" not in metric:
                value, interval, n, remark = shown(metric_report)
                remarks = "; ".join(filter(None, (_judge_remark(result, name), remark)))
                label = metric_label(metric, metric_report.better)
                yield name, label, value, interval, n, remarks


def _judge_remark(result: Result, scoring: str) -> str:
    """A remark such as `official prompt, judge openai/NAME, not qualified`; empty if no judge
    stands in for the authors' judge."""
    judges = result.report.judged_by.get(scoring)
    if judges is None or judges.qualified is None:
        return ""
    return f"{judges.name}, {'' if judges.qualified else 'not '}qualified"


def repeats_title(result: Result) -> str:
    """The title of the table about repeats: `5 replies per question`."""
    most = max(report.most for report in result.report.repeats.values())
    return f"{most} replies per question"


def repeats_rows(result: Result) -> list[Sequence[str]]:
    """A row for each metric about repeats of the same questions, with the columns that HEADINGS
    lists."""
    return [
        (name, metric_label(metric, metric_report.better), *shown(metric_report))
        for name, repeats in result.report.repeats.items()
        for metric, metric_report in repeats.metrics.items()
    ]


def repeats_lines(result: Result) -> Iterator[str]:
    """Lines about repeats: the number of samples whose replies are all equal, and the sources of
    variance in each scoring's mean."""
    report = result.report
    if report.alike is not None:
        yield f"{report.alike:,} samples got replies with the same words each time"
    for name, repeats in report.repeats.items():
        if repeats.stderr_again is None or repeats.stderr_questions is None:
            continue
        total = repeats.stderr_again**2 + repeats.stderr_questions**2
        share = repeats.stderr_again**2 / total if total else 0.0
        yield (
            f"{name}: {percent(share)} of the mean's variance comes from the model. The standard "
            f"error is {repeats.stderr_again:.4f} for repeats of the same questions, and "
            f"{repeats.stderr_questions:.4f} for the choice of questions"
        )


def breakdown_headings(result: Result, tag: str) -> list[str]:
    """The headings of a breakdown: the tag, two columns for each scoring, and the headline
    scoring's n and remark. The heading of a scoring includes its first metric if other metrics of
    the scoring count more replies, as in a scoring whose first metric is about one language. An
    arrow says that lower values are better."""
    scorings = result.report.scorings.items()
    pairs = ((_scoring_heading(name, scoring), "95 % interval") for name, scoring in scorings)
    return [tag, *(heading for pair in pairs for heading in pair), "n", "remark"]


def _scoring_heading(name: str, scoring: ScoringReport) -> str:
    every = [metric for label, metric in scoring.metrics.items() if "/" not in label]
    if any(metric.n > every[0].n for metric in every):
        return f"{name} {first_label(scoring)}"
    return metric_label(name, every[0].better)


def breakdown_rows(result: Result, tag: str) -> list[list[str]]:
    """A row for each category that has a value, with the first metric of each scoring. If the
    headline scoring's first metric counts no reply of a category, the row shows another metric,
    which follows the category's name: `cn (chinese)`. If a value's n differs from the headline
    scoring's n, the value's cell shows n: `26.67 % (n 15)`."""
    rows: list[list[str]] = []
    scorings = [*result.report.scorings.values()]
    if not scorings:
        return rows
    first = next(iter(scorings[0].metrics))
    for label, metric_name in category_metrics(scorings[0], result.report.breakdown[tag]).items():
        cells = []
        for scoring in scorings:
            name = next(iter(scoring.metrics)) if metric_name == first else metric_name
            metric = scoring.metrics.get(f"{name}/{label}")
            cells.append(EMPTY if metric is None else shown(metric))
        if any(map(any, cells)):
            headline_n = cells[0].n
            values: list[str] = []
            for cell in cells:
                n = "" if cell.n == headline_n else f" (n {cell.n})"
                values += [f"{cell.value}{n}" if cell.value else "", cell.interval]
            rows.append([category_label(scorings[0], label, metric_name), *values, *cells[0][2:]])
    return rows


def category_label(scoring: ScoringReport, label: str, metric: str) -> str:
    """A category's name, followed by the metric that its row shows if this is not the scoring's
    first metric: `cn (chinese)`."""
    if metric == next(iter(scoring.metrics)):
        return label
    return f"{label} ({metric_label(metric, scoring.metrics[metric].better)})"


def levels(result: Result, tag: str) -> dict[str, MetricReport]:
    """The fraction of right answers at each level of a ladder (a tag whose categories are ordered
    levels of difficulty). Empty if the tag is not a ladder, or if the run did not ask its
    questions."""
    if tag not in result.report.ladders:
        return {}
    return {
        label: metric
        for label, metric in result.by(tag).items()
        if metric.value is not None and 0 <= metric.value <= 1
    }


def level_unit(name: str) -> str:
    """The unit in a level's name: `pixels` in `013 pixels`."""
    return name.replace(number(name), "").strip()


def threshold(result: Result, tag: str) -> tuple[str, MetricReport | None]:
    """The name and the value of the metric that estimates a ladder's threshold, which is the level
    at which the model stops answering right."""
    name = result.report.ladders[tag]
    return name, result.scoring().metrics.get(name)


def ladder_lines(result: Result, tag: str) -> list[str]:
    """Lines of text that draw a ladder: the levels, a bar for each level, and the threshold."""
    of = levels(result, tag)
    if not of:
        return []
    shares = {label: metric.value for label, metric in of.items() if metric.value is not None}
    name, end = threshold(result, tag)
    lines = ladder(shares, *((None, None) if end is None else (end.value, end.ci95)))
    if end is not None:
        cells = shown(end)
        text = " ".join(filter(None, (cells.value, cells.interval, cells.remark)))
        lines.append(f" {metric_label(name, end.better)} {text}")
    return lines


def slices(result: Result, *, differing: bool) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """Yield a title and rows for each slice whose bins differ significantly in their mean score. If
    `differing` is false, yield the other slices instead. Each bin has a row with the columns that
    SLICE lists."""
    for name, bins_report in result.report.slices.items():
        if bins_report.differs == differing:
            verdict = "" if bins_report.adjusted is None else f": {differs(bins_report)}"
            yield (
                f"by {SLICES.get(name, name)}{verdict}",
                [(label, *shown(mean)) for label, mean in bins_report.bins.items()],
            )


def differs(report: SliceReport) -> str:
    """The result of a slice's test as text: `the mean score differs (p 0.0012)`."""
    p = (
        "< 0.0001"
        if report.adjusted is None or report.adjusted < 0.0001
        else f"{report.adjusted:.2g}"
    )
    return (
        f"the mean score {'differs' if report.differs else 'does not differ significantly'} (p {p})"
    )


def alike(result: Result) -> str:
    """A line that lists the slices whose bins do not differ significantly; empty if there are
    none."""
    names = [
        SLICES.get(name, name)
        for name, slice_report in result.report.slices.items()
        if slice_report.adjusted is not None and not slice_report.differs
    ]
    return f"no significant difference by {', '.join(names)}" if names else ""


def differ(result: Result, disagreement: Disagreement) -> str:
    """A disagreement as text: `official and robust score 12 replies differently by accuracy, such
    as those to samples 7, 31`. If the scorings have different headline metrics, they are compared
    by whether a reply is right."""
    reports = result.report.scorings.items()
    metrics = {next(iter(of.metrics)) for name, of in reports if name in disagreement.scorings}
    by = metrics.pop() if len(metrics) == 1 else "right or wrong"
    which = (
        f"1 reply differently by {by}, that to sample"
        if disagreement.n == 1
        else f"{disagreement.n:,} replies differently by {by}, such as those to samples"
    )
    first, second = disagreement.scorings
    return f"{first} and {second} score {which} {', '.join(disagreement.examples)}"


def without_remarks(
    headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[Sequence[str], Sequence[Sequence[str]], list[str]]:
    """Move the remarks out of the table if all rows have the same remark, or if remarks differ only
    in the numbers at their beginnings. Returns the headings, the rows, and the remarks that were
    moved. Any other table stays unchanged."""
    if headings[-1] != "remark":
        return headings, rows, []
    remarks_of_rows = dict.fromkeys(row[-1] for row in rows)
    # "1 independent cluster: …" and "8 independent clusters: …" count as the same remark.
    alike = dict.fromkeys(
        re.sub(r"^[0-9,]+ ([^:]*?)s?:", r"too few \1s:", remark)
        for remark in remarks_of_rows
        if remark
    )
    shared_by_all = len(alike) == 1 and all(remarks_of_rows)  # every row has the remark
    if len(remarks_of_rows) > 1 and len(alike) >= len(remarks_of_rows) - 1 and not shared_by_all:
        return headings, rows, []
    remarks = [*remarks_of_rows] if len(remarks_of_rows) == 1 else [*alike]
    return headings[:-1], [row[:-1] for row in rows], [*filter(None, remarks)]


def without_empty(
    headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Leave out the empty columns of a table."""
    kept = [column for column, cells in enumerate(zip(*rows, strict=True)) if any(cells)]
    if not kept:
        return headings, rows
    return [headings[column] for column in kept], [[row[column] for column in kept] for row in rows]


def is_name(column: int, heading: str) -> bool:
    """Whether a column contains names or words rather than numbers."""
    return column == 0 or heading in NAMES


def rule_headings(disagreement: Disagreement) -> tuple[str, str]:
    """The headings of a table of rules: `official's rule | robust's rule`, and `n`."""
    return " | ".join(f"{scoring}'s rule" for scoring in disagreement.scorings), "n"


def rules(disagreement: Disagreement) -> list[tuple[str, str]]:
    """The pairs of rules that parsed the same reply, and the count of each pair. The most frequent
    pair comes first."""
    return [(pair, f"{n:,}") for pair, n in disagreement.by_rule.items()]


def judges(result: Result) -> Iterator[tuple[str, list[tuple[str, ...]], list[str]]]:
    """Yield the table of each judge that was measured against people: a title, rows, and lines
    below the rows. The columns are those that HEADINGS lists, without the first."""
    for name, judge_report in result.report.judges.items():
        title = f"{name}: the judge against people, on {judge_report.labelled:,} labeled replies"
        rows: list[tuple[str, ...]] = [
            (what, *shown(metric)) for what, metric in _measures(judge_report) if metric is not None
        ]
        lines = [", ".join(f"{what} {n:,}" for what, n in judge_report.confusion.items())]
        if judge_report.seed is not None:
            lines.append(f"labels from the sheet drawn with seed {judge_report.seed}")
        yield title, rows, [*filter(None, lines), *(f"note: {note}" for note in judge_report.notes)]


def probe(result: Result) -> tuple[list[Sequence[str]], list[str]]:
    """The table of a probe: rows, and lines below the rows. The columns are those that HEADINGS
    lists, without the first. Rows and lines are empty if there was no probe."""
    report = result.report.probe
    if report is None:
        return [], []
    rows: list[Sequence[str]] = [(name, *shown(metric)) for name, metric in report.metrics.items()]
    lines = [
        f"{report.counts[n]:,} of {report.counts[of]:,} {words}"
        for n, of, words in COUNTED
        if n in report.counts
    ]
    if report.p is not None:
        lines.append(
            f"p {report.p:.4f}: the probability of picks at least as uneven over the positions if "
            "the order of the choices does not matter (permutation test)"
        )
    return rows, lines


def probe_title(result: Result) -> str:
    """The title of a probe's table: `probe: blind=none`."""
    report = result.report.probe
    return f"probe: {in_words(report.probe)}" if report is not None else ""


def places(result: Result) -> list[Sequence[str]]:
    """A row for each position among the choices, with the columns that PLACES lists. Empty unless
    the run permuted the choices."""
    rows: list[Sequence[str]] = []
    for position in [] if result.report.probe is None else result.report.probe.places:
        picked, right = shown(position.picked), shown(position.accuracy)
        remark = "; ".join(dict.fromkeys(filter(None, (picked.remark, right.remark))))
        rows.append((position.place, *picked[:2], percent(position.expected), *right[:3], remark))
    return rows


def _measures(report: JudgeReport) -> Iterator[tuple[str, MetricReport | None]]:
    helped = f"with a weight of {report.weight:.2f} for the judge's scores"
    clear = report.agreement.n  # without the replies on which people are evenly divided
    yield "mean score, judged", report.judged
    yield "corrected by labels", replace(report.corrected, reason=report.corrected.reason or helped)
    yield "by labels alone", report.labels_alone
    yield "Rogan-Gladen", _alone(clear, report.rogan_gladen)
    yield "agreement", report.agreement
    yield "sensitivity", report.sensitivity
    yield "specificity", report.specificity
    yield "bias (judge minus people)", report.bias
    yield "Cohen's kappa", _alone(clear, report.kappa, "")
    yield "Pearson's r", _alone(clear, report.pearson, "")
    yield "Spearman's rho", _alone(clear, report.spearman, "")
    if report.raters > 1:
        alpha = _alone(report.labelled, report.alpha, "")
        yield "agreement of people, Krippendorff's alpha", alpha


def _alone(n: int, value: float | None, unit: str = "fraction") -> MetricReport | None:
    """A metric without an interval, from `n` labeled replies; None if `value` is None."""
    if value is None:
        return None
    return MetricReport(value=value, unit=unit, n=n, stderr=None, ci95=None)


def steering(report: SteeringReport) -> tuple[str, list[tuple[str, ...]]]:
    """A title, and a row for each kind of attempt to steer the judge. STEERING lists the columns.
    The changes of the mean score have the score's own unit."""
    rows: list[tuple[str, ...]] = []
    for kind, attempt in report.attempts.items():
        up, down = shown(attempt.to_right), shown(attempt.to_wrong)
        change = shown(replace(attempt.change, unit=""))
        remarks = [f"{attempt.lost:,} without a verdict"] if attempt.lost else []
        remark = "; ".join(dict.fromkeys(filter(None, (*remarks, up.remark, change.remark))))
        rows.append((kind, *up[:3], down.value, down.n, *change[:2], remark))
    title = (
        f"{report.benchmark} {report.scoring}: how replies that try to steer {report.judge} change "
        f"its verdicts (without attempts {report.right:,} are judged right and "
        f"{report.wrong:,} wrong)"
    )
    return title, rows
