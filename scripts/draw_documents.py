"""Draw the rows that are bundled with CRPE: `python scripts/draw_documents.py`.

The questions and pictures are our own; only their format is that of the data sets.
"""

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


def main() -> None:
    crpe()


if __name__ == "__main__":
    main()
