"""Draw the rows that are bundled with MMBench and ScienceQA: `python scripts/draw_choices.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import base64
import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
SIDE = 96
INK, BLUE, RED, GREEN = "black", "#4477aa", "#cc6677", "#228833"
OFFSET = 1_000_000

Canvas = ImageDraw.ImageDraw
Scene = Callable[[Canvas], None]


# -- scenes


def bars(draw: Canvas) -> None:
    for position, height in enumerate((3, 5, 2, 4)):
        draw.rectangle((12 + 20 * position, 86 - 14 * height, 26 + 20 * position, 86), fill=GREEN)


def disc(draw: Canvas) -> None:
    draw.ellipse((26, 26, 70, 70), fill=BLUE)


def disc_left(draw: Canvas) -> None:
    draw.rectangle((4, 4, 92, 92), outline=INK)
    draw.ellipse((10, 36, 34, 60), fill=RED)


def square_over_disc(draw: Canvas) -> None:
    draw.rectangle((34, 10, 62, 38), fill=GREEN)
    draw.ellipse((34, 56, 62, 84), fill=RED)


def two_bars(draw: Canvas) -> None:
    draw.rectangle((8, 24, 56, 36), fill=BLUE)
    draw.rectangle((8, 60, 84, 72), fill=BLUE)


def steps(draw: Canvas) -> None:
    for position in range(3):
        draw.rectangle((2 + 32 * position, 36, 30 + 32 * position, 60), outline=INK)
        draw.ellipse((4 + 40 * position, 44, 12 + 40 * position, 52), fill=RED)


def slope(draw: Canvas) -> None:
    draw.polygon((8, 88, 88, 88, 8, 24), outline=INK, fill="#dddddd")
    draw.ellipse((12, 10, 30, 28), fill=RED)


def ice(draw: Canvas) -> None:
    draw.ellipse((60, 6, 88, 34), fill="#ddaa33")
    draw.rectangle((20, 50, 56, 86), outline=BLUE, width=3)


def plus(draw: Canvas) -> None:
    draw.text((24, 40), "7 + 5", fill=INK)


def face(draw: Canvas) -> None:
    draw.ellipse((12, 12, 84, 84), outline=INK, width=2)
    for x in (34, 56):
        draw.ellipse((x, 34, x + 6, 40), fill=INK)
    draw.arc((30, 40, 66, 70), 20, 160, fill=INK, width=2)


def coin(draw: Canvas) -> None:
    draw.ellipse((12, 12, 84, 84), outline=INK, width=3, fill="#ddaa33")
    draw.rectangle((38, 38, 58, 58), outline=INK, width=2, fill="white")


def lantern(draw: Canvas) -> None:
    draw.line((48, 4, 48, 22), fill=INK, width=2)
    draw.ellipse((16, 22, 80, 70), fill="#cc3311", outline=INK)
    for x in (42, 48, 54):
        draw.line((x, 70, x, 90), fill="#ddaa33", width=2)


def knot(draw: Canvas) -> None:
    for shift in (0, 14, 28):
        draw.line((20 + shift, 48, 34 + shift, 34), fill=RED, width=3)
        draw.line((20 + shift, 48, 34 + shift, 62), fill=RED, width=3)
    draw.line((48, 66, 48, 92), fill=RED, width=3)


def map_of_islands(draw: Canvas) -> None:
    draw.ellipse((10, 20, 44, 60), fill=GREEN)
    draw.ellipse((58, 50, 86, 84), fill=GREEN)
    draw.text((24, 34), "P", fill=INK)
    draw.text((70, 62), "Q", fill=INK)
    draw.line((48, 4, 48, 16), fill=INK)
    draw.text((52, 2), "N", fill=INK)


def magnets(draw: Canvas) -> None:
    for left in (6, 54):
        draw.rectangle((left, 40, left + 18, 58), fill=RED)
        draw.rectangle((left + 18, 40, left + 36, 58), fill=BLUE)
        draw.text((left + 6, 43), "N", fill="white")
        draw.text((left + 24, 43), "S", fill="white")


def chain(draw: Canvas) -> None:
    for position, word in enumerate(("grass", "hare", "fox")):
        draw.text((6 + 34 * position, 40), word, fill=INK)


def jar(draw: Canvas) -> None:
    draw.rectangle((30, 10, 66, 88), outline=INK)
    for position in range(9):
        x, y = 40 + 8 * (position % 3), 60 + 8 * (position // 3)
        draw.ellipse((x - 3, y - 3, x + 3, y + 3), fill=BLUE)


def drawn(scene: Scene) -> Image.Image:
    picture = Image.new("RGB", (SIDE, SIDE), "white")
    scene(ImageDraw.Draw(picture))
    return picture


# -- MMBench, CCBench


class BilingualQuestion(NamedTuple):
    """A question in English and Chinese; its first choice is right."""

    index: int
    scene: Scene
    category: str
    l2: str
    english: tuple[str, str, tuple[str, ...]]
    chinese: tuple[str, str, tuple[str, ...]]
    rotations: int | None = None


CP, FPS = "coarse_perception", "finegrained_perception (instance-level)"
FPC, LR = "finegrained_perception (cross-instance)", "logic_reasoning"
RR, AR = "relation_reasoning", "attribute_reasoning"
QUESTIONS = (
    BilingualQuestion(
        3, bars, "image_topic", CP,
        ("What does the picture show?", "", ("a bar chart", "a map", "a clock", "a portrait")),
        ("图中展示了什么？", "", ("柱状图", "地图", "时钟", "肖像")),
    ),
    BilingualQuestion(
        8, face, "image_emotion", CP,
        ("Which mood does the picture show?", "", ("cheerful", "sad", "angry")),
        ("图中表现了什么情绪？", "", ("高兴", "悲伤", "愤怒")),
    ),
    BilingualQuestion(
        12, disc, "attribute_recognition", FPS,
        ("What colour is the disc?", "", ("blue", "red", "green")),
        ("圆盘是什么颜色？", "", ("蓝色", "红色", "绿色")),
    ),
    BilingualQuestion(
        18, disc_left, "object_localization", FPS,
        ("Where in the frame is the disc?", "", ("left", "right")),
        ("圆盘在方框的哪一边？", "", ("左边", "右边")),
    ),
    BilingualQuestion(
        21, plus, "ocr", FPS,
        ("Which sum is written here?", "", ("7 + 5", "5 + 7", "7 - 5", "None")),
        ("图中写的是哪个算式？", "", ("7 + 5", "5 + 7", "7 - 5", "None")),
    ),
    BilingualQuestion(
        25, square_over_disc, "spatial_relationship", FPC,
        ("Which shape is above the other?", "", ("the square", "the disc")),
        ("哪个图形在上面？", "", ("正方形", "圆盘")),
    ),
    BilingualQuestion(
        31, two_bars, "attribute_comparison", FPC,
        ("Which bar is longer?", "", ("the lower one", "the upper one", "they are equal")),
        ("哪一条更长？", "", ("下面的", "上面的", "一样长")),
    ),
    BilingualQuestion(
        40, steps, "future_prediction", LR,
        ("Where is the disc in the next step?", "The frames show three steps in order.",
         ("outside its frame", "at the left", "in the middle", "at the right")),
        ("下一步圆盘在哪里？", "三个方框依次表示三个步骤。", ("方框之外", "左边", "中间", "右边")),
    ),
    BilingualQuestion(
        44, slope, "physical_relation", RR,
        ("What does the ball do when it is let go?", "The slope is smooth.",
         ("it rolls down", "it rests", "it rises", "it melts")),
        ("松手后球会怎样？", "斜面是光滑的。", ("滚下去", "不动", "上升", "融化")),
        rotations=3,
    ),
    BilingualQuestion(
        52, ice, "physical_property_reasoning", AR,
        ("The block is ice. What becomes of it in the sun?", "",
         ("water", "sand", "iron", "wood")),
        ("方块是冰，在阳光下会变成什么？", "", ("水", "沙子", "铁", "木头")),
    ),
)  # fmt: skip
CULTURE = (
    (0, coin, "cultural_relic", "图中的物品是什么？", ("铜钱", "玉佩", "铜镜", "瓷盘")),
    (1, lantern, "traditional_show", "图中的物品叫什么？", ("灯笼", "风筝", "扇子", "鼓")),
    (2, knot, "cultural_relic", "图中的饰物用什么编成？", ("绳子", "竹子", "纸", "金属")),
)
HEADER = ("index", "question", "hint", "A", "B", "C", "D", "answer", "category", "image", "source",
          "l2-category", "comment", "split")  # fmt: skip
CC_HEADER = ("index", "question", "answer", "A", "B", "C", "D", "category", "image", "source")


def rotated(fields: dict[str, str], choices: tuple[str, ...], scene: Scene, rotations: int | None):
    """Yield a row for each rotation. The first row has the picture; the others have the first
    row's index instead."""
    with io.BytesIO() as file:
        drawn(scene).save(file, format="PNG")
        picture = base64.b64encode(file.getvalue()).decode()
    first = int(fields["index"]) % len(choices)
    for turn in range(rotations or len(choices)):
        position = (first + turn) % len(choices)
        order = [choices[(n - position) % len(choices)] for n in range(len(choices))]
        yield {
            **fields,
            "index": str(int(fields["index"]) + OFFSET * turn),
            **dict(zip("ABCD", order, strict=False)),
            "answer": "ABCD"[position],
            "image": picture if turn == 0 else fields["index"],
        }


def mmbench(split: str, lang: str) -> Iterator[dict[str, str]]:
    """Yield the rows in the order of the published files: first every question, then every first
    rotation, and so on."""
    every = []
    for request in QUESTIONS:
        question, hint, choices = request.english if lang == "EN" else request.chinese
        fields = {
            "index": str(request.index), "question": question, "hint": hint, "source": "snellen",
            "category": request.category, "l2-category": request.l2, "split": split,
        }  # fmt: skip
        every += rotated(fields, choices, request.scene, request.rotations)
    yield from sorted(every, key=lambda row: int(row["index"]))


def ccbench() -> Iterator[dict[str, str]]:
    every = []
    for index, scene, category, question, choices in CULTURE:
        fields = {"index": str(index), "question": question, "category": category,
                  "source": "snellen"}  # fmt: skip
        every += rotated(fields, choices, scene, None)
    yield from sorted(every, key=lambda row: int(row["index"]))


def sheet(path: Path, header: tuple[str, ...], rows: Iterator[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, header, restval="", extrasaction="ignore", delimiter="\t", lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(rows)


# -- ScienceQA

NATURAL, SOCIAL, LANGUAGE = "natural science", "social science", "language science"
PROBLEMS: tuple[tuple[str, Scene | None, int, str, str, str, str, tuple[str, ...]], ...] = (
    # id, picture, grade, subject, topic, hint, question; the first choice is right
    ("3", magnets, 4, NATURAL, "physics", "Two magnets are placed as shown.",
     "Will these magnets attract or repel each other?", ("attract", "repel")),
    ("7", None, 2, LANGUAGE, "phonological-awareness", "",
     "Which word rhymes with light?", ("night", "let", "lot")),
    ("10", map_of_islands, 3, SOCIAL, "geography", "",
     "Which island lies farther north?", ("P", "Q")),
    ("15", chain, 6, NATURAL, "biology", "A food chain shows what eats what.",
     "Which living thing makes its own food?", ("the grass", "the hare", "the fox")),
    ("17", None, 8, LANGUAGE, "figurative-language", "The wind whispered in the trees.",
     "Which figure of speech is this?",
     ("personification", "hyperbole", "simile", "alliteration")),
    ("21", jar, 7, NATURAL, "chemistry", "",
     "Which state of matter is shown, if each disc is a particle?", ("solid", "gas")),
    ("25", None, 5, SOCIAL, "economics", "Ada makes lamps and sells them.",
     "What is Ada when she sells a lamp?", ("a producer", "a consumer")),
    ("28", None, 9, SOCIAL, "us-history", "",
     "How many colonies declared independence in 1776?", ("13", "7", "25", "50", "3")),
    ("33", ice, 3, NATURAL, "physics", "",
     "What does the sun do to the block of ice?", ("melts it", "freezes it")),
    ("36", None, 1, LANGUAGE, "word-study", "", "Which word names an animal?",
     ("hen", "pen", "ten", "den")),
    ("41", two_bars, 10, SOCIAL, "economics", "The bars show what was sold in two years.",
     "In which year was more sold?", ("the second", "the first")),
    ("47", slope, 11, NATURAL, "physics", "",
     "Where is the ball's potential energy least?", ("at the bottom", "at the top", "half-way")),
    ("50", None, 12, LANGUAGE, "grammar", "",
     "Which sentence is complete?",
     ("The lamp is lit.", "When the lamp is lit.", "Lit by the lamp.")),
    ("55", disc_left, 2, SOCIAL, "geography", "The frame is a map with north at the top.",
     "In which part of the map is the disc?", ("west", "east", "north", "south")),
    ("58", None, 7, NATURAL, "biology", "Ivy has a scar on her knee from a fall.",
     "Is the scar inherited or acquired?", ("acquired", "inherited")),
    ("64", None, 4, NATURAL, "earth-science", "",
     "Which of these is a mineral?", ("quartz", "wood")),
)  # fmt: skip


def scienceqa(folder: Path) -> dict[str, Any]:
    problems = {}
    for number, (name, scene, grade, subject, topic, hint, question, choices) in enumerate(
        PROBLEMS
    ):
        split = "val" if number in (5, 9) else "test"
        position = number % len(choices)
        if scene:
            (folder / "images" / split / name).mkdir(parents=True, exist_ok=True)
            drawn(scene).save(folder / "images" / split / name / "image.png")
        problems[name] = {
            "question": question,
            "choices": [*choices[1 : position + 1], choices[0], *choices[position + 1 :]],
            "answer": position,
            "hint": hint,
            "image": "image.png" if scene else None,
            "task": "closed choice",
            "grade": f"grade{grade}",
            "subject": subject,
            "topic": topic,
            "category": topic,
            "skill": topic,
            "lecture": "",
            "solution": "",
            "split": split,
        }
    return problems


def main() -> None:
    folder = ROWS / "mmbench"
    folder.mkdir(parents=True, exist_ok=True)
    for lang in ("EN", "CN"):
        sheet(folder / f"MMBench_DEV_{lang}_V11.tsv", HEADER, mmbench("dev", lang))
    hidden = tuple(name for name in HEADER if name != "answer")
    sheet(folder / "MMBench_TEST_EN.tsv", hidden, mmbench("test", "EN"))
    sheet(folder / "CCBench.tsv", CC_HEADER, ccbench())
    folder = ROWS / "scienceqa"
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(scienceqa(folder), indent=1) + "\n"
    (folder / "problems.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
