"""Write OVO-Bench's results in the authors' format (utils/OVOBench.py#L20-L100), for the authors'
score.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from snellen.core import Results
from snellen.store import STEM, safe_name

ORDER = ("EPM", "ASI", "HLD", "STU", "OJR", "ATR", "ACR", "OCR", "FPD", "REC", "SSR", "CRR")
"""The order of the tasks in inference.py, which is also their order in the file name."""
VIDEOS = "data/src_videos"
"""The folder of the videos in inference.py's default settings, with which the stored paths
begin."""


def results(
    rows: Iterable[Mapping[str, Any]],
    groups: Mapping[str, tuple[str, ...]],
    mode: str,
    model: str,
    replies: Mapping[str, str | None],
) -> Results:
    """Build the results file of a model for the annotations `rows`. `replies` maps the id of each
    question or point to the reply, or to None if the request failed.

    The file has one entry for each question that was asked. The entry of a forward question is the
    question's annotation, with a response added to each point. The response is null if the request
    failed, or if only other points of the question were asked. The authors' files also contain null
    where the model failed.
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
            "points that were not asked, although others of the same questions were: "
            f"{unasked:,} (null in the file; the authors' script counts them as wrong)"
        )
    task_names = "_".join(task for task in ORDER if task in tasks)
    ending = f"_{task_names}_{mode}_1"
    return Results(
        name=f"{safe_name(model, room=STEM - len(ending))}{ending}.json",
        holds=holds,
        notes=tuple(notes),
    )
