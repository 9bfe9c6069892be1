"""Draw the rows of EMMA, M3CoT, and MathVerse: `python scripts/draw_sciences.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
SIDE = 64
INK, BLUE, RED = "black", "#4477aa", "#cc6677"

Canvas = ImageDraw.ImageDraw


def square(draw: Canvas) -> None:
    draw.rectangle((16, 16, 48, 48), fill=BLUE)


def disc(draw: Canvas) -> None:
    draw.ellipse((16, 16, 48, 48), fill=RED)


def discs(draw: Canvas) -> None:
    for left in (4, 24, 44):
        draw.ellipse((left, 24, left + 16, 40), fill=RED)


def slope(draw: Canvas) -> None:
    draw.polygon((4, 60, 60, 60, 4, 12), outline=INK)
    draw.ellipse((6, 2, 16, 12), fill=RED)


def bars(draw: Canvas) -> None:
    for position, height in enumerate((20, 44, 32)):
        draw.rectangle((6 + 20 * position, 60 - height, 18 + 20 * position, 60), fill=BLUE)


def ring(draw: Canvas) -> None:
    draw.regular_polygon((32, 32, 24), 6, outline=INK)


SCENES: dict[str, Callable[[Canvas], None]] = {
    scene.__name__: scene for scene in (square, disc, discs, slope, bars, ring)
}


def emma(
    pid: str,
    category: str,
    question: str,
    pictures: str,
    answer: str,
    *options: str,
    task: str = "",
) -> dict[str, Any]:
    subject, _, _ = pid.partition("_")
    names = pictures.split()
    marks = "" if "<image_" in question else "\n<image_1>"
    return {
        "pid": pid,
        "question": f"{question}{marks}",
        "options": [*options] or None,
        "answer": answer,
        "solution": None,
        "subject": subject,
        "task": task,
        "category": category,
        "source": "Snellen",
        "type": "Multiple Choice" if options else "Open-ended",
        "context": "The ball starts at rest." if subject == "Physics" else "",
        **{
            f"image_{number}": f"images/{names[number - 1]}.png" if number <= len(names) else None
            for number in range(1, 6)
        },
    }


PICTURES = ("<image_1>", "<image_2>", "<image_3>")
EMMA = [
    emma("Math_1", "2D Transformation", "Which picture has no corner?", "square disc bars", "B",
         *PICTURES),
    emma("Math_2", "Multi-hop Visual Object Counting", "How many discs are there?", "discs", "3"),
    emma("Math_3", "Pattern Inference", "The next number is the number of discs, halved.", "discs",
         "1.5"),
    emma("Chemistry_1", "Structure Recognition", "How many corners has the ring?", "ring", "6"),
    emma("Chemistry_2", "Reaction Simulation", "What remains of the ring?", "ring square", "D",
         "A", "B", "C", "D"),
    emma("Physics_1", "Path Tracing", "Where does the ball of <image_1> go?", "slope", "b",
         "upward", "down the slope", "nowhere"),
    emma("Coding_1", "3D; Legend", "Which code draws the bars of <image_1>?", "bars", "C",
         "ax.pie([20, 44, 32])", "ax.bar([1, 2], [20, 44])", "ax.bar([1, 2, 3], [20, 44, 32])",
         task="Vis Choose Code"),
    emma("Coding_2", "Legend", "The code draws a disc. Which picture is it?", "disc ring", "A",
         "<image_1>", "<image_2>", task="Code Choose Vis"),
]  # fmt: skip
MINI = ("Math_2", "Chemistry_1", "Physics_1", "Coding_1")


def m3cot(
    name: str, domain: str, topic: str, image: str, question: str, answer: str, *choices: str
) -> dict[str, Any]:
    return {
        "id": f"{topic}-{name}",
        "category": domain,
        "image_id": f"{topic}-{name}",
        "question": question,
        "choices": [*choices],
        "context": "The picture shows a plan." if image == "slope" else "",
        "answer": answer,
        "rationale": "Look at the picture.",
        "split": "test",
        "image": f"images/{image}.png" if image else None,
        "domain": domain,
        "topic": topic,
    }


M3COT = [
    m3cot("1", "science", "natural-science", "slope", "Where does the ball go?", "B", "Upward",
          "Downward", "Nowhere"),
    m3cot("2", "science", "social-science", "bars", "Which year had the most?", "B", "Year one",
          "Year two", "Year three"),
    m3cot("3", "science", "language-science", "", "Which word names a form?", "C", "Quickly",
          "Seldom", "Square"),
    m3cot("1", "commonsense", "physical-commonsense", "disc", "What can this do?", "A", "Roll",
          "Stand on an edge", "Fold"),
    m3cot("1", "commonsense", "social-commonsense", "discs", "What do the three do?", "D", "Argue",
          "Sing", "Sleep", "Stand in line"),
    m3cot("1", "commonsense", "temporal-commonsense", "slope", "What happens next?", "A",
          "The ball rolls", "The hill grows", "The sun sets"),
    m3cot("1", "mathematics", "algebra", "discs", "x is the number of discs. What is 2x?", "C", "3",
          "5", "6"),
    m3cot("1", "mathematics", "geometry", "ring", "How many corners?", "D", "3", "4", "5", "6"),
]  # fmt: skip


VERSIONS = ("Text Dominant", "Text Lite", "Vision Intensive", "Vision Dominant", "Vision Only")


def mathverse(
    problem: int, image: str, subject: str, question: str, answer: str, *choices: str
) -> list[dict[str, Any]]:
    """A problem in all six versions, the last of which has no picture."""
    final = "the correct option letter, e.g., A, B, C, D" if choices else "the final value, e.g., 1"
    every = []
    for number, version in enumerate((*VERSIONS, "Text Only")):
        lines = "".join(
            f"\n{letter}:{choice}" for letter, choice in zip("ABCD", choices, strict=False)
        )
        listed = f"{question}\nChoices:{lines}" if choices else question
        text = "" if version == "Vision Only" else listed
        line = f"\nQuestion: {text}" if text else ""
        every.append(
            {
                "sample_index": str(10 * problem + number),
                "problem_index": str(problem),
                "problem_version": version,
                "question": text,
                "image": "" if version == "Text Only" else f"images_version_1-4/{image}.png",
                "answer": answer,
                "question_type": "multi-choice" if choices else "free-form",
                "metadata": {
                    "split": "testmini",
                    "source": "Snellen",
                    "subject": subject,
                    "subfield": "Length",
                },
                "query_wo": f"Please directly answer the question and provide {final}.{line}",
                "query_cot": "Please first conduct reasoning, and then answer the question and "
                f"provide {final}, at the end.{line}",
            }
        )
    return every


MATHVERSE = [
    *mathverse(1, "square", "Plane Geometry", "The side is 3. What is the perimeter?", "12"),
    *mathverse(2, "slope", "Functions", "Which way does the line go?", "B", "Up", "Down"),
]


def main() -> None:
    draw("emma/images", SCENES)
    draw("m3cot/images", SCENES)
    draw("mathverse/data/images/images_version_1-4", {"square": square, "slope": slope})
    every = {row["pid"]: row for row in EMMA}
    write("emma/EMMA.json", json.dumps(every, indent=1))
    write("emma/EMMA-mini.json", json.dumps({name: every[name] for name in MINI}, indent=1))
    text_only = [row for row in MATHVERSE if row["problem_version"] == "Text Only"]
    with_picture = [row for row in MATHVERSE if row not in text_only]
    write("mathverse/data/testmini.json", json.dumps(with_picture, indent=1))
    write("mathverse/data/testmini_text_only.json", json.dumps(text_only, indent=1))
    write("m3cot/test.jsonl", "\n".join(map(json.dumps, M3COT)))


def draw(name: str, scenes: dict[str, Callable[[Canvas], None]]) -> None:
    folder = ROWS / name
    folder.mkdir(parents=True, exist_ok=True)
    for scene, paint in scenes.items():
        picture = Image.new("RGB", (SIDE, SIDE), "white")
        paint(ImageDraw.Draw(picture))
        picture.save(folder / f"{scene}.png", optimize=True)


def write(name: str, text: str) -> None:
    (ROWS / name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
