"""A-OKVQA against its authors' script, on made questions and replies in both settings."""

import gzip
import json
import random
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from snellen.benchmarks.a_okvqa import Setting
from tests.golden_data import golden
from tests.parity.engine import score

SETTINGS: tuple[Setting, Setting] = ("da", "mc")
FIELDS = {"da": "direct_answer", "mc": "multiple_choice"}


@cache
def pairs() -> Sequence[Mapping[str, Any]]:
    lines = (golden("aokvqa") / "differential.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def questions(of: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows as the authors publish them."""
    fields = ("question_id", "choices", "correct_choice_idx", "direct_answers")
    return [
        {"image_id": 1, "question": "?", "split": "val", **{key: pair[key] for key in fields}}
        | {"difficult_direct_answer": pair["difficult_direct_answer"]}
        for pair in of
    ]


def replies_to(setting: Setting) -> dict[str, str]:
    """The replies by question; some have none."""
    replies = {pair["question_id"]: pair[f"prediction_{setting}"] for pair in pairs()}
    return {name: reply for name, reply in replies.items() if reply is not None}


def scored(
    setting: Setting,
    replies: Mapping[str, str],
    of: Sequence[Mapping[str, Any]] = (),
    *,
    scoring: str = "official",
    packed: bool = False,
) -> tuple[float | None, int]:
    """What `snellen.score` gives for a file of predictions as the authors' script takes it."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        rows = json.dumps(questions(of or pairs()))
        (folder / "aokvqa_v1p0_val.json").write_text(rows, encoding="utf-8")
        sent = json.dumps({name: {FIELDS[setting]: reply} for name, reply in replies.items()})
        path = folder / ("predictions_val.json.gz" if packed else "predictions_val.json")
        path.write_bytes(gzip.compress(sent.encode()) if packed else sent.encode())
        result = score(path, f"a-okvqa:setting={setting}", folder)
    metric = result.report.scorings[scoring].metrics["accuracy"]
    return metric.value, metric.n


def official(setting: Setting, kept: Collection[str] | None = None) -> tuple[Any, int]:
    """The mean of the authors' verdicts, which are null where they leave a question out; those
    without a reply have nothing."""
    verdicts = {
        pair["question_id"]: pair[f"official_{setting}"]
        for pair in pairs()
        if pair[f"official_{setting}"] is not None
    }
    right = sum(score for name, score in verdicts.items() if kept is None or name in kept)
    return pytest.approx(right / len(verdicts), abs=1e-9), len(verdicts)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("seed", range(1))
def test_rows_in_another_order_with_half_of_the_replies(setting: Setting, seed: int) -> None:
    draw = random.Random(seed)
    order = draw.sample(pairs(), len(pairs()))
    kept = {pair["question_id"] for pair in draw.sample(order, len(order) // 2)}
    replies = {name: reply for name, reply in replies_to(setting).items() if name in kept}
    assert scored(setting, replies, order) == official(setting, kept)


@pytest.mark.parametrize("seed", range(1))
def test_replies_to_other_questions_score_as_the_formulas_written_out_say(seed: int) -> None:
    draw = random.Random(seed)
    names = [pair["question_id"] for pair in pairs()]
    matched = [[answer, *pair["choices"]] for pair in pairs() for answer in pair["direct_answers"]]
    replies = {name: draw.choice(draw.choice(matched)) for name in names}
    replies |= {
        pair["question_id"]: draw.choice(pair["direct_answers"] + pair["choices"])
        for pair in draw.sample(pairs(), len(pairs()) // 2)
    }
    da, easy, mc = [], [], []
    for pair in pairs():
        reply = replies[pair["question_id"]]
        da.append(min(1.0, sum(reply == answer for answer in pair["direct_answers"]) / 3))
        if not pair["difficult_direct_answer"]:
            easy.append(da[-1])
        mc.append(reply == pair["choices"][pair["correct_choice_idx"]])
    assert scored("da", replies)[0] == pytest.approx(sum(easy) / len(easy), abs=1e-9)
    assert scored("da", replies, scoring="lavis")[0] == pytest.approx(sum(da) / len(da), abs=1e-9)
    assert scored("mc", replies)[0] == pytest.approx(sum(mc) / len(mc), abs=1e-9)


def test_a_packed_file_scores_as_it_is() -> None:
    assert scored("mc", replies_to("mc"), packed=True) == official("mc")
