"""A metric where lower is better is the mirror of one where higher is: the direction changes ranks,
letters, bold cells, and who is better, and never a value."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from snellen import api, report
from snellen.analysis.comparing import Comparisons, verdict
from snellen.core.benchmark import Benchmark
from snellen.core.model import Request
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.metrics import Metric, mean
from tests import tiny
from tests.test_analysis.comparing.test_compare import with_metrics

N = 20
MODELS = ("one", "two", "three")
# Scores from few values, so that models tie; and a model is often better throughout.
SCORES = st.tuples(st.integers(0, 4), st.lists(st.integers(0, 4), min_size=N, max_size=N)).map(
    lambda drawn: [max(drawn[0], k) / 4 if drawn[0] % 2 else min(drawn[0], k) / 4 for k in drawn[1]]
)


def distances(better: Literal["higher", "lower"], *, mirrored: bool = False) -> Benchmark:
    """The score is the number that the reply states, or with `mirrored` 1 minus that number."""

    def score(reading: Reading, sample: Sample) -> float:
        value = float(str(reading.answer))
        return 1 - value if mirrored else value

    own = with_metrics(N, distance=Metric(mean, better=better))
    return replace(own, scorings={"official": replace(own.scorings["official"], score=score)})


def run_models(out: Path, scores: tuple[list[float], ...]) -> None:
    for name, values in zip(MODELS, scores, strict=True):

        def say(request: Request, values: list[float] = values) -> str:
            return str(values[int(request.messages[0].text.split()[-1])])

        tiny.run(out, tiny.Says(say, name), distances("lower"))


def compared(out: Path, benchmark: Benchmark) -> Comparisons:
    return api.compare(out, benchmark=benchmark).comparisons


def standing_of(document: Comparisons) -> dict[str, tuple[object, ...]]:
    (board,) = document.leaderboards
    return {
        standing.name: (standing.rank, standing.ranks, standing.group)
        for standing in board.standings
    }


def values_of(document: Comparisons) -> dict[str, tuple[object, ...]]:
    (board,) = document.leaderboards
    return {s.name: (s.value.value, s.value.ci95, s.value.n) for s in board.standings}


def differences_of(document: Comparisons) -> dict[tuple[str, str], tuple[object, ...]]:
    return {
        (pair.a, pair.b): (estimate.value, estimate.ci95, pair.metrics["distance"].p)
        for pair in document.comparisons
        for estimate in [pair.metrics["distance"].difference]
    }


def bold(document: Comparisons) -> set[str]:
    """The models whose value is bold in LaTeX."""
    return set(re.findall(r"^\s*(\w+) & \\textbf", report.compared_latex(document), re.MULTILINE))


@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(scores=st.tuples(SCORES, SCORES, SCORES))
@example(scores=([0.0] * N, [0.5] * N, [0.5] * (N - 1) + [1.0]))
def test_a_direction_mirrors_a_comparison_and_leaves_its_values(
    scores: tuple[list[float], ...],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        run_models(out, scores)
        lower = compared(out, distances("lower"))
        higher = compared(out, distances("higher"))
        mirror = compared(out, distances("higher", mirrored=True))

    means = {name: sum(values) / N for name, values in zip(MODELS, scores, strict=True)}
    # The values are those of the scores, whatever the direction.
    assert values_of(lower) == values_of(higher)
    assert {name: value[0] for name, value in values_of(lower).items()} == pytest.approx(means)
    assert differences_of(lower) == differences_of(higher)

    # Ranks follow the means by hand, from below and from above.
    for document, sign in ((lower, 1), (higher, -1)):
        ranks = {name: rank for name, (rank, _, _) in standing_of(document).items()}
        assert ranks == {
            name: 1 + sum(sign * (other - value) < -1e-12 for other in means.values())
            for name, value in means.items()
        }
        (board,) = document.leaderboards
        order = [sign * means[standing.name] for standing in board.standings]
        assert order == pytest.approx(sorted(order))

    # Everything that ranks is that of the mirrored scores, where higher is better.
    assert standing_of(lower) == standing_of(mirror)
    assert bold(lower) == bold(mirror)
    best = min(means, key=lambda name: means[name])
    assert not bold(lower) or best in bold(lower)
    if scores[0] == [0.0] * N and scores[1] == [0.5] * N:
        assert bold(lower) == {"one"} and bold(higher) == {"two", "three"}

    for pair in lower.comparisons:
        words, other = verdict(pair), verdict(next(p for p in higher.comparisons if p.a == pair.a
                                                   and p.b == pair.b))  # fmt: skip
        assert words.replace("; lower is better", "") == other.replace("; higher is better", "")
        assert ("; lower is better" in words) and ("; lower is better" not in other)
