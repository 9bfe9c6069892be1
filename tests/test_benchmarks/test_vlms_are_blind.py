"""VLMs are blind: its rows in each published form, its prompts, and its scorings."""

import base64
import csv
import json
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import vlms_are_blind as file
from snellen.benchmarks.vlms_are_blind import Preset, vlms_are_blind
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.data import Row

BUNDLED = Path(file.__file__).parent / "rows" / "vlms_are_blind"
DATA = Path(__file__).parents[1] / "data"
PICTURE = bytes(range(60))
"""Bytes that are not opened here."""

# What VLMEvalKit and lmms-eval give each of 900 made replies, and their averages
# (scripts/draw_authors_verdicts.py).
*GENERATED, LAST = map(json.loads, (DATA / "vlms_are_blind_replies.jsonl").read_text().splitlines())


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def score(scoring: str, task: str, reply: str, answer: str) -> float | None:
    row = Row({"task": task, "answers": answer, "question": "?", "image": PICTURE}, 0)
    sample = file.to_sample(0, row)
    actual = vlms_are_blind(data=BUNDLED).scorings[scoring]
    return total_score(actual.score(actual.parse(Reply(text=reply), sample), sample))


@pytest.mark.parametrize("scoring", ["vlmevalkit", "lmms-eval"])
def test_every_verdict_on_generated_replies_is_the_other_toolkits(scoring: str) -> None:
    assert len(GENERATED) == 900
    differing = [
        row
        for row in GENERATED
        if score(scoring, row["task"], row["reply"], row["answer"]) != row[scoring]
    ]
    assert differing == []


def test_the_averages_are_those_of_the_other_toolkits(tmp_path: Path) -> None:
    with (tmp_path / "VLMBlind.tsv").open("w", encoding="utf-8", newline="") as sheet:
        writer = csv.writer(sheet, delimiter="\t")
        writer.writerow(("index", "image", "question", "answers", "task"))
        for row in GENERATED:
            image = base64.b64encode(PICTURE).decode() if row["id"] == 0 else "0"
            writer.writerow((row["id"], image, "?", row["answer"], row["task"]))
    replies = tmp_path / "replies.jsonl"
    lines = ({"index": row["id"], "prediction": row["reply"]} for row in GENERATED)
    replies.write_text("\n".join(map(json.dumps, lines)))
    names = ["vlmevalkit", "lmms-eval"]
    scorings = snellen.score(replies, vlms_are_blind(data=tmp_path), scorings=names).report.scorings
    average = scorings["lmms-eval"].metrics["average"]
    assert average.value == pytest.approx(LAST["lmms-eval"]["task_mean"], abs=1e-9)
    for task, accuracy in LAST["vlmevalkit"].items():
        part = scorings["vlmevalkit"].metrics[f"accuracy/{task.lower()}"]
        assert part.value == pytest.approx(accuracy, abs=1e-9)


def test_a_task_without_a_right_reply_is_left_out_of_lmms_evals_average(tmp_path: Path) -> None:
    replies = tmp_path / "replies.jsonl"
    rows = samples(vlms_are_blind(data=BUNDLED))
    lines = [{"index": name, "prediction": "{1}"} for name in rows]  # right for the lines only
    replies.write_text("\n".join(map(json.dumps, lines)))
    scorings = snellen.score(replies, vlms_are_blind(data=BUNDLED)).report.scorings
    assert scorings["lmms-eval"].metrics["average"].value == 1.0
    assert scorings["vlmevalkit"].metrics["average"].value == 1 / 8


@pytest.mark.parametrize(
    ("task", "reply", "answer", "expected"),
    [
        ("Touching Circles", "Yes, they do.", "Yes", 1.0),
        ("Touching Circles", "I do not know.", "No", 0.0),
        ("Circled Letter", "The answer is {o}.", "o", 1.0),
        ("Circled Letter", 'The letter is "O".', "o", 1.0),
        ("Circled Letter", "the word pool", "o", 0.0),
        ("Nested Squares", "There are 15.", "5", 0.0),
        ("Nested Squares", "**5**", "5", 1.0),
        ("Nested Squares", "4 or 5", "5", 0.0),
        ("Counting Grid - Word Grids", "rows={6} columns={5}", "6,5", 1.0),
        ("Counting Grid - Blank Grids", "The answer is (6, 5).", "6,5", 1.0),
        ("Counting Grid - Blank Grids", "6", "6,5", 0.0),
    ],
)
def test_robust_takes_what_a_reply_settles_on(
    task: str, reply: str, answer: str, expected: float
) -> None:
    assert score("robust", task, reply, answer) == expected


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("official", "Do they touch?"),
        ("vlmevalkit", "Question: Do they touch?\n"),
        ("lmms-eval", "Do they touch?\nAnswer only in the required format."),
    ],
)
def test_the_hubs_rows_have_the_authors_prompts(tmp_path: Path, prompt: Preset, text: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    row = {
        "task": "Touching Circles",
        "image": {"bytes": PICTURE, "path": None},
        "prompt": "Do they touch?",
        "groundtruth": "Yes",
        "metadata": "{}",
    }
    (tmp_path / "data").mkdir()
    path = tmp_path / "data/valid-00000-of-00001.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    benchmark = vlms_are_blind(prompt=prompt, data=tmp_path)
    (sample,) = samples(benchmark).values()
    assert (sample.id, sample.target, sample.tags["task"]) == ("0", "yes", "touching circles")
    (message,) = benchmark.prompt(sample, ())
    assert message.text == text


def test_many_braces_and_rows_are_read_in_little_time() -> None:
    for text in ("{" * 200_000, "rows " * 50_000, "{1}rows" * 30_000, "}{" * 100_000):
        assert score("vlmevalkit", "Counting Grid - Word Grids", text, "3,4") == 0.0
        assert score("vlmevalkit", "Nested Squares", text, "3") == 0.0


def test_both_sets_of_grids_are_one_task() -> None:
    tags = [sample.tags for sample in samples(vlms_are_blind(data=BUNDLED)).values()]
    assert len({tag["task"] for tag in tags}) == 8
    assert {tag["subset"] for tag in tags if tag["task"] == "counting grid"} == {
        "counting grid - word grids",
        "counting grid - blank grids",
    }
