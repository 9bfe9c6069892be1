"""A profile's image limits: what a server gets, what fails, and which run it is."""

import asyncio
import json
import tomllib
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

import snellen
from snellen import registry
from snellen.analysis.result import Result
from snellen.core.model import Generates, Ranked, Ranks, Reply, Request, SessionSpec
from snellen.core.profile import ImageLimits, Profile, read_profile
from snellen.errors import Rejected, UsageError
from snellen.media.content import Image, user
from snellen.media.images import smaller
from snellen.models.limited import limited
from snellen.store import ReplyRecord, Run
from snellen.testing import check_model, check_ranks
from tests.servers import completion, serving

IMAGES = Path(__file__).parents[2] / "src/snellen/benchmarks/rows/own/images"


class Counts:
    """Says how many pictures it got, and how wide they are."""

    name = "counts"

    async def generate(self, request: Request) -> Reply:
        pictures = [image for message in request.messages for image in message.images]
        return Reply(text=" ".join(str(image.width) for image in pictures))


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """One question with a picture of 60 x 40 pixels, and one with two of them."""
    PIL.Image.effect_noise((60, 40), 60).save(tmp_path / "wide.jpg")
    lines = [
        {"id": "one", "image": ["wide.jpg"], "question": "What?", "answer": "A"},
        {"id": "two", "image": ["wide.jpg", "wide.jpg"], "question": "What?", "answer": "A"},
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def evaluated(rows: Path, model: Any = "openai/m", **fields: Any) -> Result:
    profile = Profile(**fields)
    return snellen.evaluate(str(rows), model, profile=profile, out=rows.parent / "runs")


def pictures(body: Any) -> list[bytes]:
    parts = [part for message in body["messages"] for part in message["content"]]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [b64decode(url.partition(",")[2], validate=True) for url in urls]


def test_within_the_limits_a_server_gets_the_bytes_on_disk(rows: Path) -> None:
    limits = ImageLimits(max_side=60, max_pixels=2400, max_bytes=10_000, max_images=2)
    with serving(completion("A")) as server:
        evaluated(rows, base_url=server.url, images=limits)

    on_disk = (rows.parent / "wide.jpg").read_bytes()
    assert [picture for request in server.requests for picture in pictures(request.json)] == [
        on_disk
    ] * 3


def test_beyond_them_it_gets_a_smaller_picture_of_the_same_kind(rows: Path) -> None:
    with serving(completion("A")) as server:
        result = evaluated(rows, base_url=server.url, images=ImageLimits(max_side=30))

    got = [
        PIL.Image.open(BytesIO(p)) for request in server.requests for p in pictures(request.json)
    ]
    assert [(picture.format, picture.size) for picture in got] == [("JPEG", (30, 20))] * 3
    assert "pictures beyond max_side = 30 were made smaller for the model" in result.report.notes


def test_a_request_of_too_many_pictures_fails_and_is_not_sent(rows: Path) -> None:
    with serving(completion("A")) as server:
        result = evaluated(rows, base_url=server.url, images=ImageLimits(max_images=1))

    assert result.report.replies == {"ok": 1, "failed": 1}
    assert [len(pictures(request.json)) for request in server.requests] == [1]
    assert result.run is not None
    records = [record for record in Run(result.run).replies() if isinstance(record, ReplyRecord)]
    assert [(record.key[0], record.error.message) for record in records if record.error] == [
        ("two", "the request has 2 pictures, but max_images in the profile of m is 1.")
    ]


def test_a_picture_that_cannot_be_made_to_fit_fails_its_question(rows: Path) -> None:
    result = evaluated(rows, Counts(), images=ImageLimits(max_bytes=50))

    assert result.report.replies == {"failed": 2}


def test_a_model_that_the_caller_opened_has_the_limits_too(rows: Path) -> None:
    result = evaluated(rows, Counts(), images=ImageLimits(max_side=30))

    assert result.run is not None
    records = [record for record in Run(result.run).replies() if isinstance(record, ReplyRecord)]
    assert {record.reply for record in records} == {"30", "30 30"}


def test_recorded_replies_are_found_whatever_the_limits(rows: Path) -> None:
    first = evaluated(rows, Counts())

    again = evaluated(rows, f"recorded/{first.run}", images=ImageLimits(max_side=30))

    assert again.report.replies == {"ok": 2}


def test_below_the_least_pixels_it_gets_a_larger_picture_of_the_same_kind(rows: Path) -> None:
    with serving(completion("A")) as server:
        result = evaluated(rows, base_url=server.url, images=ImageLimits(min_pixels=9_600))

    got = [
        PIL.Image.open(BytesIO(p)) for request in server.requests for p in pictures(request.json)
    ]
    assert [(picture.format, picture.size) for picture in got] == [("JPEG", (120, 80))] * 3
    assert "pictures below min_pixels = 9,600 were made larger for the model" in result.report.notes
    assert result.report.identity["media"] == {"images": "scaled into limits"}
    assert result.report.identity["profile"] == {"images": {"min_pixels": 9_600}}


@pytest.mark.parametrize(
    ("limits", "sent"),
    [
        (ImageLimits(max_side=30), [30, 20]),
        (ImageLimits(min_pixels=9_600), [120, 80]),
        (ImageLimits(max_side=60), None),
        (ImageLimits(), None),
    ],
)
@pytest.mark.parametrize("asks", ["generate", "rank"])
def test_the_sizes_that_were_sent_and_those_before_are_stored(
    rows: Path, limits: ImageLimits, sent: list[int] | None, asks: str
) -> None:
    row = {"id": "c", "image": "wide.jpg", "question": "What?", "A": "x", "B": "y", "answer": "A"}
    rows.write_text(json.dumps(row))
    own = registry.benchmark(str(rows))
    benchmark = replace(own, procedure=replace(own.procedure, kind=asks))  # type: ignore[arg-type]
    result = snellen.evaluate(
        benchmark, Both(), profile=Profile(images=limits), out=rows.parent / "runs"
    )

    assert result.run is not None
    (question,) = map(json.loads, (result.run / "questions.jsonl").read_text().splitlines())
    (reply,) = map(json.loads, (result.run / "replies.jsonl").read_text().splitlines())
    assert [(entry["width"], entry["height"]) for entry in question["media"]] == [(60, 40)]
    stored = [(entry.get("width"), entry.get("height")) for entry in reply.get("media", [])]
    assert stored == ([tuple(sent)] if sent else [])
    assert [entry["original"] for entry in reply.get("media", [])] == ([[60, 40]] if sent else [])


def test_more_least_pixels_than_most_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^min_pixels \(9\) of \[images\] is above max_pixels"):
        ImageLimits(min_pixels=9, max_pixels=8)


# -- which run it is


def test_without_limits_the_identity_is_that_of_earlier_runs(rows: Path) -> None:
    stored = Path(__file__).parents[1] / "data/format-0/manifest.json"
    before = json.loads(stored.read_text())["identity"]

    for images in (ImageLimits(), ImageLimits(max_images=None)):
        now = evaluated(rows, Counts(), images=images).report.identity
        assert (now["media"], now["profile"]) == (before["media"], before["profile"])


def test_limits_make_another_run(rows: Path) -> None:
    plain = evaluated(rows, Counts())
    with_limits = evaluated(rows, Counts(), images=ImageLimits(max_side=30, max_images=4))

    assert plain.run != with_limits.run
    identity = with_limits.report.identity
    assert identity["profile"] == {"images": {"max_side": 30}}
    assert identity["media"] == {"images": "smaller beyond limits"}


def test_a_limit_of_their_number_alone_leaves_pictures_as_they_are(rows: Path) -> None:
    identity = evaluated(rows, Counts(), images=ImageLimits(max_images=4)).report.identity

    assert identity["media"] == {"images": "original"}
    assert identity["profile"] == {}


# -- the profile's table


def test_a_profile_has_them_in_a_table(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text("[images]\nmax_side = 2048\nmax_bytes = 5_000_000\n")

    assert read_profile(path).images == ImageLimits(max_side=2048, max_bytes=5_000_000)


def test_the_profile_of_the_guide_has_every_field(tmp_path: Path) -> None:
    guide = Path(__file__).parents[2] / "docs/profiles.md"
    path = tmp_path / "model.toml"
    path.write_text(guide.read_text().split("```toml\n")[1].split("```")[0])

    profile = read_profile(path)

    assert set(tomllib.loads(path.read_text())) == set(profile.__struct_fields__)
    assert profile.images == ImageLimits(
        max_side=2048, max_pixels=4_000_000, max_bytes=5_000_000, max_images=8,
        min_pixels=500_000,
    )  # fmt: skip


@pytest.mark.parametrize("line", ["max_side = 0", "max_images = -1", "max_width = 9"])
def test_a_limit_that_makes_no_sense_is_said(tmp_path: Path, line: str) -> None:
    path = tmp_path / "model.toml"
    path.write_text(f"[images]\n{line}\n")

    with pytest.raises(UsageError, match=r"model\.toml: .* - at `\$\.images"):
        read_profile(path)


# -- the contract


class Both(Counts):
    async def rank(self, request: Request) -> Sequence[Ranked]:
        return [Ranked(-1.0, 1) for _ in request.choices]


class Watches:
    name = "watches"

    async def open(self, spec: SessionSpec) -> Any: ...


def test_a_model_with_limits_keeps_to_the_contract() -> None:
    request = Request(messages=(user(Image(IMAGES / "dots.jpg"), "How many?"),), choices=("1", "2"))

    with serving(completion("A")) as server:
        profile = Profile(base_url=server.url, images=ImageLimits(max_side=30))
        model = registry.model("openai/m", profile).model
        assert isinstance(model, Generates)
        assert check_model(model, request).text == "A"
    both = limited(Both(), ImageLimits(max_side=30))
    assert isinstance(both, Ranks)
    check_ranks(both, request)


def test_it_offers_what_the_model_offers_and_no_more() -> None:
    limits = ImageLimits(max_side=30)

    assert isinstance(limited(Both(), limits), Generates)
    assert not isinstance(limited(Counts(), limits), Ranks)
    with pytest.raises(UsageError, match="image limits do not apply to streams"):
        limited(Watches(), limits)


async def test_pictures_of_all_turns_count() -> None:
    model = limited(Counts(), ImageLimits(max_images=1))
    assert isinstance(model, Generates)
    turns = (user(Image(IMAGES / "dots.jpg")), user(Image(IMAGES / "circle.png")))

    with pytest.raises(Rejected, match="the request has 2 pictures"):
        await model.generate(Request(messages=turns))


async def test_others_go_on_while_a_picture_is_made_smaller() -> None:
    model = limited(Counts(), ImageLimits(max_side=30))
    assert isinstance(model, Generates)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    going_on = asyncio.create_task(others())
    await model.generate(Request(messages=(user(Image(IMAGES / "dots.jpg")),)))
    going_on.cancel()

    assert turns > 0


# -- pictures that are shown again


class Keeps:
    """Has what it was asked with."""

    name = "keeps"

    def __init__(self) -> None:
        self.pictures: list[Image] = []

    async def generate(self, request: Request) -> Reply:
        self.pictures += [image for message in request.messages for image in message.images]
        return Reply(text="A")


def noise(size: tuple[int, int] = (60, 40)) -> Image:
    data = BytesIO()
    PIL.Image.effect_noise(size, 60).save(data, "PNG")
    return Image(data.getvalue())


async def test_a_picture_that_is_shown_again_is_made_smaller_once() -> None:
    keeps = Keeps()
    model = limited(keeps, ImageLimits(max_side=30))
    assert isinstance(model, Generates)
    large = noise((1200, 800))  # so that threads meet over it
    request = Request(messages=(user(large),))

    await asyncio.gather(*(model.generate(request) for _ in range(4)))  # repeats
    await model.generate(request)  # the next attempt

    first, *others = keeps.pictures
    assert first.width == 30
    assert len(others) == 4
    assert all(other.source is first.source for other in others)


async def test_a_picture_under_another_name_keeps_that_name() -> None:
    keeps = Keeps()
    model = limited(keeps, ImageLimits(max_side=30))
    assert isinstance(model, Generates)
    picture = noise()

    for label in ("one", "two"):
        await model.generate(Request(messages=(user(replace(picture, label=label)),)))

    assert [picture.label for picture in keeps.pictures] == ["one", "two"]


async def test_where_there_is_no_room_for_more_the_oldest_picture_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pictures = [noise() for _ in range(3)]
    sources = [smaller(picture, max_side=30).source for picture in pictures]
    room = sum(len(data) for data in sources if isinstance(data, bytes)) - 1
    monkeypatch.setattr("snellen.models.limited.KEPT", room)
    keeps = Keeps()
    model = limited(keeps, ImageLimits(max_side=30))
    assert isinstance(model, Generates)

    for number in (0, 1, 2, 1, 0):
        await model.generate(Request(messages=(user(pictures[number]),)))

    first, second, _, second_again, first_again = (picture.source for picture in keeps.pictures)
    assert second_again is second
    assert first_again is not first
    assert first_again == first
