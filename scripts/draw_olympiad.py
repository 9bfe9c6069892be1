"""Draw the rows bundled with OlympiadBench: `python scripts/draw_olympiad.py`.

The problems and pictures are our own; only their format is that of the authors' folder.
"""

import json
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

FOLDER = Path(__file__).parents[1] / "src/snellen/benchmarks/rows/olympiadbench"
# id: subfield, context, question, right answer, answer_type, unit, error
PROBLEMS: dict[str, tuple[tuple[str, str | None, str, str, str, str | None, str | None], ...]] = {
    "OE_MM_maths_en_COMP": (
        ("Geometry", None, "The square has sides of length 3. <img_1> What is its area?", "$9$",
         "Numerical", None, None),
        ("Geometry", None, "The square has sides of length $a$. <img_2> What is its diagonal?",
         "$a\\sqrt{2}$", "Expression", None, None),
        ("Algebra", None, "The sides of the squares <img_3> and <img_4> solve an equation. Which "
         "lengths do they have?", "$2,3$", "Numerical,Numerical", None, None),
    ),
    "OE_MM_maths_zh_CEE": (
        ("Geometry", None, "正方形的边长为4。<img_5> 求其面积。", "$16$", "Numerical", None, None),
    ),
    "OE_MM_maths_zh_COMP": (
        ("Algebra", None, "正方形 <img_6> 的边长是 10 的几倍？", "$1.6$", "Numerical", None, None),
    ),
    "OE_MM_physics_en_COMP": (
        ("Mechanics", "A cube of wood has sides of 0.5 m. <img_7>", "What is its volume?", "0.125",
         "Numerical", "m$^{3}$", "1e-3"),
        ("Mechanics", None, "A plate of side $a$ turns. <img_8> Give the ratio of its sides.",
         "$1$", "Numerical", None, None),
    ),
    "OE_MM_physics_zh_CEE": (
        ("力学", "一个正方体。<img_9>", "它的边长是多少？", "2", "Numerical", "m", "0.1"),
    ),
    "OE_TO_maths_en_COMP": (
        ("Algebra", None, "What is $2+2$?", "$4$", "Numerical", None, None),
    ),
}  # fmt: skip


def draw(number: int) -> None:
    picture = Image.new("RGB", (60, 60), "white")
    side = 12 + 4 * number
    ImageDraw.Draw(picture).rectangle((4, 4, 4 + side, 4 + side), outline="#4477aa", width=2)
    picture.save(FOLDER / f"images/img_{number}.jpg", quality=60)


def main() -> None:
    for folder in ("data", "images"):
        (FOLDER / folder).mkdir(parents=True, exist_ok=True)
    for number in range(1, 10):
        draw(number)
    identifier = 100
    for name, problems in PROBLEMS.items():
        rows: list[dict[str, Any]] = []
        for subfield, context, question, answer, kind, unit, error in problems:
            identifier += 1
            rows.append(
                {
                    "id": identifier,
                    "subfield": subfield,
                    "context": context,
                    "question": question,
                    "solution": [],
                    "final_answer": [answer],
                    "is_multiple_answer": "," in kind,
                    "unit": unit,
                    "answer_type": kind,
                    "error": error,
                }
            )
        text = json.dumps(rows, ensure_ascii=False, indent=1)
        (FOLDER / f"data/{name}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
