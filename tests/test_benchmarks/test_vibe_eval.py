"""Vibe-Eval: how the judge's words are read, and the authors' files."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.analysis.result import Result
from snellen.benchmarks import vibe_eval as file
from snellen.benchmarks.vibe_eval import layout, rating, vibe_eval
from snellen.core.sample import Sample
from snellen.errors import DataError

BUNDLED = Path(file.__file__).parent / "rows" / "vibe_eval"
ANY = Sample(id="1", question="Why?", target="So.")


def rows() -> list[dict[str, Any]]:
    return [*map(json.loads, (BUNDLED / file.NAME).read_text().splitlines())]


def written(path: Path, *results: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in results))
    return path


def result(path: Path) -> Result:
    return snellen.score(path, vibe_eval(data=BUNDLED))


@pytest.mark.parametrize(
    ("words", "points"),
    [
        ("Explanation: fine.\nRating: 5", 5.0),
        ("Rating: 3.5", 3.0),
        ("Rating: 10", 1.0),
        ("**Rating:** 4", None),
        ("Rating:\n\n2 of 5", 2.0),
        ("rating: 4", None),
        ("Rating: 6", None),
        ("Rating: 0 ... Rating: 4", 4.0),
    ],
)
def test_a_rating_is_the_first_match_of_the_authors_pattern(
    words: str, points: float | None
) -> None:
    # reka-ai/reka-vibe-eval@e098274:evaluate.py#L172-L178
    assert rating(words, ANY).answer == points


def test_ratings_of_five_three_and_one_are_fifty_percent(tmp_path: Path) -> None:
    results = [
        {**row, "generation": "this", "score": score, "evaluator_explanation": f"Rating: {score}"}
        for row, score in zip(rows(), (5, 3, 1), strict=False)
    ]
    report = result(written(tmp_path / "m.jsonl", *results)).scoring()

    assert (report.metrics["score"].value, report.metrics["score"].n) == (0.5, 3)


def test_a_mean_is_over_the_rated_replies_and_not_over_the_categories(tmp_path: Path) -> None:
    hard = [row for row in rows() if row["category"] == "difficulty-hard"][:1]
    normal = [row for row in rows() if row["category"] == "difficulty-normal"][:3]
    results = [
        *({**row, "generation": "this", "score": 5} for row in hard),
        *({**row, "generation": "this", "score": 1} for row in normal[:2]),
        {**normal[2], "generation": "this", "score": None, "evaluator_explanation": None},
    ]
    report = result(written(tmp_path / "m.jsonl", *results)).scoring()

    assert report.metrics["score"].value == pytest.approx(1 / 3)
    assert report.metrics["score"].n == 3
    assert report.readings["not-judged"] == 1


def test_a_second_reply_to_an_example_replaces_the_first(tmp_path: Path) -> None:
    name = rows()[0]["example_id"]
    path = written(
        tmp_path / "m.jsonl",
        {"example_id": name, "generation": "first"},
        {"example_id": name, "generation": "second"},
    )
    published = layout(path)
    assert published is not None
    assert published.replies == {name: "second"}
    assert not published.verdicts["official"]


def test_the_stored_rating_counts_where_the_words_give_another(tmp_path: Path) -> None:
    row = {**rows()[0], "generation": "this", "score": 2, "evaluator_explanation": "Rating: 5"}
    assert result(written(tmp_path / "m.jsonl", row)).headline.value == 0.25


def test_a_gzipped_file_is_read(tmp_path: Path) -> None:
    row = {**rows()[0], "generation": "this", "score": 4, "evaluator_explanation": "Rating: 4"}
    path = tmp_path / "m.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(row).encode()))
    assert result(path).headline.value == 0.75


@pytest.mark.parametrize("score", [0, 6, 3.5, "5", [5]])
def test_a_score_that_is_no_rating_is_refused(tmp_path: Path, score: object) -> None:
    row = {**rows()[0], "generation": "this", "score": score, "evaluator_explanation": "none"}
    with pytest.raises(DataError, match=r"row 1: the score is .* whole number from 1 to 5"):
        result(written(tmp_path / "m.jsonl", row))


def test_another_file_of_replies_is_left_to_the_general_reader(tmp_path: Path) -> None:
    assert layout(written(tmp_path / "m.jsonl", {"id": "1", "reply": "this"})) is None
    assert layout(tmp_path) is None


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no rows"):
        result(written(tmp_path / "empty.jsonl"))
