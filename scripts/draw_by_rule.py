"""Draw the rows that are bundled with AI2D, MMStar, RealWorldQA, HR-Bench, CountBench, CV-Bench,
ZeroBench, VisualPuzzles, OmniSpatial, and All-Angles Bench: `python scripts/draw_by_rule.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import base64
import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
SIDE = 64
BLUE, RED, GREEN = "#4477aa", "#cc6677", "#228833"
COLORS = {"red": RED, "green": GREEN, "blue": BLUE}
Disc = tuple[int, int, int, str]


def png(*discs: Disc, label: str = "") -> bytes:
    """Draw discs (x, y, radius, color) and a label on white."""
    image = Image.new("RGB", (SIDE, SIDE), "white")
    draw = ImageDraw.Draw(image)
    for x, y, radius, color in discs:
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)
    draw.text((2, 2), label, fill="black")
    with io.BytesIO() as file:
        image.save(file, format="PNG")
        return file.getvalue()


def picture(*discs: Disc, label: str = "") -> str:
    return base64.b64encode(png(*discs, label=label)).decode()


DISC = ((32, 32, 20, BLUE),)
TWO = ((18, 32, 12, RED), (48, 32, 8, GREEN))
THREE = ((12, 14, 8, BLUE), (32, 32, 8, BLUE), (52, 50, 8, BLUE))
STACK = ((32, 16, 10, RED), (32, 46, 14, BLUE))


def sheet(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


# -- MMStar, as its authors publish it: the choices are in the question

MMSTAR = [
    ("What does the picture show?", DISC, "C", ("a square", "two discs", "a disc", "a line"),
     "coarse perception", "image scene and topic"),
    ("How many discs are there?", THREE, "D", ("0", "1", "2", "3"),
     "fine-grained perception", "object counting"),
    ("How do the discs lie?", THREE, "B",
     ("in a circle", "on a diagonal", "in a column", "at random"),
     "fine-grained perception", "localization"),
    ("Which disc is larger?", TWO, "A",
     ("the red one", "the green one", "they are equal", "there is one disc"),
     "instance reasoning", "cross-instance attribute reasoning"),
    ("Which disc is the upper one?", STACK, "C",
     ("the green one", "the blue one", "the red one", "neither"),
     "instance reasoning", "cross-instance relation reasoning"),
    ("Which row of discs comes next if a disc is added?", THREE, "A",
     ("four discs", "three discs", "two discs", "one disc"),
     "logical reasoning", "code & sequence reasoning"),
    ("One more disc is drawn. How many are there then?", TWO, "B", ("2", "3", "4", "5"),
     "math", "numeric commonsense and calculation"),
    ("If the lower disc rests on the ground, what holds the upper one?", STACK, "D",
     ("a spring", "a rope", "a magnet", "nothing that is shown"),
     "science & technology", "biology & chemistry & physics"),
]  # fmt: skip


def mmstar() -> None:
    rows = [
        (
            index,
            f"{question}\nOptions: " + ", ".join(map(": ".join, zip("ABCD", choices, strict=True))),
            picture(*discs),
            *more,
            "snellen",
        )
        for index, (question, discs, answer, choices, *tags) in enumerate(MMSTAR)
        for more in [(answer, *tags)]
    ]
    header = ("index", "question", "image", "answer", "category", "l2_category", "bench")
    sheet(ROWS / "mmstar/MMStar.tsv", header, rows)


# -- AI2D, RealWorldQA, HR-Bench, CountBench, CV-Bench, as toolkits or their authors publish them

AI2D = [
    (101, "Which letter marks the larger disc?", TWO, "B", ("A", "B", "C", "D"), "discs"),
    (102, "How many discs touch the large one?", TWO, "C", ("3", "2", "0", "1"), "discs"),
    (201, "Which part lies at the top?", STACK, "A",
     ("the red disc", "the blue disc", "the square", "the line"), "columns"),
    (202, "What happens to the red disc if the blue disc is removed?", STACK, "D",
     ("it grows", "it turns green", "it doubles", "it falls"), "columns"),
    (301, "How many parts does the chain have?", THREE, "C", ("1", "2", "3", "4"), "chains"),
    (302, "In which direction does the chain run?", THREE, "B",
     ("upward", "downward to the right", "in a circle", "nowhere"), "chains"),
    (401, "What is the shape of the body?", DISC, "D", ("ring", "cube", "cone", "disc"), "bodies"),
    (402, "Which of these does the diagram not show?", DISC, "B",
     ("a disc", "a leaf", "a blue area", "a white area"), "bodies"),
]  # fmt: skip
WORD = "Please answer directly with a single word or number."
LETTER = "Please answer directly with only the letter of the correct option and nothing else."
REALWORLDQA = [
    ("Which disc is closer to the left edge?", TWO, "A", ("The red one", "The green one")),
    ("How many discs are there?", THREE, "3", ()),
    ("Where is the red disc?", STACK, "B", ("Below", "Above", "Beside it")),
    ("Is there a road sign?", DISC, "No", ()),
    ("Which disc is larger?", STACK, "B", ("The red one", "The blue one", "They are equal")),
    ("Which way do the discs go?", THREE, "C", ("Up", "Left", "Down and right")),
    ("What color is the disc?", DISC, "A", ("Blue", "Red", "Green")),
    ("Can the discs pass each other?", TWO, "B", ("No", "Yes")),
]
HR_BENCH = [
    ("What color is the small disc?", TWO, ("green", "red", "blue", "white"), "single"),
    ("Which disc is nearer to the top?", STACK, ("red", "blue", "green", "white"), "cross"),
]
COUNTBENCH = [
    ("How many red discs are there in the image?", 2), ("How many green discs are there?", 3),
    ("How many blue discs are there in the image?", 4), ("How many discs are there?", 5),
    ("How many red discs can you see?", 6), ("How many circles are there in the image?", 7),
    ("How many green circles are there?", 8), ("How many blue dots are there?", 10),
]  # fmt: skip
CV_BENCH = [
    ("Count", "ADE20K", "How many discs are in the image?", THREE, "B", ("2", "3", "1", "0")),
    ("Count", "COCO", "How many discs are in the image?", TWO, "C", ("0", "1", "2", "3")),
    ("Relation", "ADE20K", "Where is the red disc with respect to the blue one?", STACK, "A",
     ("above", "below")),
    ("Relation", "COCO", "Where is the green disc with respect to the red one?", TWO, "B",
     ("left", "right")),
    ("Count", "ADE20K", "How many squares are in the image?", DISC, "D", ("3", "2", "1", "0")),
    ("Depth", "Omni3D", "Which disc is closer to the camera?", TWO, "A", ("red", "green")),
    ("Depth", "Omni3D", "Which disc is farther away?", TWO, "B", ("red", "green")),
    ("Distance", "Omni3D", "Which disc is closer to the center?", STACK, "B", ("red", "blue")),
    ("Distance", "Omni3D", "Which disc is farther from the corner?", TWO, "B", ("red", "green")),
    ("Depth", "Omni3D", "Which disc seems larger?", STACK, "B", ("red", "blue")),
]  # fmt: skip


def ai2d() -> None:
    rows = [
        (index, question, *choices, answer, category, picture(*discs))
        for index, question, discs, answer, choices, category in AI2D
    ]
    header = ("index", "question", *"ABCD", "answer", "category", "image")
    for name in ("AI2D_TEST", "AI2D_TEST_NO_MASK"):
        sheet(ROWS / f"ai2d/{name}.tsv", header, rows)


def realworldqa() -> None:
    rows = []
    for index, (question, discs, answer, choices) in enumerate(REALWORLDQA):
        lines = "".join(
            f"{letter}. {choice}\n" for letter, choice in zip("ABC", choices, strict=False)
        )
        text = f"{question}\n\n{lines}{LETTER}" if choices else f"{question} {WORD}"
        name = write(ROWS / "realworldqa/images" / f"{index}.png", png(*discs))
        rows.append({"image": name, "question": text, "answer": answer})
    write_json(ROWS / "realworldqa/annotations.json", rows)


def hr_bench() -> None:
    for size in ("4k", "8k"):
        rows: list[tuple[object, ...]] = []
        for question, discs, choices, category in HR_BENCH:
            for cycle in range(4):
                turned = [choices[(position - cycle) % 4] for position in range(4)]
                rows.append(
                    (len(rows), question, *turned, "ABCD"[cycle], category, cycle, picture(*discs))
                )
        header = ("index", "question", *"ABCD", "answer", "category", "cycle_category", "image")
        sheet(ROWS / f"hr_bench/hr_bench_{size}.tsv", header, rows)


def countbench() -> None:
    rows: list[tuple[object, ...]] = []
    for index, (question, number) in enumerate(COUNTBENCH):
        color = next((c for name, c in COLORS.items() if name in question), BLUE)
        places = [(10 + 14 * (n % 4), 10 + 20 * (n // 4), 5, color) for n in range(number)]
        rows.append((index, question, number, picture(*places)))
    sheet(ROWS / "countbench/CountBenchQA.tsv", ("index", "question", "answer", "image"), rows)


def cv_bench() -> None:
    lines: dict[str, list[dict[str, object]]] = {"2D": [], "3D": []}
    for index, (task, source, question, discs, answer, choices) in enumerate(CV_BENCH):
        kind = "3D" if source == "Omni3D" else "2D"
        listed = "\n".join(f"({a}) {choice}" for a, choice in zip("ABCD", choices, strict=False))
        name = f"{kind}/{task.lower()}/{index}.png"
        write(ROWS / "cv_bench/img" / name, png(*discs))
        lines[kind].append(
            {
                "idx": index, "type": kind, "task": task, "filename": name, "question": question,
                "choices": choices, "answer": f"({answer})", "source": source,
                "prompt": f"{question} Select from the following choices.\n{listed}",
            }
        )  # fmt: skip
    for kind, rows in lines.items():
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        write(ROWS / f"cv_bench/test_{kind.lower()}.jsonl", text.encode())


# -- ZeroBench, in VLMEvalKit's files

ZEROBENCH: list[tuple[str, list[tuple[Disc, ...]], str]] = [
    ("Add the number of red discs to twice the number of green discs.", [TWO], "3"),
    ("How many discs have both pictures together? Multiply by four.", [THREE, STACK], "20"),
    ("What share of the discs is red? Give a decimal.", [TWO], "0.5"),
    ("Name the colors from left to right, with a comma between them.", [TWO], "red, green"),
    ("At 14:35 a disc is drawn each minute. When are there ten more?", [DISC], "14:45"),
    ("Take the discs of the first picture from 1,027 discs. How many are left?", [THREE], "1,024"),
    ("Write the number of discs of each picture one after the other.", [DISC, TWO, THREE], "123"),
    ("Which disc is larger, and by how many colors do they differ?", [STACK], "Blue 1"),
]
ZEROBENCH_SUB: list[tuple[str, str, list[tuple[Disc, ...]], str]] = [
    ("1_1", "How many red discs are there?", [TWO], "1"),
    ("1_2", "How many green discs are there?", [TWO], "1"),
    ("2_1", "How many discs has the first picture?", [THREE, STACK], "3"),
    ("2_2", "How many discs has the second picture?", [THREE, STACK], "2"),
    ("4_1", "What color is the left disc?", [TWO], "Red"),
    ("4_2", "What color is the right disc?", [TWO], "Green"),
    ("8_1", "What color is the larger disc?", [STACK], "Blue"),
    ("8_2", "How many colors do the discs have?", [STACK], "2"),
]


def zerobench() -> None:
    def cell(scenes: Sequence[Sequence[Disc]]) -> str:
        drawn = [picture(*discs) for discs in scenes]
        return drawn[0] if len(drawn) == 1 else str(drawn)

    header = ("index", "question", "answers", "image")
    main = [(n, text, answer, cell(shown)) for n, (text, shown, answer) in enumerate(ZEROBENCH, 1)]
    sheet(ROWS / "zerobench/zerobench.tsv", header, main)
    parts = [(name, text, answer, cell(shown)) for name, text, shown, answer in ZEROBENCH_SUB]
    sheet(ROWS / "zerobench/zerobench_sub.tsv", header, parts)


# -- VisualPuzzles, in VLMEvalKit's file

VISUALPUZZLES = [
    ("Which disc comes next?", THREE, "B", ["a red one", "a blue one", "a green one", "none"],
     "Inductive", "easy"),
    ("Which picture completes the row?", TWO, "C", None, "Inductive", "hard"),
    ("Red is to large as green is to what?", TWO, "D", ["wide", "blue", "round", "small"],
     "Analogical", "medium"),
    ("Which pair is alike in the same way?", STACK, "A", None, "Analogical", "hard"),
    ("How many discs are there after two steps?", THREE, "C", ["3", "4", "5", "6"],
     "Algorithmic", "medium"),
    ("If one of them is false, which disc is larger?", STACK, "B", ["red", "blue", "both", "none"],
     "Deductive", "easy"),
    ("Which view is that from above?", STACK, "D", None, "Spatial", "medium"),
    ("Which disc is hidden from the left?", TWO, "B", ["red", "green", "both", "none"],
     "Spatial", "easy"),
]  # fmt: skip


def visualpuzzles() -> None:
    rows = [
        (index, picture(*discs), text, "" if options is None else str(options), answer, *tags)
        for index, (text, discs, answer, options, *tags) in enumerate(VISUALPUZZLES)
    ]
    header = ("index", "image", "question", "options", "answer", "category", "difficulty")
    sheet(ROWS / "visualpuzzles/VisualPuzzles.tsv", header, rows)


# -- OmniSpatial, in its authors' file

OMNISPATIAL = [
    ("1_0", "Which disc will fall first?", STACK, 0, ["The red one", "The blue one"],
     "Dynamic_Reasoning", "Motion_Analysis"),
    ("1_1", "Which disc can a hand take without the other?", STACK, 0, ["Red", "Blue", "Both"],
     "Dynamic_Reasoning", "Manipulation"),
    ("1_0", "Which disc is on the left?", TWO, 1, ["Green", "Red", "Blue", "None"],
     "Spatial_Interaction", "Localization"),
    ("2_0", "Which way do the discs go?", THREE, 2, ["Up", "Left", "Down and right", "Nowhere"],
     "Spatial_Interaction", "Traffic_Analysis"),
    ("1_0", "How many discs come next?", THREE, 3, ["1", "2", "3", "4"],
     "Complex_Logic", "Pattern_Recognition"),
    ("2_0", "Which shape is left if the disc is cut in half?", DISC, 2,
     ["A disc", "A ring", "Half a disc", "A square"], "Complex_Logic", "Geometric_Reasoning"),
    ("1_0", "Seen from behind, which disc is on the left?", TWO, 1, ["Red", "Green"],
     "Perspective_Taking", "Allocentric"),
    ("2_0", "Which disc is nearer to you?", TWO, 1, ["The green one", "The red one", "Neither"],
     "Perspective_Taking", "Egocentric"),
]  # fmt: skip


def omnispatial() -> None:
    rows = []
    for name, question, discs, answer, options, kind, task in OMNISPATIAL:
        write(ROWS / "omnispatial" / kind / f"{name.split('_')[0]}.png", png(*discs))
        rows.append(
            {
                "id": name, "question": question, "options": options, "answer": answer,
                "task_type": kind, "sub_task_type": task,
            }
        )  # fmt: skip
    write_json(ROWS / "omnispatial/data.json", rows)


# -- All-Angles Bench, in its authors' file

ALL_ANGLES = [
    ("counting", "How many discs are there in all views?", "B", ("1", "3", "5"), [DISC, THREE]),
    ("counting", "How many red discs do the views show?", "A", ("1", "2", "3"), [TWO, STACK]),
    ("attribute_identification", "What color is the disc that only the first view shows?", "C",
     ("red", "blue", "green"), [TWO, STACK]),
    ("relative_distance", "Which view is closer to the disc?", "A",
     ("view 1", "view 2", "both are equal"), [DISC, THREE]),
    ("relative_direction", "From the second view, where is the red disc?", "B",
     ("below", "above", "left"), [TWO, STACK]),
    ("manipulation", "Which way must the red disc move to touch the other one?", "C",
     ("left", "up", "right"), [TWO, TWO]),
    ("camera_pose_estimation", "In which order do the cameras stand?", "B",
     ("1, 3, 2", "1, 2, 3", "2, 1, 3"), [DISC, TWO, THREE]),
    ("camera_pose_estimation", "Which camera is above the others?", "A",
     ("1", "2", "3"), [DISC, TWO, STACK]),
]  # fmt: skip


def all_angles() -> None:
    rows = []
    for index, (category, question, answer, choices, scenes) in enumerate(ALL_ANGLES):
        names = [f"images/{index:02}_discs/{number}.png" for number, _ in enumerate(scenes)]
        for name, discs in zip(names, scenes, strict=True):
            write(ROWS / "all_angles" / name, png(*discs))
        rows.append(
            {
                "index": index, "folder": f"{index:02}_discs", "category": category,
                "pair_idx": str(index ^ 1), "image_path": names, "question": question,
                **dict(zip("ABC", choices, strict=True)), "answer": answer,
                "sourced_dataset": "drawn",
            }
        )  # fmt: skip
    write_json(ROWS / "all_angles/data.json", rows)


def write(path: Path, content: bytes) -> str:
    """Write a file, and return its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path.name


def write_json(path: Path, rows: object) -> None:
    write(path, (json.dumps(rows, indent=1) + "\n").encode())


def main() -> None:
    for draw in (
        mmstar,
        ai2d,
        realworldqa,
        hr_bench,
        countbench,
        cv_bench,
        zerobench,
        visualpuzzles,
        omnispatial,
        all_angles,
    ):
        draw()


if __name__ == "__main__":
    main()
