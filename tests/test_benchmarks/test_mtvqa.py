"""MTVQA: its rows in each published form, its prompt, and its scorings."""

import base64
import csv
import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import mtvqa as file
from snellen.benchmarks.mtvqa import mtvqa
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import DataError

BUNDLED = Path(file.__file__).parent / "rows" / "mtvqa"
DATA = Path(__file__).parents[1] / "data"
PICTURE = base64.b64encode(bytes(range(60))).decode()
"""Bytes that are not opened here."""

# What scripts/acc.py gives each of 700 made replies, and its average of the languages
# (scripts/draw_authors_verdicts.py).
*GENERATED, LAST = map(json.loads, (DATA / "mtvqa_replies.jsonl").read_text("utf-8").splitlines())


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def score(scoring: str, reply: str, answer: str, language: str = "DE") -> float | None:
    sample = Sample(id="1", question="?", target=answer, tags={"language": language})
    actual = mtvqa(data=BUNDLED).scorings[scoring]
    return total_score(actual.score(actual.parse(Reply(text=reply), sample), sample))


def test_every_verdict_on_generated_replies_is_the_authors() -> None:
    assert len(GENERATED) == 700
    differing = [
        row
        for row in GENERATED
        if score("official", row["answer"], row["annotation"], row["language"]) != row["score"]
    ]
    assert differing == []


def test_the_average_over_languages_is_the_authors(tmp_path: Path) -> None:
    with (tmp_path / "MTVQA_TEST.tsv").open("w", encoding="utf-8", newline="") as sheet:
        writer = csv.writer(sheet, delimiter="\t")
        writer.writerow(("index", "image", "question", "answer", "category"))
        for row in GENERATED:
            image = PICTURE if row["id"] == 0 else "0"
            writer.writerow((row["id"], image, "?", row["annotation"], row["language"]))
    replies = tmp_path / "replies.jsonl"
    lines = ({"index": row["id"], "prediction": row["answer"]} for row in GENERATED)
    replies.write_text("\n".join(map(json.dumps, lines)))
    result = snellen.score(replies, mtvqa(data=tmp_path), scorings=["official"])
    average = result.report.scorings["official"].metrics["average"]
    assert average.value == pytest.approx(LAST["average"], abs=1e-9)


def test_a_full_stop_in_the_answer_makes_every_reply_wrong_officially() -> None:
    assert score("official", "12.5", "12.5") == 0.0  # acc.py#L13
    assert score("vlmevalkit", "12.5", "12.5") == 1.0
    assert score("robust", "12.5", "12.5") == 1.0


@pytest.mark.parametrize(
    ("reply", "answer", "language", "official", "robust"),
    [
        ("112", "12", "DE", 1.0, 0.0),
        ("Die Antwort: Hafen", "hafen", "DE", 1.0, 1.0),
        ("Answer: Hafen", "Hafen", "DE", 1.0, 1.0),
        ("東京です", "東京", "JA", 1.0, 1.0),
        ("", "Hafen", "DE", 0.0, 0.0),
    ],
)
def test_robust_finds_whole_words_where_words_are_separate(
    reply: str, answer: str, language: str, official: float, robust: float
) -> None:
    assert score("official", reply, answer, language) == official
    assert score("robust", reply, answer, language) == robust


def hub(tmp_path: Path, pairs: object) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    row: dict[str, Any] = {
        "image": {"bytes": bytes(range(60)), "path": None},
        "id": "ar_1",
        "lang": "AR",
        "qa_pairs": pairs,
    }
    path = tmp_path / "test-00000-of-00001.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    return path


def test_a_row_of_the_hub_becomes_a_sample_for_each_of_its_questions(tmp_path: Path) -> None:
    pairs = "[{'question': 'a?', 'answer': '1'}, {'question': 'b?', 'answer': \"it's 2\"}]"
    benchmark = mtvqa(data=hub(tmp_path, pairs))
    actual = samples(benchmark)
    assert {name: (it.question, it.target) for name, it in actual.items()} == {
        "ar_1_0": ("a?", "1"),
        "ar_1_1": ("b?", "it's 2"),
    }
    assert benchmark.cluster_by is not None
    assert len({*map(benchmark.cluster_by, actual.values())}) == 1
    assert {sample.tags["language"] for sample in actual.values()} == {"AR"}


@pytest.mark.parametrize("pairs", ["[{'question':", "7", "['a?']"])
def test_pairs_that_cannot_be_read_are_refused_with_their_row(tmp_path: Path, pairs: str) -> None:
    with pytest.raises(DataError, match="mtvqa: row 1 cannot be read"):
        samples(mtvqa(data=hub(tmp_path, pairs)))


def test_the_question_is_followed_by_the_instruction_of_vlmevalkit() -> None:
    benchmark = registry.benchmark("MTVQA_TEST", data=BUNDLED)
    (message,) = benchmark.messages(samples(benchmark)["1"])
    assert message.text == (
        "Was steht auf dem Schild?\n"
        "Answer the question using a word or phrase in the language of the question."
    )
