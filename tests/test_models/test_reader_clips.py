"""The reader of letters that come and go sees frames alone, and in their order."""

from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from math import ceil
from pathlib import Path
from random import Random

import numpy as np
import PIL.Image
import pytest

from snellen.core.model import Request
from snellen.media.content import Frame, Image, Message, Video, user
from snellen.media.drawing import CLIP_KINDS, ClipQuestion, Script, clip_frame, clip_script
from snellen.media.drawing.clip import Kind
from snellen.models.reader import Reader

SEEDS = tuple(map(str, range(12)))
Frames = Sequence[Image]


@cache
def screen(pixels: bytes) -> Image:
    file = BytesIO()
    shape = (240, 320, 3)
    PIL.Image.fromarray(np.frombuffer(pixels, np.uint8).reshape(shape)).save(file, "JPEG")
    return Image(file.getvalue())


def seen(script: Script, until: float, rate: int = 10) -> list[Image]:
    """The frames at each 1 / `rate` seconds before a time, or the clip's end."""
    indices = [tick * 10 // rate for tick in range(ceil(until * rate))]
    return [screen(clip_frame(script, k).tobytes()) for k in indices if k < script.n_frames]


def as_video(frames: Frames, text: str) -> Message:
    shown = tuple(Frame(time=float(k), image=image) for k, image in enumerate(frames))
    return user(Video(Path("clip.mp4"), frames=shown), text)


def answer_to(message: Message) -> str:
    return Reader().generate_batch([Request(messages=(message,))])[0].text


def questions_of(kind: Kind) -> list[tuple[Script, ClipQuestion]]:
    scripts = [clip_script(kind, seed) for seed in SEEDS]
    return [(script, question) for script in scripts for question in script.questions]


def right(kind: Kind, shown: Callable[[Script, ClipQuestion], Frames]) -> list[bool]:
    """Whether the answer is right where these frames are shown."""
    return [
        answer_to(as_video(shown(script, question), question.text)) == question.target
        for script, question in questions_of(kind)
    ]


@pytest.mark.parametrize("kind", CLIP_KINDS)
def test_who_is_shown_every_frame_answers_every_question(kind: Kind) -> None:
    assert all(right(kind, lambda script, question: seen(script, question.time)))


@pytest.mark.parametrize("kind", ["letter", "count", "order"])
def test_two_frames_a_second_are_enough_but_for_flashes(kind: Kind) -> None:
    assert all(right(kind, lambda script, question: seen(script, question.time, rate=2)))


@pytest.mark.parametrize("rate", [1, 2, 5])
def test_a_flash_is_named_if_a_frame_shows_it(rate: int) -> None:
    for script, question in questions_of("flash"):
        frames = seen(script, question.time, rate)
        ticks = range(0, int(question.time * 10) + 1, 10 // rate)
        shown = [s.letter for s in script.shown if any(s.first <= t < s.end for t in ticks)]
        last = shown[-1] if shown else ""
        assert answer_to(as_video(frames, question.text)) == last


@pytest.mark.parametrize("kind", ["letter", "order", "flash"])
def test_with_another_clip_it_is_at_chance(kind: Kind) -> None:
    correct = [
        answer_to(as_video(seen(clip_script(kind, f"other {seed}"), question.time), question.text))
        == question.target
        for seed in SEEDS
        for question in clip_script(kind, seed).questions
    ]
    # One in ten, and 3.3 standard errors if all answers of a clip were alike.
    assert sum(correct) / len(correct) <= 0.1 + 3.3 * (0.1 * 0.9 / len(SEEDS)) ** 0.5


def test_with_its_frames_in_any_order_it_names_one_at_random() -> None:
    random = Random(7)
    correct, chance = [], []
    for script, question in questions_of("letter"):
        frames = seen(script, question.time, rate=2)
        ticks = range(0, int(question.time * 10) + 1, 5)
        there = [next(s.letter for s in script.shown if s.first <= t < s.end) for t in ticks]
        for _ in range(10):
            text = answer_to(as_video(random.sample(frames, len(frames)), question.text))
            correct.append(text == question.target)
        chance.append(there.count(question.target) / len(there))
    mean = sum(chance) / len(chance)
    assert sum(correct) / len(correct) == pytest.approx(
        mean, abs=3.3 * (mean * (1 - mean) / len(correct)) ** 0.5
    )


def test_with_its_frames_in_any_order_it_cannot_count() -> None:
    random = Random(7)
    correct = right(
        "count",
        lambda script, question: random.sample(frames := seen(script, question.time), len(frames)),
    )
    assert sum(correct) / len(correct) < 0.3  # about what who always says 1 gets


@pytest.mark.parametrize("kind", CLIP_KINDS)
def test_of_empty_frames_it_names_no_letter_and_counts_none(kind: Kind) -> None:
    pixels = np.full((240, 320, 3), (20, 90, 200), np.uint8)
    for _, question in questions_of(kind):
        text = answer_to(as_video([screen(pixels.tobytes())] * 20, question.text))
        assert text == ("0" if kind == "count" else "")


def test_pictures_in_a_row_are_read_as_frames_are() -> None:
    script = clip_script("order", "1")
    for question in script.questions:
        frames = seen(script, question.time, rate=2)
        assert answer_to(user(*frames, question.text)) == question.target


def test_a_letter_that_stays_came_once_and_one_that_comes_again_twice() -> None:
    question = "Letters come and go. How many times has the letter {} come so far?"
    script = next(
        script
        for script in (clip_script("count", seed) for seed in SEEDS)
        if script.shown[0].letter == script.shown[1].letter
    )
    first, second = (screen(clip_frame(script, s.first).tobytes()) for s in script.shown[:2])
    empty = screen(clip_frame(script, 0).tobytes())
    text = question.format(script.shown[0].letter)
    assert answer_to(as_video([empty, first, first, first, empty], text)) == "1"
    assert answer_to(as_video([empty, first, empty, second, second], text)) == "2"
