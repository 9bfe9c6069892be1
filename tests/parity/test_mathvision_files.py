"""`snellen score` on the published files as they lie, and on files made of them, in every level and
subject."""

import gzip
import json
import random
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from snellen.scoring import Report
from tests.golden_data import FOLDER, golden
from tests.parity.engine import score
from tests.parity.packs.mathvision import models

MODELS = models(FOLDER / "mathvision")
Items = Mapping[str, tuple[str, int]]


@cache
def expected() -> dict[str, Any]:
    figures: dict[str, Any] = json.loads((golden("mathvision") / "expected.json").read_bytes())
    return figures


@cache
def items() -> dict[str, Items]:
    raw = gzip.decompress((golden("mathvision") / "expected_items.json.gz").read_bytes())
    verdicts: dict[str, Items] = json.loads(raw)
    return verdicts


@cache
def rows(model: str) -> list[dict[str, Any]]:
    raw = published(model).read_bytes()
    raw = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
    return [json.loads(line) for line in raw.decode().split("\n") if line]


@cache
def subjects() -> dict[str, tuple[str, str]]:
    """(level, subject) by id, from the authors' annotations."""
    raw = (golden("mathvision") / "annotations.jsonl").read_text()
    annotations = [json.loads(line) for line in raw.splitlines()]
    return {row["id"]: (f"level{row['level']}", row["subject"]) for row in annotations}


def published(model: str) -> Path:
    path = golden("mathvision") / "outputs" / str(expected()[model]["file"])
    return path if path.exists() else path.with_name(path.name + ".gz")


def metrics(report: Report) -> dict[str, tuple[float, int]]:
    """Values and n of the official scoring, by the authors' names of the categories."""
    reports = report.scorings["official"].metrics
    return {name: (metric.value or 0.0, metric.n) for name, metric in reports.items()}


def by_hand(verdicts: Mapping[str, int]) -> dict[str, tuple[float, int]]:
    """Each category's share of right answers, recomputed from single verdicts."""
    groups: dict[str, list[int]] = {}
    for name, verdict in verdicts.items():
        level, subject = subjects()[name]
        for key in ("", f"/{level}", f"/{subject}", f"/{subject}_{level}"):
            groups.setdefault(f"accuracy{key}", []).append(verdict)
    return {key: (sum(group) / len(group), len(group)) for key, group in groups.items()}


def same(ours: Mapping[str, tuple[float, int]], theirs: Mapping[str, tuple[float, int]]) -> None:
    assert set(ours) == set(theirs)
    for key, (value, n) in theirs.items():
        assert ours[key][1] == n, key
        assert ours[key][0] == pytest.approx(value, abs=1e-9), key


def names(scores: Mapping[str, Any]) -> dict[str, str]:
    """Our names of the authors' categories, of those that the report breaks down by."""
    categories = {"-all": "accuracy"}
    for key in scores:
        if key.startswith("-level") and "_" not in key:
            categories[key] = f"accuracy/{key[1:]}"
        elif not key.startswith(("-", "extra:")):
            categories[key] = f"accuracy/{key}"
    return categories


@pytest.mark.parametrize("model", MODELS[:1])
def test_the_command_gives_the_official_figures_of_the_file_as_published(model: str) -> None:
    command = [sys.executable, "-m", "snellen", "score", str(published(model))]
    command += ["-b", "mathvision", "--data", str(golden("mathvision")), "--json"]
    out = subprocess.run(command, capture_output=True, check=True)

    figures = json.loads(out.stdout)["scorings"]["official"]["metrics"]
    scores = expected()[model]["scores"]
    assert set(names(scores).values()) == set(figures)
    for key, name in names(scores).items():
        assert figures[name]["n"] == scores[key]["total"], key
        assert figures[name]["value"] == pytest.approx(scores[key]["percent"] / 100, abs=1e-9), key


def scored(tmp_path: Path, lines: list[dict[str, Any]]) -> dict[str, tuple[float, int]]:
    path = tmp_path / "made.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in lines))
    result = score(path, "mathvision", golden("mathvision"), scorings=["official"])
    return metrics(result.report)


@pytest.mark.parametrize("model", MODELS)
def test_shuffled_mixed_and_halved_files_score_what_their_single_verdicts_say(
    model: str, tmp_path: Path
) -> None:
    draw = random.Random(model)
    other = draw.choice([name for name in MODELS if name != model] or [model])
    mine = [{"id": row["id"], "response": row["response"]} for row in rows(model)]
    theirs = {row["id"]: row["response"] for row in rows(other)}
    verdicts = {name: verdict for name, (_, verdict) in items()[model].items()}

    shuffled = draw.sample(mine, len(mine))
    same(scored(tmp_path, shuffled), by_hand(verdicts))

    swapped = set(draw.sample(sorted(verdicts), len(verdicts) // 10))
    mixed = [
        {
            "id": row["id"],
            "response": theirs[row["id"]] if row["id"] in swapped else row["response"],
        }
        for row in mine
    ]
    mixed_verdicts = {
        name: items()[other][name][1] if name in swapped else verdict
        for name, verdict in verdicts.items()
    }
    same(scored(tmp_path, mixed), by_hand(mixed_verdicts))

    kept = set(draw.sample(sorted(verdicts), len(verdicts) // 2))
    halved = [row for row in mine if row["id"] in kept]
    same(
        scored(tmp_path, halved),
        by_hand({name: verdict for name, verdict in verdicts.items() if name in kept}),
    )


@pytest.mark.parametrize("model", MODELS[:1])
def test_every_line_counts_where_questions_repeat(model: str, tmp_path: Path) -> None:
    """evaluate.py and math_level_subject_acc go over lines, and never look for an id again."""
    mine = [{"id": row["id"], "response": row["response"]} for row in rows(model)]
    theirs = {row["id"]: row["response"] for row in rows(MODELS[-1])}
    repeated = random.Random(1).sample(mine, len(mine) // 6)
    lines = [*mine, *repeated, *({**row, "response": theirs[row["id"]]} for row in repeated)]
    figures = scored(tmp_path, lines)

    verdicts = [items()[model][row["id"]][1] for row in [*mine, *repeated]]
    verdicts += [items()[MODELS[-1]][row["id"]][1] for row in repeated]
    assert figures["accuracy"][1] == len(verdicts) == len(lines)
    assert figures["accuracy"][0] == pytest.approx(sum(verdicts) / len(verdicts), abs=1e-9)
