"""Texts beside the frames of videos, from the command to the server and into the run's folder."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks import longvideobench as longvideobench_file
from snellen.benchmarks import video_mme as video_mme_file
from snellen.benchmarks.longvideobench import longvideobench
from snellen.errors import DataError
from snellen.media.content import Cue
from tests.servers import completion, serving

ROWS = Path(video_mme_file.__file__).parent / "rows"
SECONDS_28 = ROWS / "video_mme/data/letters_2.mp4"


def contents(benchmark: str, out: Path, **options: Any) -> tuple[list[list[Any]], Path]:
    """The content of each user message that a server got, and the run's folder."""
    with serving(completion("B")) as server:
        result = snellen.evaluate(
            benchmark, "openai/x", base_url=server.url, out=out, concurrency=1, **options
        )
    assert result.run is not None
    return [request.json["messages"][-1]["content"] for request in server.requests], result.run


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def kinds(content: list[Any]) -> str:
    return "".join("t" if part["type"] == "text" else "i" for part in content)


def test_stamps_stand_beside_the_frames_that_a_server_gets(tmp_path: Path) -> None:
    got, run = contents(
        "video-mme",
        tmp_path,
        data=ROWS / "video_mme",
        frames="uniform:3,side=64,stamps=qwen3-vl",
        limit=1,
    )

    (content,) = got
    assert kinds(content) == "tititit"
    (reply,) = lines(run / "replies.jsonl")
    (seen,) = reply["media"]
    stamps = [f"<{time:.1f} seconds>" for time in seen["frames"]]
    assert [part["text"] for part in content if part["type"] == "text"][:3] == stamps
    # The question's record has the video itself, with its policy.
    (question,) = lines(run / "questions.jsonl")
    assert question["media"][0]["policy"] == "uniform:3,side=64,stamps=qwen3-vl"
    identity = json.loads((run / "manifest.json").read_text())["identity"]
    assert identity["media"]["frames"] == "uniform:3,side=64,stamps=qwen3-vl"


@pytest.mark.parametrize("blind", [None, "none"])
def test_video_mmes_subtitles_are_those_at_the_frames(tmp_path: Path, blind: str | None) -> None:
    # Of the lines from 4.4, 9.7, 15.3, 20.5, and 26.5 s, two are on display at 15.75 and 21 s.
    got, run = contents(
        "video-mme:subtitles=frames",
        tmp_path,
        data=ROWS / "video_mme",
        frames="fps:0.19047619,side=64",
        **({"blind": blind} if blind else {}),
    )

    texts = {
        text if isinstance(text, str) else text[-1]["text"]
        for text in got
        if "Which letter" in json.dumps(text)
    }
    with_lines = {text for text in texts if "subtitles" in text}
    assert with_lines
    for text in with_lines:
        assert text.startswith(
            "This video's subtitles are listed below:\nHere is D.\nHere is O.\nSelect the best"
        )
    stored = {part for line in lines(run / "questions.jsonl") for part in line["messages"][0][1]}
    assert with_lines <= stored


def test_longvideobenchs_subtitles_stand_between_the_frames(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(ROWS / "longvideobench", data)
    rows = json.loads((data / "lvb_val.json").read_text())
    for row in rows:
        row |= {
            "subtitle_path": "letters.json",
            "starting_timestamp_for_subtitles": 100.0,
            "duration": 130.0,
        }
    (data / "lvb_val.json").write_text(json.dumps(rows))
    (data / "subtitles").mkdir()
    (data / "subtitles/letters.json").write_text(
        json.dumps(
            [
                {"timestamp": [99.5, 101.0], "text": "at the first frame"},
                {"timestamp": [110.0, 111.0], "text": "at no frame"},
                {"timestamp": [120.0, None], "text": "until the end"},
                {"start": "00:02:09", "end": "00:02:31.5", "line": "at the last frame"},
            ]
        )
    )

    (content, *_), _ = contents(
        "longvideobench:prompt=official", tmp_path, data=data, frames="uniform:3,side=64", limit=1
    )

    texts = [part.get("text", "picture") for part in content]
    assert texts[:2] == ["picture", "at the first frame"]
    assert "at no frame" not in texts
    assert set(texts[2:-1]) == {"picture", "until the end", "at the last frame"}
    assert texts[-1] == (
        "Question: What is shown in this video?\nA. Letters\nB. Dogs\nC. Houses\nD. Clouds\n"
        "Answer with the option's letter from the given choices directly."
    )


def test_longvideobenchs_subtitles_are_in_their_folder(tmp_path: Path) -> None:
    shutil.copytree(ROWS / "longvideobench", tmp_path / "data")
    path = tmp_path / "data/lvb_val.json"
    rows = json.loads(path.read_text())
    path.write_text(json.dumps([{**rows[0], "subtitle_path": "../../secret.json"}]))
    benchmark = longvideobench(prompt="official", data=tmp_path / "data")

    with pytest.raises((DataError, ValueError), match="are outside"):
        for row in benchmark.data:
            benchmark.read(row)


def test_a_line_without_an_end_lasts_until_the_end_of_the_video() -> None:
    row = {"starting_timestamp_for_subtitles": 10, "duration": 60}

    # As in the authors' loader, the offset is subtracted from the duration too.
    assert longvideobench_file.cue_of({"timestamp": [15, None], "text": "x"}, row) == Cue(
        5.0, 50.0, "x"
    )
