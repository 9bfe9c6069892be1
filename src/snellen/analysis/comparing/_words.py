"""A comparison in sentences: who is above whom, by how much, and is it so."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from snellen.analysis.comparing._document import (
    BestOf,
    Comparison,
    Comparisons,
    Flips,
    MetricDifference,
    RankFlip,
    Side,
)
from snellen.analysis.result import MetricText, plain
from snellen.analysis.result import shown as shown_value
from snellen.metrics import Direction
from snellen.scoring import MetricReport

LEVEL = 0.05


def significant(one: MetricDifference) -> bool | None:
    """Whether a difference is significant at 5 %, by its adjusted p where there is one; None where
    it was not tested."""
    p = one.p if one.adjusted is None else one.adjusted
    return None if p is None else p < LEVEL


def shown(difference: MetricReport, side: MetricReport | None = None) -> MetricText:
    """A difference as people read it: `+3.20 pp`; fractions differ by percentage points, and others
    have as many decimals as the value of a `side`.

    >>> metric = MetricReport(value=-0.032, unit="fraction", n=9, stderr=None, ci95=(-0.05, 0.01))
    >>> shown(metric)
    MetricText(value='-3.20 pp', interval='[-5.00, +1.00]', n='9', remark='')
    """
    remark = difference.reason or ""
    if difference.value is None:
        return MetricText("-", "", f"{difference.n:,}", remark)
    like = difference if side is None else side
    interval = ""
    if difference.ci95 is not None:
        interval = f"[{', '.join(_number(end, like, '+') for end in difference.ci95)}]"
    value = f"{_number(difference.value, like, '+')} {_unit(difference)}".rstrip()
    return MetricText(value, interval, f"{difference.n:,}", remark)


def p_value(p: float | None) -> str:
    """
    >>> [p_value(p) for p in (0.0123, 0.00001, 1.0, None)]
    ['0.0123', '< 0.0001', '1.0000', '']
    """
    if p is None:
        return ""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def verdict(one: Comparison) -> str:
    """`b is 3.20 pp above a in accuracy, [+1.10, +5.30]: significant at 5 % (p 0.0029)`. It adds a
    remark if lower is better, or if the direction is unknown."""
    metric, found = next(iter(one.metrics.items()))
    difference = found.difference
    if difference.value is None:
        return f"{metric} cannot be compared: {difference.reason}"
    cells = shown(difference, found.a)
    if difference.value == 0:
        said = f"{one.b} and {one.a} have the same {metric}"
    else:
        by = cells.value.lstrip("+-")
        way = "above" if difference.value > 0 else "below"
        said = f"{one.b} is {by} {way} {one.a} in {metric}"
    said += f", {cells.interval}" if cells.interval else ""
    better = _better(one.direction)
    sure = significant(found)
    if sure is None:
        return f"{said}; no test: {cells.remark}{better}"
    p = f"p {p_value(found.p)}"
    if found.adjusted is not None:
        p += f", adjusted {p_value(found.adjusted)}"
    return f"{said}: {'significant' if sure else 'not significant'} at 5 % ({p}){better}"


def _better(direction: Direction | None) -> str:
    """The remark that tells a reader which side is better, if it is not the higher one."""
    match direction:
        case "higher":
            return ""
        case "lower":
            return "; lower is better"
    return "; Snellen does not know whether higher or lower is better"


def lines(one: Comparison, sides: Sequence[Side]) -> Iterator[str]:
    """What must be said of a pair beside its tables."""
    first = next(iter(one.metrics.values()))
    if first.detectable is not None:
        least = f"{_number(first.detectable, first.a)} {_unit(first.difference)}".rstrip()
        yield f"a true difference of {least} would be found four times of five"
    if one.flips is not None:
        yield from _flips(one, one.flips, sides)
    if one.settings:
        yield f"they differ in {'; '.join(one.settings)}"
    for left in one.unpaired:
        yield f"left out: {left.n:,} {left.why}, such as {', '.join(left.examples)}"
    yield from (f"note: {note}" for note in one.notes)


def _flips(one: Comparison, flips: Flips, sides: Sequence[Side]) -> Iterator[str]:
    alone = [(one.b, flips.only_b, flips.examples_b), (one.a, flips.only_a, flips.examples_a)]
    parts = [
        f"{n:,} {name} alone" + (f", such as {', '.join(which)}" if which else "")
        for name, n, which in alone
    ]
    p = "" if flips.p is None else f" (McNemar's p {p_value(flips.p)})"
    yield f"right are both on {flips.both:,}, neither on {flips.neither:,}; {'; '.join(parts)}{p}"
    seen = next((which[0] for _, _, which in alone if which), None)
    run = next(
        (
            side.where
            for side in sides
            # A model has the same name in all its benchmarks.
            if (side.benchmark, side.name) == (one.benchmark, one.a) and "asks" in side.identity
        ),
        "",
    )
    if seen is not None and run:
        yield f"one sample's story: snellen score {shlex.quote(run)} --explain {shlex.quote(seen)}"


def notes_of(sides: Sequence[Side]) -> Iterator[str]:
    """The notes of a benchmark's sides. A note that several sides share appears once."""
    names: dict[str, list[str]] = {}
    for side in sides:
        for note in side.notes:
            names.setdefault(note, []).append(side.name)
    for note, sharing in names.items():
        yield note if len(sharing) == len(sides) else f"{', '.join(sharing)}: {note}"


def best(one: BestOf) -> str:
    """What the best of several settings is worth."""
    value, held = shown_value(one.values[one.best]), shown_value(one.held_out)
    spread = ""
    if one.spread is not None:
        apart = f"{_number(one.spread, one.held_out)} {_unit(one.held_out)}".rstrip()
        spread = f"; settings differ by {apart} (standard deviation)"
    interval = f" {held.interval}" if held.interval else ""
    reason = f" ({held.remark})" if held.remark else ""
    return (
        f"{one.benchmark}: {one.model}, best of {len(one.values)} settings: {one.best} has "
        f"{value.value}; on samples that took no part in choosing it "
        f"{held.value}{interval}{reason}{spread}"
    )


def flipped(one: RankFlip) -> str:
    """Between which settings two models change places."""
    sure = "significantly so both ways" if one.significant else "not significantly so both ways"
    first, second = one.models
    return (
        f"{one.benchmark}: {first} is above {second} with {', '.join(one.first_above)}, and below "
        f"with {', '.join(one.second_above)}: {sure}"
    )


def adjustments(document: Comparisons) -> list[str]:
    """Over what p values were adjusted."""
    said = []
    if document.tests > 1:
        benchmarks = len({one.benchmark for one in document.comparisons})
        over = f" on {benchmarks} benchmarks" if benchmarks > 1 else ""
        said.append(
            f"p of the first metric is adjusted by Holm's method over the {document.tests} "
            f"comparisons{over}; of other metrics it is not"
        )
    if any(
        found.adjusted is not None
        for one in document.comparisons
        for part in (*one.breakdown.values(), one.capabilities)
        for found in part.values()
    ):
        said.append("p of categories is adjusted by Holm's method over those of one table")
    boards = [board for board in document.leaderboards if board.standings]
    if any(board.is_tested for board in boards):
        said.append(
            "sides that share a letter do not differ significantly at 5 %, by Holm's method over "
            "all pairs of their table"
        )
    if any(board.is_ranked for board in boards):
        said.append("rank intervals hold the ranks of 95 % of resamples")
    return said


def summary(document: Comparisons) -> str:
    """A document in a few plain lines."""
    said = []
    for board in document.leaderboards:
        title = f"{board.benchmark} · {board.scoring} {board.metric}"
        said.append(f"{title}, on the {board.samples:,} samples that all have")
        for one in board.standings:
            cells = shown_value(one.value)
            rank = "" if one.rank is None else f"{one.rank}. "
            value = f"{cells.value}  {cells.interval}  n {cells.n}  {one.group}"
            said.append(f"  {rank}{one.name}  {value}".rstrip())
        said += [f"  note: {note}" for note in board.notes]
    for pair in document.comparisons:
        said.append(f"{pair.benchmark} · {pair.scoring}, {pair.samples:,} samples")
        said.append(f"  {verdict(pair)}")
        said += [f"  {line}" for line in lines(pair, document.sides)]
    said += [f"  {best(one)}" for one in document.best_of]
    said += [f"  {flipped(one)}" for one in document.rank_flips]
    said += [f"note: {note}" for note in (*adjustments(document), *document.notes)]
    return "\n".join(map(plain, said))


def _number(value: float, like: MetricReport, sign: str = "") -> str:
    """A number with the decimals that `result.shown` gives a metric."""
    fraction = like.unit == "fraction"
    decimals = 2 if fraction or not like.value or abs(like.value) >= 1 else 4
    return f"{value * (100 if fraction else 1):{sign}z,.{decimals}f}"


def _unit(like: MetricReport) -> str:
    return "pp" if like.unit == "fraction" else like.unit
