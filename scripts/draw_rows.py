"""Draw the rows that are bundled with benchmarks: `python scripts/draw_rows.py`.

The questions and pictures are our own; only their format is that of the data sets. The same version
of Pillow always draws the same pixels.
"""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
SIDE = 160
INK, BLUE, RED, GREEN = "black", "#4477aa", "#cc6677", "#228833"
LETTERS = "ABCDE"

Canvas = ImageDraw.ImageDraw
Scene = Callable[[Canvas, int], tuple[str, str, list[str]]]
"""Draws variant 0 or 1; returns the question, the answer, and four wrong answers (none if the
question has no choices)."""


# -- MathVision: one scene per subject


def shaded_circle(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    parts, shaded = ((8, 3), (5, 2))[variant]
    box = (20, 20, 140, 140)
    for part in range(parts):
        color = BLUE if part < shaded else "white"
        draw.pieslice(box, 360 / parts * part, 360 / parts * (part + 1), fill=color, outline=INK)
    wrong = ["1", r"$\frac{3}{5}$", r"$\frac{1}{2}$", r"$\frac{2}{3}$"] if variant else []
    fraction = rf"\frac{{{shaded}}}{{{parts}}}"
    return "Which fraction of the disc is blue?", f"${fraction}$" if variant else fraction, wrong


def balance(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    added, total = ((3, 7), (5, 14))[variant]
    draw.line((20, 80, 140, 80), fill=INK, width=3)
    draw.polygon((80, 80, 65, 120, 95, 120), fill=RED)
    draw.text((30, 60), f"x + {added}", fill=INK)
    draw.text((115, 60), str(total), fill=INK)
    return (
        "The beam is level. What is $x$?",
        str(total - added),
        ["2", "8", "19", "7"] if variant else [],
    )


def bars(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    heights = ((3, 5, 1, 4), (2, 6, 4, 8))[variant]
    for position, height in enumerate(heights):
        left = 20 + 32 * position
        draw.rectangle((left, 140 - 14 * height, left + 22, 140), fill=GREEN)
        draw.text((left + 8, 126 - 14 * height), str(height), fill=INK)
    mean = sum(heights) / len(heights)
    wrong = ["4", "6", "8", "20"] if variant else []
    return "What is the mean of the four bars?", f"{mean:g}", wrong


def circles(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    n = (7, 11)[variant]
    for position in range(n):
        x, y = 25 + 36 * (position % 4), 30 + 45 * (position // 4)
        draw.ellipse((x - 12, y - 12, x + 12, y + 12), fill=RED)
    return "How many discs are in the picture?", str(n), ["9", "10", "12", "13"] if variant else []


def grid_paths(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    columns, rows = ((2, 2), (3, 2))[variant]
    for column in range(columns + 1):
        draw.line((20 + 35 * column, 20, 20 + 35 * column, 20 + 35 * rows), fill=INK)
    for row in range(rows + 1):
        draw.line((20, 20 + 35 * row, 20 + 35 * columns, 20 + 35 * row), fill=INK)
    question = "How many shortest paths on the lines lead from top left to bottom right?"
    paths = math.comb(columns + rows, rows)
    return question, str(paths), ["5", "6", "8", "12"] if variant else []


def rectangle(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    width, height = ((9, 4), (6, 5))[variant]
    draw.rectangle((20, 30, 20 + 12 * width, 30 + 12 * height), outline=INK, fill=BLUE)
    draw.text((20 + 6 * width, 14), f"{width} cm", fill=INK)
    draw.text((24 + 12 * width, 28 + 6 * height), f"{height} cm", fill=INK)
    wrong = [rf"${area} \mathrm{{~cm}}^{{2}}$" for area in (11, 22, 25, 36)] if variant else []
    area = width * height
    return (
        "What is the area of the blue rectangle in square centimetres?",
        (rf"${area} \mathrm{{~cm}}^{{2}}$" if variant else str(area)),
        wrong,
    )


def right_triangle(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    item, other, longest = ((4, 5, r"\sqrt{41}"), (2, 4, r"$2 \sqrt{5}$"))[variant]
    draw.polygon((30, 130, 130, 130, 30, 40), outline=INK)
    draw.text((75, 134), str(other), fill=INK)
    draw.text((18, 82), str(item), fill=INK)
    wrong = ["$6$", r"$2 \sqrt{3}$", r"$\sqrt{6}$", "$20$"] if variant else []
    return "How long is the third side?", longest, wrong


def clock(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    hour = (3, 4)[variant]
    draw.ellipse((20, 20, 140, 140), outline=INK, width=2)
    for turn, length in ((0.0, 50), (hour / 12, 32)):
        x, y = math.sin(2 * math.pi * turn), -math.cos(2 * math.pi * turn)
        draw.line((80, 80, 80 + length * x, 80 + length * y), fill=INK, width=3)
    wrong = [rf"${angle}^{{\circ}}$" for angle in (90, 100, 110, 150)] if variant else []
    angle = rf"${30 * hour}^{{\circ}}$" if variant else str(30 * hour)
    return "How many degrees are between the hands?", angle, wrong


def box(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    a, b, c = ((2, 3, 5), (4, 4, 3))[variant]
    draw.rectangle((20, 60, 100, 140), outline=INK, fill=GREEN)
    draw.polygon((20, 60, 55, 30, 135, 30, 100, 60), outline=INK, fill=BLUE)
    draw.polygon((100, 60, 135, 30, 135, 110, 100, 140), outline=INK, fill=RED)
    for position, length in (((55, 143), a), ((122, 128), b), ((8, 95), c)):
        draw.text(position, str(length), fill=INK)
    return (
        "What is the volume of the box?",
        str(a * b * c),
        ["11", "24", "36", "64"] if variant else [],
    )


def point(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    x, y = ((3, -4), (-2, 1))[variant]
    draw.line((10, 80, 150, 80), fill=INK)
    draw.line((80, 10, 80, 150), fill=INK)
    for mark in range(-4, 5):
        draw.line((80 + 15 * mark, 77, 80 + 15 * mark, 83), fill=INK)
        draw.line((77, 80 - 15 * mark, 83, 80 - 15 * mark), fill=INK)
    draw.ellipse((76 + 15 * x, 76 - 15 * y, 84 + 15 * x, 84 - 15 * y), fill=RED)
    wrong = ["(2,1)", "(1,-2)", "(-1,2)", "(2,-1)"] if variant else []
    return "What are the coordinates of the red point?", f"({x},{y})", wrong


def network(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    corners, steps = ((5, (1,)), (5, (1, 2)))[variant]
    places = [
        (80 + 55 * math.sin(angle), 80 - 55 * math.cos(angle))
        for angle in (2 * math.pi * n / corners for n in range(corners))
    ]
    for step in steps:
        for n in range(corners):
            draw.line((*places[n], *places[(n + step) % corners]), fill=INK)
    for x, y in places:
        draw.ellipse((x - 6, y - 6, x + 6, y + 6), fill=BLUE)
    edges = corners * len(steps)
    return (
        "How many lines join two blue points?",
        str(edges),
        ["5", "8", "9", "12"] if variant else [],
    )


def rings(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    n = (2, 3)[variant]
    for position in range(n):
        draw.ellipse((15 + 38 * position, 50, 75 + 38 * position, 110), outline=INK, width=4)
    question = "Into how many separate regions do the rings cut the plane, the outside counted?"
    return question, str(2 * n), ["3", "4", "5", "7"] if variant else []


def fan(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    lines = (3, 4)[variant]
    draw.line((15, 135, 145, 135), fill=INK)
    for position in range(lines):
        draw.line((80, 20, 15 + 130 * position / (lines - 1), 135), fill=INK)
    n = math.comb(lines, 2)
    return (
        "How many triangles of all sizes are in the picture?",
        str(n),
        ["3", "4", "5", "7"] if variant else [],
    )


def lettered_arrows(draw: Canvas, turns: list[int]) -> None:
    for position, turn in enumerate(turns):
        x, y = 16 + 32 * position, 110
        tip = (x + 11 * math.sin(math.pi / 2 * turn), y - 11 * math.cos(math.pi / 2 * turn))
        draw.line((x, y, *tip), fill=INK, width=2)
        draw.ellipse((tip[0] - 3, tip[1] - 3, tip[0] + 3, tip[1] + 3), fill=RED)
        draw.text((x - 3, 130), LETTERS[position], fill=INK)


def turned_arrow(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    draw.line((80, 70, 80, 30), fill=INK, width=3)
    draw.ellipse((75, 25, 85, 35), fill=RED)
    turns = ([0, 2, 1, 3, 0], [3, 0, 0, 1, 2])[variant]
    lettered_arrows(draw, turns)
    wanted, words = ((1, "a quarter clockwise"), (2, "upside down"))[variant]
    question = f"Which arrow is the one above turned {words}?"
    return question, LETTERS[turns.index(wanted)], list(LETTERS)


def sequence(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    sides = ((3, 4, 5), (6, 5, 4))[variant]
    for position, n in enumerate(sides):
        draw.regular_polygon((30 + 45 * position, 40, 16), n, outline=INK)
    candidates = [5, 3, 6, 4, 8]
    for position, n in enumerate(candidates):
        draw.regular_polygon((16 + 32 * position, 110, 12), n, outline=BLUE)
        draw.text((13 + 32 * position, 130), LETTERS[position], fill=INK)
    following = 2 * sides[2] - sides[1]
    question = "Which of the blue shapes goes on with the row above?"
    return question, LETTERS[candidates.index(following)], list(LETTERS)


def seen_from_above(draw: Canvas, variant: int) -> tuple[str, str, list[str]]:
    heights = ((2, 1, 3), (1, 3, 2))[variant]
    for position, height in enumerate(heights):
        for level in range(height):
            left, top = 45 + 24 * position, 70 - 20 * level
            draw.rectangle((left, top - 20, left + 24, top), outline=INK, fill=GREEN)
    candidates = [2, 4, 1, 3, 5]
    for position, n in enumerate(candidates):
        for square in range(n):
            left = 5 + 31 * position + 5 * square
            draw.rectangle((left, 105, left + 5, 110), outline=INK)
        draw.text((10 + 31 * position, 125), LETTERS[position], fill=INK)
    question = "The building is one cube deep. Which row of squares does one see from above?"
    return question, LETTERS[candidates.index(len(heights))], list(LETTERS)


MATHVISION: dict[str, Scene] = {
    "arithmetic": shaded_circle,
    "algebra": balance,
    "statistics": bars,
    "counting": circles,
    "combinatorics": grid_paths,
    "metric geometry - area": rectangle,
    "metric geometry - length": right_triangle,
    "metric geometry - angle": clock,
    "solid geometry": box,
    "analytic geometry": point,
    "graph theory": network,
    "topology": rings,
    "combinatorial geometry": fan,
    "transformation geometry": turned_arrow,
    "logic": sequence,
    "descriptive geometry": seen_from_above,
}


def mathvision(folder: Path) -> Iterator[dict[str, Any]]:
    (folder / "images").mkdir(parents=True, exist_ok=True)
    scenes = [(subject, scene, n) for n in (0, 1) for subject, scene in MATHVISION.items()]
    for number, (subject, scene, variant) in enumerate(scenes, 1):
        picture = Image.new("RGB", (SIDE, SIDE), "white")
        question, answer, wrong = scene(ImageDraw.Draw(picture), variant)
        if wrong == list(LETTERS):
            options = wrong
        elif wrong:
            position = number % len(LETTERS)
            options = [*wrong[:position], answer, *wrong[position:]]
            answer = LETTERS[position]
        else:
            options = []
        name = f"images/{number}.{'jpg' if number % 4 == 0 else 'png'}"
        picture.save(folder / name)
        yield {
            "id": str(number),
            "question": f"{question}\n<image1>",
            "options": options,
            "answer": answer,
            "solution": None,
            "level": 1 + number % 5,
            "subject": subject,
            "image": name,
        }


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def main() -> None:
    folder = ROWS / "mathvision"
    rows = list(mathvision(folder))
    write(folder / "test.jsonl", rows)
    write(folder / "testmini.jsonl", rows[::4])


if __name__ == "__main__":
    main()
