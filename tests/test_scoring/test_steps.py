"""Replies that took several steps: nobody asks in steps yet, and what is stored is read."""

from pathlib import Path

import snellen
from snellen.api import explain
from snellen.core.model import Reply
from snellen.media.content import ToolCall
from snellen.store import Key, Run, reply_record
from snellen.view.pages import Pages
from snellen.view.query import Wanted
from tests.tiny import Says, benchmark, run

LOOK = Reply(text="I look closer.", tool_calls=(ToolCall(id="1", name="crop", arguments="{}"),))


def run_in_steps(folder: Path, *, answered: bool) -> Path:
    """A run of two samples; the first of them took a second step, with or without a reply."""
    finished = run(folder, Says(lambda request: "yes"), benchmark(2))
    path = finished.run
    stored = Run(path)
    with stored.folder.lock():
        stored.load()
        first = next(stored.questions())
        second = Key(first.key.sample, step=1)
        stored.append_reply(reply_record(first.key, "1", "2026-01-01T00:00:00.000Z", reply=LOOK))
        stored.append_question(type(first)(
            format=0, key=second, place=first.place, row=first.row, question=first.question,
            messages=[*first.messages, ("assistant", ["I look closer."]), ("tool", ["a cat"])],
            target=first.target, tags=first.tags,
        ))  # fmt: skip
        if answered:
            reply = Reply(text="no", stop="stop")
            record = reply_record(second, "2", "2026-01-01T00:00:01.000Z", reply=reply)
            stored.append_reply(record)
        stored.close()
    return path


def test_the_reply_to_a_turn_is_that_to_its_last_step(tmp_path: Path) -> None:
    path = run_in_steps(tmp_path, answered=True)

    report = snellen.score(path, benchmark(2)).report

    assert report.replies == {"ok": 2}
    assert report.scorings["official"].metrics["accuracy"].value == 0.5  # one of "no" and "yes"


def test_a_turn_whose_last_step_has_no_reply_is_not_scored(tmp_path: Path) -> None:
    path = run_in_steps(tmp_path, answered=False)

    report = snellen.score(path, benchmark(2)).report

    assert report.replies == {"ok": 1}


def test_all_steps_are_told_and_shown(tmp_path: Path) -> None:
    path = run_in_steps(tmp_path, answered=True)
    snellen.score(path, benchmark(2))

    (story,) = explain(path, "s0", benchmark(2))
    page = Pages(tmp_path).sample(f"tiny/says/{path.name}", Key("s0", step=1), Wanted())

    assert [(attempt.turn, attempt.step, attempt.reply) for attempt in story.attempts] == [
        (0, 0, "yes"),
        (0, 0, "I look closer."),
        (0, 1, "no"),
    ]
    assert [reading.answer for reading in story.readings] == ["no"]
    assert "step 2</a>" in page
