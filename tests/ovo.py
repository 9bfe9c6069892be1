"""OVO-Bench in the authors' form over small videos made on the spot; who sees the frames knows the
answers.

    made = ovo.made(folder)        # folder/ovo_bench_new.json, folder/src_videos/...
    made.points                    # what is asked, and what must have been seen
    made.right(text, indices)      # what one replies who is shown pictures of these indices

All of it follows from the makers in `tests.videos` and a seed, and nothing from decoding. Each
question says its number (#17), so that a prompt tells which one it is. Most videos have a size of
their own, so that a picture tells which one it is from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import ceil, floor
from pathlib import Path
from random import Random
from typing import Any

from tests import videos
from tests.videos import Clip

NUMBER = re.compile(r"#(\d+)(?:\.(\d+))?")
NOW = ("STU", "OJR", "ATR", "ACR", "OCR")
"""Tasks that ask for the newest picture; each other one asks something else."""
QUESTIONS = {
    "EPM": "Which of these pictures came first?",
    "HLD": "Which of these pictures was shown?",
    "ASI": "Which of these pictures was shown?",
    "FPD": "Which of these pictures comes next?",
    **dict.fromkeys(NOW, "Which picture is shown now?"),
}
UNABLE = "Unable to answer"
PER_TASK = 6
"""Questions of each of these nine tasks."""
AT_ONCE = 8.25
"""When five questions are asked about the first video."""
N_AHEAD = 9
"""Videos, the last ones, with questions that look ahead."""
N_SMALL = 24
"""Videos that have a size of their own."""

Maker = Callable[[Path], Clip]
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Point:
    """A time at which a question is asked: its id here, its number and that of its step (0: none),
    and the indices of the frames before its window's end."""

    id: str
    task: str
    video: str
    number: int
    step: int
    realtime: float
    right: str
    seen: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class OvoData:
    """The data in a folder; `clips` by the names that `rows` have for them."""

    folder: Path
    rows: Sequence[Row]
    clips: Mapping[str, Clip]

    @cached_property
    def points(self) -> list[Point]:
        """All of them, in the file's order."""
        return [point for row in self.rows for point in self._points(row)]

    def _points(self, row: Row) -> Iterator[Point]:
        times = row.get("test_info", [row])
        for position, item in enumerate(times):
            is_forward = "test_info" in row
            yield Point(
                id=f"{row['id']}_{position}" if is_forward else str(row["id"]),
                task=row["task"],
                video=row["video"],
                number=row["id"],
                step=row["all_steps"].index(item["step"]) + 1 if row["task"] == "SSR" else 0,
                realtime=item["realtime"],
                right=_right_in(row, item),
                seen=seen_by(self.clips[row["video"]], item["realtime"]),
            )

    def point_of(self, text: str, newest: int) -> Point | None:
        """The point that a prompt with frames up to this one is about; None where it is of no
        point's window."""
        key = (*_numbers(text), newest)
        return next(
            (point for point in self.points if (point.number, point.step, point.seen[-1]) == key),
            None,
        )

    def right(self, text: str, indices: Sequence[int]) -> str:
        """The reply to a prompt of who is shown these pictures, and knows when each is shown."""
        number, step = _numbers(text)
        (row,) = (row for row in self.rows if row["id"] == number)
        newest = max(indices)
        times = {index: time for time, index in frames_of(self.clips[row["video"]])}
        now = floor(times[newest]) + 1
        if row["task"] == "REC":
            return str(sum(end <= now for end in row["end_times"]))
        if row["task"] == "SSR":
            return _yes(row["start_time"][step - 1] <= now <= row["end_time"][step - 1])
        if row["task"] == "CRR":
            return _yes(now >= row["clue_time"])
        options = [None if option == UNABLE else int(option) for option in row["options"]]
        shown = [option for option in options if option is not None and option <= newest]
        coming = [option for option in options if option is not None and option > newest]
        if row["task"] == "FPD":
            return _letter(options.index(min(coming)))
        if row["task"] == "EPM":
            return _letter(options.index(min(shown)))
        if row["task"] in NOW:
            return _letter(options.index(newest)) if newest in options else "none of them"
        if len(shown) > 1:
            return "several of them"
        return _letter(options.index(shown[0] if shown else None))


def _numbers(text: str) -> tuple[int, int]:
    """The number of the question in a prompt, and of its step."""
    (matches,) = NUMBER.findall(text)
    return int(matches[0]), int(matches[1] or 0)


def _right_in(row: Row, point: Mapping[str, Any]) -> str:
    if row["task"] == "REC":
        return str(point["count"])
    return _yes(point["type"]) if "type" in point else _letter(row["gt"])


def _yes(is_so: object) -> str:
    return "Yes" if is_so else "No"


def _letter(position: int) -> str:
    return "ABCDE"[position]


def frames_of(clip: Clip) -> list[tuple[float, int]]:
    """Seconds from the first frame on, and indices."""
    return [(float(time - clip.frames[0][0]), index) for time, index in clip.frames]


def seen_by(clip: Clip, seconds: float) -> tuple[int, ...]:
    """The indices of the frames before the next whole second."""
    return tuple(index for time, index in frames_of(clip) if time < ceil(seconds))


# -- making


def make_data(folder: Path, seed: int = 0) -> OvoData:
    """Make all of it: 36 videos, 69 questions, 129 points."""
    random = Random(seed)
    clips = {}
    for name, make in makers().items():
        path = folder / "src_videos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        clips[name] = make(path)
    rows = list(_rows(clips, random))
    text = json.dumps(rows, indent=4, ensure_ascii=False)
    (folder / "ovo_bench_new.json").write_text(text, encoding="utf-8")
    return OvoData(folder=folder, rows=rows, clips=clips)


def makers() -> dict[str, Maker]:
    """Of each video; those of questions that look ahead last."""
    small = {
        f"{folder}/{number}.mp4": _sized(number, fps=(5, 8, 10)[number % 3])
        for number, folder in enumerate(["Ego4D/clips", "AutoEvalMetaData", "star"] * 6)
    }
    ahead = {
        f"{folder}/{number}.mp4": _sized(number, fps=(5, 10)[number % 2])
        for number, folder in enumerate(["perception_test", "COIN", "MovieNet"] * 2, len(small))
    }
    return {
        # A name with a character that addresses use, as the authors have them.
        "YouTube_Games/PL9Zx&index=1.mp4": partial(videos.cfr, n=150, fps=10),
        "YouTube_Games/late.mp4": partial(videos.offset, n=100, fps=10),
        "youcook2/open.mp4": partial(videos.open_gop, n=120, fps=10),
        "hirest/irregular.mp4": partial(videos.vfr, n=150, fps=10),
        "OpenEQA/a.mkv": partial(videos.matroska, n=60, fps=5),
        "OpenEQA/turned.mp4": partial(videos.turned, degrees=90, n=80, fps=8),
        "star/sound.mp4": partial(videos.with_audio, n=80, fps=8, seconds=11),
        "thumos/b.webm": partial(videos.vp9, n=60, fps=5),
        "thumos/c.avi": partial(videos.mpeg4, n=100, fps=10),
        **small,
        **ahead,
        "cross_task/d.mkv": partial(videos.matroska, n=85, fps=5),
        "cross_task/turned.mp4": partial(videos.turned, degrees=270, n=90, fps=5),
        "COIN/last.mp4": partial(videos.cfr, n=90, fps=5),
    }


def _sized(number: int, fps: int) -> Maker:
    return partial(
        videos.sized, width=160 + 2 * number, height=96, n=(14 + number % 6) * fps, fps=fps
    )


def _rows(clips: Mapping[str, Clip], random: Random) -> Iterator[Row]:
    """The questions task by task, as in the authors' file."""
    names = list(clips)
    now, ahead = names[:-N_AHEAD], names[-N_AHEAD:]
    number = 0
    for task in ("EPM", "HLD", "ASI", "STU", "OJR", "ATR", "FPD", "ACR", "OCR"):
        # Each task once about the first video; the others one after another.
        of = [now[0], *(now[(number + k) % len(now)] for k in range(PER_TASK - 1))]
        if task == "ASI":
            of[-1] = ahead[0]
        for position, name in enumerate(of):
            yield _choice(number, task, name, clips[name], random, position)
            number += 1
    for name in [*ahead[6:8], *ahead[6:8]]:
        yield _clue(number, name, random.randrange(3))
        number += 1
    for name in ahead[:6]:
        yield _steps(number, name, random.randrange(2))
        number += 1
    for name in [*ahead[1:4], *ahead[7:]]:
        yield _total(number, name, random.randrange(4))
        number += 1


def _choice(number: int, task: str, name: str, clip: Clip, random: Random, position: int) -> Row:
    end = frames_of(clip)[-1][0]
    # The last second is left for what comes next.
    length = random.randrange(3, floor(end))
    realtime: float = length if position % 2 else round(length - random.uniform(0.02, 0.98), 2)
    if task in NOW and not position:
        realtime = AT_ONCE
    seen = seen_by(clip, realtime)
    coming = [index for _, index in clip.frames if index > seen[-1]]
    others: list[int]
    if task in NOW:
        right, others = str(seen[-1]), [*random.sample(seen[:-1], 2), coming[0]]
    elif task == "FPD":
        right, others = str(coming[0]), [*random.sample(seen, 2), coming[-1]]
    elif task == "EPM":
        right, others = str(seen[0]), random.sample(seen[1:], 3)
    elif task == "ASI":
        right, others = str(random.choice(seen)), [coming[0], coming[1], coming[-1]]
    else:
        right, others = UNABLE, [coming[0], coming[1], coming[-1]]
    options = [right, *map(str, others)]
    random.shuffle(options)
    return {
        "id": number,
        "task": task,
        "video": name,
        "realtime": realtime,
        "question": f"{QUESTIONS[task]} #{number}",
        "answer": right,
        "options": options,
        "gt": options.index(right),
    }


def _clue(number: int, name: str, later: int) -> Row:
    """Its last point lies behind the video's end."""
    ask, clue = 2 + later, 6 + later
    times = ((ask, 0), (ask + 2, 0), (clue + 2, 1), (clue + 6, 1), (clue + 30, 1))
    return {
        "id": number,
        "task": "CRR",
        "video": name,
        "question": f"What is shown from the clue on? #{number}",
        "answer": "A picture.",
        "ask_time": ask,
        "clue_time": clue,
        "test_info": [{"realtime": time, "type": right} for time, right in times],
    }


def _steps(number: int, name: str, later: int) -> Row:
    """Points are grouped by step, not in the order of time."""
    first, second = f"begin #{number}.1", f"go on #{number}.2"
    start = 9 + later
    return {
        "id": number,
        "task": "SSR",
        "video": name,
        "tutorial": "ShowPictures",
        "all_steps": [first, second],
        "start_time": [2, start],
        "end_time": [6, start + 4],
        "test_info": [
            {"realtime": 4, "step": first, "type": 1},
            {"realtime": 6, "step": first, "type": 1},
            {"realtime": start - 5, "step": second, "type": 0},
            {"realtime": start - 2, "step": second, "type": 0},
            {"realtime": start + 2, "step": second, "type": 1},
        ],
    }


def _total(number: int, name: str, later: int) -> Row:
    """Two of its points are at the very end of a repetition."""
    ends = [3 + later, 5 + later, 8 + later]
    times = ((2, 0), (3, 1), (4, 1), (8, 3), (9, 3))
    return {
        "id": number,
        "task": "REC",
        "video": name,
        "activity": f"pass a mark #{number}",
        "start_times": [end - 1 for end in ends],
        "end_times": ends,
        "test_info": [{"realtime": time + later, "count": count} for time, count in times],
    }
