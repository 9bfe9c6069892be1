"""VCR-wiki against the authors' find_best_match on generated English pairs.

It was run with spaCy 3.8's blank English tokenizer, which our rules stand for.
"""

import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from snellen.analysis.result import Result
from snellen.benchmarks.vcr_wiki import ENGLISH, best_run, of_sets
from tests.golden_data import golden
from tests.parity.engine import score

PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEANl9ngAAAAABJRU5ErkJggg=="
)
METRICS = ("exact_match", "jaccard", "precision", "recall", "f1")
SEEDS = range(1)


@cache
def pairs() -> list[dict[str, Any]]:
    path = golden("vcr") / "differential.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def data(folder: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """A TSV as VLMEvalKit publishes it, a picture for each pair."""
    path = folder / "VCR-wiki-en-easy-test.tsv"
    lines = ["index\timage\tquestion\tanswer"]
    for number, row in enumerate(rows):
        cell = repr([row["answer"]]).replace('"', '""')
        lines.append(f'{number}\t{PICTURE}\twhat?\t"{cell}"')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def results(folder: Path, replies: Mapping[str, object]) -> Path:
    path = folder / "results.json"
    path.write_text(
        json.dumps({name: {"res_stacked_image": reply} for name, reply in replies.items()})
    )
    return path


def ours(replies: Path, rows: Path) -> dict[str, float | None]:
    report: Result = score(replies, "vcr-wiki", rows)
    return {name: report.report.scorings["official"].metrics[name].value for name in METRICS}


def official(rows: Sequence[Mapping[str, Any]], metric: str) -> float:
    """The mean over the covered texts, of what the authors' code gave for each."""
    total: float = sum(row["official"][metric] for row in rows)
    return total / len(rows)


def test_every_pair_has_the_authors_run_of_tokens_and_all_their_figures() -> None:
    differences = []
    for pair in pairs():
        wanted = pair["official"]
        text = pair["prediction"].split("Assistant: ")[-1]
        run, alike = best_run(pair["answer"], ENGLISH.tokens(text), ENGLISH)
        covered, tokens = ENGLISH.tokens(pair["answer"]), ENGLISH.parts(run) if run else []
        common = len({*covered} & {*tokens})
        precision = common / len({*tokens}) if tokens else 0.0
        recall = common / len({*covered})
        figures_by_name = {
            "max_sim_string": run,
            "max_sim_val": alike,
            "precision": precision,
            "recall": recall,
            "f1": 2 * precision * recall / (precision + recall) if common else 0.0,
            "jaccard": of_sets(tokens, covered) if tokens else 0.0,
            "exact_match": float(run == ENGLISH.run(pair["answer"])),
        }
        if any(figures_by_name[name] != wanted[name] for name in figures_by_name):
            differences.append((pair["id"], figures_by_name, wanted))
    assert differences == []


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_in_another_order_score_the_same(tmp_path: Path, seed: int) -> None:
    rows = random.Random(seed).sample(pairs(), len(pairs()))
    names = random.Random(seed).sample(range(len(rows)), len(rows))
    replies = {str(number): rows[number]["prediction"] for number in names}
    figures_by_name = ours(results(tmp_path, replies), data(tmp_path, rows))
    for metric in METRICS:
        assert figures_by_name[metric] == pytest.approx(official(pairs(), metric), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_pictures_without_a_reply_are_in_no_mean(tmp_path: Path, seed: int) -> None:
    """Half of the file: the authors leave out what has no reply for what was shown."""
    rows = pairs()
    kept = set(random.Random(seed).sample(range(len(rows)), len(rows) // 2))
    replies = {
        str(number): row["prediction"] if number in kept else None
        for number, row in enumerate(rows)
    }
    figures_by_name = ours(results(tmp_path, replies), data(tmp_path, rows))
    for metric in METRICS:
        part = [rows[number] for number in kept]
        assert figures_by_name[metric] == pytest.approx(official(part, metric), abs=1e-9)


def test_several_covered_texts_of_one_picture_count_each(tmp_path: Path) -> None:
    """One to three covered texts a picture: the mean is over the texts, not the pictures."""
    rows = [row for row in pairs() if row["prediction"]][:30]
    path = tmp_path / "VCR-wiki-en-easy-test.tsv"
    lines = ["index\timage\tquestion\tanswer"]
    for number, pair in enumerate(rows):
        covered = [pair["answer"], *(row["answer"] for row in rows[: number % 3])]
        cell = repr(covered).replace('"', '""')
        lines.append(f'{number}\t{PICTURE}\twhat?\t"{cell}"')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    replies = {str(number): row["prediction"] for number, row in enumerate(rows)}
    figures_by_name = ours(results(tmp_path, replies), path)
    exact, overlaps = [], []
    for number, pair in enumerate(rows):
        text = pair["prediction"].split("Assistant: ")[-1]
        for covered in [pair["answer"], *(row["answer"] for row in rows[: number % 3])]:
            run, _ = best_run(covered, ENGLISH.tokens(text), ENGLISH)
            exact.append(run == ENGLISH.run(covered))
            overlaps.append(of_sets(ENGLISH.parts(run), ENGLISH.tokens(covered)) if run else 0.0)
    assert len(exact) > len(rows)
    assert figures_by_name["exact_match"] == pytest.approx(sum(exact) / len(exact), abs=1e-9)
    assert figures_by_name["jaccard"] == pytest.approx(sum(overlaps) / len(overlaps), abs=1e-9)
