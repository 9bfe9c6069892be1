"""Clips follow from their seed, and show what their scripts say when they say it."""

from collections import Counter
from dataclasses import astuple
from fractions import Fraction
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from snellen.core.model import Request
from snellen.media.content import Image, user
from snellen.media.drawing import CLIP_KINDS, Script, clip_frame, clip_script, write_clip
from snellen.media.drawing.clip import Kind
from snellen.models.reader import Reader
from tests import videos

SEEDS = tuple(map(str, range(50)))
DIGESTS: dict[Kind, str] = {
    "letter": "103389fada5fe87d03b5a419f2c5799a6bb630e9e65733b215f39329ef380a37",
    "count": "8d61bfcb8a0abd22c06faedcb329cae533b023d1c7c4e0698e60fae8b24cabf7",
    "order": "f5d1d38393ac49b7f675699a8c665f037d0f81c21c43205bbf9628ee288d9e94",
    "flash": "550705e83445815302ccf4e59ece986d2e76ae9ab727de60f97b58d59236d9ad",
}


def on_screen(script: Script, time: float) -> list[str]:
    return [
        appearance.letter
        for appearance in script.shown
        if appearance.first <= time * 10 < appearance.end
    ]


def so_far(script: Script, time: float) -> list[str]:
    return [appearance.letter for appearance in script.shown if appearance.first <= time * 10]


@pytest.mark.parametrize("kind", CLIP_KINDS)
def test_a_script_and_its_frames_are_the_same_on_every_machine(kind: Kind) -> None:
    script = clip_script(kind, "7")
    digest = sha256(repr(astuple(script)).encode())
    for index in range(0, script.n_frames, 10):
        digest.update(clip_frame(script, index).tobytes())
    assert digest.hexdigest() == DIGESTS[kind]


@pytest.mark.parametrize("kind", CLIP_KINDS)
def test_another_seed_gives_another_clip(kind: Kind) -> None:
    assert len({repr(clip_script(kind, seed)) for seed in SEEDS}) == len(SEEDS)


@pytest.mark.parametrize("kind", CLIP_KINDS)
def test_clips_last_ten_to_forty_seconds(kind: Kind) -> None:
    lengths = [clip_script(kind, seed).n_frames for seed in SEEDS]
    assert min(lengths) >= 100
    assert max(lengths) <= 400


@pytest.mark.parametrize("kind", CLIP_KINDS)
def test_questions_come_in_order_half_way_between_two_frames_of_the_clip(kind: Kind) -> None:
    for script in (clip_script(kind, seed) for seed in SEEDS):
        times = [question.time * 20 for question in script.questions]
        assert times == sorted(times)
        assert all(time % 2 == 1 for time in times)
        assert max(times) < script.n_frames * 2


@pytest.mark.parametrize("kind", CLIP_KINDS)
def test_letters_come_one_at_a_time(kind: Kind) -> None:
    for script in (clip_script(kind, seed) for seed in SEEDS):
        assert all(before.end <= after.first for before, after in pairwise(script.shown))
        assert script.shown[-1].end <= script.n_frames


@pytest.mark.parametrize("kind", CLIP_KINDS)
def test_the_answer_is_one_of_the_choices_where_there_are_any(kind: Kind) -> None:
    for seed in SEEDS:
        for question in clip_script(kind, seed).questions:
            assert question.target in question.choices or question.target.isdecimal()


def test_the_letter_asked_for_is_the_one_that_is_there() -> None:
    for script in (clip_script("letter", seed) for seed in SEEDS):
        for question in script.questions:
            assert on_screen(script, question.time) == [question.target]


def test_a_letter_is_followed_at_once_by_another() -> None:
    for script in (clip_script("letter", seed) for seed in SEEDS):
        assert script.shown[0].first == 0
        for before, after in pairwise(script.shown):
            assert (before.end, before.letter == after.letter) == (after.first, False)


@pytest.mark.parametrize("kind", ["count", "order", "flash"])
def test_the_screen_is_empty_when_others_are_asked(kind: Kind) -> None:
    for script in (clip_script(kind, seed) for seed in SEEDS):
        assert not any(on_screen(script, question.time) for question in script.questions)


def test_a_count_is_of_the_letters_so_far() -> None:
    for script in (clip_script("count", seed) for seed in SEEDS):
        for question in script.questions:
            name = question.text.partition("the letter ")[2][0]
            assert question.target == str(so_far(script, question.time).count(name))


def test_counts_range_from_none_to_many() -> None:
    questions = [q for seed in SEEDS for q in clip_script("count", seed).questions]
    counts = Counter(question.target for question in questions)
    assert set("012345") <= set(counts)
    assert counts.most_common(1)[0][1] < len(questions) / 3


def test_first_second_and_third_are_asked_once_each_when_they_have_come() -> None:
    for script in (clip_script("order", seed) for seed in SEEDS):
        ranks = set()
        for question in script.questions:
            rank = [word in question.text for word in ("first", "second", "third")].index(True)
            assert so_far(script, question.time)[rank] == question.target
            ranks.add(rank)
        assert ranks == {0, 1, 2}


def test_letters_in_order_are_all_different() -> None:
    for script in (clip_script("order", seed) for seed in SEEDS):
        assert len({appearance.letter for appearance in script.shown}) == len(script.shown)


def test_a_flash_is_of_the_letter_before_the_question_and_as_long_as_its_tag_says() -> None:
    for script in (clip_script("flash", seed) for seed in SEEDS):
        for appearance, question in zip(script.shown, script.questions, strict=True):
            assert so_far(script, question.time)[-1] == question.target
            assert question.tags == {"flash": f"{(appearance.end - appearance.first) / 10} seconds"}


def test_each_length_flashes_once_a_clip() -> None:
    for script in (clip_script("flash", seed) for seed in SEEDS):
        assert sorted(appearance.end - appearance.first for appearance in script.shown) == [
            1,
            2,
            4,
            8,
            16,
        ]


def test_lengths_come_in_any_order() -> None:
    first = Counter(
        script.shown[0].end - script.shown[0].first
        for script in (clip_script("flash", seed) for seed in SEEDS)
    )
    assert set(first) == {1, 2, 4, 8, 16}


def test_who_names_the_flash_before_is_right_about_once_in_ten() -> None:
    pairs = [
        (before.letter, after.letter)
        for seed in range(500)
        for before, after in pairwise(clip_script("flash", str(seed)).shown)
    ]
    # 2,000 pairs: 10 % within four standard errors.
    assert sum(before == after for before, after in pairs) / len(pairs) == pytest.approx(
        0.1, abs=0.027
    )


def test_a_clip_has_no_frame_before_its_first_or_after_its_last() -> None:
    script = clip_script("letter", "0")
    for index in (-1, script.n_frames):
        with pytest.raises(IndexError, match=f"no frame {index}"):
            clip_frame(script, index)


def test_the_classical_reader_reads_every_letter_from_a_jpeg() -> None:
    reader = Reader()
    for script in (clip_script(kind, seed) for kind in CLIP_KINDS for seed in SEEDS[:5]):
        for appearance in script.shown:
            file = BytesIO()
            PIL.Image.fromarray(clip_frame(script, appearance.first)).save(file, "JPEG", quality=75)
            message = user(
                Image(file.getvalue()), "Which letter is it? One of C, D, H, K, N, O, R, S, V, Z."
            )
            assert (
                reader.generate_batch([Request(messages=(message,))])[0].text == appearance.letter
            )


@pytest.mark.parametrize("kind", CLIP_KINDS)
def test_a_written_clip_shows_each_frame_at_its_time(tmp_path: Path, kind: Kind) -> None:
    script = clip_script(kind, "3")
    write_clip(script, tmp_path / "a.mp4")
    frames = list(videos.decoded(tmp_path / "a.mp4"))
    assert [time for time, _ in frames] == [Fraction(k, 10) for k in range(script.n_frames)]
    for index, (_, pixels) in enumerate(frames):
        drawn = clip_frame(script, index)
        # Ink is 128 levels darker than the screen; a letter has 1,500 pixels or more.
        assert ((pixels < 64) ^ (drawn < 64)).any(axis=2).sum() < 50
        assert np.abs(pixels.astype(int) - drawn).mean() < 0.2


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.mp4", "b.mp4"):
        write_clip(clip_script("flash", "5"), tmp_path / name)
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()
