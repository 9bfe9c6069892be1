"""Draw the rows that are bundled with MMMU and MMMU-Pro: `python scripts/draw_mmmu.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import base64
import csv
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
SIDE = 64
INK, BLUE, RED, GREEN = "black", "#4477aa", "#cc6677", "#228833"

Canvas = ImageDraw.ImageDraw
Scene = Callable[[Canvas], None]


# -- scenes


def bars(draw: Canvas) -> None:
    for position, height in enumerate((2, 4, 3)):
        draw.rectangle((8 + 18 * position, 58 - 12 * height, 20 + 18 * position, 58), fill=GREEN)


def disc(draw: Canvas) -> None:
    draw.ellipse((14, 14, 50, 50), fill=BLUE)


def square(draw: Canvas) -> None:
    draw.rectangle((14, 14, 50, 50), fill=RED)


def triangle(draw: Canvas) -> None:
    draw.polygon((32, 10, 54, 52, 10, 52), fill=GREEN)


def leaf(draw: Canvas) -> None:
    draw.ellipse((20, 8, 44, 48), fill=GREEN)
    draw.line((32, 8, 32, 60), fill=INK, width=2)


def circuit(draw: Canvas) -> None:
    draw.rectangle((6, 16, 58, 50), outline=INK)
    draw.rectangle((20, 10, 44, 22), outline=INK, fill="white")
    draw.text((24, 10), "R", fill=INK)


def crystal(draw: Canvas) -> None:
    for x in (10, 28, 46):
        for y in (10, 28, 46):
            draw.ellipse((x, y, x + 8, y + 8), fill=BLUE if (x + y) % 4 else RED)


def quarters(draw: Canvas) -> None:
    draw.ellipse((8, 8, 56, 56), outline=INK)
    draw.pieslice((8, 8, 56, 56), -90, 180, fill=BLUE)


def points(draw: Canvas) -> None:
    for name, x, y in (("A", 10, 44), ("B", 46, 30), ("C", 26, 4)):
        draw.text((x, y), name, fill=INK)


def staff(draw: Canvas) -> None:
    for y in (16, 24, 32, 40, 48):
        draw.line((4, y, 60, y), fill=INK)
    draw.ellipse((28, 28, 38, 36), fill=INK)


def mirror(draw: Canvas) -> None:
    draw.line((32, 6, 32, 58), fill=INK)
    draw.polygon((26, 20, 26, 44, 8, 44), fill=RED)
    draw.polygon((38, 20, 38, 44, 56, 44), fill=RED)


def tree(draw: Canvas) -> None:
    for line in ((32, 10, 16, 34), (32, 10, 48, 34), (16, 34, 8, 56), (16, 34, 24, 56)):
        draw.line(line, fill=INK)


def drawn(scene: Scene) -> bytes:
    picture = Image.new("RGB", (SIDE, SIDE), "white")
    scene(ImageDraw.Draw(picture))
    return encoded(picture)


def page(lines: list[str]) -> bytes:
    """Draw a question as a picture, for the setting that asks with the picture only."""
    picture = Image.new("L", (200, 8 + 12 * len(lines)), 255)
    for position, line in enumerate(lines):
        ImageDraw.Draw(picture).text((4, 2 + 12 * position), line, fill=0)
    return encoded(picture.convert("1"))


def encoded(picture: Image.Image) -> bytes:
    with io.BytesIO() as file:
        picture.save(file, format="PNG", optimize=True)
        return file.getvalue()


def cell(pictures: Iterable[bytes]) -> str:
    """A cell of pictures in VLMEvalKit's form: a single picture, or several as a Python list."""
    texts = [base64.b64encode(picture).decode() for picture in pictures]
    return texts[0] if len(texts) == 1 else str(texts)


# -- questions


class Query(NamedTuple):
    """A question; `right` is the letter of a choice, or the answer to an open question."""

    name: str
    domain: str
    question: str
    right: str
    scenes: tuple[Scene, ...]
    choices: tuple[str, ...] = ()


ART, BUSINESS, SCIENCE = "Art & Design", "Business", "Science"
HEALTH, PEOPLE, TECH = "Health & Medicine", "Humanities & Social Science", "Tech & Engineering"
MMMU = (
    Query("validation_Accounting_1", BUSINESS, "<image 1> shows revenue in the years 1 to 3. In "
          "which year was it highest?", "B", (bars,), ("year 1", "year 2", "year 3")),
    Query("validation_Art_1", ART, "Which of these is a composition of one disc?", "B",
          (disc, square, triangle), ("<image 2>", "<image 1>", "<image 3>")),
    Query("validation_Biology_1", SCIENCE, "What does the line in <image 1> stand for?", "D",
          (leaf,), ("the stem's bark", "a root", "a petal", "the midrib")),
    Query("validation_Chemistry_1", SCIENCE, "<image 1> is the lattice of table salt. What is its "
          "formula or name?", "['NaCl', 'sodium chloride']", (crystal,)),
    Query("validation_Computer_Science_1", TECH, "How many leaves has the tree in <image 1>?", "C",
          (tree,), ("one", "two", "three", "four", "None of the above")),
    Query("validation_Design_1", ART, "Which colour has the figure?", "A", (square,),
          ("red", "green")),
    Query("validation_Electronics_1", TECH, "25 volts drive 2 amperes through R in <image 1>. How "
          "many ohms has R?", "12.5", (circuit,)),
    Query("validation_Geography_1", SCIENCE, "North is up in <image 1>. Which point lies farthest "
          "north?", "C", (points,)),
    Query("validation_Math_1", SCIENCE, "Which part of the disc in <image 1> is shaded?",
          "['3/4', '0.75']", (quarters,)),
    Query("validation_Music_1", ART, "On which line of the staff in <image 1> is the note, counted "
          "from below?", "C", (staff,), ("first", "second", "third", "fourth")),
    Query("validation_Pharmacy_1", HEALTH, "Compare <image 1> and <image 2>. The tablet in <image "
          "1> is round. Which is the other?", "A", (disc, square), ("square", "oval", "none")),
    Query("validation_Psychology_1", PEOPLE, "By which kind of symmetry are the halves of <image "
          "1> grouped?", "mirror", (mirror,)),
    Query("dev_Accounting_1", BUSINESS, "In which year of <image 1> was revenue lowest?", "A",
          (bars,), ("year 1", "year 2", "year 3")),
    Query("dev_Math_1", SCIENCE, "How many sides has the figure in <image 1>?", "3", (triangle,)),
)  # fmt: skip
TEST = (
    Query("test_Art_1", ART, "Which figure does <image 1> show?", "", (triangle,),
          ("a triangle", "a disc", "a square", "a star")),
    Query("test_Math_1", SCIENCE, "How many corners has the figure in <image 1>?", "", (square,)),
)  # fmt: skip
TEN = ("red", "blue", "green", "grey", "black", "white", "brown", "pink", "orange", "violet")
PRO = (
    Query("test_Design_1", "Design", "Which colour has the disc in <image 1>?", "B", (disc,), TEN),
    Query("validation_Art_1", "Art", "Which of these is a composition of one disc?", "C",
          (disc, square, triangle), ("<image 3>", "<image 2>", "<image 1>", "none of them")),
    Query("test_Accounting_1", "Accounting", "<image 1> shows revenue in three years. When was it "
          "highest?", "H", (bars,), tuple(f"in {word}" for word in (
              "1998", "1999", "2000", "2001", "2002", "2003", "2004", "year 2", "no year"))),
    Query("test_Biology_1", "Biology", "What does the line in <image 1> stand for?", "J", (leaf,),
          ("bark", "a root", "a petal", "a stamen", "a seed", "a fruit", "a bud", "a thorn",
           "a tendril", "the midrib")),
    Query("validation_Math_1", "Math", "Which part of the disc in <image 1> is shaded?", "E",
          (quarters,), ("1/2", "1/3", "2/3", "1/4", "3/4", "1/5", "2/5", "3/5", "4/5", "1/6")),
    Query("test_Music_1", "Music", "On which line of <image 1> is the note, counted from below?",
          "C", (staff,), ("first", "second", "third", "fourth", "fifth")),
    Query("test_Psychology_1", "Psychology", "Are the halves of <image 1> mirror images? Look at "
          "<image 1> again.", "A", (mirror,), ("they are", "they are not")),
    Query("test_Computer_Science_1", "Computer_Science", "How many leaves has the tree in <image "
          "1>?", "D", (tree,), ("6", "1", "2", "3", "4", "5", "7", "8", "9", "10")),
)  # fmt: skip


# -- sheets


def mmmu(request: Query, index: int) -> dict[str, str]:
    return {
        "index": str(index),
        "id": request.name,
        "question": request.question,
        **dict(zip("ABCDE", request.choices, strict=False)),
        "answer": request.right,
        "image": cell(map(drawn, request.scenes)),
        "question_type": "multiple-choice" if request.choices else "open",
        "category": "_".join(request.name.split("_")[1:-1]),
        "l2-category": request.domain,
        "split": request.name.split("_")[0],
    }


def pro(request: Query, index: int) -> dict[str, str]:
    return {
        "index": str(index),
        "id": request.name,
        "question": request.question,
        **dict(zip("ABCDEFGHIJ", request.choices, strict=False)),
        "answer": request.right,
        "category": request.domain,
        "image": cell(map(drawn, request.scenes)),
    }


def vision(request: Query, index: int) -> dict[str, str]:
    name = zip("ABCDEFGHIJ", request.choices, strict=False)
    lines = [*wrap(request.question, 32), *(f"{letter}. {choice}" for letter, choice in name)]
    return {**pro(request, index), "question": "", "image": cell([page(lines)])}


def sheet(path: Path, rows: list[dict[str, str]]) -> None:
    header = max((list(row) for row in rows), key=len)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, header, restval="", extrasaction="ignore", delimiter="\t", lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    folder = ROWS / "mmmu"
    sheet(folder / "MMMU_DEV_VAL.tsv", [mmmu(request, n) for n, request in enumerate(MMMU, 1)])
    hidden = [mmmu(request, n) for n, request in enumerate(TEST, 1)]
    sheet(folder / "MMMU_TEST.tsv", [{**row, "answer": "?"} for row in hidden])
    folder = ROWS / "mmmu_pro"
    sheet(folder / "MMMU_Pro_10c.tsv", [pro(request, n) for n, request in enumerate(PRO, 1)])
    sheet(folder / "MMMU_Pro_V.tsv", [vision(request, n) for n, request in enumerate(PRO, 1)])


if __name__ == "__main__":
    main()
