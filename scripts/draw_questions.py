"""Draw the rows bundled with A-OKVQA, GQA and OCR-VQA: `python scripts/draw_questions.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import base64
import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
SIDE = 96
INK, BLUE, RED, GREEN, SAND = "black", "#4477aa", "#cc6677", "#228833", "#ddcc77"

Canvas = ImageDraw.ImageDraw
Scene = Callable[[Canvas], None]


# -- scenes


def table(draw: Canvas) -> None:
    draw.rectangle((8, 56, 88, 62), fill=SAND, outline=INK)
    for x in (14, 78):
        draw.rectangle((x, 62, x + 4, 90), fill=SAND)
    draw.ellipse((18, 40, 34, 56), fill=RED)
    draw.rectangle((58, 36, 76, 56), fill=BLUE)


def street(draw: Canvas) -> None:
    draw.rectangle((0, 66, 96, 96), fill="#888888")
    draw.rectangle((16, 40, 76, 68), fill=RED)
    for x in (24, 56):
        draw.ellipse((x, 60, x + 14, 74), fill=INK)
    draw.line((88, 10, 88, 66), fill=INK, width=3)
    draw.ellipse((82, 6, 94, 18), fill=GREEN)


def beach(draw: Canvas) -> None:
    draw.rectangle((0, 0, 96, 40), fill="#99ccee")
    draw.rectangle((0, 40, 96, 60), fill=BLUE)
    draw.rectangle((0, 60, 96, 96), fill=SAND)
    draw.pieslice((28, 34, 68, 74), 180, 360, fill=RED)
    draw.line((48, 54, 48, 88), fill=INK, width=2)


def room(draw: Canvas) -> None:
    draw.rectangle((10, 10, 46, 46), outline=INK, fill="#99ccee")
    draw.line((28, 10, 28, 46), fill=INK)
    draw.rectangle((54, 52, 88, 88), fill=GREEN)
    draw.ellipse((16, 66, 40, 90), fill=SAND, outline=INK)


def drawn(scene: Scene) -> Image.Image:
    picture = Image.new("RGB", (SIDE, SIDE), "white")
    scene(ImageDraw.Draw(picture))
    return picture


# -- A-OKVQA

PHOTOS = {900017: table, 900032: street, 900058: beach, 900071: room}
# fmt: off
PHOTO_QUESTIONS: tuple[tuple[int, str, tuple[str, ...], int, str, bool], ...] = (
    # picture, question, choices, the right one's place, what people said, whether it is difficult
    (900017, "What is the table likely made of?", ("wood", "glass", "wool", "ice"), 0,
     "wood wood wood wood wood wood wood plastic pine wood", False),
    (900017, "Which meal comes on such a table in the morning?",
     ("dinner", "breakfast", "supper", "tea"), 1,
     "breakfast breakfast breakfast breakfast breakfast brunch food breakfast toast breakfast",
     False),
    (900017, "What could the red thing be?", ("apple", "car", "shoe", "book"), 0,
     "apple ball apple ball tomato apple fruit cherry plum apple", False),
    (900032, "What must the driver do at this light?", ("stop", "go", "park", "sleep"), 1,
     "go go go drive go go proceed go go go", False),
    (900032, "What makes the vehicle move?", ("engine", "sail", "horse", "oars"), 0,
     "engine motor engine fuel engine gas engine engine motor engine", False),
    (900032, "Where might it be going?", ("work", "moon", "sea", "bed"), 0,
     "work home school shop mall park airport church gym store", True),
    (900058, "What is the umbrella for?", ("shade", "rain", "wind", "show"), 0,
     "shade shade shade sun shade shade sunlight shade cover shade", False),
    (900058, "What will melt here at noon?", ("ice cream", "stone", "sand", "towel"), 0,
     "ice cream|ice cream|ice|ice cream|ice cream|butter|ice cream|ice|chocolate|ice cream", False),
    (900058, "Why do people come here?", ("to swim", "to ski", "to work", "to vote"), 0,
     "vacation swim relax fun sunbathe rest holiday play tan surf", True),
    (900071, "What season might it be outside?", ("summer", "winter", "spring", "autumn"), 0,
     "spring summer fall summer warm spring sunny autumn hot may", False),
    (900071, "What does one do on the green thing?", ("sit", "swim", "drive", "cook"), 0,
     "sit sit sit rest sit sit lounge sit sit sit", False),
    (900071, "Who lives here?", ("a family", "a fish", "a bear", "nobody"), 0,
     "family man woman people student artist owner couple tenant grandma", True),
)
# fmt: on


def a_okvqa(split: str) -> list[dict[str, Any]]:
    rows = []
    for number, (image, question, choices, right, request, difficult) in enumerate(PHOTO_QUESTIONS):
        row: dict[str, Any] = {
            "split": split,
            "image_id": image,
            "question_id": f"zzSNELLENzz{number:011d}",
            "question": question,
            "choices": [*choices[-number % 4 :], *choices[: -number % 4]],
        }
        if split != "test":
            row["correct_choice_idx"] = row["choices"].index(choices[right])
            row["direct_answers"] = request.split("|" if "|" in request else " ")
            row["rationales"] = ["One can see it."] * 3
        row["difficult_direct_answer"] = difficult
        rows.append(row)
    return rows


def write_a_okvqa(folder: Path) -> None:
    (folder / "val2017").mkdir(parents=True, exist_ok=True)
    for split in ("val", "test"):
        write_json(folder / f"aokvqa_v1p0_{split}.json", a_okvqa(split))
    for image, scene in PHOTOS.items():
        drawn(scene).save(folder / f"val2017/{image:012d}.jpg", quality=60)


# -- GQA

Steps = tuple[tuple[str, str], ...]
# fmt: off
GRAPH: tuple[tuple[str, int, str, str, str, str, str, Steps, str, bool, tuple[str, ...]], ...] = (
    # id, picture, question, answer, structural, semantic and detailed type, steps, global group,
    # whether it is balanced, what it entails
    ("020000011", 900017, "Is the apple to the left of the cup?", "yes", "verify", "rel",
     "existRelS", (("select", "cup (2)"), ("relate", "apple,to the left of,s (1)"), ("exist", "?")),
     "", True, ("020000011", "020000012")),
    ("020000012", 900017, "Is the cup to the right of the apple?", "yes", "verify", "rel",
     "existRelS", (("select", "apple (1)"), ("relate", "cup,to the right of,s (2)"),
                   ("exist", "?")), "", False, ("020000011",)),
    ("020000013", 900017, "What is to the right of the apple?", "cup", "query", "rel", "relS",
     (("select", "apple (1)"), ("relate", "_,to the right of,s (2)"), ("query", "name")),
     "dishes", True, ("020000011", "020000012")),
    ("020000014", 900017, "What color is the cup?", "blue", "query", "attr", "directOf",
     (("select", "cup (2)"), ("query", "color")), "color", True, ()),
    ("020000021", 900032, "Is the car red or blue?", "red", "choose", "attr", "chooseAttr",
     (("select", "car (3)"), ("choose color", "red|blue")), "color", True, ("020000022",)),
    ("020000022", 900032, "Is that car red?", "yes", "verify", "attr", "verifyAttrC",
     (("select", "car (3)"), ("verify color", "red")), "", False, ("020000021",)),
    ("020000023", 900032, "Are there both a car and a light in the picture?", "yes", "logical",
     "obj", "existAnd", (("select", "car (3)"), ("exist", "?"), ("select", "light (4)"),
                         ("exist", "? (4)"), ("and", "")), "", True, ()),
    ("020000024", 900032, "Do the car and the light have the same color?", "no", "compare", "attr",
     "twoSameC", (("select", "car (3)"), ("select", "light (4)"), ("same color", "")), "", True,
     ()),
    ("020000031", 900058, "Which place is it?", "beach", "query", "global", "place",
     (("select", "scene"), ("query", "place")), "place", True, ()),
    ("020000032", 900058, "What color is the umbrella?", "red", "query", "attr", "directOf",
     (("select", "umbrella (5)"), ("query", "color")), "color", True, ("020000033",)),
    ("020000033", 900058, "Is the umbrella red?", "yes", "verify", "attr", "verifyAttrC",
     (("select", "umbrella (5)"), ("verify color", "red")), "", False, ("020000032",)),
    ("020000034", 900058, "What could hang here to dry?", "t-shirt", "query", "cat",
     "categoryThat", (("select", "clothing (6)"), ("query", "name")), "clothing", True, ()),
    ("020000041", 900071, "What kind of furniture is green?", "chair", "query", "cat",
     "categoryThat", (("select", "furniture (7)"), ("filter color", "green"), ("query", "name")),
     "furniture", True, ()),
    ("020000042", 900071, "What do both the wall and the ball have in common?", "color", "compare",
     "attr", "twoCommon", (("select", "wall (8)"), ("select", "ball (9)"), ("common", "")), "",
     True, ()),
    ("020000043", 900071, "Is there a window or a door?", "yes", "logical", "obj", "existOr",
     (("select", "window (10)"), ("exist", "?"), ("select", "door (-)"), ("exist", "? (-)"),
      ("or", "")), "", True, ()),
)
# fmt: on


def gqa(name: str) -> dict[str, Any]:
    actual = {}
    for (
        key,
        image,
        question,
        answer,
        structural,
        kind,
        detailed,
        steps,
        group,
        even,
        after,
    ) in GRAPH:
        if name.endswith("_balanced") and not even:
            continue
        actual[key] = {
            "question": question,
            "imageId": f"n{image}",
            "isBalanced": even,
        }
        if name.startswith("test_"):
            continue
        actual[key] |= {
            "answer": answer,
            "fullAnswer": f"It is {answer}.",
            "groups": {"global": group or None, "local": None},
            "entailed": list(after),
            "equivalent": [key],
            "types": {"structural": structural, "semantic": kind, "detailed": detailed},
            "semantic": [
                {
                    "operation": operation,
                    "argument": argument,
                    "dependencies": [number - 1][:number],
                }
                for number, (operation, argument) in enumerate(steps)
            ],
            "semanticStr": "->".join(f"{step}: {other}" for step, other in steps),
            "annotations": {"question": {}, "answer": {}, "fullAnswer": {}},
        }
    return actual


def write_gqa(folder: Path) -> None:
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for name in ("testdev_balanced", "testdev_all", "test_balanced"):
        text = json.dumps(gqa(name), separators=(",", ":")).replace('},"0', '},\n"0')
        (folder / f"{name}_questions.json").write_text(text + "\n", encoding="utf-8")
    for image, scene in PHOTOS.items():
        drawn(scene).save(folder / f"images/n{image}.jpg", quality=60)


# -- OCR-VQA

YEAR = "What is the year printed on this calendar?"
# fmt: off
BOOKS: tuple[tuple[str, str, str, str, int, tuple[tuple[str, str], ...]], ...] = (
    # id, title, author, genre, split, questions that not all books have, with their answers
    ("0000000017", "The Red Tent", "Ada Stone", "Travel", 3, (("Is this a sci-fi book?", "No"),)),
    ("0000000029", "Stars at Noon", "Bo Lind", "Science & Math", 3,
     (("Is this book related to Science & Math?", "Yes"),)),
    ("0000000031", "Cats 2031", "Eve Marsh", "Calendars", 3, ((YEAR, "2031"),)),
    ("0000000043", "[sic]", "Ida Roe", "Reference", 3,
     (("Is this book related to Reference?", "Yes"),)),
    ("0000000058", "Soup Today", "Tom Hale", "Cookbooks, Food & Wine", 2, ()),
)
# fmt: on


def cover(title: str, author: str) -> Image.Image:
    picture = Image.new("RGB", (SIDE, 128), SAND)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((6, 6, 89, 121), outline=INK)
    draw.text((12, 28), title, fill=INK)
    draw.text((12, 96), author, fill=BLUE)
    return picture


def answers_about(
    book: tuple[str, str, str, str, int, tuple[tuple[str, str], ...]],
) -> dict[str, str]:
    _, title, author, genre, _, others = book
    return {
        "Who wrote this book?": author,
        "What is the title of this book?": title,
        "What is the genre of this book?": genre,
        **dict(others),
    }


def write_ocr_vqa(folder: Path) -> None:
    (folder / "images").mkdir(parents=True, exist_ok=True)
    actual: dict[str, Any] = {}
    rows: list[tuple[str, ...]] = []
    for book in BOOKS:
        name, title, author, genre, split, _ = book
        request = answers_about(book)
        actual[name] = {
            "imageURL": f"http://example.org/I/{name}.jpg",
            "questions": list(request),
            "answers": list(request.values()),
            "title": title,
            "authorName": author,
            "genre": genre,
            "split": split,
        }
        picture = cover(title, author)
        picture.save(folder / f"images/{name}.jpg", quality=60)
        if split == 3:
            with io.BytesIO() as file:
                picture.save(file, format="JPEG", quality=40)
                cell = base64.b64encode(file.getvalue()).decode()
            first = str(len(rows))
            for question, answer in list(request.items())[:2]:
                # A row whose picture is already in another row has that row's index instead.
                shown = cell if str(len(rows)) == first else first
                rows.append((shown, question, answer, genre))
    write_json(folder / "dataset.json", actual)
    with (folder / "OCRVQA_TESTCORE.tsv").open("w", encoding="utf-8", newline="") as sheet:
        writer = csv.writer(sheet, delimiter="\t", lineterminator="\n")
        writer.writerow(("index", "image", "question", "answer", "category"))
        writer.writerows((number, *row) for number, row in enumerate(rows))


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    write_a_okvqa(ROWS / "a_okvqa")
    write_gqa(ROWS / "gqa")
    write_ocr_vqa(ROWS / "ocr_vqa")


if __name__ == "__main__":
    main()
