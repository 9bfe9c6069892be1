"""A run with a damaged line in a file: scored without it, and asked again by the next run."""

from pathlib import Path

import snellen
from snellen.store import Run
from tests.tiny import Says, benchmark, run, states


def damage(path: Path, line: int, before: str, after: str) -> int:
    """Change one line of a file; gives the byte at which it begins."""
    lines = path.read_text().splitlines(keepends=True)
    assert before in lines[line]
    lines[line] = lines[line].replace(before, after)
    path.write_text("".join(lines))
    return len("".join(lines[:line]).encode())


def test_a_damaged_reply_is_named_in_the_result_and_asked_again(tmp_path: Path) -> None:
    folder = run(tmp_path, Says(lambda request: "yes"), benchmark(n=4), concurrency=1).run
    offset = damage(folder / "replies.jsonl", 1, '"reply":"yes"', '"reply":5')

    again = Says(lambda request: "no")
    finished = run(tmp_path, again, benchmark(n=4))

    assert again.questions == ["question 1"]
    assert states(finished) == {"ok": 4}
    assert finished.result is not None and finished.result.headline.value == 3 / 4
    notes = [note for note in finished.result.report.notes if "skipped" in note]
    assert len(notes) == 1
    assert notes[0].startswith(f"replies.jsonl: the line at byte {offset} is not a record")


def test_a_damaged_question_is_written_again_by_the_next_run(tmp_path: Path) -> None:
    folder = run(tmp_path, Says(lambda request: "yes"), benchmark(n=4), concurrency=1).run
    damage(folder / "questions.jsonl", 2, '"place":2', '"place":"2"')

    damaged = Run(folder)
    damaged.load()
    damaged.close()
    assert damaged.lost_questions == 1

    again = Says(lambda request: "no")
    finished = run(tmp_path, again, benchmark(n=4))
    assert again.questions == [] and states(finished) == {"ok": 4}
    assert finished.result is not None and finished.result.headline.value == 1.0


def test_a_damaged_run_is_scored_without_the_line(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    row = '{"id":"q%d","question":"?","A":"x","B":"y","answer":"A"}\n'
    rows.write_text("".join(row % i for i in range(3)))
    result = snellen.evaluate(str(rows), lambda messages: "A", out=tmp_path / "runs")
    assert result.run is not None
    damage(result.run / "replies.jsonl", 0, '"reply":"A"', '"reply":{}')

    report = snellen.score(result.run).report
    assert report.replies == {"ok": 2}
    assert any("replies.jsonl: the line at byte 0 is not a record" in note for note in report.notes)
    assert any("partial: 2 of 3" in note for note in report.notes)
