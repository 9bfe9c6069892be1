"""The stamps of pictures that a run keeps, so that they are read only once."""

from __future__ import annotations

from pathlib import Path

import pytest

from snellen.store import Run, mirrored
from tests.stores import Bucket
from tests.test_store.test_object_store import answer, run_at


def test_the_stamps_of_a_run_on_an_object_store_count_for_all_its_segments(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirrored, "SEGMENT", 1)  # a segment a question
    url = f"{bucket.url}/runs/b/m/0"
    for name in ("s0", "s1"):
        run = run_at(url, tmp_path / "a")
        with run.folder.lock():
            run.put_manifest({"benchmark": "b"})
            answer(run, name, "yes")
            answer(run, f"{name}, again", "yes")
            run.media_stamps.put()
            run.close()

    known, has_changes = run_at(url, tmp_path / "a").media_stamps.compare()

    segments = run.folder.segments("questions")
    assert len(segments) == 4
    assert not has_changes
    assert known == {name: (run.path / name).stat().st_size for name in segments}
    assert [path.name for path in run.path.glob(".media*")] == [".media"]


def test_questions_that_another_part_stores_after_the_check_are_not_known(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.put_manifest({"benchmark": "b"})
    first, second = (run.part(number, 2) for number in (1, 2))
    first.media_stamps.compare()
    answer(second, "s1", "no", position=1)  # and its process is killed
    second.close()
    first.media_stamps.note_checked()
    first.media_stamps.put()

    assert Run(tmp_path).media_stamps.compare() == ({}, False)
