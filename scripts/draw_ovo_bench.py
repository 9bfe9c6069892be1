"""Draw the rows that are bundled with OVO-Bench: `python scripts/draw_ovo_bench.py`.

There are two videos of letters that appear and disappear, and questions of all twelve tasks about
them, in the format of the authors' annotation file.
"""

import json
from pathlib import Path
from typing import Any

from snellen.media.drawing import Script, clip_script, write_clip

FOLDER = Path(__file__).parents[1] / "src/snellen/benchmarks/rows/ovo_bench"
FPS = 10
CLIPS = {
    "letters/order.mp4": clip_script("order", "2"),
    "letters/count.mp4": clip_script("count", "1"),
}


def times(script: Script) -> list[tuple[str, float, float]]:
    """Each letter, with the times at which it appears and disappears, in seconds."""
    return [(frame.letter, frame.first / FPS, frame.end / FPS) for frame in script.shown]


def choice(
    number: int, task: str, video: str, time: float, question: str, options: list[str], right: str
) -> dict[str, Any]:
    return {
        "id": number,
        "task": task,
        "video": video,
        "realtime": time,
        "question": question,
        "answer": right,
        "options": options,
        "gt": options.index(right),
    }


def questions() -> list[dict[str, Any]]:
    order, count = CLIPS
    letters, again = times(CLIPS[order]), times(CLIPS[count])
    (first, _, gone), (second, *_), (third, came, _) = letters[:3]
    others = [letter for letter in "CDHKNORSVZ" if letter not in (first, second, third)][:3]
    four = sorted((first, second, third, others[0]))
    after = round(letters[2][2] + 0.55, 2)
    return [
        choice(0, "EPM", order, after, "Which letter came first?", four, first),
        choice(1, "ASI", order, after, f"Which letter came after {first}", four, second),
        choice(
            2, "HLD", order, after, f"When did the letter {others[0]} come?",
            ["first", "second", "Unable to answer"], "Unable to answer",
        ),
        choice(3, "OCR", order, came + 0.5, "Which letter is there now?", four, third),
        choice(
            4, "ACR", order, came + 0.5, "What does the letter do?",
            ["It stands still.", "It turns.", "It grows."], "It stands still.",
        ),
        choice(
            5, "ATR", order, came + 0.5, "What colour is the letter?", ["red", "black"], "black",
        ),
        choice(
            6, "STU", order, gone - 0.5, "Where is the letter?",
            ["on the screen", "beside the screen"], "on the screen",
        ),
        choice(
            7, "FPD", order, gone - 0.5, f"What will the letter {first} do?",
            [f"It will {what}." for what in ("go", "turn blue", "grow", "fall", "sing")],
            "It will go.",
        ),
        choice(
            8, "OJR", order, gone - 0.5, "What is on the screen?", ["a letter", "a dog"],
            "a letter",
        ),
        counted(9, count, again),
        steps(10, order, letters),
        {
            "id": 11,
            "task": "CRR",
            "video": order,
            "question": f"Which letter comes after {first}?",
            "answer": second,
            "ask_time": 1,
            "clue_time": (clue := round(letters[1][1])),
            "test_info": [
                {"realtime": time, "type": int(time >= clue)}
                for time in (1, clue - 1, clue + 2, clue + 3, clue + 5)
            ],
        },
    ]  # fmt: skip


def counted(number: int, video: str, again: list[tuple[str, float, float]]) -> dict[str, Any]:
    name = again[0][0]
    mine = [item for item in again if item[0] == name]
    ends = [round(gone) for _, _, gone in mine]
    points = [*ends[:2], ends[-1] + 1]
    return {
        "id": number,
        "task": "REC",
        "video": video,
        "activity": f"show the letter {name}",
        "start_times": [round(came) for _, came, _ in mine],
        "end_times": ends,
        "test_info": [
            {"realtime": time, "count": sum(end <= time for end in ends)} for time in points
        ],
    }


def steps(number: int, video: str, letters: list[tuple[str, float, float]]) -> dict[str, Any]:
    name = [f"show the letter {letter}" for letter, *_ in letters]
    starts = [round(came) for _, came, _ in letters]
    return {
        "id": number,
        "task": "SSR",
        "video": video,
        "tutorial": "ShowLetters",
        "all_steps": name,
        "start_time": starts,
        "end_time": [round(gone) for _, _, gone in letters],
        "test_info": [
            {
                "realtime": starts[position] + offset,
                "step": name[position],
                "type": int(offset >= 0),
            }
            for position in (1, 2)
            for offset in (-2, 1)
        ],
    }


def main() -> None:
    for name, script in CLIPS.items():
        path = FOLDER / "src_videos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_clip(script, path)
    rows = json.dumps(questions(), ensure_ascii=False, indent=1)
    (FOLDER / "ovo_bench_new.json").write_text(rows + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
