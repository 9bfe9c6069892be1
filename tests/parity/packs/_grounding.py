"""For packs whose replies are boxes and points: pictures of a size, and the cases of a scoring."""

import json
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from snellen.core import Answer, BoxAnswer, PointAnswer
from tests.parity.engine import Case, Expected, Figure, Item, Scores, scores

NO_OUTPUTS = "no model's outputs are published; the pairs are generated"
NOT_FINITE = ("nan", "inf", "-inf")
Rows = Sequence[Mapping[str, Any]]


def chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


def write_picture(folder: Path, size: Sequence[int]) -> str:
    """Write the head of a PNG, which has the size of the picture and no pixels. Returns its
    name."""
    name = f"{size[0]}x{size[1]}.png"
    folder.mkdir(parents=True, exist_ok=True)
    head = struct.pack(">IIBBBBB", *size, 8, 2, 0, 0, 0)
    (folder / name).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IEND", b""))
    return name


def write_gray(path: Path, rows: Sequence[bytes]) -> None:
    """Write a gray PNG of 8 bits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    parts = chunk(b"IHDR", head), chunk(b"IDAT", pixels), chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))


def write_replies(path: Path, replies: Iterable[tuple[str, str]]) -> Path:
    lines = [json.dumps({"id": name, "prediction": text}) for name, text in replies]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def case(
    benchmark: str,
    replies: Path,
    data: Path,
    expected: Mapping[str, Expected],
    *notes: str,
    heading: str | None = None,
    written: Callable[[Answer | None], object] | None = None,
) -> Case:
    """A case of generated pairs. `written` converts our answers to the form of the pack's. The
    first figure of each scoring is on docs/parity.md."""

    def ours(of: Case) -> Scores:
        result = scores(of)
        items = {
            name: {
                key: [replace(item, answer=written(item.answer)) for item in some]  # type: ignore
                for key, some in by_id.items()
            }
            for name, by_id in result.items.items()
        }
        return replace(result, items=items)

    return Case(
        model="made pairs",
        replies=replies,
        benchmark=benchmark,
        data=data,
        expected={name: on_page(name, of) for name, of in expected.items()},
        heading=heading or benchmark.partition(":")[0],
        proof="generated pairs",
        notes=notes,
        ours=ours if written else None,
    )


def on_page(scoring: str, expected: Expected) -> Expected:
    labels = {
        metric: metric if scoring == "official" else f"{metric} ({scoring})"
        for metric in [*expected.figures][:1]
    }
    figures = {
        metric: replace(figure, label=labels.get(metric, ""))
        for metric, figure in expected.figures.items()
    }
    return replace(expected, figures=figures)


def figure(value: float | None, n: int | None = None) -> Figure:
    return Figure(official=value, n=n, reason=NO_OUTPUTS)


def column(rows: Rows, name: str, answer: Callable[[Mapping[str, Any]], object] = lambda _: None):  # type: ignore
    """The items of a column of scores. Text or null in its stead means that there is none."""
    return {
        str(row["id"]): [Item(score=float(row[name]), answer=answer(row))]
        for row in rows
        if isinstance(row[name], int | float)
    }


def digits(values: Iterable[float] | None) -> str:
    """Coordinates to ten digits, as text; "" for none."""
    return "" if values is None else " ".join(f"{value + 0.0:.10g}" for value in values)


def of_answer(answer: object) -> str:
    """A point or box of ours in the form of `digits`."""
    if isinstance(answer, PointAnswer):
        return digits((answer.x, answer.y))
    if isinstance(answer, BoxAnswer):
        return digits((answer.left, answer.top, answer.right, answer.bottom))
    return ""
