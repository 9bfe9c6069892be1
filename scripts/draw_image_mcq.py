"""Draw the rows that are bundled with MME-RealWorld, VisuLogic, V*Bench, MMVP, MuirBench, and ERQA:
`python scripts/draw_image_mcq.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import base64
import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
SIDE = 96
COLORS = {"red": "#cc3311", "blue": "#4477aa", "green": "#228833", "yellow": "#ddaa33"}
SPOTS = {"left": 12, "middle": 38, "right": 64, "top": 12, "bottom": 64}


def picture(text: str) -> Image.Image:
    """A picture of shapes and words, such as "red disc left top; word STOP right bottom"."""
    image = Image.new("RGB", (SIDE, SIDE), "white")
    draw = ImageDraw.Draw(image)
    for shape in text.split("; "):
        color, kind, across, down = shape.split()
        x, y = SPOTS[across], SPOTS[down]
        if color == "word":
            draw.text((x, y), kind, fill="black")
        elif kind == "disc":
            draw.ellipse((x, y, x + 20, y + 20), fill=COLORS[color])
        elif kind == "square":
            draw.rectangle((x, y, x + 20, y + 20), fill=COLORS[color])
        elif kind == "bar":
            draw.rectangle((x, y, x + 8, 90), fill=COLORS[color])
        else:
            draw.polygon((x, y + 20, x + 20, y + 20, x + 10, y), fill=COLORS[color])
    return image


def save(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture(text).save(path, quality=80)


def in_base64(text: str) -> str:
    buffer = io.BytesIO()
    picture(text).save(buffer, format="PNG")
    return base64.b64encode(buffer.getvalue()).decode()


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_sheet(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        delimiter = "," if path.suffix == ".csv" else "\t"
        writer = csv.DictWriter(file, columns, restval="", delimiter=delimiter, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


# -- MME-RealWorld

SIGNS = "word STOP left top; word 40 right top; word EXIT left bottom"
CHART = "red bar left top; blue bar middle middle; green bar right bottom"
ROAD = "blue square left middle; red square middle bottom; green disc right top"
FIELD = "green square left top; green square right bottom; yellow disc middle middle"
OCR, TABLE, DRIVING = "OCR with Complex Context", "Diagram and Table", "Autonomous_Driving"
SENSING, MONITORING = "Remote Sensing", "Monitoring"
NOT_SHOWN = "The image does not feature this."
PICTURES = {"signs": SIGNS, "chart": CHART, "road": ROAD, "field": FIELD}
ENGLISH = (
    ("Perception", OCR, "advert", "signs", "Which word is at the top left?", "ABCDE"),
    ("Perception", OCR, "license", "signs", "Which number is at the top right?", "BCADE"),
    ("Perception", TABLE, "diagram", "chart", "Which color has the tallest bar?", "CBADE"),
    ("Perception", TABLE, "table", "chart", "Which color has the shortest bar?", "DBCAE"),
    ("Perception", SENSING, "color", "field", "Which color is the field at the top left?", "ABCDE"),
    ("Perception", SENSING, "count", "field", "How many green fields are there?", "BACDE"),
    ("Perception", MONITORING, "vehicle/attribute/color", "road", "Which color is the car at the "
     "left?", "CBADE"),
    ("Perception", DRIVING, "identity", "road", "What color is the light?", "DBCAE"),
    ("Reasoning", OCR, "scene", "signs", "Which sign shows the way out?", "ABCDE"),
    ("Reasoning", TABLE, "diagram", "chart", "Which color has the second tallest bar?", "BACDE"),
    ("Reasoning", MONITORING, "calculate", "road", "How many cars and lights are there?", "CBADE"),
    ("Reasoning", DRIVING, "intention/ego", "road", "Which river flows under the road?", "EBCDA"),
)  # fmt: skip
RIGHT = ("STOP", "40", "red", "green", "green", "two", "blue", "green", "EXIT", "blue", "three",
         NOT_SHOWN)  # fmt: skip
WRONG = (
    ("GO", "WAIT", "SLOW"), ("50", "60", "70"), ("blue", "green", "black"),
    ("red", "blue", "black"), ("red", "blue", "black"), ("one", "three", "four"),
    ("red", "green", "black"), ("red", "blue", "black"), ("STOP", "40", "50"),
    ("red", "green", "black"), ("one", "two", "four"), ("the Elbe", "the Oder", "the Rhine"),
)  # fmt: skip
CHINESE = (
    ("Perception", OCR, "广告", "signs", "左上角是什么词？", "A", ("STOP", "GO", "WAIT", "SLOW")),
    ("Perception", TABLE, "图表", "chart", "哪种颜色的柱最高？", "B", ("蓝", "红", "绿", "黑")),
    ("Reasoning", DRIVING, "意图", "road", "灯是什么颜色？", "C", ("红", "蓝", "绿", "黑")),
    ("Reasoning", OCR, "场景", "signs", "图中有几条河？", "E", ("一", "二", "三", "四")),
)


def mme_row(
    number: int, task: str, domain: str, kind: str, image: str, text: str, right: str,
    choices: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    lines = [f"({letter}) {choice}" for letter, choice in zip("ABCDE", choices, strict=True)]
    return {
        "Question_id": f"{task.lower()}/{domain.lower()}/{kind}/{number:04}",
        "Image": f"{image}.png",
        "Text": text,
        "Question Type": "Multiple Choice",
        "Answer choices": lines,
        "Ground truth": right,
        "Category": kind,
        "Subtask": domain,
        "Task": task,
    }


def draw_mme_realworld() -> None:
    folder = ROWS / "mme_realworld"
    for name, text in PICTURES.items():
        save(folder / f"{name}.png", text)
    rows = []
    for number, (task, domain, kind, image, text, order) in enumerate(ENGLISH):
        # The order starts with the letter of the right choice. E is always the last choice.
        letter = order[0]
        others = [*WRONG[number], *((NOT_SHOWN,) if letter != "E" else ("the Main",))]
        if letter == "E":
            choices = [*others, NOT_SHOWN]
        else:
            choices = [*others[:3], NOT_SHOWN]
            choices.insert(ascii_uppercase.index(letter), RIGHT[number])
        rows.append(mme_row(number, task, domain, kind, image, text, letter, choices))
    chinese = [
        mme_row(number, *fields, [*choices, "图中没有。"])
        for number, (*fields, choices) in enumerate(CHINESE)
    ]
    files = {"MME_RealWorld": rows, "MME_RealWorld_CN": chinese}
    files["MME-RealWorld-Lite"] = [rows[0], rows[1], rows[2], rows[11]]
    for name, content in files.items():
        text = json.dumps(content, ensure_ascii=False, indent=1)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


# -- VisuLogic

PUZZLES = (
    ("Quantitative Reasoning", "Which frame has three shapes?", "B"),
    ("Spatial Reasoning", "Which frame shows the first frame turned to the right?", "C"),
    ("Positional Reasoning", "Which frame continues the row?", "A"),
    ("Attribute Reasoning", "Which frame has only round shapes?", "D"),
    ("Stylistic Reasoning", "Which frame is drawn like the others?", "B"),
    ("Other", "Which frame does not belong?", "C"),
    ("Quantitative Reasoning", "Which frame has the most discs?", "A"),
    ("Positional Reasoning", "In which frame does the disc move up?", "D"),
)


def draw_visulogic() -> None:
    rows = []
    for number, (tag, text, label) in enumerate(PUZZLES):
        name = f"images/{number:05}.png"
        shapes = [f"{color} disc {spot} top" for color, spot in
                  zip(COLORS, ("left", "middle", "right"), strict=False)]  # fmt: skip
        shapes += [f"word {letter} {spot} bottom" for letter, spot in
                   (("A-B", "left"), ("C-D", "right"))]  # fmt: skip
        save(ROWS / "visulogic" / name, "; ".join(shapes[number % 3 :]))
        rows.append(
            {"image_path": name, "question": text, "label": label, "id": f"{number:05}", "tag": tag}
        )
    write_lines(ROWS / "visulogic/data.jsonl", rows)


# -- V*Bench

ASK = "Answer with the option's letter from the given choices directly."
SMALL = (
    ("direct_attributes", "What is the color of the disc?", "blue disc left top", "A",
     ("blue", "red", "green", "yellow")),
    ("direct_attributes", "What is the color of the square?", "red square right top", "B",
     ("blue", "red", "green", "yellow")),
    ("direct_attributes", "What is the color of the triangle?", "green cone left bottom", "C",
     ("blue", "red", "green", "yellow")),
    ("direct_attributes", "What word is on the sign?", "word BAKER middle middle", "D",
     ("butcher", "grocer", "florist", "baker")),
    ("relative_position", "Is the disc on the left or right side of the square?",
     "red disc left middle; blue square right middle", "A",
     ("The disc is on the left side of the square.", "The disc is on the right side of it.")),
    ("relative_position", "Is the square above or below the triangle?",
     "green cone left top; blue square left bottom", "B",
     ("The square is above the triangle.", "The square is below the triangle.")),
    ("relative_position", "Is the red disc on the left or right side of the blue disc?",
     "blue disc left middle; red disc right middle", "B",
     ("The red disc is on the left side of it.", "The red disc is on the right side of it.")),
    ("relative_position", "Is the disc above or below the bar?",
     "yellow disc middle top; red bar middle bottom", "B",
     ("The disc is below the bar.", "The disc is above the bar.")),
)  # fmt: skip


def draw_vstar() -> None:
    rows = []
    for number, (category, text, scene, label, choices) in enumerate(SMALL):
        name = f"{category}/sa_{number}.jpg"
        save(ROWS / "vstar" / name, scene)
        pairs = zip(ascii_uppercase, choices, strict=False)
        listed = "\n".join(f"({letter}) {choice}" for letter, choice in pairs)
        rows.append(
            {
                "image": name,
                "text": f"{text}\n{listed}\n{ASK}",
                "category": category,
                "label": label,
                "question_id": str(number),
            }
        )
    write_lines(ROWS / "vstar/test_questions.jsonl", rows)


# -- MMVP

PAIRS = (
    ("Is the disc on the left or on the right?", "(a) On the left (b) On the right",
     ("red disc left middle", "red disc right middle")),
    ("Is the square red or blue?", "(a) Red (b) Blue",
     ("blue square middle middle", "red square middle middle")),
    ("Are there one or two discs?", "(a) One (b) Two",
     ("green disc left top", "green disc left top; green disc right top")),
    ("Does the sign say OPEN or SHUT?", "(a) OPEN (b) SHUT",
     ("word SHUT middle top", "word OPEN middle top")),
)  # fmt: skip


def draw_mmvp() -> None:
    rows = []
    for pair, (text, options, scenes) in enumerate(PAIRS):
        for side, scene in enumerate(scenes):
            index = 2 * pair + side + 1
            save(ROWS / "mmvp/MMVP Images" / f"{index}.jpg", scene)
            right = "(a)" if side == pair % 2 else "(b)"
            rows.append(
                {"Index": index, "Question": text, "Options": options, "Correct Answer": right}
            )
    write_sheet(ROWS / "mmvp/Questions.csv", rows)


# -- MuirBench

SEVERAL = (
    ("Counting", "How many discs are in <image> and <image> together?", "B",
     ("two", "three", "four", "None of the choices provided"),
     ("red disc left top; blue disc right top", "red disc left top")),
    ("Ordering", "In which order does the disc move right? <image><image><image>", "A",
     ("first, second, third", "second, first, third", "third, first, second", "It does not move"),
     ("red disc left top", "red disc middle top", "red disc right top")),
    ("Difference Spotting", "Which color changes from <image> to <image>?", "C",
     ("green", "yellow", "red", "None of the choices provided"),
     ("red disc left top; green disc right top", "blue disc left top; green disc right top")),
    ("Image-Text Matching", "Which picture shows a blue square? <image><image>", "D",
     ("the first", "the second", "both", "None of the choices provided"),
     ("red square left top", "green square left top")),
    ("Scene Understanding", "What do <image> and <image> have in common?", "A",
     ("a word", "a disc", "a square", "None of the choices provided"),
     ("word STOP left top", "word EXIT left top")),
    ("Diagram Understanding", "Which bar of <image> is missing in <image>?", "C",
     ("the red bar", "the green bar", "the blue bar", "None of the choices provided"),
     ("red bar left top; blue bar right top", "red bar left top")),
    ("Visual Retrieval", "Which picture has the same shape as <image>?", "B",
     ("<image>", "<image>", "None of the choices provided"),
     ("red disc left top", "red square left top", "blue disc left top")),
    ("Attribute Similarity", "Which color do <image> and <image> share?", "D",
     ("red", "blue", "yellow", "green"),
     ("green disc left top; red disc right top", "green square left top; blue disc right top")),
)  # fmt: skip


def draw_muirbench() -> None:
    rows = [
        {
            "index": number,
            "image": json.dumps([in_base64(scene) for scene in scenes]),
            "question": text,
            **dict(zip("ABCD", choices, strict=False)),
            "answer": right,
            "task": task,
            "image_relation": "Multiview" if len(scenes) > 2 else "Complementary",
            "image_type": "Drawings",
        }
        for number, (task, text, right, choices, scenes) in enumerate(SEVERAL)
    ]
    write_sheet(ROWS / "muirbench/MUIRBench.tsv", rows)


# -- ERQA

LETTER = "Please answer directly with only the letter of the correct option and nothing else."
EMBODIED = (
    ("Trajectory Reasoning", "Where does the gripper go if it follows the bars?", "A",
     ("To the disc", "To the square", "Up", "Down"), ("red bar left top; blue disc right top",)),
    ("Action Reasoning", "How should the gripper turn to reach the disc?", "B",
     ("Left", "Right", "Up", "Down"), ("red disc right middle",)),
    ("Pointing", "Which dot is on the table?", "C",
     ("Red dot", "Blue dot", "Green dot", "Yellow dot"), ("green disc middle bottom",)),
    ("State Estimation", "Is the drawer open?", "D",
     ("Open", "Half open", "There is no drawer", "Closed"), ("blue square middle middle",)),
    ("Spatial Reasoning", "Which cup is closer to the camera?", "A",
     ("The red cup", "The blue cup", "Both", "Neither"),
     ("red square left bottom; blue square right top",)),
    ("Task Reasoning", "Is the task of the second picture done?", "B",
     ("Yes", "No", "Partly", "There was no task"), ("red disc left top", "red disc left top")),
    ("Multi-view Reasoning", "The first view is this one.| The second view is this one.| Which "
     "cup is in both?", "C", ("The red cup", "The blue cup", "The green cup", "No cup"),
     ("green square left top; red disc right top", "green square left top")),
    ("Other", "How many words are in the picture?", "D", ("Three", "Two", "Zero", "One"),
     ("word STOP left top",)),
)  # fmt: skip


def draw_erqa() -> None:
    rows = []
    for number, (kind, text, right, choices, scenes) in enumerate(EMBODIED):
        # A bar in the text stands for a picture at that index.
        parts = text.split("|")
        ends = [len("".join(parts[: count + 1])) for count in range(len(parts) - 1)]
        pairs = zip("ABCD", choices, strict=True)
        listed = " ".join(f"{letter}. {choice}." for letter, choice in pairs)
        images = [in_base64(scene) for scene in scenes]
        rows.append(
            {
                "index": number,
                "image": images[0] if len(images) == 1 else json.dumps(images),
                "question": f"{''.join(parts)} Choices: {listed} {LETTER}",
                "answer": right,
                "question_type": kind,
                "visual_indices": json.dumps(ends or [0] * len(images)),
            }
        )
    write_sheet(ROWS / "erqa/ERQA.tsv", rows)


if __name__ == "__main__":
    draw_mme_realworld()
    draw_visulogic()
    draw_vstar()
    draw_mmvp()
    draw_muirbench()
    draw_erqa()
