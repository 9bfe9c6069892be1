"""Draw the rows that are bundled with TableVQA-Bench, M4U, MTVQA, and VLMs are blind:
`python scripts/draw_tables.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import base64
import csv
import io
import json
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
INK, BLUE, RED, GREEN = "black", "#4477aa", "#cc6677", "#228833"

Table = tuple[tuple[str, ...], ...]

# -- TableVQA-Bench

HARBORS: Table = (
    ("Harbor", "Country", "Boats", "Opened"),
    ("Vik", "Norway", "12", "1931"),
    ("Hals", "Denmark", "7", "1950"),
    ("Moss", "Norway", "31", "1931"),
)
ACCOUNTS: Table = (
    ("In millions", "2004", "2005"),
    ("Revenue", "$3.2", "$4.1"),
    ("Margin", "12.5%", "14%"),
    ("Vessels", "1,250", "1,400"),
)
TABLES = {"harbors": HARBORS, "accounts": ACCOUNTS}
TABLE_QUESTIONS: dict[str, tuple[tuple[str, str, str | int], ...]] = {
    # The table, the question, and the answer. Several answers have "|" between them.
    "vwtq": (
        ("harbors", "how many boats are in moss?", "31"),
        ("harbors", "which harbors are in norway?", "Vik|Moss"),
        ("harbors", "which harbor has the fewest boats?", "Hals"),
    ),
    "vwtq_syn": (
        ("harbors", "when was hals opened?", "1950"),
        ("harbors", "which country has a single harbor?", "Denmark"),
        ("accounts", "how many vessels were there in 2004?", "1,250"),
    ),
    "vtabfact": (
        ("harbors", "vik have more boat than hals", 1),
        ("harbors", "all harbor open in 1931", 0),
        ("accounts", "the margin grow from 2004 to 2005", 1),
    ),
    "fintabnetqa": (
        ("accounts", "What was the revenue in 2004?", "$3.2 million"),
        ("accounts", "What was the margin in 2004?", "12.5%"),
        ("accounts", "Which item was 1,400 in 2005?", "Vessels"),
    ),
}


def table(path: Path, cells: Table) -> None:
    """Draw a table with a line below its head."""
    page = Image.new("1", (64 * len(cells[0]) + 16, 18 * len(cells) + 12), 1)
    draw = ImageDraw.Draw(page)
    for row, texts in enumerate(cells):
        for column, text in enumerate(texts):
            draw.text((8 + 64 * column, 6 + 18 * row), text, fill=0)
    draw.line((4, 22, page.width - 4, 22), fill=0)
    saved(page, path)


def tablevqa_bench(folder: Path) -> None:
    for name, cells in TABLES.items():
        table(folder / "images" / f"{name}.png", cells)
    for part, questions in TABLE_QUESTIONS.items():
        rows = [
            {"qa_id": f"s-{number}", "question": question, "gt": answer}
            | {"image": f"images/{name}.png"}
            for number, (name, question, answer) in enumerate(questions, 1)
        ]
        as_json(folder / f"{part}.json", rows)


# -- M4U

Wording = tuple[str, tuple[str, ...], str]
"""A question, its choices, and its discipline."""
FIELD_QUESTIONS: dict[str, tuple[tuple[str, str, dict[str, Wording]], ...]] = {
    # The subfield, the right letter, and the wording in each language.
    "science": (
        (
            "mathematics",
            "B",
            {
                "en": ("<image_1> How many sides?", ("two", "three", "four", "five"), "Geometry"),
                "zh": ("<image_1>图中的图形有几条边？", ("二", "三", "四", "五"), "几何"),
                "de": (
                    "<image_1> Wie viele Seiten?",
                    ("zwei", "drei", "vier", "fünf"),
                    "Geometrie",
                ),
            },
        ),
        (
            "physics",
            "A",
            {
                "en": ("Which disc is red?", ("<image_1>", "<image_2>"), "Optical"),
                "zh": ("哪个圆盘是红色的？", ("<image_1>", "<image_2>"), "光学"),
                "de": ("Welche Scheibe ist rot?", ("<image_1>", "<image_2>"), "Optisch"),
            },
        ),
    ),
    "engineering": (
        (
            "computer science",
            "D",
            {
                "en": ("<image_1> What follows?", ("5", "6", "7", "8"), "Data Structures"),
                "zh": ("<image_1>下一个数是多少？", ("5", "6", "7", "8"), "数据结构"),
                "de": ("<image_1> Was folgt?", ("5", "6", "7", "8"), "Datenstrukturen"),
            },
        ),
        (
            "mechanics",
            "B",
            {
                "en": ("<image_1> Which side sinks?", ("left", "right", "none"), "Mechanics"),
                "zh": ("<image_1>哪一边下沉？", ("左边", "右边", "都不"), "力学"),
                "de": ("<image_1> Welche Seite sinkt?", ("links", "rechts", "keine"), "Mechanik"),
            },
        ),
    ),
    "healthcare": (
        (
            "clinical medicine",
            "A",
            {
                "en": ("<image_1> Which organ?", ("heart", "lung", "liver", "skin"), "Cardiology"),
                "zh": ("<image_1>这是什么器官？", ("心", "肺", "肝", "皮肤"), "心脏病学"),
                "de": (
                    "<image_1> Welches Organ?",
                    ("Herz", "Lunge", "Leber", "Haut"),
                    "Kardiologie",
                ),
            },
        ),
        (
            "pharmacy",
            "C",
            {
                "en": ("<image_1> How many pills?", ("1", "2", "3", "4"), "Pharmacology"),
                "zh": ("<image_1>图中有几片药？", ("1", "2", "3", "4"), "药理学"),
                "de": ("<image_1> Wie viele Tabletten?", ("1", "2", "3", "4"), "Pharmakologie"),
            },
        ),
    ),
}
PICTURES = {
    "science": (("triangle",), ("red", "blue")),
    "engineering": (("numbers",), ("scales",)),
    "healthcare": (("heart",), ("pills",)),
}


def scene(name: str) -> Image.Image:
    picture = Image.new("RGB", (72, 56), "white")
    draw = ImageDraw.Draw(picture)
    match name:
        case "triangle":
            draw.polygon((8, 48, 64, 48, 36, 8), outline=INK)
        case "red" | "blue":
            draw.ellipse((16, 8, 56, 48), fill=RED if name == "red" else BLUE)
        case "numbers":
            draw.text((8, 22), "2  4  6  ?", fill=INK)
        case "scales":
            draw.line((8, 20, 64, 36), fill=INK, width=2)
            draw.rectangle((54, 20, 66, 32), fill=GREEN)
        case "heart":
            for left in (16, 34):
                draw.ellipse((left, 10, left + 20, 30), fill=RED)
            draw.polygon((17, 24, 53, 24, 35, 50), fill=RED)
        case "pills":
            for left in (6, 28, 50):
                draw.ellipse((left, 22, left + 16, 34), outline=INK)
    return picture


def m4u(folder: Path) -> None:
    for names in PICTURES.values():
        for name in (picture for group in names for picture in group):
            saved(scene(name), folder / "images" / f"{name}.png")
    for field, questions in FIELD_QUESTIONS.items():
        for language in ("en", "zh", "de"):
            rows: list[dict[str, Any]] = []
            for names, (subfield, answer, wording) in zip(PICTURES[field], questions, strict=True):
                question, options, discipline = wording[language]
                rows.append(
                    {
                        "image_type": ["diagrams"] * len(names),
                        "image_files": [f"images/{name}.png" for name in names],
                        "question": question,
                        "options": list(options),
                        "answer": answer,
                        "discipline": discipline,
                        "subfield": subfield,
                        "field": field,
                        "answer_index": "ABCD".index(answer),
                        "language": language,
                        "cross_lingual": False,
                    }
                )
            as_json(folder / f"{field}_{language}.json", rows)


# -- VLMs are blind

Shapes = tuple[tuple[str, tuple[int, ...]], ...]
"""The kind of each shape, and its coordinates."""


def rings(*lefts: int) -> Shapes:
    return tuple(("ellipse", (left, 8, left + 20, 28)) for left in lefts)


def pentagons(*lefts: int) -> Shapes:
    corners = (10, 4, 20, 12, 16, 24, 4, 24, 0, 12)
    return tuple(
        ("polygon", tuple(x + (left if n % 2 == 0 else 6) for n, x in enumerate(corners)))
        for left in lefts
    )


def grid(rows: int, columns: int) -> Shapes:
    lines = [("line", (4, 4 + 8 * row, 4 + 12 * columns, 4 + 8 * row)) for row in range(rows + 1)]
    lines += [("line", (4 + 12 * n, 4, 4 + 12 * n, 4 + 8 * rows)) for n in range(columns + 1)]
    return tuple(lines)


IN_BRACES = "Answer with a number in curly brackets, e.g., {5}."
BLIND: tuple[tuple[str, Shapes, str, str], ...] = (
    ("Circled Letter", (("text", (12, 12)), ("ellipse", (22, 8, 34, 26))),
     "Which letter has a ring? Answer in curly brackets, e.g., {x}.", "o"),
    ("Counting Grid - Blank Grids", grid(3, 4), "How many rows and columns? E.g., (5,6).", "3,4"),
    ("Counting Grid - Word Grids", grid(2, 5), "Count rows and columns. E.g., (5,6).", "2,5"),
    ("Line Plot Intersections", (("line", (4, 4, 60, 30)), ("line", (4, 30, 60, 4))),
     f"How often do the lines meet? {IN_BRACES}", "1"),
    ("Nested Squares", tuple(("rectangle", (n, n, 36 - n, 36 - n)) for n in (2, 8, 14)),
     f"How many squares? {IN_BRACES}", "3"),
    ("Olympic Counting - Circles", rings(2, 14, 26, 38), f"How many circles? {IN_BRACES}", "4"),
    ("Olympic Counting - Pentagons", pentagons(2, 16, 30), f"How many shapes? {IN_BRACES}", "3"),
    ("Subway Connections", (("line", (6, 8, 58, 8)), ("line", (6, 26, 58, 26))),
     f"How many paths go from left to right? {IN_BRACES}", "2"),
    ("Touching Circles", rings(2, 40), "Do the circles touch? Answer with Yes/No.", "No"),
    ("Touching Circles", rings(2, 18), "Do the circles overlap? Answer with Yes/No.", "Yes"),
)  # fmt: skip


def vlms_are_blind(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "VLMBlind.tsv").open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file, delimiter="\t", lineterminator="\n")
        sheet.writerow(("index", "image", "question", "answers", "task"))
        for index, (task, shapes, question, answer) in enumerate(BLIND):
            page = Image.new("1", (66, 38), 1)
            draw = ImageDraw.Draw(page)
            for kind, box in shapes:
                if kind == "text":
                    draw.text(box, "pool", fill=0)
                elif kind == "line":
                    draw.line(box, fill=0)
                else:
                    getattr(draw, kind)(box, outline=0)
            sheet.writerow((index, encoded(page), question, answer, task))


def encoded(page: Image.Image) -> str:
    buffer = io.BytesIO()
    page.save(buffer, format="PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()


# -- MTVQA

SIGNS = (
    # The language, the text on the sign, the question, and the answer.
    ("AR", "7", "ما هو الرقم؟", "7"),
    ("DE", "Hafen", "Was steht auf dem Schild?", "Hafen"),
    ("FR", "Port", "Qu'est-ce qui est écrit?", "Port"),
    ("FR", "2.50", "Quel est le prix?", "2.50"),
    ("IT", "Porto", "Cosa c'è scritto?", "Porto"),
    ("JA", "12", "数字は何ですか？", "12"),
    ("KO", "31", "숫자는 무엇입니까?", "31"),
    ("RU", "MAMA", "Что написано?", "MAMA"),
    ("TH", "45", "ตัวเลขอะไร?", "45"),
    ("VI", "Cam", "Chữ gì trên biển?", "Cam"),
)


def mtvqa(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "MTVQA_TEST.tsv").open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file, delimiter="\t", lineterminator="\n")
        sheet.writerow(("index", "image", "question", "answer", "category", "split"))
        for index, (language, text, question, answer) in enumerate(SIGNS):
            page = Image.new("1", (64, 28), 1)
            draw = ImageDraw.Draw(page)
            draw.rectangle((1, 1, 62, 26), outline=0)
            draw.text((8, 8), text, fill=0)
            sheet.writerow((index, encoded(page), question, answer, language, "test"))


def saved(picture: Image.Image, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.convert("P").save(path, optimize=True)


def as_json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    tablevqa_bench(ROWS / "tablevqa_bench")
    m4u(ROWS / "m4u")
    mtvqa(ROWS / "mtvqa")
    vlms_are_blind(ROWS / "vlms_are_blind")
