"""OVO-Bench over real videos, by the public road: offline, polled and proactive; killed and broken.

A server on this machine reads from the pixels which frames it is shown; what it must have been
shown, and what is right, follows from how the videos were made.
"""

import json
import os
import signal
import subprocess
import sys
import time
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import PIL.Image
import pytest

import snellen
from snellen.analysis.result import Result
from snellen.store import ReplyRecord, Run
from tests import killed_windows, ovo, videos
from tests.ovo import OvoData, Point
from tests.servers import Answer, ReceivedRequest, Server, completion, hangs, serving, status

TASKS = ("EPM", "ASI", "HLD", "OCR", "ACR", "ATR", "STU", "FPD", "OJR", "REC", "SSR", "CRR")
GROUPS = {"backward": TASKS[:3], "realtime": TASKS[3:9], "forward": TASKS[9:]}
AT_ONCE = 4


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> OvoData:
    return ovo.make_data(tmp_path_factory.mktemp("ovo"))


# -- a server with eyes


@dataclass(frozen=True)
class Look:
    """One request as the server saw it: which point, the indices and the sizes of its pictures."""

    point: Point
    shown: tuple[int, ...]
    sizes: frozenset[tuple[int, int]]


Say = Callable[[Point, tuple[int, ...]], str]


@dataclass
class Eyes:
    """Answers what `say` gives for a point and the pictures it is shown; by default what is right
    by the pictures alone. To the points `never` it gives no answer."""

    data: OvoData
    say: Say | None = None
    never: frozenset[str] = frozenset()
    looks: list[Look] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    """What was asked with frames that end where no point's window does."""

    def __call__(self, request: ReceivedRequest) -> Answer:
        (message,) = request.json["messages"]
        *pictures, words = message["content"]
        seen = [picture_in(part["image_url"]["url"]) for part in pictures]
        shown = tuple(index for index, _ in seen)
        point = self.data.point_of(words["text"], max(shown))
        if point is None:
            self.strange.append(f"{words['text']} up to {max(shown)}")
            return status(400, "no point is there")
        self.looks.append(Look(point, shown, frozenset(size for _, size in seen)))
        if point.id in self.never:
            return hangs()
        reply = self.say(point, shown) if self.say else self.data.right(words["text"], shown)
        return completion(reply)

    @property
    def counts(self) -> Counter[str]:
        """How often each point was asked."""
        return Counter([*(look.point.id for look in self.looks), *self.strange])


@cache
def picture_in(address: str) -> tuple[int, tuple[int, int]]:
    """The index of a picture, and its width and height."""
    assert address.startswith("data:image/jpeg;base64,")
    image = PIL.Image.open(BytesIO(b64decode(address.partition(",")[2])))
    return videos.index_of(np.asarray(image)), image.size


def two_of_three(point: Point, shown: tuple[int, ...]) -> str:
    """Right but for the questions whose number is a multiple of three."""
    return point.right if point.number % 3 else "I cannot tell."


def evaluated(data: OvoData, eyes: Eyes, out: Path, options: str = "", **more: Any) -> Result:
    with serving(eyes) as server:
        return snellen.evaluate(
            f"ovo-bench:{options}" if options else "ovo-bench",
            "openai/eyes",
            base_url=server.url,
            data=data.folder,
            out=out,
            concurrency=AT_ONCE,
            **more,
        )


def records(run: Path) -> list[ReplyRecord]:
    return [reply for reply in Run(run).replies() if isinstance(reply, ReplyRecord)]


def replies(result: Result) -> dict[str, str]:
    assert result.run is not None
    return {record.key[0]: record.reply for record in records(result.run)}


def metrics(result: Result, scoring: str = "official") -> dict[str, float | None]:
    return {name: item.value for name, item in result.report.scorings[scoring].metrics.items()}


def averages(points: Sequence[Point], is_right: Callable[[Point], bool]) -> dict[str, float]:
    """The authors' figures: the means of tasks over points, of groups over tasks, and of all."""
    of: dict[str, list[bool]] = {task: [] for task in TASKS}
    for point in points:
        of[point.task].append(is_right(point))
    tasks = {task: sum(scores) / len(scores) for task, scores in of.items()}
    groups = {group: np.mean([tasks[task] for task in of]) for group, of in GROUPS.items()}
    return {
        "accuracy": float(np.mean(list(groups.values()))),
        **{f"accuracy/{name}": float(value) for name, value in (groups | tasks).items()},
    }


# -- offline


@dataclass(frozen=True)
class Offline:
    eyes: Eyes
    result: Result


@pytest.fixture(scope="module")
def offline(data: OvoData, tmp_path_factory: pytest.TempPathFactory) -> Offline:
    eyes = Eyes(data)
    return Offline(eyes, evaluated(data, eyes, tmp_path_factory.mktemp("offline")))


def test_every_point_is_asked_once(data: OvoData, offline: Offline) -> None:
    assert offline.eyes.counts == Counter(point.id for point in data.points)
    assert len(data.points) == 129


def test_each_is_shown_the_frames_that_the_authors_take_and_none_later(
    data: OvoData, offline: Offline
) -> None:
    for look in offline.eyes.looks:
        seen = look.point.seen
        # models/GPT.py: 64 of them, or two less than there are, from the first to the last
        n = 64 if len(seen) >= 64 else len(seen) - 2
        places = np.linspace(0, len(seen) - 1, n, dtype=int)
        assert look.shown == tuple(seen[position] for position in places), look.point.id


def test_no_video_is_taken_for_another(data: OvoData, offline: Offline) -> None:
    sizes: dict[str, set[tuple[int, int]]] = {}
    for look in offline.eyes.looks:
        sizes.setdefault(look.point.video, set()).update(look.sizes)
    assert len(sizes) == len(data.clips)
    assert {len(of) for of in sizes.values()} == {1}
    assert len({size for of in sizes.values() for size in of}) == ovo.N_SMALL + 1


def test_who_answers_by_the_pictures_is_right_everywhere(offline: Offline) -> None:
    for scoring in ("official", "robust"):
        actual = metrics(offline.result, scoring)
        assert {name: actual[name] for name in actual if name.startswith("accuracy")} == {
            **dict.fromkeys(("accuracy", "accuracy_micro", "accuracy_by_question"), 1.0),
            **{
                f"{metric}/{part}": 1.0
                for metric in ("accuracy", "accuracy_micro", "accuracy_by_question")
                for part in (*GROUPS, *TASKS)
            },
        }
    assert offline.result.report.replies == {"ok": 129}


def test_the_times_of_the_frames_are_stored(data: OvoData, offline: Offline) -> None:
    assert offline.result.run is not None
    points = {point.id: point for point in data.points}
    shown = {look.point.id: look.shown for look in offline.eyes.looks}
    for record in records(offline.result.run):
        (media,) = record.media
        name = record.key[0]
        times = {index: at for at, index in ovo.frames_of(data.clips[points[name].video])}
        assert media.frames == pytest.approx([times[index] for index in shown[name]], abs=6e-4)


def test_a_constant_reply_gets_what_was_worked_out_by_hand(data: OvoData, tmp_path: Path) -> None:
    """ "Yes" to all: right of 3 of 5 points of each question of SSR and CRR, and of no other."""
    result = evaluated(data, Eyes(data, lambda point, shown: "Yes"), tmp_path, frames="last:1@1")
    actual = metrics(result)
    by_hand = {
        "accuracy": (0 + 0 + (0 + 0.6 + 0.6) / 3) / 3,
        "accuracy/forward": 0.4,
        "accuracy/SSR": 0.6,
        "accuracy/CRR": 0.6,
        "accuracy/REC": 0.0,
        "accuracy/EPM": 0.0,
        "accuracy_micro": (18 + 12) / 129,
        "accuracy_by_question": 0.4 / 3,
        "precision": 0.6,
        "recall": 1.0,
        "f1": 0.75,
        "balanced_accuracy": 0.5,
        "yes_ratio": 1.0,
    }
    assert {name: actual[name] for name in by_hand} == pytest.approx(by_hand)


# -- the command line, in a process of its own


def command(data: OvoData, url: str, out: Path, bench: str = "ovo-bench", *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "snellen", "run", "-m", "openai/eyes", "-b", bench),
        *("--data", str(data.folder), "--base-url", url, "--out", str(out)),
        *("--concurrency", str(AT_ONCE), "--json", *more),
    ]


def run_cli(command: Sequence[str]) -> tuple[int, Any, str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def killed(command: Sequence[str], eyes: Eyes, out: Path) -> Path:
    """Start it, and kill it once nothing comes any more: all slots wait for the server, and all
    that it answered is stored. Gives the run's folder."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        for _ in range(1200):
            waiting = sum(look.point.id in eyes.never for look in eyes.looks)
            journals = list(out.glob("*/*/*/replies.jsonl"))
            stored = journals[0].read_bytes().count(b"\n") if journals else 0
            if waiting == AT_ONCE and stored == len(eyes.looks) - waiting:
                break
            assert process.poll() is None
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        _, words = process.communicate()
    assert process.returncode == -signal.SIGKILL, words.decode()
    (journal,) = out.glob("*/*/*/replies.jsonl")
    return journal.parent


def in_mid_video(data: OvoData) -> frozenset[str]:
    """Five points about one video, at one time."""
    return frozenset(point.id for point in data.points if point.realtime == ovo.AT_ONCE)


def check_resumed(data: OvoData, before: Eyes, after: Eyes, alone: Eyes, run: Path) -> None:
    """Of one video some questions were answered and some in flight; what was answered was not asked
    again; all is stored once; and all was shown what it is shown in an unbroken run."""
    (video,) = {point.video for point in data.points if point.id in before.never}
    answered = {look.point.id: look.point.video for look in before.looks}
    in_flight = before.never & set(answered)
    for name in in_flight:
        del answered[name]
    every = {point.id for point in data.points}
    assert len(in_flight) == AT_ONCE
    assert video in answered.values()
    assert set(before.counts.values()) == {1}
    assert after.counts == Counter(every - set(answered))
    assert Counter(record.key[0] for record in records(run)) == Counter(every)
    assert {look.point.id: look.shown for look in (*before.looks, *after.looks)} == {
        look.point.id: look.shown for look in alone.looks
    }


@pytest.mark.parametrize(
    ("bench", "frames"), [("ovo-bench", "uniform:8"), ("ovo-bench:mode=polled", "fps:1,latest")]
)
def test_killed_in_mid_video_and_resumed_it_is_the_run_that_was_left_alone(
    data: OvoData, tmp_path: Path, bench: str, frames: str
) -> None:
    def of(server: Server, name: str) -> list[str]:
        return command(data, server.url, tmp_path / name, bench, "--frames", frames)

    first = Eyes(data, two_of_three, in_mid_video(data))
    second, alone = Eyes(data, two_of_three), Eyes(data, two_of_three)
    with serving(first) as server:
        run = killed(of(server, "a"), first, tmp_path / "a")
    with serving(second) as server:
        code, report, words = run_cli(of(server, "a"))
    assert code == 0, words
    with serving(alone) as server:
        code, unbroken, words = run_cli(of(server, "b"))
    assert code == 0, words
    check_resumed(data, first, second, alone, run)
    assert report["scorings"] == unbroken["scorings"]
    actual = report["scorings"]["official"]["metrics"]
    expected = averages(data.points, lambda point: point.number % 3 != 0)
    assert {name: actual[name]["value"] for name in expected} == pytest.approx(expected)


def test_a_broken_video_fails_its_questions_by_name_and_no_others(
    data: OvoData, tmp_path: Path
) -> None:
    folder = copytree(data.folder, tmp_path / "data")
    broken, absent = "YouTube_Games/PL9Zx&index=1.mp4", "COIN/last.mp4"
    videos.without_index(folder / "src_videos" / broken, n=50, fps=10)
    (folder / "src_videos" / absent).unlink()
    partly = OvoData(folder=folder, rows=data.rows, clips=data.clips)
    eyes = Eyes(data)
    with serving(eyes) as server:
        code, report, words = run_cli(
            command(partly, server.url, tmp_path / "runs", "ovo-bench", "--frames", "last:4@2")
        )
    assert code == 1
    lost = {point.id for point in data.points if point.video in (broken, absent)}
    assert f"{len(lost)} questions without a reply" in words
    assert eyes.counts == Counter({point.id for point in data.points} - lost)
    (journal,) = (tmp_path / "runs").glob("*/*/*/replies.jsonl")
    failed = {item.key[0]: item for item in records(journal.parent) if item.state == "failed"}
    assert set(failed) == lost
    names = {point.id: point.video for point in data.points}
    for name, record in failed.items():
        assert record.error is not None
        assert names[name] in record.error.message
        says = "cannot be decoded" if names[name] == broken else "is missing"
        assert says in record.error.message
    assert report["replies"] == {"ok": 129 - len(lost), "failed": len(lost)}
    actual = report["scorings"]["official"]["metrics"]["accuracy_micro"]
    assert (actual["value"], actual["n"]) == (1.0, 129 - len(lost))
    assert actual["bounds"] == pytest.approx([1 - len(lost) / 129, 1.0])


# -- polled


def echo(point: Point, shown: tuple[int, ...]) -> str:
    """All that a reply can depend on."""
    return f"{point.id}: {shown}"


def grid(data: OvoData, point: Point) -> list[int]:
    """The indices on display at 0, 1, ... s before a point's window ends, and the newest."""
    frames = [frame for frame in ovo.frames_of(data.clips[point.video]) if frame[1] in point.seen]
    last = frames[-1][0]
    on_display = [
        max(index for at, index in frames if at <= second) for second in range(int(last) + 1)
    ]
    return list(dict.fromkeys([*on_display, frames[-1][1]]))


def test_polled_over_all_frames_every_reply_is_the_offline_one(
    data: OvoData, tmp_path: Path
) -> None:
    eyes = [Eyes(data, echo), Eyes(data, echo)]
    offline = evaluated(data, eyes[0], tmp_path / "offline", frames="fps:1,latest")
    polled = evaluated(data, eyes[1], tmp_path / "polled", "mode=polled", adapter="window:all")
    assert replies(polled) == replies(offline)
    assert eyes[1].counts == Counter(point.id for point in data.points)
    for look in eyes[1].looks:
        assert list(look.shown) == grid(data, look.point), look.point.id


def test_polled_with_a_window_of_four_the_newest_four_are_shown(
    data: OvoData, tmp_path: Path
) -> None:
    eyes = Eyes(data)
    result = evaluated(data, eyes, tmp_path, "mode=polled", adapter="window:4")
    assert eyes.counts == Counter(point.id for point in data.points)
    for look in eyes.looks:
        assert list(look.shown) == grid(data, look.point)[-4:], look.point.id
    # What was shown first is not among the newest four.
    actual = metrics(result)
    assert {name: actual[f"accuracy/{name}"] for name in TASKS if name != "EPM"} == dict.fromkeys(
        [task for task in TASKS if task != "EPM"], 1.0
    )


@pytest.mark.parametrize("scope", ["question", "point"])
def test_polled_in_other_sessions_the_same_is_shown(
    data: OvoData, tmp_path: Path, scope: str
) -> None:
    eyes = Eyes(data)
    evaluated(data, eyes, tmp_path, f"mode=polled,task=forward,scope={scope}", adapter="window:all")
    assert eyes.counts == Counter(p.id for p in data.points if p.task in GROUPS["forward"])
    for look in eyes.looks:
        assert list(look.shown) == grid(data, look.point), look.point.id


# -- sessions of one's own, without a server: python:FILE:NAME

SESSIONS = '''
"""Models that watch, and import nothing of ours but the form of what they say."""

import copy
import json
import re
from pathlib import Path

from snellen.core.model import Emission

SCRIPT = Path(__file__).with_name("script.json")


class Session:
    def __init__(self):
        self.polls = []
        self.open = {}

    async def close(self):
        pass


class Remembering(Session):
    """Sees nothing; says Yes from the third time on that it is asked the same."""

    async def feed(self, frames):
        return []

    async def ask(self, query, *, must_answer):
        assert must_answer
        self.polls.append(query.text)
        return [Emission(text="Yes" if self.polls.count(query.text) > 2 else "No")]

    async def fork(self):
        return copy.deepcopy(self)


class Speaking(Session):
    """Says what stands in a script, {question: [[seconds, text], ...]}, once the time has come."""

    async def feed(self, frames):
        now = frames[-1].time
        due = [(id, line) for id, lines in self.open.items() for line in lines if line[0] <= now]
        for id, line in due:
            self.open[id].remove(line)
        return [Emission(text=text, query=id) for id, (_, text) in due]

    async def ask(self, query, *, must_answer):
        assert not must_answer
        lines = json.loads(SCRIPT.read_text())[re.search(r"#(\\d+)", query.text)[1]]
        self.open[query.id] = [line for line in lines if line[0] >= 0]
        return [Emission(text=text, query=query.id) for seconds, text in lines if seconds < 0]


class Remembers:
    async def open(self, spec):
        return Remembering()


class Speaks:
    async def open(self, spec):
        return Speaking()
'''


def with_sessions(folder: Path, script: Mapping[str, Sequence[tuple[float, str]]]) -> Path:
    file = folder / "sessions.py"
    file.write_text(SESSIONS, encoding="utf-8")
    (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
    return file


@pytest.mark.parametrize(("memory", "right"), [("fork", 2 / 5), ("keep", 1.0)])
def test_who_sees_nothing_and_remembers_polls_gets_no_more_than_a_constant_reply_unless_it_is_kept(
    data: OvoData, tmp_path: Path, memory: str, right: float
) -> None:
    """In the order of time the points of a clue ask for No, No, Yes, Yes, Yes."""
    result = snellen.evaluate(
        f"ovo-bench:mode=polled,task=CRR,memory={memory}",
        f"python:{with_sessions(tmp_path, {})}:Remembers",
        data=data.folder,
        out=tmp_path,
    )
    assert metrics(result)["accuracy"] == pytest.approx(right)
    assert result.report.n == 20


def test_a_session_that_keeps_its_questions_is_asked_all_of_them_again_when_it_goes_on(
    data: OvoData, tmp_path: Path
) -> None:
    """Three points are answered; of the others the same must be said as without a break."""
    model = f"python:{with_sessions(tmp_path, {})}:Remembers"
    bench = "ovo-bench:mode=polled,task=CRR,memory=keep"
    snellen.evaluate(bench, model, data=data.folder, out=tmp_path / "a", limit=3)
    resumed = snellen.evaluate(bench, model, data=data.folder, out=tmp_path / "a")
    result = snellen.evaluate(bench, model, data=data.folder, out=tmp_path / "b")
    assert replies(resumed) == replies(result)
    assert resumed.run is not None
    assert Counter(record.key[0] for record in records(resumed.run)) == Counter(
        replies(result).keys()
    )


# Of each question what is said, given its row: at once ("early") with negative seconds.
LATE = 1


def oracle(row: Mapping[str, Any]) -> list[tuple[float, str]]:
    """What is right, a second late."""
    if row["task"] == "CRR":
        return [(row["clue_time"] + LATE, "A picture.")]
    times = row["start_time" if row["task"] == "SSR" else "end_times"]
    return [(time + LATE, str(number)) for number, time in enumerate(times, 1)]


def eager(row: Mapping[str, Any]) -> list[tuple[float, str]]:
    """Everything, as soon as it is asked."""
    return [(-1, text) for _, text in oracle(row)]


def silent(row: Mapping[str, Any]) -> list[tuple[float, str]]:
    return []


# 4 questions of CRR with a window each, 6 of SSR with two, 5 of REC with three: 31 windows.
SPOKEN: dict[str, tuple[Callable[[Mapping[str, Any]], list[tuple[float, str]]], Any]] = {
    "oracle": (
        oracle,
        {
            "answered_in_span": 1.0,
            "early": 0.0,
            "late": 0.0,
            "silent": 0.0,
            "delay_median": 1.0,
            "delay_mean": 1.0,
            "delay_censored": 1.0,
            "precision": 1.0,
            "recall": 1.0,
            "false_alarms_per_min": 0.0,
            "repeats": 0.0,
            "final_count": 1.0,
            "overcount": 0.0,
            "projected/CRR": 1.0,
            "projected/SSR": 1.0,
            # Two of five points are at the very end of a repetition, which is told a second later.
            "projected/REC": 3 / 5,
            "projected": (1 + 1 + 3 / 5) / 3,
        },
    ),
    "eager": (
        eager,
        {
            "answered_in_span": 0.0,
            "answered_in_span_any": 0.0,
            "early": 1.0,
            "precision": 0.0,
            "recall": 0.0,
            # Having spoken, it says Yes to all; the last total that it said is 3.
            "projected/CRR": 3 / 5,
            "projected/SSR": 3 / 5,
            "projected/REC": 2 / 5,
            "projected": (3 / 5 + 3 / 5 + 2 / 5) / 3,
            "final_count": 1.0,
        },
    ),
    "silent": (
        silent,
        {
            "answered_in_span": 0.0,
            "silent": 1.0,
            "recall": 0.0,
            "f1": 0.0,
            "count_skill": 0.0,
            "final_count": 0.0,
            "projected/CRR": 2 / 5,
            "projected/SSR": 2 / 5,
            "projected/REC": 1 / 5,
            "projected": 1 / 3,
        },
    ),
}


@pytest.mark.parametrize("scope", ["question", "video"])
@pytest.mark.parametrize("name", SPOKEN)
def test_what_a_session_says_by_itself_is_worth_what_was_worked_out_by_hand(
    data: OvoData, tmp_path: Path, name: str, scope: str
) -> None:
    says, by_hand = SPOKEN[name]
    rows = [row for row in data.rows if row["task"] in GROUPS["forward"]]
    script = {str(row["id"]): says(row) for row in rows}
    result = snellen.evaluate(
        f"ovo-bench:mode=proactive,scope={scope}",
        f"python:{with_sessions(tmp_path, script)}:Speaks",
        data=data.folder,
        out=tmp_path,
    )
    assert result.report.n == 15
    values = metrics(result, "default")
    for metric, value in by_hand.items():
        assert values[metric] == pytest.approx(value, abs=1e-9), metric


def test_a_proactive_run_that_is_killed_again_and_again_keeps_each_finished_window(
    data: OvoData, tmp_path: Path
) -> None:
    rows = [row for row in data.rows if row["task"] in GROUPS["forward"]]
    script = {str(row["id"]): oracle(row) for row in rows}
    with serving(killed_windows.answer) as server:
        model = killed_windows.write_model(tmp_path, server.url, script)
        hits, report = killed_windows.kill_again_and_again(
            server, data.folder, model, tmp_path / "a", messages=31, kills=3, seed=26
        )
        n_requests = len(server.requests)
        unbroken, _ = killed_windows.run_once(data.folder, model, tmp_path / "b").communicate()
    stored = killed_windows.times_stored(tmp_path / "a")
    assert hits >= 2
    assert n_requests <= 31 + hits
    assert set(stored.values()) == {1}
    assert stored == killed_windows.times_stored(tmp_path / "b")
    assert report["scorings"] == json.loads(unbroken)["scorings"]
    amounts = ("sessions", "media_seconds", "frames", "dropped")
    shown, expected = report["streaming"], json.loads(unbroken)["streaming"]
    assert [shown[name] for name in amounts] == [expected[name] for name in amounts]
    values = report["scorings"]["default"]["metrics"]
    by_hand = SPOKEN["oracle"][1]
    assert {name: values[name]["value"] for name in by_hand} == pytest.approx(by_hand)


@pytest.mark.parametrize(("name", "answered"), [("eager", 1.0), ("silent", 0.0)])
def test_who_always_speaks_answers_all_decoys_which_count_nowhere_else(
    data: OvoData, tmp_path: Path, name: str, answered: float
) -> None:
    def result(options: str) -> Result:
        return snellen.evaluate(
            f"ovo-bench:mode=proactive,clock=logical{options}",
            f"baseline/{name}",
            data=data.folder,
            out=tmp_path,
        )

    plain, with_decoys = result(""), result(",decoys=other-video")
    assert (plain.report.n, with_decoys.report.n) == (15, 30)
    before = plain.report.scorings["default"].metrics
    after = with_decoys.report.scorings["default"].metrics
    assert {name: after[name] for name in before} == dict(before)
    assert {name.partition("/")[0] for name in after.keys() - before.keys()} == {
        "decoys_answered",
        "decoy_messages_per_min",
    }
    decoys = after["decoys_answered"]
    assert (decoys.value, decoys.n) == (answered, 15)
    assert decoys.reason == "9 independent clusters: an interval needs at least 10"
    assert bool(after["decoy_messages_per_min"].value) == bool(answered)
    assert "decoys" not in plain.report.identity["options"]
