"""A run's replies in the form in which a benchmark's authors publish results."""

import json
from pathlib import Path
from typing import Any

import pytest

from snellen.registry import bundled
from tests.test_cli.conftest import CommandResult, Snellen

DATA = str(bundled("ovo_bench"))
TASKS = "EPM_ASI_HLD_STU_OJR_ATR_ACR_OCR_FPD_REC_SSR_CRR"
# Right of some, wrong of others, and without a reply to CRR.
ANSWERING = """
def answer(messages):
    text = messages[-1].text
    if "responsible of answering" in text:
        raise ConnectionError("cut off")
    return "Yes, 1, A" if "video" in text else "B"


def always(messages):
    return "Yes, 1, A"


class Silent:
    async def open(self, spec):
        return self

    async def feed(self, frames):
        return []

    async def ask(self, query, *, must_answer):
        return []

    async def close(self):
        pass
"""


def run_of(snellen: Snellen, folder: Path, name: str, *more: str, bench: str = "ovo-bench") -> Path:
    (folder / "mine.py").write_text(ANSWERING)
    done = snellen(
        *("run", "-m", f"python:mine.py:{name}", "-b", bench, "--data", DATA, "--json"),
        *("--frames", "fps:1,latest", *more),
    )
    return Path(done.json["run"])


def exported(snellen: Snellen, run: Path, *more: str) -> tuple[Path, dict[str, Any], CommandResult]:
    done = snellen("export", run, "--to", "authors", *more, "--json")
    assert done.code == 0, done.err
    path = Path(done.json["file"])
    return path, json.loads(path.read_bytes()), done


def scored(snellen: Snellen, path: Path, *more: str) -> Any:
    done = snellen("score", path, "-b", "ovo-bench", "--data", DATA, "--json", *more)
    assert done.code == 0, done.err
    return done.json


def values(document: Any) -> dict[str, dict[str, Any]]:
    """All figures of scorings that both have, intervals too."""
    return {name: document["scorings"][name]["metrics"] for name in ("official", "robust")}


@pytest.mark.parametrize("mode", ["offline", "polled"])
def test_what_is_written_scores_as_the_run_does(
    snellen: Snellen, tmp_path: Path, mode: str
) -> None:
    run = run_of(snellen, tmp_path, "always", bench=f"ovo-bench:mode={mode}")
    (tmp_path / "results").mkdir()

    path, _, done = exported(snellen, run, "-o", "results")
    again = scored(snellen, Path("results"))

    assert done.json["notes"] == []
    assert path.name.endswith(f"_{TASKS}_{'offline' if mode == 'offline' else 'online'}_1.json")
    assert values(again) == values(json.loads((run / "report.json").read_bytes()))
    assert again["scorings"]["official"]["metrics"]["accuracy/SSR"]["value"] == 0.5


def test_rows_are_the_authors(snellen: Snellen, tmp_path: Path) -> None:
    """utils/OVOBench.py#L20-L100: what a row has, in which order, and what it is null for."""
    run = run_of(snellen, tmp_path, "answer")

    _, document, done = exported(snellen, run)

    assert list(document) == ["backward", "realtime", "forward"]
    assert document["backward"][0] == {
        "id": 0,
        "video": "data/src_videos/letters/order.mp4",
        "task": "EPM",
        "question": "Which letter came first?",
        "response": "B",
        "ground_truth": "C",
    }
    assert list(document["backward"][0])[-2:] == ["response", "ground_truth"]
    rows = {row["id"]: row for row in json.loads((Path(DATA) / "ovo_bench_new.json").read_bytes())}
    for row in document["forward"]:
        response = None if row["task"] == "CRR" else "Yes, 1, A"
        assert [point.pop("response") for point in row["test_info"]] == [response] * len(
            row["test_info"]
        )
        assert row == {**rows[row["id"]], "video": f"data/src_videos/{rows[row['id']]['video']}"}
    assert done.json["notes"] == [
        "incomplete: 5 of 21 have no reply, are null in it, and the authors' script counts them as "
        "wrong; run the same command to ask them again"
    ]


def test_what_failed_counts_as_wrong_as_the_authors_have_it(
    snellen: Snellen, tmp_path: Path
) -> None:
    run = run_of(snellen, tmp_path, "answer")
    path, _, _ = exported(snellen, run)

    again = scored(snellen, path)
    wrong = snellen("score", run, "--missing", "wrong", "--json").json

    assert again["n"] == wrong["n"] == 21
    for name, metrics in values(wrong).items():
        again_metrics = values(again)[name]
        assert {key: estimate["value"] for key, estimate in again_metrics.items()} == {
            key: estimate["value"] for key, estimate in metrics.items()
        }
    assert again["scorings"]["official"]["metrics"]["accuracy/CRR"]["value"] == 0.0


def test_questions_that_were_not_asked_have_no_row_and_points_are_null(
    snellen: Snellen, tmp_path: Path
) -> None:
    run = run_of(snellen, tmp_path, "always", "--limit", "11")

    path, document, done = exported(snellen, run)

    assert [len(document[group]) for group in ("backward", "realtime", "forward")] == [3, 6, 1]
    assert [point["response"] for point in document["forward"][0]["test_info"]] == [
        "Yes, 1, A",
        "Yes, 1, A",
        None,
    ]
    assert path.name.endswith(f"_{TASKS.removesuffix('_SSR_CRR')}_offline_1.json")
    assert done.json["notes"] == [
        "partial: 11 of 21 questions are in the file",
        "points that were not asked, although others of the same questions were: 1 (null in the "
        "file; the authors' script counts them as wrong)",
    ]


def test_the_rows_may_have_been_moved_but_must_be_those_of_the_run(
    snellen: Snellen, tmp_path: Path
) -> None:
    source = (Path(DATA) / "ovo_bench_new.json").read_bytes()
    old, new, other = (tmp_path / name for name in ("old", "new", "other"))
    for folder in (old, new, other):
        folder.mkdir()
    (old / "ovo_bench_new.json").write_bytes(source)
    (old / "src_videos").symlink_to(Path(DATA) / "src_videos")
    run = run_of(snellen, tmp_path, "always", "--data", str(old), bench="ovo-bench:task=EPM")
    (old / "ovo_bench_new.json").rename(new / "ovo_bench_new.json")
    (other / "ovo_bench_new.json").write_bytes(source.replace(b"came first", b"came last"))

    lost = snellen("export", run, "--to", "authors")
    wrong = snellen("export", run, "--to", "authors", "--data", other)
    path, document, _ = exported(snellen, run, "--data", str(new))

    assert lost.code == wrong.code == 2
    assert "--data PATH" in lost.err
    assert "does not have the rows of this run" in wrong.err
    assert len(document["backward"]) == 1 and path.exists()


@pytest.mark.parametrize(
    ("bench", "more", "message"),
    [
        ("mathvision:split=testmini", (), "the authors' result format for this run is unknown"),
        ("ovo-bench:task=EPM", ("-o", "x.csv"), "files in the authors' format must end in .json"),
    ],
)
def test_what_has_no_such_form_is_said(
    snellen: Snellen, bench: str, more: tuple[str, ...], message: str
) -> None:
    done = snellen("run", "-m", "baseline/first", "-b", bench, "--data", "synthetic", "--json")

    wrong = snellen("export", done.json["run"], "--to", "authors", *more)

    assert wrong.code == 2
    assert message in wrong.err


def test_what_was_said_unasked_has_no_such_form(snellen: Snellen, tmp_path: Path) -> None:
    run = run_of(snellen, tmp_path, "Silent", bench="ovo-bench:mode=proactive")

    wrong = snellen("export", run, "--to", "authors")

    assert wrong.code == 2
    assert "result format for this run is unknown" in wrong.err


def test_data_is_for_the_authors_form_alone(snellen: Snellen) -> None:
    done = snellen(
        *("run", "-m", "baseline/first", "-b", "mathvision:split=testmini"),
        *("--data", "synthetic", "--json"),
    )

    wrong = snellen("export", done.json["run"], "--to", "csv", "--data", "x")

    assert wrong.code == 2
    assert "--to authors" in wrong.err
