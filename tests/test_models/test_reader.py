"""The reader sees pictures alone: large ones well, and at chance with another question's."""

import ast
import asyncio
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import snellen
from snellen import catalog
from snellen.benchmarks.eyechart import eyechart
from snellen.content import Image, user
from snellen.drawing import UNIT, Canvas
from snellen.errors import Rejected
from snellen.media import images
from snellen.model import Generates, Reply, Request, loaded
from snellen.models.reader import Reader
from snellen.sample import Sample

CHART = eyechart(seed=5, n=384)


@cache
def samples() -> tuple[Sample, ...]:
    return tuple(CHART.sample(row.place, row) for row in CHART.data)


def said(question: str, picture: bytes, choices: tuple[str, ...] = ()) -> str:
    request = Request(messages=(user(Image(picture), question),), choices=choices)
    return Reader().generate_batch([loaded(request)])[0].text


def score(sample: Sample, picture: bytes) -> float:
    """What the reader scores on a sample's question when it is shown this picture."""
    scoring = CHART.scorings["official"]
    reply = said(sample.question, picture, sample.choices)
    found = scoring.score(scoring.parse(Reply(text=reply), sample), sample)
    assert found is not None
    return found


@cache
def pictures() -> dict[str, bytes]:
    """What is shown with each sample, by its id."""
    shown = {}
    for sample in samples():
        request = CHART.request(sample)
        assert request is not None
        medium = request.messages[0].content[0]
        assert isinstance(medium, Image) and isinstance(medium.source, bytes)
        shown[sample.id] = medium.source
    return shown


def picture(sample: Sample) -> bytes:
    return pictures()[sample.id]


@cache
def by_height() -> dict[str, float]:
    """The share of letters read, by their height."""
    scores = defaultdict(list)
    for sample in samples():
        if sample.tags["task"] == "letters":
            scores[sample.tags["height"]].append(score(sample, picture(sample)))
    return {height: sum(found) / len(found) for height, found in scores.items()}


def shares(task: str, shown: Callable[[int], int]) -> float:
    """The mean score on a task when sample k is shown the picture of sample `shown(k)`."""
    asked = [sample for sample in samples() if sample.tags["task"] == task]
    scores = [score(one, picture(asked[shown(k) % len(asked)])) for k, one in enumerate(asked)]
    return sum(scores) / len(scores)


def test_large_letters_are_read() -> None:
    assert all(share >= 0.95 for height, share in by_height().items() if height >= "10px")


def test_the_smallest_letters_are_read_no_better_than_by_chance() -> None:
    # Eight rows of five letters, of ten kinds: 0.1, and 3.3 standard errors of 0.047.
    assert by_height()["02px"] <= 0.26


def test_letters_are_read_ever_worse_as_they_shrink() -> None:
    shares = [share for _, share in sorted(by_height().items())]
    # 0.1: at most the standard error of a difference of two shares of forty letters.
    assert all(small <= large + 0.1 for small, large in pairwise(shares))
    assert shares[1] < shares[3] < shares[6]


@pytest.mark.parametrize("task", ["colours", "counts", "positions"])
def test_colours_counts_and_positions_are_seen(task: str) -> None:
    assert shares(task, lambda k: k) >= 0.97


# Chance, and 3.3 standard errors of 96 answers (480 letters) above it.
@pytest.mark.parametrize(
    ("task", "most"),
    [("letters", 0.15), ("colours", 0.24), ("counts", 0.22), ("positions", 0.22)],
)
def test_with_another_question_s_picture_it_is_at_chance(task: str, most: float) -> None:
    assert shares(task, lambda k: k + 24) <= most  # 24: letters of the same height


def encoded(pixels: np.ndarray, form: str = "PNG") -> bytes:
    out = BytesIO()
    PIL.Image.fromarray(pixels.astype(np.uint8)).save(out, form)
    return out.getvalue()


@pytest.mark.parametrize(
    ("change", "form"),
    [
        (lambda p: 255 - p, "PNG"),
        (lambda p: 150 - p // 8, "PNG"),
        (lambda p: p * np.array([0.4, 0.7, 1.0]), "PNG"),
        (lambda p: np.repeat(np.repeat(p, 3, axis=0), 3, axis=1), "PNG"),
        (lambda p: np.pad(p, ((0, 90), (50, 0), (0, 0)), constant_values=255), "PNG"),
        (lambda p: p, "JPEG"),
        (lambda p: p, "WEBP"),
    ],
    ids=["negative", "faint", "tinted", "enlarged", "on a larger sheet", "jpeg", "webp"],
)
def test_contrast_size_place_and_format_do_not_matter(
    change: Callable[[np.ndarray], np.ndarray], form: str
) -> None:
    sample = next(sample for sample in samples() if sample.tags["height"] == "16px")
    changed = encoded(change(images.pixels(Image(picture(sample)))), form)
    assert said(sample.question, changed) == sample.target


def test_it_counts_connected_pieces_whatever_their_shape() -> None:
    pixels = np.full((60, 60, 3), 255)
    pixels[5:25, 5:10] = pixels[5:25, 20:25] = pixels[20:25, 5:25] = 0  # a U: its arms meet late
    pixels[5:25, 30:50] = 0
    pixels[10:20, 35:45] = 255  # a ring
    pixels[40, 40] = pixels[41, 41] = 0  # a diagonal
    assert said("How many marks are there?", encoded(pixels)) == "3"


def test_a_letter_in_two_pieces_is_one_letter() -> None:
    pixels = np.full((30, 40, 3), 255)
    pixels[10:20, 10:12] = pixels[10:20, 15:17] = 0
    assert said("Which letter is this? One of H, Z.", encoded(pixels)) == "H"


def test_without_a_list_of_letters_it_reads_the_alphabet() -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    canvas = Canvas(26 * 60, 60)
    for place, letter in enumerate(alphabet):
        canvas.draw(letter, (60 * place + 15) * UNIT, 15 * UNIT, 30 * UNIT)
    assert said("Which letters are these?", canvas.png()) == alphabet


def test_other_questions_and_empty_pictures_get_no_answer() -> None:
    blank = encoded(np.full((20, 20, 3), 255))
    letters = picture(samples()[40])
    assert said("Is this a good picture?", letters) == ""
    assert said("How many circles are there?", blank) == ""
    nothing = Request(messages=(user("How many circles are there?"),))
    assert Reader().generate_batch([nothing])[0].text == ""


def test_a_damaged_picture_is_a_failure_and_no_answer() -> None:
    good = picture(samples()[0])
    damaged = good[:60] + bytes(20) + good[80:]
    with pytest.raises(Rejected, match="cannot be decoded"):
        said("How many circles are there?", damaged)


def test_opened_by_its_name_it_answers_many_at_once() -> None:
    model = catalog.model("baseline/reader").model
    assert isinstance(model, Generates)
    asked = [sample for sample in samples() if sample.tags["task"] == "counts"][:20]

    async def body() -> list[str]:
        requests = [CHART.request(sample) for sample in asked]
        replies = [model.generate(loaded(request)) for request in requests if request]
        return [reply.text for reply in await asyncio.gather(*replies)]

    assert model.name == "baseline/reader"
    assert asyncio.run(body()) == [sample.target for sample in asked]


def test_it_knows_nothing_of_what_draws_or_asks() -> None:
    source = Path(snellen.__file__).parent / "models" / "reader.py"
    imported = {
        node.module
        for node in ast.walk(ast.parse(source.read_bytes()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("snellen")
    }
    assert imported == {
        "snellen.content",
        "snellen.errors",
        "snellen.media",
        "snellen.model",
        "snellen.models._profile",
    }
