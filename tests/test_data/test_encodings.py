"""Text in another encoding than UTF-8: read where that is safe, else named as what it is."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import snellen
from snellen.analysis.contamination import contamination
from snellen.benchmarks import mme, pope, scienceqa
from snellen.cli import cli
from snellen.core.profile import read_profile
from snellen.data import DataFile, csv, json_list, jsonl, tsv
from snellen.errors import DataError
from snellen.interop import predictions

ENCODINGS = {
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16LE",
    "utf-16-be": "UTF-16BE",
    "utf-32": "UTF-32",
    "utf-32-le": "UTF-32LE",
    "utf-32-be": "UTF-32BE",
}
ROWS = [{"id": "1", "response": "caf\u00e9"}, {"id": "2", "response": "B"}]
TEXTS = {
    "jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS),
    "json": json.dumps(ROWS, ensure_ascii=False),
    "tsv": "id\tresponse\n1\tcaf\u00e9\n2\tB\n",
    "csv": "id,response\n1,caf\u00e9\n2,B\n",
}
TABLES = {"jsonl": jsonl, "json": json_list, "tsv": tsv, "csv": csv}
BUNDLED = Path(mme.__file__).parent / "rows"


def write(folder: Path, kind: str, encoding: str) -> Path:
    path = folder / f"rows.{kind}"
    path.write_bytes(TEXTS[kind].encode(encoding))
    return path


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_own_rows_in_another_encoding_are_refused_by_its_name(
    tmp_path: Path, kind: str, encoding: str
) -> None:
    path = write(tmp_path, kind, encoding)
    with pytest.raises(DataError, match=f"is {ENCODINGS[encoding]} text, but Snellen reads UTF-8"):
        list(TABLES[kind](path))


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_predictions_in_another_encoding_are_refused_by_its_name(
    tmp_path: Path, kind: str, encoding: str
) -> None:
    path = write(tmp_path, kind, encoding)
    with pytest.raises(DataError, match=f"iconv -f {ENCODINGS[encoding]} -t UTF-8"):
        predictions.read(path)


@pytest.mark.parametrize("kind", TEXTS)
def test_a_byte_order_mark_before_utf8_is_no_part_of_rows_or_predictions(
    tmp_path: Path, kind: str
) -> None:
    path = write(tmp_path, kind, "utf-8-sig")
    assert [dict(row) for row in TABLES[kind](path)] == ROWS
    assert predictions.read(path).replies == {"1": "caf\u00e9", "2": "B"}


def results_of_mme(folder: Path, encoding: str) -> Path:
    """The texts that calculation.py reads, each question with its right answer for a reply."""
    benchmark = mme.mme(data=BUNDLED / "mme")
    lines: dict[str, str] = {}
    for row in benchmark.data:
        sample = benchmark.read(row)
        task, image = sample.tags["task"], sample.data["image"]
        answer = str(sample.target).capitalize()
        lines[task] = lines.get(task, "") + f"{image}\t{sample.question}\t{answer}\t{answer}\r\n"
    folder.mkdir()
    for task, text in lines.items():
        (folder / f"{task}.txt").write_bytes(text.encode(encoding))
    return folder


def test_a_byte_order_mark_in_mmes_texts_is_no_part_of_an_images_name(tmp_path: Path) -> None:
    folder = results_of_mme(tmp_path / "results", "utf-8-sig")
    result = snellen.score(folder, "mme", data=BUNDLED / "mme")
    assert result.report.scorings["official"].metrics["acc"].value == 1.0


def test_mmes_texts_in_utf16_are_refused_by_its_name(tmp_path: Path) -> None:
    folder = results_of_mme(tmp_path / "results", "utf-16")
    with pytest.raises(DataError, match=r"\.txt is UTF-16 text"):
        snellen.score(folder, "mme", data=BUNDLED / "mme")


def test_answers_in_the_authors_layout_in_utf16_are_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes('{"question": "Is there a dog?", "answer": "Yes"}\n'.encode("utf-16"))
    with pytest.raises(DataError, match="is UTF-16 text"):
        snellen.score(path, "pope:sets=random", data=Path(pope.__file__).parent / "rows" / "pope")


@pytest.mark.parametrize("kind", ["jsonl", "txt"])
def test_a_corpus_in_utf16_is_not_searched_in_vain(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"corpus.{kind}"
    path.write_bytes('{"text": "A question"}\n'.encode("utf-16"))
    with pytest.raises(DataError, match="is UTF-16 text"):
        contamination([mme.mme(data=BUNDLED / "mme")], corpus=[path])


def test_a_profile_and_a_plan_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text("temperature = 0.5\n", encoding="utf-8-sig")
    assert read_profile(profile).temperature == 0.5
    plan = tmp_path / "plan.toml"
    plan.write_text('no-such-option = "x"\n', encoding="utf-8-sig")
    outcome = CliRunner().invoke(cli, ["run", str(plan)])
    assert "no such option 'no-such-option'" in outcome.output


def test_scienceqa_skips_a_byte_order_mark(tmp_path: Path) -> None:
    problem = {"question": "?", "choices": ["a", "b"], "answer": 0, "split": "test", "image": None}
    path = tmp_path / "problems.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"7": problem}).encode())
    rows = scienceqa.problems(DataFile(path, "scienceqa", ("problems.json",)), "test", "all")
    assert [row["id"] for row in rows] == ["7"]
