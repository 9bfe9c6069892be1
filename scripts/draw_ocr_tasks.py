"""Draw the rows that are bundled with OCRBench v2: `python scripts/draw_ocr_tasks.py`.

The questions and pictures are our own; only their format is that of the data set.
"""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

FOLDER = Path(__file__).parents[1] / "src/snellen/benchmarks/rows/ocrbench_v2"
SIZE = (160, 96)
STROKES = {
    "三": ((2, 3, 14, 3), (4, 8, 12, 8), (1, 13, 15, 13)),
    "十": ((1, 7, 15, 7), (8, 1, 8, 15)),
    "日": ((3, 1, 13, 1), (3, 8, 13, 8), (3, 14, 13, 14), (3, 1, 3, 14), (13, 1, 13, 14)),
    "中": ((2, 4, 14, 4), (2, 10, 14, 10), (2, 4, 2, 10), (14, 4, 14, 10), (8, 1, 8, 15)),
    "王": ((2, 2, 14, 2), (3, 8, 13, 8), (1, 14, 15, 14), (8, 2, 8, 14)),
}
"""Chinese characters as lines in a square of 16 pixels."""
FIRST_LINE = (25, 42, 369, 170)
"""The box of the first line, in thousandths of the picture."""
TABLE = "<table><tr><td>Item</td><td>Cost</td></tr><tr><td>Tea</td><td>3</td></tr></table>"
ENGLISH: Sequence[tuple[str, str, Sequence[str], dict[str, Any]]] = (
    ("text recognition", "What is written in the first line?", ["MAPLE CAFE"], {}),
    ("text grounding", "Where is the text MAPLE CAFE? Answer as (x1, y1, x2, y2).", [],
     {"answers": [*FIRST_LINE]}),
    ("VQA with position", "What is the name? Answer with `answer` and `bbox`.", ["Maple Cafe"],
     {"bbox": [*FIRST_LINE]}),
    ("text spotting", "List all words as [x1, y1, x2, y2, text].", [],
     {"bbox": [[25, 42, 200, 170], [212, 42, 369, 170]], "content": ["MAPLE", "CAFE"]}),
    ("key information extraction", "Extract the fields as JSON.",
     ['{"company": "Maple Cafe", "total": "12"}'], {}),
    ("key information mapping", "Map the keys to values.", ["{'Tea': '3', 'Cake': '9'}"], {}),
    ("document parsing", "Convert the page to Markdown.", ["# Menu\nTea 3\nCake 9"], {}),
    ("chart parsing", "Read the chart as a Python dict.", [], {"answers": [{"Tea": 3, "Cake": 9}]}),
    ("table parsing", "Convert the table to HTML.", [TABLE], {}),
    ("table parsing", "Convert the table to Markdown.",
     ["| Item | Cost |\n|---|---|\n| Tea | 3 |"], {}),
    ("formula recognition", "Write the formula in LaTeX.", ["\\frac{a}{b} = 3"], {}),
    ("math QA", "How much do tea and cake cost together?", ["12"], {}),
    ("text counting", "How many words are in the first line?", ["2"], {"eval": "regression"}),
    ("text counting", "How many letters does the second word have?", ["4"],
     {"eval": "exact match"}),
    ("document classification", "What kind of document is this?", ["menu"], {}),
    ("cognition VQA", "What can one drink here?", ["tea"], {}),
    ("diagram QA", "What is after the tea in the list?", ["cake"], {}),
    ("reasoning VQA", "Which costs more? A. tea B. cake", ["B"], {"eval": "multiple choice"}),
    ("science QA", "What is cake? A. food B. metal", ["A"], {"eval": "multiple choice"}),
    ("APP agent", "Where do you tap to order cake?", ["the second line"], {}),
    ("ASCII art classification", "Which animal is this?", ["Fish"], {"eval": "case sensitive"}),
)  # fmt: skip
CHINESE: Sequence[tuple[str, str, Sequence[str], dict[str, Any]]] = (
    ("full-page OCR", "请识别图中的文字。", ["三十日中王"], {}),
    ("key information extraction", "请提取日期。", ["{'日期': ['三十日', '30日']}"], {}),
    ("handwritten answer extraction", "请提取选择题的答案。", ["AC"], {}),
    ("handwritten answer extraction", "请提取简答题的答案。", ["三十日中王"], {}),
    ("table parsing", "请将表格转换为HTML。",
     ["<table><tr><td>三</td><td>十</td></tr></table>"], {}),
    ("formula recognition", "请写出公式。", ["3 \\text{日} + 10"], {}),
    ("cognition VQA", "第一行写的是什么？", ["三十日"], {}),
    ("reasoning VQA", "三十日是几号？A. 3 B. 30", ["B"], {"eval": "multiple choice"}),
    ("text translation", "请将“thirtieth day of the king”翻译成中文。", ["王的三十日"], {}),
)  # fmt: skip


def save(image: Image.Image, name: str) -> None:
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with io.BytesIO() as file:
        image.save(file, format="PNG", optimize=True)
        path.write_bytes(file.getvalue())


def menu() -> Image.Image:
    image = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(("MAPLE CAFE", "Menu", "Tea 3", "Cake 9", "a/b = 3", "><((o>")):
        draw.text((4, 4 + 14 * number), line, fill="black")
    return image


def characters() -> Image.Image:
    image = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(image)
    for number, lines in enumerate(STROKES.values()):
        for x1, y1, x2, y2 in lines:
            left, top = 8 + 20 * number, 8
            draw.line((left + x1, top + y1, left + x2, top + y2), fill="black", width=2)
    return image


def main() -> None:
    save(menu(), "EN_part/menu.png")
    save(characters(), "CN_part/characters.png")
    rows: list[dict[str, Any]] = []
    for language, questions in (("en", ENGLISH), ("cn", CHINESE)):
        picture = "EN_part/menu.png" if language == "en" else "CN_part/characters.png"
        for kind, question, answers, more in questions:
            row = {"dataset_name": "drawn", "type": f"{kind} {language}", "id": len(rows)}
            row |= {"image_path": picture, "question": question, "answers": answers, **more}
            rows.append(row)
    text = json.dumps(rows, ensure_ascii=False, indent=1)
    (FOLDER / "OCRBench_v2.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
