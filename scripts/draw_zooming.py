"""Draw the rows that are bundled with TIR-Bench and TreeBench: `python scripts/draw_zooming.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import json
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from draw_judged import (
    BLUE,
    GREEN,
    INK,
    RED,
    SAND,
    Canvas,
    drawn,
    prices,
    redraw,
    ruler,
    shapes,
    triangle,
)
from PIL import Image, ImageDraw

Scene = Callable[[Canvas], None]


# -- scenes


def upside_down(draw: Canvas) -> None:
    draw.polygon((60, 20, 20, 40, 100, 40), fill=RED)
    draw.rectangle((30, 6, 90, 20), fill=SAND)
    draw.rectangle((30, 40, 90, 44), fill=INK)
    draw.polygon((60, 84, 24, 48, 96, 48), fill=RED)


def letters(draw: Canvas) -> None:
    for row, line in enumerate(("OOOO", "OOXO", "OOOO")):
        for column, letter in enumerate(line):
            draw.text((20 + 22 * column, 14 + 22 * row), letter, fill=INK)


def code(draw: Canvas) -> None:
    draw.rectangle((16, 26, 104, 64), outline=INK, width=2)
    draw.text((46, 38), "mobi", fill=INK)


def dark_dice(draw: Canvas) -> None:
    draw.rectangle((0, 0, 120, 90), fill="#101010")
    for left, spots in ((10, ((0.5, 0.5),)), (66, ((0.25, 0.25), (0.5, 0.5), (0.75, 0.75)))):
        draw.rectangle((left, 22, left + 44, 66), fill="#1c1c1c")
        for x, y in spots:
            draw.ellipse(
                (left + 44 * x - 4, 18 + 44 * y, left + 44 * x + 4, 26 + 44 * y), fill="#303030"
            )


def patches(draw: Canvas, *, changed: bool) -> None:
    """A picture of two by two patches. Of the changed one, patches 1 and 4 differ."""
    for number, color in enumerate((RED, BLUE, GREEN, SAND)):
        left, top = 60 * (number % 2), 45 * (number // 2)
        fill = INK if changed and number in (0, 3) else color
        draw.ellipse((left + 15, top + 8, left + 45, top + 38), fill=fill)
    draw.line((60, 0, 60, 90), fill="#bbbbbb")
    draw.line((0, 45, 120, 45), fill="#bbbbbb")


def both(draw: Canvas) -> None:
    for left, changed in ((0, False), (60, True)):
        for number, color in enumerate((RED, BLUE, GREEN, SAND)):
            x, y = left + 30 * (number % 2), 45 * (number // 2)
            fill = INK if changed and number in (0, 3) else color
            draw.ellipse((x + 6, y + 12, x + 24, y + 30), fill=fill)
    draw.line((60, 0, 60, 90), fill="#bbbbbb", width=2)


def pieces(draw: Canvas) -> None:
    """A disc in four pieces, which are exchanged: 4, 3, 2, 1 restores it."""
    for number, (x, y) in enumerate(((0, 0), (60, 0), (0, 45), (60, 45)), 1):
        center = (2 * x, 2 * y)  # the corner of the picture
        draw.rectangle((x, y, x + 59, y + 44), fill="white", outline=INK)
        start = {1: 0, 2: 90, 3: 270, 4: 180}[number]
        draw.pieslice(
            (center[0] - 30, center[1] - 30, center[0] + 30, center[1] + 30),
            start,
            start + 90,
            fill=BLUE,
        )
        draw.text((x + 26, y + 18), str(number), fill=RED)


def maze(draw: Canvas) -> None:
    """Two rows and three columns. The only way is right, down, right."""
    for column in range(4):
        draw.line((15 + 30 * column, 15, 15 + 30 * column, 75), fill=INK, width=2)
    for row in range(3):
        draw.line((15, 15 + 30 * row, 105, 15 + 30 * row), fill=INK, width=2)
    for start, end in (((45, 18), (45, 42)), ((48, 45), (72, 45)), ((75, 48), (75, 72))):
        draw.line((*start, *end), fill="white", width=3)
    draw.ellipse((25, 25, 35, 35), fill=RED)
    draw.ellipse((85, 55, 95, 65), fill=GREEN)


# -- TIR-Bench: task, scene, file, prompt, answer

QUESTIONS: tuple[tuple[str, Scene, str, str, Any], ...] = (
    ("instrument", ruler, "ruler", "How long is the bar? Answer with one decimal, such as 1.1.",
     2.5),
    ("color", shapes, "shapes", "Which color has the disc?\nA. red\nB. blue\nC. green", "A"),
    ("refcoco", shapes, "shapes",
     "Which value is closest to the share of the picture that the square takes up?\n"
     "A: 3%\nB: 9%\nC: 20%", "B"),
    ("rotation_game", upside_down, "house",
     "By how many degrees should you rotate this picture to restore it?\nA. 90°\nB. 180°\nC. 270°",
     "B"),
    ("math", triangle, "triangle", "How long is x? Answer with an integer, such as 1.", "5"),
    ("word_search", letters, "letters",
     "In which row and column is the letter X? Answer with two numbers, such as [1, 2].", "[2, 3]"),
    ("word_search", letters, "letters", "图中有多少个字母X？回答一个数字，例如1，2。", "1"),
    ("visual_search", prices, "prices",
     "What does the juice cost? Answer with two decimals, such as 1.11.", "3.25"),
    ("ocr", code, "ocr/60", "What does the sign say?", "MOBI"),
    ("symbolic", shapes, "shapes",
     "Which shapes have corners?\nA. the disc\nB. the square\nC. the triangle\n"
     "Select more than one option. Answer with consecutive letters, such as AB.", "BC"),
    ("spot_difference", both, "both",
     "In which patches of two by two do the left and the right half differ? Answer with a list, "
     "such as [1, 2].", "[1, 4]"),
    ("spot_difference", partial(patches, changed=False), "first",
     "In how many places do the two pictures differ? Answer with an integer.", "2"),
    ("contrast", dark_dice, "dark", "How many spots are there?", "4"),
    ("jigsaw", pieces, "pieces",
     "The picture was divided into 2×2 pieces and scrambled. In what order should the pieces be "
     "arranged? For example, 1, 3, 2, 4.", "4, 3, 2, 1"),
    ("maze", maze, "maze",
     "Which moves lead from the red ball to the green ball?\nA. RRD\nB. DRR\nC. RDR", "C"),
)  # fmt: skip


def tir_bench(folder: Path) -> None:
    rows = []
    for number, (task, scene, name, prompt, answer) in enumerate(QUESTIONS):
        path = f"data/{name}.{'jpg' if task == 'ocr' else 'png'}"
        drawn(scene, folder / path)
        second = "data/second.png" if name == "first" else None
        rows.append(
            {
                "id": number,
                "task": task,
                "image_1": path,
                "image_2": second,
                "prompt": prompt,
                "answer": answer,
                "meta_data": {"difficulty": 2} if task == "jigsaw" else {},
            }
        )
    drawn(partial(patches, changed=True), folder / "data/second.png")
    text = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    (folder / "TIR-Bench.json").write_text(text, encoding="utf-8")


# -- TreeBench: category, scene, question, choices, answer, boxes of what the question is about

TREE: tuple[tuple[str, str, tuple[str, ...], str, tuple[tuple[int, ...], ...]], ...] = (
    ("Perception/Attributes", "Which color has the square?", ("blue", "red", "green", "black"), "A",
     ((82, 12, 102, 32),)),
    ("Perception/Material", "Is the dot filled or empty?", ("empty", "filled"), "B",
     ((30, 38, 40, 48),)),
    ("Perception/Physical State", "Is the ring open or closed?", ("open", "closed"), "B",
     ((50, 60, 58, 68),)),
    ("Perception/Object Retrieval", "Which shape is in the lower half?",
     ("the dot", "the square", "the ring"), "C", ((50, 60, 58, 68),)),
    ("Perception/OCR",
     "What does the label say? Options:\nA. north\nB. south\nC. west\nD. east",
     ("north", "south", "west", "east"), "D", ((8, 72, 40, 84),)),
    ("Reasoning/Perspective Transform", "On which side of the dot is the square?",
     ("left", "right"), "B", ((30, 38, 40, 48), (82, 12, 102, 32))),
    ("Reasoning/Ordering", "Which comes first from left to right?",
     ("the dot", "the ring", "the square"), "A",
     ((30, 38, 40, 48), (82, 12, 102, 32), (50, 60, 58, 68))),
    ("Reasoning/Comparison", "Which is larger?", ("the dot", "the ring", "the square"), "C",
     ((30, 38, 40, 48), (50, 60, 58, 68), (82, 12, 102, 32))),
)  # fmt: skip


def spots(draw: Canvas) -> None:
    draw.ellipse((30, 38, 39, 47), fill=RED)
    draw.rectangle((82, 12, 101, 31), fill=BLUE)
    draw.ellipse((50, 60, 57, 67), outline=GREEN)
    draw.text((9, 73), "east", fill=INK)


def tree_bench(folder: Path) -> None:
    picture = Image.new("RGB", (120, 90), "white")
    spots(ImageDraw.Draw(picture))
    data = BytesIO()
    picture.save(data, "png")
    image = b64encode(data.getvalue()).decode()
    names = (
        *("index", "image", "question", "multi-choice options", "A", "B", "C", "D", "answer"),
        *("category", "target_instances"),
    )
    lines = ["\t".join(names)]
    for number, (category, question, choices, answer, boxes) in enumerate(TREE):
        listed = "\n".join(
            f"{letter}. {text}" for letter, text in zip("ABCD", choices, strict=False)
        )
        cells = [
            str(number),
            image,
            question,
            "" if category == "Perception/OCR" else listed,
            *(list(choices) + [""] * (4 - len(choices))),
            answer,
            category,
            str([list(box) for box in boxes]),
        ]
        lines.append("\t".join(f'"{cell}"' if "\n" in cell else cell for cell in cells))
    (folder / "TreeBench.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    for name, draw in (("tir_bench", tir_bench), ("treebench", tree_bench)):
        redraw(name, draw)


if __name__ == "__main__":
    main()
