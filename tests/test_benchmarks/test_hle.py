"""Humanity's Last Exam: its parts, how the judge's text is read, and the authors' files."""

import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.analysis.result import Result
from snellen.benchmarks import hle as file
from snellen.benchmarks.families.confidence import verdict
from snellen.benchmarks.hle import Part, hle, layout
from snellen.core.sample import Sample
from snellen.errors import DataError

BUNDLED = Path(file.__file__).parent / "rows" / "hle"
ANY = Sample(id="1", question="Why?", target="So.")


def exam(folder: Path, n: int) -> Path:
    row = {"question": "q", "image": "", "answer": "a", "answer_type": "exactMatch"}
    rows = [{**row, "id": str(number), "category": "Math"} for number in range(n)]
    folder.joinpath("test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def judged(folder: Path, *verdicts: tuple[str, int] | None) -> Path:
    rows: dict[str, Any] = {}
    for number, fields in enumerate(verdicts):
        rows[str(number)] = {"model": "m", "response": "r", "usage": {}}
        if fields is not None:
            correct, confidence = fields
            stored: dict[str, Any] = {"correct_answer": "a", "model_answer": "b", "reasoning": "c"}
            stored |= {"correct": correct, "confidence": confidence}
            rows[str(number)]["judge_response"] = stored
    path = folder / "judged_hle_m.json"
    path.write_text(json.dumps(rows))
    return path


def result(folder: Path, n: int, *verdicts: tuple[str, int] | None) -> Result:
    return snellen.score(judged(folder, *verdicts), hle(data=exam(folder, n)))


@pytest.mark.parametrize(("part", "n"), [("all", 10), ("image", 5), ("text", 5)])
def test_a_part_has_the_questions_with_or_without_a_picture(part: Part, n: int) -> None:
    benchmark = hle(part, data=BUNDLED)
    samples = [*map(benchmark.read, benchmark.data)]
    assert len(samples) == n
    assert all(part in ("all", sample.tags["part"]) for sample in samples)
    assert all(bool(sample.media) == (sample.tags["part"] == "image") for sample in samples)


def test_an_image_that_is_no_data_url_is_refused(tmp_path: Path) -> None:
    row = json.loads((exam(tmp_path, 1) / "test.jsonl").read_text())
    (tmp_path / "test.jsonl").write_text(json.dumps({**row, "image": "picture.png"}))
    benchmark = hle(data=tmp_path)
    with pytest.raises(DataError, match="`image` is neither empty nor a data URL"):
        [*map(benchmark.read, benchmark.data)]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("correct: yes\nconfidence: 85%", ("yes", "85")),
        ("reasoning: The same.\n\n**Correct**: No.\n\nConfidence: 90|\\%|", ("no", "90")),
        ('```json\n{\n  "correct": "yes",\n  "confidence": 5\n}\n```', ("yes", "5")),
        ("correct: yes", None),
        ("confidence: 85", None),
        ("correct: yes\nconfidence: 0.85", None),
        ("correct: yes\ncorrect: no\nconfidence: 3", None),
        ("correct: 1\nconfidence: 3", None),
        ("It is correct: yes\nconfidence: 3", None),
        ('{"correct": "yes", "confidence": 85}', None),
        ("", None),
    ],
)
def test_a_judge_without_the_authors_form_writes_lines(
    words: str, answer: tuple[str, str] | None
) -> None:
    assert verdict(words, ANY).answer == answer


def test_an_endless_confidence_is_not_read() -> None:
    fields = '"extracted_final_answer": "", "reasoning": "", "correct": "yes", "strict": true'
    assert verdict(f'{{{fields}, "confidence": {10**400}}}', ANY).answer is None


def test_stored_verdicts_are_counted(tmp_path: Path) -> None:
    report = result(tmp_path, 4, ("yes", 90), ("no", 80), ("no", 100), ("yes", 0)).scoring()
    assert (report.metrics["accuracy"].value, report.metrics["accuracy"].n) == (0.5, 4)


def test_a_reply_without_a_verdict_is_in_no_mean(tmp_path: Path) -> None:
    report = result(tmp_path, 3, ("yes", 90), None, ("maybe", 9)).scoring()
    assert (report.metrics["accuracy"].value, report.metrics["accuracy"].n) == (1.0, 1)
    assert report.readings["not-judged"] == 2


def test_a_question_without_a_prediction_is_wrong(tmp_path: Path) -> None:
    # centerforaisafety/hle@67b3251:hle_eval/run_judge_results.py#L148
    accuracy = result(tmp_path, 4, ("yes", 90), ("yes", 90)).scoring().metrics["accuracy"]
    assert (accuracy.value, accuracy.n) == (0.5, 4)


def test_the_last_bin_is_in_no_calibration_error(tmp_path: Path) -> None:
    # centerforaisafety/hle@67b3251:hle_eval/run_judge_results.py#L97-L127. Of 250 replies, the 100
    # with the lowest confidence are the only bin that counts: sqrt(100 / 250 * (0.5 - 0.1) ** 2).
    low = [("yes" if number % 2 else "no", 10) for number in range(100)]
    high = [("no", 99)] * 150
    report = result(tmp_path, 250, *high, *low).scoring()
    error = report.metrics["calibration_error"].value
    assert error == pytest.approx((100 / 250 * 0.4**2) ** 0.5, abs=1e-12)


def test_fewer_than_two_bins_have_no_calibration_error(tmp_path: Path) -> None:
    error = result(tmp_path, 199, *[("no", 99)] * 199).scoring().metrics["calibration_error"]
    assert error.value is None
    assert error.reason == "199 replies: the authors' bins need at least 200"


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"1": {"response": "r"}}', '{"1": {"model": "m"}}']
)
def test_another_file_is_left_to_the_general_reader(tmp_path: Path, content: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(content)
    assert layout(path) is None
