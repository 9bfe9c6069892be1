"""A plan over eight video benchmarks: which frames a server gets, what is decoded, and what is
written."""

from __future__ import annotations

import json
import tempfile
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from snellen.store import ReplyRecord, Run
from tests.servers import ReceivedRequest, completion, serving
from tests.test_cli.conftest import Snellen
from tests.video_sets import ITEM, OWN_POLICIES, DrawnQuestion, by_content, count_opens, draw
from tests.videos import index_of

BENCHMARKS = f"benchmarks = {json.dumps([*OWN_POLICIES])}"
SMALL = "uniform:8,side=160"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a command without --data looks for the sets."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def sets(folder: Path) -> tuple[DrawnQuestion, ...]:
    return draw(folder / "data")


@pytest.fixture
def drawn(
    snellen: Snellen,
    folder: Path,
    sets: tuple[DrawnQuestion, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[DrawnQuestion, ...]:
    monkeypatch.setenv("SNELLEN_HOME", str(folder))
    return sets


@pytest.fixture
def opened(drawn: tuple[DrawnQuestion, ...], monkeypatch: pytest.MonkeyPatch) -> Counter[Path]:
    """How often each video is opened, after they were drawn."""
    return count_opens(monkeypatch)


def indexes_by_item(requests: Iterable[ReceivedRequest]) -> dict[str, list[list[int]]]:
    """What the pixels of the pictures say that a server got with each question."""
    shown: dict[str, list[list[int]]] = {}
    for request in requests:
        content = request.json["messages"][-1]["content"]
        text = "".join(part["text"] for part in content if part["type"] == "text")
        urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
        (item,) = set(ITEM.findall(text))
        shown.setdefault(item, []).append([index_at(url) for url in urls])
    return shown


def index_at(url: str) -> int:
    picture = PIL.Image.open(BytesIO(b64decode(url.partition(",")[2])))
    return index_of(np.asarray(picture.convert("RGB")))


def times_by_item(documents: Iterable[dict[str, Any]]) -> dict[str, list[list[float]]]:
    """The times of frames that runs stored with the replies to each question."""
    stored: dict[str, list[list[float]]] = {}
    for document in documents:
        run = Run(Path(document["run"]))
        items = {question.key: item_of(question.messages) for question in run.questions()}
        for reply in run.replies():
            assert isinstance(reply, ReplyRecord) and reply.state == "ok", reply
            (seen,) = reply.media
            stored.setdefault(items[reply.key], []).append(seen.frames)
        run.close()
    return stored


def item_of(messages: object) -> str:
    items: set[str] = set(ITEM.findall(json.dumps(messages)))
    (item,) = items
    return item


def picked(
    drawn: Sequence[DrawnQuestion], policies: Sequence[str] = ()
) -> tuple[dict[str, list[list[int]]], dict[str, list[list[float]]]]:
    """The indexes and the times that these policies pick for each question, or the policy of the
    question's benchmark."""
    frames = {
        question.item: [
            question.picked(policy) for policy in policies or [OWN_POLICIES[question.benchmark]]
        ]
        for question in drawn
    }
    indexes = {item: [[index for _, index in row] for row in rows] for item, rows in frames.items()}
    times = {
        item: [[float(time) for time, _ in row] for row in rows] for item, rows in frames.items()
    }
    return indexes, times


def tree(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("policies", [(), ("fps:2,side=160", SMALL)], ids=["own", "two"])
def test_each_video_is_decoded_once_per_benchmark_and_policy_and_nothing_is_written(
    snellen: Snellen,
    tmp_path: Path,
    folder: Path,
    drawn: tuple[DrawnQuestion, ...],
    opened: Counter[Path],
    monkeypatch: pytest.MonkeyPatch,
    policies: Sequence[str],
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    frames = f"frames = {json.dumps(policies)}" if policies else ""
    (tmp_path / "plan.toml").write_text(f"{BENCHMARKS}\n{frames}\nout = 'runs'")
    before = tree(tmp_path) | tree(folder)

    with serving(completion("B")) as server:
        done = snellen("run", "plan.toml", "-m", "openai/m", "--base-url", server.url, "--json")

    assert done.code == 0, done.err
    indexes, times = picked(drawn, policies)
    assert indexes_by_item(server.requests) == indexes
    assert times_by_item(done.json) == times
    assert opened == dict.fromkeys({question.path for question in drawn}, len(policies) or 1)
    written = (tree(tmp_path) | tree(folder)) - before
    # Any command keeps the options of the benchmarks that it creates.
    others = [path for path in written if not path.is_relative_to(tmp_path / "runs")]
    assert {path.name for path in others} <= {"outlines.json"}
    assert not any(b"\xff\xd8\xff" in path.read_bytes() for path in written)


def test_with_a_cache_each_video_is_decoded_once_for_two_models_at_the_same_time(
    snellen: Snellen, tmp_path: Path, drawn: tuple[DrawnQuestion, ...], opened: Counter[Path]
) -> None:
    """The servers differ, so the runs of the two models do not wait for each other."""
    options = ("--frames", SMALL, "--frame-cache", "frames", "--json")
    with serving(completion("B")) as server, serving(completion("B")) as second:
        models = [
            f'{{name = "openai/{name}", base_url = "{at.url}"}}'
            for name, at in (("one", server), ("two", second))
        ]
        (tmp_path / "plan.toml").write_text(
            f"{BENCHMARKS}\nout = 'runs'\nmodels = [{', '.join(models)}]"
        )
        done = snellen("run", "plan.toml", *options)
        by_two_models = by_content(opened)
        opened.clear()
        again = snellen(
            "run", "plan.toml", "-m", "openai/three", "--base-url", server.url, *options
        )

    assert (done.code, again.code) == (0, 0), done.err + again.err
    indexes, times = picked(drawn, [SMALL])
    first, third = (
        [request for request in server.requests if request.json["model"] == name]
        for name in ("one", "three")
    )
    for requests in (first, second.requests, third):
        assert indexes_by_item(requests) == indexes
    for name, documents in (("one", done.json), ("two", done.json), ("three", again.json)):
        of_model = [run for run in documents if run["model"] == f"openai/{name}"]
        assert times_by_item(of_model) == times
    # A video that two sets have is decoded once for both.
    contents = by_content({question.path: 1 for question in drawn})
    assert by_two_models == dict.fromkeys(contents, 1)
    assert not opened
