"""Pipes, sockets, devices, and folders in the place of a file: refused, never waited for."""

import json
import os
import socket
from pathlib import Path

import pytest

from snellen.errors import MediaError
from snellen.media import images, video
from snellen.media.content import Image, Video
from snellen.media.drawing import Canvas
from snellen.store import ReplyRecord, Run
from tests.test_cli.conftest import Snellen

PIPE = "is a named pipe, not a regular file"


def row(name: str, **fields: str) -> str:
    return json.dumps(
        {"id": name, "question": "Which?", "A": "x", "B": "y", "answer": "A"} | fields
    )


def test_a_picture_that_is_no_regular_file_fails_its_question_alone(
    snellen: Snellen, tmp_path: Path
) -> None:
    os.mkfifo("pipe.png")
    os.mkdir("folder.png")
    # The name of a socket is short; a temporary folder's may be longer than is allowed.
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.png")
    Path("dots.png").write_bytes(Canvas(8, 8).png())
    names = ("pipe", "folder", "socket", "dots")
    Path("mine.jsonl").write_text("\n".join(row(name, image=f"{name}.png") for name in names))

    assert snellen("run", "-m", "baseline/first", "-b", "mine.jsonl").code == 1

    (manifest,) = tmp_path.glob("runs/*/*/*/manifest.json")
    records = [
        record for record in Run(manifest.parent).replies() if isinstance(record, ReplyRecord)
    ]
    errors = {record.key[0]: record.error.message for record in records if record.error is not None}
    assert set(errors) == {"pipe", "folder", "socket"}
    assert errors["pipe"].endswith(f"it {PIPE}.")
    assert errors["folder"].endswith("it is a folder, not a regular file.")
    assert errors["socket"].endswith("it is a socket, not a regular file.")


def test_a_device_is_no_picture_and_no_video() -> None:
    with pytest.raises(MediaError, match="it is a device, not a regular file"):
        images.load(Image(Path("/dev/zero")))
    with pytest.raises(MediaError, match="it is a device, not a regular file"):
        video.load(Video(Path("/dev/zero")))


def test_a_pipe_is_no_video(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mp4")
    with pytest.raises(MediaError, match=PIPE):
        video.load(Video(tmp_path / "pipe.mp4"))
    with pytest.raises(MediaError, match=PIPE):
        video.facts(Video(tmp_path / "pipe.mp4"))


@pytest.mark.parametrize(
    "command",
    [
        "run -m baseline/first -b ./pipe.jsonl",
        "run -m baseline/first -b ./pipe.tsv",
        "run -m baseline/first -b ./pipe.csv",
        "run -m baseline/first -b ./pipe.json",
        "run -m baseline/first -b ./pipe.parquet",
        "run -m baseline/first -b ./pipe.jsonl.gz",
        "data verify ./pipe.jsonl",
        "score pipe.jsonl -b mine.jsonl",
        "score pipe.json -b mine.jsonl",
        "score pipe.csv -b mine.jsonl",
        "score pipe.xlsx -b mine.jsonl",
        "run pipe.toml",
        "run -m baseline/first -b mine.jsonl --profile pipe.toml",
        "run -m baseline/first -b suite:pipe.toml",
    ],
)
def test_a_pipe_in_the_place_of_a_file_is_refused_by_its_name(
    command: str, snellen: Snellen
) -> None:
    Path("mine.jsonl").write_text(row("1"))
    (name,) = {word.removeprefix("./") for part in command.split() for word in part.split(":")} & {
        f"pipe.{end}"
        for end in ("jsonl", "tsv", "csv", "json", "parquet", "jsonl.gz", "xlsx", "toml")
    }
    os.mkfifo(name)
    done = snellen(*command.split())
    words = done.out + done.err
    assert done.code == (1 if "verify" in command else 2)
    assert name in words and PIPE in words and "Errno" not in words


def test_a_manifest_that_is_a_pipe_is_refused(snellen: Snellen) -> None:
    os.mkdir("run")
    os.mkfifo("run/manifest.json")
    done = snellen("score", "run")
    assert done.code == 2 and PIPE in done.err
