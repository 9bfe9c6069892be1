"""Draw the rows that are bundled with DynaMath and We-Math: `python scripts/draw_steps.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
SIDE, UNIT = 96, 8
INK, BLUE, RED = "black", "#4477aa", "#cc6677"


def save(path: Path, *boxes: tuple[int, int, str]) -> None:
    """Draw boxes next to each other. A box has a width, a height, and a color."""
    picture = Image.new("RGB", (SIDE, SIDE), "white")
    draw = ImageDraw.Draw(picture)
    left = 6
    for width, height, color in boxes:
        right = left + UNIT * width
        draw.rectangle((left, 90 - UNIT * height, right, 90), fill=color, outline=INK)
        draw.text((left + 1, 76 - UNIT * height), f"{width}x{height}", fill=INK)
        left = right + 6
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, optimize=True)


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


# -- DynaMath: four questions, in two variants

Question = tuple[str, str, str, str, str]
"""The question, the answer, the answer's type, the topic, and the level."""


def questions(width: int, height: int) -> Iterator[Question]:
    yield (
        "What is the area of the blue box?",
        *(f"{width * height}", "float", "plane geometry", "elementary school"),
    )
    yield (
        "How long is a diagonal of the blue box?",
        *(f"{round((width**2 + height**2) ** 0.5, 4)}", "float", "plane geometry", "high school"),
    )
    larger = "C" if width * height > 9 else "D"
    yield (
        "Which of these is right? Choices: (A) Neither box is blue (B) The boxes are equal "
        "(C) The blue box is larger (D) The red box is larger",
        *(larger, "multiple choice", "puzzle test", "high school"),
    )
    yield (
        "The blue box has its corners at (0, 0) and which other point, opposite to it?",
        *(f"({width}, {height})", "text", "analytic geometry", "undergraduate"),
    )


def draw_dynamath() -> None:
    for trial, (width, height) in enumerate(((4, 5), (2, 3)), 1):
        folder = ROWS / "dynamath" / f"trial{trial}"
        rows = {}
        for number, row in enumerate(questions(width, height), 1):
            save(folder / f"image/image{number}.png", (width, height, BLUE), (3, 3, RED))
            question, answer, kind, topic, level = row
            rows[str(number)] = {
                "question": question,
                "answer": answer,
                "image": f"image/image{number}.png",
                "answer_type": kind,
                "subject": topic,
                "level": level,
            }
        write(folder / "dataset.json", rows)


# -- We-Math: two problems in two steps, and a problem in three

AREA, LENGTH = "Area of Rectangles", "Understanding Length (Using a Ruler)"
SUM, SHAPES = "Perimeter of Rectangles", "Properties and Understanding of Squares"
PROBLEMS: tuple[tuple[str, tuple[tuple[str, str, str, str], ...]], ...] = (
    (
        "2steps_1",
        (
            (LENGTH, "How wide is the blue box?", "A. 4;B. 5;C. 9; D. 20", "A"),
            (AREA, "What is the area of the blue box?", "A. 20; B. 9; C. 18; D. 4", "A"),
            ("", "How much larger is the blue box than the red box?", "A. 9; B. 11; C. 20", "B"),
        ),
    ),
    (
        "2steps_2",
        (
            (SHAPES, "Which box is a square?", "A. Blue; B. Red; C. Both; D. Neither", "B"),
            (SUM, "How long is the edge of the red box?", "A. 9; B. 6; C. 12; D. 3", "C"),
            ("", "How much longer is the edge of the blue box?", "A. 6; B. 12; C. 18; D. 9", "A"),
        ),
    ),
    (
        "3steps_1",
        (
            (LENGTH, "How high is the blue box?", "A. 4; B. 3; C. 9; D. 5", "D"),
            (AREA, "What is the area of the red box?", "A. 3; B. 9; C. 12; D. 20", "B"),
            (AREA, "What is the area of the blue box?", "A. 20; B. 9; C. 18; D. 4", "A"),
            ("", "What is the area of both boxes?", "A. 20 B. 11;C. 29; D. 9", "C"),
        ),
    ),
)


def draw_wemath() -> None:
    folder = ROWS / "wemath"
    rows: list[dict[str, Any]] = []
    for problem, parts in PROBLEMS:
        steps = problem.partition("_")[0]
        concepts = ";".join(concept for concept, *_ in parts[:-1])
        for number, (concept, question, option, answer) in enumerate(parts, 1):
            part = str(number) if concept else "multi"
            path = f"{steps}/image/{problem.partition('_')[2]}-{part}.png"
            save(folder / path, (4, 5, BLUE), (3, 3, RED))
            row = {
                "ID": problem,
                "split": "testmini",
                "knowledge concept": concept or concepts,
                "question": question,
                "option": f"{option}; E. No correct answer",
                "answer": answer,
                "image_path": path,
                "key": f"{steps}_{part}",
                "question number": len(rows) + 1,
                "knowledge concept description": concept or concepts,
            }
            rows.append(row)
    write(folder / "testmini.json", rows)


if __name__ == "__main__":
    draw_dynamath()
    draw_wemath()
