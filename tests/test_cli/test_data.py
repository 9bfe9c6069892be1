"""`snellen data`: published files from the command line, and rows with their pictures in one."""

import base64
import csv
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from snellen import registry
from snellen.benchmarks import mathvision
from snellen.cli.data import progress_line
from snellen.data.download import FileProgress
from snellen.data.published import File
from snellen.errors import install
from snellen.media.drawing import Canvas
from snellen.registry import bundled
from tests.golden_data import golden
from tests.servers_download import ReceivedRequest, Served, Server, serving_files
from tests.test_cli.conftest import Snellen

ROWS = registry.ROWS / "mathvision"
HUB = "/datasets/MathLLMs/MathVision/resolve/08d26d67d45431e1e88ed7e70f4737615b519aad/images.zip"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    for variable in ("LMUData", "HF_HOME", "HF_HUB_CACHE", "HF_ENDPOINT", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path / "home/data/mathvision"


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """MATH-Vision's bundled rows and pictures, served as its files; nothing is vouched for."""
    pictures = BytesIO()
    with zipfile.ZipFile(pictures, "w") as archive:
        for path in sorted((ROWS / "images").iterdir()):
            archive.write(path, f"images/{path.name}")
    files = {
        "/test.jsonl": Served((ROWS / "test.jsonl").read_bytes()),
        HUB: Served(pictures.getvalue()),
    }
    with serving_files(files) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        rows = File(name="data/test.jsonl", url=f"{server.url}/test.jsonl")
        kept = (rows, mathvision.FILES_PUBLISHED[2])
        monkeypatch.setattr(mathvision, "FILES_PUBLISHED", kept)
        yield server


def picture(shade: int) -> bytes:
    canvas = Canvas(8 + shade, 8)
    return canvas.png()


# -- get, verify, where


@pytest.mark.parametrize("name", ["annotations.jsonl", "testmini.jsonl"])
def test_the_published_rows_are_those_that_the_proof_was_made_on(name: str) -> None:
    content = (golden("mathvision") / name).read_bytes()

    published = {file.sha256: file.size for file in mathvision.FILES_PUBLISHED}
    assert published[sha256(content).hexdigest()] == len(content)


def test_what_was_got_is_verified_found_and_asked_without_a_word_of_where_it_is(
    snellen: Snellen, published: Server, home: Path
) -> None:
    got = snellen("data", "get", "mathvision", "--json")
    assert got.code == 0, got.err
    assert [(file["name"], file["unpacked"]) for file in got.json["files"]] == [
        ("data/test.jsonl", 0),
        ("images.zip", len(list((ROWS / "images").iterdir()))),
    ]
    assert "mathvision: 2 files, of unknown size, into " in got.err

    verified = snellen("data", "verify", "mathvision", "--json")
    assert (verified.code, verified.json["ok"]) == (0, True)

    where = snellen("data", "where", "mathvision", "--json").json
    assert where["rows"] == str(home / "data/test.jsonl")

    run = snellen("run", "-m", "baseline/first", "-b", "mathvision", "--json")
    assert run.code == 0, run.err


def test_the_same_command_fetches_nothing_twice(snellen: Snellen, published: Server) -> None:
    for _ in range(2):
        assert snellen("data", "get", "mathvision").code == 0

    assert len(published.requests) == 2


def test_only_the_named_file_is_fetched(snellen: Snellen, published: Server, home: Path) -> None:
    assert snellen("data", "get", "mathvision", "--only", "data/test.jsonl").code == 0

    assert [request.path for request in published.requests] == ["/test.jsonl"]
    assert (home / "data/test.jsonl").is_file()


def test_a_file_goes_where_it_is_told(snellen: Snellen, published: Server, tmp_path: Path) -> None:
    there = tmp_path / "there"
    assert snellen("data", "get", "mathvision", "--data", there).code == 0
    shown = snellen("data", "where", "mathvision", "--data", there)

    assert f"rows: {there / 'data/test.jsonl'}" in shown.out
    assert "images.zip: unpacked, " in shown.out


def test_a_changed_file_falls_short_of_what_came(
    snellen: Snellen, published: Server, home: Path
) -> None:
    snellen("data", "get", "mathvision")
    [first, second, *_] = sorted((home / "images").iterdir())
    first.unlink()
    second.write_bytes(b"another picture")
    with open(home / "data/test.jsonl", "ab") as rows:
        rows.write(b"\n")

    done = snellen("data", "verify", "mathvision", "--json")

    assert done.code == 1
    states = {file["name"]: file["state"] for file in done.json["files"]}
    assert states == {
        "data/test.jsonl": "wrong",
        "images.zip": "wrong",
        f"images/{first.name}": "missing",
        f"images/{second.name}": "wrong",
    }


def test_a_file_that_is_not_there_falls_short(snellen: Snellen, home: Path) -> None:
    done = snellen("data", "verify", "mathvision")

    assert done.code == 1
    assert [line.split()[:2] for line in done.out.splitlines()] == [
        ["missing", "data/test.jsonl"],
        ["missing", "data/testmini.jsonl"],
        ["missing", "images.zip"],
    ]


def test_a_file_that_was_never_got_is_compared_with_the_published_digest(
    snellen: Snellen, home: Path
) -> None:
    (home / "data").mkdir(parents=True)
    (home / "data/test.jsonl").write_bytes(b"{}\n")
    done = snellen("data", "verify", "mathvision")

    # SHA-256 of `{}` and a line end, by `sha256sum`.
    assert "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356" in done.out


def own(folder: Path, *images: str) -> Path:
    (folder / "good.png").write_bytes(picture(1))
    (folder / "torn.png").write_bytes(picture(1)[:-20])
    path = folder / "own.jsonl"
    rows = [{"image": name, "question": "What?", "answer": "a cat"} for name in images]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_of_ones_own_are_verified_with_their_pictures(
    snellen: Snellen, tmp_path: Path
) -> None:
    path = own(tmp_path, "good.png", "good.png")
    done = snellen("data", "verify", path, "--json")
    run = snellen("run", "-m", "baseline/first", "-b", path, "--out", "runs", "--json")

    assert (done.code, done.json["ok"]) == (0, True), done.out
    assert run.code == 0, run.err
    assert done.json["bytes"] == path.stat().st_size
    command = ["md5sum", str(path)]
    theirs = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert done.json["md5"] == theirs.split()[0]
    assert (done.json["rows"]["n"], done.json["pictures"]["n"]) == (2, 2)
    [manifest] = tmp_path.glob("runs/**/manifest.json")
    assert json.dumps(done.json["digest"]) in manifest.read_text()


def test_the_rows_of_a_benchmark_in_a_file_are_verified_with_their_pictures(
    snellen: Snellen, tmp_path: Path
) -> None:
    path = own(tmp_path, "good.png", "gone.png")
    (tmp_path / "mine.py").write_text(
        "from pathlib import Path\n"
        "from snellen.core import Benchmark, Sample, Scoring, user\n"
        "from snellen.data import find, jsonl\n"
        "def mine(data: Path | None = None) -> Benchmark:\n"
        f"    file = find(data, 'mine', ['{path.name}'])\n"
        "    return Benchmark(\n"
        "        name='mine', asks=1, data=jsonl(file), scorings={},\n"
        "        prompt=lambda sample, history: (user(*sample.media, sample.question),),\n"
        "        sample=lambda index, row: Sample(\n"
        "            id=f'{index}', question=row['question'], media=(file.image(row['image']),)\n"
        "        ),\n"
        "    )\n"
    )

    done = snellen("data", "verify", "mine.py", "--data", tmp_path)
    absent = snellen("data", "verify", "mine.py", "--data", tmp_path / "absent")
    (tmp_path / "gone.png").write_bytes((tmp_path / "good.png").read_bytes())
    mended = snellen("data", "verify", "mine.py", "--data", tmp_path, "--json")

    assert done.code == 1
    assert "1 of 2 pictures cannot be read; the first: gone.png is missing" in done.out
    assert absent.code == 1 and "absent does not exist" in absent.out
    assert mended.code == 0
    assert (mended.json["rows"]["n"], mended.json["pictures"]["n"]) == (2, 2)


def test_pictures_that_are_missing_or_torn_are_counted(snellen: Snellen, tmp_path: Path) -> None:
    path = own(tmp_path, "good.png", "gone.png", "torn.png")
    done = snellen("data", "verify", path)

    assert done.code == 1
    assert "2 of 3 pictures cannot be read; the first: gone.png is missing" in done.out


def test_rows_that_cannot_be_read_are_counted_with_the_first_reason(
    snellen: Snellen, tmp_path: Path
) -> None:
    path = own(tmp_path, "good.png", "good.png", "good.png")
    path.write_text(path.read_text() + '{"image": "good.png", "question": ""}\n' * 2)
    done = snellen("data", "verify", path)

    assert done.code == 1
    assert "2 of 5 rows cannot be read; the first: row 4 of own.jsonl has no question" in done.out


def test_every_row_that_cannot_be_read_is_named(snellen: Snellen, tmp_path: Path) -> None:
    path = own(tmp_path, "good.png")
    path.write_text(path.read_text() + '{"image": "good.png", "question": ""}\n' * 30)

    done = snellen("data", "verify", path)
    assert "30 of 31 rows cannot be read; the first: row 2 of own.jsonl has no question" in done.out
    others = ", ".join(f"row {row}" for row in range(3, 23))
    assert f"    the same in 29 more: {others} and 9 more" in done.out
    assert done.out.count("has no question") == 1, "the sentence is not repeated"

    rows = snellen("data", "verify", path, "--json").json
    reasons = json.dumps(rows)
    assert all(f"row {row} of own.jsonl has no question" in reasons for row in range(2, 32))


def test_a_file_that_breaks_off_is_said_with_the_row(snellen: Snellen, tmp_path: Path) -> None:
    path = own(tmp_path, "good.png", "good.png")
    path.write_text(path.read_text()[:-10])
    done = snellen("data", "verify", path, "--json")

    assert (done.code, done.json["digest"]) == (1, None)
    assert "row 2 of " in done.json["wrong"][0]


def test_a_file_with_a_published_ones_name_is_compared_with_it(
    snellen: Snellen, tmp_path: Path
) -> None:
    path = tmp_path / "MMStar.tsv"
    path.write_text("index\timage\tquestion\tA\tB\tanswer\n")
    with open(path, "a") as out:
        out.write(f"0\t{base64.b64encode(picture(1)).decode()}\tWhat?\tcat\tdog\tA\n")
    done = snellen("data", "verify", path)

    assert done.code == 1
    # The MD5 that VLMEvalKit has in image_mcq.py.
    assert "the published one is e1ecd2140806c1b1bbf54b43372efb9e" in done.out
    assert "0 of 1 rows cannot be read" in done.out


def test_rows_with_the_id_of_an_earlier_one_are_said(snellen: Snellen, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    rows = [{"id": name, "question": "What?", "answer": "a cat"} for name in "abcab"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = snellen("data", "verify", path)

    assert done.code == 1
    assert (
        "2 rows repeat the id of an earlier row; the first: rows 1 and 4 have the same id 'a'"
    ) in done.out


def test_a_published_files_name_is_said_of_that_file_alone(
    snellen: Snellen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shutil.copytree(ROWS, tmp_path / "rows") / "mathvision.jsonl"
    rows = (ROWS / "test.jsonl").read_bytes()
    file = File(name=path.name, url="https://example.org", sha256=sha256(rows).hexdigest())
    monkeypatch.setattr(mathvision, "FILES_PUBLISHED", (file,))

    documents = []
    for content in (rows, rows + b"\n"):
        path.write_bytes(content)
        documents.append(snellen("data", "verify", path, "--json").json)

    assert [(document["ok"], document["published"]) for document in documents] == [
        (True, "mathvision.jsonl"),
        (False, None),
    ]


def test_where_names_the_folder_of_a_benchmark_in_a_file_of_ones_own(
    snellen: Snellen, home: Path, tmp_path: Path
) -> None:
    guide = (Path(__file__).parents[2] / "docs/plugins.md").read_text()
    source = guide.partition("```python\n")[2].partition("```")[0]
    (tmp_path / "sums.py").write_text(source)
    (tmp_path / "sums").mkdir()
    (tmp_path / "sums/sums.jsonl").write_text('{"a": 1, "b": 2}')

    done = snellen("data", "where", "sums.py", "--data", "sums", "--json")
    refused = snellen("data", "get", "sums.py", "--data", "sums")

    assert done.code == 0
    assert [entry["folder"] for entry in done.json["folders"]] == ["sums"]
    assert done.json["files"] == []
    assert refused.code == 2
    assert "sums has no published files" in refused.err


def test_where_names_the_folders_that_are_searched_in_order_and_what_is_missing(
    snellen: Snellen, home: Path, tmp_path: Path
) -> None:
    done = snellen("data", "where", "mathvision", "--json").json

    tables = snellen("data", "where", "mmbench", "--json").json

    assert [entry["folder"] for entry in done["folders"]] == [str(home)]
    assert [entry["folder"] for entry in tables["folders"]] == [
        str(home.with_name("mmbench")),
        str(tmp_path / "me/LMUData"),
    ]
    assert done["rows"] is None
    assert [entry["path"] for entry in done["files"]] == [None] * 3
    assert done["files"][2]["url"].startswith("https://huggingface.co/datasets/MathLLMs/")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("get eyechart", "eyechart has no published files, so there is nothing to download"),
        ("get mine.jsonl", "mine has no published files"),
        ("get mathvision --only x", "no published file is named 'x'. Files: data/test.jsonl, "),
        ("verify mathvisoin", "Did you mean mathvision"),
        (
            "pack --to a.tsv",
            "Name either the rows to pack (a benchmark or a file), or a FILE with --unpack",
        ),
        (
            "pack mine.jsonl --to a.xlsx",
            "a.xlsx: rows cannot be packed into a file with this suffix. "
            "Use one of .tsv, .jsonl, .parquet",
        ),
        ("pack mine.jsonl --to mine.jsonl", "mine.jsonl already exists. Delete it"),
        ("pack --unpack nothing.tsv --to x", "nothing.tsv"),
    ],
)
def test_wrong_use_is_said_in_words(snellen: Snellen, rows: Path, words: str, message: str) -> None:
    done = snellen("data", *words.split())

    assert done.code == 2
    assert message in done.err
    assert done.out == ""


def test_a_failed_download_says_the_command_that_goes_on(
    snellen: Snellen, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    with serving_files({}) as server:
        file = File(name="a.tsv", url=f"{server.url}/a.tsv", md5="0" * 32)
        monkeypatch.setattr(mathvision, "FILES_PUBLISHED", (file,))
        done = snellen("data", "get", "mathvision:split=testmini")

    assert done.code == 2
    assert (
        f"a.tsv: {server.url}/a.tsv: 404: the file does not exist. To download it by hand, save "
        f"{server.url}/a.tsv as {home / 'a.tsv'} (MD5 {'0' * 32}), "
        "then run `snellen data get mathvision:split=testmini`"
    ) in done.err


def test_an_interrupted_download_keeps_its_part_and_goes_on(tmp_path: Path) -> None:
    body = os.urandom(300_000)
    half = threading.Event()

    def slowly(request: ReceivedRequest) -> Served:
        if request.number == 0:
            return Served(body, stop=200_000, reached=half)
        return Served(body)

    script = (
        "import sys; from snellen.benchmarks import mathvision;"
        "from snellen.data.published import File; from snellen.cli import main;"
        "mathvision.FILES_PUBLISHED = (File(name='a', url=sys.argv.pop()),); main()"
    )
    env = {**os.environ, "SNELLEN_HOME": str(tmp_path / "home")}
    with serving_files({"/a": slowly}) as server:
        words = ["data", "get", "mathvision", f"{server.url}/a"]
        command = [sys.executable, "-c", script, *words]
        with subprocess.Popen(command, stderr=subprocess.PIPE, env=env) as process:
            part = tmp_path / "home/data/mathvision/a.part"
            assert half.wait(20)
            while not (part.is_file() and part.stat().st_size):
                sleep(0.01)
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            err = process.stderr.read().decode()
        assert process.returncode == 130, err
        kept = part.stat().st_size
        done = subprocess.run(command, stderr=subprocess.PIPE, env=env)

    assert done.returncode == 0, done.stderr.decode()
    assert 0 < kept <= 200_000
    assert server.requests[1].headers["range"] == f"bytes={kept}-"
    assert (tmp_path / "home/data/mathvision/a").read_bytes() == body


def test_on_a_terminal_it_asks_first_and_takes_a_no(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "snellen", "data", "get", "mathvision"]
    env = {**os.environ, "SNELLEN_HOME": str(tmp_path / "home")}
    with subprocess.Popen(command, stdin=theirs, stderr=subprocess.PIPE, env=env) as process:
        os.write(ours, b"n\n")
        assert process.stderr is not None
        err = process.stderr.read().decode()
    os.close(ours)
    os.close(theirs)

    assert "Download them? [Y/n]" in err
    assert process.returncode == 130
    assert not (tmp_path / "home" / "data").exists()


def test_a_line_of_progress_has_bytes_rate_and_time() -> None:
    files = [
        FileProgress("a.zip", size=52_400_000, done=12_300_000, kept=4_300_000, phase="coming"),
        FileProgress("b.zip", size=1_000, done=1_000, unpacked=3_000_000, phase="unpacking"),
        FileProgress("c", size=10_000_000),
    ]

    # 8.001 MB in 2 s; 50.1 MB are to come.
    assert progress_line(files, 2.0) == (
        "a.zip 12.3 MB of 52.4 MB, unpacking b.zip 3.0 MB  4.0 MB/s  13 s left"
    )


def test_nothing_is_said_of_the_time_where_a_size_is_not_known() -> None:
    assert (
        progress_line([FileProgress("a", done=500, phase="coming")], 1.0)
        == "a 500 bytes  500 bytes/s"
    )


def test_nothing_is_said_where_nothing_is_going_on() -> None:
    assert progress_line([FileProgress("a", done=500, phase="there")], 1.0) == ""


# -- pack


def mine(folder: Path) -> Path:
    """Rows with a picture, two, and none; one in base64."""
    (folder / "images/deep").mkdir(parents=True)
    for name, shade in (("1.png", 1), ("deep/2.png", 2), ("3.png", 3)):
        (folder / "images" / name).write_bytes(picture(shade))
    rows = [
        {"id": "a", "image": "images/1.png", "question": "Tab\there?", "answer": "x", "n": 1},
        {
            "id": "b",
            "image": ["images/deep/2.png", "images/3.png"],
            "question": "Line\nhere?",
            "answer": "é",
            "n": 2.5,
        },
        {"id": "c", "question": "Return\rhere?", "answer": "z", "tags": ["p", "q"]},
        {
            "id": "d",
            "image": base64.b64encode(picture(4)).decode(),
            "question": '"Quoted"?',
            "answer": "w",
        },
    ]
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_picture_that_is_missing_is_said_with_its_row(snellen: Snellen, tmp_path: Path) -> None:
    source = mine(tmp_path)
    (tmp_path / "images/3.png").unlink()

    done = snellen("data", "pack", source, "--to", "out.tsv")

    assert done.code == 2
    assert "row 2 ('b'): images/3.png is missing" in done.err
    assert not (tmp_path / "out.tsv").exists()


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "parquet"])
def test_rows_and_pictures_come_back_as_they_went(
    snellen: Snellen, tmp_path: Path, kind: str
) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow", reason="needs the extra parquet")
    source = mine(tmp_path)
    packed = snellen("data", "pack", source, "--to", f"out.{kind}", "--json")
    assert packed.code == 0, packed.err
    assert (packed.json["rows"], packed.json["images"]) == (4, 4)

    back = snellen("data", "pack", "--unpack", f"out.{kind}", "--to", "back", "--json")
    assert back.code == 0, back.err

    rows = [json.loads(line) for line in (tmp_path / "back/rows.jsonl").read_text().splitlines()]
    assert [row.get("image") for row in rows] == [
        "images/1.png",
        ["images/deep/2.png", "images/3.png"],
        None,
        "images/3_3.png",  # its row's number, which is another picture's name already
    ]
    assert [row["question"] for row in rows] == [
        "Tab\there?",
        "Line\nhere?",
        "Return\rhere?",
        '"Quoted"?',
    ]
    assert (tmp_path / "back/images/1.png").read_bytes() == picture(1)
    assert (tmp_path / "back/images/deep/2.png").read_bytes() == picture(2)
    assert (tmp_path / "back" / rows[3]["image"]).read_bytes() == picture(4)
    if kind != "tsv":
        assert rows[0]["n"] == 1
        assert rows[1]["n"] == 2.5
        assert rows[2]["tags"] == ["p", "q"]


def test_a_packed_sheet_has_its_pictures_as_vlmevalkit_has_them(
    snellen: Snellen, tmp_path: Path
) -> None:
    snellen("data", "pack", mine(tmp_path), "--to", "out.tsv")
    csv.field_size_limit(10**9)
    with open(tmp_path / "out.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, dialect="excel-tab"))

    assert base64.b64decode(rows[0]["image"]) == picture(1)
    assert [base64.b64decode(cell) for cell in json.loads(rows[1]["image"])] == [
        picture(2),
        picture(3),
    ]
    assert [row["image_path"] for row in rows[:3]] == [
        "images/1.png",
        '["images/deep/2.png","images/3.png"]',
        "",
    ]
    assert (rows[2]["image"], rows[2]["n"], rows[1]["n"]) == ("", "", "2.5")


def test_packed_parquet_has_its_pictures_as_hugging_face_has_them(
    snellen: Snellen, tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")
    snellen("data", "pack", ROWS / "testmini.jsonl", "--to", "one.parquet")
    snellen("data", "pack", mine(tmp_path), "--to", "several.parquet")

    [row, *_] = parquet.read_table(tmp_path / "one.parquet").to_pylist()
    assert row["image"]["bytes"] == (ROWS / row["image"]["path"]).read_bytes()
    several = parquet.read_table(tmp_path / "several.parquet").to_pylist()
    assert [image["path"] for image in several[1]["images"]] == [
        "images/deep/2.png",
        "images/3.png",
    ]
    assert several[2]["images"] == []


def test_parquet_without_its_package_names_the_extra(
    snellen: Snellen, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = snellen("data", "pack", rows, "--to", "out.parquet")

    assert done.code == 2
    assert install("parquet") in done.err


@pytest.mark.parametrize("kind", ["tsv", "jsonl"])
def test_a_packed_file_is_asked_as_its_rows(snellen: Snellen, tmp_path: Path, kind: str) -> None:
    source = mine(tmp_path)
    snellen("data", "pack", source, "--to", f"out.{kind}")
    model = "python:echo.py:answer"
    (tmp_path / "echo.py").write_text(
        "import hashlib\n"
        "def answer(messages):\n"
        "    seen = [hashlib.md5(i.source).hexdigest() for i in messages[-1].images]\n"
        "    return f'seen: {seen}'\n"
    )

    replies = []
    for rows in (source, f"out.{kind}"):
        done = snellen("run", "-m", model, "-b", rows, "--task", "vqa", "--json")
        assert done.code == 0, done.err
        journal = Path(done.json["run"]) / "replies.jsonl"
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        replies.append({line["key"][0]: line["reply"] for line in lines})

    assert replies[0] == replies[1]
    assert len(set(replies[0].values())) == 4


def test_a_benchmark_is_packed_with_its_pictures(snellen: Snellen, tmp_path: Path) -> None:
    n = len((ROWS / "testmini.jsonl").read_text().splitlines())
    done = snellen("data", "pack", "mathvision:split=testmini", "--data", ROWS, "--to", "out.jsonl")

    assert done.out == f"{n} rows and {n} pictures are in out.jsonl\n"


def test_vlmevalkits_rows_that_share_a_picture_share_its_file(
    snellen: Snellen, tmp_path: Path
) -> None:
    text = base64.b64encode(picture(1)).decode()
    (tmp_path / "MMBench.tsv").write_text(
        f"index\tquestion\timage\n1\tWhat?\t{text}\n1000001\tWhat?\t1\n"
    )
    snellen("data", "pack", "--unpack", "MMBench.tsv", "--to", "back")

    rows = [json.loads(line) for line in (tmp_path / "back/rows.jsonl").read_text().splitlines()]
    written = [(tmp_path / "back" / row["image"]).read_bytes() for row in rows]
    assert written == [picture(1)] * 2
    assert rows[0]["image"] == rows[1]["image"]


def unpacked(folder: Path) -> list[dict[str, Any]]:
    """The rows that were unpacked into a folder."""
    lines = (folder / "rows.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("names", "paths"),
    [
        (["", "b.png"], ["0_0.png", "b.png"]),
        ([5, "."], ["0_0.png", "0_1.png"]),
        (7, ["0_0.png", "0_1.png"]),
        (["images", "images/b"], ["images", "b"]),
        (["a.png", "a.png", "a.png"], ["a.png", "a_0.png", "a_0_2.png"]),
        (["a.png", "a_0.png", "a.png"], ["a.png", "a_0.png", "a_0_2.png"]),
        ("['a.png', 'b.png']", ["a.png", "b.png"]),
    ],
)
def test_whatever_pictures_are_called_each_has_a_file(
    snellen: Snellen, tmp_path: Path, names: object, paths: list[str]
) -> None:
    pictures = [picture(shade) for shade in range(len(paths))]
    row = {
        "image": [base64.b64encode(content).decode() for content in pictures],
        "image_path": names,
    }
    (tmp_path / "odd.jsonl").write_text(json.dumps(row) + "\n")
    done = snellen("data", "pack", "--unpack", "odd.jsonl", "--to", "back")

    assert done.code == 0, done.err
    [row] = unpacked(tmp_path / "back")
    assert row["image"] == [f"images/{path}" for path in paths]
    assert [(tmp_path / "back" / path).read_bytes() for path in row["image"]] == pictures


def test_a_list_of_names_that_breaks_off_is_said(snellen: Snellen, tmp_path: Path) -> None:
    row = {"image": base64.b64encode(picture(1)).decode(), "image_path": '["a.png'}
    (tmp_path / "odd.jsonl").write_text(json.dumps(row) + "\n")
    done = snellen("data", "pack", "--unpack", "odd.jsonl", "--to", "back")

    assert done.code == 2
    assert (
        "row 1, image_path begins like a list but is not a list of quoted strings: '[\"a.png'"
        in done.err
    )


def written_parquet(path: Path, *rows: dict[str, Any]) -> Path:
    arrow = pytest.importorskip("pyarrow", reason="needs the extra parquet")
    pytest.importorskip("pyarrow.parquet").write_table(arrow.Table.from_pylist(rows), path)
    return path


def seen(shade: int) -> dict[str, Any]:
    """A picture, as Hugging Face's Image feature has it."""
    return {"bytes": picture(shade), "path": None}


def test_pictures_of_every_column_are_unpacked(snellen: Snellen, tmp_path: Path) -> None:
    first: dict[str, Any] = {
        "id": "a",
        "image": picture(1),
        "image_1": seen(2),
        "more": [seen(3), seen(4)],
    }
    second: dict[str, Any] = {"id": "b", "image": None, "image_1": None, "more": []}
    source = written_parquet(tmp_path / "many.parquet", first, second)
    done = snellen("data", "pack", "--unpack", source, "--to", "back", "--json")

    assert (done.code, done.json["images"]) == (0, 4), done.err
    [row, other] = unpacked(tmp_path / "back")
    assert row == {
        "id": "a",
        "image": "images/0.png",
        "image_1": "images/0_image_1.png",
        "more": ["images/0_more_0.png", "images/0_more_1.png"],
    }
    assert other == {"id": "b", "image_1": None, "more": []}
    written = [row["image"], row["image_1"], *row["more"]]
    assert [(tmp_path / "back" / name).read_bytes() for name in written] == [
        picture(shade) for shade in (1, 2, 3, 4)
    ]


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "parquet"])
def test_pictures_of_columns_that_are_not_shown_are_not_packed_as_text(
    snellen: Snellen, tmp_path: Path, kind: str
) -> None:
    row = {"image": seen(1), "image_2": seen(2), "question": "What?", "answer": "a cat"}
    source = written_parquet(tmp_path / "many.parquet", row)
    done = snellen("data", "pack", source, "--to", f"out.{kind}")

    assert done.code == 2
    assert "row 1 has a picture or other bytes in its column 'image_2'" in done.err
    assert not (tmp_path / f"out.{kind}").exists()


def test_bytes_that_are_no_picture_are_not_unpacked_as_text(
    snellen: Snellen, tmp_path: Path
) -> None:
    source = written_parquet(
        tmp_path / "many.parquet", {"id": 1, "sound": {"bytes": b"RIFF", "rate": 8}}
    )
    done = snellen("data", "pack", "--unpack", source, "--to", "back")

    assert done.code == 2
    assert "row 1 has a picture or other bytes in its column 'sound'" in done.err
    assert not (tmp_path / "back/rows.jsonl").exists()


@pytest.mark.parametrize("name", ["../evil.png", "/evil.png", "a/../../evil.png"])
def test_a_packed_picture_whose_name_climbs_out_is_refused(
    snellen: Snellen, tmp_path: Path, name: str
) -> None:
    row = {"image": base64.b64encode(picture(1)).decode(), "image_path": name}
    (tmp_path / "evil.jsonl").write_text(json.dumps(row) + "\n")
    done = snellen("data", "pack", "--unpack", "evil.jsonl", "--to", "back")

    assert done.code == 2
    assert "would be outside the folder" in done.err
    assert not [*tmp_path.rglob("*.png")]
    assert not (tmp_path / "back/rows.jsonl").exists()


def test_rows_that_were_unpacked_before_are_not_replaced(snellen: Snellen, tmp_path: Path) -> None:
    snellen("data", "pack", mine(tmp_path), "--to", "out.jsonl")
    (tmp_path / "back").mkdir()
    (tmp_path / "back/rows.jsonl").write_text("mine")
    done = snellen("data", "pack", "--unpack", "out.jsonl", "--to", "back")

    assert done.code == 2
    assert (tmp_path / "back/rows.jsonl").read_text() == "mine"


def test_a_file_that_is_not_the_published_one_is_named_in_every_result(
    snellen: Snellen, tmp_path: Path
) -> None:
    """The bundled rows under the published file's name, whose MD5 they have not."""
    shutil.copytree(bundled("mmbench") or Path(), tmp_path / "sheets")
    ask = ("run", "-m", "baseline/first", "-b", "mmbench", "--json")

    first = snellen(*ask, "--data", "sheets")
    again = snellen(*ask, "--data", "sheets")
    bundle = snellen(*ask, "--data", "synthetic", "--out", "other")

    for done in (first, again):
        [note] = [note for note in done.json["notes"] if "is not the published" in note]
        assert "its MD5 is" in note
        assert "and the published one is 30c05be8f2f347a50be25aa067248184" in note
    assert not any("is not the published" in note for note in bundle.json["notes"])


def test_data_of_another_split_are_noted_wherever_the_score_is(
    snellen: Snellen, tmp_path: Path
) -> None:
    shutil.copytree(bundled("mathvista") or Path(), tmp_path / "rows")
    name = "rows/testmini.json has another name than the published files of mathvista (test.json)"
    size = "the data have 16 of the 5,141 questions of mathvista"
    ask = ("-b", "mathvista:split=test", "--data", "rows/testmini.json", "--out", "runs")

    for model in ("baseline/first", "baseline/random"):
        done = snellen("run", *ask, "-m", model)
        assert f"mathvista × {model}: {name}" in done.err
        assert f"mathvista × {model}: {size}" in done.err
    shown = snellen("show", *ask[1:4])
    compared = snellen("compare", "runs", "--json").json["notes"]
    table = snellen("report", "runs")
    score = snellen("report", *map(str, Path("runs").glob("*/*first/*")), "--json").json["notes"]

    for text in (shown.out, " ".join(compared), " ".join(score)):
        assert name in text and size in text
    assert "the data are not the published data" in table.out


def test_a_picture_that_lies_there_already_is_not_taken_for_a_packed_one(
    snellen: Snellen, tmp_path: Path
) -> None:
    snellen("data", "pack", mine(tmp_path), "--to", "out.jsonl")
    snellen("data", "pack", "--unpack", "out.jsonl", "--to", "once")
    inside = sorted(path for path in (tmp_path / "once/images").rglob("*") if path.is_file())[0]
    other = tmp_path / "back" / inside.relative_to(tmp_path / "once")
    other.parent.mkdir(parents=True)
    other.write_bytes(b"another picture")

    done = snellen("data", "pack", "--unpack", "out.jsonl", "--to", "back")

    assert done.code == 2
    assert "already exists and is a different picture" in done.err
    assert other.read_bytes() == b"another picture"
    assert not (tmp_path / "back/rows.jsonl").exists()


def test_the_name_of_a_file_to_verify_leads_to_no_module(
    snellen: Snellen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "imported"
    (tmp_path / "some_module.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    rows = tmp_path / "some_module:x.jsonl"
    rows.write_text('{"id": 1, "question": "?", "answer": "yes"}\n')

    done = snellen("data", "verify", rows)

    assert not mark.exists()
    assert "'x.jsonl' is not an option" in done.err


def test_pictures_of_rows_that_cannot_be_read_are_not_counted(
    snellen: Snellen, tmp_path: Path
) -> None:
    path = tmp_path / "mine.jsonl"
    lines = [{"id": "1", "question": "Which?", "A": "x", "B": "y", "answer": "A"}]
    lines.append({"id": "2", "question": "How many?", "answer": "3"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = snellen("data", "verify", path).out
    assert "1 of 2 rows cannot be read" in out
    assert "0 of 0 pictures in the other 1 row cannot be read" in out


def test_a_file_that_cannot_be_read_has_no_counts_of_rows(snellen: Snellen, tmp_path: Path) -> None:
    path = tmp_path / "mine.xlsx"
    path.write_text("no spreadsheet")
    done = snellen("data", "verify", path)
    assert done.code == 1
    assert "WRONG: " in done.out
    assert "cannot be read\n" not in done.out and "0 of 0" not in done.out
