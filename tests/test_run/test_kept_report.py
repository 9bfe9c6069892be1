"""A finished run that is asked again keeps its report, unless scoring could change it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.analysis.result import Result
from snellen.run import kept_report
from snellen.store import FORMAT, LabelRecord, Run

MODEL = """
def answer(request):
    return "word " * 4_000 + "The answer is B."
"""
OWN = """
from snellen.core import Benchmark, Reading, Scoring, Sample, user
from snellen.data import Drawn
from snellen.metrics import mean

def bench() -> Benchmark:
    return Benchmark(
        name="mine",
        asks=1,
        data=Drawn("rows", lambda: ({"n": n} for n in range(250))),
        sample=lambda i, row: Sample(id=str(row["n"]), question="?", target="B"),
        prompt=lambda sample, history: () if history else (user("?"),),
        scorings={"exact": Scoring(
            version=1, source="ours",
            parse=lambda reply, sample: Reading(answer=reply.text[-2], rule="last letter"),
            score=lambda reading, sample: float(reading.answer == "B"),
            metrics={"accuracy": mean},
        )},
    )
"""


def ask(folder: Path, benchmark: str | None = None, **options: Any) -> Result:
    return snellen.evaluate(
        benchmark or str(folder / "rows.jsonl"),
        f"python:{folder / 'model.py'}:answer",
        out=folder / "runs",
        concurrency=8,
        **options,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    rows = (
        {"id": n, "question": f"What is {n}?", "A": "a", "B": "b", "answer": "AB"[n % 2]}
        for n in range(250)
    )
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "mine.py").write_text(OWN)
    return tmp_path


def stamps(result: Result) -> list[int]:
    """When the files were written that scoring writes."""
    assert result.run is not None
    names = ("report.json", "report.md", "scores.jsonl")
    return [os.stat(result.run / name).st_mtime_ns for name in names]


def settle(run: Path) -> None:
    """Make the times of change old enough to be trusted, as they are in a run that took long."""
    seal = json.loads((run / ".scored").read_text())
    for entry in seal["inputs"].values():
        entry["stamp"][3] = True
    (run / ".scored").write_text(json.dumps(seal))


@pytest.mark.parametrize("is_settled", [False, True])
def test_a_finished_run_keeps_its_report(folder: Path, is_settled: bool) -> None:
    first = ask(folder)
    before = stamps(first)
    assert first.run is not None
    if is_settled:
        settle(first.run)
    again = ask(folder)
    assert stamps(again) == before
    assert again.json() == first.json()
    assert str(again) == str(first)


def add_reply(run: Path) -> None:
    (record, *_) = (run / "replies.jsonl").read_text().splitlines()
    with (run / "replies.jsonl").open("a") as file:
        file.write(record.replace("is B.", "is A.") + "\n")


def edit_reply(run: Path) -> None:
    journal = run / "replies.jsonl"
    status = journal.stat()
    with journal.open("r+b") as file:
        content = file.read()
        file.seek(content.index(b"is B.") + 3)
        file.write(b"A")
    os.utime(journal, ns=(status.st_atime_ns, status.st_mtime_ns))


def edit_question(run: Path) -> None:
    questions = run / "questions.jsonl"
    questions.write_text(questions.read_text().replace('"target":"A"', '"target":"B"'))


def edit_report(run: Path) -> None:
    report = run / "report.json"
    report.write_text(report.read_text().replace("0.5", "0.6"))


def truncate_report(run: Path) -> None:
    os.truncate(run / "report.json", 100)


def remove_scores(run: Path) -> None:
    (run / "scores.jsonl").unlink()


def edit_markdown(run: Path) -> None:
    (run / "report.md").write_text("")


def add_label(run: Path) -> None:
    Run(run).put_labels([LabelRecord(format=FORMAT, sample="1", label=1.0)])


def truncate_seal(run: Path) -> None:
    os.truncate(run / ".scored", 50)


def add_note(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "noticed": {"x": "a note"}}))


@pytest.mark.parametrize("is_settled", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        *(add_reply, edit_reply, edit_question, edit_report, truncate_report, remove_scores),
        *(edit_markdown, add_label, truncate_seal, add_note),
    ],
)
def test_a_run_is_scored_again_after_a_change(
    folder: Path, change: Callable[[Path], None], is_settled: bool
) -> None:
    first = ask(folder)
    assert first.run is not None
    if is_settled:
        settle(first.run)
    before = stamps(first)
    change(first.run)
    again = ask(folder)
    assert set(stamps(again)).isdisjoint(before[:1])
    assert again.json() == snellen.score(first.run).json()


def test_a_run_is_scored_again_if_missing_replies_count_otherwise(folder: Path) -> None:
    before = stamps(ask(folder))
    assert stamps(ask(folder, missing="wrong")) != before


def test_a_run_is_scored_again_by_another_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stamps(ask(folder))
    monkeypatch.setattr(kept_report, "__version__", "99.0")
    assert stamps(ask(folder)) != before


def test_a_report_by_a_changed_source_is_not_kept(folder: Path) -> None:
    spec = f"{folder / 'mine.py'}:bench"
    first = ask(folder, spec)
    before = stamps(first)
    assert stamps(ask(folder, spec)) == before
    assert first.run is not None

    # Another source scores the same run, and the run's own source is restored afterward.
    (folder / "mine.py").write_text(OWN.replace('== "B"', '== "A"'))
    changed = snellen.score(first.run, spec)
    assert changed.headline.value == 0.0
    (folder / "mine.py").write_text(OWN)
    assert ask(folder, spec).headline.value == 1.0


def test_a_stopped_run_is_scored_when_it_goes_on(folder: Path) -> None:
    stopped = ask(folder, max_requests=240)
    assert stopped.stopped
    assert stopped.run is not None
    assert not (stopped.run / ".scored").exists()
    assert ask(folder).report.n == 250


def test_a_benchmark_object_is_scored_each_time(folder: Path) -> None:
    scope: dict[str, Any] = {}
    exec(OWN, scope)
    first = ask(folder, scope["bench"]())
    assert first.run is not None
    assert not (first.run / ".scored").exists()


def test_a_small_run_is_scored_each_time(folder: Path) -> None:
    result = ask(folder, limit=5)
    assert result.run is not None
    assert not (result.run / ".scored").exists()
    assert not (result.run / ".index").exists()
