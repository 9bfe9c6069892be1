"""What the viewer answers to whom, over real connections."""

from __future__ import annotations

import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

import pytest
from PIL import Image as pillow

from snellen.core.model import Request
from snellen.errors import Rejected
from snellen.store import Question, ShownMedia
from tests import tiny
from tests.viewers import Viewer, question, reply, run_in, score, viewing

HOSTILE = (
    "<script>window.caught=1</script><img src=x onerror='window.caught=1'>"
    "\u202eevil\u202c \x1b[31mred \0 \u200b end"
)


def png(color: str) -> bytes:
    out = BytesIO()
    pillow.new("RGB", (40, 30), color).save(out, "PNG")
    return out.getvalue()


def shown(name: str, data: bytes) -> ShownMedia:
    digest = f"sha256:{sha256(data).hexdigest()}"
    return ShownMedia(
        kind="image", place=name, digest=digest, mime="image/png", width=40, height=30
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over a file of rows with pictures beside it, and what must never be reached."""
    root = tmp_path_factory.mktemp("viewer")
    (root / "secret.txt").write_text("a secret")
    (root / "secret.png").write_bytes(png("black"))
    data = root / "data"
    data.mkdir()
    for name in ("red", "blue"):
        (data / f"{name}.png").write_bytes(png(name))
    (data / "drawn.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    names = ["red.png", "blue.png", "../secret.png", "drawn.svg"]
    rows = [{"id": f"s{n}", "question": "Which?", "answer": "red", "image": name}
            for n, name in enumerate(names)]  # fmt: skip
    (data / "mine.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    media = [
        shown("red.png", png("red")),
        shown("blue.png", png("green")),  # it was another when it was sent
        shown("../secret.png", png("black")),
        shown("drawn.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
    ]
    questions: list[Question] = [
        question(f"s{n}", n, media=[medium], messages=[("user", [0, "Which?"])])
        for n, medium in enumerate(media)
    ]
    columns = {"id": ["id"], "question": ["question"], "answer": ["answer"], "image": ["image"]}
    run_in(
        root / "runs" / "mine.jsonl" / "model" / "0123",
        [*questions, question("<b>id</b>\u202e", 4, target=HOSTILE, tags={"<i>": HOSTILE})],
        [
            reply("s0", "red"),
            reply("s1", "x" * 5_000_000),
            reply("<b>id</b>\u202e", HOSTILE, reasoning=HOSTILE),
        ],
        [score("<b>id</b>\u202e", 0.0, answer=HOSTILE, rule=HOSTILE, candidates=[HOSTILE])],
        benchmark="mine.jsonl",
        identity={"benchmark": "mine.jsonl", "options": {"task": "vqa", "columns": columns}},
        data=str(data / "mine.jsonl"),
    ).close()
    return root / "runs"


RUN = "mine.jsonl/model/0123"


@pytest.fixture(scope="module")
def viewer(folder: Path) -> Iterator[Viewer]:
    with viewing(folder) as open_viewer:
        yield open_viewer


@pytest.mark.parametrize(
    "path",
    ["/", f"/run/{RUN}", f"/samples/{RUN}", f"/sample/{RUN}?s=s0", f"/progress/{RUN}",
     f"/samples/{RUN}?q=red&by=score&state=ok"],
)  # fmt: skip
def test_pages_are_answered_with_the_strictest_rules(viewer: Viewer, path: str) -> None:
    got = viewer.get(path)
    assert got.status == 200
    policy = got.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy and "http" not in policy
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["cross-origin-resource-policy"] == "same-origin"
    assert 'style="' not in got.text and "javascript:" not in got.text


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "localhost.evil"],
)
def test_a_request_by_another_name_is_turned_away(viewer: Viewer, host: str) -> None:
    got = viewer.get("/", Host=host)
    assert got.status == 421
    assert b"runs" not in got.body


@pytest.mark.parametrize(
    ("site", "dest", "status"),
    [
        ("same-origin", "image", 200),
        ("none", "document", 200),
        ("cross-site", "document", 200),  # a link that is followed
        ("same-site", "empty", 403),  # another server on this machine
        ("cross-site", "image", 403),
        ("cross-site", "iframe", 403),
        ("cross-site", "script", 403),
    ],
)
def test_another_page_learns_nothing(viewer: Viewer, site: str, dest: str, status: int) -> None:
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Dest": dest}
    got = viewer.get(f"/samples/{RUN}?q=red", **headers)
    assert got.status == status
    assert (RUN.encode() in got.body) == (status == 200)


def test_it_can_be_reached_from_this_machine_alone(viewer: Viewer) -> None:
    port = int(viewer.address.rsplit(":", 1)[1].strip("/"))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.connect(("192.0.2.1", 9))  # sends nothing; says which address would be ours
        own = udp.getsockname()[0]
    if own.startswith("127."):
        own = "127.0.0.2"  # there is no other network here: another name of this machine
    with pytest.raises(OSError), socket.create_connection((own, port), timeout=2):
        pass


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_nothing_can_be_changed(viewer: Viewer, method: str) -> None:
    assert viewer.get("/", method).status == 405


@pytest.mark.parametrize(
    "path",
    [
        "/run/..", "/run/../..", "/run/%2e%2e/%2e%2e/secret.txt", "/run//etc", "/run/%00",
        "/samples/mine.jsonl", "/run/mine.jsonl/model/0123/manifest.json", "/static/..%2fpages.py",
        "/static/../../_serve.py", "/static/view.py", f"/media/{RUN}?s=s0&n=1",
        f"/media/{RUN}?s=s0&n=-1", f"/media/{RUN}?s=%2Fetc%2Fpasswd&n=0", f"/sample/{RUN}?s=nobody",
        f"/media/{RUN}/data/red.png", f"/text/{RUN}?s=s2", f"/frame/{RUN}?s=s0&n=0&t=nan",
        "/nowhere", "/beside?run=a", f"/beside?run={RUN}", "/compare", f"/sample/{RUN}?s=s0&turn=7",
    ],
)  # fmt: skip
def test_what_is_not_there_is_not_found(viewer: Viewer, path: str) -> None:
    got = viewer.get(path)
    assert got.status == 404
    assert "Traceback" not in got.text and "a secret" not in got.text


def test_a_picture_comes_with_its_own_bytes_and_type(viewer: Viewer) -> None:
    got = viewer.get(f"/media/{RUN}?s=s0&n=0")
    assert (got.status, got.headers["content-type"]) == (200, "image/png")
    assert got.body == png("red")


@pytest.mark.parametrize(
    ("sample", "why"),
    [
        ("s1", "is no longer the picture that was sent"),
        ("s2", "is outside the folder of the data"),
        ("s3", "is not an image"),
    ],
)
def test_a_picture_that_is_not_the_one_that_was_sent_is_not_shown(
    viewer: Viewer, sample: str, why: str
) -> None:
    got = viewer.get(f"/media/{RUN}?s={sample}&n=0")
    assert got.status == 404
    assert got.headers["content-type"].startswith("text/plain")
    assert why in got.text


def test_what_a_model_said_is_text_and_its_marks_are_seen(viewer: Viewer) -> None:
    sample = quote("<b>id</b>\u202e")
    for path in (
        f"/samples/{RUN}",
        f"/sample/{RUN}?s={sample}",
        f"/samples/{RUN}?q={quote(HOSTILE)}",
    ):
        text = viewer.get(path).text
        assert "<script>window" not in text and "<img src=x" not in text and "<b>id" not in text
        # A box of a form keeps what was typed, and the others what they send.
        text = re.sub(r'<(input|option)[^>]*value="[^"]*"', "", text)
        assert not set("\u202e\x1b\0\u200b") & set(text)
    page = viewer.get(f"/sample/{RUN}?s={sample}").text
    assert "&lt;script&gt;window.caught=1&lt;/script&gt;" in page
    for sign in ("U+202E", "ESC", "NUL", "U+200B"):
        assert f">{sign}</span>" in page


def test_a_long_reply_is_cut_and_can_be_had_whole_as_plain_text(viewer: Viewer) -> None:
    page = viewer.get(f"/sample/{RUN}?s=s1")
    assert len(page.body) < 100_000
    assert "Show all 5,000,000 characters" in page.text
    full_text = viewer.get(f"/text/{RUN}?s=s1")
    assert full_text.headers["content-type"] == "text/plain; charset=utf-8"
    assert full_text.body == b"x" * 5_000_000


def test_links_lead_nowhere(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(folder / "mine.jsonl")
    run = run_in(tmp_path / "b" / "m" / "1", [question("a")], [])
    run.close()
    (run.path / "replies.jsonl").symlink_to(folder.parent / "secret.txt")
    with viewing(tmp_path) as viewer:
        page = viewer.get("/").text
        assert "linked/" not in page
        assert "replies.jsonl is a link" in page
        assert viewer.get("/run/linked/model/0123").status == 404
        assert viewer.get("/samples/b/m/1").status == 404
        (run.path / "replies.jsonl").unlink()
        assert viewer.get("/samples/b/m/1").status == 200
        (run.path / "replies1.jsonl").symlink_to(folder.parent / "secret.txt")
        assert viewer.get("/samples/b/m/1").status == 404
        (run.path / "replies1.jsonl").unlink()
        os.mkfifo(run.path / "scores.jsonl")
        assert "scores.jsonl is not a regular file" in viewer.get("/samples/b/m/1").text


def test_runs_in_several_folders_are_told_apart_and_nothing_beside_them_is_shown(
    tmp_path: Path,
) -> None:
    for folder in ("full", "small", "other"):
        questions = [question("s", target=folder)]
        run_in(
            tmp_path / folder / "mine" / "model" / "0123", questions, [reply("s", folder)]
        ).close()
    run = tmp_path / "small" / "mine" / "model" / "0123"

    with viewing(tmp_path / "full", tmp_path / "small", run) as viewer:
        page = viewer.get("/").text
        assert re.findall(r'name="run" value="([^"]+)"', page) == [
            "full/mine/model/0123",
            "small/mine/model/0123",
        ]
        assert "in full" in page and "in small" in page and "other" not in page
        for name in ("full", "small"):
            assert viewer.get(f"/text/{name}/mine/model/0123?s=s").text == name
        for name in ("other/mine/model/0123", "full/../other/mine/model/0123", "mine/model/0123"):
            assert viewer.get(f"/run/{quote(name, safe='/')}").status == 404


def test_runs_that_lack_replies_are_behind_complete_runs(tmp_path: Path) -> None:
    def number(request: Request) -> int:
        return int(request.messages[0].text.split()[1])

    def fails(request: Request) -> str:
        if number(request) > 4:
            raise Rejected("no")
        return "yes"

    tiny.run(tmp_path, tiny.Says(lambda request: "yes", "partial"), limit=4)
    tiny.run(tmp_path, tiny.Says(fails, "failing"))
    tiny.run(tmp_path, tiny.Says(lambda request: "no" if number(request) > 8 else "yes", "fair"))
    with viewing(tmp_path) as viewer:
        page = viewer.get("/").text
    # The value of the complete run is 90 %, and the others have 100 % of fewer questions.
    assert sorted(("partial", "failing", "fair"), key=lambda name: page.index(f"/{name}/"))[0] == (
        "fair"
    )


def test_runs_that_lie_deeper_are_found(tmp_path: Path) -> None:
    run_in(tmp_path / "of" / "may" / "mine" / "model" / "0123", [question("s")]).close()
    (tmp_path / "none").mkdir()

    with viewing(tmp_path) as viewer:
        assert viewer.get("/run/of/may/mine/model/0123").status == 200
    with viewing(tmp_path / "none") as viewer:
        assert "no runs yet, searched 6 folders deep" in viewer.get("/").text


def test_manifests_that_are_none_are_left_out_in_words(tmp_path: Path) -> None:
    for name, text in {
        "torn": b'{"format":0,', "empty": b"", "list": b"[]", "later": b'{"format":99}',
        "odd": b'{"format":0,"identity":3}', "rows": b'{"format":0,"rows":"x"}',
        "options": b'{"format":0,"identity":{"options":[1]}}', "said": b'{"format":0,"model":[]}',
        "latin": b'{"format":0,"model":"\xff"}',
    }.items():  # fmt: skip
        (tmp_path / "b" / "m" / name).mkdir(parents=True)
        (tmp_path / "b" / "m" / name / "manifest.json").write_bytes(text)
    with viewing(tmp_path) as viewer:
        page = viewer.get("/")
        assert page.status == 200
        for path in (tmp_path / "b" / "m").iterdir():
            assert f"<code>b/m/{path.name}</code>" in page.text
            assert viewer.get(f"/run/b/m/{path.name}").status == 404


@pytest.mark.parametrize(
    ("name", "options"),
    [("b", {"class": "{}:Evil", "dataset": "x"}), ("vlmevalkit-class:{}:Evil", {})],
)
def test_a_program_that_a_run_names_is_not_run(
    tmp_path: Path, name: str, options: dict[str, str]
) -> None:
    program = tmp_path / "evil.py"
    program.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Evil: pass\n")
    options = {option: value.format(program) for option, value in options.items()}
    for model in ("m", "n"):
        run_in(
            tmp_path / "runs" / "b" / model / "1",
            [question("a", media=[shown("a.png", png("red"))])],
            [reply("a", "A")],
            [score("a", 1.0)],
            benchmark=name.format(program),
            identity={"benchmark": "b", "options": options},
        ).close()
    with viewing(tmp_path / "runs") as viewer:
        for path in (
            "/", "/run/b/m/1", "/samples/b/m/1?score=right", "/sample/b/m/1?s=a",
            "/media/b/m/1?s=a&n=0", "/compare?run=b/m/1&run=b/n/1", "/beside?run=b/m/1&run=b/n/1",
        ):  # fmt: skip
            viewer.get(path)
    assert not (tmp_path / "ran").exists()


def test_a_page_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    for model in ("m", "n"):
        run_in(
            tmp_path / "b" / model / "1",
            [question("a")],  # no task, on which this benchmark counts
            [reply("a", "A")],
            benchmark="eyechart",
            identity={"benchmark": "eyechart", "options": {}},
        ).close()
    with viewing(tmp_path) as viewer:
        got = viewer.get("/compare?run=b/m/1&run=b/n/1")
        for _ in range(600):
            if "scoring both runs again" not in got.text:
                break
            time.sleep(0.05)
            got = viewer.get("/difference?run=b/m/1&run=b/n/1")
        assert got.status == 500
        assert "This page could not be made. eyechart: " in got.text
        assert "failed with KeyError: " in got.text
        assert got.headers["content-security-policy"].startswith("default-src 'none'")


def test_a_run_that_nobody_may_write_is_shown(folder: Path, tmp_path: Path) -> None:
    run = run_in(tmp_path / "b" / "m" / "1", [question("a")], [reply("a", "A")])
    run.close()
    run.path.chmod(0o555)
    try:
        with viewing(tmp_path) as viewer:
            assert "1 samples" in viewer.get("/samples/b/m/1").text
    finally:
        run.path.chmod(0o755)


def test_the_index_lies_beside_the_run_and_can_be_taken_away(folder: Path, viewer: Viewer) -> None:
    viewer.get(f"/samples/{RUN}")
    index = folder / RUN / "view.sqlite"
    with sqlite3.connect(index) as connection:
        assert connection.execute("SELECT count(*) FROM samples").fetchone() == (5,)
    connection.close()
    for name in ("view.sqlite", "view.sqlite-wal", "view.sqlite-shm"):
        (folder / RUN / name).unlink(missing_ok=True)
    assert "5 samples" in viewer.get(f"/samples/{RUN}").text


def test_a_folder_that_is_not_there_is_said_in_words() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "snellen", "view", "/nonexistent", "--no-open"],
        capture_output=True, text=True, timeout=30,
    )  # fmt: skip
    assert done.returncode == 2
    assert "there is no such folder" in done.stderr and "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_said_in_words(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "snellen", "view", str(folder), "--no-open", f"--port={port}"],
            capture_output=True, text=True, timeout=30,
        )  # fmt: skip
    assert done.returncode == 2
    assert f"port {port} cannot be used" in done.stderr
