"""Pictures with a red box, the box that a model sees in them, and its answer in each convention of
coordinates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import PIL.ImageDraw

Size = tuple[int, int]
Box = tuple[float, float, float, float]
ORIGINALS: Mapping[str, tuple[Size, Box]] = {
    "even": ((320, 240), (60, 30, 180, 150)),
    "odd": ((321, 239), (151, 33, 320, 92)),
}
"""The sizes of pictures, and their red boxes."""
GREEN, RED = 40, 255
"""The red channel outside and inside of the box."""


def write_rows(folder: Path, names: Iterable[str] = ORIGINALS) -> Path:
    """Write a file of Ref-L4 whose rows refer to the red boxes of these pictures."""
    lines = []
    for name in names:
        size, box = ORIGINALS[name]
        picture = PIL.Image.new("RGB", size, (GREEN, 90, 40))
        left, top, right, bottom = map(int, box)
        PIL.ImageDraw.Draw(picture).rectangle((left, top, right - 1, bottom - 1), (RED, 0, 0))
        picture.save(folder / f"{name}.png")
        xywh = [left, top, right - left, bottom - top]
        row = {"caption": f"the red box of the {name} picture", "bbox": xywh, "split": "val"}
        lines.append({"id": name, "ori_category_id": "1", "file_name": f"{name}.png", **row})
    path = folder / "ref-l4-val.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def red_box(pixels: Any) -> Box:
    """The edges of the red box in a picture (height, width, 3)."""
    red = np.asarray(pixels)[:, :, 0] > (GREEN + RED) / 2
    across, down = np.flatnonzero(red.any(axis=0)), np.flatnonzero(red.any(axis=1))
    return float(across[0]), float(down[0]), float(across[-1] + 1), float(down[-1] + 1)


def shares(numbers: Sequence[float], size: Size) -> list[float]:
    """A box or point in pixels as shares of the picture's width and height."""
    sides = size * (len(numbers) // 2)
    return [number / side for number, side in zip(numbers, sides, strict=True)]


def written(relative: Sequence[float], convention: str, *, original: Size, shown: Size) -> str:
    """A box or point in the words of a model with this convention.

    Args:
        relative: The box or point as shares of the picture's width and height.
        convention: The convention, perhaps with the resizing of the processor.
        original: The width and height of the original picture.
        shown: The width and height of the picture that the model is shown.
    """
    edges = {"0-1": (1, 1), "0-999": (999, 999), "pixels-original": original}.get(
        convention, shown if convention.startswith("pixels-shown") else (1000, 1000)
    )
    words = [
        f"{share * edge:.6f}"
        for share, edge in zip(relative, edges * (len(relative) // 2), strict=True)
    ]
    if convention == "yxyx-0-1000":
        words = [words[k ^ 1] for k in range(len(words))]
        kind = "box_2d" if len(words) == 4 else "point"
        return f'```json\n[{{"{kind}": [{", ".join(words)}]}}]\n```'
    return f"It is at [{', '.join(words)}]."
