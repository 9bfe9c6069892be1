"""Draws the picture of the rooms in docs/architecture.md from the source.

The levels are those in `tests/test_layers.py`. A line from a room to a lower one means that a file
of the upper room imports a file of the lower one. A line is left out if a longer path implies it.
"""

from __future__ import annotations

import ast
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "snellen"
LAYERS = ROOT / "tests" / "test_layers.py"
WIDTH, LEVEL, BOX = 760, 62, (110, 30)


def levels() -> list[list[str]]:
    """The rooms by level, from the lowest, as the test of imports lists them."""
    for node in ast.parse(LAYERS.read_bytes()).body:
        match node:
            case ast.Assign(targets=[ast.Name("LAYERS")], value=ast.Constant(str(text))):
                return [line.split() for line in text.splitlines() if line.strip()]
    raise ValueError(f"{LAYERS} has no LAYERS")


def imported_rooms(room: str) -> set[str]:
    """The rooms that the files of a room import."""
    folder = SOURCE / room
    files = folder.rglob("*.py") if folder.is_dir() else [SOURCE / f"{room}.py"]
    rooms = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_bytes())):
            match node:
                case ast.ImportFrom(module=str(module)) if module == "snellen":
                    rooms |= {alias.name for alias in node.names}
                case ast.ImportFrom(module=str(module)) if module.startswith("snellen."):
                    rooms.add(module.split(".")[1])
    return rooms - {room}


def shortest(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """The edges, without those that a longer path implies."""

    def below(room: str) -> set[str]:
        reached: set[str] = set()
        for lower in edges[room]:
            reached |= {lower} | below(lower)
        return reached

    return {
        room: {lower for lower in lowers if not any(lower in below(other) for other in lowers)}
        for room, lowers in edges.items()
    }


def picture() -> str:
    """The rooms as an SVG: the lowest level at the bottom."""
    rows = [[room for room in row if room != "__main__"] for row in levels()]
    rows = [row for row in rows if row]
    known = {room for row in rows for room in row}
    edges = shortest({room: imported_rooms(room) & known for room in known})
    height = len(rows) * LEVEL + 10
    width, tall = BOX
    centers = {}
    for level, row in enumerate(rows):
        for number, room in enumerate(row):
            x = WIDTH * (2 * number + 1) / (2 * len(row))
            centers[room] = (x, height - 10 - tall / 2 - level * LEVEL)
    lines = [
        f'<line x1="{centers[room][0]:g}" y1="{centers[room][1] + tall / 2:g}" '
        f'x2="{centers[lower][0]:g}" y2="{centers[lower][1] - tall / 2:g}"/>'
        for room in sorted(edges)
        for lower in sorted(edges[room])
    ]
    boxes = [
        f'<rect x="{x - width / 2:g}" y="{y - tall / 2:g}" width="{width}" height="{tall}" rx="5"/>'
        f'<text x="{x:g}" y="{y + 5:g}">{escape(room)}</text>'
        for room, (x, y) in centers.items()
    ]
    style = (
        "line{stroke:#8a8f98;stroke-width:1}rect{fill:#eef3f8;stroke:#0072b2}"
        "text{font:14px sans-serif;text-anchor:middle;fill:#1b1f24}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="The rooms of the source and their imports"><style>{style}</style>'
        f"{''.join(lines)}{''.join(boxes)}</svg>\n"
    )


def setup(app: Sphinx) -> dict[str, bool]:
    def write(app: Sphinx) -> None:
        (Path(app.srcdir) / "assets" / "rooms.svg").write_text(picture(), encoding="utf-8")

    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
