"""Replicas without Ray: what is refused before anything starts, and what a worker does, in this
process. `tests/heavy/test_ray.py` has the workers."""

import asyncio
import importlib.util
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from snellen import registry
from snellen.core.model import Request, loaded
from snellen.core.profile import Profile, Serve
from snellen.errors import MediaError, ModelError, UsageError, install
from snellen.media import video
from snellen.media.content import Image, Message, Part, Video, user
from snellen.models.executors.replica import (
    Films,
    MediaMissing,
    Replica,
    ReplicaAnswer,
    ReplicaFailure,
    ReplicaInfo,
    ReplicaRequest,
)
from snellen.models.executors.replicas import Replicas
from tests import videos
from tests.test_cli.conftest import Snellen, rows, snellen

__all__ = ["rows", "snellen"]
SAYS = """
from snellen.errors import ModelError

def sizes(messages):
    return " ".join(str(len(one.source)) for one in messages[-1].images)

def raises(messages):
    raise KeyError("what is this")

class Mine(ModelError):
    pass

def gives_up(messages):
    raise Mine("no reply to this one")
"""


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> videos.Clip:
    return videos.cfr(tmp_path_factory.mktemp("clips") / "clip.mp4", 60)


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "says.py").write_text(SAYS)
    monkeypatch.chdir(tmp_path)
    return "python:says.py:"


def replica(spec: str) -> Replica:
    worker = Replica()
    assert isinstance(
        worker.open(spec, partial(registry.model, spec), str(Path.cwd())), ReplicaInfo
    )
    return worker


def question(*parts: Part) -> Request:
    return Request(messages=(user(*parts),))


# -- refused


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("openai/x", "openai/x: replicas are only for models that run here"),
        ("anthropic/x", "anthropic/x: replicas are only for models that run here"),
        ("hf-stream/x", "hf-stream/x watches streams"),
        ("worker:a.py:b", "worker:a.py:b watches streams"),
        (
            "recorded/x",
            "recorded/x cannot have replicas. Leave out --replicas. Models that can have replicas: "
            "python…, hf…, vllm…, baseline….",
        ),
        ("vlmevalkit:a.py:b", "vlmevalkit:a.py:b cannot have replicas"),
        ("baseline/most-frequent", "baseline/most-frequent cannot have replicas"),
    ],
)
def test_a_model_that_gains_nothing_by_replicas_has_none(
    snellen: Snellen, rows: Path, model: str, message: str
) -> None:
    refused = snellen("run", "-b", rows, "-m", model, "--replicas", "2")
    assert refused.code == 2 and message in refused.err
    assert not Path("runs").exists()


def test_a_server_of_its_own_has_no_replicas() -> None:
    with pytest.raises(
        UsageError, match="To send a server more requests at once, use --concurrency"
    ):
        registry.check_replicated("openai/x", Profile(serve=Serve(kind="vllm")))


def test_ray_that_is_missing_is_said_before_the_rows_are_read(
    snellen: Snellen, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "ray" else find_spec(name)
    )
    refused = snellen("run", "-b", rows, "-m", "baseline/first", "--executor", "ray")
    assert refused.code == 2
    assert f"replicas need the extra `ray`: {install('ray')}." in refused.err


def test_where_and_how_is_for_replicas_alone(snellen: Snellen, rows: Path) -> None:
    for flags in (("--ray-address", "auto"), ("--gpus-per-replica", "1")):
        refused = snellen("run", "-b", rows, "-m", "baseline/first", *flags)
        assert refused.code == 2 and "need --replicas N or --executor ray" in refused.err


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("replicas must be a whole number, at least 1, not 0", {"n": 0}),
        ("replicas must be a whole number, at least 1, not True", {"n": True}),
        ("a fraction of a GPU, or a whole number of GPUs, not 1.5", {"gpus": 1.5}),
        ("a fraction of a GPU, or a whole number of GPUs, not -1", {"gpus": -1}),
        ("a fraction of a GPU, or a whole number of GPUs, not nan", {"gpus": float("nan")}),
        ("Ray Client is not supported", {"address": "ray://head:10001"}),
    ],
)
def test_replicas_that_cannot_be_are_refused(message: str, wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=message):
        Replicas(**wrong)  # type: ignore[arg-type]


# -- how many


@pytest.mark.parametrize(
    ("gpus", "replicas", "n", "per_replica"),
    [
        (8, Replicas(), 8, 1),
        (0, Replicas(), 1, 0),
        (8, Replicas(n=2), 2, 4),
        (8, Replicas(n=3), 3, 2),
        (1, Replicas(n=2), 2, 0.5),
        (8, Replicas(gpus=2), 4, 2),
        (4, Replicas(gpus=0.5), 8, 0.5),
        (8, Replicas(n=2, gpus=0), 2, 0),
        # Of one device each: 0.6 and 0.6 do not lie in one, so neither do three in two.
        (2, Replicas(n=3), 3, 0.5),
        (2, Replicas(gpus=0.6), 2, 0.6),
        (2, Replicas(gpus=0.4), 4, 0.4),
        (3, Replicas(gpus=0.1), 30, 0.1),
        (1, Replicas(n=7), 7, 1 / 7),
    ],
)
def test_gpus_are_shared_among_replicas(
    gpus: float, replicas: Replicas, n: int, per_replica: float
) -> None:
    from snellen.models.executors.replicas import shares

    there = {"GPU": gpus, "CPU": 64.0}
    assert shares(there, replicas, devices=True, is_own=False) == (n, per_replica)


@pytest.mark.parametrize(
    ("gpus", "replicas", "message"),
    [
        (2, Replicas(n=3, gpus=0.6), "3 replicas with 0.6 GPUs each do not fit: the cluster has 2"),
        (2, Replicas(n=8, gpus=0.3), "GPUs, which are enough for 6. Request fewer"),
        (8, Replicas(n=3, gpus=4), "the cluster has 8 GPUs, which are enough for 2."),
        (1, Replicas(gpus=2), "1 replicas with 2 GPUs each do not fit"),
        (0, Replicas(gpus=0.5), "the cluster has 0 GPUs, which are enough for 0."),
    ],
)
def test_replicas_for_which_there_is_no_place_are_refused_at_once(
    gpus: float, replicas: Replicas, message: str
) -> None:
    from snellen.models.executors.replicas import shares

    with pytest.raises(UsageError, match=message):
        shares({"GPU": gpus, "CPU": 64.0}, replicas, devices=True, is_own=False)


def test_a_model_that_needs_no_gpu_gets_none() -> None:
    from snellen.models.executors.replicas import shares

    there = {"GPU": 8.0, "CPU": 64.0}
    assert shares(there, Replicas(), devices=False, is_own=False) == (1, 0)
    assert shares(there, Replicas(n=3), devices=False, is_own=False) == (3, 0)


# -- a worker's media


def test_a_worker_says_what_it_cannot_read(says: str, tmp_path: Path) -> None:
    request = question(Image(tmp_path / "none.png", digest="sha256:00"), "?")
    answer = asyncio.run(replica(f"{says}sizes").generate(ReplicaRequest(request=request)))
    assert isinstance(answer, MediaMissing) and "there is no file" in answer.reason


def test_a_worker_in_another_folder_says_so(says: str) -> None:
    opening = partial(registry.model, "python:elsewhere.py:sizes")
    outcome = Replica().open("python:elsewhere.py:sizes", opening, "/no/such/folder")
    assert isinstance(outcome, ReplicaFailure)
    assert "there is no such file" in outcome.message
    note = "The folder /no/such/folder cannot be used there (No such file or directory)"
    assert note in outcome.message


def test_a_worker_tells_a_strangers_error(says: str) -> None:
    answer = asyncio.run(replica(f"{says}raises").generate(ReplicaRequest(request=question("?"))))
    assert isinstance(answer, ReplicaFailure)
    assert (answer.kind, answer.fields) == ("Rejected", {"hopeless": False})
    assert "KeyError: 'what is this' (says.py, line 8)" in str(answer.error())


def test_a_models_own_kind_of_failure_fails_its_question_and_no_more(says: str) -> None:
    answer = asyncio.run(replica(f"{says}gives_up").generate(ReplicaRequest(request=question("?"))))
    assert isinstance(answer, ReplicaFailure)
    assert type(answer.error()) is ModelError
    assert str(answer.error()) == "no reply to this one"


def test_a_worker_shows_the_frames_that_the_policy_picks_and_says_which(
    says: str, clip: videos.Clip
) -> None:
    request = loaded(question(Video(clip.path, end=1.0, policy="uniform:4"), "?"))
    answer = asyncio.run(replica(f"{says}sizes").generate(ReplicaRequest(request=request)))
    assert isinstance(answer, ReplicaAnswer)
    frames = video.shown(Video(clip.path, end=1.0, policy="uniform:4")).frames
    assert answer.shown == (tuple(frame.time for frame in frames),)
    assert answer.reply.text == " ".join(str(len(frame.image.source)) for frame in frames)  # type: ignore[arg-type]


def test_a_videos_questions_share_one_pass(clip: videos.Clip) -> None:
    windows = [Video(clip.path, end=end, policy="uniform:4") for end in (0.5, 1.0, 2.0)]

    async def body() -> tuple[Films, list[Video]]:
        films = Films(1)
        results = [await films.shown(window, windows) for window in (*windows, *windows)]
        return films, results

    films, results = asyncio.run(body())
    assert films.passes == 1
    expected = [video.shown(window).frames for window in windows]
    assert [result.frames for result in results] == [*expected, *expected]


def test_frames_are_let_go_where_there_is_no_room(
    clip: videos.Clip, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snellen.models.executors.replica.MOST_BYTES", 1)
    short, long = (Video(clip.path, end=end, policy="uniform:4") for end in (0.5, 1.0))

    async def body() -> int:
        films = Films(1)
        for window in (short, long, short):
            assert len((await films.shown(window, ())).frames) == 4
        return films.passes

    assert asyncio.run(body()) == 3


def test_a_video_that_cannot_be_decoded_fails_its_question(says: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.mp4"
    path.write_bytes(b"no video")
    request = loaded(question(Video(path, policy="uniform:4"), "?"))
    answer = asyncio.run(replica(f"{says}sizes").generate(ReplicaRequest(request=request)))
    assert isinstance(answer, ReplicaFailure) and isinstance(answer.error(), MediaError)


def test_a_picture_that_is_encoded_anew_keeps_its_name(says: str, tmp_path: Path) -> None:
    import PIL.Image

    PIL.Image.new("RGB", (9, 9)).save(tmp_path / "one.bmp")
    request = loaded(question(Image(tmp_path / "one.bmp"), "?"))
    from snellen.models.executors.sending import referred

    sent = referred(request)
    assert sent.messages[0].images[0].source == tmp_path / "one.bmp"
    there = asyncio.run(replica(f"{says}sizes")._there(ReplicaRequest(request=sent)))
    assert there == request


def test_what_was_read_from_bytes_has_no_reference(tmp_path: Path) -> None:
    import PIL.Image

    path = tmp_path / "one.png"
    PIL.Image.new("RGB", (9, 9)).save(path)
    [of_bytes] = loaded(question(Image(path.read_bytes()), "?")).messages[0].images
    [of_file] = loaded(question(Image(path), "?")).messages[0].images
    assert (of_bytes.read_from, of_file.read_from) == (None, path)
    assert of_bytes == replace(of_file, label="")
    assert Message("user", (of_bytes,)) == Message("user", (replace(of_file, label=""),))
