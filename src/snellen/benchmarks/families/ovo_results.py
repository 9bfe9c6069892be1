"""OVO-Bench's results as its authors write them (utils/OVOBench.py#L20-L100), for score.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from snellen.core import Results
from snellen.store import STEM, safe_name

ORDER = ("EPM", "ASI", "HLD", "STU", "OJR", "ATR", "ACR", "OCR", "FPD", "REC", "SSR", "CRR")
"""The order in which inference.py names the tasks, also in the file's name."""
VIDEOS = "data/src_videos"
"""The folder before a video's name, as in inference.py by default."""


def results(
    rows: Iterable[Mapping[str, Any]],
    groups: Mapping[str, tuple[str, ...]],
    mode: str,
    model: str,
    replies: Mapping[str, str | None],
) -> Results:
    """The file of a model's `replies` by point (None: it failed) to the annotations `rows`.

    The file has a row for each question that was asked. A forward question is its annotation with a
    response to each of its points. A point that failed, or that was not asked although others of
    its question were, is null, as in the authors' files after an error of the model.
    """
    group_of = {task: group for group, tasks in groups.items() for task in tasks}
    holds: dict[str, list[dict[str, Any]]] = {group: [] for group in groups}
    tasks: set[str] = set()
    unasked = 0
    for row in rows:
        name = str(row["id"])
        video = f"{VIDEOS}/{row['video']}"
        if "test_info" not in row:
            if name not in replies:
                continue
            written = {
                "id": row["id"],
                "video": video,
                "task": row["task"],
                "question": row["question"],
                "response": replies[name],
                "ground_truth": chr(ord("A") + row["gt"]),
            }
        else:
            points = [f"{name}_{index}" for index in range(len(row["test_info"]))]
            if not any(point in replies for point in points):
                continue
            unasked += sum(point not in replies for point in points)
            info = [
                {**entry, "response": replies.get(point)}
                for point, entry in zip(points, row["test_info"], strict=True)
            ]
            written = {**row, "video": video, "test_info": info}
        holds[group_of[row["task"]]].append(written)
        tasks.add(row["task"])
    notes = []
    if unasked:
        notes.append(
            f"points that were not asked, of questions that were at others: {unasked:,}, null in "
            "it, and the authors' script counts them as wrong"
        )
    task_names = "_".join(task for task in ORDER if task in tasks)
    ending = f"_{task_names}_{mode}_1"
    return Results(
        name=f"{safe_name(model, room=STEM - len(ending))}{ending}.json",
        holds=holds,
        notes=tuple(notes),
    )
