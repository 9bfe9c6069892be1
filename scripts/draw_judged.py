"""Draw the rows that are bundled with MM-Vet, MathVista and LLaVA-Bench:
`python scripts/draw_judged.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
SIZE = (120, 90)
INK, BLUE, RED, GREEN, SAND = "black", "#4477aa", "#cc6677", "#228833", "#ddaa33"

Canvas = ImageDraw.ImageDraw
Scene = Callable[[Canvas], None]


# -- scenes


def equations(draw: Canvas) -> None:
    draw.text((10, 10), "x + 3 = 7", fill=INK)
    draw.text((10, 34), "2 y = 18", fill=INK)
    draw.text((10, 58), "z * z = 49", fill=INK)


def prices(draw: Canvas) -> None:
    for position, line in enumerate(("tea    2.50", "cake   4.00", "juice  3.25")):
        draw.text((10, 10 + 22 * position), line, fill=INK)


def shapes(draw: Canvas) -> None:
    draw.ellipse((8, 30, 38, 60), fill=RED)
    draw.rectangle((46, 30, 76, 60), fill=BLUE)
    draw.polygon((84, 60, 112, 60, 98, 30), fill=GREEN)


def sign(draw: Canvas) -> None:
    draw.rectangle((20, 10, 100, 44), outline=INK, width=2)
    draw.text((34, 20), "EXIT  B2", fill=INK)
    draw.line((60, 44, 60, 86), fill=INK, width=3)


def moon(draw: Canvas) -> None:
    draw.rectangle((0, 0, *SIZE), fill="#112244")
    draw.ellipse((40, 20, 80, 60), fill="#eeeecc")
    draw.ellipse((52, 16, 92, 56), fill="#112244")


def bars(draw: Canvas) -> None:
    for position, (name, height) in enumerate((("Ada", 40), ("Bo", 60), ("Cy", 20))):
        left = 12 + 36 * position
        draw.rectangle((left, 76 - height, left + 22, 76), fill=BLUE)
        draw.text((left, 77), name, fill=INK)
        draw.text((left + 4, 64 - height), str(height // 10), fill=INK)


def triangle(draw: Canvas) -> None:
    draw.polygon((16, 76, 104, 76, 16, 16), outline=INK)
    draw.text((4, 40), "3", fill=INK)
    draw.text((56, 78), "4", fill=INK)
    draw.text((64, 34), "x", fill=INK)


def ruler(draw: Canvas) -> None:
    draw.rectangle((6, 50, 114, 74), outline=INK)
    for position in range(6):
        draw.line((14 + 18 * position, 50, 14 + 18 * position, 60), fill=INK)
        draw.text((11 + 18 * position, 62), str(position), fill=INK)
    draw.rectangle((14, 34, 59, 46), fill=SAND)


def plot(draw: Canvas) -> None:
    draw.line((14, 80, 112, 80), fill=INK)
    draw.line((14, 80, 14, 8), fill=INK)
    draw.line(((14, 80), (44, 50), (74, 20), (104, 50)), fill=RED, width=2)
    for position, year in enumerate(("01", "02", "03", "04")):
        draw.text((8 + 30 * position, 80), year, fill=INK)


def table(draw: Canvas) -> None:
    for position, line in enumerate(("fruit  price", "pear   $1.20", "plum   $0.75")):
        draw.text((10, 10 + 22 * position), line, fill=INK)
    draw.line((8, 28, 110, 28), fill=INK)


def dice(draw: Canvas) -> None:
    for left, spots in ((10, ((0.5, 0.5),)), (66, ((0.25, 0.25), (0.5, 0.5), (0.75, 0.75)))):
        draw.rectangle((left, 22, left + 44, 66), outline=INK, width=2)
        for x, y in spots:
            draw.ellipse(
                (left + 44 * x - 4, 22 + 44 * y - 4, left + 44 * x + 4, 22 + 44 * y + 4), fill=INK
            )


def drawn(scene: Scene, path: Path) -> None:
    picture = Image.new("RGB", SIZE, "white")
    scene(ImageDraw.Draw(picture))
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".png":
        picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=16).save(path, optimize=True)
    else:
        picture.save(path, quality=40)


# -- MM-Vet

V1: tuple[tuple[Scene, str, str, str, str], ...] = (
    (equations, "v1_0.png", "What is x in the first equation?", "4", "ocr math"),
    (equations, "v1_0.png", "What is z in the last equation?", "7<AND>-7", "math ocr spat"),
    (prices, "v1_2.png", "What do a tea and a cake cost together?", "6.50<OR>6.5", "ocr math"),
    (prices, "v1_2.png", "Which drink is listed last?", "juice", "ocr spat"),
    (shapes, "v1_4.png", "What colour is the disc?", "red", "rec"),
    (shapes, "v1_4.png", "What is between the disc and the triangle?",
     "square<OR>blue square", "rec spat"),
    (sign, "v1_6.png", "What does the sign say?", "EXIT B2", "ocr"),
    (sign, "v1_6.png", "Write a short note that tells a guest where this leads.",
     "This is the way out on level B2.\nFollow the sign.", "gen know rec ocr"),
    (moon, "v1_8.png", "Which phase of the moon is this?", "crescent", "know rec"),
    (moon, "v1_8.png", "Tell a child in a sentence what is in the sky.",
     "A crescent moon shines in the night sky.", "rec gen"),
)  # fmt: skip
V2: tuple[tuple[str, str, str], ...] = (
    ("What is y in the second equation?<IMG>v2_0_0.png", "9", "ocr math"),
    ("First comes this:\n<IMG>v2_1_0.png<IMG>and then this:<IMG>v2_1_1.png<IMG>\nWhat is new?",
     "a square<AND>a triangle", "rec spat seq"),
    ("<IMG>v2_2_0.png<IMG>What is a juice and a cake?", "7.25", "ocr math know"),
    ("Which of the two is a sign?<IMG>v2_3_0.png<IMG>v2_3_1.png", "the second", "rec"),
)  # fmt: skip
V2_SCENES: dict[str, Scene] = {
    "v2_0_0.png": equations,
    "v2_1_0.png": moon,
    "v2_1_1.png": shapes,
    "v2_2_0.png": prices,
    "v2_3_0.png": moon,
    "v2_3_1.png": sign,
}


def mm_vet(folder: Path) -> None:
    rows: dict[str, Any] = {}
    for number, (scene, name, question, answer, abilities) in enumerate(V1):
        drawn(scene, folder / "images" / name)
        rows[f"v1_{number}"] = {
            "imagename": name,
            "question": question,
            "answer": answer,
            "capability": abilities.split(),
            "imagesource": "drawn",
        }
    written(folder / "mm-vet.json", rows)
    written(folder / "bard_set.json", ["v1_4", "v1_6", "v1_8"])
    for name, scene in V2_SCENES.items():
        drawn(scene, folder / "images" / name)
    rows = {
        f"v2_{number}": {"question": question, "answer": answer, "capability": abilities.split()}
        for number, (question, answer, abilities) in enumerate(V2)
    }
    written(folder / "mm-vet-v2.json", rows)


# -- MathVista

ALG, ARI, GEO, LOG, NUM, SCI, STA = (
    "algebraic reasoning",
    "arithmetic reasoning",
    "geometry reasoning",
    "logical reasoning",
    "numeric commonsense",
    "scientific reasoning",
    "statistical reasoning",
)
FQA, GPS, MWP, TQA, VQA = (
    "figure question answering",
    "geometry problem solving",
    "math word problem",
    "textbook question answering",
    "visual question answering",
)
CHOSEN: tuple[tuple[Scene, str, tuple[str, ...], int, str, str, str, tuple[str, ...]], ...] = (
    # question, choices, the right one, task, context, grade, skills
    (bars, "Who has the most?", ("Ada", "Bo", "Cy"), 1, FQA, "bar chart", "daily life", (STA,)),
    (shapes, "Which shape is on the left?", ("triangle", "square", "disc"), 2, VQA,
     "abstract scene", "elementary school", (GEO,)),
    (dice, "Is the number of spots even?", ("Yes", "No"), 0, VQA, "puzzle test", "daily life",
     (LOG, ARI)),
    (triangle, "How long is $x$?", ("7", "5", "25", "12"), 1, GPS, "geometry diagram",
     "high school", (GEO, ALG)),
    (moon, "Which phase is shown?", ("full", "crescent", "new"), 1, TQA, "scientific figure",
     "high school", (SCI,)),
    (plot, "哪一年的值最高?", ("01", "02", "03", "04"), 2, FQA, "line plot", "daily life", (STA,)),
    (ruler, "Is the bar shorter than 3?", ("Yes", "No"), 0, VQA, "scientific figure",
     "elementary school", (NUM,)),
    (table, "Which fruit costs less?", ("pear", "plum"), 1, MWP, "table", "elementary school",
     (ARI, STA)),
)  # fmt: skip
FREE: tuple[tuple[Scene, str, str, int | None, str | None, str, str, str, tuple[str, ...]], ...] = (
    # question, answer, decimals, unit, task, context, grade, skills
    (equations, "What is y in the second equation?", "9", None, None, TQA, "scientific figure",
     "high school", (ALG,)),
    (dice, "How many spots are there?", "4", None, None, VQA, "puzzle test", "daily life", (ARI,)),
    (table, "What do a pear and a plum cost together?", "1.95", 2, "$", MWP, "table",
     "elementary school", (ARI,)),
    (ruler, "How long is the bar?", "2.5", 1, "cm", TQA, "scientific figure", "college",
     (NUM, SCI)),
    (plot, "Between which two years does the line fall?", "[3, 4]", None, None, FQA, "line plot",
     "daily life", (STA,)),
    (bars, "How many have they together?", "12", None, None, FQA, "bar chart", "daily life",
     (ARI, STA)),
    (triangle, "What is the area of the triangle?", "6", None, None, GPS, "geometry diagram",
     "high school", (GEO,)),
    (shapes, "How many shapes are there?", "3", None, None, VQA, "abstract scene",
     "elementary school", (ARI,)),
)  # fmt: skip


def mathvista(folder: Path) -> None:
    rows: dict[str, Any] = {}
    for scene, question, choices, right, task, context, grade, skills in CHOSEN:
        problem: dict[str, Any] = {
            "question": question,
            "choices": list(choices),
            "unit": None,
            "precision": None,
            "answer": choices[right],
            "question_type": "multi_choice",
            "answer_type": "text",
        }
        kept(rows, folder, scene, problem, task, context, grade, skills)
    for scene, question, answer, decimals, unit, task, context, grade, skills in FREE:
        problem = {
            "question": question,
            "choices": None,
            "unit": unit,
            "precision": decimals,
            "answer": answer,
            "question_type": "free_form",
            "answer_type": "list" if answer[0] == "[" else "float" if decimals else "integer",
        }
        kept(rows, folder, scene, problem, task, context, grade, skills)
    written(folder / "testmini.json", rows)
    hidden = {name: dict(rows[name]) for name in ("2", "9", "12")}
    for problem in hidden.values():
        problem["answer"] = ""
        problem["metadata"] = {**problem["metadata"], "split": "test"}
    written(folder / "test.json", hidden)


def kept(
    rows: dict[str, Any],
    folder: Path,
    scene: Scene,
    problem: dict[str, Any],
    task: str,
    context: str,
    grade: str,
    skills: tuple[str, ...],
) -> None:
    number = str(len(rows) + 1)
    drawn(scene, folder / "images" / f"{number}.jpg")
    rows[number] = {
        **problem,
        "image": f"images/{number}.jpg",
        "pid": number,
        "metadata": {
            "split": "testmini",
            "language": "english" if problem["question"].isascii() else "chinese",
            "img_width": SIZE[0],
            "img_height": SIZE[1],
            "source": "snellen",
            "category": "math-targeted-vqa" if task in (GPS, MWP) else "general-vqa",
            "task": task,
            "context": context,
            "grade": grade,
            "skills": list(skills),
        },
    }


# -- LLaVA-Bench

WILD: tuple[tuple[Scene, str, str, str, str], ...] = (
    (shapes, "A red disc, a blue square and a green triangle stand in a row.",
     "conv", "Which colour has the square?", "The square is blue."),
    (shapes, "", "detail", "Describe the picture.",
     "From left to right there are a red disc, a blue square and a green triangle, on white."),
    (shapes, "", "complex", "Which of the shapes would roll down a slope, and why?",
     "The disc would: it has no corners, so nothing stops it from rolling."),
    (sign, "A sign on a post reads EXIT B2.",
     "conv", "What does the sign say?", "It says EXIT B2."),
    (sign, "", "complex", "Where may this sign hang?",
     "It may hang in a car park: B2 is likely the second level below the ground."),
    (moon, "A crescent moon in a dark blue sky.",
     "conv", "Is it day or night?", "It is night: the sky is dark and the moon is up."),
    (moon, "", "detail", "Describe the sky in detail.",
     "The sky is dark blue without clouds, and a thin pale crescent moon stands in it."),
    (prices, "A list of three prices: tea 2.50, cake 4.00, juice 3.25.",
     "complex", "What would you order with five coins, and why?",
     "A tea: it leaves half of the money. Tea and cake together would cost more than five."),
)  # fmt: skip
BOXES = {
    shapes: ("disc", "square", "triangle"),
    sign: ("sign",),
    moon: ("moon",),
    prices: ("list",),
}


def llava_bench(folder: Path) -> None:
    """Write both splits, with the same scenes."""
    scenes = list(dict.fromkeys(scene for scene, *_ in WILD))
    shown = {scene: text for scene, text, *_ in WILD if text}
    for split, digits in (("wild", 3), ("coco", 12)):
        files: dict[str, list[dict[str, Any]]] = {"questions": [], "answers": [], "context": []}
        for number, scene in enumerate(scenes):
            image = f"{number + 1:0{digits}}.jpg"
            drawn(scene, folder / "images" / image)
            boxes = [
                {"category": name, "bbox": [0.1 * position, 0.25, 0.1 * position + 0.2, 0.75]}
                for position, name in enumerate(BOXES[scene])
            ]
            captions = [shown[scene], *(f"{word} in a drawing." for word in BOXES[scene])]
            row = {"id": image[:-4], "image": image}
            files["context"].append(
                {**row, "caption": shown[scene]}
                if split == "wild"
                else {**row, "captions": captions, "instances": boxes}
            )
        for number, (scene, _, category, question, answer) in enumerate(WILD):
            image = f"{scenes.index(scene) + 1:0{digits}}.jpg"
            row = {"question_id": number, "image": image, "text": question, "category": category}
            files["questions"].append(row)
            files["answers"].append({"question_id": number, "text": answer, "category": category})
        names = (
            ("questions.jsonl", "answers_gpt4.jsonl", "context.jsonl")
            if split == "wild"
            else (
                "qa90_questions.jsonl",
                "qa90_gpt4_answer.jsonl",
                "caps_boxes_coco2014_val_80.jsonl",
            )
        )
        for name, rows in zip(names, files.values(), strict=True):
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (folder / name).write_text("".join(lines), encoding="utf-8")


def written(path: Path, content: Any) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


def redraw(name: str, draw: Callable[[Path], None]) -> None:
    """Draw the rows of a benchmark anew, into its folder."""
    folder = ROWS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    draw(folder)


def main() -> None:
    for name, draw in (("mm_vet", mm_vet), ("mathvista", mathvista), ("llava_bench", llava_bench)):
        redraw(name, draw)


if __name__ == "__main__":
    main()
