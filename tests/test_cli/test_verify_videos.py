"""`snellen data verify` of questions about videos: which are missing, and what that does to n."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from tests.test_cli.conftest import Snellen


@pytest.fixture
def video_mme(tmp_path: Path) -> Path:
    """Eight questions, four on each of two videos."""
    return Path(shutil.copytree(registry.ROWS / "video_mme", tmp_path / "video-mme"))


def test_a_missing_video_is_named_with_what_it_takes_from_n(
    snellen: Snellen, video_mme: Path
) -> None:
    (video_mme / "data/letters_2.mp4").unlink()

    done = snellen("data", "verify", "video-mme", "--data", video_mme)

    assert done.code == 1
    lines = done.out.splitlines()
    assert "1 of 2 videos are missing or empty: letters_2.mp4" in lines
    assert "without them, 4 of 8 questions fail, and n is 4" in lines
    assert "by duration: long 4 of 4" in lines
    assert "by domain: Multilingual 4 of 4" in lines


def test_an_empty_video_is_as_good_as_none(snellen: Snellen, video_mme: Path) -> None:
    (video_mme / "data/letters-1.mp4").write_bytes(b"")

    videos = snellen("data", "verify", "video-mme", "--data", video_mme, "--json").json["videos"]

    assert (videos["n"], videos["missing"], videos["questions"], videos["left"]) == (
        2,
        ["letters-1.mp4"],
        8,
        4,
    )
    assert videos["lost"]["duration"] == {"short": {"lost": 4, "of": 4}}


def test_videos_that_are_all_there_are_said_to_be(snellen: Snellen, video_mme: Path) -> None:
    done = snellen("data", "verify", "video-mme", "--data", video_mme)

    assert "all 2 videos of 8 questions exist" in done.out.splitlines()


def test_an_option_takes_the_questions_and_their_videos_away(
    snellen: Snellen, video_mme: Path
) -> None:
    (video_mme / "data/letters_2.mp4").unlink()

    spec = "video-mme:duration=short"
    videos = snellen("data", "verify", spec, "--data", video_mme, "--json").json["videos"]

    assert (videos["n"], videos["missing"], videos["left"]) == (1, [], 4)


def test_ovo_bench_says_which_tasks_lose_points(snellen: Snellen, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(registry.ROWS / "ovo_bench", tmp_path / "ovo"))
    (gone,) = folder.glob("src_videos/**/count.mp4")
    gone.unlink()
    # Those of the one question on that video, which counts: a point for each of its times.
    rows = json.loads((folder / "ovo_bench_new.json").read_text())
    points = sum(
        len(row.get("test_info", [0])) for row in rows if row["video"] == "letters/count.mp4"
    )

    videos = snellen("data", "verify", "ovo-bench", "--data", folder, "--json").json["videos"]

    assert videos["missing"] == ["letters/count.mp4"]
    assert videos["questions"] - videos["left"] == points
    assert videos["lost"]["task"] == {"REC": {"lost": points, "of": points}}


def test_questions_that_are_not_there_are_said_to_be_missing(
    snellen: Snellen, tmp_path: Path
) -> None:
    done = snellen("data", "verify", "ovo-bench", "--data", tmp_path, "--json")

    assert done.code == 1
    assert done.json["videos"] is None
    assert "no ovo_bench_new.json" in done.json["wrong"][0]


def test_of_pictures_nothing_is_said_about_videos(snellen: Snellen) -> None:
    document = snellen("data", "verify", "pope", "--json").json

    assert (document["videos"], document["wrong"]) == (None, [])


def own(folder: Path, *names: str) -> Path:
    path = folder / "mine.jsonl"
    lines: list[dict[str, Any]] = [
        {"video": name, "question": "?", "answer": "x", "category": name[0]} for name in names
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_of_own_rows_missing_videos_are_named(snellen: Snellen, tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"x")
    path = own(tmp_path, "a.mp4", *(f"b{number}.mp4" for number in range(7)), "b0.mp4")

    done = snellen("data", "verify", path)

    assert done.code == 1
    lines = done.out.splitlines()
    assert (
        "  7 of 8 videos are missing or empty: b0.mp4, b1.mp4, b2.mp4, b3.mp4, b4.mp4 and 2 more"
        in lines
    )
    assert "  without them, 8 of 9 questions fail, and n is 1" in lines
    assert "  by category: b 8 of 8" in lines


def test_own_rows_whose_videos_are_there_are_fine(snellen: Snellen, tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"x")

    done = snellen("data", "verify", own(tmp_path, "a.mp4", "a.mp4"), "--json")

    assert (done.code, done.json["ok"]) == (0, True)
    assert done.json["videos"]["missing"] == []
