"""Draw the rows bundled with MMT-Bench and MedXpertQA: `python scripts/draw_subtasks.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import base64
import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
COLORS = {"red": "#cc6677", "blue": "#4477aa", "green": "#228833", "yellow": "#ddcc77"}


def drawn(colors: Sequence[str]) -> Image.Image:
    """Discs in a row."""
    picture = Image.new("RGB", (40 * len(colors), 40), "white")
    draw = ImageDraw.Draw(picture)
    for position, color in enumerate(colors):
        draw.ellipse((40 * position + 6, 6, 40 * position + 34, 34), fill=COLORS[color])
    return picture


def encoded(picture: Image.Image) -> str:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()


# -- MMT-Bench

SUBTASKS: tuple[tuple[str, str, str, tuple[str, ...], str, tuple[str, ...]], ...] = (
    ("counting", "counting_by_category", "How many discs are there?", ("red", "blue"), "B",
     ("one", "two", "three", "four")),
    ("counting", "counting_by_category", "How many discs are there?", ("red",), "A",
     ("one", "two", "three", "four")),
    ("counting", "counting_by_visual_prompting", "How many discs are blue?",
     ("blue", "blue", "blue"), "C", ("one", "two", "three", "four")),
    ("visual_recognition", "color_recognition", "Which color has the disc?", ("green",), "D",
     ("red", "blue", "yellow", "green")),
    ("visual_recognition", "color_recognition", "Which color has the disc?", ("yellow",), "C",
     ("red", "blue", "yellow", "green")),
    ("cross_image_matching", "one_shot_detection", "Are the two pictures the same?",
     ("red", "green"), "B", ("yes", "no")),
    ("localization", "object_localization", "Where is the red disc?", ("red", "blue"), "A",
     ("left", "right", "above", "below")),
    ("hallucination", "exist_hallucination", "Is there a green disc?", ("red", "blue"), "B",
     ("yes", "no")),
)  # fmt: skip


def write_subtasks(name: str, *, separate: bool) -> None:
    columns = ("index", "question", *"ABCD", "answer", "category", "l2-category", "split", "image")
    path = ROWS / "mmt_bench" / f"{name}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", delimiter="\t", lineterminator="\n")
        writer.writeheader()
        for index, (meta, subtask, question, colors, answer, choices) in enumerate(SUBTASKS):
            apart = separate and meta == "cross_image_matching"
            pictures = [encoded(drawn([color])) for color in colors] if apart else []
            row = {
                "index": index,
                "question": question,
                **dict(zip("ABCD", choices, strict=False)),
                "answer": answer,
                "category": subtask,
                "l2-category": meta,
                "split": "VAL",
                "image": str(pictures) if apart else encoded(drawn(colors)),
            }
            writer.writerow(row)


# -- MedXpertQA

CASES: tuple[tuple[str, tuple[str, ...], str, str, str, str], ...] = (
    ("A stain on a slide is red. Which disc in the picture has its color?",
     ("The left disc", "The right disc", "Both", "None", "It cannot be seen"), "A",
     "Diagnosis", "Integumentary", "Understanding"),
    ("A test is positive if most discs are blue. What follows from the picture?",
     ("It is invalid", "It is positive", "It is negative", "It is borderline", "Nothing"), "C",
     "Diagnosis", "Cardiovascular", "Reasoning"),
    ("A patient takes the pill with the color of the right disc. Which pill is it?",
     ("Red", "Yellow", "White", "Green", "Black"), "D", "Treatment", "Nervous", "Reasoning"),
    ("Each disc stands for a dose of 5 mg. How much is taken?",
     ("5 mg", "10 mg", "15 mg", "20 mg", "25 mg"), "B", "Treatment", "Skeletal", "Understanding"),
    ("A reagent turns yellow if it is exposed to light. Which disc was exposed?",
     ("The left disc", "The right disc", "Both", "None of the two", "All five"), "D",
     "Basic Science", "Other / NA", "Reasoning"),
)  # fmt: skip


def write_cases() -> None:
    folder = ROWS / "medxpertqa_mm"
    (folder / "images").mkdir(parents=True, exist_ok=True)
    lines = []
    for index, (question, choices, answer, task, system, kind) in enumerate(CASES):
        name = f"MM-{index}-a.png"
        drawn(("red", "green")).save(folder / "images" / name, optimize=True)
        options = [
            {"letter": letter, "content": choice}
            for letter, choice in zip("ABCDE", choices, strict=True)
        ]
        listed = " ".join(f"({option['letter']}) {option['content']}" for option in options)
        row: dict[str, Any] = {
            "id": f"MM-{index}",
            "question": f"{question}\nAnswer Choices: {listed}",
            "options": options,
            "label": [answer],
            "images": [{"image_path": name}],
            "medical_task": task,
            "body_system": system,
            "question_type": kind,
        }
        lines.append(json.dumps(row))
    path = folder / "medxpertqa_mm_input.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_subtasks("MMT-Bench_VAL", separate=False)
    write_subtasks("MMT-Bench_VAL_MI", separate=True)
    write_cases()
