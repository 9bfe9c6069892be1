"""--replicas: real Ray, on this machine: one cluster for all tests here that join it, and one that
a run starts for itself. Models are files of Python."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from snellen import registry
from snellen.core.model import Reply, Request, loaded
from snellen.core.profile import Profile
from snellen.errors import ModelError, Overloaded, Rejected, UsageError
from snellen.media.content import Image, user
from snellen.models.executors.replicas import Replicas
from snellen.testing import check_model
from tests import videos
from tests.heavy.ray_clusters import node, own_cluster, wait_for
from tests.test_cli.conftest import Snellen, snellen

__all__ = ["snellen"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="needs ray, of constraints-heavy.txt"
    ),
    # Ray warns that it hides GPUs from who has asked for none.
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    # It leaves sockets and files of logs to the collector when it is left.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
WORKS = '''
"""Blurs a picture for a tenth of a second of CPU, and says which process it was."""
import os, time
import numpy as np
from PIL import Image, ImageFilter

def answer(messages):
    began = time.thread_time()
    drawn = np.random.default_rng(0).integers(0, 255, (300, 300, 3), dtype=np.uint8)
    picture = Image.fromarray(drawn)
    while time.thread_time() - began < 0.1:
        picture = picture.filter(ImageFilter.GaussianBlur(3))
    with open("asked", "a") as log:
        log.write(f"{os.getpid()} {messages[-1].text.split()[1]}\\n")
    return "A"
'''
SAYS = '''
import hashlib, os, sys, time
from snellen.errors import ModelError, Overloaded, Rejected
from snellen.core.model import Reply

class Mine(ModelError):
    """A class that is nowhere but here."""

class MyReply(Reply):
    pass

def pid(messages):
    return str(os.getpid())

def pictures(messages):
    return " ".join(hashlib.sha256(one.source).hexdigest() for one in messages[-1].images)

def threads(messages):
    return " ".join(os.environ[f"{one}_NUM_THREADS"] for one in ("OMP", "OPENBLAS", "MKL"))

def own_reply(messages):
    return MyReply(text="mine", stop="stop")

def overloaded(messages):
    raise Overloaded("try later", retry_after=7.5, throttled=True)

def rejected(messages):
    raise Rejected("never", hopeless=True)

def own_error(messages):
    raise Mine("nobody else knows this class")

class Ranking:
    name = "ranks"

    def generate(self, messages):
        return "both"

    async def rank(self, request):
        return [(-float(n), len(choice)) for n, choice in enumerate(request.choices)]

def dies(messages):
    os._exit(1)

async def slow(messages):
    import asyncio
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        open("cancelled", "w").close()
        raise
'''


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster of four CPUs, which ends with the tests."""
    assert "ray" not in sys.modules, "Ray has read its settings already: ask in another process"
    with own_cluster() as address:
        yield address


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the models and forty questions."""
    (tmp_path / "works.py").write_text(WORKS)
    (tmp_path / "says.py").write_text(SAYS)
    write_questions(tmp_path, 40)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_questions(folder: Path, n: int) -> None:
    rows = [
        {"id": f"q{number}", "question": f"Which {number} ?", "A": "x", "B": "y", "answer": "A"}
        for number in range(n)
    ]
    (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def command(*more: str) -> list[str]:
    run = ["run", "-b", "mine.jsonl", "-m", "python:works.py:answer"]
    return [sys.executable, "-m", "snellen", *run, *more]


def sent_questions(folder: Path) -> list[tuple[int, str]]:
    """Process and question, as the model wrote them."""
    path = folder / "asked"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(int(pid), question) for pid, _, question in (line.partition(" ") for line in lines)]


def records(folder: Path) -> list[Any]:
    [journal] = folder.glob("runs/*/*/*/replies.jsonl")
    return [json.loads(line) for line in journal.read_bytes().splitlines()]


def check_keys(folder: Path, n: int = 40) -> None:
    answered = Counter(
        tuple(record["key"]) for record in records(folder) if record["state"] != "failed"
    )
    assert answered == {(f"q{record}", 0, 0): 1 for record in range(n)}
    report = json.loads(next(folder.glob("runs/*/*/*/report.json")).read_text())
    assert report["replies"] == {"ok": n}


def is_there(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def of_ray(folder: Path) -> list[int]:
    """The processes of Ray whose working directory this is."""
    actual = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.joinpath("cwd").readlink() == folder:
                actual.append(int(process.name))
        except OSError:
            continue
    return [pid for pid in actual if pid != os.getpid() and is_there(pid)]


def question(*parts: Any) -> Request:
    return Request(messages=(user(*parts),))


def ask(name: str, cluster: str, *requests: Request, n: int = 1) -> list[Any]:
    """What replicas of a model of `says.py` say, or raise."""
    opened = registry.model(
        f"python:says.py:{name}", Profile(concurrency=8), replicas=Replicas(n=n, address=cluster)
    )
    return asyncio.run(answers(opened, requests))


async def answers(opened: registry.Opened, requests: Sequence[Request]) -> list[Any]:
    model: Any = opened.model
    try:
        return await asyncio.gather(*map(model.generate, requests), return_exceptions=True)
    finally:
        await model.close()


# -- whole runs


def test_killed_workers_cost_their_questions_under_way_and_nothing_else(
    cluster: str, here: Path
) -> None:
    with subprocess.Popen(
        command("--replicas", "2", "--ray-address", cluster), stderr=subprocess.PIPE, text=True
    ) as run:
        for n in (8, 20):
            wait_for(lambda n=n: len(sent_questions(here)) > n)  # type: ignore[misc]
            os.kill(sent_questions(here)[-1][0], signal.SIGKILL)
        _, output = run.communicate(timeout=120)
    assert run.returncode == 0, output
    assert output.count("died and is being restarted") == 2
    check_keys(here)
    assert len({pid for pid, _ in sent_questions(here)}) == 4
    failed = [record for record in records(here) if record["state"] == "failed"]
    assert len(failed) <= 4, "two each: the one that it answered, and the next"
    assert all("died while it had the question" in record["error"]["message"] for record in failed)
    assert len(sent_questions(here)) <= 42


def test_a_lost_node_costs_the_questions_under_way_on_it(cluster: str, here: Path) -> None:
    # For some seconds the workers of a lost node answer on, and nobody knows that it is lost.
    write_questions(here, 200)
    with node(str(here / "node.log"), f"--address={cluster}", cpus=2) as group:
        wait_for(lambda: "runtime started" in (here / "node.log").read_text())
        args = command("--replicas", "6", "--ray-address", cluster)
        with subprocess.Popen(args, stderr=subprocess.PIPE, text=True) as run:
            wait_for(lambda: len({pid for pid, _ in sent_questions(here)}) == 6)
            os.killpg(group, signal.SIGKILL)
            _, output = run.communicate(timeout=120)
    assert run.returncode == 0, output
    check_keys(here, 200)
    assert 1 <= output.count("died and is being restarted") <= 2, output


def test_a_killed_run_goes_on_where_it_ended_and_leaves_no_worker(cluster: str, here: Path) -> None:
    args = command("--replicas", "2", "--ray-address", cluster)
    with subprocess.Popen(args, stderr=subprocess.DEVNULL) as run:
        wait_for(lambda: len(sent_questions(here)) > 10)
        os.kill(run.pid, signal.SIGKILL)
    workers = {pid for pid, _ in sent_questions(here)}
    wait_for(lambda: not any(map(is_there, workers)), 20)
    before = len(sent_questions(here))
    again = subprocess.run(args, capture_output=True, text=True, timeout=120)
    assert again.returncode == 0, again.stderr
    check_keys(here)
    assert len(sent_questions(here)) - before <= 40 - (
        before - 2 - 2
    )  # asked, and not in the journal


def test_a_cluster_of_its_own_ends_with_a_killed_run(here: Path) -> None:
    args = command("--replicas", "2")
    with subprocess.Popen(args, stderr=subprocess.DEVNULL) as run:
        wait_for(lambda: len(sent_questions(here)) > 4)
        started = of_ray(here)
        assert len(started) > 4  # head, raylet, workers
        os.kill(run.pid, signal.SIGKILL)
    wait_for(lambda: not of_ray(here), 25)


def test_ctrl_c_while_a_cluster_starts_leaves_nothing(here: Path) -> None:
    words = "from snellen import registry; "
    words += "from snellen.models.executors.replicas import Replicas; "
    words += "registry.model('python:works.py:answer', replicas=Replicas())"
    args = [sys.executable, "-c", words]
    with subprocess.Popen(args, stderr=subprocess.PIPE, text=True, cwd=here) as run:
        folder = wait_for(lambda: started_in(run.pid))
        run.send_signal(signal.SIGINT)
        _, output = run.communicate(timeout=60)
    assert output.endswith("KeyboardInterrupt\n")
    assert not folder.exists()


def started_in(pid: int) -> Path | None:
    """The folder of the cluster that a process has begun to start."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"\nPPid:\t{pid}\n" in process.joinpath("status").read_text():
                words = process.joinpath("cmdline").read_text().split("\0")
                actual = [word for word in words if word.startswith("--temp-dir=")]
                if actual:
                    return Path(actual[0].partition("=")[2])
    return None


def test_ctrl_c_keeps_what_came_and_leaves_nothing_running(here: Path) -> None:
    args = command("--executor", "ray", "--json")
    pipe = subprocess.PIPE
    with subprocess.Popen(args, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as run:
        wait_for(lambda: len(sent_questions(here)) > 4)
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does: all that are in the foreground
        out, output = run.communicate(timeout=60)
    assert run.returncode == 130, output
    assert json.loads(out)["replies"]["ok"] == len(records(here)) > 4
    assert "died" not in output
    wait_for(lambda: not of_ray(here), 25)


def test_a_run_may_begin_with_replicas_and_go_on_without(
    cluster: str, here: Path, snellen: Snellen
) -> None:
    (here / "runs").mkdir()
    base = ["run", "-b", "mine.jsonl", "-m", "python:says.py:pid", "--json"]
    begun = snellen(*base, "--limit", "6", "--replicas", "2", "--ray-address", cluster)
    gone_on = snellen(*base, "--limit", "8")
    ended = snellen(*base, "--limit", "10", "--executor", "ray", "--ray-address", cluster)
    assert {record.code for record in (begun, gone_on, ended)} == {0}, begun.err + ended.err
    assert begun.json["identity"] == gone_on.json["identity"] == ended.json["identity"]
    pids = [record["reply"] for record in records(here)]
    assert len(pids) == 10 and str(os.getpid()) in pids[6:8] and str(os.getpid()) not in pids[:6]
    [manifest] = here.glob("runs/*/*/*/manifest.json")
    sessions = json.loads(manifest.read_text())["sessions"]
    assert [record.get("replicated", {}).get("replicas") for record in sessions] == [2, None, 1]
    assert [record["concurrency"] for record in sessions] == [4, 1, 2]


def test_videos_are_decoded_by_the_workers_and_their_frames_are_recorded(
    cluster: str, here: Path, snellen: Snellen
) -> None:
    videos.cfr(here / "clip.mp4", 60)
    rows = [
        {"id": n, "video": "clip.mp4", "start": 0, "end": end, "question": "?", "answer": "A"}
        for n, end in enumerate((0.5, 1.0, 1.5, 2.0))
    ]
    (here / "clips.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    base = ["run", "-b", "clips.jsonl", "--task", "vqa", "-m", "python:says.py:pictures"]
    base += ["--frames", "uniform:4,pixels=960", "--json"]
    plain = snellen(*base, "--out", "plain")
    spread = snellen(*base, "--replicas", "2", "--ray-address", cluster)
    assert plain.code == spread.code == 0, spread.err

    def by_key(folder: str) -> dict[str, Any]:
        [journal] = here.glob(f"{folder}/*/*/*/replies.jsonl")
        lines = map(json.loads, journal.read_bytes().splitlines())
        return {line["key"][0]: (line["reply"], line["media"], line["request"]) for line in lines}

    for _, media, _ in by_key("plain").values():
        assert (media[0]["width"], media[0]["height"]) == (40, 24)
        assert media[0]["original"] == [320, 192]
    assert by_key("runs") == by_key("plain")
    assert [len(media[0]["frames"]) for _, media, _ in by_key("runs").values()] == [4] * 4


@pytest.mark.heavy
def test_a_model_of_transformers_says_with_replicas_what_it_says_alone(
    cluster: str, here: Path
) -> None:
    from tests.heavy.tiny_models import build

    build("llava", here / "tiny")
    asks = [sys.executable, "-m", "snellen", "run", "-b", "eyechart", "-m", "hf/./tiny"]
    asks += ["--limit", "12", "--json"]
    # In processes that go without torchvision, as the workers do.
    plain, spread = (
        subprocess.run([*asks, *more], capture_output=True, check=True, timeout=120).stdout
        for more in (("--out", "plain"), ("--replicas", "2", "--ray-address", cluster))
    )
    assert json.loads(plain)["identity"] == json.loads(spread)["identity"]

    def by_key(folder: str) -> dict[str, Any]:
        [journal] = here.glob(f"{folder}/*/*/*/replies.jsonl")
        lines = map(json.loads, journal.read_bytes().splitlines())
        return {line["key"][0]: (line["reply"], line["stop"], line["usage"]) for line in lines}

    assert by_key("runs") == by_key("plain")
    assert len(by_key("runs")) == 12 and all(reply for reply, _, _ in by_key("runs").values())


# -- one pool


def jpeg(path: Path, seed: int) -> bytes:
    """A picture of noise, of some 300 kB."""
    pixels = np.random.default_rng(seed).integers(0, 255, (500, 500, 3), dtype=np.uint8)
    out = BytesIO()
    PIL.Image.fromarray(pixels).save(out, "JPEG", quality=95)
    path.write_bytes(out.getvalue())
    return out.getvalue()


def test_pictures_go_as_references(cluster: str, here: Path) -> None:
    import ray

    from snellen.models.executors.sending import referred

    data = jpeg(here / "one.jpg", 1)
    request = loaded(question(Image(here / "one.jpg"), "?"))
    assert len(ray.cloudpickle.dumps(request)) > len(data) > 200_000
    sent = ray.cloudpickle.dumps(referred(request))
    assert len(sent) < 2000
    [reply] = ask("pictures", cluster, request)
    assert request.messages[0].images[0].digest == f"sha256:{reply.text}"


def test_a_picture_that_is_another_where_the_worker_is_is_not_shown(
    cluster: str, here: Path
) -> None:
    jpeg(here / "one.jpg", 1)
    request = loaded(question(Image(here / "one.jpg"), "?"))
    jpeg(here / "one.jpg", 2)
    [error] = ask("pictures", cluster, request)
    assert isinstance(error, Rejected) and "differs from the file on" in str(error)


def test_a_picture_that_the_worker_has_not_is_sent_and_it_is_said_once(
    cluster: str, here: Path
) -> None:
    jpeg(here / "one.jpg", 1)
    request = loaded(question(Image(here / "one.jpg"), "?"))
    (here / "one.jpg").unlink()
    opened = registry.model("python:says.py:pictures", replicas=Replicas(n=1, address=cluster))
    text: list[str] = []
    opened.listeners.append(text.append)
    replies = asyncio.run(answers(opened, [request, request]))
    digest = request.messages[0].images[0].digest
    assert [f"sha256:{reply.text}" for reply in replies] == [digest, digest]
    assert len(text) == 1 and "so their bytes are sent to it instead" in text[0]


def test_replicas_share_the_cores_and_keep_the_contract(cluster: str, here: Path) -> None:
    opened = registry.model(
        "python:says.py:threads", Profile(concurrency=8), replicas=Replicas(n=2, address=cluster)
    )
    model: Any = opened.model
    assert check_model(model, question("?")).text == "1 1 1"


def test_a_reply_of_a_class_of_the_models_own_is_read(cluster: str, here: Path) -> None:
    assert ask("own_reply", cluster, question("?")) == [Reply(text="mine", stop="stop")]


def test_replicas_rank_where_the_model_does(cluster: str, here: Path) -> None:
    opened = registry.model("python:says.py:Ranking", replicas=Replicas(n=1, address=cluster))

    async def body() -> tuple[Any, Any]:
        model: Any = opened.model
        try:
            request = Request(messages=(user("?"),), kind="rank", choices=("a", "bc"))
            return await model.rank(request), await model.generate(question("?"))
        finally:
            await model.close()

    ranked, result = asyncio.run(body())
    assert (ranked, result.text) == (((-0.0, 1), (-1.0, 2)), "both")
    plain = registry.model("python:says.py:pid", replicas=Replicas(n=1, address=cluster)).model
    assert not hasattr(plain, "rank")
    asyncio.run(plain.close())  # type: ignore[union-attr]


def test_errors_cross_with_their_fields(cluster: str, here: Path) -> None:
    [later] = ask("overloaded", cluster, question("?"))
    assert isinstance(later, Overloaded) and str(later) == "try later"
    assert (later.retry_after, later.throttled) == (7.5, True)
    [never] = ask("rejected", cluster, question("?"))
    assert isinstance(never, Rejected) and (str(never), never.hopeless) == ("never", True)


def test_an_error_of_a_class_that_is_not_here_is_read_as_ours_that_it_is_of(
    cluster: str, here: Path
) -> None:
    [error] = ask("own_error", cluster, question("?"))
    assert type(error) is ModelError  # fails its question, as without replicas
    assert str(error) == "nobody else knows this class"


def test_a_model_that_kills_its_workers_is_given_up(cluster: str, here: Path) -> None:
    opened = registry.model("python:says.py:dies", replicas=Replicas(n=1, address=cluster))

    async def again_and_again() -> list[Exception]:
        model: Any = opened.model
        actual: list[Exception] = []
        try:
            for _ in range(4):
                with pytest.raises((Overloaded, Rejected)) as caught:
                    await model.generate(question("?"))
                actual.append(caught.value)
        finally:
            await model.close()
        return actual

    *died, last = asyncio.run(again_and_again())
    assert [type(name) for name in died] == [Overloaded] * 3
    assert not any(name.throttled for name in died if isinstance(name, Overloaded))
    assert isinstance(last, Rejected) and last.hopeless
    assert "died 3 times in a row without answering" in str(last)


def test_a_worker_that_nothing_can_be_started_for_is_given_up(
    cluster: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = registry.model("python:says.py:dies", replicas=Replicas(n=1, address=cluster))

    def refuse(pool: object) -> None:
        raise ConnectionError("the cluster is gone")

    async def body() -> Exception:
        model: Any = opened.model
        try:
            monkeypatch.setattr(type(model), "_actor", refuse)
            with pytest.raises(Overloaded):
                await model.generate(question("?"))
            with pytest.raises(Rejected) as caught:
                async with asyncio.timeout(20):
                    await model.generate(question("?"))
            return caught.value
        finally:
            await model.close()

    text = str(asyncio.run(body()))
    assert "worker 1 was not restarted: ConnectionError: the cluster is gone" in text


def test_a_worker_that_died_keeps_no_other_from_closing_its_model(cluster: str, here: Path) -> None:
    from snellen.models.executors.ray import Pool

    class Closes:
        name = "closes"

        async def generate(self, request: Request) -> Reply:
            raise NotImplementedError

        async def close(self) -> None:
            await asyncio.sleep(1)
            Path(f"closed-{os.getpid()}").touch()

    def opened() -> registry.Opened:
        return registry.Opened(model=Closes(), name="closes", server="closes")

    pool = Pool("closes", lambda _: opened, Replicas(n=2, address=cluster), devices=False)
    dead, left = (worker.hello.pid for worker in pool._workers)
    os.kill(dead, signal.SIGKILL)
    asyncio.run(pool.close())
    assert (here / f"closed-{left}").exists()


def test_a_question_for_which_nobody_waits_is_left(cluster: str, here: Path) -> None:
    opened = registry.model("python:says.py:slow", replicas=Replicas(n=1, address=cluster))

    async def body(generate: Callable[[Request], Awaitable[Reply]]) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await generate(question("?"))
        until = time.monotonic() + 10
        while not (here / "cancelled").exists() and time.monotonic() < until:
            await asyncio.sleep(0.05)

    async def closed() -> None:
        model: Any = opened.model
        try:
            await body(model.generate)
        finally:
            await model.close()

    asyncio.run(closed())
    assert (here / "cancelled").exists()


# -- what cannot be


def test_another_version_on_a_node_is_said(
    cluster: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snellen.models.executors.ray.__version__", "0.0.1")
    with pytest.raises(UsageError, match=r"but this machine has 0\.0\.1\. Install"):
        ask("pid", cluster, question("?"))


def test_a_worker_that_dies_while_it_opens_the_model_is_said(cluster: str, here: Path) -> None:
    (here / "dead.py").write_text("import os\nos._exit(3)\n")
    with pytest.raises(UsageError, match=r"worker 1 \(process \d+ on .*\) died while it opened"):
        registry.model("python:dead.py:answer", replicas=Replicas(n=1, address=cluster))


def test_what_it_wrote_before_is_said_and_nothing_of_rays(here: Path) -> None:
    (here / "dead.py").write_text(
        "import os\nprint('no weights', flush=True)\nos.write(2, b'torn')\nos._exit(3)\n"
    )
    asks = [sys.executable, "-m", "snellen", "run", "-b", "eyechart", "-m", "python:dead.py:answer"]
    ran = subprocess.run(
        [*asks, "--replicas", "1"], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 2
    assert ran.stderr.endswith("Its log ends in:\nno weights\ntorn\n")


def test_a_file_that_is_not_there_is_said(cluster: str, here: Path) -> None:
    with pytest.raises(UsageError, match=r"python:nowhere\.py: there is no such file"):
        registry.model("python:nowhere.py:answer", replicas=Replicas(n=1, address=cluster))


def test_more_than_the_cluster_has_is_said_at_once(cluster: str, here: Path) -> None:
    for replicas, text in (
        (Replicas(n=2, address=cluster, gpus=1), "2 replicas with 1 GPUs each do not fit"),
        (Replicas(n=9, address=cluster), "9 replicas need one CPU each, but the cluster has 4"),
    ):
        with pytest.raises(UsageError, match=text):
            registry.model("python:says.py:pid", replicas=replicas)


@pytest.fixture
def by_value() -> Iterator[None]:
    """What is defined here goes to the workers, which do not have this file."""
    import ray

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    ray.cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def of_this_process() -> registry.Opened:
    """A model that is another in each process."""

    class Model:
        name = "mine"

        async def generate(self, request: Request) -> Reply:
            os._exit(1)

    return registry.Opened(model=Model(), name="mine", server="mine", revision=str(os.getpid()))


def of_a_full_device() -> registry.Opened:
    """A model that dies once, and whose second opening finds no memory."""
    with open("opened", "a+") as file:
        file.write("x")
        file.seek(0)
        opened = len(file.read())
    if opened == 2:
        raise UsageError("mine: out of memory")

    class Model:
        name = "mine"

        async def generate(self, request: Request) -> Reply:
            if opened == 1:
                os._exit(1)
            return Reply(text=str(opened))

    return registry.Opened(model=Model(), name="mine", server="mine", revision="1")


def test_a_worker_that_cannot_open_its_model_at_once_tries_again(
    cluster: str, here: Path, by_value: None
) -> None:
    from snellen.models.executors.ray import Pool

    pool = Pool("mine", lambda _: of_a_full_device, Replicas(n=1, address=cluster), devices=False)

    async def body() -> Reply:
        try:
            with pytest.raises(Overloaded):
                await pool.generate(question("?"))
            return await pool.generate(question("?"))
        finally:
            await pool.close()

    assert asyncio.run(body()).text == "3"


def test_workers_whose_models_are_not_alike_are_refused(
    cluster: str, here: Path, by_value: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from snellen.models.executors.ray import Pool

    with pytest.raises(UsageError, match=r"mine is not the same model on every node: the rev"):
        Pool("mine", lambda _: of_this_process, Replicas(n=2, address=cluster), devices=False)

    pool = Pool("mine", lambda _: of_this_process, Replicas(n=1, address=cluster), devices=False)

    async def body() -> str:
        try:
            with pytest.raises(Overloaded):
                await pool.generate(question("?"))
            monkeypatch.setattr("snellen.models.executors.ray.PAUSES", (0.0, 0.0))
            with pytest.raises(Rejected) as caught:
                await pool.generate(question("?"))
            return str(caught.value)
        finally:
            await pool.close()

    assert "was not restarted: the revision of the model on" in asyncio.run(body())


def test_workers_that_find_no_place_in_time_are_said(
    cluster: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    four = registry.model("python:says.py:pid", replicas=Replicas(n=4, address=cluster)).model
    monkeypatch.setattr("snellen.models.executors.ray.PLACING", 2.0)
    try:
        with pytest.raises(UsageError) as caught:
            registry.model("python:says.py:pid", replicas=Replicas(n=1, address=cluster))
    finally:
        asyncio.run(four.close())  # type: ignore[union-attr]
    assert str(caught.value).startswith(
        "only 0 of 1 workers started within 2 s. The cluster has 4 CPUs and 0 GPUs, of which "
        "0 CPUs and 0 GPUs are free."
    )


def test_a_model_that_is_not_open_in_time_is_said(
    cluster: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "waits.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr("snellen.models.executors.ray.OPENING", 1.0)
    with pytest.raises(
        UsageError, match=r"worker 1 \(process \d+ on .*\) did not open .* within 1 s"
    ):
        registry.model("python:waits.py:answer", replicas=Replicas(n=1, address=cluster))


def test_a_process_is_in_one_cluster_however_it_came_there(cluster: str, here: Path) -> None:
    import ray

    text = f"this process is already in the Ray cluster {cluster}, so it cannot join 127.0.0.1:1"
    elsewhere = Replicas(n=1, address="127.0.0.1:1")
    there = registry.model("python:says.py:pid", replicas=Replicas(n=1, address=cluster)).model
    with pytest.raises(UsageError, match=text):
        registry.model("python:says.py:pid", replicas=elsewhere)
    asyncio.run(there.close())  # type: ignore[union-attr]
    ray.init(address=cluster, log_to_driver=False, logging_level="ERROR")
    try:
        with pytest.raises(UsageError, match=text):
            registry.model("python:says.py:pid", replicas=elsewhere)
        assert ask("own_reply", "auto", question("?")) == [Reply(text="mine", stop="stop")]
        assert ray.is_initialized(), "it is the user's to leave"
    finally:
        ray.shutdown()


def test_a_cluster_that_is_not_there_is_said(here: Path) -> None:
    for address, text in (
        ("127.0.0.1:1", "there is no Ray cluster at 127.0.0.1:1: .*refused"),
        ("somewhere", "must be HOST:PORT or auto, not somewhere"),
    ):
        with pytest.raises(UsageError, match=text):
            registry.model("python:says.py:pid", replicas=Replicas(n=1, address=address))


def test_an_address_of_the_environment_is_said_to_be_one(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(UsageError, match=r"no Ray cluster at 127\.0\.0\.1:1: .* set RAY_ADDRESS"):
        registry.model("python:says.py:pid", replicas=Replicas(n=1))


def test_a_cluster_that_asks_for_a_token_is_told_of_with_what_gives_it(
    cluster: str, here: Path
) -> None:
    without = {name: value for name, value in os.environ.items() if "RAY_AUTH" not in name}
    args = command("--replicas", "1", "--ray-address", cluster)
    ran = subprocess.run(args, capture_output=True, text=True, timeout=120, env=without)
    assert ran.returncode == 2
    assert f"the Ray cluster {cluster} cannot be joined: " in ran.stderr
    assert "set RAY_AUTH_MODE=token on this machine too." in ran.stderr
