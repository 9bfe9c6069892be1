"""What a probe tells by itself: of questions asked blind, with permuted options, or without any."""

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
"""In a permuted sample's data: for each position, the number of the option there in the data
set."""
PASSES: Final = "passes"
"""In a permuted sample's data: how many passes the question has."""
LETTERED: Final = "right by letter"
"""In a permuted sample's data: whether the target is named by its letter, not by its text."""
OPTIONS = "options not shown"
"""In the data of a sample that is asked without its options."""
DRAWS = 2_000
"""Resamples behind the p value of places."""


class ProbeSection(Base):
    """The report of the benchmark's probe; none where nothing has a score."""

    def summarize(self, draft: Draft) -> Part:
        probe = draft.benchmark.provenance.probe
        if not probe or draft.source.run is None or not draft.parts["scorings"]:
            return NOTHING
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
    """A metric less what chance gives, which is known but for the draws that may stand behind
    it."""
    chance = None if baselines is None else baselines.chance
    if metric.value is None or chance is None:
        why = metric.reason or "what chance gives is not known: not every question has options"
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


# -- without options


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


# -- options in other places


@dataclass(frozen=True)
class _QuestionPasses:
    """All passes of a question that have a score: for each the order that it was shown in, the
    place that was picked (None: none of them), and the score; the place of the right option in the
    data, None where it is hidden."""

    cluster: int
    orders: list[Sequence[int]]
    picked: list[int | None]
    scores: list[float]
    right: int | None

    @property
    def meant(self) -> list[int | None]:
        """The options that were picked, by their place in the data."""
        return [
            None if position is None else order[position]
            for order, position in zip(self.orders, self.picked, strict=True)
        ]

    @cached_property
    def expected(self) -> list[float]:
        """How many picks each place would have if those of any pass could as well have been made in
        each other one; as many where a place has each option equally often."""
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
    """How many questions there are, and those of which all passes have a score."""
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
    """The place of the option that an answer names: by its letter or its text, whichever it is; of
    both, by what names the right one."""
    if not isinstance(answer, str):
        return None
    letters = ascii_uppercase[: len(sample.choices)]
    by_letter = letters.index(answer) if len(answer) == 1 and answer in letters else None
    by_text = sample.choices.index(answer) if answer in sample.choices else None
    if by_letter is None or by_text is None:
        return by_text if by_letter is None else by_letter
    return by_letter if sample.data[LETTERED] else by_text


def _position_report(number: int, questions: Sequence[_QuestionPasses]) -> PlaceReport:
    """How often what stands in a place was picked, and the accuracy where that is right."""
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
    """How likely picks so uneven over the places are, if the order has no part in what is picked.

    Then the options that a question's passes picked could as well have been picked in each other's
    passes: they are dealt out to these anew, by lot. What is counted is the sum over places, and
    numbers of options, of squared differences between picks and those that are `expected` so. None
    where nothing was picked.
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
        # The place of each option in each pass; of none, -1, the last one, a place of its own.
        where = np.full((*meant.shape, options + 1), options)
        orders = np.array([question.orders for question in alike])
        np.put_along_axis(where, orders, np.arange(options)[None, None, :], axis=2)
        # Where all passes picked the same it is the same however it is dealt.
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
    # What is as uneven but for rounding is as uneven; the observed picks are one of the deals.
    return float((1 + (again >= observed * (1 - 1e-12)).sum()) / (1 + DRAWS))


def _by_position(meant: NDArray[np.intp], where: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many options that were meant (q, passes) stood in each place: (options,)."""
    import numpy as np

    options = where.shape[2] - 1
    places = np.take_along_axis(where, meant[:, :, None] % (options + 1), axis=2)
    return np.bincount(places.ravel(), minlength=options + 1)[:options]
