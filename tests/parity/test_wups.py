"""NExT-QA's open questions: lemmas, WUPS, and its means against the code of the authors.

wups.json.gz and the small database in WordNet's format in tests/data/nltk_data are written by
scripts/draw_wups.py. They are read in a process of their own, because nltk keeps its data.
"""

import gzip
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nltk")

DATA = Path(__file__).parents[1] / "data/nltk_data"
CODE = """
import json, sys
from pathlib import Path

import snellen
from snellen import registry
from snellen.core.model import Reply

folder = Path(sys.argv[1])
benchmark = registry.benchmark("next-qa:task=open", data=folder)
scoring = benchmark.scorings["official"]
replies = json.loads((folder / "replies.json").read_text())
rows = []
for row in benchmark.data:
    sample = benchmark.read(row)
    reading = scoring.parse(Reply(text=replies[row["video"]]["0"]), sample)
    rows.append([reading.answer or "", scoring.score(reading, sample)])
result = snellen.score(folder / "replies.json", benchmark, scorings=["official"])
parts = {
    name: value.value
    for tag in ("group", "type")
    for name, value in result.by(tag, scoring="official").items()
}
json.dump([rows, result.report.scorings["official"].metrics["wups"].value, parts], sys.stdout)
"""
NAMES = {
    "WUPS": "wups", "WUPS_C": "causal", "WUPS_T": "temporal", "WUPS_D": "descriptive", "TPN": "TN",
}  # fmt: skip
"""Our names of the figures that the authors' script prints under other names."""


@cache
def drawn() -> Any:
    return json.loads(gzip.decompress(Path(__file__).with_name("wups.json.gz").read_bytes()))


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Our lemmas and scores, the mean, and the means of groups and types."""
    folder = tmp_path_factory.mktemp("next_qa")
    names = [f"v{number}" for number in range(len(drawn()["rows"]))]
    rows = dict(zip(names, drawn()["rows"], strict=True))
    lines = [f'{name},0,q,"{row["answer"]}",{row["type"]}' for name, row in rows.items()]
    (folder / "test.csv").write_text("\n".join(["video,qid,question,answer,type", *lines, ""]))
    also = {name: {"0": row["also"]} for name, row in rows.items() if row["also"] is not None}
    (folder / "add_reference_answer_test.json").write_text(json.dumps(also))
    replies = {name: {"0": row["reply"]} for name, row in rows.items()}
    (folder / "replies.json").write_text(json.dumps(replies))
    ended = subprocess.run(
        [sys.executable, "-c", CODE, str(folder)],
        env={**os.environ, "NLTK_DATA": str(DATA)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_lemmas_and_scores_are_those_of_the_authors_code(scored: Any) -> None:
    rows, _, _ = scored
    expected = drawn()["rows"]
    assert len(rows) == len(expected) == 720
    assert [lemmas for lemmas, _ in rows] == [row["lemmas"] for row in expected]
    assert [score for _, score in rows] == pytest.approx(
        [row["score"] for row in expected], abs=1e-9
    )
    assert len({row["score"] for row in expected}) > 30


def test_means_are_those_of_the_authors_script(scored: Any) -> None:
    _, mean, parts = scored
    for name, value in drawn()["printed"].items():
        ours = mean if name == "WUPS" else parts[NAMES.get(name, name)]
        assert 100 * ours == pytest.approx(value, abs=0.005 + 1e-9), name
