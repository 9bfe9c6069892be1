"""The data of eight video benchmarks, drawn in the files that their authors publish. Each frame of
a video says in its pixels which one it is.

Two videos are in two sets each, as in the real data: MVBench took videos from Charades and from the
Perception Test.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from tests import videos
from tests.videos import Clip

OWN_POLICIES: Mapping[str, str] = {
    "mvbench": "uniform:16",
    "charades-sta": "uniform:32",
    "perceptiontest": "uniform:32",
    "video-mme": "uniform:64",
    "lvbench": "uniform:64",
    "longvideobench": "uniform:64",
    "egoschema": "uniform:32",
    "tomato": "uniform:16",
}
"""The benchmarks' own frame policies."""
CHOICES = ("a dog", "a cat", "a house", "a cloud")
LETTERED = [f"{letter}. {choice}" for letter, choice in zip("ABCD", CHOICES, strict=True)]
ITEM = re.compile(r"item \d{3}")
Maker = Callable[[Path], Clip]
MAKERS: Mapping[str, Maker] = {
    "home": partial(videos.cfr, n=150),
    "desk": partial(videos.vfr, n=200),
    "cut": partial(videos.cfr, n=120),
    "late": partial(videos.offset, n=150),
    "long": partial(videos.open_gop, n=180, fps=videos.NTSC),
    "turned": partial(videos.turned, degrees=90, n=100),
    "hevc": partial(videos.hevc, n=100),
    "slow": partial(videos.cfr, n=40, fps=4),
}
PATHS = {
    ("mvbench", "home"): "video/star/Charades_v1_480/HOME1.mp4",
    ("mvbench", "desk"): "video/perception/videos/video_1.mp4",
    ("charades-sta", "home"): "Charades_v1_480/HOME1.mp4",
    ("perceptiontest", "desk"): "videos/video_1.mp4",
    ("perceptiontest", "cut"): "videos/video_2.mp4",
    ("video-mme", "late"): "data/late.mp4",
    ("lvbench", "long"): "videos/long.mp4",
    ("longvideobench", "turned"): "videos/turned.mp4",
    ("egoschema", "hevc"): "videos/hevc.mp4",
    ("tomato", "slow"): "videos/simulated/slow.mp4",
}
"""The file of each video in the folder of its benchmark."""
WINDOWS: Sequence[tuple[str, str, float, float | None]] = (
    ("mvbench", "home", 0.0, None),
    ("mvbench", "home", 1.0, 4.0),
    ("mvbench", "desk", 0.0, None),
    ("charades-sta", "home", 0.0, None),
    ("charades-sta", "home", 0.0, None),
    ("perceptiontest", "desk", 0.0, None),
    ("perceptiontest", "cut", 0.0, 3.0),
    ("video-mme", "late", 0.0, None),
    ("video-mme", "late", 0.0, None),
    ("lvbench", "long", 0.0, None),
    ("lvbench", "long", 0.0, None),
    ("longvideobench", "turned", 0.0, None),
    ("longvideobench", "turned", 0.0, None),
    ("egoschema", "hevc", 0.0, None),
    ("tomato", "slow", 0.0, None),
    ("tomato", "slow", 0.0, None),
)
"""The benchmark and the video of each question, and the part in seconds that a model may see."""


@dataclass(frozen=True, kw_only=True)
class DrawnQuestion:
    """A question about a part of a video, in seconds from the first frame."""

    benchmark: str
    item: str
    """Words that are in the text of no other question."""
    video: str
    """A key of `MAKERS`."""
    path: Path
    frames: tuple[tuple[Fraction, int], ...]
    """The time, from the first frame of the video, and the index of each frame of the video."""
    start: float
    end: float | None

    @property
    def text(self) -> str:
        return f"What is in {self.item}?"

    def picked(self, policy: str) -> list[tuple[Fraction, int]]:
        """The frames that `uniform:N` or `fps:R` picks, by its definition in docs/video.md."""
        kind, _, amount = policy.partition(",")[0].partition(":")
        window = [
            frame
            for frame in self.frames
            if self.start <= frame[0] and (self.end is None or frame[0] < self.end)
        ]
        if kind == "uniform":
            spots = np.linspace(0, len(window) - 1, min(int(amount), len(window)))
            return [window[int(spot)] for spot in spots]
        assert kind == "fps"
        shown = (max(frame for frame in window if frame[0] <= at) for at in self._ticks(amount))
        return [*dict.fromkeys(shown)]

    def _ticks(self, rate: str) -> Iterator[Fraction]:
        last = self.frames[-1][0]
        for number in count():
            at = Fraction(self.start) + number / Fraction(rate)
            if at > last or (self.end is not None and at >= self.end):
                return
            yield at


def draw(data: Path, makers: Mapping[str, Maker] = MAKERS) -> tuple[DrawnQuestion, ...]:
    """Draw the eight sets, each into the folder of `data` that is named after its benchmark.
    `makers` has the keys of `MAKERS`."""
    clips: dict[str, Clip] = {}
    for (benchmark, video), name in PATHS.items():
        path = data / benchmark / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if video in clips:
            shutil.copy(clips[video].path, path)
        else:
            clips[video] = makers[video](path)
    drawn = tuple(
        DrawnQuestion(
            benchmark=benchmark,
            item=f"item {number:03d}",
            video=video,
            path=data / benchmark / PATHS[benchmark, video],
            frames=tuple(
                (time - clips[video].frames[0][0], index) for time, index in clips[video].frames
            ),
            start=start,
            end=end,
        )
        for number, (benchmark, video, start, end) in enumerate(WINDOWS)
    )
    for name, content in files(drawn).items():
        path = data / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return drawn


def count_opens(patch: pytest.MonkeyPatch) -> Counter[Path]:
    """Count from now on how often PyAV opens each video."""
    counts: Counter[Path] = Counter()
    opens = av.open

    def counted(file: str, *args: Any, **options: Any) -> Any:
        counts[Path(file)] += 1
        return opens(file, *args, **options)

    patch.setattr(av, "open", counted)
    return counts


def by_content(counts: Mapping[Path, int]) -> Counter[str]:
    """The counts of copies of a file added up, by the digest of their content."""
    total: Counter[str] = Counter()
    for path, number in counts.items():
        total[sha256(path.read_bytes()).hexdigest()] += number
    return total


# -- files


def files(drawn: Sequence[DrawnQuestion]) -> dict[str, Any]:
    """The files with the questions: texts, or objects of JSON."""

    def rows(
        benchmark: str, row: Callable[[DrawnQuestion], Any], video: str | None = None
    ) -> list[Any]:
        return [
            row(question)
            for question in drawn
            if question.benchmark == benchmark and video in (None, question.video)
        ]

    return {
        "mvbench/json/action_sequence.json": rows("mvbench", mvbench_row, "home"),
        "mvbench/json/character_order.json": rows("mvbench", mvbench_row, "desk"),
        "charades-sta/charades_sta_test.txt": "\n".join(
            rows("charades-sta", lambda question: f"HOME1 1.0 2.0##{question.text}")
        ),
        "perceptiontest/mc_question_valid.json": dict(rows("perceptiontest", perception_entry)),
        "perceptiontest/cut_frame_mapping_valid.json": {"video_1": -1, "video_2": 90},
        "video-mme/output_test_template.json": [
            {"video_id": "001", "videoID": "late", "duration": "short", "domain": "Knowledge"}
            | {"sub_category": "Technology", "questions": rows("video-mme", video_mme_row)}
        ],
        "lvbench/video_info.meta.jsonl": json.dumps(
            {"key": "long", "type": "cartoon", "qa": rows("lvbench", lvbench_row)}
        ),
        "longvideobench/lvb_val.json": rows("longvideobench", longvideobench_row),
        "egoschema/questions.json": rows("egoschema", egoschema_row),
        "egoschema/subset_answers.json": {"hevc": 1},
        "tomato/count.json": dict(rows("tomato", tomato_entry)),
    }


def mvbench_row(question: DrawnQuestion) -> dict[str, Any]:
    window = {"start": question.start, "end": question.end} if question.end else {}
    row = {"video": question.path.name, "question": question.text, "candidates": CHOICES}
    return {**row, "answer": CHOICES[1], **window}


def perception_entry(question: DrawnQuestion) -> tuple[str, dict[str, Any]]:
    row = {"id": 0, "question": question.text, "options": CHOICES[:3], "answer_id": 1}
    row |= {"area": "memory", "reasoning": "descriptive", "tag": []}
    name = question.path.stem
    return name, {"metadata": {"video_id": name, "frame_rate": 30.0}, "mc_question": [row]}


def video_mme_row(question: DrawnQuestion) -> dict[str, Any]:
    row = {"question_id": question.item, "task_type": "OCR Problems", "question": question.text}
    return {**row, "options": LETTERED, "answer": "B", "response": ""}


def lvbench_row(question: DrawnQuestion) -> dict[str, Any]:
    choices = "\n".join(
        f"({letter}) {choice}" for letter, choice in zip("ABCD", CHOICES, strict=True)
    )
    row = {"uid": question.item, "question_type": ["reasoning"], "answer": "B"}
    return {**row, "question": f"{question.text}\n{choices}", "time_reference": "00:00-00:01"}


def longvideobench_row(question: DrawnQuestion) -> dict[str, Any]:
    row = {"id": question.item, "video_path": "turned.mp4", "question": question.text}
    more = {"candidates": CHOICES, "correct_choice": 1, "duration_group": 60}
    return {**row, **more, "question_category": "S2E", "level": "L1-Perception"}


def egoschema_row(question: DrawnQuestion) -> dict[str, Any]:
    options = {f"option {number}": text for number, text in enumerate((*CHOICES, "a boat"))}
    return {"q_uid": "hevc", "question": question.text, **options}


def tomato_entry(question: DrawnQuestion) -> tuple[str, dict[str, Any]]:
    row = {"question": question.text, "options": CHOICES, "answer": 1, "key": "slow"}
    return question.item, {**row, "demonstration_type": "simulated"}
