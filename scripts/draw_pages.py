"""Draw the pages that are bundled with OmniDocBench and olmOCR-Bench:
`python scripts/draw_pages.py`.

The texts and drawings are our own; only their format is that of the data set. Chinese characters
are drawn from their strokes, so that no font is needed.
"""

import base64
import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
FOLDER = ROWS / "omnidocbench"
WIDTH, HEIGHT, LINE = 360, 300, 14
STROKES = {
    "一": ["0 5 10 5"],
    "二": ["2 2 8 2", "0 9 10 9"],
    "三": ["1 1 9 1", "2 5 8 5", "0 9 10 9"],
    "十": ["0 5 10 5", "5 0 5 10"],
    "工": ["1 1 9 1", "5 1 5 9", "0 9 10 9"],
    "土": ["2 4 8 4", "5 0 5 9", "0 9 10 9"],
    "王": ["1 1 9 1", "2 5 8 5", "5 1 5 9", "0 9 10 9"],
    "口": ["1 1 9 1", "9 1 9 9", "1 9 9 9", "1 1 1 9"],
    "日": ["2 0 8 0", "8 0 8 10", "2 10 8 10", "2 0 2 10", "2 5 8 5"],
    "田": ["1 1 9 1", "9 1 9 9", "1 9 9 9", "1 1 1 9", "1 5 9 5", "5 1 5 9"],
    "中": ["1 3 9 3", "9 3 9 7", "1 7 9 7", "1 3 1 7", "5 0 5 10"],
}
"""The lines of a character, each from a point to another, in a square of 10 pixels."""
Element = Mapping[str, object]


def text(category: str, content: str) -> Element:
    return {"category_type": category, "text": content}


def formula(latex: str) -> Element:
    return {"category_type": "equation_isolated", "latex": f"\\[{latex}\\]"}


def table(*rows: Sequence[str]) -> Element:
    lines = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    html = f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
    return {"category_type": "table", "html": html, "latex": ""}


PAGES: Sequence[tuple[str, str, str, Sequence[Element], Sequence[tuple[int, int]]]] = [
    ("english", "book", "single_column", [
        text("title", "Tides at the pier"),
        text("text_block", "The water rises for six hours and falls for six hours."),
        text("text_block", "A pole with marks shows how high it stands."),
    ], []),
    ("english", "academic_literature", "double_column", [
        text("text_block", "We weigh a cup twice. The first time it is empty, and the"),
        text("text_block", " second time it is full."),
        formula("m = m_2 - m_1"),
        text("text_block", "Here \\(m_1\\) is the weight of the cup."),
    ], [(0, 1)]),
    ("english", "research_report", "single_column", [
        text("table_caption", "Table 1: apples by week"),
        table(("week", "red", "green"), ("1", "12", "7"), ("2", "9", "11")),
        text("text_block", "More green apples were sold in the second week."),
    ], []),
    ("english", "exam_paper", "single_column", [
        text("header", "Practice sheet 4"),
        text("text_block", "1. A train needs 3 hours for 240 km. How fast is it?"),
        text("text_block", "2. Solve $x^{2} = 49$ for positive numbers."),
        text("page_number", "17"),
    ], []),
    ("english", "newspaper", "three_column", [
        text("title", "Bridge opens"),
        text("text_block", "The new bridge opened on Monday."),
        text("text_block", "Two hundred people walked across."),
        text("text_block", "The old ferry will stop in May."),
    ], []),
    ("simplified_chinese", "book", "single_column", [
        text("title", "田中日土"),
        text("text_block", "王工一日三十口，田中二十一土。"),
        text("text_block", "十日二口，中土三田。"),
    ], []),
    ("simplified_chinese", "research_report", "single_column", [
        table(("日", "口", "田"), ("一", "十", "三"), ("二", "三", "十")),
        text("text_block", "二日田十，一日田三。"),
    ], []),
    ("simplified_chinese", "exam_paper", "double_column", [
        text("text_block", "一、田中三口，十日王土。"),
        formula("\\frac{a}{b} + \\frac{c}{d}"),
        text("text_block", "二、工日中一，土口二十。"),
    ], []),
]  # fmt: skip


def lines_of(element: Element, width: int) -> Iterator[str]:
    """The lines of an element, each of at most `width` characters."""
    if "html" in element:
        for row in str(element["html"]).split("</tr>")[:-1]:
            yield "   |   ".join(re.findall(r"<td>(.*?)</td>", row))
        return
    line = ""
    for word in str(element.get("text", element.get("latex"))).split():
        if line and len(line) + len(word) > width:
            yield line
            line = ""
        line += f"{' ' if line else ''}{word}"
    yield line


def write(draw: ImageDraw.ImageDraw, x: float, y: float, line: str) -> None:
    for sign in line:
        if strokes := STROKES.get(sign):
            for stroke in strokes:
                points = [float(number) for number in stroke.split()]
                draw.line([x + points[0], y + points[1], x + points[2], y + points[3]], fill=0)
            x += 13
        else:
            sign = {"，": ",", "。": ".", "、": ","}.get(sign, sign)
            draw.text((x, y), sign, fill=0)
            x += draw.textlength(sign)


def page(elements: Sequence[Element], columns: int) -> Image.Image:
    image = Image.new("L", (WIDTH, HEIGHT), 255)
    draw = ImageDraw.Draw(image)
    width = WIDTH // columns
    rows = -(-len(elements) // columns)
    for number, element in enumerate(elements):
        x, y = 12 + width * (number // rows), 16 + (HEIGHT - 20) // rows * (number % rows)
        for line in lines_of(element, (width - 20) // 6):
            write(draw, x, y, line)
            y += LINE
    return image


TESTED: Sequence[tuple[str, Sequence[str], Sequence[Mapping[str, object]]]] = [
    ("headers_footers", ["Town news, page 9", "The bakery opens at seven.", "printed on paper"], [
        {"type": "absent", "text": "Town news, page 9", "max_diffs": 2},
        {"type": "absent", "text": "PRINTED ON PAPER", "case_sensitive": False},
    ]),
    ("headers_footers", ["Report 12", "Rain fell on nine days in May."], [
        {"type": "absent", "text": "Report 12", "first_n": 40},
    ]),
    ("multi_column", ["The left column ends here.", "The right column goes on."], [
        {"type": "order", "before": "left column ends", "after": "right column goes",
         "max_diffs": 1},
    ]),
    ("multi_column", ["First came the seed.", "Then came the tree.", "Last came the fruit."], [
        {"type": "order", "before": "came the seed", "after": "came the tree"},
        {"type": "order", "before": "came the tree", "after": "came the fruit"},
    ]),
    ("tables", ["day  |  wind  |  rain", "Monday  |  4  |  12", "Tuesday  |  6  |  0"], [
        {"type": "table", "cell": "12", "up": "rain", "left": "4", "left_heading": "Monday"},
        {"type": "table", "cell": "6", "top_heading": "wind", "right": "0"},
    ]),
    ("old_scans", ["We came by boat, and left on foot."], [
        {"type": "present", "text": "came by boat, and left", "max_diffs": 2},
        {"type": "order", "before": "by boat", "after": "on foot"},
    ]),
    ("long_tiny_text", ["Keep dry. Do not fold. Return within thirty days."], [
        {"type": "present", "text": "Return within thirty days"},
    ]),
    ("arxiv_math", ["a / b = c"], [{"type": "math", "math": "\\frac{a}{b} = c"}]),
]  # fmt: skip


def encoded(image: Image.Image) -> str:
    with io.BytesIO() as file:
        image.save(file, format="PNG", optimize=True)
        return base64.b64encode(file.getvalue()).decode()


def olmocr_bench() -> None:
    path = ROWS / "olmocr_bench" / "olmOCRBench.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(("index", "image", "answer"))
        for number, (source, lines, tests) in enumerate(TESTED, 1):
            image = Image.new("1", (260, 60), 1)
            draw = ImageDraw.Draw(image)
            for index, line in enumerate(lines):
                write(draw, 6, 4 + LINE * index, line)
            rows = [
                {"pdf": f"{source}/{number}.pdf", "page": 1, "id": f"{number}_{index}", **test}
                for index, test in enumerate(tests, 1)
            ]
            writer.writerow((number, encoded(image), json.dumps(rows)))


def main() -> None:
    (FOLDER / "images").mkdir(parents=True, exist_ok=True)
    rows = []
    for number, (language, source, layout, elements, cut) in enumerate(PAGES, 1):
        name = f"page_{number}.jpg"
        columns = {"single_column": 1, "double_column": 2, "three_column": 3}[layout]
        page(elements, columns).save(FOLDER / "images" / name, quality=60)
        items = [
            {"anno_id": index, "order": index + 1, **element}
            for index, element in enumerate(elements)
        ]
        relations = [
            {"relation_type": "truncated", "source_anno_id": first, "target_anno_id": second}
            for first, second in cut
        ]
        attributes = {"language": language, "data_source": source, "layout": layout}
        info = {
            "image_path": name,
            "width": WIDTH,
            "height": HEIGHT,
            "page_attribute": {**attributes, "special_issue": []},
        }
        extra = {"relation": relations}
        rows.append({"layout_dets": items, "page_info": info, "extra": extra})
    content = json.dumps(rows, ensure_ascii=False, indent=1)
    (FOLDER / "OmniDocBench.json").write_text(f"{content}\n", encoding="utf-8")
    olmocr_bench()


if __name__ == "__main__":
    main()
