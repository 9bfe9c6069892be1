"""Logs that other tools wrote themselves are read as replies; what is damaged or unclear is
refused."""

import json
import re
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.errors import DataError, UsageError
from snellen.interop import inspect_log, predictions

DATA = Path(__file__).parents[1] / "data"
INSPECT = DATA / "inspect" / "made.eval"
LM_EVAL = DATA / "lm_eval" / "samples_made_2026-11-01T12-00-00.000000.jsonl"
ROWS = (
    {"id": "1", "question": "Which is larger?", "A": "an ant", "B": "an elephant", "answer": "B"},
    {"id": "2", "question": "Which is colder?", "A": "ice", "B": "steam", "answer": "A"},
    {"id": "3", "question": "Which is red?", "A": "the sky", "B": "a rose", "answer": "B"},
)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.fixture
def needs_zstandard() -> None:
    pytest.importorskip("zstandard", reason="Inspect's logs need the extra inspect")


def log(path: Path, samples: dict[str, Any], header: object = None) -> Path:
    """An Inspect log with these samples by their names in the zip."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, sample in samples.items():
            text = sample if isinstance(sample, str) else json.dumps(sample)
            archive.writestr(f"samples/{name}.json", text)
        if header is None:
            header = {"status": "success", "eval": {"task": "mine", "model": "org/m"}}
        archive.writestr("header.json", json.dumps(header))
    return path


def sample(name: object, text: object, **fields: Any) -> dict[str, Any]:
    choices = [] if text is None else [{"message": {"role": "assistant", "content": text}}]
    return {"id": name, "epoch": 1, "input": "?", "output": {"choices": choices}, **fields}


# -- Inspect


def test_a_log_that_inspect_wrote_is_read_with_its_epochs(needs_zstandard: None) -> None:
    actual = predictions.read(INSPECT)

    assert actual.replies == {"1": "ANSWER: B", "2": "ANSWER: B", "3": "I cannot say."}
    assert actual.again == {"1": ["ANSWER: A"], "2": [None], "3": ["ANSWER: B"]}
    assert actual.possible_names == (("mockllm/made", "made"),)
    assert actual.choices["2"] == ["ice", "steam"]
    assert actual.questions["3"] == "Which is red?"


def test_its_scores_are_those_that_inspect_gave(needs_zstandard: None, rows: Path) -> None:
    # Inspect marked the replies C, I, I, then I, an error, and C.
    report = snellen.score(INSPECT, str(rows)).report

    assert report.scorings["default"].metrics["accuracy"].value == pytest.approx(2 / 5)
    assert report.replies == {"ok": 5, "absent": 1}
    assert report.scorings["default"].readings == {"answered": 4, "unparsed": 1, "no-reply": 1}


def test_choices_in_another_order_are_refused(needs_zstandard: None, rows: Path) -> None:
    with pytest.raises(DataError, match="sample '1' has its choices in a different order"):
        snellen.score(DATA / "inspect" / "turned.eval", str(rows))


def test_without_zstandard_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)

    with pytest.raises(UsageError, match=r"needs an extra: pip install .*inspect"):
        predictions.read(INSPECT)


def test_an_error_or_no_output_is_no_reply_and_an_empty_output_is_one(tmp_path: Path) -> None:
    path = log(
        tmp_path / "a.eval",
        {
            "a": sample("a", ""),
            "b": sample("b", "half a re", error={"message": "cut off"}),
            "c": sample("c", None),
            "d": sample(
                4, [{"type": "reasoning", "reasoning": "A?"}, {"type": "text", "text": "B"}]
            ),
            "e": sample("e", "attachment://x", attachments={"x": "C"}),
            "f": sample("f", "attachment://y", attachments={"x": "C"}),
            "g": sample("g", "attachment://x", attachments={"x": None}),
            "h": sample("h", [{"type": "text", "text": {"A": 1}}]),
            "i": sample("i", {"text": "A"}),
        },
    )

    actual = predictions.read(path)

    assert actual.replies == {"a": "", "4": "B", "e": "C"}
    assert "6 rows have an id but no reply" in actual.notes
    assert any("1 rows" in note and "dict" in note for note in actual.notes)


def test_a_log_of_a_run_that_did_not_end_says_so(tmp_path: Path) -> None:
    header = {"status": "cancelled", "eval": {"task": "mine", "model": "org/m"}}

    notes = predictions.read(log(tmp_path / "a.eval", {"a": sample("a", "A")}, header)).notes

    assert "incomplete: Inspect's log has the status 'cancelled'" in notes


@pytest.mark.parametrize(
    ("samples", "header", "message"),
    [
        ({}, None, "has no samples. The log may have been written with --no-log-samples"),
        ({"a": "{"}, None, "samples/a.json cannot be parsed as JSON"),
        ({"a": [1]}, None, "samples/a.json is not a sample of Inspect's log"),
        ({"a": "[" * 200_000}, None, "samples/a.json cannot be parsed as JSON"),
        (
            {"a": sample("a", "A", epoch=10**9)},
            None,
            "1000000000 has 999999999 for the number",
        ),
        (
            {"a": sample("a", "A", choices=5)},
            None,
            "a.eval: sample a, epoch 1 has choices that",
        ),
        ({"a": sample("a", "A", choices=[{}])}, None, "has choices that are not a list of texts"),
        ({"a": sample("a", "A", epoch="x")}, None, "has 'x' for the number of its repeat"),
        ({"a": sample("a", "A")}, [1], "its header.json does not belong to an Inspect log"),
    ],
)
def test_a_log_that_holds_something_else_is_named(
    tmp_path: Path, samples: dict[str, Any], header: object, message: str
) -> None:
    path = log(tmp_path / "a.eval", samples, header)

    with pytest.raises(DataError, match=message):
        predictions.read(path)


@pytest.mark.parametrize("keep", [0, 10, -40])
def test_a_log_that_is_cut_off_is_named(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "a.eval"
    path.write_bytes(INSPECT.read_bytes()[:keep])

    with pytest.raises(DataError, match=r"a\.eval is not an Inspect log"):
        predictions.read(path)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (6, 99, "is not an Inspect log: zip file version 9.9"),
        (8, 1, "is damaged: File 'header.json' is encrypted"),
        (10, 99, "is damaged: That compression method is not supported"),
    ],
)
def test_a_zip_that_cannot_be_opened_is_named(
    tmp_path: Path, field: int, value: int, message: str
) -> None:
    path = log(tmp_path / "a.eval", {"a": sample("a", "A")})
    raw = bytearray(path.read_bytes())
    for mark, back in ((b"PK\x01\x02", 0), (b"PK\x03\x04", 2)):
        for match in re.finditer(mark, bytes(raw)):
            raw[match.start() + field - back] = value
    path.write_bytes(raw)

    with pytest.raises(DataError, match=message):
        inspect_log.notes_of(path)


def test_a_log_compressed_with_lzma_that_is_damaged_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "mine" * 50}}))
    raw = bytearray(path.read_bytes())
    raw[60:68] = bytes(8)
    path.write_bytes(raw)

    with pytest.raises(DataError, match="is damaged"):
        inspect_log.notes_of(path)


def test_a_damaged_part_of_a_log_is_named(needs_zstandard: None, tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    shutil.copy(INSPECT, path)
    with zipfile.ZipFile(path) as archive:
        [info] = [i for i in archive.infolist() if i.filename == "samples/1_epoch_1.json"]
    raw = bytearray(path.read_bytes())
    middle = info.header_offset + 60 + info.compress_size // 2
    raw[middle : middle + 8] = bytes(8)
    path.write_bytes(raw)

    with pytest.raises(DataError, match=r"samples/1_epoch_1\.json is damaged"):
        predictions.read(path)


# -- lm-eval


def test_samples_that_lm_eval_wrote_are_read_raw_and_not_as_its_filters_leave_them() -> None:
    actual = predictions.read(LM_EVAL, ids="doc.id")

    assert actual.replies == {"1": "the answer is B", "2": "I cannot say", "3": "the answer is B"}
    assert actual.again == {"1": ["B"], "2": ["the answer is A"], "3": ["the answer is A"]}
    assert actual.possible_names == (("lm_eval", "made"),)


def test_they_are_found_by_the_place_of_their_rows(rows: Path) -> None:
    report = snellen.score(LM_EVAL, str(rows)).report

    # By hand: B, none, B, then B, A, A are right in all but the second and the last.
    assert report.scorings["default"].metrics["accuracy"].value == pytest.approx(4 / 6)
    assert report.scorings["default"].readings == {"answered": 5, "unparsed": 1}


def test_samples_that_lm_eval_ranked_are_refused() -> None:
    path = DATA / "lm_eval" / "samples_ranked_2026-11-01T12-00-00.000000.jsonl"

    with pytest.raises(DataError, match=r"2 responses \(choices ranked by likelihood"):
        predictions.read(path)


# -- Every Eval Ever


def line(name: str, **fields: Any) -> dict[str, Any]:
    return {
        **{"schema_version": "0.3.0", "evaluation_id": "e", "model_id": "org/m"},
        **{"evaluation_name": "mine", "sample_id": name, "interaction_type": "single_turn"},
        "input": {"raw": "?", "reference": ["A"]},
        "output": {"raw": ["A"]},
        "answer_attribution": [],
        "evaluation": {"score": 1.0, "is_correct": True},
        **fields,
    }


def test_lines_of_every_eval_ever_are_read_once_for_all_metrics(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "B"}]
    lines = [
        line("a", evaluation_result_id="x"),
        line("a", evaluation_result_id="y"),
        line("b", interaction_type="multi_turn", output=None, messages=turns),
        line("c", error="timeout"),
        line("d", metadata={"repeat": "1"}),
    ]
    path = tmp_path / "x_samples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in lines))

    actual = predictions.read(path)

    assert actual.replies == {"a": "A", "b": "B"}
    assert actual.again == {"d": ["A"]}
    assert "1 rows have an id but no reply" in actual.notes


def test_what_is_no_text_in_a_line_is_no_reply(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "A"}]
    several: dict[str, Any] = {"interaction_type": "multi_turn", "output": None}
    lines = [
        line("a"),
        line("b", output={"raw": [None]}),
        line("c", output={"raw": [["A"]]}),
        line("d", **several, messages=[*turns, {"role": "user", "content": "And now?"}]),
        line("e", **several, messages=[turns[0], {"role": "assistant", "content": [{"x": "A"}]}]),
    ]
    path = tmp_path / "x_samples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in lines))

    assert predictions.read(path).replies == {"a": "A"}


def test_choices_that_are_no_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x_samples.jsonl"
    path.write_text(json.dumps(line("a", input={"raw": "?", "choices": 7})) + "\n")

    with pytest.raises(DataError, match=r"x_samples\.jsonl: row 1 has choices that are not"):
        predictions.read(path)


def test_several_responses_in_one_line_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x_samples.jsonl"
    path.write_text(json.dumps(line("a", output={"raw": ["A", "B"]})) + "\n")

    with pytest.raises(DataError, match="row 1 has 2 responses"):
        predictions.read(path)
