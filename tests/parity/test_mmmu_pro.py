"""MMMU-Pro against the answers and verdicts that its authors stored in their output files."""

import gzip
import json
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest

from snellen.benchmarks.mmmu_pro import Mode, Setting
from snellen.core.scoring import Missing
from tests.golden_data import golden
from tests.parity.engine import score

SEEDS = range(1)


class File(NamedTuple):
    setting: Setting
    mode: Mode

    @property
    def spec(self) -> str:
        return f"mmmu-pro:setting={self.setting},mode={self.mode}"

    @property
    def name(self) -> str:
        setting = {"standard-10": "standard(10 options)"}.get(self.setting, self.setting)
        return f"gpt-4o_{setting}_{self.mode}.jsonl"

    @property
    def path(self) -> Path:
        return golden("mmmu_pro") / "outputs" / f"{self.name}.gz"


COT, VISION = File("standard-10", "cot"), File("vision", "direct")
FILES = (COT, VISION)


@cache
def expected(file: File) -> Mapping[str, Any]:
    figures_by_file: Mapping[str, Any] = json.loads(
        (golden("mmmu_pro") / "expected.json").read_bytes()
    )
    of_file: Mapping[str, Any] = figures_by_file[file.name]
    return of_file


@cache
def items(file: File) -> Mapping[str, list[Any]]:
    """By id: the scorer's answer and verdict, None where it draws, and those stored."""
    raw = (golden("mmmu_pro") / "expected_items.json.gz").read_bytes()
    verdicts: Mapping[str, list[Any]] = json.loads(gzip.decompress(raw))[file.name]
    return verdicts


@cache
def replies(file: File) -> Mapping[str, str]:
    lines = gzip.decompress(file.path.read_bytes()).decode().split("\n")
    rows = [json.loads(line) for line in lines if line]
    return {row["id"]: row["response"] for row in rows}


@cache
def drawn_as_stored(file: File) -> Mapping[str, str]:
    """The replies, but that those for which the authors drew a letter name the one they drew."""
    texts = dict(replies(file))
    for name, (answer, _, stored, _) in items(file).items():
        if answer is None:
            texts[name] = f"Answer: {stored}"
    return texts


def figures(
    file: File, texts: Mapping[str, str] | None = None, missing: Missing | None = None
) -> dict[str, tuple[float | None, int]]:
    """What `snellen.score` gives for the published file, or for these replies."""
    with TemporaryDirectory() as folder:
        path = file.path
        if texts is not None:
            path = Path(folder) / "replies.jsonl"
            rows = [json.dumps({"id": name, "response": reply}) for name, reply in texts.items()]
            path.write_text("\n".join(rows), encoding="utf-8")
        data = golden("mmmu_pro")
        result = score(path, file.spec, data, missing=missing, scorings=["official"])
    metrics = result.report.scorings["official"].metrics
    return {name: (metric.value, metric.n) for name, metric in metrics.items()}


def close(right: int, n: int) -> tuple[Any, int]:
    return pytest.approx(right / n, abs=1e-9), n


def test_to_lmms_eval_six_replies_in_vision_are_right() -> None:
    """0.35 per cent, by its code on the same replies."""
    data = golden("mmmu_pro")
    result = score(VISION.path, VISION.spec, data, scorings=["lmms-eval"])
    value = result.report.scorings["lmms-eval"].metrics["accuracy"].value
    assert value == pytest.approx(6 / 1730, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("file", FILES)
def test_replies_in_another_order_of_which_half_are_missing(file: File, seed: int) -> None:
    """Their script reads no such file; here what is missing is wrong, or left out."""
    texts = drawn_as_stored(file)
    order = random.Random(seed).sample(list(texts), 865)
    half = {name: texts[name] for name in order}
    right = sum(items(file)[name][3] for name in order)
    assert figures(file, half)["accuracy"] == close(right, 1730)
    assert figures(file, half, "excluded")["accuracy"] == close(right, 865)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tenth_of_another_runs_replies(seed: int) -> None:
    """The two files are of the same questions; each reply is right where it was."""
    order = random.Random(seed).sample(list(items(COT)), 1730)
    taken = set(order[:173])
    texts = {name: drawn_as_stored(VISION if name in taken else COT)[name] for name in order}
    right = sum(items(VISION if name in taken else COT)[name][3] for name in order)
    assert figures(COT, texts)["accuracy"] == close(right, 1730)
