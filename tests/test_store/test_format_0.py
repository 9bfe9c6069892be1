"""A run folder written in format 0 is read for ever: `tests/data/format-0` is never written
anew."""

import shutil
from pathlib import Path

import pytest

import snellen
from snellen.store import EventRecord, Run, Unknown

STORED = Path(__file__).parents[1] / "data" / "format-0"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED, tmp_path / "run"))


def test_its_report_is_read(folder: Path) -> None:
    report = snellen.load_run(folder).report

    assert report.replies == {"ok": 2, "truncated": 1, "failed": 1}
    assert report.scorings["default"].metrics["accuracy"].value == pytest.approx(2 / 3)


def test_it_is_scored_again_to_the_same_report(folder: Path) -> None:
    before = snellen.load_run(folder).report

    after = snellen.score(folder).report

    assert after.replies == before.replies
    assert after.scorings["default"].metrics == before.scorings["default"].metrics
    assert after.identity == before.identity


def test_its_journal_and_events_are_read_those_of_unknown_kinds_too(folder: Path) -> None:
    run = Run(folder)
    run.load()

    dog = run.final(("dog", 0, 0))
    assert dog is not None
    assert (dog.state, dog.reply, dog.usage and dog.usage.output) == (
        "truncated",
        "I think it is",
        2,
    )
    assert not run.has_reply(("blue", 0, 0))
    assert [record.kind for record in run.replies() if isinstance(record, Unknown)] == ["smell"]
    assert list(run.events()) == [
        EventRecord(format=0, session="v1", seq=0, ev="frame", data={"t": 0.5})
    ]


def test_its_replies_can_be_replayed(folder: Path) -> None:
    from snellen.core.profile import Profile
    from snellen.models import recorded

    model = recorded.open_model(str(folder), profile=Profile(), api_key=None)

    assert len(model._replies) == 3
