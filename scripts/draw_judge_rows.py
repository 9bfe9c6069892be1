"""Draw the rows that are bundled with the benchmarks of `BENCHMARKS`:
`python scripts/draw_judge_rows.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import json
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from draw_judged import (
    BLUE,
    GREEN,
    INK,
    RED,
    SAND,
    Canvas,
    bars,
    dice,
    drawn,
    equations,
    moon,
    plot,
    prices,
    redraw,
    ruler,
    shapes,
    sign,
    table,
    triangle,
)

# -- Vibe-Eval: scene, difficulty, prompt, reference

REQUESTS = (
    (prices, "normal", "What do a tea and a cake cost together?", "They cost 6.50 together."),
    (shapes, "normal", "List the shapes from left to right.", "A disc, a square, and a triangle."),
    (sign, "normal", "Where does this lead?", "It leads to the way out on level B2."),
    (moon, "normal", "Write a line about this sky.", "A pale crescent waits in a dark blue sky."),
    (bars, "hard", "Who has the most, and by how much?", "Bo has 6, which is 2 more than Ada."),
    (dice, "hard", "What is the product of the two rolls?", "The rolls are 1 and 3, so it is 3."),
    (ruler, "hard", "Is the bar longer than 3 units?", "No. The bar is 2.5 units long."),
    (plot, "hard", "In which year does the line turn down?", "It turns down after year 03."),
)


def vibe_eval(folder: Path) -> None:
    lines = []
    for number, (scene, level, prompt, reference) in enumerate(REQUESTS):
        name = f"difficulty-{level}_made{number}.png"
        drawn(scene, folder / "images" / name)
        row = {
            "example_id": f"vibe-eval/difficulty-{level}/made{number}",
            "category": f"difficulty-{level}",
            "prompt": prompt,
            "reference": reference,
            "media_filename": name,
            "media_url": f"https://example.org/{name}",
        }
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    (folder / "vibe-eval.v1.jsonl").write_text("".join(lines), encoding="utf-8")


# -- SimpleVQA: scene, question, answer

FACTS = (
    (moon, "图中的天体叫什么名字？", "月球"),
    (shapes, "图中最左边的图形叫什么？", "圆"),
    (equations, "图中第一个方程的解是多少？", "4"),
    (prices, "图中哪种食品的价格是4.00？", "蛋糕"),
    (moon, "Which planet does the body in this picture orbit?", "Earth"),
    (triangle, "After whom is the theorem on this triangle named?", "Pythagoras"),
    (dice, "How many pips are there on all faces of one of these objects?", "21"),
    (sign, "What is the opposite of the word on this sign?", "Entrance"),
)


def simplevqa(folder: Path) -> None:
    write_sheet(folder / "SimpleVQA.tsv", ("index", "image", "question", "answer"), FACTS)


# -- CharXiv


def lines(draw: Canvas) -> None:
    axes(draw, "t", "loss")
    draw.line(((14, 20), (108, 70)), fill=RED, width=2)
    draw.line(((14, 70), (108, 30)), fill=BLUE, width=2)
    draw.text((70, 4), "A  B", fill=INK)


def dots(draw: Canvas) -> None:
    axes(draw, "dose", "gain")
    for x, y in ((24, 66), (40, 52), (58, 44), (80, 30), (100, 18)):
        draw.ellipse((x - 2, y - 2, x + 2, y + 2), fill=GREEN)


def panels(draw: Canvas) -> None:
    for left, heights in ((6, (20, 40)), (66, (50, 30))):
        draw.rectangle((left, 16, left + 48, 78), outline=INK)
        draw.text((left + 4, 4), "(a)" if left == 6 else "(b)", fill=INK)
        for number, height in enumerate(heights):
            x = left + 6 + 22 * number
            draw.rectangle((x, 78 - height, x + 14, 78), fill=SAND)


def axes(draw: Canvas, x: str, y: str) -> None:
    draw.line((14, 78, 112, 78), fill=INK)
    draw.line((14, 78, 14, 8), fill=INK)
    for tick in range(3):
        draw.text((12 + 44 * tick, 78), str(5 * tick), fill=INK)
    draw.text((56, 80), x, fill=INK)
    draw.text((18, 4), y, fill=INK)


NONE = "Not Applicable"
FIGURES = (
    # scene, subplots, location, subject, year, (template, answer)..., reasoning
    (lines, 1, [0, 0], "cs", "20", ((2, "t"), (4, "0"), (10, "2"), (11, "Yes")),
     ("Which line falls?", "A", 1, 1)),
    (dots, 1, [0, 0], "q-bio", "21", ((3, "gain"), (4, "0"), (16, "increases"), (12, NONE)),
     ("Does the gain rise or fall with the dose?", "rise", 2, 2)),
    (panels, 2, [1, 2], "econ", "22", ((18, "1 by 2"), (4, NONE), (1, "(b)"), (19, "2")),
     ("In which panel is the first bar higher than the second?", "(b)", 1, 3)),
    (bars, 1, [0, 0], "stat", "23", ((1, NONE), (4, "Ada"), (9, NONE), (17, "3")),
     ("What number is on the highest bar?", "6", 3, 3)),
    (plot, 1, "the red line", "physics", "22", ((5, "04"), (4, "01"), (16, "up, then down"),
     (7, NONE)), ("How many segments does the line have?", "3", 4, 2)),
    (table, 6, [2, 3], "math", "20", ((13, "pear, plum"), (4, NONE), (14, NONE),
     (15, NONE)), ("By how many dollars do the prices differ?", "0.45", 4, 1)),
)  # fmt: skip


def charxiv(folder: Path) -> None:
    reasoning, descriptive, metadata = {}, {}, {}
    for number, figure in enumerate(FIGURES):
        scene, subplots, location, subject, year, templates, question = figure
        drawn(scene, folder / "images" / f"{number}.jpg")
        query, answer, kind, source = question
        reasoning[str(number)] = {
            "figure_id": number,
            "query": query,
            "answer": answer,
            "inst_category": kind,
            "qa_source": source,
        }
        descriptive[str(number)] = {
            "figure_id": number,
            "num_subplots": subplots,
            "subplot_loc": location,
            "qids": [template for template, _ in templates],
            "answers": [answer for _, answer in templates],
        }
        metadata[str(number)] = {"category": subject, "year": year, "title": "drawn"}
    names = {"reasoning": reasoning, "descriptive": descriptive, "image_metadata": metadata}
    for name, content in names.items():
        text = json.dumps(content, indent=4) + "\n"
        (folder / "data").mkdir(exist_ok=True)
        (folder / "data" / f"{name}_val.json").write_text(text, encoding="utf-8")


# -- WorldVQA: scene, question, answer, language, category, difficulty

NAMES = (
    (moon, "图中的天体是什么？", "月球", "zh", "Nature", "easy"),
    (dice, "图中是什么游戏用具？", "骰子", "zh", "Objects", "easy"),
    (triangle, "图中的图形叫什么？", "直角三角形", "zh", "Science", "medium"),
    (moon, "What is the name of this celestial body?", "the Moon", "en", "Nature", "easy"),
    (ruler, "What is this instrument called?", "a ruler", "en", "Objects", "medium"),
    (shapes, "What is the shape on the right called?", "a triangle", "en", "Science", "easy"),
    (sign, "What kind of sign is this?", "an exit sign", "en", "Objects", "hard"),
    (plot, "What is this kind of picture called?", "a line chart", "en", "Science", "hard"),
)


def worldvqa(folder: Path) -> None:
    header = ("index", "image", "question", "answer", "language", "category", "difficulty")
    write_sheet(folder / "WorldVQA.tsv", header, NAMES)


def write_sheet(path: Path, header: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Write a TSV file with a picture in each row, whose first field is its scene."""
    lines = [header]
    for number, (scene, *fields) in enumerate(rows):
        picture = path.with_suffix(".png")
        drawn(scene, picture)
        lines.append((str(number), b64encode(picture.read_bytes()).decode(), *fields))
        picture.unlink()
    text = "".join("\t".join(line) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


# -- BabyVision: scene, type, subtype, question, choices, answer

TASKS = (
    (shapes, 0, "Find the different", "Which has no corner?", ("disc", "square", "triangle"), 0),
    (dice, 0, "Find the same", "Do both dice show the same side?", ("yes", "no"), 1),
    (lines, 1, "Lines", "At which side is line B higher?", ("left", "right"), 1),
    (plot, 1, "Lines", "How many segments does the line have?", (), "3"),
    (bars, 2, "Count", "How many bars are lower than the highest one?", (), "2"),
    (panels, 2, "Count", "How many bars are in both panels?", (), "4"),
    (dots, 3, "Pattern", "Does the next dot go up or down?", ("up", "down"), 0),
    (moon, 3, "Pattern", "Which part of the disc is hidden? (left or right)", (), "right"),
)
TYPES = (
    *("Fine-grained Discrimination", "Visual Tracking", "Spatial Perception"),
    "Visual Pattern Recognition",
)


def babyvision(folder: Path) -> None:
    rows = []
    for number, (scene, kind, subtype, question, choices, answer) in enumerate(TASKS):
        name = f"images/{number}.png"
        drawn(scene, folder / "babyvision_data" / name)
        row = {
            "taskId": number,
            "image": name,
            "type": TYPES[kind],
            "subtype": subtype,
            "question": question,
            "ansType": "choice" if choices else "blank",
            "options": list(choices),
            "choiceAns": answer if choices else None,
            "blankAns": None if choices else answer,
        }
        rows.append(json.dumps(row) + "\n")
    (folder / "babyvision_data" / "meta_data.jsonl").write_text("".join(rows), encoding="utf-8")


# -- MM-MT-Bench: scene, category, (question, reference answer)...

CONVERSATIONS = (
    (bars, "chart", ("Who has the most?", "Bo has the most, with 6."),
     ("By how much does Bo lead Ada?", "Bo leads Ada by 2."), ("And in words?", "By two.")),
    (plot, "chart", ("When does the line turn down?", "The line turns down after year 03.")),
    (prices, "table", ("What do a tea and a cake cost?", "Together, they cost 6.50."),
     ("How much is left of 10.00?", "3.50 is left.")),
    (table, "table", ("What does the pear cost?", "The pear costs 0.80.")),
    (triangle, "diagram", ("What kind of triangle is this?", "It is a right triangle.")),
    (sign, "misc", ("What does the sign say?", "The sign says EXIT, and it points to level B2.")),
)  # fmt: skip


def mm_mt_bench(folder: Path) -> None:
    rows = []
    for number, (scene, category, *turns) in enumerate(CONVERSATIONS):
        name = f"images/{number}.png"
        drawn(scene, folder / name)
        messages = []
        for question, answer in turns:
            messages.append({"role": "user", "content": [{"type": "text", "text": question}]})
            messages.append({"role": "assistant", "content": [{"type": "text", "text": answer}]})
        messages[0]["content"].insert(0, {"type": "image"})
        row = {"image": name, "conversation": json.dumps(messages), "category": category}
        rows.append(json.dumps(row) + "\n")
    (folder / "eval.jsonl").write_text("".join(rows), encoding="utf-8")


# -- HLE: scene or None, category, type of the answer, question, answer

EXAM = (
    (equations, "Math", "exactMatch", "What is the product of the values of x and y?", "36"),
    (triangle, "Math", "exactMatch", "How many axes of symmetry does this have?", "0"),
    (None, "Math", "exactMatch", "How many primes are there below 20?", "8"),
    (moon, "Physics", "multipleChoice", "What lights this body?\n\nAnswer Choices:\nA. Earth\n"
     "B. The Sun\nC. Itself", "B"),
    (None, "Physics", "exactMatch", "What is the SI unit of force?", "newton"),
    (None, "Chemistry", "exactMatch", "Which element has the symbol Fe?", "iron"),
    (ruler, "Engineering", "multipleChoice", "What is this for?\n\nAnswer Choices:\nA. Mass\n"
     "B. Length", "B"),
    (None, "Biology/Medicine", "exactMatch", "How many chambers has a human heart?", "4"),
    (None, "Computer Science/AI", "exactMatch", "What is 101 in base 2, in base 10?", "5"),
    (sign, "Other", "exactMatch", "On which level is the way out?", "B2"),
)  # fmt: skip


def hle(folder: Path) -> None:
    rows = []
    for number, (scene, category, kind, question, answer) in enumerate(EXAM):
        picture = ""
        if scene is not None:
            path = folder / "picture.png"
            drawn(scene, path)
            picture = f"data:image/png;base64,{b64encode(path.read_bytes()).decode()}"
            path.unlink()
        row = {
            "id": f"drawn{number}",
            "question": question,
            "image": picture,
            "answer": answer,
            "answer_type": kind,
            "raw_subject": category,
            "category": category,
        }
        rows.append(json.dumps(row) + "\n")
    (folder / "test.jsonl").write_text("".join(rows), encoding="utf-8")


BENCHMARKS = (vibe_eval, simplevqa, charxiv, worldvqa, babyvision, mm_mt_bench, hle)


def main() -> None:
    for benchmark in BENCHMARKS:
        redraw(benchmark.__name__, benchmark)


if __name__ == "__main__":
    main()
