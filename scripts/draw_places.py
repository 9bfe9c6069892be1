"""Draw the rows that are bundled with benchmarks of boxes and points: `python
scripts/draw_places.py`.

The questions and pictures are our own; only their format is that of the data sets. The same version
of Pillow always draws the same pixels.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
INK, BLUE, RED, GREEN, SAND = "black", "#4477aa", "#cc6677", "#228833", "#ddaa33"

Box = tuple[int, int, int, int]
"""Left, top, right, bottom."""
Button = tuple[str, Box]
"""The label of a button, or "" for an icon, and its box."""
Shape = tuple[str, str, Box]
"""The kind of a shape (ellipse or rectangle), its color, and its box."""

PHONE: Sequence[Button] = (
    ("Back", (6, 6, 40, 22)),
    ("", (78, 6, 94, 22)),
    ("Reply", (10, 110, 46, 128)),
    ("Delete", (54, 110, 92, 128)),
)
DESKTOP: Sequence[Button] = (
    ("File", (4, 4, 34, 18)),
    ("Edit", (36, 4, 66, 18)),
    ("", (140, 4, 156, 18)),
    ("Save", (100, 70, 150, 92)),
)
SITE: Sequence[Button] = (
    ("Search", (90, 8, 140, 26)),
    ("", (6, 8, 24, 26)),
    ("Cart", (20, 60, 60, 80)),
    ("Next", (84, 60, 124, 80)),
)


def screen(size: tuple[int, int], buttons: Sequence[Button]) -> Image.Image:
    picture = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(picture)
    for label, box in buttons:
        draw.rectangle(box, outline=BLUE, fill="#eef4fa" if label else SAND)
        draw.text((box[0] + 4, box[1] + 2), label, fill=INK)
    return picture


def scene(size: tuple[int, int], shapes: Sequence[Shape]) -> Image.Image:
    picture = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(picture)
    for kind, color, box in shapes:
        getattr(draw, kind)(box, fill=color)
    return picture


def write_picture(path: Path, picture: Image.Image) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.quantize(16).save(path, format="PNG", optimize=True)


def write(path: Path, rows: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def command(label: str, icon: str) -> str:
    return f"press {label.lower()}" if label else icon


def xywh(box: Box) -> list[int]:
    return [box[0], box[1], box[2] - box[0], box[3] - box[1]]


# -- ScreenSpot

SCREENS = {
    "mobile": ((100, 134), PHONE, "ios", "open the menu"),
    "desktop": ((160, 100), DESKTOP, "windows", "close the window"),
    "web": ((146, 90), SITE, "shop", "open the list of pages"),
}


def screenspot() -> None:
    folder = ROWS / "screenspot"
    for part, (size, buttons, source, icon) in SCREENS.items():
        write_picture(folder / f"screenspot_imgs/{part}_1.png", screen(size, buttons))
        rows: list[dict[str, Any]] = [
            {
                "img_filename": f"{part}_1.png",
                "bbox": xywh(box),
                "instruction": command(label, icon),
                "data_type": "text" if label else "icon",
                "data_source": source,
            }
            for label, box in buttons
        ]
        write(folder / f"screenspot_{part}.json", rows)


# -- ScreenSpot-Pro


def screenspot_pro() -> None:
    folder = ROWS / "screenspot_pro"
    editor = (
        (240, 150),
        [("Run", (6, 6, 34, 20)), ("", (40, 6, 52, 20)), ("Log", (6, 130, 32, 144))],
    )
    drawing = (
        (240, 150),
        [("Line", (4, 30, 34, 44)), ("", (4, 50, 16, 62)), ("Fit", (200, 4, 230, 18))],
    )
    files = {
        "android_studio_macos": ("Dev", "android_studio", "macos", editor, "stop the program"),
        "autocad_windows": ("CAD", "autocad", "windows", drawing, "draw a circle"),
    }
    for name, (group, application, platform, (size, buttons), icon) in files.items():
        picture = f"{name}/screen_1.png"
        write_picture(folder / "images" / picture, screen(size, buttons))
        rows = [
            {
                "img_filename": picture,
                "bbox": [*box],
                "instruction": command(label, icon),
                "id": f"{name}_{number}",
                "application": application,
                "platform": platform,
                "img_size": [*size],
                "ui_type": "text" if label else "icon",
                "group": group,
            }
            for number, (label, box) in enumerate(buttons)
        ]
        write(folder / f"annotations/{name}.json", rows)


# -- RefCOCO

TABLE: Sequence[Shape] = (
    ("ellipse", RED, (10, 20, 50, 60)),
    ("rectangle", BLUE, (70, 30, 110, 90)),
    ("ellipse", GREEN, (120, 60, 150, 90)),
)
GARDEN: Sequence[Shape] = (
    ("rectangle", SAND, (6, 70, 60, 110)),
    ("ellipse", BLUE, (80, 10, 110, 40)),
    ("rectangle", RED, (70, 60, 100, 110)),
)
PHRASES = (
    ("table", TABLE, ("the red disc on the left", "blue block", "the green disc")),
    ("garden", GARDEN, ("the wide block", "the blue disc at the top", "red block")),
)
SPLITS = (
    *("refcoco_val", "refcoco_testA", "refcoco_testB"),
    *("refcoco+_val", "refcoco+_testA", "refcoco+_testB"),
    *("refcocog_val", "refcocog_test"),
)
SIZE = (160, 120)


def refcoco() -> None:
    folder = ROWS / "refcoco"
    for number, split in enumerate(SPLITS):
        name, shapes, phrases = PHRASES[number % 2]
        picture = f"COCO_train2014_{name}.png"
        write_picture(folder / "train2014" / picture, scene(SIZE, shapes))
        lines = [
            json.dumps(
                {
                    "image": f"data/coco/train2014/{picture}",
                    "sent": phrases[at % 3],
                    "bbox": [float(edge) for edge in shapes[at % 3][2]],
                    "height": SIZE[1],
                    "width": SIZE[0],
                }
            )
            for at in (number, number + 1)
        ]
        (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


# -- Ref-L4

LONG = (
    ("val", "table", TABLE, "the red disc to the left of a tall blue block", "refcoco_37"),
    ("val", "table", TABLE, "a blue block, taller than wide, between two discs", "refcoco_73"),
    ("val", "table", TABLE, "the small green disc at the lower right of the picture", "refcoco_37"),
    ("test", "garden", GARDEN, "a block in the color of sand at the lower left", "o365_26"),
    ("test", "garden", GARDEN, "the only disc, which is blue and close to the top", "o365_156"),
    ("test", "garden", GARDEN, "the red block beside a block in the color of sand", "o365_26"),
)  # fmt: skip


def ref_l4() -> None:
    folder = ROWS / "ref_l4"
    lines: dict[str, list[str]] = {}
    for number, (split, name, shapes, caption, category) in enumerate(LONG):
        picture = f"{name}.png"
        write_picture(folder / "images" / picture, scene(SIZE, shapes))
        row = {
            "id": f"{number:06}",
            "caption": caption,
            "bbox": [float(edge) for edge in xywh(shapes[number % 3][2])],
            "ori_category_id": category,
            "file_name": picture,
            "height": SIZE[1],
            "width": SIZE[0],
            "split": split,
        }
        lines.setdefault(split, []).append(json.dumps(row))
    for split, some in lines.items():
        (folder / f"ref-l4-{split}.jsonl").write_text("\n".join(some) + "\n", encoding="utf-8")


# -- OSWorld-G

TARGETS = (
    ("press save", "bbox", [100, 70, 50, 22]),
    ("open the menu File", "bbox", [4, 4, 30, 14]),
    ("close the window", "bbox", [140, 4, 16, 14]),
    ("select the triangle between File, Edit, and Save", "polygon", [20, 24, 60, 24, 90, 66]),
    ("select the empty area below Save", "polygon", [100, 94, 150, 98]),
    ("select the area left of Save", "polygon", [10, 40, 60, 40, 80, 90, 10, 90]),
    ("press print", "refusal", [-1, -1, -1, -1]),
    ("open the tab Review", "refusal", [-1, -1, -1, -1]),
)


def osworld_g() -> None:
    folder = ROWS / "osworld_g"
    size = (160, 100)
    write_picture(folder / "images/desktop.png", screen(size, DESKTOP))
    rows = [
        {
            "id": f"desktop-{number}",
            "image_path": "desktop.png",
            "image_size": [*size],
            "instruction": instruction,
            "box_type": kind,
            "box_coordinates": coordinates,
        }
        for number, (instruction, kind, coordinates) in enumerate(TARGETS)
    ]
    write(folder / "OSWorld-G.json", rows)


# -- RefSpatial-Bench and Point-Bench

FREE: Box = (112, 96, 150, 116)
"""A part of the table in which nothing lies."""
BETWEEN: Box = (52, 30, 68, 60)


def mask(size: tuple[int, int], shape: Shape) -> Image.Image:
    kind, _, box = shape
    picture = Image.new("L", size, 0)
    getattr(ImageDraw.Draw(picture), kind)(box, fill=255)
    return picture


SPATIAL: dict[str, Sequence[tuple[str, Shape]]] = {
    "Location": (
        ("the disc to the left of the blue block", TABLE[0]),
        ("the object between the two discs", TABLE[1]),
        ("the disc to the right of the blue block", TABLE[2]),
    ),
    "Placement": (
        ("the free space below the green disc", ("rectangle", INK, FREE)),
        ("the free space between the red disc and the blue block", ("rectangle", INK, BETWEEN)),
    ),
    "Unseen": (
        (
            "the free space that is below the disc to the right of the block",
            ("rectangle", INK, FREE),
        ),
        ("the disc that is farthest from the green one", TABLE[0]),
    ),
}
POINT = "Please point to {}."
FORM = (
    "Your answer should be formatted as a list of tuples, i.e. [(x1, y1), (x2, y2), ...], with "
    "coordinates between 0 and 1."
)


def refspatial() -> None:
    for part, targets in SPATIAL.items():
        folder = ROWS / "refspatial" / part
        write_picture(folder / "image/0.png", scene(SIZE, TABLE))
        rows = []
        for number, (target, shape) in enumerate(targets):
            (folder / "mask").mkdir(parents=True, exist_ok=True)
            mask(SIZE, shape).save(folder / f"mask/{number}.png", optimize=True)
            rows.append(
                {
                    "id": number,
                    "object": target,
                    "prompt": POINT.format(target),
                    "suffix": FORM,
                    "rgb_path": "image/0.png",
                    "mask_path": f"mask/{number}.png",
                    "category": part,
                    "step": 1 + number,
                }
            )
        write(folder / "question.json", rows)


DISCS: Sequence[Shape] = tuple(shape for shape in TABLE if shape[0] == "ellipse")
ARENA: Sequence[tuple[str, str, int, Sequence[Shape]]] = (
    ("spatial", "the object between the two discs", 1, TABLE[1:2]),
    ("spatial", "the disc on the left", 1, TABLE[:1]),
    ("affordance", "something that could roll off the table", 1, DISCS),
    ("counting", "all discs", 2, DISCS),
    ("counting", "the blue block", 1, TABLE[1:2]),
    ("reasoning", "the object with corners", 1, TABLE[1:2]),
    ("reasoning", "the object in the color of grass", 1, TABLE[2:]),
    ("steerable", "a bit to the right of the blue block", 1, TABLE[2:]),
)


def pointbench() -> None:
    folder = ROWS / "pointbench"
    (folder / "masks").mkdir(parents=True, exist_ok=True)
    rows = []
    for number, (category, question, count, shapes) in enumerate(ARENA):
        write_picture(folder / f"images/{category}/table.png", scene(SIZE, TABLE))
        picture = Image.new("L", SIZE, 0)
        for kind, _, box in shapes:
            getattr(ImageDraw.Draw(picture), kind)(box, fill=255)
        picture.save(folder / f"masks/{number}.png", optimize=True)
        rows.append(
            {
                "image_filename": "table.png",
                "mask_filename": f"{number}.png",
                "user_input": f"Point to {question}.",
                "category": category,
                "count": count,
            }
        )
    write(folder / "data.json", rows)


if __name__ == "__main__":
    screenspot()
    screenspot_pro()
    refcoco()
    ref_l4()
    osworld_g()
    refspatial()
    pointbench()
