"""Progress: what a line says, and what stays on a terminal's screen."""

import io
import re
import sys
from contextlib import redirect_stderr
from time import monotonic
from typing import Any

import pytest

from snellen.cli.data import _Drawn
from snellen.cli.progress_lines import ProgressLines
from snellen.core.model import Request, Usage
from snellen.core.profile import Prices
from snellen.media.content import user
from snellen.run import Progress
from snellen.run.observer import ProgressCounter
from snellen.run.progress_text import line
from snellen.run.recorder import Turn
from snellen.store import Key


def run(name: str = "mine × m", *, ended: bool = False, **counts: Any) -> Progress:
    """A run that began ten seconds ago."""
    now = monotonic()
    return Progress(name=name, started=now - 10, finished=now if ended else None, **counts)


def end(progress: Progress) -> None:
    """All questions of a run are answered."""
    progress.done, progress.finished = progress.total or 0, progress.started + 10


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"total": 40}, "mine × m  0/40  0.0/s"),
        ({"done": 3}, "mine × m  3  0.3/s"),
        ({"total": 40, "done": 20}, "mine × m  20/40  2.0/s  10 s left"),
        (
            {"total": 4000, "kept": 1000, "done": 10},
            "mine × m  1,010/4,000  1,000 kept  1.0/s  49 min 50 s left",
        ),
        (
            {"total": 40, "done": 18, "failed": 2, "retries": 7, "in_flight": 8},
            "mine × m  20/40  2.0/s  10 s left  2 failed  7 retries  8 in flight",
        ),
        (
            {"ended": True, "total": 40, "done": 40, "score_sum": 30.0, "score_n": 40},
            "mine × m  40/40  4.0/s  score 0.750",
        ),
        (
            {"total": 4, "done": 2, "retries": 1, "score_sum": 1.25, "score_n": 2, "drawn": 1},
            "mine × m  2/4  0.2/s  10 s left  1 retry  score about 0.625",
        ),
        ({"name": "a\x1b[2Jb\n", "total": 1}, "a\ufffd[2Jb   0/1  0.0/s"),
    ],
)
def test_a_line_says_how_far_a_run_is(counts: dict[str, Any], expected: str) -> None:
    assert line(run(**counts)) == expected


def test_the_cost_at_the_end_is_that_of_a_finished_question_times_all() -> None:
    """Two turns a question: 3 of 40 are done, and of two more the first turn. 8 replies cost 0.8;
    the 31 left cost what the 3 did that they are measured by."""
    going = run(total=40, kept=5, done=3, failed=1, prices=Prices(input=100, output=0))
    for _ in range(8):
        going.count(Usage(input=1000, output=7, reasoning=5))

    assert going.mean_cost == pytest.approx(0.1)
    assert going.cost_at_the_end == pytest.approx(0.8 + 31 * 0.8 / 3)
    assert line(going) == (
        "mine × m  9/40  5 kept  0.4/s  1 min 18 s left  0.800 USD of 9.07 USD  1 failed  "
        "tokens 8,000 in, 56 out (40 reasoning)"
    )


def test_before_a_question_is_finished_nobody_knows_what_all_will_cost() -> None:
    going = run(total=40, prices=Prices(input=100, output=0))
    going.count(Usage(input=1000, output=7))

    assert going.cost_at_the_end is None
    assert "0.100 USD  tokens" in line(going)


# -- without a terminal


def test_the_last_line_is_said_at_the_end_and_once(capsys: pytest.CaptureFixture[str]) -> None:
    show = ProgressLines()
    runs = [run(total=40)]
    show(runs)
    end(runs[0])
    show(runs)
    show(runs)

    assert capsys.readouterr().err == "mine × m  40/40  4.0/s\n"


def test_a_run_that_ended_is_not_said_again_while_others_go_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show = ProgressLines()
    runs = [run("a", total=1, done=1, ended=True), run("b", total=9)]
    show(runs)
    end(runs[1])
    show(runs)

    assert [text[0] for text in capsys.readouterr().err.splitlines()] == ["a", "b"]


def test_runs_that_follow_others_have_lines_and_notes_of_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As the settings of a sweep, which are run one after another."""
    show = ProgressLines()
    for name in ("first", "second"):
        show([run(name, total=1, done=1, ended=True, notes=("a note",))])

    assert capsys.readouterr().err.splitlines() == [
        "first: a note",
        "first  1/1  0.1/s",
        "second: a note",
        "second  1/1  0.1/s",
    ]


# -- on a terminal


class Terminal(io.StringIO):
    """Keeps what is written, and says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def screen(terminal: Terminal) -> list[str]:
    """What a terminal shows that knows line ends, clearing downwards, and the way up."""
    lines, at, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[?0-9]*[A-Za-z]|\n|[^\x1b\n]+", terminal.getvalue()):
        if part == "\n":
            at, column = at + 1, 0
            lines += [""] * (at + 1 - len(lines))
        elif part == "\x1b[J":
            lines[at:] = [lines[at][:column]]
        elif part.endswith("F"):
            at, column = at - int(part[2:-1]), 0
        elif not part.startswith("\x1b"):
            lines[at] = lines[at][:column] + part + lines[at][column + len(part) :]
            column += len(part)
    return [text for text in lines if text]


def test_a_run_is_redrawn_in_its_place() -> None:
    with redirect_stderr(Terminal()) as terminal:
        show = ProgressLines()
        runs = [run("a", total=9), run("b", total=9)]
        for done in (1, 2, 3):
            runs[0].done = done
            show(runs)

    assert [text[:6] for text in screen(terminal)] == ["a  3/9", "b  0/9"]


def test_what_others_print_meanwhile_stays_whole() -> None:
    with redirect_stderr(Terminal()) as terminal:
        show = ProgressLines()
        runs = [run("a long name of a run", total=9)]
        show(runs)
        print("stopping: wait", file=sys.stderr)
        for done in (1, 2):
            runs[0].done = done
            show(runs)

    other_line, *drawn = screen(terminal)
    assert other_line == "stopping: wait"
    assert [text[:25] for text in drawn] == ["a long name of a run  2/9"]


def test_at_the_end_every_run_stands_there_once() -> None:
    with redirect_stderr(Terminal()) as terminal:
        show = ProgressLines()
        runs = [run("a", total=9), run("b", total=9)]
        show(runs)
        for ended in reversed(runs):
            end(ended)
            show(runs)
        print("next", file=sys.stderr)

    assert [text[:6] for text in screen(terminal)] == ["b  9/9", "a  9/9", "next"]


def test_more_runs_than_lines_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "8")
    with redirect_stderr(Terminal()) as terminal:
        show = ProgressLines()
        for _ in range(2):
            show([run(str(number), total=9) for number in range(12)])

    shown = screen(terminal)
    assert [text[0] for text in shown] == ["0", "1", "2", "3", "4", "a"]
    assert shown[-1] == "and 7 more"


@pytest.mark.parametrize(("term", "escapes"), [("xterm", True), ("dumb", False)])
def test_a_dumb_terminal_gets_plain_lines_without_escapes(
    term: str, escapes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    with redirect_stderr(Terminal()) as terminal:
        show = ProgressLines()
        runs = [run(total=40, done=20)]
        show(runs)
        end(runs[0])
        show(runs)
    assert ("\x1b" in terminal.getvalue()) == escapes
    assert "mine × m  40/40" in terminal.getvalue()


@pytest.mark.parametrize(("term", "escapes"), [("xterm", True), ("dumb", False)])
def test_a_download_in_a_dumb_terminal_gets_no_escapes(
    term: str, escapes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    with redirect_stderr(Terminal()) as terminal, _Drawn() as drawn:
        drawn.say("images.zip is there")
    assert ("\x1b" in terminal.getvalue()) == escapes
    assert "images.zip is there" in terminal.getvalue()


def test_the_time_left_does_not_count_the_wait_for_other_runs_of_the_command() -> None:
    progress = Progress(name="waits", total=50, started=monotonic() - 3600)
    counter = ProgressCounter(progress)
    turn = Turn(Key("q0", 0, 0), Request(messages=(user("?"),)))

    counter.request_sent(turn)
    first = progress.started
    counter.request_sent(turn)
    counter.sample_finished([])

    assert progress.started == first
    assert progress.seconds_left is not None and progress.seconds_left < 3600
