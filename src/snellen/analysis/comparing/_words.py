"""Describes a comparison in sentences: which side is higher, by how much, and whether the
difference is significant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from snellen.analysis.comparing._document import (
    BestOf,
    Comparison,
    Comparisons,
    Flips,
    MetricDifference,
    RankFlip,
    Side,
)
from snellen.analysis.result import MetricText, metric_label
from snellen.analysis.result import shown as shown_value
from snellen.errors import StoreError, plain
from snellen.metrics import Direction
from snellen.scoring import CostReport, MetricReport
from snellen.scoring.sections.cost import cost_texts
from snellen.scoring.sections.tools import not_carried_out, per_question
from snellen.store import Run

LEVEL = 0.05


def significant(difference: MetricDifference) -> bool | None:
    """Whether a difference is significant at the 5 % level, by its adjusted p value if there is
    one; None if it was not tested."""
    p = difference.p if difference.adjusted is None else difference.adjusted
    return None if p is None else p < LEVEL


def shown(difference: MetricReport, side: MetricReport | None = None) -> MetricText:
    """Format a difference as text, such as `+3.20 pp`. Differences of fractions are in percentage
    points. Other differences have as many decimals as the value of `side`.

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
    """Format a p value as text, which is empty for None.

    >>> [p_value(p) for p in (0.0123, 0.00001, 1.0, None)]
    ['0.0123', '< 0.0001', '1.0000', '']
    """
    if p is None:
        return ""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def verdict(comparison: Comparison) -> str:
    """Describe a comparison in one sentence, such as `b is 3.20 pp above a in accuracy, [+1.10,
    +5.30]: significant at 5 % (p 0.0029)`. The sentence ends with a remark if lower is better, or
    if it is unknown which is better."""
    metric, metric_difference = next(iter(comparison.metrics.items()))
    difference = metric_difference.difference
    if difference.value is None:
        return f"{metric} cannot be compared: {difference.reason}"
    cells = shown(difference, metric_difference.a)
    if difference.value == 0:
        sentence = f"{comparison.b} and {comparison.a} have the same {metric}"
    else:
        by = cells.value.lstrip("+-")
        way = "above" if difference.value > 0 else "below"
        sentence = f"{comparison.b} is {by} {way} {comparison.a} in {metric}"
    sentence += f", {cells.interval}" if cells.interval else ""
    better = _better(comparison.direction)
    sure = significant(metric_difference)
    if sure is None:
        return f"{sentence}; no test: {cells.remark}{better}"
    p = f"p {p_value(metric_difference.p)}"
    if metric_difference.adjusted is not None:
        p = f"adjusted p {p_value(metric_difference.adjusted)}; {p} before adjustment"
    return f"{sentence}: {'significant' if sure else 'not significant'} at 5 % ({p}){better}"


def _better(direction: Direction | None) -> str:
    """A remark that lower is better, or that the direction is unknown; empty if higher is
    better."""
    match direction:
        case "higher":
            return ""
        case "lower":
            return "; lower is better"
    return "; Snellen does not know whether higher or lower is better"


def lines(comparison: Comparison, sides: Sequence[Side]) -> Iterator[str]:
    """Yield the lines of text that accompany the tables of a pair."""
    first = next(iter(comparison.metrics.values()))
    if first.detectable is not None:
        least = f"{_number(first.detectable, first.a)} {_unit(first.difference)}".rstrip()
        yield f"these samples detect a true difference of {least} with 80 % probability"
    if comparison.flips is not None:
        yield from _flips(comparison, comparison.flips, sides)
    if comparison.settings:
        yield f"they differ in {'; '.join(comparison.settings)}"
    yield from cost_lines(comparison.benchmark, (comparison.b, comparison.a), sides)
    for left in comparison.unpaired:
        yield f"left out: {left.n:,} {left.why}, such as {', '.join(left.examples)}"
    yield from (f"note: {note}" for note in comparison.notes)


def cost_lines(benchmark: str, names: Sequence[str], sides: Sequence[Side]) -> Iterator[str]:
    """Yield the cost per question, the median request time, the number of failed requests, the
    steps, calls, tokens, and time per question with tools, and the numbers of refused calls of each
    side, if known. Request times depend on the load, so they have the mean number of requests in
    flight."""
    own = {side.name: side for side in sides if side.benchmark == benchmark}
    costs = {name: own[name].cost for name in names if name in own}
    texts = {name: (*cost_texts(cost), _failed_text(cost)) for name, cost in costs.items()}
    for number, label in enumerate(("cost per question", "median request time", "failed requests")):
        known = []
        for name, text in texts.items():
            if text[number]:
                load = _load_text(costs[name]) if label == "median request time" else ""
                known.append(f"{name} {text[number]}{load}")
        if known:
            yield f"{label}: {', '.join(known)}"
    with_tools: dict[str, list[str]] = {}
    for name in costs:
        if (tools := own[name].tools) is not None:
            means = [(label, mean) for label, _, mean in per_question(tools)]
            for label, words in (*means, *not_carried_out(tools)):
                with_tools.setdefault(label, []).append(f"{name} {words}")
    yield from (f"{label}: {', '.join(texts)}" for label, texts in with_tools.items())


def _load_text(cost: CostReport | None) -> str:
    """`` (15.2 in flight)``; empty if the load is unknown."""
    if cost is None or cost.in_flight is None:
        return ""
    return f" ({cost.in_flight:.1f} in flight)"


def _failed_text(cost: CostReport | None) -> str:
    """`3 of 103`; empty if no request failed, or if it is unknown."""
    if cost is None or not cost.failed_attempts:
        return ""
    return f"{cost.failed_attempts:,} of {cost.replies + cost.failed_attempts:,}"


def _flips(comparison: Comparison, flips: Flips, sides: Sequence[Side]) -> Iterator[str]:
    alone = [
        (comparison.b, flips.only_b, flips.examples_b),
        (comparison.a, flips.only_a, flips.examples_a),
    ]
    parts = [
        f"only {name} on {n:,}" + (f", such as {', '.join(which)}" if which else "")
        for name, n, which in alone
    ]
    yield f"both are right on {flips.both:,}, neither on {flips.neither:,}; {'; '.join(parts)}"
    example = next((which[0] for _, _, which in alone if which), None)
    run = next(
        (
            side.where
            for side in sides
            # A model has the same name in all benchmarks.
            if (side.benchmark, side.name) == (comparison.benchmark, comparison.a)
            and "asks" in side.identity
        ),
        "",
    )
    if example is not None and run and (command := _explain_command(run, example)):
        yield f"explain a sample: {command}"


def _explain_command(run: str, sample: str) -> str | None:
    """The command that explains the replies to one sample of a run; None if the run folder no
    longer exists."""
    try:
        return Run(Path(run)).command("score", "--explain", sample)
    except StoreError:
        return None


def notes_of(sides: Sequence[Side]) -> Iterator[str]:
    """Yield the notes of a benchmark's sides. A note that several sides share appears once, and
    starts with their names unless all sides share it."""
    names: dict[str, list[str]] = {}
    for side in sides:
        for note in side.notes:
            names.setdefault(note, []).append(side.name)
    for note, sharing in names.items():
        yield note if len(sharing) == len(sides) else f"{', '.join(sharing)}: {note}"


def best(best_of: BestOf) -> str:
    """Describe the best of several settings in one line."""
    value, held = shown_value(best_of.values[best_of.best]), shown_value(best_of.held_out)
    kind = "checkpoints" if best_of.checkpoints else "settings"
    spread = ""
    if best_of.spread is not None:
        apart = f"{_number(best_of.spread, best_of.held_out)} {_unit(best_of.held_out)}".rstrip()
        spread = f"; the standard deviation between {kind} is {apart}"
    interval = f" {held.interval}" if held.interval else ""
    reason = f" ({held.remark})" if held.remark else ""
    return (
        f"{best_of.benchmark}: {best_of.model}, best of {len(best_of.values)} {kind}: "
        f"{best_of.best} has {value.value}; on samples not used to choose it "
        f"{held.value}{interval}{reason}{spread}"
    )


def rank_flip_text(rank_flip: RankFlip) -> str:
    """Describe in one line the settings between which the order of two models changes."""
    sure = (
        "both differences are significant"
        if rank_flip.significant
        else "at least one of the differences is not significant"
    )
    first, second = rank_flip.models
    return (
        f"{rank_flip.benchmark}: {first} is above {second} with "
        f"{', '.join(rank_flip.first_above)}, and below with "
        f"{', '.join(rank_flip.second_above)}: {sure}"
    )


def adjustments(document: Comparisons) -> list[str]:
    """Write notes that explain letters, rank intervals, and the adjustment of p values."""
    notes = []
    if document.tests > 1:
        benchmarks = len({comparison.benchmark for comparison in document.comparisons})
        over = f" on {benchmarks} benchmarks" if benchmarks > 1 else ""
        notes.append(
            f"p-values of the first metric are adjusted by Holm's method over the {document.tests} "
            f"comparisons{over}, and the adjusted p-value decides whether a difference is "
            "significant; p-values of other metrics are not adjusted"
        )
    if any(
        difference.adjusted is not None
        for comparison in document.comparisons
        for part in (*comparison.breakdown.values(), comparison.capabilities)
        for difference in part.values()
    ):
        notes.append("p-values of categories are adjusted by Holm's method within each table")
    boards = [board for board in document.leaderboards if board.standings]
    if any(board.is_tested for board in boards):
        notes.append(
            "sides that share a letter do not differ significantly at the 5 % level, by the "
            "adjusted p-value of their pair"
        )
    if any(board.has_rank_intervals for board in boards):
        notes.append("a rank interval contains a side's rank in 95 % of resamples")
    return notes


def summary(document: Comparisons) -> str:
    """Summarize a comparison in lines of plain text."""
    lines_of_text = []
    for board in document.leaderboards:
        metric = metric_label(board.metric, board.direction)
        title = f"{board.benchmark} · {board.scoring} {metric}"
        lines_of_text.append(f"{title}, on the {board.samples:,} samples that all sides have")
        for standing in board.standings:
            cells = shown_value(standing.value)
            rank = "" if standing.rank is None else f"{standing.rank}. "
            value = f"{cells.value}  {cells.interval}  n {cells.n}  {standing.group}"
            lines_of_text.append(f"  {rank}{standing.name}  {value}".rstrip())
        names = [standing.name for standing in board.standings]
        costs = cost_lines(board.benchmark, names, document.sides)
        lines_of_text += [f"  {line}" for line in costs]
        lines_of_text += [f"  note: {note}" for note in board.notes]
    for pair in document.comparisons:
        lines_of_text.append(f"{pair.benchmark} · {pair.scoring}, {pair.samples:,} samples")
        lines_of_text.append(f"  {verdict(pair)}")
        lines_of_text += [f"  {line}" for line in lines(pair, document.sides)]
    lines_of_text += [f"  {best(standing)}" for standing in document.best_of]
    lines_of_text += [f"  {rank_flip_text(standing)}" for standing in document.rank_flips]
    lines_of_text += [f"note: {note}" for note in (*adjustments(document), *document.notes)]
    return "\n".join(map(plain, lines_of_text))


def _number(value: float, like: MetricReport, sign: str = "") -> str:
    """Format a number with as many decimals as `result.shown` uses for the metric `like`."""
    fraction = like.unit == "fraction"
    decimals = 2 if fraction or not like.value or abs(like.value) >= 1 else 4
    return f"{value * (100 if fraction else 1):{sign}z,.{decimals}f}"


def _unit(like: MetricReport) -> str:
    return "pp" if like.unit == "fraction" else like.unit
