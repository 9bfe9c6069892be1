"""The exit codes of checks follow the better direction of a metric; its value does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_cli.conftest import Snellen

BENCHMARK = """
from typing import Literal
from snellen.core import Benchmark, Reading, Scoring
from snellen.core.sample import Sample
from snellen.data import Drawn
from snellen.media.content import user
from snellen.metrics import Metric, mean


def mine(better: Literal["lower", "higher"] = "lower") -> Benchmark:
    return Benchmark(
        name="mine", asks=1,
        data=Drawn("mine", lambda: ({"id": f"s{n}"} for n in range(20))),
        sample=lambda _, row: Sample(id=row["id"], question=row["id"], target="x"),
        prompt=lambda sample, _: (user(sample.question),),
        scorings={"official": Scoring(
            version=1, source="ours",
            parse=lambda reply, _: Reading(answer=float(reply.text), rule="number"),
            score=lambda reading, _: reading.answer,
            metrics={"distance": Metric(mean, better=better)},
        )},
    )
"""
MODEL = """
def near(messages):
    return "0.25"


def far(messages):
    return "0.75"
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(BENCHMARK)
    Path("model.py").write_text(MODEL)


# The value is 0.25 in both directions. An option that does not fit the direction is wrong use.
@pytest.mark.parametrize(
    ("better", "option", "limit", "code"),
    [
        ("lower", "--fail-over", 0.3, 0),
        ("lower", "--fail-over", 0.25, 0),
        ("lower", "--fail-over", 0.2, 1),
        ("lower", "--fail-under", 0.2, 2),
        ("higher", "--fail-under", 0.2, 0),
        ("higher", "--fail-under", 0.25, 0),
        ("higher", "--fail-under", 0.3, 1),
        ("higher", "--fail-over", 0.3, 2),
    ],
)
def test_a_gate_fits_the_direction(
    snellen: Snellen, files: None, better: str, option: str, limit: float, code: int
) -> None:
    ask = ("run", "-b", f"mine.py:mine:better={better}", "-m", "python:model.py:near")
    assert snellen(*ask, option, f"distance={limit}").code == code


@pytest.mark.parametrize(
    ("better", "baseline", "code"),
    [("lower", "near", 1), ("lower", "far", 0), ("higher", "near", 0), ("higher", "far", 1)],
)
def test_a_side_is_worse_in_the_direction_of_its_metric(
    snellen: Snellen, files: None, better: str, baseline: str, code: int
) -> None:
    spec = f"mine.py:mine:better={better}"
    other = "far" if baseline == "near" else "near"
    for name in (baseline, other):
        ask = ("run", "-b", spec, "-m", f"python:model.py:{name}", "--out", name)
        assert snellen(*ask).code == 0
    done = snellen("compare", baseline, other, "-b", "mine.py:mine", "--fail-if-worse", "0.1")
    assert done.code == code
