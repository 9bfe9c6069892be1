"""Draw the rows that are bundled with SEED-Bench: `python scripts/draw_seed_bench.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import base64
import io
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from draw_choices import (
    ROWS,
    Scene,
    bars,
    coin,
    disc,
    disc_left,
    drawn,
    face,
    ice,
    jar,
    map_of_islands,
    plus,
    sheet,
    square_over_disc,
    two_bars,
)
from PIL import Image, ImageDraw

from snellen.media import encode

FOLDER = ROWS / "seed_bench"
HEADER = ("index", "image", "question", "A", "B", "C", "D", "answer", "category")
NAMES = (
    "Scene Understanding", "Instance Identity", "Instance Attributes", "Instance Location",
    "Instances Counting", "Spatial Relation", "Instance Interaction", "Visual Reasoning",
    "Text Understanding", "Action Recognition", "Action Prediction", "Procedure Understanding",
)  # fmt: skip
# Dimension, picture, question, and four choices of which the first is right.
FIRST: tuple[tuple[int, str, str, tuple[str, ...]], ...] = (
    (1, "0_map", "What kind of picture is this?", ("a map", "a chart", "a portrait", "a clock")),
    (1, "0_face", "What kind of drawing is this?", ("a face", "a house", "a tree", "a boat")),
    (2, "0_coin", "What lies here?", ("a coin", "a key", "a leaf", "a stamp")),
    (3, "0_disc", "What colour is the disc?", ("blue", "red", "green", "black")),
    (3, "0_square", "What colour is the square?", ("green", "red", "blue", "white")),
    (4, "0_left", "Where in the frame is the disc?", ("left", "right", "top", "bottom")),
    (5, "0_bars", "How many bars are there?", ("Four", "Three", "Five", "Two")),
    (5, "0_jar", "How many balls are in the jar?", ("Nine", "Six", "Twelve", "Four")),
    (6, "0_square", "Where is the square?", ("above the disc", "below the disc", "left of the disc",
                                             "right of the disc")),
    (7, "0_jar", "What does the jar do to the balls?", ("it holds them", "it breaks them",
                                                        "it paints them", "it hides them")),
    (8, "0_ice", "What becomes of the block?", ("it melts", "it burns", "it grows", "it sinks")),
    (9, "0_plus", "Which sum is written here?", ("7 + 5", "5 + 7", "7 - 5", "5 - 7")),
)  # fmt: skip
SCENES: dict[str, Scene] = {
    "0_map": map_of_islands, "0_face": face, "0_coin": coin, "0_disc": disc, "0_left": disc_left,
    "0_square": square_over_disc, "0_bars": bars, "0_jar": jar, "0_ice": ice, "0_plus": plus,
}  # fmt: skip
SECOND: tuple[tuple[int, str, str, str | list[str], str, tuple[str, ...]], ...] = (
    (5, "cc3m", "Single Image", "0_bars", "How many bars are there?",
     ("Four", "Three", "Five", "Two")),
    (12, "SEED-Bench v2", "Single Image", "task12/0.png", "Which bar of the chart is the longer?",
     ("the lower one", "the upper one", "both", "neither")),
    (17, "SEED-Bench v2", "Multiple Images", ["task17/0_1.png", "task17/0_2.png"],
     "What are the differences between the two images?",
     ("The disc went left.", "The disc went.", "The disc grew.", "The disc is red now.")),
    (23, "SEED-Bench v2", "Interleaved Image", ["task23/0/1.png", "task23/0/2.png"],
     "<img>: The disc is blue. <img>:",
     ("The disc is at the left.", "There is no disc.", "The disc is blue.", "There are two.")),
    (19, "SEED-Bench v2", "Video", ["task19/0/1.png", "task19/0/2.png"],
     "What moved in the video?", ("the disc", "the frame", "both", "nothing")),
)  # fmt: skip
SUBPARTS = {
    "Single Image": "Single-Image & Text Comprehension",
    "Multiple Images": "Multiple-Images & Text Comprehension",
    "Interleaved Image": "Interleaved Image & Text Comprehension",
    "Video": "Video & Text Comprehension",
}
PLUS: tuple[tuple[str, str, Scene, str, tuple[str, ...]], ...] = (
    ("chart", "1.png", bars, "Which bar is the highest?", ("the second", "the first", "the third",
                                                           "the fourth")),
    ("chart", "2.png", two_bars, "Which bar is longer?", ("the lower", "the upper", "both",
                                                          "neither")),
    ("map", "3.png", map_of_islands, "Which island is farther north?", ("P", "Q", "N", "none")),
    ("web", "4.png", plus, "Which sum does the page show?", ("7 + 5", "5 + 7", "7 - 5", "5 - 7")),
)  # fmt: skip


def turned(choices: tuple[str, ...], number: int, letters: str) -> dict[str, str]:
    """The right one at A, B, C, D in turn."""
    position = number % 4
    order = [*choices[1 : position + 1], choices[0], *choices[position + 1 :]]
    name = {f"choice_{letter}": text for letter, text in zip(letters, order, strict=True)}
    return {"answer": "ABCD"[position], **name}


def saved(path: Path, scene: Scene) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn(scene).save(path, format="PNG")


def first() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for number, (dimension, picture, question, choices) in enumerate(FIRST):
        rows.append(
            turned(choices, number, "abcd")
            | {
                "data_id": picture,
                "data_type": "image",
                "question": question,
                "question_id": str(101 + number),
                "question_type_id": dimension,
                "segment": [],
            }
        )
    action = ("lifting a lid", "closing a lid", "throwing a lid", "painting a lid")
    rows.append(
        turned(action, 1, "abcd")
        | {
            "data_id": "7.mp4",
            "data_type": "video",
            "question": "What is the action being carried out in the video?",
            "question_id": "v7",
            "question_type_id": 10,
            "segment": [],
        }
    )
    return rows


def second() -> list[dict[str, Any]]:
    return [
        turned(choices, number, "abcd")
        | {
            "data_id": names,
            "data_source": source,
            "data_type": kind,
            "level": "L2" if dimension == 23 else "L1",
            "question": question,
            "question_id": f"{dimension}_{number}",
            "question_type_id": dimension,
            "subpart": SUBPARTS[kind],
            "version": "v1" if source == "cc3m" else "v2",
        }
        for number, (dimension, source, kind, names, question, choices) in enumerate(SECOND)
    ]


def plus_rows() -> list[dict[str, Any]]:
    return [
        turned(choices, number, "ABCD")
        | {
            "data_id": f"text_rich/{picture}",
            "question": question,
            "question_id": f"{kind}_{number}",
            "question_image_type": kind,
        }
        for number, (kind, picture, _, question, choices) in enumerate(PLUS)
    ]


def lifted() -> Iterator[Any]:
    """Draw 20 frames of a lid that is lifted from its pot."""
    for number in range(20):
        picture = Image.new("RGB", (96, 96), "white")
        draw = ImageDraw.Draw(picture)
        draw.rectangle((28, 56, 68, 84), fill="#4477aa")
        draw.rectangle((24, 50 - 2 * number, 72, 55 - 2 * number), fill="#cc6677")
        yield np.asarray(picture)


def in_cell(scene: Scene) -> str:
    with io.BytesIO() as file:
        drawn(scene).save(file, format="PNG")
        return base64.b64encode(file.getvalue()).decode()


def in_sheet(row: dict[str, Any], lenders: dict[str, str]) -> dict[str, str]:
    """A row in VLMEvalKit's form: if another row has the picture, the row has its index instead."""
    picture, index = row["data_id"], row["question_id"]
    lender = lenders.setdefault(picture, index)
    return {
        "index": index,
        "image": in_cell(SCENES[picture]) if lender == index else lender,
        "question": row["question"],
        **{letter: row[f"choice_{letter.lower()}"] for letter in "ABCD"},
        "answer": row["answer"],
        "category": NAMES[row["question_type_id"] - 1],
    }


def written(name: str, rows: list[dict[str, Any]], dimensions: dict[str, int]) -> None:
    full = {"questions": rows, "question_type": dimensions}
    (FOLDER / name).write_text(json.dumps(full, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    for name, scene in SCENES.items():
        saved(FOLDER / "SEED-Bench-image" / name, scene)
    for name, scene in (
        ("task12/0.png", two_bars),
        ("task17/0_1.png", disc),
        ("task17/0_2.png", disc_left),
        ("task23/0/1.png", disc),
        ("task23/0/2.png", disc_left),
    ):
        saved(FOLDER / "SEED-Bench-2-image" / name, scene)
    for _, picture, scene, _, _ in PLUS:
        saved(FOLDER / "text_rich" / picture, scene)
    encode.mp4(FOLDER / "7.mp4", lifted(), fps=Fraction(12))
    rows = first()
    written("SEED-Bench.json", rows, {name: n for n, name in enumerate(NAMES, 1)})
    written("SEED-Bench_v2_level1_2_3.json", second(), {})
    written("SEED-Bench-2-plus-text-rich.json", plus_rows(), {})
    lenders: dict[str, str] = {}
    shown = (in_sheet(row, lenders) for row in rows if row["data_type"] == "image")
    sheet(FOLDER / "SEEDBench_IMG.tsv", HEADER, shown)


if __name__ == "__main__":
    main()
