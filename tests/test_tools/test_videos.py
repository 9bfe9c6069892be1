"""Tools for videos: the frames on display at the times of a call, and none after the end of what a
question shows."""

from pathlib import Path

import pytest

from snellen.core.model import Reply
from snellen.media import images
from snellen.media.content import Image, ToolCall, Video
from snellen.registry import toolbox
from snellen.tools import Shown
from tests import videos

TOOLS = toolbox(["frame", "window", "zoom"])
N, FPS = 90, 30


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return videos.cfr(tmp_path_factory.mktemp("videos") / "a.mp4", N, FPS).path


def result(shown: Shown, name: str, arguments: str) -> list[object]:
    calls = (ToolCall(id="1", name=name, arguments=arguments),)
    (first,), _ = TOOLS.results(Reply(tool_calls=calls), shown)
    return [*first.parts]


def indexes(parts: list[object]) -> list[int]:
    """The numbers that the frames say they have."""
    pictures = [part for part in parts if isinstance(part, Image)]
    return [videos.index_of(images.pixels(picture)) for picture in pictures]


def test_a_frame_is_that_on_display_at_its_time(clip: Path) -> None:
    shown = Shown(videos=(Video(clip),))

    for time, index in ((0, 0), (0.999, 29), (1, 30), (1.02, 30), (89 / 30, 89)):
        parts = result(shown, "frame", f'{{"time": {time}}}')
        assert indexes(parts) == [index]
        assert parts[0] == f"The frame at {index / 30:.2f} s:"


def test_a_window_shows_frames_at_its_own_rate(clip: Path) -> None:
    shown = Shown(videos=(Video(clip),))

    parts = result(shown, "window", '{"start": 0.5, "end": 1.5, "fps": 5}')

    assert indexes(parts) == [15, 21, 27, 33, 39]
    assert parts[0] == "0.50 s:"


def test_no_frame_is_shown_after_the_end_of_the_question(clip: Path) -> None:
    shown = Shown(videos=(Video(clip, start=0.5, end=1.0),))

    assert indexes(result(shown, "frame", '{"time": 0.99}')) == [29]
    for time in (0.4, 1.0, 2.5):
        (text,) = result(shown, "frame", f'{{"time": {time}}}')
        assert text == f"Error: the time must be from 0.5 to 1.00 seconds, not {time:g}."
    parts = result(shown, "window", '{"start": 0.5, "end": 3, "fps": 30}')
    assert indexes(parts) == [*range(15, 30)]


def test_a_frame_can_be_zoomed_into(clip: Path) -> None:
    shown = Shown(videos=(Video(clip),))
    calls = (
        ToolCall(id="1", name="frame", arguments='{"time": 1}'),
        ToolCall(id="2", name="zoom", arguments='{"box": [0, 0, 500, 500]}'),
    )

    (frame, zoomed), _ = TOOLS.results(Reply(tool_calls=calls), shown)

    full, part = frame.parts[-1], zoomed.parts[-1]
    assert isinstance(full, Image) and isinstance(part, Image)
    pixels = images.pixels(full)
    height, width, _ = pixels.shape
    assert (images.pixels(part) == pixels[: height // 2, : width // 2]).all()


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("window", '{"start": 0, "end": 2.9, "fps": 30}', "there would be 87 frames; at most 32"),
        ("window", '{"start": 2, "end": 1}', "start must be before end, not 2 and 1"),
        ("window", '{"start": 5, "end": 6}', "start and end must be from 0 to 2.97 seconds"),
        ("window", '{"start": 0, "end": 1, "fps": 0}', "`float` >= 0.01"),
        ("frame", '{"time": -1}', "the time must be from 0 to 2.97 seconds, not -1"),
        ("frame", '{"time": 1, "video": 2}', "there is no video 2; the only number is 1"),
    ],
)
def test_a_wrong_call_says_what_is_right(name: str, arguments: str, words: str, clip: Path) -> None:
    (text,) = result(Shown(videos=(Video(clip),)), name, arguments)

    assert isinstance(text, str) and words in text
