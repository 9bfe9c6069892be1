"""Draw the rows that are bundled with VQAv2, OK-VQA and TextVQA: `python scripts/draw_vqa.py`.

The questions, answers, and pictures are our own; only their format is that of the data sets.
"""

import json
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
INK, SKY, GRASS = "black", "#cce6ff", "#77aa66"
Answers = tuple[tuple[str, int], ...]
"""Answers, each with the number of people, of ten, who gave it."""


# -- pictures


def scene(number: int) -> Image.Image:
    """Draw the picture with this number."""
    picture = Image.new("RGB", (96, 64), SKY)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 48, 96, 64), fill=GRASS)
    match number:
        case 9 | 70:  # a bus
            draw.rectangle((16, 18, 80, 46), fill="#cc3344" if number == 9 else "#ddaa33")
            for left in (22, 40, 58):
                draw.rectangle((left, 23, left + 13, 33), fill="white")
            for left in (24, 60):
                draw.ellipse((left, 40, left + 12, 52), fill=INK)
        case 25:  # two balls
            draw.ellipse((20, 24, 52, 56), fill="#ee8833")
            draw.ellipse((60, 44, 72, 56), fill="white")
        case 30:  # a sign
            draw.line((48, 40, 48, 60), fill=INK, width=3)
            draw.regular_polygon((48, 26, 22), 8, rotation=22, fill="#cc3344")
            draw.text((36, 20), "STOP", fill="white")
        case 42:  # three birds
            for left, top in ((14, 12), (42, 24), (68, 10)):
                draw.arc((left, top, left + 12, top + 10), 180, 360, fill=INK, width=2)
                draw.arc((left + 11, top, left + 23, top + 10), 180, 360, fill=INK, width=2)
        case 61:  # a clock
            draw.ellipse((24, 4, 72, 52), fill="white", outline=INK, width=2)
            draw.line((48, 28, 34, 19), fill=INK, width=3)
            draw.line((48, 28, 66, 18), fill=INK, width=2)
    return picture


def lettering(*lines: str, paper: str = "white") -> Image.Image:
    picture = Image.new("RGB", (112, 64), paper)
    draw = ImageDraw.Draw(picture)
    for position, line in enumerate(lines):
        draw.text((10, 10 + 16 * position), line, fill=INK)
    return picture


def saved(picture: Image.Image, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, format="JPEG", quality=50)


# -- VQAv2

VQA: tuple[tuple[int, str, str, str, Answers], ...] = (
    # question, its type, the answers' type
    (9000, "What color is the bus?", "what color is the", "other", (("red", 10),)),
    (9001, "Is the bus moving?", "is the", "yes/no", (("no", 8), ("yes", 2))),
    (9002, "How many wheels can you see?", "how many", "number", (("two", 10),)),
    (25000, "How many balls are there?", "how many", "number",
     (("2", 6), ("two", 3), ("3", 1))),
    (25001, "Are the balls the same color?", "are the", "yes/no", (("no", 5), ("yes", 5))),
    (25002, "What are the balls lying on?", "what are the", "other",
     (("the grass", 3), ("grass", 2), ("lawn", 2), ("green", 1), ("ground", 1), ("field", 1))),
    (30000, "What does the sign say?", "what does the", "other", (("stop", 8), ("the", 2))),
    (30001, "What shape is the sign?", "what", "other",
     (("octagon", 3), ("circle", 1), ("round", 1), ("hexagon", 1), ("8 sided", 1), ("flat", 1),
      ("polygon", 1), ("stop sign", 1))),
    (30002, "Is it a stop sign?", "is it", "yes/no", (("yes", 10),)),
    (42000, "How many birds are flying?", "how many", "number", (("3", 9), ("three", 1))),
    (61000, "What time is it?", "what time", "other",
     (("10:10", 4), ("10:10.", 3), ("ten ten", 3))),
    (61001, "Is the clock round?", "is the", "yes/no", (("yes", 7), ("yeah", 3))),
)  # fmt: skip
VQA_TEST = (
    (70000, "What color is the bus?"),
    (70001, "Is the bus moving?"),
    (70002, "How many windows does the bus have?"),
)


def about(subset: str, **more: Any) -> dict[str, Any]:
    return {
        "info": {"description": "Drawn for Snellen in the form of VQA's files.", "version": "2.0"},
        "task_type": "Open-Ended",
        "data_type": "mscoco",
        "license": {"name": "Apache License 2.0"},
        "data_subtype": subset,
        **more,
    }


def question_row(number: int, question: str, of: int = 1000) -> dict[str, Any]:
    return {"image_id": number // of, "question": question, "question_id": number}


def ten(answers: Answers) -> list[str]:
    actual = [text for text, times in answers for _ in range(times)]
    assert len(actual) == 10, answers
    return actual


def vqav2(folder: Path) -> None:
    for number in (9, 25, 30, 42, 61):
        saved(scene(number), folder / f"val2014/COCO_val2014_{number:012d}.jpg")
    saved(scene(70), folder / f"test2015/COCO_test2015_{70:012d}.jpg")
    written(
        folder / "v2_OpenEnded_mscoco_val2014_questions.json",
        about(
            "val2014", questions=[question_row(number, question) for number, question, *_ in VQA]
        ),
    )
    annotations = [
        {
            "question_type": question_type,
            "multiple_choice_answer": answers[0][0],
            "answers": [
                {"answer": text, "answer_confidence": "yes", "answer_id": position}
                for position, text in enumerate(ten(answers), 1)
            ],
            "image_id": number // 1000,
            "answer_type": answer_type,
            "question_id": number,
        }
        for number, _, question_type, answer_type, answers in VQA
    ]
    written(
        folder / "v2_mscoco_val2014_annotations.json", about("val2014", annotations=annotations)
    )
    for subset, rows in (("test-dev2015", VQA_TEST[:2]), ("test2015", VQA_TEST)):
        written(
            folder / f"v2_OpenEnded_mscoco_{subset}_questions.json",
            about(subset, questions=[question_row(*row) for row in rows]),
        )


# -- OK-VQA

OK: tuple[tuple[int, str, str, Answers], ...] = (
    # question, its category of knowledge
    (95, "What fuel does this vehicle use?", "one", (("diesel", 6), ("gas", 4))),
    (96, "What are its wheels made of?", "three", (("rubber", 10),)),
    (255, "Which game is played with the smaller ball?", "four",
     (("golf", 4), ("tennis", 4), ("ping pong", 2))),
    (256, "Which fruit has the color of the larger ball?", "five",
     (("orange", 8), ("an orange", 2))),
    (305, "In which language is the sign?", "six", (("english", 10),)),
    (306, "What must a driver do here?", "seven", (("stop", 8), ("wait", 2))),
    (425, "Where do these animals go in winter?", "eight",
     (("south", 4), ("the south", 2), ("africa", 4))),
    (426, "What sort of weather is this?", "ten",
     (("sunny", 2), ("clear", 2), ("warm", 2), ("fair", 2), ("nice", 2))),
    (615, "What force keeps its pendulum swinging?", "nine", (("gravity", 10),)),
    (616, "Which company could have made it?", "two", (("seiko", 6), ("casio", 4))),
    (617, "What is this used for?", "other", (("time", 6), ("telling time", 4))),
)  # fmt: skip
CATEGORIES = {
    "eight": "Plants and Animals",
    "nine": "Science and Technology",
    "four": "Sports and Recreation",
    "six": "Geography, History, Language and Culture",
    "two": "Brands, Companies and Products",
    "other": "Other",
    "one": "Vehicles and Transportation",
    "five": "Cooking and Food",
    "ten": "Weather and Climate",
    "seven": "People and Everyday life",
    "three": "Objects, Material and Clothing",
}


def ok_vqa(folder: Path) -> None:
    for number in (9, 25, 30, 42, 61):
        saved(scene(number), folder / f"val2014/COCO_val2014_{number:012d}.jpg")
    written(
        folder / "OpenEnded_mscoco_val2014_questions.json",
        about(
            "val2014", questions=[question_row(number, question, 10) for number, question, *_ in OK]
        ),
    )
    annotations = [
        {
            "image_id": number // 10,
            "answer_type": "other",
            "question_type": category,
            "question_id": number,
            "confidence": 3,
            "answers": [
                {
                    "answer_id": position,
                    "raw_answer": text,
                    "answer_confidence": "yes",
                    "answer": text,
                }
                for position, text in enumerate(ten(answers), 1)
            ],
        }
        for number, _, category, answers in OK
    ]
    written(
        folder / "mscoco_val2014_annotations.json",
        about("val2014", question_types=CATEGORIES, annotations=annotations),
    )


# -- TextVQA

SIGNS = {
    "00aa11bb22cc33dd": ("STOP", "24 HOURS OPEN"),
    "0123456789abcdef": ("Cafe Luna", "bus 3"),
    "fedcba9876543210": ("EXIT",),
}
SEEN = {"00aa11bb22cc33dd": ["STOP", "24", "HOURS", "OPEN"], "0123456789abcdef": []}
TEXT: tuple[tuple[str, str, Answers], ...] = (
    ("00aa11bb22cc33dd", "what does the sign say?", (("stop", 8), ("STOP", 2))),
    ("00aa11bb22cc33dd", "is the shop open?", (("yes", 9), ("no", 1))),
    ("00aa11bb22cc33dd", "how many hours is it open?", (("24", 6), ("24 hours", 4))),
    ("00aa11bb22cc33dd", "does the door say pull?", (("no", 10),)),
    ("0123456789abcdef", "what is the name of the cafe?", (("cafe luna", 5), ("luna", 5))),
    ("0123456789abcdef", "whose cafe is this?",
     (("luna's", 3), ("luna", 3), ("unknown", 2), ("cafe", 1), ("mine", 1))),
    ("0123456789abcdef", "what number is on the bus?", (("3", 8), ("3.", 2))),
    ("0123456789abcdef", "who drives the bus?", (("unanswerable", 8), ("a", 2))),
)  # fmt: skip
TEXT_TEST = (
    ("fedcba9876543210", "what does the sign say?", ()),
    ("fedcba9876543210", "where does the door lead?", ()),
)


def textvqa(folder: Path) -> None:
    for name, lines in SIGNS.items():
        split = "test" if name.startswith("f") else "train"
        saved(lettering(*lines), folder / f"{split}_images/{name}.jpg")
    for split, rows, first in (("val", TEXT, 34602), ("test", TEXT_TEST, 39602)):
        data = [
            {
                "question": question,
                "image_id": name,
                "image_classes": ["Sign"],
                "flickr_original_url": "",
                "flickr_300k_url": "",
                "image_width": 112,
                "image_height": 64,
                "question_tokens": question.rstrip("?").split(),
                "question_id": number,
                **({"answers": ten(answers)} if answers else {}),
                "set_name": split,
            }
            for number, (name, question, answers) in enumerate(rows, first)
        ]
        about_it = {"dataset_type": split, "dataset_name": "textvqa", "dataset_version": "0.5.1"}
        written(folder / f"TextVQA_0.5.1_{split}.json", {**about_it, "data": data})
    seen = [
        {"image_id": name, "ocr_tokens": tokens, "ocr_info": []} for name, tokens in SEEN.items()
    ]
    written(folder / "TextVQA_Rosetta_OCR_v0.2_val.json", {"dataset_type": "val", "data": seen})


def written(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    vqav2(ROWS / "vqav2")
    ok_vqa(ROWS / "ok_vqa")
    textvqa(ROWS / "textvqa")
