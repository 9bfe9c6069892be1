"""Draw the rows that are bundled with vlmevalkit: `python scripts/draw_vlmevalkit.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import base64
import csv
import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw

FOLDER = Path(__file__).parents[1] / "src/snellen/benchmarks/rows/vlmevalkit"
SIDE = 64
BLUE, RED, GREEN = "#4477aa", "#cc6677", "#228833"


def picture(*discs: tuple[int, int, int, str]) -> str:
    """Draw discs (x, y, radius, color) on white; return a PNG in base64."""
    image = Image.new("RGB", (SIDE, SIDE), "white")
    draw = ImageDraw.Draw(image)
    for x, y, radius, color in discs:
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)
    with io.BytesIO() as file:
        image.save(file, format="PNG")
        return base64.b64encode(file.getvalue()).decode()


BLUE_DISC = picture((32, 32, 20, BLUE))
TWO = picture((18, 32, 12, RED), (48, 32, 8, GREEN))
THREE = picture((12, 14, 8, BLUE), (32, 32, 8, BLUE), (52, 50, 8, BLUE))
STACK = picture((32, 16, 10, RED), (32, 46, 14, BLUE))

MMSTAR = [
    ("0", "What does the picture show?", BLUE_DISC, "C",
     ("a square", "two discs", "a disc", "a line"), "coarse perception", "image scene & topic"),
    ("1", "Which colour is the disc?", "0", "A",
     ("blue", "red", "green", "None"), "fine-grained perception",
     "attribute & celebrity recognition"),
    ("2", "How many discs are there?", THREE, "D",
     ("0", "1", "2", "3"), "fine-grained perception", "object counting"),
    ("3", "How do the discs lie?", "2", "B",
     ("in a circle", "on a diagonal", "in a column", "at random"), "instance reasoning",
     "cross-instance relation reasoning"),
    ("4", "Which disc is larger?", TWO, "A",
     ("the red one", "the green one", "they are equal", "there is one disc"), "instance reasoning",
     "single-instance reasoning"),
    ("5", "Which disc is the upper one?", STACK, "C",
     ("the green one", "the blue one", "the red one", "neither"), "logical reasoning",
     "diagram reasoning"),
    ("6", "One more disc is drawn. How many are there then?", "2", "B",
     ("3", "4", "5", "6"), "math", "numeric commonsense and calculation"),
    ("7", "If the lower disc rests on the ground, what holds the upper one?", "5", "D",
     ("a spring", "a rope", "a magnet", "nothing that is shown"), "science & technology",
     "geography & earth science & agriculture"),
]  # fmt: skip
AMBER = [
    ("1", "Is there a disc in this image?", BLUE_DISC, "yes", "discriminative-attribute-state"),
    ("2", "Is the disc red in this image?", "1", "no", "discriminative-attribute-state"),
    ("3", "Are there three discs in this image?", THREE, "yes", "discriminative-attribute-number"),
    ("4", "Is there a square in this image?", STACK, "no", "discriminative-hallucination"),
]
MUIRBENCH = [
    ("0", "<image> and <image>: in which are there more discs?", [THREE, BLUE_DISC], "A",
     ("the first", "the second"), "Counting"),
    ("1", "The first picture: <image>\nWhich of these is the same?\n<image>\n<image>",
     [TWO, STACK, TWO], "B", ("the second", "the third"), "Image-Image Matching"),
]  # fmt: skip
VIZWIZ = [
    ("0", "What colour is this?", BLUE_DISC, ["blue"] * 8 + ["dark blue", "azure"]),
    ("1", "How many are there?", THREE, ["3"] * 6 + ["three"] * 4),
    (
        "2",
        "What's written here?",
        STACK,
        ["unanswerable"] * 7 + ["nothing", "no text", "it's blank"],
    ),
]


def sheet(name: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with (FOLDER / f"{name}.tsv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    sheet(
        "MMStar",
        ("index", "question", "image", "answer", *"ABCD", "category", "l2_category", "bench"),
        [(*row[:4], *row[4], *row[5:], "snellen") for row in MMSTAR],
    )
    sheet("AMBER", ("index", "question", "image", "answer", "category"), AMBER)
    sheet(
        "MUIRBench",
        ("index", "question", "image", "answer", *"ABCD", "category"),
        [(*row[:4], *row[4], *[""] * (4 - len(row[4])), row[5]) for row in MUIRBENCH],
    )
    sheet("VizWiz", ("index", "question", "image", "answers"), VIZWIZ)


if __name__ == "__main__":
    main()
