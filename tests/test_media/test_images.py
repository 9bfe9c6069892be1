"""Images: what a model gets, what is said of those that cannot be shown, what the pixels are.

Expected sizes and pixels come from how each picture was made; Pillow writes the files.
"""

import base64
import os
import re
import struct
import subprocess
import sys
import zlib
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from snellen.errors import MediaError
from snellen.media.content import Image, Slice
from snellen.media.images import load, pixels


def picture(mode: str = "RGB", size: tuple[int, int] = (40, 30)) -> PIL.Image.Image:
    """Red on the left half, blue on the right."""
    drawn = PIL.Image.new("RGB", size, (255, 0, 0))
    drawn.paste((0, 0, 255), (size[0] // 2, 0, *size))
    return drawn if mode == "RGB" else drawn.convert(mode)


def encoded(kind: str, drawn: PIL.Image.Image | None = None, **options: Any) -> bytes:
    out = BytesIO()
    (drawn or picture()).save(out, kind, **options)
    return out.getvalue()


def frames(kind: str) -> bytes:
    second = picture().transpose(PIL.Image.Transpose.FLIP_LEFT_RIGHT)
    return encoded(kind, save_all=True, append_images=[second])


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def huge_png(side: int) -> bytes:
    """A PNG of side x side black pixels, one bit each: a few kilobytes, hundreds of megapixels."""
    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    rows = zlib.compressobj(9)
    data = b"".join(rows.compress(b"\0" * (side // 8 + 1)) for _ in range(side)) + rows.flush()
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    )


def deep_png() -> bytes:
    """16-bit grey, 2 x 1: 0x1234 and 0xFFFF."""
    return encoded("PNG", PIL.Image.fromarray(np.array([[0x1234, 0xFFFF]], dtype=np.uint16)))


AS_THEY_ARE = {
    "baseline.jpg": (encoded("JPEG"), "image/jpeg"),
    "progressive.jpg": (encoded("JPEG", progressive=True), "image/jpeg"),
    "grey.jpg": (encoded("JPEG", picture("L")), "image/jpeg"),
    "cmyk.jpg": (encoded("JPEG", picture("CMYK")), "image/jpeg"),
    "thumbnail.jpg": (encoded("JPEG", comment=b"\xff\xd8\xff\xd9" * 8), "image/jpeg"),
    "rgb.png": (encoded("PNG"), "image/png"),
    "palette.png": (encoded("PNG", picture("P")), "image/png"),
    "alpha.png": (encoded("PNG", picture("RGBA")), "image/png"),
    "still.gif": (encoded("GIF"), "image/gif"),
    "lossy.webp": (encoded("WEBP"), "image/webp"),
    "lossless.webp": (encoded("WEBP", lossless=True), "image/webp"),
    "alpha.webp": (encoded("WEBP", picture("RGBA"), exif=PIL.Image.Exif()), "image/webp"),
    "two.jpg": (frames("MPO"), "image/jpeg"),
    "trailing.jpg": (encoded("JPEG") + b"\0" * 100, "image/jpeg"),
}
TO_PNG = {
    "a.bmp": (encoded("BMP"), "as PNG"),
    "a.tiff": (encoded("TIFF"), "as PNG"),
    "cmyk.tiff": (encoded("TIFF", picture("CMYK")), "as PNG"),
    "two.tiff": (frames("TIFF"), "first frame, as PNG"),
    "two.gif": (frames("GIF"), "first frame, as PNG"),
    "two.webp": (frames("WEBP"), "first frame, as PNG"),
    "two.png": (frames("PNG"), "first frame, as PNG"),
}


@pytest.mark.parametrize("name", AS_THEY_ARE)
def test_what_servers_take_goes_as_the_very_bytes(tmp_path: Path, name: str) -> None:
    data, mime = AS_THEY_ARE[name]
    (tmp_path / name).write_bytes(data)

    loaded = load(Image(tmp_path / name, label=name, within=tmp_path))

    assert loaded.source == data
    assert loaded.digest == f"sha256:{sha256(data).hexdigest()}"
    assert (loaded.mime, loaded.width, loaded.height) == (mime, 40, 30)
    assert loaded.label == name


def test_loading_a_jpeg_imports_no_decoder() -> None:
    code = (
        "import sys;"
        "from snellen.media.content import Image;"
        "from snellen.media.images import load;"
        "load(Image(sys.stdin.buffer.read()));"
        "sys.exit(len({'PIL', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=encoded("JPEG"), capture_output=True, check=False
    )

    assert done.returncode == 0, done.stderr


def test_sixteen_bits_go_as_they_are() -> None:
    assert load(Image(deep_png())).source == deep_png()


@pytest.mark.parametrize("name", TO_PNG)
def test_what_servers_do_not_take_becomes_a_png_and_says_so(tmp_path: Path, name: str) -> None:
    data, note = TO_PNG[name]
    (tmp_path / name).write_bytes(data)

    loaded = load(Image(tmp_path / name, label=name))

    assert isinstance(loaded.source, bytes)
    assert PIL.Image.open(BytesIO(loaded.source)).format == "PNG"
    assert (loaded.mime, loaded.width, loaded.height) == ("image/png", 40, 30)
    assert loaded.digest == f"sha256:{sha256(loaded.source).hexdigest()}"
    assert loaded.label == f"{name} ({note})"
    shown = pixels(loaded)
    assert shown[0, 0, 0] > 200 and shown[0, 0, 2] < 60  # the first frame is red on the left


@pytest.mark.parametrize("data", [AS_THEY_ARE["rgb.png"][0], TO_PNG["two.gif"][0]])
def test_a_loaded_image_is_not_loaded_again(data: bytes) -> None:
    loaded = load(Image(data))

    assert load(loaded) is loaded


@pytest.mark.parametrize(
    "name",
    [
        "baseline.jpg",
        "progressive.jpg",
        "thumbnail.jpg",
        "rgb.png",
        "still.gif",
        "lossy.webp",
        "lossless.webp",
    ],
)
def test_a_file_without_its_end_is_cut_off_wherever_it_was_cut(name: str) -> None:
    data, _ = AS_THEY_ARE[name]

    for end in range(16, len(data) - 1):
        with pytest.raises(MediaError, match="cut off"):
            load(Image(data[:end], label=name))


@pytest.mark.parametrize("name", ["two.gif", "two.webp", "two.png"])
def test_an_animation_without_its_end_is_cut_off(name: str) -> None:
    data, _ = TO_PNG[name]

    with pytest.raises(MediaError, match=f"{re.escape(name)} is cut off"):
        load(Image(data[:-20], label=name))


@pytest.mark.parametrize("name", ["a.tiff", "a.bmp"])
def test_a_torn_file_of_another_kind_cannot_be_decoded(name: str) -> None:
    data, _ = TO_PNG[name]

    with pytest.raises(MediaError, match=f"{re.escape(name)} cannot be decoded"):
        load(Image(data[: len(data) // 2], label=name))


def test_a_missing_file_is_named_with_its_place_and_path(tmp_path: Path) -> None:
    with pytest.raises(MediaError) as error:
        load(Image(tmp_path / "images/1.jpg", label="images/1.jpg", within=tmp_path))

    assert str(error.value) == (
        f"images/1.jpg is missing: there is no file {tmp_path}/images/1.jpg. "
        "If the data set's images are published separately from its rows, put the image at this "
        "path."
    )


def test_an_empty_file_is_empty(tmp_path: Path) -> None:
    (tmp_path / "1.jpg").touch()

    with pytest.raises(MediaError, match=r"1\.jpg is empty \(0 bytes\)"):
        load(Image(tmp_path / "1.jpg", label="1.jpg"))


def test_a_folder_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="it is a folder, not a regular file"):
        load(Image(tmp_path, label="images"))


def test_a_text_named_jpg_is_no_image(tmp_path: Path) -> None:
    (tmp_path / "1.jpg").write_text("<html>404</html>")

    with pytest.raises(
        MediaError, match=r"1\.jpg is not an image: it begins with b'<html>404</html>"
    ):
        load(Image(tmp_path / "1.jpg", label="1.jpg"))


def test_a_file_that_begins_as_no_image_is_not_read_on(tmp_path: Path) -> None:
    """Whole it would fit into no memory: it is a terabyte, nearly all of it a hole."""
    (tmp_path / "1.jpg").write_text("<html>404</html>")
    os.truncate(tmp_path / "1.jpg", 1 << 40)

    with pytest.raises(
        MediaError, match=r"1\.jpg is not an image: it begins with b'<html>404</html>"
    ):
        load(Image(tmp_path / "1.jpg", label="1.jpg"))


@pytest.mark.parametrize("by_path", [True, False])
def test_a_file_of_too_many_bytes_is_not_read(tmp_path: Path, by_path: bool) -> None:
    path = tmp_path / "1.png"
    path.write_bytes(encoded("PNG"))
    os.truncate(path, 1 << 40)
    source: Path | Slice = path if by_path else Slice(path=path, offset=0, length=1 << 40)

    with pytest.raises(MediaError, match=r"1\.png has 1,099,511,627,776 bytes; at most 536,"):
        load(Image(source, label="1.png"))


def test_300_megapixels_are_refused_before_they_are_decoded() -> None:
    bomb = huge_png(17_320)
    assert len(bomb) < 60_000

    with pytest.raises(MediaError, match="17320 x 17320 pixels, 299,982,400 in all"):
        load(Image(bomb, label="bomb.png"))


def test_300_megapixels_are_refused_in_a_format_that_is_decoded_first() -> None:
    header = struct.pack(
        "<IHHIIiiHHIIiiII", 0, 0, 0, 62, 40, 17_320, 17_320, 1, 1, 0, 0, 0, 0, 2, 2
    )

    with pytest.raises(MediaError, match=r"bomb\.bmp is too large"):
        load(Image(b"BM" + header + b"\0" * 1000, label="bomb.bmp"))


def test_100_megapixels_are_decoded_without_a_warning() -> None:
    assert pixels(Image(huge_png(10_000))).shape == (10_000, 10_000, 3)


@pytest.mark.parametrize(
    "name", ["../1.png", "images/../../1.png", "images/../../data/../1.png", "{root}/1.png", "."]
)
def test_a_path_may_not_leave_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "1.png").write_bytes(encoded("PNG"))
    (tmp_path / "data" / "images").mkdir(parents=True)
    folder = tmp_path / "data"

    with pytest.raises(MediaError, match="outside the folder of the data"):
        load(Image(folder / name.format(root=tmp_path), label=name, within=folder))


def test_a_folder_whose_name_begins_alike_is_another_folder(tmp_path: Path) -> None:
    (tmp_path / "data2").mkdir()
    (tmp_path / "data2" / "1.png").write_bytes(encoded("PNG"))

    with pytest.raises(MediaError, match="outside"):
        load(Image(tmp_path / "data/../data2/1.png", within=tmp_path / "data"))


def test_dots_that_stay_in_the_folder_are_fine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "1.png").write_bytes(encoded("PNG"))
    monkeypatch.chdir(tmp_path)

    assert load(Image(Path("images/../1.png"), within=Path("."))).width == 40
    assert load(Image(tmp_path / "1.png", within=Path("."))).width == 40


def test_dots_behind_a_link_are_taken_out_before_the_file_is_opened(tmp_path: Path) -> None:
    (tmp_path / "outside" / "deep").mkdir(parents=True)
    (tmp_path / "outside" / "1.png").write_bytes(encoded("PNG"))
    (tmp_path / "data").mkdir()
    os.symlink(tmp_path / "outside" / "deep", tmp_path / "data" / "link")

    with pytest.raises(MediaError, match="is missing"):
        load(Image(tmp_path / "data/link/../1.png", within=tmp_path / "data"))


def test_a_link_in_the_folder_may_lead_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.png").write_bytes(encoded("PNG"))
    (tmp_path / "data").mkdir()
    os.symlink(tmp_path / "elsewhere.png", tmp_path / "data" / "1.png")

    assert load(Image(tmp_path / "data/1.png", within=tmp_path / "data")).width == 40


def test_a_null_byte_is_no_part_of_a_name(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="null byte"):
        load(Image(tmp_path / "1\0.png", within=tmp_path))


@pytest.mark.parametrize("form", ["{}", "data:image/png;base64,{}", "\n{}\n"])
def test_base64_is_the_image_it_stands_for(form: str) -> None:
    text = form.format(base64.encodebytes(encoded("PNG")).decode())

    assert load(Image(text.encode(), label="row 3, image")).source == encoded("PNG")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (base64.b64encode(encoded("PNG"))[:-3], "row 3, image begins with .* neither an image"),
        (base64.b64encode(encoded("PNG"))[:40] + b"!" * 4, "neither an image"),
        (base64.b64encode(encoded("PNG"))[:-40], "cut off"),
        (b"data:image/png,abc", "neither an image"),
        (b"images/1.png", "neither an image"),
        (base64.b64encode(b"hello, world"), "is not an image: it begins with b'hello, world'"),
        (b"", "is empty"),
    ],
)
def test_broken_base64_is_named(text: bytes, words: str) -> None:
    with pytest.raises(MediaError, match=words):
        load(Image(text, label="row 3, image"))


@pytest.mark.parametrize("encoding", ["raw", "base64"])
def test_a_slice_of_a_file_is_an_image(tmp_path: Path, encoding: Any) -> None:
    data = encoded("PNG")
    cell = base64.b64encode(data) if encoding == "base64" else data
    (tmp_path / "rows.tsv").write_bytes(b"before\t" + cell + b"\tafter")
    source = Slice(path=tmp_path / "rows.tsv", offset=7, length=len(cell), encoding=encoding)

    assert load(Image(source, within=tmp_path)).source == data


def test_a_slice_that_reaches_past_the_end_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "rows.bin").write_bytes(encoded("PNG"))
    source = Slice(path=tmp_path / "rows.bin", offset=10, length=10_000)

    with pytest.raises(MediaError, match=r"byte 10 of .*rows\.bin is cut off"):
        load(Image(source))


# -- pixels


@pytest.mark.parametrize(
    "name", ["rgb.png", "alpha.png", "palette.png", "lossless.webp", "still.gif"]
)
def test_pixels_of_lossless_formats_are_what_was_drawn(name: str) -> None:
    shown = pixels(Image(AS_THEY_ARE[name][0]))

    assert shown.dtype == np.uint8
    assert (shown == np.array(picture())).all()


def test_pixels_of_a_cmyk_jpeg_are_nearly_what_was_drawn() -> None:
    shown = pixels(Image(AS_THEY_ARE["cmyk.jpg"][0])).astype(int)

    assert np.abs(shown - np.array(picture())).mean() < 8


def test_sixteen_bits_lose_their_lower_byte() -> None:
    assert pixels(Image(deep_png())).tolist() == [[[0x12] * 3, [0xFF] * 3]]


def test_transparency_shows_white() -> None:
    half = PIL.Image.new("RGBA", (1, 2), (0, 0, 0, 0))
    half.putpixel((0, 1), (0, 0, 0, 255))

    assert pixels(Image(encoded("PNG", half))).tolist() == [[[255] * 3], [[0] * 3]]


def test_pixels_are_upright_and_the_bytes_are_not_turned() -> None:
    exif = PIL.Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter clockwise
    data = encoded("JPEG", exif=exif)

    loaded = load(Image(data))

    assert loaded.source == data
    assert (loaded.width, loaded.height) == (40, 30)
    assert pixels(loaded).shape == (40, 30, 3)


def test_damage_in_the_middle_shows_when_decoded() -> None:
    data = bytearray(encoded("PNG", PIL.Image.effect_noise((64, 64), 50)))
    data[len(data) // 2] ^= 0xFF
    loaded = load(Image(bytes(data), label="noise.png"))

    with pytest.raises(MediaError, match=r"noise\.png cannot be decoded"):
        pixels(loaded)


def test_samples_of_32_bits_are_refused() -> None:
    drawn = PIL.Image.fromarray(np.array([[0.5, 1.0]], dtype=np.float32))

    with pytest.raises(MediaError, match="32 bits"):
        load(Image(encoded("TIFF", drawn), label="depth.tiff"))
