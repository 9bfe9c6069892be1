"""Reports the results of a probe, which asks questions blind, with permuted choices, or without
choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_uppercase
from typing import TYPE_CHECKING, Final

from snellen import stats
from snellen.core.sample import Sample
from snellen.scoring.document import (
    Baselines,
    MetricReport,
    PlaceReport,
    ProbeReport,
    metric_report,
)
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.sections._base import Base
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ORDER: Final = "option order"
"""A key in the data of a sample with permuted choices. The value lists, for each position, the
index in the data set of the choice that is shown at this position."""
PASSES: Final = "passes"
"""A key in the data of a sample with permuted choices. The value is the number of passes in which
the question is asked."""
LETTERED: Final = "right by letter"
"""A key in the data of a sample with permuted choices. The value is true if the target is a letter,
and false if the target is the text of a choice."""
OPTIONS = "options not shown"
"""A key in the data of a sample that is asked without choices. The value lists the choices."""
DRAWS = 2_000
"""The number of resamples for the p value of the permutation test."""


class ProbeSection(Base):
    """Reports the result of the benchmark's probe, if at least one scoring is reported."""

    def summarize(self, draft: Draft) -> Part:
        probe = draft.benchmark.provenance.probe
        if not probe or draft.source.run is None or not draft.parts["scorings"]:
            return NOTHING
        if "oracle_crop" in probe:
            return NOTHING  # the scores are the result; comparisons show what the crop changes
        if "blind" in probe:
            report = _blind(draft)
        elif "open_ended" in probe:
            report = _open_ended(draft)
        else:
            report = _permuted(draft)
        return {"probe": report}, ()


# -- blind


def _blind(draft: Draft) -> ProbeReport:
    headline = draft.scorer.headline
    name, metric = next(iter(draft.parts["scorings"][headline].metrics.items()))
    rows = draft.table.headline_rows()
    scores = [row.score for row in rows if row.score is not None]
    leakage = _less_chance(metric, draft.parts.get("baselines"))
    return ProbeReport(
        probe=dict(draft.benchmark.provenance.probe),
        metrics={f"leakage of {name}": leakage},
        counts={"right": sum(score == draft.best for score in scores), "scored": len(scores)},
    )


def _less_chance(metric: MetricReport, baselines: Baselines | None) -> MetricReport:
    """Subtract the chance level from a metric. The interval treats the chance level as exact, even
    if the chance level is a mean of random draws."""
    chance = None if baselines is None else baselines.chance
    if metric.value is None or chance is None:
        why = metric.reason or "the chance level is unknown: not every question has choices"
        return metric_report(Estimate(value=None, n=metric.n, unit=metric.unit, reason=why))
    draws = None if baselines is None else baselines.draws
    reason = f"chance is the mean of {draws} draws" if draws else None
    interval = metric.ci95 and (metric.ci95[0] - chance, metric.ci95[1] - chance)
    return MetricReport(
        value=metric.value - chance,
        unit=metric.unit,
        n=metric.n,
        stderr=metric.stderr,
        ci95=interval,
        reason=metric.reason or reason,
    )


# -- without choices


def _open_ended(draft: Draft) -> ProbeReport:
    import numpy as np

    wrong, none, clusters = [], [], []
    rows = [*draft.table.headline_rows()]
    for row, scored in draft.samples():
        cluster, answer, score = rows[row]
        if score is not None:
            options = scored.sample.data[OPTIONS]
            assert isinstance(options, list)
            wrong.append(float(score == 0 and answer in options))
            none.append(float(score == 0 and answer not in options))
            clusters.append(cluster)
    of = np.array(clusters, dtype=np.int32)
    return ProbeReport(
        probe=dict(draft.benchmark.provenance.probe),
        metrics={
            "another option": metric_report(stats.mean(np.array(wrong), of)),
            "none of the options": metric_report(stats.mean(np.array(none), of)),
        },
    )


# -- permuted choices


@dataclass(frozen=True)
class _QuestionPasses:
    """All passes of one question that have a score."""

    cluster: int
    orders: list[Sequence[int]]
    """For each pass, the order in which the choices were shown."""
    picked: list[int | None]
    """For each pass, the position that was picked; None if no choice was picked."""
    scores: list[float]
    """For each pass, the score."""
    right: int | None
    """The position of the right choice in the data set; None if the answer is hidden."""

    @property
    def meant(self) -> list[int | None]:
        """For each pass, the position in the data set of the choice that was picked; None if no
        choice was picked."""
        return [
            None if position is None else order[position]
            for order, position in zip(self.orders, self.picked, strict=True)
        ]

    @cached_property
    def expected(self) -> list[float]:
        """The expected number of picks at each position if the order of the choices does not
        matter. The number is the same for all positions if each choice appears equally often at
        each position."""
        picks = Counter(self.meant)
        return [
            sum(picks[order[position]] for order in self.orders) / len(self.orders)
            for position in range(len(self.orders[0]))
        ]


def _permuted(draft: Draft) -> ProbeReport:
    import numpy as np

    best = draft.best
    every, complete = _questions(draft)
    clusters = np.array([question.cluster for question in complete], dtype=np.int32)

    def share(is_so: Callable[[_QuestionPasses], bool]) -> MetricReport:
        values = np.array([float(is_so(question)) for question in complete])
        return metric_report(stats.mean(values, clusters))

    places = max((len(question.orders[0]) for question in complete), default=0)
    return ProbeReport(
        probe=dict(draft.benchmark.provenance.probe),
        metrics={
            "consistency": share(
                lambda question: None not in question.meant and len({*question.meant}) == 1
            ),
            "circular": share(lambda question: all(score == best for score in question.scores)),
        },
        counts={"questions": every, "complete": len(complete)},
        places=[_position_report(number, complete) for number in range(places)],
        p=_uneven(complete),
    )


def _questions(draft: Draft) -> tuple[int, list[_QuestionPasses]]:
    """Return the total number of questions, and the passes of the questions in which every pass has
    a score."""
    by_name: dict[tuple[str, int], _QuestionPasses] = {}
    passes: dict[tuple[str, int], object] = {}
    rows = [*draft.table.headline_rows()]
    for row, scored in draft.samples():
        sample = scored.sample
        cluster, answer, score = rows[row]
        name = sample.id.rpartition("#")[0], scored.repeat
        passes[name] = sample.data[PASSES]
        if score is None:
            continue
        order = sample.data[ORDER]
        assert isinstance(order, list)
        right = None if sample.target is None else _position_of(sample.target, sample)
        question = by_name.setdefault(
            name, _QuestionPasses(cluster, [], [], [], None if right is None else order[right])
        )
        question.orders.append(order)
        question.picked.append(_position_of(answer, sample))
        question.scores.append(score)
    return len(passes), [
        question for name, question in by_name.items() if len(question.orders) == passes[name]
    ]


def _position_of(answer: object, sample: Sample) -> int | None:
    """The position of the choice that an answer names by letter or by text. If the answer matches
    one choice's letter and another choice's text, the answer is interpreted in the same way as the
    target."""
    if not isinstance(answer, str):
        return None
    letters = ascii_uppercase[: len(sample.choices)]
    by_letter = letters.index(answer) if len(answer) == 1 and answer in letters else None
    by_text = sample.choices.index(answer) if answer in sample.choices else None
    if by_letter is None or by_text is None:
        return by_text if by_letter is None else by_letter
    return by_letter if sample.data[LETTERED] else by_text


def _position_report(number: int, questions: Sequence[_QuestionPasses]) -> PlaceReport:
    """How often the choice at a position was picked, and the accuracy on questions for which this
    choice is right."""
    import numpy as np

    having = [question for question in questions if len(question.orders[0]) > number]
    picks = [
        (question.cluster, float(position == number))
        for question in having
        for position in question.picked
    ]
    right = [
        (question.cluster, score)
        for question in having
        for order, score in zip(question.orders, question.scores, strict=True)
        if order[number] == question.right
    ]

    def mean(rows: Sequence[tuple[int, float]]) -> MetricReport:
        clusters = np.array([cluster for cluster, _ in rows], dtype=np.int32)
        return metric_report(stats.mean(np.array([value for _, value in rows]), clusters))

    n = sum(len(question.orders) for question in having)
    return PlaceReport(
        place=ascii_uppercase[number] if number < len(ascii_uppercase) else str(number + 1),
        picked=mean(picks),
        expected=sum(question.expected[number] for question in having) / n,
        accuracy=mean(right),
    )


def _uneven(questions: Sequence[_QuestionPasses]) -> float | None:
    """The p value of a permutation test: the probability that picks are at least this uneven across
    positions if the order of the choices makes no difference.

    Each draw randomly reassigns the choices that were picked for a question to the question's
    passes. The statistic is the sum of squared differences between the numbers of picks and the
    `expected` numbers, over all positions. Picks are counted separately for each combination of
    number of choices and number of passes. The result is None if no choice was picked.
    """
    import numpy as np

    shapes: dict[tuple[int, int], list[_QuestionPasses]] = {}
    for question in questions:
        shapes.setdefault((len(question.orders), len(question.orders[0])), []).append(question)
    observed = 0.0
    again = np.zeros(DRAWS)
    draw = np.random.default_rng(0)
    picks = 0
    for (_, options), alike in sorted(shapes.items(), key=lambda shape: shape[0]):
        meant = np.array(
            [[-1 if option is None else option for option in question.meant] for question in alike]
        )
        picks += int((meant >= 0).sum())
        # The position of each choice in each pass. "No choice" (-1) gets an extra position, the
        # last one.
        where = np.full((*meant.shape, options + 1), options)
        orders = np.array([question.orders for question in alike])
        np.put_along_axis(where, orders, np.arange(options)[None, None, :], axis=2)
        # If all passes of a question picked the same choice, shuffling changes nothing.
        varied = (meant != meant[:, :1]).any(axis=1)
        expected = np.sum([question.expected for question in alike], axis=0)
        rest = _by_position(meant[~varied], where[~varied]) - expected
        meant, where = meant[varied], where[varied]
        observed += float(((_by_position(meant, where) + rest) ** 2).sum())
        again += [
            ((_by_position(draw.permuted(meant, axis=1), where) + rest) ** 2).sum()
            for _ in range(DRAWS)
        ]
    if not picks:
        return None
    # Draws that are as uneven as the observed picks, except for rounding, count. The observed picks
    # count as one of the draws.
    return float((1 + (again >= observed * (1 - 1e-12)).sum()) / (1 + DRAWS))


def _by_position(meant: NDArray[np.intp], where: NDArray[np.intp]) -> NDArray[np.intp]:
    """The number of picks at each position, as an array (choices,). `meant` (q, passes) contains
    the picked choices. `where` (q, passes, choices + 1) contains the position of each choice in
    each pass."""
    import numpy as np

    options = where.shape[2] - 1
    places = np.take_along_axis(where, meant[:, :, None] % (options + 1), axis=2)
    return np.bincount(places.ravel(), minlength=options + 1)[:options]
