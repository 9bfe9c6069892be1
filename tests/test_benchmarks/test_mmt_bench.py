"""MMT-Bench: its sheets, its prompts, and its metrics."""

import json
from pathlib import Path

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import mmt_bench as file
from snellen.benchmarks.mmt_bench import mmt_bench
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample

BUNDLED = Path(file.__file__).parent / "rows" / "mmt_bench"


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


@pytest.mark.parametrize(("name", "pictures"), [("MMT-Bench_VAL", 1), ("MMT-Bench_VAL_MI", 2)])
def test_several_pictures_are_joined_or_separate(name: str, pictures: int) -> None:
    sample = samples(registry.benchmark(name, data=BUNDLED))["5"]
    assert len(sample.media) == pictures
    assert (sample.choices, sample.target) == (("yes", "no"), "B")
    assert sample.tags == {
        "l2-category": "cross_image_matching",
        "category": "one_shot_detection",
    }


def test_most_answers_are_hidden(tmp_path: Path) -> None:
    sheet = (BUNDLED / "MMT-Bench_VAL.tsv").read_text(encoding="utf-8").split("\n")[:2]
    cells = sheet[1].split("\t")
    cells[sheet[0].split("\t").index("answer")] = ""
    (tmp_path / "MMT-Bench_ALL.tsv").write_text(f"{sheet[0]}\n" + "\t".join(cells) + "\n")
    (sample,) = samples(registry.benchmark("MMT-Bench_ALL", data=tmp_path)).values()
    assert sample.hidden


def test_a_question_is_asked_in_either_toolkits_words() -> None:
    benchmark = mmt_bench(data=BUNDLED)
    sample = samples(benchmark)["5"]
    (message,) = benchmark.messages(sample)
    assert message.text == (
        "Question: Are the two pictures the same?\nOptions:\nA. yes\nB. no\n"
        "Please select the correct answer from the options above. \n"
    )
    benchmark = registry.benchmark("mmt_val", data=BUNDLED)
    (message,) = benchmark.messages(sample)
    # lmms_eval/tasks/mmt/utils.py#L64-L82
    assert message.text == (
        "Question: <image>\nAre the two pictures the same?\nA: yes\nB: no\n"
        "Answer the question using a single character from the given options."
    )
    assert benchmark.max_answer_tokens == 8


@pytest.mark.parametrize(
    ("reply", "official", "vlmevalkit"),
    [
        ("B", 1.0, 1.0),
        ("(B) two", 1.0, 1.0),
        ("A or B", 0.0, 0.0),
        ("I see two of them in this picture, as far as I can tell.", 1.0, 0.0),
        ("Answer B, since there are so many discs", 1.0, 0.0),
        ("Cannot determine the answer", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_the_authors_copy_takes_a_letter_or_choice_from_anywhere(
    reply: str, official: float, vlmevalkit: float
) -> None:
    benchmark = mmt_bench(data=BUNDLED)
    sample = samples(benchmark)["0"]
    for name, expected in (("official", official), ("vlmevalkit", vlmevalkit)):
        scoring = benchmark.scorings[name]
        assert scoring.score(scoring.parse(Reply(text=reply), sample), sample) == expected


def test_a_meta_task_is_the_mean_of_its_subtasks(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    replies = {name: sample.target for name, sample in samples(mmt_bench(data=BUNDLED)).items()}
    path.write_text(json.dumps({**replies, "0": "A", "2": "A", "3": "A"}), encoding="utf-8")
    metrics = snellen.score(path, mmt_bench(data=BUNDLED)).report.scorings["official"].metrics
    # counting: 1 of 2 right in one subtask, 0 of 1 in the other. color_recognition: 1 of 2.
    assert metrics["accuracy"].value == 5 / 8
    assert metrics["accuracy/counting"].value == 1 / 3
    assert metrics["subtasks/counting"].value == 1 / 4
    assert metrics["subtasks/visual_recognition"].value == 1 / 2
    assert metrics["subtasks"].value == pytest.approx((1 / 2 + 0 + 1 / 2 + 1 + 1 + 1) / 6)
