"""Draw the rows that are bundled with BLINK, EmbSpatial-Bench, LogicVista, and MMSI-Bench:
`python scripts/draw_puzzles.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import base64
import csv
import io
import json
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
SIDE = 64
INK, BLUE, RED, GREEN, SAND = "black", "#4477aa", "#cc6677", "#228833", "#ddaa33"

Mark = tuple[str, str, tuple[int, ...]]
"""A kind of mark, its color (for a text: the text), and its coordinates."""
Scene = tuple[Mark, ...]


def disc(color: str, left: int, top: int, size: int = 20) -> Mark:
    return ("ellipse", color, (left, top, left + size, top + size))


def square(color: str, left: int, top: int, size: int = 20) -> Mark:
    return ("rectangle", color, (left, top, left + size, top + size))


def line(*points: int) -> Mark:
    return ("line", INK, points)


def word(text: str, left: int, top: int) -> Mark:
    return ("text", text, (left, top))


def drawn(scene: Scene) -> bytes:
    picture = Image.new("RGB", (SIDE, SIDE), "white")
    draw = ImageDraw.Draw(picture)
    for kind, color, points in scene:
        if kind == "text":
            draw.text(points, color, fill=INK)
        else:
            getattr(draw, kind)(points[:4], *points[4:], fill=color, width=2)
    with io.BytesIO() as file:
        picture.quantize(16).save(file, format="PNG", optimize=True)
        return file.getvalue()


def base64_of(scene: Scene) -> str:
    return base64.b64encode(drawn(scene)).decode()


# -- scenes

DOTS = tuple(disc(BLUE, x, y, 6) for x in (8, 26, 44) for y in (8, 26, 44))
MORE_DOTS = tuple(disc(RED, x, y, 6) for x in (4, 18, 32, 46) for y in (16, 40))
STRIPES = tuple(square(BLUE, 4 + 16 * n, 20, 8) for n in range(4))
BLOCK = (square(BLUE, 12, 12, 40),)
LEFT_OF = (disc(RED, 4, 22), square(BLUE, 40, 22))
ABOVE = (disc(GREEN, 22, 4), square(SAND, 22, 40))
LARGE_AND_SMALL = (disc(RED, 4, 4, 40), word("A", 20, 18), disc(RED, 46, 44, 12), word("B", 49, 45))
HALF = (("pieslice", GREEN, (8, 8, 56, 56, 0, 180)),)
OTHER_HALF = (("pieslice", GREEN, (8, 8, 56, 56, 180, 360)),)
HAMMER = (line(32, 20, 32, 60), square(INK, 20, 8, 12), word("REF", 2, 10))
POINTS = (
    line(32, 20, 32, 60),
    *(word(*at) for at in (("A", 36, 52), ("B", 36, 40), ("C", 36, 28))),
)
PAN = (*POINTS, square(SAND, 18, 4, 16), word("D", 6, 4))
ROW = (disc(BLUE, 2, 24, 14), disc(BLUE, 18, 24, 16), disc(BLUE, 36, 24, 18), word("?", 57, 26))
GEARS = (disc(SAND, 4, 20, 24), disc(SAND, 28, 20, 24), word("A", 12, 26), word("B", 36, 26))
BARS = tuple(square(GREEN, 6 + 18 * n, 52 - 8 * n, 8 + 2 * n) for n in range(3))
PAIRS = (disc(RED, 2, 4, 12), disc(RED, 18, 4, 12), square(BLUE, 36, 4, 12), disc(RED, 50, 4, 12))
OPTIONS = tuple(word(letter, 4 + 16 * n, 46) for n, letter in enumerate("ABCD"))


# -- BLINK


class Query(NamedTuple):
    """A question with lettered choices; `right` is a letter."""

    category: str
    question: str
    right: str
    scenes: tuple[Scene, ...]
    choices: tuple[str, ...]


IMAGES = ("the second image", "the third image")
POINT = ("Point A", "Point B", "Point C", "Point D")
BLINK = (
    Query("Art_Style", "The first image is made of dots. Which of the other images is, too?", "B",
          (DOTS, BLOCK, MORE_DOTS), IMAGES),
    Query("Counting", "How many blue dots are there?", "C", (DOTS,), ("6", "8", "9", "12")),
    Query("Forensic_Detection", "Three of the images are copies. Which image is not?", "C",
          (BLOCK, BLOCK, DOTS, BLOCK),
          ("the first image", "the second image", "the third image", "the fourth image")),
    Query("Functional_Correspondence", "REF on the first tool hits a nail. Which point of the "
          "second tool would?", "D", (HAMMER, PAN), POINT),
    Query("IQ_Test", "What comes next in the row?", "A", (ROW,),
          ("a larger disc", "a smaller disc", "a square", "nothing")),
    Query("Jigsaw", "Which image completes the disc of the first image?", "A",
          (HALF, OTHER_HALF, HALF), IMAGES),
    Query("Multi-view_Reasoning", "From the first image to the second, the disc moved to the left. "
          "Which way did the camera turn?", "B",
          ((disc(RED, 40, 22),), (disc(RED, 4, 22),)), ("left", "right")),
    Query("Object_Localization", "Which letter is inside of the larger disc?", "A",
          (LARGE_AND_SMALL,), ("A", "B")),
    Query("Relative_Depth", "The discs are equal in size. Which is farther away?", "B",
          (LARGE_AND_SMALL,), ("A is farther", "B is farther")),
    Query("Relative_Reflectance", "Which disc is darker?", "C", (LARGE_AND_SMALL,),
          ("A is darker", "B is darker", "About the same")),
    Query("Semantic_Correspondence", "REF on the first tool is its head. Which point is on the "
          "handle of the second tool, next to its head?", "C", (HAMMER, PAN), POINT),
    Query("Spatial_Relation", "Is the disc to the left of the square?", "A", (LEFT_OF,),
          ("yes", "no")),
    Query("Visual_Correspondence", "Which point of the second image is where REF is in the first?",
          "D", (HAMMER, PAN), POINT),
    Query("Visual_Similarity", "Which image is more like the first?", "B",
          (STRIPES, MORE_DOTS, STRIPES), IMAGES),
)  # fmt: skip


def blink() -> None:
    rows = [
        {
            "index": index,
            "image": cell(query.scenes),
            "question": query.question,
            **dict(zip("ABCD", query.choices, strict=False)),
            "answer": query.right,
            "category": query.category,
        }
        for index, query in enumerate(BLINK)
    ]
    columns = ("index", "image", "question", *"ABCD", "answer", "category")
    sheet(ROWS / "blink/BLINK.tsv", columns, rows)


# -- LogicVista

LOGIC: tuple[tuple[Scene, str, str, str, str], ...] = (
    (ROW, "Which of A larger, B smaller, C equal comes next?", "A", "inductive", "diagram"),
    ((*PAIRS, *OPTIONS), "Which choices (A-D) are discs? Select all but C.", "A, B, D", "inductive",
     "diagram"),
    ((*PAIRS, *OPTIONS), "Which choice (A-D) is the odd one out?", "C", "deductive",
     "diagram and ocr"),
    ((word("All A are B.", 0, 10), word("x is A.", 0, 30)), "Is x B? A: yes, B: no, C: unknown.",
     "A", "deductive", "ocr"),
    (BARS, "Which bar is the widest? A: left, B: middle, C: right.", "C", "numerical", "diagram"),
    ((word("2  4  8  ?", 2, 24),), "What comes next? A: 10, B: 12, C: 14, D: 16.", "D", "numerical",
     "diagram and ocr"),
    (LEFT_OF, "Which is it after a half turn? A: disc on the left, B: disc on the right.", "B",
     "spatial", "diagram"),
    (HALF, "Which half is it? A: upper, B: lower.", "B", "spatial", "diagram"),
    (GEARS, "A turns clockwise. How does B turn? A: clockwise, B: counterclockwise.", "B",
     "mechanical", "diagram and ocr"),
    (HAMMER, "Where is the tool heaviest? A: head, B: handle.", "A", "mechanical", "diagram"),
)  # fmt: skip


def logicvista() -> None:
    folder = ROWS / "logicvista"
    (folder / "images").mkdir(parents=True, exist_ok=True)
    questions: dict[str, dict[str, Any]] = {}
    for number, (scene, question, answer, skill, capability) in enumerate(LOGIC):
        name = f"v1_{number}"
        (folder / "images" / f"{name}.png").write_bytes(drawn(scene))
        questions[name] = {
            "imagename": f"{name}.png",
            "question": question,
            "answer": answer,
            "reasoning": "",
            "skill": [skill],
            "broad_capability": [capability],
            "specific_capability": [],
        }
    text = json.dumps(questions, indent=1) + "\n"
    (folder / "dataset.json").write_text(text, encoding="utf-8")


# -- MMSI-Bench and EmbSpatial-Bench

MMSI = (
    Query("Positional Relationship (Cam.\u2013Obj.)", "The disc moved to the left. Where is it "
          "now, seen from the camera?", "A", ((disc(RED, 40, 22),), (disc(RED, 4, 22),)),
          ("left", "right", "behind", "above")),
    Query("Positional Relationship (Obj.\u2013Obj.)", "Where is the disc, seen from the square of "
          "the first image?", "B", (LEFT_OF, ABOVE), ("right", "left", "below", "behind")),
    Query("Attribute (Meas.)", "How many dots do both images have together?", "C",
          (DOTS, MORE_DOTS), ("9", "12", "17", "21")),
    Query("Attribute (Appr.)", "Which color do both images have?", "B", (LEFT_OF, MORE_DOTS),
          ("blue", "red", "green", "none")),
    Query("Motion (Cam.)", "How did the camera move?", "A",
          ((disc(RED, 22, 22, 12),), (disc(RED, 12, 12, 40),)),
          ("forward", "backward", "to the left", "to the right")),
    Query("Motion (Obj.)", "How did the disc move?", "D",
          ((disc(RED, 22, 4),), (disc(RED, 22, 40),)),
          ("up", "to the left", "to the right", "down")),
    Query("MSR", "The disc moves on in the same way. Where is it in a fourth image?", "C",
          ((disc(RED, 4, 22, 8),), (disc(RED, 20, 22, 8),), (disc(RED, 36, 22, 8),)),
          ("on the left", "in the middle", "on the right", "nowhere")),
)  # fmt: skip
EMBSPATIAL = (
    Query("left", "How are the disc and the square positioned?", "A", (LEFT_OF,),
          ("The disc is left of the square.", "The disc is inside of the square.",
           "The disc is under the square.", "The disc is right of the square.")),
    Query("right", "How are the square and the disc positioned?", "C", (LEFT_OF,),
          ("The square is above the disc.", "The square is left of the disc.",
           "The square is right of the disc.", "The square is around the disc.")),
    Query("above", "How are the disc and the square positioned?", "D", (ABOVE,),
          ("The disc is under the square.", "The disc touches the square.",
           "The disc is right of the square.", "The disc is above the square.")),
    Query("under", "How are the square and the disc positioned?", "B", (ABOVE,),
          ("The square is above the disc.", "The square is under the disc.",
           "The square hides the disc.", "The square is left of the disc.")),
    Query("close", "Which object is the closest?", "A", (LARGE_AND_SMALL,),
          ("disc A", "disc B", "bar", "square")),
    Query("far", "Which object is the farthest?", "B", (LARGE_AND_SMALL,),
          ("disc A", "disc B", "bar", "square")),
    Query("close", "Which bar is the closest?", "C", (BARS,),
          ("left", "middle", "right", "none")),
    Query("far", "Which bar is the farthest?", "D", (BARS,),
          ("right", "middle", "none", "left")),
)  # fmt: skip


def mmsi_bench() -> None:
    rows = []
    for index, query in enumerate(MMSI):
        listed = ", ".join(
            f"{letter}: {text}" for letter, text in zip("ABCD", query.choices, strict=True)
        )
        rows.append(
            {
                "index": index,
                "image": cell(query.scenes),
                "question": f"{query.question}\nOptions: {listed}",
                "answer": query.right,
                "category": query.category,
            }
        )
    columns = ("index", "image", "question", "answer", "category")
    sheet(ROWS / "mmsi_bench/MMSI_bench.tsv", columns, rows)


def embspatial_bench() -> None:
    rows = [
        {
            "data_source": ("mp3d", "ai2thor", "scannet")[index % 3],
            "scene_id": "snellen",
            "question_id": f"snellen_{index}",
            "question": query.question,
            "relation": query.category,
            "image": base64_of(*query.scenes),
            "answer_options": query.choices,
            "answer": "ABCD".index(query.right),
        }
        for index, query in enumerate(EMBSPATIAL)
    ]
    path = ROWS / "embspatial_bench/embspatial_bench.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


# -- sheets


def cell(scenes: tuple[Scene, ...]) -> str:
    """A cell of pictures in VLMEvalKit's form: a single picture, or several as a list."""
    texts = [base64_of(scene) for scene in scenes]
    return texts[0] if len(texts) == 1 else json.dumps(texts)


def sheet(path: Path, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    blink()
    embspatial_bench()
    logicvista()
    mmsi_bench()


if __name__ == "__main__":
    main()
