"""Results and comparisons made by hand, for the formats."""

from typing import Any

from snellen.analysis.comparing import (
    Comparison,
    Comparisons,
    Flips,
    Leaderboard,
    MetricDifference,
    Side,
    Standing,
    Unpaired,
)
from snellen.analysis.result import Result
from snellen.scoring import Baselines, MetricReport, Report, ScoringReport

HOSTILE = '"><script>alert(1)</script>\u202e\x1b[31m\ud800{{7*7}}'
"""A tag and an attribute's end, a mark that turns the direction, an escape, half a character, and
what a template would work out."""


def metric(value: float | None, n: int = 200, unit: str = "fraction", **more: Any) -> MetricReport:
    return MetricReport(value=value, unit=unit, n=n, **{"stderr": None, "ci95": None, **more})


def result(model: str = "openai/m", benchmark: str = "mine", **changes: Any) -> Result:
    """Two scorings, two categories of a tag, and a ladder of three levels."""
    official = {
        "accuracy": metric(0.5, ci95=(0.25, 0.75)),
        "acuity": metric(6.0, unit="pixels", ci95=(4.0, 12.0)),
        "accuracy/art": metric(0.4, n=100, ci95=(0.3, 0.5)),
        "accuracy/law": metric(0.6, n=100, ci95=(0.5, 0.7)),
        "accuracy/004 pixels": metric(0.0, n=5),
        "accuracy/008 pixels": metric(0.5, n=5),
        "accuracy/016 pixels": metric(1.0, n=5),
    }
    robust = {"accuracy": metric(0.55, ci95=(0.3, 0.8)), "accuracy/art": metric(0.5, n=100)}
    readings = {"answered": 190, "unparsed": 7, "no-reply": 3}
    document = Report(
        **{
            "format": 0,
            "benchmark": benchmark,
            "model": model,
            "n": 200,
            "headline": "official",
            "replies": {"ok": 190, "refused": 7, "failed": 3},
            "scorings": {
                "official": ScoringReport(
                    version=2, source="theirs", metrics=official, readings=readings
                ),
                "robust": ScoringReport(
                    version=1, source="ours", metrics=robust, readings={"answered": 200}
                ),
            },
            "breakdown": {
                "subject": ["art", "law"],
                "letters": ["004 pixels", "008 pixels", "016 pixels"],
            },
            "disagreements": [],
            "notes": ["incomplete: 3 of 200 have no reply", "asked on a Sunday"],
            "identity": {"benchmark": benchmark, "model": model, "generation": {"seed": 7}},
            "incomplete": True,
            "baselines": Baselines(chance=0.25, constant=0.3, answer="B"),
            "ladders": {"letters": "acuity"},
            **changes,
        }
    )
    return Result(document)


def difference(a: float, b: float, low: float, high: float, p: float | None) -> MetricDifference:
    return MetricDifference(
        a=metric(a),
        b=metric(b),
        difference=metric(b - a, ci95=(low, high)),
        method="paired t by cluster",
        p=p,
        adjusted=p,
        detectable=0.04,
    )


def comparisons(names: tuple[str, str, str] = ("one", "two", "three")) -> Comparisons:
    """Three sides of one benchmark: one and two share a letter, two and three do."""
    first, second, _ = names
    pair = Comparison(
        benchmark="mine",
        scoring="official",
        a=first,
        b=second,
        samples=200,
        clusters=150,
        unpaired=[Unpaired(why="failed in two", n=3, examples=["7", "31"])],
        settings=["media.frames: uniform:64 against fps:1"],
        metrics={"accuracy": difference(0.6, 0.55, -0.1, 0.0, 0.05)},
        breakdown={"subject": {"art": difference(0.5, 0.4, -0.2, -0.01, 0.03)}},
        flips=Flips(
            both=100, only_a=20, only_b=10, neither=70, examples_a=["1"], examples_b=[], p=0.1
        ),
        notes=["asked on other days"],
        direction="higher",
    )
    standings = [
        Standing(
            name=name,
            value=metric(value, ci95=(value - 0.05, value + 0.05)),
            rank=rank,
            ranks=(max(rank - 1, 1), rank),
            group=group,
        )
        for rank, (name, value, group) in enumerate(
            zip(names, (0.6, 0.55, 0.4), ("a", "ab", "b"), strict=True), start=1
        )
    ]
    board = Leaderboard(
        benchmark="mine",
        scoring="official",
        metric="accuracy",
        samples=200,
        clusters=150,
        standings=standings,
        direction="higher",
    )
    sides = [
        Side(
            name=name,
            benchmark="mine",
            model=name,
            where=f"runs/{name}",
            n=200,
            replies={"ok": 197, "failed": 3},
            identity={},
        )
        for name in names
    ]
    return Comparisons(
        format=0, sides=sides, comparisons=[pair], leaderboards=[board], tests=3, notes=["a note"]
    )
