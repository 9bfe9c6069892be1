"""MMBench against what LLaVA-1.5-13B's published replies to its first release score, and the rules
against VLMEvalKit's own code."""

import csv
import json
import random
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from snellen.benchmarks.mmbench import mmbench
from snellen.scoring import Report, score_predictions
from tests.golden_data import golden

Upload = list[dict[str, str]]
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
PICTURE = "iVBORw0KGgo" + "A" * 93
COLUMNS = ("index", "question", "A", "B", "C", "D", "answer", "image", "split")
SEEDS = range(1)


@pytest.fixture(scope="module")
def upload() -> Upload:
    return uploaded()


def uploaded() -> Upload:
    """The rows of the file that was uploaded: question, choices, answer and prediction."""
    path = golden("mmbench") / "outputs" / "llava-v1.5-13b.xlsx"
    with zipfile.ZipFile(path) as book, book.open("xl/worksheets/sheet1.xml") as sheet:
        lines = [
            {cell.attrib["r"].rstrip("0123456789"): "".join(cell.itertext()) for cell in row}
            for row in ElementTree.parse(sheet).iter(f"{MAIN}row")
        ]
    header, *rows = lines
    return [{name: row.get(column, "") for column, name in header.items()} for row in rows]


def scored(upload: Upload, replies: Mapping[str, str], folder: Path) -> Report:
    """What our scoring makes of replies to these questions, as VLMEvalKit's sheet has them."""
    path = folder / "MMBench_DEV_EN.tsv"
    first: dict[int, str] = {}
    for row in sorted(upload, key=lambda row: int(row["index"])):
        first.setdefault(int(row["index"]) % 1_000_000, row["index"])
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", delimiter="\t")
        writer.writeheader()
        for row in upload:
            own = first[int(row["index"]) % 1_000_000]
            writer.writerow({**row, "image": PICTURE if own == row["index"] else own})
    benchmark = replace(mmbench(version="1.0", data=path), check=None)
    return score_predictions(benchmark, replies, where="upload")


def counted(right: Mapping[str, bool]) -> dict[str, tuple[float, int]]:
    """Circular, vanilla and row accuracy of these rows, from the README's rules alone."""
    groups: dict[int, list[int]] = {}
    for index in right:
        groups.setdefault(int(index) % 1_000_000, []).append(int(index))
    all_passes = [all(right[str(index)] for index in group) for group in groups.values()]
    first = [right[str(min(group))] for group in groups.values()]
    return {
        "circular": (sum(all_passes) / len(all_passes), len(all_passes)),
        "vanilla": (sum(first) / len(first), len(first)),
        "vanilla_all": (sum(right.values()) / len(right), len(right)),
    }


def figures(report: Report, scoring: str = "official") -> dict[str, tuple[Any, int]]:
    metrics = report.scorings[scoring].metrics
    return {name: (metrics[name].value, metrics[name].n) for name in metrics if "/" not in name}


def approximately(wanted: Mapping[str, tuple[float, int]]) -> dict[str, Any]:
    return {name: (pytest.approx(value, abs=1e-9), n) for name, (value, n) in wanted.items()}


def wanted() -> dict[str, tuple[float, int]]:
    """What VLMEvalKit's code gives for the upload: values and n by our names."""
    expected = json.loads((golden("mmbench") / "expected.json").read_bytes())["llava-v1.5-13b"]
    return {
        "circular": (expected["circular_acc"] / 100, expected["n_questions"]),
        "vanilla": (expected["vanilla_acc"] / 100, expected["n_questions"]),
        "vanilla_all": (expected["per_record_acc"] / 100, expected["n"]),
    }


@pytest.mark.parametrize("scoring", ["official", "vlmevalkit-2024", "robust"])
def test_every_published_figure_is_reproduced(upload: Upload, tmp_path: Path, scoring: str) -> None:
    report = scored(upload, {row["index"]: row["prediction"] for row in upload}, tmp_path)
    assert figures(report, scoring) == approximately(wanted())
    assert report.scorings[scoring].readings == {"answered": wanted()["vanilla_all"][1]}
    assert report.scorings[scoring].metrics["circular"].ci95 is not None


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_rows_and_replies_does_not_matter(
    upload: Upload, tmp_path: Path, seed: int
) -> None:
    rows = random.Random(seed).sample(upload, len(upload))
    replies = {row["index"]: row["prediction"] for row in rows}
    report = scored(rows, dict(sorted(replies.items())), tmp_path)
    right = {row["index"]: row["prediction"] == row["answer"] for row in rows}
    assert figures(report) == approximately(counted(right))


@pytest.mark.parametrize("seed", SEEDS)
def test_other_replies_in_a_tenth_of_the_rows_are_scored_by_themselves(
    upload: Upload, tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    replies = {row["index"]: row["prediction"] for row in upload}
    for row in draw.sample(upload, len(upload) // 10):
        replies[row["index"]] = draw.choice(["A", "(B)", "C.", "", "I do not know"])
    letters = {"(B)": "B", "C.": "C"}
    report = scored(upload, replies, tmp_path)
    answers = {index: letters.get(reply, reply) for index, reply in replies.items()}
    assert figures(report) == approximately(
        counted({row["index"]: answers[row["index"]] == row["answer"] for row in upload})
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_question_without_one_of_its_replies_is_wrong(
    upload: Upload, tmp_path: Path, seed: int
) -> None:
    kept = set(random.Random(seed).sample(range(len(upload)), len(upload) // 2))
    answered = [row for number, row in enumerate(upload) if number in kept]
    report = scored(upload, {row["index"]: row["prediction"] for row in answered}, tmp_path)
    right = {row["index"]: False for row in upload}
    right |= {row["index"]: row["prediction"] == row["answer"] for row in answered}
    assert figures(report) == approximately(counted(right))


@pytest.mark.parametrize("seed", SEEDS)
def test_half_of_the_questions_are_scored_as_a_set_of_their_own(
    upload: Upload, tmp_path: Path, seed: int
) -> None:
    questions = sorted({int(row["index"]) % 1_000_000 for row in upload})
    kept = set(random.Random(seed).sample(questions, len(questions) // 2))
    part = [row for row in upload if int(row["index"]) % 1_000_000 in kept]
    report = scored(part, {row["index"]: row["prediction"] for row in part}, tmp_path)
    right = {row["index"]: row["prediction"] == row["answer"] for row in part}
    assert figures(report) == approximately(counted(right))
