"""Shared by benchmarks that ask about videos: where the videos are, and how questions are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from snellen.benchmarks.families import authors_files, choice_sets
from snellen.core import Benchmark, Check, Interop, Procedure, Sample, Scoring
from snellen.core.prompts import lettered
from snellen.data import DataFile, Row, Table, jsonl
from snellen.errors import DataError
from snellen.media.content import Cue, Video, user
from snellen.media.subtitles import cues
from snellen.metrics import Metric

# -- videos


def clip(
    data_file: DataFile,
    name: str,
    folders: Sequence[str] = ("videos", "video", ""),
    window: tuple[float, float | None] = (0.0, None),
) -> Video:
    """A video of the data set. `name` is the path of its file in the first of the folders that
    exists, and `window` is the part in seconds that a model may see. If no folder exists, the path
    is in the first one."""
    root = root_of(data_file)
    within = next((root / folder for folder in folders if (root / folder).is_dir()), None)
    within = root / folders[0] if within is None else within
    start, end = window
    return Video(within / name, start=start, end=end, label=name, within=within)


def root_of(data_file: DataFile) -> Path:
    """The folder of the data set: the folder that the user passed, or else the folder that the
    name of the file with the questions is relative to."""
    passed = data_file.data
    return passed if passed is not None and passed.is_dir() else data_file.folder


def subtitle_file(folder: Path, name: str) -> Path | None:
    """The file {name}.srt with the subtitles of a video. None if the video has none."""
    path = folder / f"{name}.srt"
    return path if path.parent == folder and path.is_file() else None


def cues_of(folder: Path, name: str) -> tuple[Cue, ...]:
    """The subtitles of a video in the file {name}.srt. Empty if the video has none.

    Raises:
        DataError: the subtitles cannot be read.
    """
    path = subtitle_file(folder, name)
    if path is None:
        return ()
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    return tuple(cues(text))


# -- questions with choices

CAREFULLY = (
    "Carefully watch the video and pay attention to the cause and sequence of events, the detail "
    "and movement of objects, and the action and pose of persons. Based on your observations, "
    "select the best option that accurately addresses the question.\n"
)
"""What MVBench's authors put before a question."""


def video_of(sample: Sample) -> str:
    return str(sample.data["video"])


def task_question(row: Row, data_file: DataFile, folder: str) -> Sample:
    """Make a sample from a row of MVBench or of a benchmark in its form. The videos are in
    `folder`, below video/ or videos/."""
    task, window = row["task"], (float(row.get("start") or 0), row.get("end"))
    video = clip(data_file, f"{folder}/{row['video']}", ("video", "videos"), window)
    choices = [str(choice) for choice in row["candidates"]]
    letter = last_letter_of(str(row["answer"]), choices)
    name = f"{task}|{row.get('id', row.position)}"
    return question(video, name, row["question"], choices, letter, {"task": task})


def question(
    video: Video,
    sample_id: str,
    text: str,
    choices: Sequence[str],
    letter: str | None,
    tags: Mapping[str, object],
) -> Sample:
    """A question with choices about a video. Tags that are None are empty."""
    return Sample(
        id=sample_id,
        question=text,
        choices=tuple(choices),
        media=(video,),
        target=letter,
        tags={name: "" if value is None else str(value) for name, value in tags.items()},
        data={"video": video.label},
    )


def last_letter_of(text: str, choices: Sequence[str]) -> str:
    """The letter of the last choice with this text.

    Raises:
        ValueError: no choice has this text.
    """
    positions = [index for index, choice in enumerate(choices) if choice == text]
    if not positions:
        raise ValueError(f"no choice is the answer {text[:80]!r}")
    return ascii_uppercase[positions[-1]]


def in_parentheses(sample: Sample) -> str:
    """The question and its choices as MVBench's authors write them, without a last line break."""
    lines = lettered(sample.choices, "({letter}) {choice}")
    return f"Question: {sample.question}\nOptions:\n{lines}".rstrip()


def with_letters(sample: Sample) -> str:
    """The question, and a line such as "A. a dog" for each choice."""
    return "\n".join([sample.question, *lettered(sample.choices).splitlines()])


def by_video(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions of a JSONL file in which a line has a video and the list `qa`. Each
    question has the fields of its video."""
    for row in jsonl(path):
        for entry in row["qa"]:
            yield {**{name: row[name] for name in row if name != "qa"}, **entry}


def files_by_task(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of all JSON files in the folder of `path`. The field `task` is the name of the
    row's file."""
    for file in sorted(path.parent.glob("*.json")):
        for row in authors_files.objects(file):
            yield {"task": file.stem, **row}


def choice_benchmark(
    name: str,
    source: tuple[Table, DataFile | None],
    sample: Callable[[Row], Sample],
    text: Callable[[Sample], str],
    scorings: Mapping[str, Scoring],
    check: Check,
    **fields: Any,
) -> Benchmark:
    """A benchmark whose questions with choices follow a video. `source` is what
    `authors_files.table` returns, and `fields` are further fields of `Benchmark`."""
    table, file = source
    return Benchmark(
        name=name,
        asks=1,
        data=table,
        sample=lambda _, row: sample(row),
        prompt=lambda sample, _: (user(*sample.media, text(sample)),),
        scorings=scorings,
        cluster_by=video_of,
        check=check,
        procedure=Procedure(group_by=video_of, frames=fields.pop("frames", "uniform:32")),
        interop=Interop(files=file),
        **fields,
    )


def with_robust(
    scorings: Mapping[str, Scoring], metrics: Mapping[str, Metric] = choice_sets.ACCURACY
) -> dict[str, Scoring]:
    """The benchmark's own scorings, then Snellen's rule `robust`."""
    return {**scorings, "robust": choice_sets.scorings({}, metrics)["robust"]}


def with_data(sample: Sample, **data: object) -> Sample:
    """The sample with more data."""
    return replace(sample, data={**sample.data, **data})
