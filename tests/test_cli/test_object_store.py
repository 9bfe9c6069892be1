"""Runs on an object store by the command line: killed, gone on with elsewhere, read back."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image as pillow

from snellen.errors import install
from snellen.store import remote_lock as locks
from tests.stores import COMMAND, Bucket, Machine, Proxy
from tests.test_cli.conftest import Snellen
from tests.viewers import viewing

N = 40
MODEL = """
import os, time

def slow(messages):
    time.sleep(float(os.environ.get("PAUSE", "0.02")))
    with open(os.environ["ASKED"], "a") as file:
        file.write(messages[-1].text.split()[1] + "\\n")
    return "yes"

def fast(messages):
    return "no"
"""


def png(color: str) -> bytes:
    out = BytesIO()
    pillow.new("RGB", (40, 30), color).save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with rows and a model, as each machine of a cluster would have it."""
    rows = [{"id": f"s{n}", "question": f"Number {n} ?", "answer": "yes"} for n in range(N)]
    (tmp_path / "mine.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "asked").touch()
    return tmp_path


@pytest.fixture
def here(bucket: Bucket, work: Path) -> Iterator[Machine]:
    """A machine whose processes are killed when the test ends."""
    machine = Machine(work / "a", bucket.endpoint, {"ASKED": str(work / "asked")})
    yield machine
    machine.end()


@pytest.fixture
def there(work: Path, monkeypatch: pytest.MonkeyPatch, snellen: Snellen) -> Snellen:
    """Another machine: this process, with mirrors of its own."""
    monkeypatch.setenv("SNELLEN_HOME", str(work / "b"))
    monkeypatch.setenv("ASKED", str(work / "asked"))
    monkeypatch.setattr(locks, "EVERY", 0.1)
    monkeypatch.setattr(locks, "RENEWED", 0.3)
    monkeypatch.setattr(locks, "LEASE", 1.5)
    return snellen


def asking(work: Path, out: str, model: str = "slow") -> list[str | Path]:
    spec = f"python:{work / 'model.py'}:{model}"
    return ["run", "-b", work / "mine.jsonl", "--task", "vqa", "-m", spec, "--concurrency", "1",
            "--out", out, "--json"]  # fmt: skip


def until_sent(bucket: Bucket, process: subprocess.Popen[str], n: int = 5) -> None:
    """Wait until so many replies are on the store."""
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        replies = [key for key in bucket.objects() if "/replies-" in key]
        if replies and bucket.get(replies[0]).count(b"\n") >= n:
            return
        time.sleep(0.05)
    raise AssertionError(process.communicate()[1])


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def keys_on(bucket: Bucket) -> Counter[str]:
    """How often each sample has a reply on the store."""
    names = [key for key in bucket.objects() if "/replies-" in key]
    lines = [line for name in names for line in bucket.get(name).splitlines()]
    return Counter(json.loads(line)["key"][0] for line in lines)


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_on_another_machine_and_is_read_on_a_third(
    bucket: Bucket, work: Path, here: Machine, there: Snellen, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = f"{bucket.url}/runs"
    first = here.start(*asking(work, out))
    until_sent(bucket, first)
    kill(first)
    sent = keys_on(bucket)
    assert 5 <= len(sent) < N

    done = there(*asking(work, out))
    report = done.json
    assert report["run"].startswith(out) and report["n"] == N
    assert "has the lock of this run. Waiting 1.5 s" in done.err
    assert keys_on(bucket) == Counter(f"s{n}" for n in range(N)), "each once"
    counts = Counter((work / "asked").read_text().split())
    twice = {f"s{number}" for number, times in counts.items() if times > 1}
    assert not twice & {*sent}, "what was on the store is not asked again"
    there(*asking(work, out, "fast"))

    monkeypatch.setenv("SNELLEN_HOME", str(work / "c"))
    results = there("report", out, "--json").json
    assert [result["scorings"] for result in results if result["run"] == report["run"]] == [
        report["scorings"]
    ]
    again = there("score", report["run"], "--json").json
    assert again["scorings"] == report["scorings"] and again["run"] == report["run"]
    compared = there("compare", out, "--json").out
    assert all(result["run"] in compared for result in results) and str(work / "c") not in compared
    assert "Number 3 ?" in there("score", report["run"], "--explain", "s3").out
    there("export", report["run"], "--to", "jsonl", "-o", work / "out.jsonl")
    assert len((work / "out.jsonl").read_text().splitlines()) == N


@pytest.mark.slow
def test_what_was_not_sent_when_it_was_killed_is_not_asked_again_there(
    bucket: Bucket, work: Path, here: Machine
) -> None:
    out = f"{bucket.url}/runs"
    never = COMMAND.replace("0.1, 0.3", "1000, 1000")
    first = here.start(*asking(work, out), command=never)
    end = time.monotonic() + 60
    while len((work / "asked").read_text().split()) < 10 and time.monotonic() < end:
        time.sleep(0.05)
    kill(first)
    assert not keys_on(bucket)

    here.run(*asking(work, out))
    assert keys_on(bucket) == Counter(f"s{n}" for n in range(N))
    counts = Counter((work / "asked").read_text().split())
    assert sum(times - 1 for times in counts.values()) <= 1, "what was in flight alone"


@pytest.mark.slow
def test_the_viewer_shows_a_run_of_another_machine_while_it_is_written(
    bucket: Bucket, work: Path, here: Machine
) -> None:
    out = f"{bucket.url}/runs"
    here.other = {**here.other, "PAUSE": "0.5"}
    writing = here.start(*asking(work, out))
    until_sent(bucket, writing)
    with viewer(replace(here, home=work / "b"), out) as address:
        overview = get(address)
        assert out in overview
        run = re.search(r'href="(/run/[^"]+)"', overview)
        assert run is not None
        samples = get(address.rstrip("/") + run[1].replace("/run/", "/samples/"))
        assert "s3" in samples
        page = get(f"{address.rstrip('/')}{run[1].replace('/run/', '/sample/')}?s=s3")
        assert "Number 3 ?" in page and "yes" in page
    kill(writing)


@contextmanager
def viewer(on: Machine, out: str) -> Iterator[str]:
    process = on.start("view", out, "--port", "0", "--no-open", "--json")
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["address"]
    finally:
        process.terminate()
        process.communicate()


def get(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        return str(answer.read().decode())


@pytest.mark.slow
def test_a_second_machine_is_told_who_writes(
    bucket: Bucket, work: Path, here: Machine, there: Snellen
) -> None:
    out = f"{bucket.url}/runs"
    here.other = {**here.other, "PAUSE": "0.5"}
    writing = here.start(*asking(work, out))
    until_sent(bucket, writing)
    done = there(*asking(work, out))
    assert done.code == 2
    assert f"process {writing.pid} on" in done.err and "is writing this run" in done.err
    kill(writing)


@pytest.mark.slow
def test_a_connection_that_is_cut_in_an_upload_loses_nothing(
    bucket: Bucket, work: Path, here: Machine, proxy: Proxy
) -> None:
    here.endpoint = proxy.endpoint
    proxy.cut = lambda request: b"/replies-" in request and proxy.cuts < 6
    out = f"{bucket.url}/runs"
    report = json.loads(here.run(*asking(work, out))[0])
    assert proxy.cuts == 6
    assert report["n"] == N
    assert keys_on(bucket) == Counter(f"s{n}" for n in range(N))


@pytest.mark.slow
def test_a_store_that_is_gone_for_a_while_stops_no_run(
    bucket: Bucket, work: Path, here: Machine, proxy: Proxy
) -> None:
    here.endpoint = proxy.endpoint
    out = f"{bucket.url}/runs"
    process = here.start(*asking(work, out))
    until_sent(bucket, process)
    proxy.gone = True
    end = time.monotonic() + 60
    while len((work / "asked").read_text().split()) < N and time.monotonic() < end:
        time.sleep(0.05)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert (
        "The run continues, and its replies are kept in its mirror until they can be uploaded."
        in err
    )
    assert "Nothing is lost: the whole run is in its mirror on this machine" in err
    assert len(keys_on(bucket)) < N

    proxy.gone = False
    here.run(*asking(work, out))
    assert keys_on(bucket) == Counter(f"s{n}" for n in range(N))
    assert (work / "asked").read_text().count("\n") == N


def test_a_store_without_conditional_writes_is_refused(
    bucket: Bucket, work: Path, here: Machine, proxy: Proxy
) -> None:
    here.endpoint = proxy.endpoint
    proxy.change = lambda sent: re.sub(rb"(?i)if-none-match:", b"X-Nothing-Much:", sent)
    _, err = here.run(*asking(work, f"{bucket.url}/r"), code=2)
    assert "it does not support conditional writes" in err
    assert not (work / "asked").read_text()


def test_without_credentials_it_says_where_they_are_looked_for(
    bucket: Bucket, work: Path, here: Machine
) -> None:
    bare = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "HOME": str(work)}
    here.other = {**here.other, **bare}
    _, err = here.run(*asking(work, f"{bucket.url}/r"), code=2)
    assert "redentials" in err and "AWS_PROFILE" in err


def test_without_the_extra_it_says_how_to_install_it(
    bucket: Bucket, work: Path, here: Machine
) -> None:
    absent = f"import sys; sys.modules['s3fs'] = None\n{COMMAND}"
    process = here.start("report", f"{bucket.url}/r", command=absent)
    _, err = process.communicate()
    assert process.returncode == 2
    assert err == f"Error: s3:// needs s3fs. Install it: {install('s3')}\n"


def test_a_secret_in_an_address_is_not_repeated(bucket: Bucket, there: Snellen) -> None:
    done = there("report", f"s3://who:hunter2@{bucket.name}/r")
    assert done.code == 2
    assert "hunter2" not in done.err and "Remove it" in done.err


def test_no_key_reaches_a_file(bucket: Bucket, work: Path, there: Snellen) -> None:
    assert there(*asking(work, f"{bucket.url}/r", "fast")).code == 0
    files = [path.read_bytes() for path in (work / "b").rglob("*") if path.is_file()]
    assert files and not any(b"a secret" in content for content in files)
    assert not any(b"a secret" in bucket.get(key) for key in bucket.objects())


def test_rows_and_pictures_on_a_store_are_fetched_once(
    bucket: Bucket, work: Path, there: Snellen
) -> None:
    rows = [{"id": "s0", "question": "What?", "answer": "no", "image": "pics/a.png"}]
    bucket.put("set/mine.jsonl", "".join(map(json.dumps, rows)).encode())
    bucket.put("set/pics/a.png", png("red"))
    bucket.put("beside/secret", b"not below the rows")
    spec = f"python:{work / 'model.py'}:fast"
    command = ["run", "-b", f"{bucket.url}/set/mine.jsonl", "--task", "vqa", "-m", spec, "--out",
               work / "runs", "--json"]  # fmt: skip
    done = there(*command)
    assert done.json["replies"]["ok"] == 1
    assert f"{bucket.url}/set: downloading 2 files" in done.err
    manifest = json.loads(next((work / "runs").rglob("manifest.json")).read_text())
    assert manifest["data"] == f"{bucket.url}/set/mine.jsonl"
    assert not [*(work / "b").rglob("secret")]
    assert "fetching" not in there(*command).err
    run = next((work / "runs").rglob("manifest.json")).parent.relative_to(work / "runs")
    with viewing(work / "runs") as pages:
        assert pages.get(f"/media/{run}?s=s0&n=0").body == png("red")

    bucket.put("set/pics/a.png", png("blue"))
    changed = there(*command)
    assert changed.code == 2 and "differ from those" in changed.err
    assert f"{bucket.url}/set: downloading 1 files" in changed.err


def test_rows_and_pictures_on_a_store_are_verified(bucket: Bucket, there: Snellen) -> None:
    bucket.put("set/mine.jsonl", b'{"id": "s0", "question": "What?", "image": "a.png"}')
    bucket.put("set/a.png", png("red"))
    for path in ("set/mine.jsonl", "set"):
        done = there("data", "verify", f"{bucket.url}/{path}")
        assert done.code == 0, done.err
        assert done.out.startswith(f"{bucket.url}/{path}\n")
        assert "0 of 1 rows cannot be read" in done.out
        assert "0 of 1 pictures cannot be read" in done.out
    absent = there("data", "verify", f"{bucket.url}/set/typo.jsonl")
    assert absent.code == 2
    assert f"{bucket.url}/set/typo.jsonl: there is no such file" in absent.err


def test_a_folder_of_predictions_on_a_store_is_not_said_to_be_missing(
    bucket: Bucket, there: Snellen
) -> None:
    bucket.put("said/replies.csv", b"id,prediction\n")
    done = there("score", f"{bucket.url}/said", "-b", "eyechart")
    assert done.code == 2
    assert f"{bucket.url}/said: there is no such run, and no such file." in done.err


def test_help_does_without_fsspec() -> None:
    look = (
        "import sys, snellen.cli as c; c.exit_code(['--help']); assert 'fsspec' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", look], capture_output=True).returncode == 0
