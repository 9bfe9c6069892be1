"""Comparisons of runs whose replies judges read."""

from collections.abc import Callable
from math import sqrt
from pathlib import Path

import pytest

from snellen import api
from snellen.core.benchmark import Benchmark
from snellen.core.model import Request
from snellen.errors import UsageError
from tests.test_scoring.test_judge import N, benchmark, opened, openly, plan, question_number


def run(out: Path, own: Benchmark, name: str, say: Callable[[Request], str] = openly) -> Path:
    model = opened(say, name)
    return api.run_plan(api.Plan(benchmarks=[own], models=[model], out=out))[0].run


def right(_: Request) -> str:
    return "A"


def vague(request: Request) -> str:
    return f"either {question_number(request)}"


def test_of_several_judges_the_mean_is_compared(tmp_path: Path) -> None:
    own = benchmark(tmp_path)
    a, b = run(tmp_path, own, "open"), run(tmp_path, own, "right", right)
    for judge in (opened(lambda _: "A", "kind"), opened(lambda _: "B", "strict")):
        api.judge_run(a, plan(judge), benchmark=own)
    (comparison,) = api.compare(a, b, benchmark=own).comparisons.comparisons
    difference = comparison.metrics["accuracy"]

    # By the kind judge all of a is right, by the strict one half: 0.75. A question differs by 0 or
    # a half, and by a quarter on average.
    assert (difference.a.value, difference.b.value) == (0.75, 1.0)
    assert difference.difference.value == pytest.approx(0.25)
    assert difference.difference.stderr == pytest.approx(0.25 / sqrt(N - 1), rel=2e-3)
    assert comparison.flips is None
    assert any("the mean over 2 judges" in note for note in comparison.notes)


def test_what_no_judge_has_read_is_left_out_and_said(tmp_path: Path) -> None:
    own = benchmark(tmp_path)
    a, b = run(tmp_path, own, "open"), run(tmp_path, own, "right", right)
    (comparison,) = api.compare(a, b, benchmark=own).comparisons.comparisons

    assert comparison.samples == N // 2
    assert [(left.why, left.n) for left in comparison.unpaired] == [("not judged in open", N // 2)]


def test_runs_that_no_judge_has_read_at_all_need_one_first(tmp_path: Path) -> None:
    own = benchmark(tmp_path)
    a, b = (run(tmp_path, own, name, vague) for name in ("one", "other"))
    with pytest.raises(UsageError, match=r"40 not judged in .*/one/.*\. Run a judge first"):
        api.compare(a, b, benchmark=own)
