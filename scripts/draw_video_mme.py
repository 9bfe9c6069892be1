"""Draw the rows that are bundled with Video-MME: `python scripts/draw_video_mme.py`.

There are two videos of letters that appear and disappear, subtitles for one of them, and questions
about both, in the format of the authors' results, which have commas even after last members.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from snellen.media.drawing import Script, clip_script, write_clip

FOLDER = Path(__file__).parents[1] / "src/snellen/benchmarks/rows/video_mme"
FPS = 10
ORDER, FLASH = clip_script("order", "2"), clip_script("flash", "1")


def letters(script: Script) -> list[str]:
    return [frame.letter for frame in script.shown]


def question(
    number: str, task: str, text: str, right: str, others: Sequence[str], position: int
) -> dict[str, Any]:
    """A question whose right answer is at this position among four choices."""
    texts = [*others[:position], right, *others[position:]]
    return {
        "question_id": number,
        "task_type": task,
        "question": text,
        "options": [f"{letter}. {text}." for letter, text in zip("ABCD", texts, strict=True)],
        "answer": "ABCD"[position],
        "response": "",
    }


def letter_name(letter: str) -> str:
    return f"The letter {letter}"


def others(right: str) -> list[str]:
    """Names of letters that are wrong answers."""
    return [letter_name(letter) for letter in "HKNORSVZ" if letter != right][:3]


def videos() -> list[dict[str, Any]]:
    came, flashed = letters(ORDER), letters(FLASH)
    return [
        {
            "video_id": "001",
            "duration": "short",
            "domain": "Knowledge",
            "sub_category": "Technology",
            "videoID": "letters-1",
            "questions": [
                question("001-1", "Temporal Perception", "Which letter comes first?",
                         letter_name(came[0]), others(came[0]), 0),
                question("001-2", "OCR Problems", "Which letter comes last?", letter_name(came[-1]),
                         others(came[-1]), 1),
                question("001-3", "Counting Problem", "How many letters come in all?",
                         str(len(came)), [str(len(came) + n) for n in (1, 2, 3)], 2),
                question("001-4", "Attribute Perception", "What colour are the letters?", "Black",
                         ("Red", "Blue", "White"), 3),
            ],
        },
        {
            "video_id": "601",
            "duration": "long",
            "domain": "Multilingual",
            "sub_category": "Multilingual",
            "videoID": "letters_2",
            "questions": [
                question("601-1", "Object Recognition", "What is shown in this video?", "Letters",
                         ("Dogs", "Houses", "Clouds"), 0),
                question("601-2", "Information Synopsis", "What is the genre of this video?",
                         "A test of the eyes", ("A play", "A race", "A meal"), 1),
                question("601-3", "Temporal Reasoning", "Which letter comes at the end?",
                         letter_name(flashed[-1]), others(flashed[-1]), 2),
                question("601-4", "Action Recognition", "What does a letter do?", "It goes",
                         ("It turns", "It grows", "It falls"), 3),
            ],
        },
    ]  # fmt: skip


def with_spare_commas(rows: list[dict[str, Any]]) -> str:
    """Add commas as in the authors' file: after the last member of a question, and of the list."""
    text = json.dumps(rows, indent=4)
    text = re.sub(r'("response": "")\n', r"\1,\n", text)
    return re.sub(r"\n]$", ",\n]\n", text)


def clock(frame: int) -> str:
    seconds, tenths = divmod(frame, FPS)
    return f"00:00:{seconds:02},{tenths}00"


def subtitles(script: Script) -> str:
    """The subtitles of a video, in the format of the data set's files."""
    blocks = (
        f"{number}\n{clock(frame.first)} --> {clock(frame.end)}\n"
        f'<font color="white" size=".72c">Here is {frame.letter}.</font>\n'
        for number, frame in enumerate(script.shown, 1)
    )
    return "\n".join(blocks)


def main() -> None:
    for name in ("data", "subtitle"):
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
    write_clip(ORDER, FOLDER / "data/letters-1.mp4")
    write_clip(FLASH, FOLDER / "data/letters_2.mp4")
    (FOLDER / "subtitle/letters_2.srt").write_text(subtitles(FLASH), encoding="utf-8")
    rows = with_spare_commas(videos())
    (FOLDER / "output_test_template.json").write_text(rows, encoding="utf-8")


if __name__ == "__main__":
    main()
