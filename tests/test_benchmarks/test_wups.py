"""WUPS without nltk or its data, and the data of NExT-QA's open questions."""

import json
import sys
from pathlib import Path

import pytest

from snellen import registry
from snellen.benchmarks.families import wups
from snellen.core.sample import Sample
from snellen.errors import DataError

SYNTHETIC = Path(registry.SYNTHETIC)
HEAD = "video,qid,question,answer,type\n"


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    wups.tagger.cache_clear()


def test_data_of_nltk_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pytest.importorskip("nltk.data")
    monkeypatch.setattr(data, "path", [])
    with pytest.raises(
        DataError,
        match=r"Run `python -m nltk\.downloader wordnet punkt_tab averaged_perceptron_tagger_eng`",
    ):
        wups.meaningful("a dog")


def test_without_nltk_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "nltk"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(DataError, match=r"needs the package nltk.*\[ocr\]"):
        wups.meaningful("a dog")


def samples(folder: Path, spec: str = "next-qa:task=open") -> list[Sample]:
    benchmark = registry.benchmark(spec, data=folder)
    return [benchmark.read(row) for row in benchmark.data]


def test_an_open_question_has_its_answer_and_the_second_one() -> None:
    first, *others = samples(SYNTHETIC)
    assert (first.id, first.target, first.data["also"]) == ("1_0", "letters", "characters")
    assert [sample.data["also"] for sample in others if sample.tags["type"] == "DL"] == [None]
    assert {sample.tags["type"] for sample in others if sample.tags["group"] == "temporal"} == {
        "TN",
        "TC",
    }
    (video,) = first.media
    assert video.label == "0101/1.mp4"


def test_only_the_file_of_the_split_has_second_answers(tmp_path: Path) -> None:
    second = {"1": {"0": "yes"}}
    (tmp_path / "add_reference_answer_test.json").write_text(json.dumps(second))
    for split in ("test", "val"):
        (tmp_path / f"{split}.csv").write_text(f"{HEAD}1,0,is it,no,DB\n")
    (test,) = samples(tmp_path)
    (val,) = samples(tmp_path, "next-qa:task=open,split=val")
    assert (test.data["also"], val.data["also"]) == ("yes", None)


def test_questions_with_choices_are_refused(tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_text("video,qid,question,answer,type,a0\n1,0,is it,1,DB,no\n")
    with pytest.raises(DataError, match=r"has choices.*next-qa:task=open"):
        samples(tmp_path)


def test_the_authors_predictions_are_read(tmp_path: Path) -> None:
    layout = registry.benchmark("next-qa:task=open", data=SYNTHETIC).interop.layout
    assert layout is not None
    path = tmp_path / "replies.json"
    path.write_text(json.dumps({"1": {"0": "home", "2": ""}}))
    published = layout(path)
    assert published is not None
    assert published.replies == {"1_0": "home", "1_2": ""}
    path.write_text(json.dumps({"1_0": {"prediction": 1, "answer": 2}}))
    assert layout(path) is None
