"""Texts between frames: time stamps, captions, and subtitles in the order of time."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from snellen.errors import MediaError, UsageError
from snellen.media.content import Cue, Frame, Image, Part, TimedText, Video, user
from snellen.media.layout import laid_out, with_times
from snellen.media.stamps import STAMPS
from snellen.media.subtitles import cues, lines_at, once_at
from snellen.media.video import policy
from tests import videos

PICTURES = [Image(bytes([number]), label=f"picture {number}") for number in range(9)]


def film(times: Sequence[float], **fields: object) -> Video:
    frames = tuple(
        Frame(time=time, image=picture) for time, picture in zip(times, PICTURES, strict=False)
    )
    return Video(Path("v.mp4"), frames=frames, **fields)  # type: ignore[arg-type]


def in_words(parts: Sequence[Part]) -> list[str]:
    return [part if isinstance(part, str) else f"<{PICTURES.index(part)}>" for part in parts]  # type: ignore[arg-type]


# -- stamps


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("qwen3-vl", ["<0.0 seconds>", "<0>", "<61.3 seconds>", "<1>"]),
        ("internvl", ["Frame1: ", "<0>", "\n", "Frame2: ", "<1>", "\n"]),
        ("internvl-vlmevalkit", ["Frame-1: ", "<0>", "\n", "Frame-2: ", "<1>", "\n"]),
        ("smolvlm2", ["\nFrame from 00:00:", "<0>", "\nFrame from 01:01:", "<1>"]),
        ("glm-4.1v", ["<0>", "0", "<1>", "61"]),
        ("glm-4.6v", ["<0>", "0.0 seconds", "<1>", "61.3 seconds"]),
        ("kimi-k2.5", ["00:00:00.000", "<0>", "00:01:01.250", "<1>"]),
        ("molmo2", ["0.0 ", "<0>", " 61.3 ", "<1>"]),
    ],
)
def test_a_stamp_stands_beside_each_frame(form: str, expected: list[str]) -> None:
    # 61.25 is rounded to the nearest tenth, half to even, and 61.26 is used to avoid that case.
    times = [0.0, 61.25 if form == "kimi-k2.5" else 61.26]

    assert in_words(laid_out(film(times, policy=f"uniform:2,stamps={form}"))) == expected


def test_each_form_of_stamps_is_tested() -> None:
    assert len(STAMPS) == 8


def test_stamps_are_part_of_a_policys_canonical_text() -> None:
    assert str(policy("uniform:4,stamps=qwen3-vl")) == "uniform:4,stamps=qwen3-vl"
    assert str(policy("uniform:4")) == "uniform:4"


def test_an_unknown_form_of_stamps_names_the_forms() -> None:
    with pytest.raises(UsageError, match="stamps must be internvl or "):
        policy("uniform:4,stamps=clock")


# -- captions


def test_captions_stand_before_their_frames() -> None:
    shown = laid_out(film([0.0, 1.0], captions=("First: ", "\nSecond: ")))

    assert in_words(shown) == ["First: ", "<0>", "\nSecond: ", "<1>"]


def test_more_frames_than_captions_are_an_error() -> None:
    with pytest.raises(MediaError, match=r"texts for 1 frames, but the frame policy .* shows 2"):
        laid_out(film([0.0, 1.0], captions=("First: ",)))


# -- subtitles between frames


def by_authors(times: Sequence[float], lines: Sequence[Cue]) -> list[str]:
    """The order in which the authors of LongVideoBench put frames and subtitles, written from the
    description of their loader: a queue of frames, and one pass over the lines."""
    queue = [(time, f"<{number}>") for number, time in enumerate(times)]
    order: list[str] = []
    for start, end, text in lines:
        center = (start + end) / 2
        while queue and queue[0][0] <= center:
            order.append(queue.pop(0)[1])
        low, high = (start, end) if end - start >= 1 else (center - 0.5, center + 0.5)
        if [time for time in times if low < time < high]:
            order.append(text)
    return order + [name for _, name in queue]


@pytest.mark.parametrize("step", [0.4, 1.0, 2.5])
def test_subtitles_stand_between_frames_in_the_order_of_time(step: float) -> None:
    times = [number * step for number in range(9)]
    lines = tuple(
        Cue(start, start + length, f"at {start}")
        for start, length in ((0.0, 0.2), (0.5, 1.5), (1.9, 0.3), (3.0, 4.0), (7.0, 2.0), (30.0, 3))
    )

    assert in_words(laid_out(film(times, subtitles=lines))) == by_authors(times, lines)


def test_a_line_without_a_frame_is_left_out() -> None:
    lines = (Cue(1.2, 1.4, "unseen"), Cue(4.0, 6.0, "seen"))

    assert in_words(laid_out(film([0.0, 5.0], subtitles=lines))) == ["<0>", "<1>", "seen"]


# -- subtitles of the frames shown

LINES = (Cue(1.0, 2.0, "one"), Cue(1.5, 3.0, "also one"), Cue(3.0, 4.0, "two"))


def test_each_frame_has_the_first_line_on_display() -> None:
    # A line is not on display at its very start or end, as in the authors' script.
    assert lines_at(LINES, [0.5, 1.0, 1.2, 1.7, 2.0, 3.0, 3.5]) == ["one", "one", "also one", "two"]


def test_a_line_may_be_listed_once() -> None:
    assert once_at(LINES, [1.0, 1.2, 3.0, 4.0]) == ["one", "two"]


def test_a_line_without_a_readable_time_is_never_on_display() -> None:
    (line,) = cues("1\nsoon --> later\nHello\n")

    assert line.text == "Hello"
    assert lines_at([line], [0.0, 1e9]) == []


def test_times_are_read_in_hours_to_milliseconds() -> None:
    assert cues("7\n01:02:03,5 --> 01:02:04.250 X1:1\n<i>Hi</i>\nyou\n") == [
        Cue(3723.5, 3724.25, "Hi you")
    ]


def test_texts_are_written_for_the_times_of_the_policys_frames(tmp_path: Path) -> None:
    clip = videos.cfr(tmp_path / "v.mp4", n=90)
    shown = Video(clip.path, policy="uniform:3")
    timed = TimedText("unknown", [shown], lambda times: json.dumps([*times]))

    (message,) = with_times([user(shown, timed)])
    (without_video,) = with_times([user(timed)])

    times = [float(clip.frames[index][0]) for index in (0, 44, 89)]
    assert json.loads(str(message.content[1])) == pytest.approx(times, abs=1e-9)
    assert without_video.content == message.content[1:]


def test_a_video_that_is_missing_has_no_times(tmp_path: Path) -> None:
    timed = TimedText("", [Video(tmp_path / "none.mp4", label="none.mp4")], lambda _: "")

    with pytest.raises(MediaError, match=r"none\.mp4"):
        with_times([user(timed)])
