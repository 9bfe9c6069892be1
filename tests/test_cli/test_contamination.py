"""snellen contamination, as it is typed."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.scenes import jpeg, scene
from tests.test_cli.conftest import Snellen

N = 40
CONTAMINATED_RIGHT, CLEAN_RIGHT = 15, 5


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """40 questions with two choices. `A` is right for 15 of the first 20 and 5 of the others."""
    lines = []
    for number in range(N):
        right = number < CONTAMINATED_RIGHT or number >= N - CLEAN_RIGHT
        (tmp_path / f"{number}.jpg").write_bytes(jpeg(scene(number, (160, 120))))
        lines.append(
            {
                "id": f"q{number}",
                "image": f"{number}.jpg",
                "question": f"Which shape is larger, number {number}?",
                "A": "the round one",
                "B": "the other",
                "answer": "A" if right else "B",
            }
        )
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """The pictures of the first 20."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(N // 2):
        (folder / f"{number}.jpg").write_bytes(jpeg(scene(number, (160, 120)), 40))
    return folder


def test_a_run_scores_higher_on_what_was_found(snellen: Snellen, mine: Path, corpus: Path) -> None:
    snellen("run", "-b", mine, "-m", "baseline/first", "--out", "runs")
    [run] = Path("runs/mine/baseline__first").iterdir()
    done = snellen("contamination", mine, "--corpus", corpus, "--run", run, "--json")
    assert done.code == 0
    by = {effect["by"]: effect for effect in done.json["effects"]}
    picture = by["picture"]
    assert (picture["found"]["value"], picture["clean"]["value"]) == (0.75, 0.25)
    assert picture["difference"]["value"] == pytest.approx(0.5)
    low, high = picture["difference"]["ci95"]
    # Of two independent shares: sqrt(.75 * .25 / 20 * 2) = 0.137, so about 0.5 ± 0.27.
    assert 0.15 < low < 0.3
    assert 0.7 < high < 0.85
    assert by["text"]["difference"]["reason"] == "no sample is contaminated"


def test_it_prints_tables_and_writes_what_it_found(
    snellen: Snellen, mine: Path, corpus: Path
) -> None:
    done = snellen("contamination", mine, "--corpus", corpus, "-o", "found.jsonl")
    assert done.code == 0
    assert "mine (40 samples, 40 pictures)" in done.out
    assert re.search(r"similar picture +20 +50\.00 %", done.out)
    rows = [json.loads(line) for line in Path("found.jsonl").read_text().splitlines()]
    assert [row["sample"] for row in rows] == sorted(f"q{number}" for number in range(20))


def test_of_a_benchmark_without_pictures_nothing_is_said_about_them(
    snellen: Snellen, tmp_path: Path
) -> None:
    row = {"id": "1", "question": "Which is larger?", "A": "an ant", "B": "a cow", "answer": "B"}
    (tmp_path / "words.jsonl").write_text(json.dumps(row))
    (tmp_path / "corpus.txt").write_text("Which is larger?")
    done = snellen("contamination", tmp_path / "words.jsonl", "--corpus", tmp_path / "corpus.txt")
    assert "words, 1 samples, in 1 row of 1 file with 0 pictures" in done.out
    assert "full question" in done.out
    assert "the same picture" not in done.out


def test_limit_takes_the_first_rows(snellen: Snellen, mine: Path) -> None:
    document = snellen("contamination", mine, "--limit", "7", "--json").json
    assert document["benchmarks"] == [{"name": "mine", "samples": 7, "pictures": 7}]


def test_a_name_of_a_file_does_nothing_to_the_terminal(
    snellen: Snellen, mine: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "evil"
    folder.mkdir()
    (folder / "\x1b[31mred\u202e.jpg").write_bytes(b"no picture")
    os.close(os.open(os.fsencode(folder) + b"/\xff.jpg", os.O_CREAT | os.O_WRONLY))
    refused = snellen("contamination", mine, "--corpus", folder)
    assert refused.code == 2
    assert "red" in refused.err
    assert "\x1b" not in refused.err and "\u202e" not in refused.err
    (folder / "a.txt").write_text("Something else.")
    done = snellen("contamination", mine, "--corpus", folder)
    assert done.code == 0
    assert "\x1b" not in done.out and "\u202e" not in done.out
    assert "red" in done.out
    assert snellen("contamination", mine, "--corpus", folder, "--json").json["notes"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--run", "nowhere"], "and a corpus"),
        (["--run", "nowhere", "--corpus", "."], "nowhere"),
        (["--corpus", "nowhere"], "nowhere: there is no such file"),
        (["--images", "nowhere"], "no such folder"),
        (["-o", "no/such/file"], "there is no folder no/such"),
        (["eyechart", "--data", "x"], "works with a single BENCH only"),
    ],
)
def test_what_makes_no_sense_is_said(
    snellen: Snellen, mine: Path, args: list[str], message: str
) -> None:
    done = snellen("contamination", mine, *args, "--limit", "3")
    assert done.code == 2
    assert message in done.err


def test_a_run_of_another_benchmark_is_refused(snellen: Snellen, mine: Path, corpus: Path) -> None:
    snellen("run", "-b", "eyechart", "-m", "baseline/first", "--limit", "5", "--out", "runs")
    [run] = Path("runs/eyechart/baseline__first").iterdir()
    done = snellen("contamination", mine, "--corpus", corpus, "--run", run)
    assert done.code == 2
    assert "is a run of eyechart, not of mine" in done.err


def test_scores_of_an_older_version_are_said_to_be_out_of_date(
    snellen: Snellen, mine: Path, corpus: Path
) -> None:
    snellen("run", "-b", mine, "-m", "baseline/first", "--out", "runs")
    [run] = Path("runs/mine/baseline__first").iterdir()
    scores = [json.loads(line) for line in (run / "scores.jsonl").read_text().splitlines()]
    (run / "scores.jsonl").write_text(
        "".join(json.dumps({**score, "version": 0}) + "\n" for score in scores)
    )
    notes = snellen("contamination", mine, "--corpus", corpus, "--run", run, "--json").json["notes"]
    assert any("are out of date" in note and "by version 0 of" in note for note in notes)
    snellen("score", run)
    notes = snellen("contamination", mine, "--corpus", corpus, "--run", run, "--json").json["notes"]
    assert not any("out of date" in note for note in notes)
