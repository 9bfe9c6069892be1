"""Pictures of random shapes, and what becomes of pictures on their way through the world."""

from collections.abc import Callable, Mapping
from io import BytesIO

import numpy as np
import PIL.Image
from PIL import ImageDraw, ImageEnhance

Picture = PIL.Image.Image


def scene(seed: int, size: tuple[int, int] = (320, 240)) -> Picture:
    """Shapes on a ground of one color; other seeds have others in other places."""
    draw = np.random.default_rng(seed)
    picture = PIL.Image.new("RGB", size, tuple(draw.integers(0, 256, 3).tolist()))
    pen = ImageDraw.Draw(picture)
    for number in range(14):
        x, y = draw.integers(0, size[0]), draw.integers(0, size[1])
        w, h = draw.integers(10, size[0] // 3), draw.integers(10, size[1] // 3)
        box = (int(x - w // 2), int(y - h // 2), int(x + w // 2), int(y + h // 2))
        color = tuple(draw.integers(0, 256, 3).tolist())
        (pen.ellipse if number % 2 else pen.rectangle)(box, fill=color)
    return picture


def jpeg(picture: Picture, quality: int = 90) -> bytes:
    return _saved(picture.convert("RGB"), "JPEG", quality=quality)


def png(picture: Picture) -> bytes:
    return _saved(picture, "PNG")


def _saved(picture: Picture, form: str, **options: int) -> bytes:
    out = BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()


def scaled(picture: Picture, by: float) -> Picture:
    return picture.resize((round(picture.width * by), round(picture.height * by)))


def cropped(picture: Picture, share: float) -> Picture:
    """Without that share at each edge."""
    x, y = round(picture.width * share), round(picture.height * share)
    return picture.crop((x, y, picture.width - x, picture.height - y))


def framed(picture: Picture, share: float) -> Picture:
    x, y = round(picture.width * share), round(picture.height * share)
    canvas = PIL.Image.new("RGB", (picture.width + 2 * x, picture.height + 2 * y), "white")
    canvas.paste(picture, (x, y))
    return canvas


CHANGES: Mapping[str, Callable[[Picture], bytes]] = {
    "JPEG, quality 30": lambda picture: jpeg(picture, 30),
    "half size, quality 75": lambda picture: jpeg(scaled(picture, 0.5), 75),
    "squeezed to 224 x 224": lambda picture: jpeg(picture.resize((224, 224))),
    "30 % brighter": lambda picture: jpeg(ImageEnhance.Brightness(picture).enhance(1.3)),
    "30 % darker": lambda picture: jpeg(ImageEnhance.Brightness(picture).enhance(0.7)),
    "40 % more contrast": lambda picture: jpeg(ImageEnhance.Contrast(picture).enhance(1.4)),
    "grey": lambda picture: jpeg(picture.convert("L")),
    "1 % cropped at each edge": lambda picture: jpeg(cropped(picture, 0.01)),
    "2.5 % cropped": lambda picture: jpeg(cropped(picture, 0.025)),
    "5 % cropped": lambda picture: jpeg(cropped(picture, 0.05)),
    "10 % cropped": lambda picture: jpeg(cropped(picture, 0.1)),
    "a white frame of 3 %": lambda picture: jpeg(framed(picture, 0.03)),
    "mirrored": lambda picture: jpeg(picture.transpose(PIL.Image.Transpose.FLIP_LEFT_RIGHT)),
}
