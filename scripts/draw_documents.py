"""Draw the rows that are bundled with CRPE and the benchmarks about documents:
`python scripts/draw_documents.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

import base64
import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from PIL import Image, ImageDraw

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
BLUE, RED, GREEN = "#4477aa", "#cc6677", "#228833"
LETTERS = "ABCD"


def save(image: Image.Image, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with io.BytesIO() as file:
        image.save(file, format="PNG", optimize=True)
        path.write_bytes(file.getvalue())


def json_lines(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def encoded(image: Image.Image) -> str:
    with io.BytesIO() as file:
        image.save(file, format="PNG", optimize=True)
        return base64.b64encode(file.getvalue()).decode()


def sheet(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def page(lines: Sequence[str], size: tuple[int, int] = (160, 96)) -> Image.Image:
    """A white page with lines of text."""
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((4, 4 + 12 * number), line, fill="black")
    return image


# -- CRPE: a disc on a square, each question with its choices rotated four times

CRPE = {
    "relation": [
        ("subject", "What is on the square in the image?",
         ("The disc", "The cat", "The car", "The cup")),
        ("predicate", "What is the relation between the disc and the square in the image?",
         ("on", "under", "beside", "inside")),
        ("object", "What is the disc on in the image?",
         ("The square", "The table", "The road", "The bed")),
    ],
    "exist": [
        ("exist", "What object is in the image?", ("disc", "horse", "kite", "train")),
        ("exist", "Which shape is in the image?", ("square", "star", "heart", "arrow")),
    ],
}  # fmt: skip
ASK = "Answer with the option's letter from the given choices directly."


def crpe() -> None:
    image = Image.new("RGB", (64, 64), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((16, 34, 48, 60), fill=BLUE)
    draw.ellipse((22, 12, 42, 32), fill=RED)
    save(image, ROWS / "crpe/eval/crpe/abnormal_images/disc.png")
    for part, questions in CRPE.items():
        rows = []
        for number, (category, question, choices) in enumerate(questions):
            for turn in range(4):
                rotated = [*choices[-turn:], *choices[:-turn]] if turn else choices
                lines = [f"{a}. {b}" for a, b in zip(LETTERS, rotated, strict=True)]
                rows.append(
                    {
                        "question_id": 4 * number + turn,
                        "image": "eval/crpe/abnormal_images/disc.png",
                        "text": "\n".join([question, *lines, ASK]),
                        "category": category,
                        "correct_option": LETTERS[turn],
                    }
                )
        json_lines(ROWS / f"crpe/eval/crpe/crpe_{part}.jsonl", rows)


# -- ChartQAPro: sales of three fruits, as VLMEvalKit publishes questions

SALES = (("2021", 30), ("2022", 45), ("2023", 60))
CHARTQAPRO = [
    ("Factoid", ["How many pears were sold in 2022?"], ["45"], ["NO"], ""),
    ("Factoid", ["In which year were 60 pears sold?"], ["2023"], ["YES"], ""),
    ("Factoid", ["Which years are shown?"], ["[2021, 2022, 2023]"], ["YES", "YES", "YES"], ""),
    ("Factoid", ["Who sold the pears?"], ["unanswerable"], ["NO"], ""),
    ("Multi Choice", ["Which year had the fewest sales? a) 2021 b) 2022 c) 2023"], ["a"], ["NO"],
     ""),
    ("Fact Checking", ["Sales doubled from 2021 to 2023."], ["true"], ["NO"], ""),
    ("Conversational", ["What was sold?", "How many in the first year?"], ["Pears", "30"],
     ["NO", "NO"], ""),
    ("Conversational", ["What is the highest bar?", "When was it?"], ["60", "2023"],
     ["NO", "YES"], ""),
    ("Hypothetical", ["If sales grow by 15 again, how many are sold in 2024?"], ["75"], ["NO"],
     "Sales of pears have grown steadily."),
    ("Hypothetical", ["If 2021 is left out, what is sold in total?"], ["105"], ["NO"], ""),
]  # fmt: skip


def chartqapro() -> None:
    image = page(["Pears sold"])
    draw = ImageDraw.Draw(image)
    for number, (year, value) in enumerate(SALES):
        left = 14 + 48 * number
        draw.rectangle((left, 80 - value, left + 30, 80), fill=(BLUE, RED, GREEN)[number])
        draw.text((left + 8, 69 - value), str(value), fill="black")
        draw.text((left + 4, 82), year, fill="black")
    picture = encoded(image)
    rows = [
        # A short cell is the index of the row that has the picture.
        (index, "0" if index else picture, questions, answers, kind, years, paragraph)
        for index, (kind, questions, answers, years, paragraph) in enumerate(CHARTQAPRO)
    ]
    header = ("index", "image", "question", "answer", "question_type", "year", "paragraph")
    sheet(ROWS / "chartqapro/chartqapro.tsv", header, rows)


# -- MP-DocVQA: two letters, as the organizers publish questions

LETTERS_SENT = {
    "lett0001": [["To: Ada Byron", "From: Mary Fairfax"], ["The engine has 25", "columns."],
                 ["Total: 1,500 pounds", "Signed: M. Fairfax"]],
    "lett0002": [["MEMO of 3 May 1843", "Re: notes A to G"]],
}  # fmt: skip
MP_DOCVQA = [
    ("lett0001", "Who wrote the letter?", ["Mary Fairfax", "M. Fairfax"], 0),
    ("lett0001", "To whom is the letter?", ["Ada Byron"], 0),
    ("lett0001", "How many columns has the engine?", ["25"], 1),
    ("lett0001", "What is the total?", ["1,500 pounds", "1,500"], 2),
    ("lett0001", "Who signed?", ["M. Fairfax"], 2),
    ("lett0002", "What is the date of the memo?", ["3 May 1843"], 0),
    ("lett0002", "What is the memo about?", ["notes A to G"], 0),
    ("lett0002", "What kind of document is it?", ["memo"], 0),
]  # fmt: skip


def mp_docvqa() -> None:
    pages = {
        name: [f"{name}_p{number}" for number in range(len(texts))]
        for name, texts in LETTERS_SENT.items()
    }
    (ROWS / "mp_docvqa/images").mkdir(parents=True, exist_ok=True)
    for name, texts in LETTERS_SENT.items():
        for page_name, lines in zip(pages[name], texts, strict=True):
            page(lines, (140, 40)).save(ROWS / f"mp_docvqa/images/{page_name}.jpg", quality=40)
    rows = [
        {
            "questionId": 101 + number,
            "question": question,
            "doc_id": document,
            "page_ids": pages[document],
            "answers": answers,
            "answer_page_idx": index,
            "data_split": "val",
        }
        for number, (document, question, answers, index) in enumerate(MP_DOCVQA)
    ]
    hidden = [
        {key: cell for key, cell in row.items() if not key.startswith("answer")} for row in rows[:2]
    ]
    for split, listed in (("val", rows), ("test", hidden)):
        content = {"dataset_name": "MP-DocVQA", "dataset_split": split, "data": listed}
        path = ROWS / f"mp_docvqa/{split}.json"
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


# -- MMLongBench-Doc: a report of three pages, with its pages as the authors' code renders them

REPORT = (("Report on the wells", "Copy 12 of 1843"), ("Depths", "A 14 ft", "B 9.5 ft", "C 12 ft"),
          ("Workers: Ann, Bob", "Visit https://wells.example"))  # fmt: skip
MMLONGBENCH_DOC = [
    ("What is the report on?", "the wells", [1], ["Pure-text (Plain-text)"], "Str"),
    ("How deep is well A, in feet?", "14", [2], ["Table"], "Int"),
    ("How deep is well B, in feet?", "9.5", [2], ["Table"], "Float"),
    ("Which wells are deeper than 10 feet?", "['A', 'C']", [2], ["Table"], "List"),
    ("Who are the workers?", "['Ann', 'Bob']", [3], ["Generalized-text (Layout)"], "List"),
    ("Which page may readers visit?", "https://wells.example", [3], ["Figure"], "Str"),
    ("Who dug well D?", "Not answerable", [], [], "None"),
    ("How many wells are there for each worker?", "1.5", [2, 3], ["Chart", "Table"], "Float"),
]


def mmlongbench_doc() -> None:
    for number, lines in enumerate(REPORT, 1):
        save(page(lines, (170, 56)), ROWS / f"mmlongbench_doc/tmp/report_{number}.png")
    rows = [
        {
            "doc_id": "report.pdf",
            "doc_type": "Research report / Introduction",
            "question": question,
            "answer": answer,
            "evidence_pages": str(pages),
            "evidence_sources": str(sources),
            "answer_format": kind,
        }
        for question, answer, pages, sources, kind in MMLONGBENCH_DOC
    ]
    path = ROWS / "mmlongbench_doc/data/samples.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, indent=4) + "\n", encoding="utf-8")


# -- CC-OCR, as VLMEvalKit publishes all of its data sets in one file

READ = "Please output only the text content from the image without any additional descriptions or "
READ += "formatting."
TABLE = '<table><tr><td>tea</td><td>2</td></tr><tr><td colspan="2">paid</td></tr></table>'
RECEIPT = '{"company": "CAFE NOIR", "date": "2024-03-05", "menu": [{"nm": "tea", "price": "4.50"}]}'
FILL = "Fill in this JSON schema with the information in the image: "
CC_OCR = [
    ("multi_scene_ocr", "scene_text", "IC15", READ, "EXIT 12", ["EXIT 12"]),
    ("multi_scene_ocr", "scene_text", "TotalText", READ, "Open daily", ["Open daily"]),
    ("multi_scene_ocr", "document_text", "zh_doc", READ, "XY-7", ["XY-7"]),
    ("multi_lan_ocr", "French", "French", READ, "rue du Port", ["rue du Port"]),
    ("multi_lan_ocr", "German", "German", READ, "Bitte leise", ["Bitte leise"]),
    ("doc_parsing", "doc", "doc_scan_eng", "Transcribe the image into LaTeX.",
     "\\section{Wells}\nThe well is deep.", ["Wells", "The well is deep."]),
    ("doc_parsing", "table", "table_scan_eng", "Convert the table into HTML.", TABLE,
     ["tea | 2", "paid"]),
    ("doc_parsing", "formula", "formula_handwriting", "Give the formula in LaTeX.", "x^{n}+y",
     ["x^n + y"]),
    ("doc_parsing", "molecular", "molecular_handwriting", "Give the structure in SMILES.", "O=O",
     ["O = O"]),
    ("kie", "constrained_category", "CORD", f"{FILL}{{}}", RECEIPT,
     ["CAFE NOIR", "2024-03-05", "tea 4.50"]),
    ("kie", "open_category", "COLD_SIBR", f"{FILL}{{}}", '{"name": "Ada", "born": "1815"}',
     ["Name: Ada", "Born: 1815"]),
]  # fmt: skip


def cc_ocr() -> None:
    rows = [
        (index, encoded(page(lines, (130, 44))), question, answer, *names, f"{index}.jpg")
        for index, (*names, question, answer, lines) in enumerate(CC_OCR)
    ]
    header = ("index", "image", "question", "answer", "category", "l2-category", "split")
    header = (*header, "image_name")
    sheet(ROWS / "cc_ocr/CCOCR.tsv", header, rows)


def main() -> None:
    cc_ocr()
    mmlongbench_doc()
    mp_docvqa()
    crpe()
    chartqapro()


if __name__ == "__main__":
    main()
