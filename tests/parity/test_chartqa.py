"""ChartQA against the scorers that published figures used, on made pairs."""

import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.golden_data import golden
from tests.parity.engine import score

COLUMNS = {"official": "pix2struct_relaxed", "vlmevalkit": "vlmevalkit_relaxed"}


@cache
def pairs() -> Sequence[Mapping[str, Any]]:
    lines = (golden("chartqa") / "differential.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def halves(every: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Mapping[str, Any]]]:
    return {"human": every[: len(every) // 2], "augmented": every[len(every) // 2 :]}


def scored(every: Sequence[Mapping[str, Any]], replies: Mapping[int, str]) -> dict[str, Any]:
    """What `snellen.score` gives for replies by the pairs' ids, in the authors' files."""
    with TemporaryDirectory() as folder:
        sent = []
        for kind, some in halves(every).items():
            rows = [{"imgname": "a.png", "query": "?", "label": pair["answer"]} for pair in some]
            text = json.dumps(rows)
            (Path(folder) / f"test_{kind}.json").write_text(text, encoding="utf-8")
            sent += [
                {"id": f"{kind}-{index}", "prediction": replies[pair["id"]]}
                for index, pair in enumerate(some)
                if pair["id"] in replies
            ]
        path = Path(folder) / "replies.jsonl"
        path.write_text("\n".join(map(json.dumps, sent)), encoding="utf-8")
        scorings = score(path, "chartqa", Path(folder)).report.scorings
    return {
        name: {
            metric: metric_report.value for metric, metric_report in scorings[name].metrics.items()
        }
        for name in COLUMNS
    }


def stored_replies() -> dict[int, str]:
    return {pair["id"]: pair["prediction"] for pair in pairs()}


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


@pytest.mark.parametrize("seed", range(1))
def test_rows_in_another_order_with_half_of_the_replies(seed: int) -> None:
    draw = random.Random(seed)
    order = draw.sample(pairs(), len(pairs()))
    kept = {pair["id"] for pair in draw.sample(order, len(order) // 2)}
    figures = scored(
        order, {name: reply for name, reply in stored_replies().items() if name in kept}
    )
    for scoring, column in COLUMNS.items():
        for kind, some in halves(order).items():
            # Of the questions that there are; one without a reply is wrong.
            official = mean([pair[column] and pair["id"] in kept for pair in some])
            ours = figures[scoring][f"relaxed_accuracy/{kind}"]
            assert ours == pytest.approx(official, abs=1e-9), (scoring, kind)


@pytest.mark.parametrize("seed", range(1))
def test_replies_to_other_questions_score_as_the_formula_written_out_says(seed: int) -> None:
    others = random.Random(seed).sample(list(stored_replies().values()), len(pairs()))
    replies = {pair["id"]: other for pair, other in zip(pairs(), others, strict=True)}
    figures = scored(pairs(), replies)
    official = mean([written_out(replies[pair["id"]], pair["answer"]) for pair in pairs()])
    assert figures["official"]["relaxed_accuracy"] == pytest.approx(official, abs=1e-9)


def written_out(reply: str, target: str) -> bool:
    ours, theirs = value(reply), value(target)
    if ours is None or theirs is None or theirs == 0:
        return reply.lower() == target.lower()
    return abs(ours - theirs) / abs(theirs) <= 0.05


def value(text: str) -> float | None:
    hundredth = text.endswith("%")
    try:
        return float(text.rstrip("%") if hundredth else text) / (100 if hundredth else 1)
    except ValueError:
        return None
