"""Draw the rows that are bundled with DocVQA, InfographicVQA, ChartQA, OCRBench and the captions of
COCO: `python scripts/draw_reading.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import json
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
INK, PAPER = "black", "white"
COLORS = ("#4477aa", "#cc6677", "#228833", "#ddaa33")


def written(path: Path, *lines: str, size: tuple[int, int] = (180, 96)) -> None:
    """Draw a page with lines of text."""
    page = Image.new("1", size, 1)
    draw = ImageDraw.Draw(page)
    for position, line in enumerate(lines):
        draw.text((6, 6 + 14 * position), line, fill=0)
    saved(page, path)


def bars(path: Path, values: dict[str, int]) -> None:
    """Draw bars with their names below and their values above."""
    picture = Image.new("RGB", (40 * len(values) + 10, 110), PAPER)
    draw = ImageDraw.Draw(picture)
    for position, (name, value) in enumerate(values.items()):
        left, color = 10 + 40 * position, COLORS[position % len(COLORS)]
        draw.rectangle((left, 94 - value, left + 24, 94), fill=color)
        draw.text((left, 96), name, fill=INK)
        draw.text((left + 4, 82 - value), str(value), fill=INK)
    saved(picture, path)


def scene(path: Path, shape: str, color: str, position: int) -> None:
    """Draw a shape on grass."""
    picture = Image.new("RGB", (64, 48), "#cce6ff")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 34, 64, 48), fill="#77aa66")
    box = (6 + 12 * position, 14, 30 + 12 * position, 38)
    if shape == "ball":
        draw.ellipse(box, fill=color)
    elif shape == "box":
        draw.rectangle(box, fill=color)
    else:
        draw.polygon(((box[0], box[3]), (box[2], box[3]), (box[0] + 12, box[1])), fill=color)
    saved(picture, path)


def saved(picture: Image.Image, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".png":
        picture.convert("P").save(path, optimize=True)
    else:
        picture.convert("RGB").save(path, format="JPEG", quality=50)


def as_json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


# -- DocVQA

LETTER = (
    "Lamp Makers' Union",
    "12 High Street",
    "May 5, 1970",
    "Dear Dr. Ada Byron,",
    "Yes, sold.",
)
TABLE = ("Item     Price", "Lamp     $ 4.50", "Wick     $ 0.75", "Total    $ 5.25")
FORM = ("Name: Ivy Moss", "Phone: 555-0142", "Member  [x] yes  [ ] no", "Signed: I. Moss")
PAGES = {"aabb0001_1": LETTER, "ccdd0002_4": TABLE, "eeff0003_2": FORM}
PAGE_QUESTIONS: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    # page, question, question types, answers
    ("aabb0001_1", "What is the date on the letter?", ("layout",), ("May 5, 1970", "5 May 1970")),
    ("aabb0001_1", "To whom is the letter?", ("free_text",), ("Dr. Ada Byron", "Ada Byron")),
    ("aabb0001_1", "Which union wrote it?", ("layout", "others"), ("Lamp Makers' Union",)),
    ("aabb0001_1", "Is it sold?", ("Yes/No",), ("Yes", "yes")),
    ("ccdd0002_4", "What does a lamp cost?", ("table/list",), ("$ 4.50", "4.50")),
    ("ccdd0002_4", "What is the total?", ("table/list", "figure/diagram"), ("$ 5.25", "5.25")),
    ("eeff0003_2", "What is the phone number?", ("form", "handwritten"), ("555-0142",)),
    ("eeff0003_2", "Who signed?", ("form", "handwritten"), ("I. Moss", "Ivy Moss")),
    ("eeff0003_2", "What is drawn beside the word yes?", ("Image/Photo",), ("a cross", "cross")),
)  # fmt: skip


def docvqa(folder: Path) -> None:
    for page, lines in PAGES.items():
        written(folder / "documents" / f"{page}.png", *lines)
    for split, name, request in (
        ("val", "val_v1.0_withQT.json", PAGE_QUESTIONS),
        ("test", "test_v1.0.json", PAGE_QUESTIONS[:3]),
    ):
        data = []
        for number, (page, question, kinds, answers) in enumerate(request):
            document, _, sheet = page.partition("_")
            row: dict[str, Any] = {
                "questionId": 90001 + 7 * number,
                "question": question,
                "question_types": [*kinds],
                "image": f"documents/{page}.png",
                "docId": 100 + [*PAGES].index(page),
                "ucsf_document_id": document,
                "ucsf_document_page_no": sheet,
                "answers": [*answers],
                "data_split": split,
            }
            if split == "test":
                del row["question_types"], row["answers"]
            data.append(row)
        head = {"dataset_name": "docvqa", "dataset_version": "1.0", "dataset_split": split}
        as_json(folder / name, {**head, "data": data})


# -- InfographicVQA

INFOGRAPHICS = {
    "90001.jpeg": {"walk": 12, "bike": 30, "bus": 58},
    "90002.jpeg": {"Jan": 20, "Feb": 45},
}
INFORMED: tuple[tuple[str, str, tuple[str, ...], dict[str, list[str]]], ...] = (
    ("90001.jpeg", "What percentage of people walk?", ("12%", "12"),
     {"answer_type": ["image span"], "evidence": ["figure", "textual"], "operation/reasoning": []}),
    ("90001.jpeg", "Which is more common, the bike or the bus?", ("bus", "the bus"),
     {"answer_type": ["question span", "image span"], "evidence": ["figure"],
      "operation/reasoning": ["comparison"]}),
    ("90001.jpeg", "How many means of transport are shown?", ("3", "three"),
     {"answer_type": ["non span"], "evidence": ["photo/pciture/visual_objects"],
      "operation/reasoning": ["counting"]}),
    ("90001.jpeg", "What percentage walk or take the bike?", ("42%", "42"),
     {"answer_type": ["non span"], "evidence": ["figure"], "operation/reasoning": ["arithmetic"]}),
    ("90002.jpeg", "Which months are shown?", ("Jan, Feb", "Feb, Jan"),
     {"answer_type": ["multiple spans"], "evidence": ["table/list"], "operation/reasoning": []}),
    ("90002.jpeg", "Which month lies at the right of the map?", ("Feb", "February"),
     {"answer_type": ["image span"], "evidence": ["map"], "operation/reasoning": []}),
    ("90002.jpeg", "By how much is February higher?", ("25", "twenty-five"),
     {"answer_type": ["non span"], "evidence": ["table/list"],
      "operation/reasoning": ["arithmetic", "comparison"]}),
    ("90002.jpeg", "What is the value of January?", ("20", "twenty"),
     {"answer_type": ["image span"], "evidence": ["textual"], "operation/reasoning": []}),
)  # fmt: skip


def info_vqa(folder: Path) -> None:
    for name, values in INFOGRAPHICS.items():
        bars(folder / "infographicsvqa_images" / name, values)
    for split, file, request in (
        ("val", "infographicsVQA_val_v1.0_withQT.json", INFORMED),
        ("test", "infographicsVQA_test_v1.0.json", INFORMED[:2]),
    ):
        data = []
        for number, (name, question, answers, kinds) in enumerate(request):
            row: dict[str, Any] = {
                "questionId": 98001 + number,
                "question": question,
                "image_local_name": name,
                "image_url": f"https://example.org/{name}",
                "ocr_output_file": name.replace("jpeg", "json"),
                "answers": [*answers],
                "data_split": split,
                **kinds,
            }
            if split == "test":
                for hidden in ("answers", *kinds):
                    del row[hidden]
            data.append(row)
        head = {"dataset_name": "infographicVQA", "dataset_version": "v1.0", "dataset_split": split}
        as_json(folder / file, {**head, "data": data})


# -- ChartQA

CHARTS = {"90001.png": {"2018": 20, "2019": 35, "2020": 50}, "90002.png": {"tea": 12, "milk": 40}}
HUMAN = (
    ("90001.png", "How many bars are above 30?", "2"),
    ("90001.png", "What is the colour of the highest bar?", "green"),
    ("90001.png", "What is the sum of the first and the last bar?", "70"),
    ("90002.png", "Is tea higher than milk?", "No"),
    ("90002.png", "What is the ratio of tea to milk?", "0.3"),
)
AUGMENTED = (
    ("90001.png", "What was the value in 2019?", "35"),
    ("90001.png", "In which year was the value 50?", "2020"),
    ("90002.png", "What share did milk have?", "40%"),
    ("90002.png", "What was the value of tea?", "12"),
    ("90002.png", "How many of the others are there?", "0"),
)


def chartqa(folder: Path) -> None:
    for split, human, augmented in (
        ("test", HUMAN, AUGMENTED),
        ("val", HUMAN[:2], AUGMENTED[:1]),
    ):
        for name, values in CHARTS.items():
            if split == "test" or name == "90001.png":
                bars(folder / split / "png" / name, values)
        for kind, request in (("human", human), ("augmented", augmented)):
            rows = [
                {"imgname": name, "query": query, "label": label} for name, query, label in request
            ]
            as_json(folder / split / f"{split}_{kind}.json", rows)


# -- OCRBench

RECOGNITION = "what is written in the image?"
FORMULA = "Please write out the expression of the formula in the image using LaTeX format."
FIELD = (
    "what is the total amount of this receipt? "
    "Answer this question using the text in the image directly."
)
READ: tuple[tuple[str, str, str, Any, str, tuple[str, ...]], ...] = (
    # data set, file, question, answers, type, what the picture says
    ("IIIT5K", "IIIT5K/test/1_1.png", RECOGNITION, "HOTEL", "Regular Text Recognition", ("HOTEL",)),
    ("ctw", "ctw/imgs/000000001.png", RECOGNITION, ["ANTONIOS", "ANTONIO'S"],
     "Irregular Text Recognition", ("ANTONIO'S",)),
    ("WordArt", "WordArt/test_image/1.png", RECOGNITION, "LANTERN", "Artistic Text Recognition",
     ("L A N T E R N",)),
    ("IAM", "IAM/words/a01.png", RECOGNITION, "lamps", "Handwriting Recognition", ("lamps",)),
    ("ORAND", "ORAND/test/1.png", "what is the number in the image?", "40712",
     "Digit String Recognition", ("40712",)),
    ("NonSemanticText", "NonSemanticText/1.png", RECOGNITION, "qzvtw",
     "Non-Semantic Text Recognition", ("qzvtw",)),
    ("STVQA", "STVQA/1.png", "Where does the road go?", ["Lower Town", "Lower  Town"],
     "Scene Text-centric VQA", ("Lower Town ->",)),
    ("docVQA", "docVQA/1.png", "What is the date?", "May 5, 1970", "Doc-oriented VQA",
     ("May 5, 1970", "Dear Ada,")),
    ("SROIE", "SROIE/1.png", FIELD, "13.50", "Key Information Extraction", ("Total   13.50",)),
    ("HME100k", "HME100K/test/test_images/test_1.png", FORMULA,
     ["y _ { 2 } = - 1\n", "y_2 = - 1\n"],
     "Handwritten Mathematical Expression Recognition", ("y  = - 1", " 2")),
    ("HME100k", "HME100K/test/test_images/test_2.png", FORMULA, "A = 4 B\n",
     "Handwritten Mathematical Expression Recognition", ("A = 4 B",)),
)  # fmt: skip


def ocrbench(folder: Path) -> None:
    rows = []
    for number, (dataset, file, question, answers, kind, lines) in enumerate(READ):
        written(folder / "OCRBench_Images" / file, *lines, size=(112, 44))
        rows.append({
            "dataset_name": dataset,
            # Ids are unique only within a data set, so two of the rows have the same id.
            "id": 9001 + number % 9,
            "image_path": file,
            "question": question,
            "answers": answers,
            "type": kind,
        })  # fmt: skip
    as_json(folder / "OCRBench" / "OCRBench.json", rows)


# -- captions of COCO

SCENES: tuple[tuple[int, str, str, int, tuple[str, ...]], ...] = (
    (900001, "ball", "#cc3311", 0, (
        "A red ball lies on the grass.", "a red ball in a green field", "The ball is red.",
        "One red ball on green grass", "A ball lies at the left of a lawn.")),
    (900002, "box", "#4477aa", 2, (
        "A blue box stands on the grass.", "a blue box on a lawn", "The box is blue.",
        "A big blue box in a field", "Somebody's blue box, left on the lawn.")),
    (900003, "tent", "#ddaa33", 1, (
        "A yellow tent on the grass", "A tent stands in a green field.", "a small yellow tent",
        "The tent is yellow.", "Two people's tent under a blue sky, on the lawn")),
    (900004, "ball", "#4477aa", 2, (
        "A blue ball at the right of the lawn", "a blue ball on green grass",
        "A ball, which is blue, lies there.", "The blue ball rolls on the grass.",
        "One blue ball under the sky.", "A sixth person sees a blue ball.")),
)  # fmt: skip


def captions(folder: Path) -> None:
    for year in (2014, 2017):
        kept = SCENES if year == 2014 else SCENES[:3]
        images, annotations = [], []
        for image, shape, color, position, item in kept:
            name = f"{'COCO_val2014_' if year == 2014 else ''}{image:012}.jpg"
            scene(folder / f"val{year}" / name, shape, color, position)
            images.append({
                "id": image, "file_name": name, "height": 48, "width": 64, "license": 1,
                "coco_url": f"https://example.org/{name}",
            })  # fmt: skip
            annotations += [
                {"image_id": image, "id": 10 * image + number, "caption": caption}
                for number, caption in enumerate(item)
            ]
        as_json(folder / "annotations" / f"captions_val{year}.json", {
            "info": {}, "images": images, "licenses": [], "annotations": annotations,
        })  # fmt: skip
    karpathy = [
        {
            "filepath": "val2014",
            "filename": f"COCO_val2014_{image:012}.jpg",
            "cocoid": image,
            "imgid": number,
            "split": "val" if number == 3 else "test",
            "sentids": [10 * image + position for position in range(len(item))],
            "sentences": [
                {
                    "raw": caption,
                    "tokens": caption.lower().rstrip(".").replace(",", "").split(),
                    "imgid": number,
                    "sentid": 10 * image + position,
                }
                for position, caption in enumerate(item)
            ],
        }
        for number, (image, _, _, _, item) in enumerate(SCENES)
    ]
    as_json(folder / "dataset_coco.json", {"images": karpathy, "dataset": "coco"})


def main() -> None:
    docvqa(ROWS / "docvqa")
    info_vqa(ROWS / "info_vqa")
    chartqa(ROWS / "chartqa")
    ocrbench(ROWS / "ocrbench")
    captions(ROWS / "coco_captions")


if __name__ == "__main__":
    main()
