"""Other people's files, scored by name: which are read, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.errors import DataError, UsageError
from tests.golden_data import golden

IDS = [row["pid"] for row in registry.benchmark("mathvista", data=Path(registry.SYNTHETIC)).data]


def published(path: Path, names: list[str]) -> Path:
    """A file as MathVista's authors publish them. What was extracted is never in the reply, so that
    a file that is read otherwise has another score."""
    path.parent.mkdir(parents=True, exist_ok=True)
    row = {"question_type": "multi_choice", "response": "I think so.", "extraction": "none"}
    path.write_text(json.dumps(dict.fromkeys(names, row)))
    return path


def scored(path: Path, **options: Any) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(
        snellen.score(path, "mathvista", data="synthetic", **options).json()
    )
    return report


def values(report: dict[str, Any]) -> Any:
    return report["replies"], report["scorings"]


def test_a_folder_is_read_as_its_one_file_in_the_authors_form(tmp_path: Path) -> None:
    file = published(tmp_path / "model" / "output.json", IDS)
    (tmp_path / "model" / "scores.json").write_text('{"1": {"id": "1", "response": "A"}}')

    report = scored(tmp_path)

    assert values(report) == values(scored(file))
    assert "1 of 2 files have this format and were read: model/output.json" in report["notes"]


def test_a_pattern_chooses_among_files_in_the_authors_form(tmp_path: Path) -> None:
    file = published(tmp_path / "a" / "output.json", IDS)
    published(tmp_path / "b" / "output.json", IDS)

    assert values(scored(tmp_path, only="a/*")) == values(scored(file))


def test_files_of_two_models_in_the_authors_form_are_not_mixed(tmp_path: Path) -> None:
    published(tmp_path / "a.json", IDS)
    published(tmp_path / "b.json", IDS[:1])

    with pytest.raises(UsageError, match=r"in more than one of its files: a\.json, b\.json"):
        scored(tmp_path)


def test_parts_in_the_authors_form_are_read_together(tmp_path: Path) -> None:
    published(tmp_path / "parts" / "a.json", IDS[:5])
    published(tmp_path / "parts" / "b.json", IDS[5:])
    complete = published(tmp_path / "whole.json", IDS)

    assert values(scored(tmp_path / "parts")) == values(scored(complete))


def test_a_folder_without_the_authors_form_is_read_as_rows(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": IDS[0], "response": "A"}))

    assert scored(tmp_path)["replies"] == {"ok": 1, "absent": len(IDS) - 1}


# -- published files


def test_a_published_folder_scores_as_its_file() -> None:
    data = golden("mathvista")
    report = snellen.score(data / "outputs" / "gpt4", "mathvista", data=data).report

    accuracy = report.scorings["official"].metrics["accuracy"]
    assert (accuracy.value, accuracy.n) == (0.261, 1000)  # scores_gpt4.json


@pytest.mark.parametrize(
    ("file", "spec"),
    [
        ("pope/outputs/llava-v1.5-13b.jsonl", "pope"),
        ("mathvista/outputs/gpt4/output_gpt4.json.gz", "mathvision"),
    ],
)
def test_replies_to_another_release_or_benchmark_are_refused(file: str, spec: str) -> None:
    pack, _, rest = file.partition("/")

    with pytest.raises(DataError, match=f"questions in the file differ from those of {spec}"):
        snellen.score(golden(pack) / rest, spec, data=golden(spec))


@pytest.mark.parametrize(
    ("file", "spec"),
    [
        ("pope/outputs/llava-v1.5-13b.jsonl", "pope:release=e3e3926"),
        ("mmmu_pro/outputs/gpt-4o_vision_direct.jsonl.gz", "mmmu-pro:setting=vision"),
    ],
)
def test_published_files_ask_what_the_data_ask(file: str, spec: str) -> None:
    pack, _, rest = file.partition("/")

    notes = snellen.score(golden(pack) / rest, spec, data=golden(pack)).report.notes

    assert not [note for note in notes if "in the file differ from" in note]


def test_ids_are_read_from_the_column_that_has_the_benchmarks(tmp_path: Path) -> None:
    """As VLMEvalKit writes MMMU: `index` numbers the sheet's rows, `id` is the authors'."""
    bench = registry.benchmark("mmmu", data=Path(registry.SYNTHETIC))
    names = [bench.read(row).id for row in bench.data]
    file = tmp_path / "model_MMMU_DEV_VAL.tsv"
    rows = (f"{number}\t{name}\tA" for number, name in enumerate(names, 1))
    file.write_text("\n".join(["index\tid\tprediction", *rows]))

    report = json.loads(snellen.score(file, data="synthetic").json())

    assert report["replies"] == {"ok": len(names)}
    assert any("ids read from 'id', replies from 'prediction'" in note for note in report["notes"])
    with pytest.raises(DataError, match="none of its"):
        snellen.score(file, "mmmu", data="synthetic", ids="index")
    file.write_text("index\tid\tprediction\n1\tno\tA\n2\tnone\tB\n")
    with pytest.raises(DataError, match="none of its 2 ids"):
        snellen.score(file, "mmmu", data="synthetic")
