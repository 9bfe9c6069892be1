"""The same picture is found whatever became of it; others are not."""

from io import BytesIO

import numpy as np
import PIL.Image
import pytest
from numpy.typing import NDArray

from snellen.analysis.contamination import pictures as _pictures
from snellen.analysis.contamination.pictures import MOST_BITS, SIDE, PictureIndex, hashes
from snellen.errors import MediaError
from snellen.media import images
from snellen.media.content import Image
from tests.scenes import CHANGES, jpeg, png, scene

N = 40


def grays(files: list[bytes]) -> NDArray[np.uint8]:
    return np.stack([images.gray(Image(file), SIDE) for file in files])


@pytest.fixture(scope="module")
def index() -> PictureIndex:
    return PictureIndex(grays([jpeg(scene(seed)) for seed in range(N)]))


# Of those that lose nothing; brightening cuts off what is bright, a frame adds an edge.
LEAST = {
    **dict.fromkeys(CHANGES, 0.95),
    **dict.fromkeys(("30 % brighter", "a white frame of 3 %"), 0.8),
    **dict.fromkeys(("5 % cropped", "10 % cropped", "mirrored"), 0.0),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_picture_is_found_and_no_other(index: PictureIndex, name: str) -> None:
    changed = grays([CHANGES[name](scene(seed)) for seed in range(N)])
    pairs = {(number, other) for number, other, _ in index.near(changed)}
    assert all(number == other for number, other in pairs)
    assert len(pairs) >= LEAST[name] * N


@pytest.mark.parametrize("name", ["10 % cropped", "mirrored"])
def test_what_is_said_not_to_be_found_is_not(index: PictureIndex, name: str) -> None:
    changed = grays([CHANGES[name](scene(seed)) for seed in range(N)])
    assert len(list(index.near(changed))) <= 0.1 * N


def test_different_pictures_are_not_alike(index: PictureIndex) -> None:
    assert list(index.pairs()) == []


def test_flat_pictures_are_never_near_one_another() -> None:
    flat = [png(PIL.Image.new("RGB", (50, 50), (g, g, g))) for g in (0, 128, 255, 255)]
    flat_index = PictureIndex(grays(flat))
    assert list(flat_index.pairs()) == []
    assert list(flat_index.near(grays(flat))) == []


def test_an_index_of_nothing_finds_nothing() -> None:
    nothing = np.zeros((0, SIDE, SIDE), np.uint8)
    assert list(PictureIndex(nothing).pairs()) == []
    assert list(PictureIndex(nothing).near(grays([jpeg(scene(1))]))) == []


def test_only_the_same_file_is_wholly_alike(index: PictureIndex) -> None:
    again = grays([jpeg(scene(3))])
    [(query, match, how)] = index.near(again)
    assert (query, match) == (0, 3)
    assert 0.99 < how < 1


def test_candidates_are_those_of_every_pair_compared() -> None:
    draw = np.random.default_rng(5)
    pictures = draw.integers(0, 256, (300, SIDE, SIDE), dtype=np.uint8)
    ours = hashes(pictures)
    theirs = ours[draw.integers(0, 300, 200)].copy()
    for row, n in enumerate(draw.integers(0, 16, 200)):  # n other bits in the first hash
        for bit in draw.choice(64, n, replace=False):
            theirs[row, 0] ^= np.uint64(1 << int(bit))
        theirs[row, 1] = np.uint64(int(draw.integers(0, 1 << 63)))
    i, j = PictureIndex(pictures).candidates(theirs)

    def near(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> bool:
        return any((int(x) ^ int(y)).bit_count() <= MOST_BITS for x, y in zip(a, b, strict=True))

    expected = {(p, q) for p in range(200) for q in range(300) if near(theirs[p], ours[q])}
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == expected
    assert len(expected) > 100


def test_no_end_of_look_alikes_is_cut_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pictures, "MOST_CANDIDATES", 50)
    monkeypatch.setattr(_pictures, "EXPANDED", 64)
    same = PictureIndex(np.repeat(grays([jpeg(scene(1))]), 30, axis=0))
    list(same.pairs())
    assert same.cut


def test_hashes_do_not_depend_on_what_else_is_hashed() -> None:
    pictures = grays([jpeg(scene(seed)) for seed in range(5)])
    assert (hashes(pictures)[2:3] == hashes(pictures[2:3])).all()


def test_grey_is_upright_and_on_white() -> None:
    picture = scene(2)
    exif = PIL.Image.Exif()
    exif[0x112] = 6  # to be turned right by 90 degrees to be seen as it is
    turned = picture.rotate(90, expand=True)
    plain = images.gray(Image(jpeg(picture, 95)), 16)
    for mode, kind in (("RGB", "JPEG"), ("RGB", "PNG"), ("RGBA", "PNG"), ("LA", "PNG")):
        out = BytesIO()
        turned.convert(mode).save(out, kind, quality=95, exif=exif)
        upright = images.gray(Image(out.getvalue()), 16)
        assert np.abs(upright.astype(int) - plain).mean() < 2, (mode, kind)
    clear = png(PIL.Image.new("RGBA", (20, 20), (0, 0, 0, 0)))
    assert (images.gray(Image(clear), 4) == 255).all()
    deep = png(PIL.Image.fromarray(np.full((20, 20), 0x80FF, np.uint16)))
    assert (images.gray(Image(deep), 4) == 0x80).all()


def test_a_damaged_picture_says_so() -> None:
    with pytest.raises(MediaError, match="cut off"):
        images.gray(Image(jpeg(scene(1))[:400]), 16)
