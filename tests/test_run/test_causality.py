"""A session in a process of its own looks for what is still to come, by what a program can do from
where it stands, and finds nothing of it; nor does what it says depend on it.

Not looked at, since nothing here prevents it: the rest of the disk, and what the system tells of
other processes of the same user (see `snellen.models.worker`).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from snellen import api, registry
from snellen.analysis.result import Result
from snellen.core.model import Generation, SessionSpec
from snellen.registry.keys import FOR_WORKERS
from tests import videos

FPS = 2
SECONDS = 47.5
NAME = "unguessable-3141"
ID = 271828
POINTS = (4, 9, 20, 31, 40)

SPY = '''
import dataclasses, gc, hashlib, io, json, os, select, time, types
from pathlib import Path

import PIL.Image

from snellen.media.content import Frame
from snellen.models.worker_process import SentFrame

KINDS = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType)


class Spy:
    def open(self, spec):
        return Session([], {"spec": dataclasses.asdict(spec)})


class Sees:
    """The same, without looking around."""

    def open(self, spec):
        return Session([], None)


class Session:
    def __init__(self, seen, handed):
        self.seen = seen
        self.handed = handed

    def feed(self, frames):
        for frame in frames:
            self.seen.append((frame.time, index_of(frame.image.source)))
            if self.handed is None:
                continue
            known = dataclasses.asdict(frame)
            known["image"]["source"] = hashlib.sha256(frame.image.source).hexdigest()
            self.handed["frame"] = known
        self.frame = frames[-1]
        return json.dumps(self.seen[-1])

    def ask(self, query, must_answer):
        if not must_answer:
            return
        if self.handed is None:
            return json.dumps(self.seen)
        time.sleep(0.1)
        found = {
            "seen": self.seen,
            "handed": self.handed | {"query": dataclasses.asdict(query)},
            "came meanwhile": waiting(),
            "folder": [str(one) for one in Path.cwd().rglob("*")],
            "home": os.environ["HOME"] == str(Path.cwd()) == os.environ["TMPDIR"],
            "environment": dict(os.environ),
            "files": {one: link(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd")},
            "words": Path("/proc/self/cmdline").read_text().split(chr(0)),
            "mapped": mapped(),
            "opened": opened(self.handed, query),
            "frames": [one.time for one in gc.get_objects() if isinstance(one, (Frame, SentFrame))],
            "reached": reached(getattr(self, "frame", None)),
        }
        return json.dumps(found)

    def fork(self):
        made = Session([*self.seen], self.handed and dict(self.handed))
        made.frame = getattr(self, "frame", None)
        return made


def index_of(picture):
    """As tests/videos.py draws it."""
    grey = PIL.Image.open(io.BytesIO(picture)).convert("L")
    width, height = grey.size
    at = [grey.getpixel((width * (bit * 38 + 33) // 640, height // 12)) for bit in range(16)]
    return sum((light > 125) << bit for bit, light in enumerate(at))


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def waiting():
    """What can be read from what is open."""
    pipes = []
    for name in os.listdir("/proc/self/fd"):
        if link(f"/proc/self/fd/{name}").startswith(("pipe:", "socket:")):
            pipes.append(int(name))
    ready, _, _ = select.select(pipes, [], [], 0.1)
    return ready


def mapped():
    """Files in memory that are no code."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    paths = {line.split(maxsplit=5)[5] for line in lines if "/" in line}
    return sorted(one for one in paths if one.endswith((".mp4", ".json", ".jsonl", ".jpg")))


def opened(handed, query):
    """Paths made of what was handed over, in the folders that are known."""
    words = set(json.dumps([handed, query.text, query.id]).replace('"', " ").split())
    folders = {Path.cwd(), Path.cwd().parent, Path("/data"), Path("/videos"), Path("/")}
    folders |= {Path(one) for value in os.environ.values() for one in value.split(":")}
    folders |= {one / below for one in folders for below in ("videos", "src_videos", "data")}
    names = [word + ending for word in words for ending in (".mp4", ".jpg", ".json")]
    names += ["video.mp4", "ovo_bench_new.json", "clip.mp4"]
    found = []
    for folder in folders:
        for name in names:
            try:
                if (folder / name.strip("/.")).is_file():
                    found.append(str(folder / name))
            except OSError:
                pass
    return found


def reached(frame):
    """The texts that can be reached from a frame."""
    left, met, texts = [frame], set(), set()
    while left and len(met) < 100_000:
        one = left.pop()
        if id(one) in met or isinstance(one, KINDS):
            continue
        met.add(id(one))
        if isinstance(one, (str, Path)):
            texts.add(str(one))
        left += gc.get_referents(one)
    return sorted(texts)
'''


def rows() -> list[dict[str, Any]]:
    return [
        {
            "id": ID,
            "task": "CRR",
            "video": f"{NAME}.mp4",
            "question": "What is drawn last?",
            "answer": "A block.",
            "ask_time": POINTS[0],
            "clue_time": 12,
            "test_info": [{"realtime": at, "type": int(at > 12)} for at in POINTS],
        }
    ]


def data(folder: Path, indices: list[int]) -> Path:
    (folder / "src_videos").mkdir(parents=True)
    videos.drawn(folder / "src_videos" / f"{NAME}.mp4", indices, FPS)
    (folder / "ovo_bench_new.json").write_text(json.dumps(rows()))
    return folder


ALL_FRAMES = [*range(int(SECONDS * FPS))]


@pytest.fixture(scope="module")
def full_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return data(tmp_path_factory.mktemp("whole") / "data", ALL_FRAMES)


@pytest.fixture(scope="module")
def spy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spy") / "spy.py"
    path.write_text(SPY)
    return path


def run(folder: Path, model: str, out: Path, options: str = "mode=polled") -> Result:
    benchmark = registry.benchmark(f"ovo-bench:task=CRR,{options}", data=folder)
    plan = api.Plan(benchmarks=[benchmark], models=[registry.model(model)], out=out)
    (finished,) = api.run_plan(plan)
    assert finished.result is not None
    assert finished.result.report.replies.get("failed", 0) == 0, finished.result.report.notes
    return finished.result


def replies(result: Result) -> dict[str, Any]:
    """By question what it said, which is JSON."""
    assert result.run is not None
    lines = (result.run / "replies.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["key"][0]: json.loads(record["reply"]) for record in map(json.loads, lines)}


def events(result: Result) -> list[dict[str, Any]]:
    assert result.run is not None
    lines = (result.run / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def findings(
    full_data: Path, spy: Path, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[float, dict[str, Any]]:
    """By the time of a question what the spy found."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIDEO_PATH", str(full_data))
        patch.setenv("SNELLEN_DATA", str(full_data))
        result = run(full_data, f"worker:{spy}:Spy", tmp_path_factory.mktemp("out"))
    answers = replies(result)
    return {float(at): answers[f"{ID}_{number}"] for number, at in enumerate(POINTS)}


# -- looking around


def test_it_has_seen_all_that_is_past_and_nothing_else(
    findings: Mapping[float, dict[str, Any]],
) -> None:
    for at, finding in findings.items():
        expected = [*range(0, int(at * FPS), FPS), int(at * FPS) - 1]
        assert [index for _, index in finding["seen"]] == expected
        assert [time for time, _ in finding["seen"]] == [index / FPS for index in expected]


def test_while_it_sleeps_nothing_more_comes(findings: Mapping[float, dict[str, Any]]) -> None:
    for at, finding in findings.items():
        assert finding["came meanwhile"] == []
        # Nor is a later frame anywhere in its process, though the stream goes on behind a fork.
        assert finding["frames"] and max(finding["frames"]) < at


def test_what_it_is_handed_says_nothing_of_the_video(
    findings: Mapping[float, dict[str, Any]],
) -> None:
    spec = SessionSpec(rate=1.0, generation=Generation(max_tokens=128, temperature=0.0))
    for at, finding in findings.items():
        handed = finding["handed"]
        assert handed["spec"] == asdict(spec)
        image = handed["frame"]["image"]
        assert handed["frame"]["time"] < at
        assert (image["label"], image["within"]) == ("", None)
        assert image["digest"] == f"sha256:{image['source']}"
        query = handed["query"]
        assert query["text"].startswith("\nYou're responsible of answering questions based on")
        assert (query["choices"], query["max_tokens"], query["stop"]) == (["Yes", "No"], 128, [])
        assert set(query) == {"id", "text", "choices", "max_tokens", "stop"}


def test_a_questions_name_does_not_say_which_of_how_many_it_is(
    findings: Mapping[float, dict[str, Any]],
) -> None:
    names = [finding["handed"]["query"]["id"] for finding in findings.values()]
    assert len(set(names)) == len(POINTS)
    assert all(re.fullmatch("[0-9a-f]{16}", name) for name in names)


def test_its_folder_is_empty_and_its_environment_bare(
    findings: Mapping[float, dict[str, Any]],
) -> None:
    ours = {"HOME", "TMPDIR", "PYTHONPATH", *FOR_WORKERS}
    for finding in findings.values():
        assert finding["folder"] == []
        assert finding["home"]
        assert set(finding["environment"]) <= {*ours, "LC_CTYPE"}  # the last is Python's own doing


def test_no_file_is_open_or_named_or_found_by_guessing(
    findings: Mapping[float, dict[str, Any]], full_data: Path
) -> None:
    nothing = re.compile(r"pipe:|socket:|anon_inode:|/dev/(null|urandom)$|/proc/|$")
    for finding in findings.values():
        assert all(nothing.match(link) for link in finding["files"].values()), finding["files"]
        assert (finding["mapped"], finding["opened"]) == ([], [])
        text = json.dumps(finding)
        for word in (NAME, str(full_data), str(full_data.parent), str(ID), str(SECONDS)):
            assert word not in text, word


# -- other futures

UNTIL = 20
FUTURES: Mapping[str, list[int]] = {
    "another": ALL_FRAMES[: UNTIL * FPS] + [1000 + index for index in ALL_FRAMES[UNTIL * FPS :]],
    "in another order": ALL_FRAMES[: UNTIL * FPS] + ALL_FRAMES[: UNTIL * FPS - 1 : -1],
    "none": ALL_FRAMES[: UNTIL * FPS],
    "a longer one": ALL_FRAMES + [0] * 100,
}


WAYS: Mapping[str, str] = {
    "forks": "mode=polled",
    "kept": "mode=polled,memory=keep,scope=question",
    "unasked": "mode=proactive",
}


PAST = {f"{ID}_{number}" for number, at in enumerate(POINTS) if at <= UNTIL}


def texts_until(result: Result) -> list[str]:
    """What was said before a time, and to the questions that were put by then."""
    emissions = [event["data"] for event in events(result) if event["ev"] == "emit"]
    return sorted(
        emission["text"]
        for emission in emissions
        if (emission["query"] in PAST if "query" in emission else emission["at"] < UNTIL)
    )


@pytest.fixture(scope="module")
def full_texts(
    full_data: Path, spy: Path, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, list[str]]:
    out = tmp_path_factory.mktemp("of-whole")
    model = f"worker:{spy}:Sees"
    return {
        way: texts_until(run(full_data, model, out / way, options)) for way, options in WAYS.items()
    }


@pytest.mark.parametrize("future", FUTURES)
def test_what_is_said_up_to_a_time_is_the_same_whatever_follows(
    full_texts: Mapping[str, list[str]], spy: Path, tmp_path: Path, future: str
) -> None:
    folder = data(tmp_path / "data", FUTURES[future])
    for way, options in WAYS.items():
        result = run(folder, f"worker:{spy}:Sees", tmp_path / way, options)
        assert texts_until(result) == full_texts[way]
        assert len(full_texts[way]) >= UNTIL


# -- the same elsewhere


def test_it_says_in_its_process_what_it_says_in_ours(
    full_texts: Mapping[str, list[str]], full_data: Path, spy: Path, tmp_path: Path
) -> None:
    for way, options in WAYS.items():
        ours = run(full_data, f"python:{spy}:Sees", tmp_path / way, options)
        assert texts_until(ours) == full_texts[way]
