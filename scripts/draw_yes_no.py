"""Draw the rows bundled with POPE, MME and HallusionBench: `python scripts/draw_yes_no.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import json
from pathlib import Path

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
SIDE = 64
BLUE, RED, GREEN = "#4477aa", "#cc6677", "#228833"


def picture(path: Path, *shapes: tuple[str, str], text: str = "") -> None:
    """Draw shapes side by side, each with a form and a color, and a line of text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", (SIDE, SIDE), "white")
    draw = ImageDraw.Draw(image)
    width = SIDE // max(1, len(shapes))
    for position, (form, color) in enumerate(shapes):
        left = position * width
        box = (left + 4, 18, left + width - 4, 18 + width - 8)
        if form == "disc":
            draw.ellipse(box, fill=color)
        elif form == "square":
            draw.rectangle(box, fill=color)
        else:
            draw.polygon([(box[0], box[3]), (box[2], box[3]), (left + width // 2, 18)], fill=color)
    draw.text((4, 2), text, fill="black")
    if path.suffix == ".jpg":
        image.save(path, quality=60)
    else:
        image.save(path, optimize=True)


# -- POPE

SCENES = {
    "COCO_val2014_000000000001.jpg": (("disc", BLUE), ("square", RED)),
    "COCO_val2014_000000000002.jpg": (("triangle", GREEN), ("disc", RED)),
}
ABSENT = {
    "adversarial": (("triangle", "star"), ("square", "ring")),
    "popular": (("ring", "triangle"), ("square", "star")),
    "random": (("cross", "ring"), ("cross", "star")),
}


def pope(folder: Path) -> None:
    for name, shapes in SCENES.items():
        picture(folder / "val2014" / name, *shapes)
    (folder / "coco").mkdir(parents=True, exist_ok=True)
    for of, absent in ABSENT.items():
        rows: list[dict[str, object]] = []
        for (image, shapes), others in zip(SCENES.items(), absent, strict=True):
            for (form, _), other in zip(shapes, others, strict=True):
                for thing, label in ((form, "yes"), (other, "no")):
                    rows.append(
                        {
                            "question_id": len(rows) + 1,
                            "image": image,
                            "text": f"Is there a {thing} in the image?",
                            "label": label,
                        }
                    )
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "coco" / f"coco_pope_{of}.json").write_text(lines, encoding="utf-8")


# -- MME

Shapes = tuple[tuple[str, str], ...]
MME: tuple[tuple[str, str, Shapes, str, str, str], ...] = (
    # task, image, what it shows, its text, the question for yes, the question for no
    ("existence", "0001.jpg", (("disc", BLUE),), "",
     "Is there a disc in this image?", "Is there a star in this image?"),
    ("count", "0004.jpg", (("disc", BLUE), ("disc", RED)), "",
     "Are there two discs in the image?", "Are there three discs in the image?"),
    ("position", "0003.jpg", (("disc", BLUE), ("square", RED)), "",
     "Is the disc on the left of the square?", "Is the disc on the right of the square?"),
    ("color", "0002.jpg", (("square", GREEN),), "",
     "Is there a green square in the image?", "Is there a red square in the image?"),
    ("posters", "lamp.jpg", (("triangle", RED),), "THE LAMP",
     "Is this film called the lamp?", "Is this film called the clock?"),
    ("celebrity", "0001.jpg", (("disc", RED),), "ADA",
     "Is the disc in the picture called Ada?", "Is the disc in the picture called Bob?"),
    ("scene", "hill.jpg", (("triangle", GREEN),), "",
     "Does this image show a hill?", "Does this image show a lake?"),
    ("landmark", "tower.jpg", (("triangle", BLUE),), "TOWER",
     "Is this a picture of the tower?", "Is this a picture of the bridge?"),
    ("artwork", "square.jpg", (("square", RED),), "",
     "Is this work painted in red?", "Is this work painted in blue?"),
    ("OCR", "0001.jpg", (), "MILK",
     'Is the word in the picture "MILK"?', 'Is the word in the picture "SILK"?'),
    ("commonsense_reasoning", "0001.png", (("disc", BLUE), ("triangle", RED)), "",
     "Will the disc roll if it is pushed?", "Will the triangle roll if it is pushed?"),
    ("numerical_calculation", "0001.png", (), "7 + 5",
     "Is the sum in the image 12?", "Is the sum in the image 13?"),
    ("text_translation", "0001.png", (), "Lampe",
     "Is it right to translate the German word into English as 'lamp'?",
     "Is it right to translate the German word into English as 'soup'?"),
    ("code_reasoning", "0001.png", (), "print(3)",
     "Does the code print '3'?", "Does the code print '4'?"),
)  # fmt: skip
APART = ("posters", "celebrity", "scene", "landmark", "artwork")


def mme(folder: Path) -> None:
    tables = folder / "eval_tool" / "Your_Results"
    tables.mkdir(parents=True, exist_ok=True)
    for task, image, shapes, text, yes, no in MME:
        inside = Path("images") if task in APART else Path()
        position = folder / "MME_Benchmark_release_version" / task / inside / image
        picture(position, *shapes, text=text)
        lines = (
            f"{image}\t{question} Please answer yes or no.\t{answer}\n"
            for question, answer in ((yes, "Yes"), (no, "No"))
        )
        (tables / f"{task}.txt").write_text("".join(lines), encoding="utf-8")


# -- HallusionBench

FigureQuestion = tuple[str, str, str]
"""A question, its right answer, and this answer as a sentence."""
Figure = tuple[str, Shapes | None, tuple[FigureQuestion, ...]]
SETS_OF_FIGURES: tuple[tuple[str, str, str, tuple[Figure, ...]], ...] = (
    # category, subcategory, set; for each figure its visual_input, its shapes, what is asked
    ("VD", "illusion", "0", (
        ("1", (("disc", BLUE), ("disc", RED)), (
            ("Are the two discs of the same size?", "1", "The two discs are of the same size."),
            ("Is the right disc the larger one?", "0", "The two discs are of the same size."))),
        ("2", (("disc", BLUE),), (
            ("Are the two discs of the same size?", "0", "There is one disc alone."),
            ("Is the right disc the larger one?", "0", "There is one disc alone."))))),
    ("VD", "math", "1", (
        ("1", (("triangle", GREEN),), (
            ("Does the shape have three corners?", "1", "A triangle has three corners."),
            ("Does the shape have four corners?", "0", "A triangle has three corners."))),
        ("2", (("square", GREEN),), (
            ("Does the shape have three corners?", "0", "A square has four corners."),
            ("Does the shape have four corners?", "1", "A square has four corners."))))),
    ("VS", "chart", "0", (
        ("0", None, (
            ("Is the sun a star?", "1", "The sun is a star."),
            ("Is the sun a planet?", "0", "The sun is a star."))),
        ("1", (("disc", RED),), (
            ("Is the sun a star?", "1", "According to the figure, the sun is a star."),
            ("Is the sun a planet?", "0", "According to the figure, the sun is a star."))),
        ("2", (("square", RED),), (
            ("Is the sun a star?", "0", "According to the figure, the sun is a planet."),
            ("Is the sun a planet?", "1", "According to the figure, the sun is a planet."))))),
)  # fmt: skip


def hallusionbench(folder: Path) -> None:
    rows = []
    for category, subcategory, number, figures in SETS_OF_FIGURES:
        for figure, (visual_input, shapes, request) in enumerate(figures):
            name = f"{category}/{subcategory}/{number}_{figure}.png"
            if shapes is not None:
                message = ("", "STAR", "PLANET")[figure] if category == "VS" else ""
                picture(folder / "hallusion_bench" / name, *shapes, text=message)
            for question_id, (question, answer, details) in enumerate(request):
                rows.append(
                    {
                        "category": category,
                        "subcategory": subcategory,
                        "visual_input": visual_input,
                        "set_id": number,
                        "figure_id": str(figure),
                        "sample_note": subcategory,
                        "question_id": str(question_id),
                        "question": question,
                        "gt_answer_details": details,
                        "gt_answer": answer,
                        "filename": None if shapes is None else f"./{name}",
                    }
                )
    text = json.dumps(rows, indent=1) + "\n"
    (folder / "HallusionBench.json").write_text(text, encoding="utf-8")


def main() -> None:
    pope(ROWS / "pope")
    mme(ROWS / "mme")
    hallusionbench(ROWS / "hallusionbench")


if __name__ == "__main__":
    main()
