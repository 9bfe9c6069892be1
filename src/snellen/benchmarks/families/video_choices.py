"""Shared by benchmarks that ask about videos: where the videos are, and how questions are asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from snellen.data import DataFile
from snellen.media.content import Video

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
