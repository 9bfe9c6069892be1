"""The rows of one result's tables, in plain text and once; each format lays them out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from snellen.analysis.result import MetricText, Result, percent, shown
from snellen.report.ladder import ladder, number
from snellen.report.run_facts import in_words
from snellen.scoring import Disagreement, JudgeReport, MetricReport, SliceReport, SteeringReport

HEADINGS = ("scoring", "metric", "value", "95 % interval", "n", "remark")
SLICES = {
    "answer_place": "place of the right answer",
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
    *("groups", "where", "setting", "with"),
)
"""Headings of columns of words, beside the first."""
PLACES = (
    *("place", "picked", "95 % interval", "expected", "accuracy where right", "95 % interval"),
    *("n", "remark"),
)
COUNTED = (
    ("right", "scored", "questions are answered right blind"),
    ("complete", "questions", "questions have a score in each of their passes: these count here"),
)
"""Counts of a probe, of which others they are a part, and in words."""
EMPTY = MetricText("", "", "", "")


def headline_rows(result: Result) -> Iterator[tuple[str, ...]]:
    """A row under HEADINGS for each metric of the whole set; the headline's come first."""
    for name, scoring in result.report.scorings.items():
        for metric, found in scoring.metrics.items():
            if "/" not in metric:
                yield name, metric, *shown(found)


def repeats_title(result: Result) -> str:
    """`5 replies a question`"""
    most = max(one.most for one in result.report.repeats.values())
    return f"{most} replies a question"


def repeats_rows(result: Result) -> list[Sequence[str]]:
    """A row under HEADINGS for each metric of what was asked several times."""
    return [
        (name, metric, *shown(metric_report))
        for name, one in result.report.repeats.items()
        for metric, metric_report in one.metrics.items()
    ]


def repeats_lines(result: Result) -> Iterator[str]:
    """How alike the replies are, and for each scoring what makes the error of its mean."""
    report = result.report
    if report.alike is not None:
        yield f"{report.alike:,} samples got the same words each time"
    for name, one in report.repeats.items():
        if one.stderr_again is None or one.stderr_questions is None:
            continue
        total = one.stderr_again**2 + one.stderr_questions**2
        share = one.stderr_again**2 / total if total else 0.0
        yield (
            f"{name}: {percent(share)} of the mean's variance is the model's own: its standard "
            f"error is {one.stderr_again:.4f} if the same questions were asked again, and "
            f"{one.stderr_questions:.4f} by which questions these are"
        )


def breakdown_headings(result: Result, tag: str) -> list[str]:
    """The tag, and two columns for each scoring; n and remark are the headline scoring's."""
    pairs = ((name, "95 % interval") for name in result.report.scorings)
    return [tag, *(heading for pair in pairs for heading in pair), "n", "remark"]


def breakdown_rows(result: Result, tag: str) -> list[list[str]]:
    """A row for each category that has a value, with each scoring's first metric, as they come. A
    value whose n is not the headline's has its own: `26.67 % (n 15)`."""
    rows = []
    for label in result.report.breakdown[tag]:
        cells = []
        for scoring in result.report.scorings.values():
            found = scoring.metrics.get(f"{next(iter(scoring.metrics))}/{label}")
            cells.append(EMPTY if found is None else shown(found))
        if any(map(any, cells)):
            headline_n = cells[0].n
            values: list[str] = []
            for cell in cells:
                n = "" if cell.n == headline_n else f" (n {cell.n})"
                values += [f"{cell.value}{n}" if cell.value else "", cell.interval]
            rows.append([label, *values, *cells[0][2:]])
    return rows


def levels(result: Result, tag: str) -> dict[str, MetricReport]:
    """The shares right at the levels of a ladder, in their order; none where the tag is no ladder,
    or nothing of it was asked."""
    if tag not in result.report.ladders:
        return {}
    return {
        label: found
        for label, found in result.by(tag).items()
        if found.value is not None and 0 <= found.value <= 1
    }


def level_unit(name: str) -> str:
    """What a level's name says beside its number: `pixels` of `013 pixels`."""
    return name.replace(number(name), "").strip()


def threshold(result: Result, tag: str) -> tuple[str, MetricReport | None]:
    """The metric that says where on a ladder reading ends."""
    name = result.report.ladders[tag]
    return name, result.scoring().metrics.get(name)


def ladder_lines(result: Result, tag: str) -> list[str]:
    """The levels of a ladder with a bar each, and where reading ends; none where there are none."""
    of = levels(result, tag)
    if not of:
        return []
    shares = {label: found.value for label, found in of.items() if found.value is not None}
    name, end = threshold(result, tag)
    lines = ladder(shares, *((None, None) if end is None else (end.value, end.ci95)))
    if end is not None:
        cells = shown(end)
        said = " ".join(filter(None, (cells.value, cells.interval, cells.remark)))
        lines.append(f" {name} {said}")
    return lines


def slices(result: Result, *, differing: bool) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """Of each slice between whose bins the score differs, or does not: a title, and a row under
    SLICE for each bin."""
    for name, one in result.report.slices.items():
        if one.differs == differing:
            said = "" if one.adjusted is None else f": {differs(one)}"
            yield (
                f"by {SLICES.get(name, name)}{said}",
                [(label, *shown(mean)) for label, mean in one.bins.items()],
            )


def differs(one: SliceReport) -> str:
    """`the mean score differs (p 0.0012)`"""
    p = "< 0.0001" if one.adjusted is None or one.adjusted < 0.0001 else f"{one.adjusted:.2g}"
    return f"the mean score {'differs' if one.differs else 'does not differ measurably'} (p {p})"


def alike(result: Result) -> str:
    """The slices between whose bins the score was not seen to differ, in a line; "" without any."""
    names = [
        SLICES.get(name, name)
        for name, one in result.report.slices.items()
        if one.adjusted is not None and not one.differs
    ]
    return f"no difference seen by {', '.join(names)}" if names else ""


def differ(one: Disagreement) -> str:
    """`official and robust score 12 replies differently, such as those to 7, 31`"""
    which = (
        "1 reply differently, that"
        if one.n == 1
        else f"{one.n:,} replies differently, such as those"
    )
    return f"{one.scorings[0]} and {one.scorings[1]} score {which} to {', '.join(one.examples)}"


def without_remarks(
    headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[Sequence[str], Sequence[Sequence[str]], list[str]]:
    """A table whose rows share their remarks, but for numbers, without them, and what they say
    once; any other as it is."""
    if headings[-1] != "remark":
        return headings, rows, []
    said = dict.fromkeys(row[-1] for row in rows)
    # "1 independent cluster: …" and "8 independent clusters: …" are one remark.
    alike = dict.fromkeys(
        re.sub(r"^[0-9,]+ ([^:]*?)s?:", r"too few \1s:", remark) for remark in said if remark
    )
    one = len(alike) == 1 and all(said)  # said of every row
    if len(said) > 1 and len(alike) >= len(said) - 1 and not one:
        return headings, rows, []
    remarks = [*said] if len(said) == 1 else [*alike]
    return headings[:-1], [row[:-1] for row in rows], [*filter(None, remarks)]


def without_empty(
    headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """A table without the columns in which nothing stands."""
    kept = [place for place, cells in enumerate(zip(*rows, strict=True)) if any(cells)]
    if not kept:
        return headings, rows
    return [headings[place] for place in kept], [[row[place] for place in kept] for row in rows]


def is_name(place: int, heading: str) -> bool:
    """Whether a column has names or words, not numbers."""
    return place == 0 or heading in NAMES


def rule_headings(one: Disagreement) -> tuple[str, str]:
    """`official's rule | robust's rule`, and n"""
    return " | ".join(f"{scoring}'s rule" for scoring in one.scorings), "n"


def rules(one: Disagreement) -> list[tuple[str, str]]:
    """Which two rules fired, and how often; the commonest pair first."""
    return [(pair, f"{n:,}") for pair, n in one.by_rule.items()]


def judges(result: Result) -> Iterator[tuple[str, list[tuple[str, ...]], list[str]]]:
    """Of each judge that was measured against people: a title, rows under HEADINGS but the first,
    and what must be said beside them."""
    for name, one in result.report.judges.items():
        title = f"{name}: the judge against people, on {one.labelled:,} labelled replies"
        rows: list[tuple[str, ...]] = [
            (what, *shown(found)) for what, found in _measures(one) if found is not None
        ]
        said = [", ".join(f"{what} {n:,}" for what, n in one.confusion.items())]
        if one.seed is not None:
            said.append(f"labels: of the sheet drawn with seed {one.seed}")
        yield title, rows, [*filter(None, said), *(f"note: {note}" for note in one.notes)]


def probe(result: Result) -> tuple[list[Sequence[str]], list[str]]:
    """What a probe tells: rows under HEADINGS but the first, and what must be said beside them;
    both are empty without one."""
    found = result.report.probe
    if found is None:
        return [], []
    rows: list[Sequence[str]] = [(name, *shown(one)) for name, one in found.metrics.items()]
    said = [
        f"{found.counts[n]:,} of {found.counts[of]:,} {words}"
        for n, of, words in COUNTED
        if n in found.counts
    ]
    if found.p is not None:
        said.append(
            f"p {found.p:.4f} for picks so uneven over the places, if the order of the options "
            "has no part in them (permutation test)"
        )
    return rows, said


def probe_title(result: Result) -> str:
    """`probe: blind=none`"""
    found = result.report.probe
    return f"probe: {in_words(found.probe)}" if found is not None else ""


def places(result: Result) -> list[Sequence[str]]:
    """A row under PLACES for each place among the options, of a run that permuted them."""
    rows: list[Sequence[str]] = []
    for one in [] if result.report.probe is None else result.report.probe.places:
        picked, right = shown(one.picked), shown(one.accuracy)
        remark = "; ".join(dict.fromkeys(filter(None, (picked.remark, right.remark))))
        rows.append((one.place, *picked[:2], percent(one.expected), *right[:3], remark))
    return rows


def _measures(one: JudgeReport) -> Iterator[tuple[str, MetricReport | None]]:
    helped = f"with a weight of {one.weight:.2f} for the judge"
    yield "mean score, judged", one.judged
    yield "corrected by labels", replace(one.corrected, reason=one.corrected.reason or helped)
    yield "by labels alone", one.labels_alone
    yield "Rogan-Gladen", _alone(one, one.rogan_gladen)
    yield "agreement", one.agreement
    yield "sensitivity", one.sensitivity
    yield "specificity", one.specificity
    yield "bias (judge less people)", one.bias
    yield "Cohen's kappa", _alone(one, one.kappa, "")
    yield "Pearson's r", _alone(one, one.pearson, "")
    yield "Spearman's rho", _alone(one, one.spearman, "")
    if one.raters > 1:
        yield "people among themselves, Krippendorff's alpha", _alone(one, one.alpha, "")


def _alone(one: JudgeReport, value: float | None, unit: str = "fraction") -> MetricReport | None:
    """A number without an interval; None where there is none."""
    if value is None:
        return None
    return MetricReport(value=value, unit=unit, n=one.labelled, stderr=None, ci95=None)


def steering(one: SteeringReport) -> tuple[str, list[tuple[str, ...]]]:
    """A title, and a row under STEERING for each kind of attempt; changes are in the score's own
    unit."""
    rows: list[tuple[str, ...]] = []
    for kind, found in one.attempts.items():
        up, down = shown(found.to_right), shown(found.to_wrong)
        change = shown(replace(found.change, unit=""))
        remarks = [f"{found.lost:,} without a verdict"] if found.lost else []
        remark = "; ".join(dict.fromkeys(filter(None, (*remarks, up.remark, change.remark))))
        rows.append((kind, *up[:3], down.value, down.n, *change[:2], remark))
    title = (
        f"{one.benchmark} {one.scoring}: how {one.judge}'s verdicts move under replies that try to "
        f"steer it ({one.right:,} taken for right and {one.wrong:,} for wrong without)"
    )
    return title, rows
