"""Reads the files of TempCompass's authors: predictions, and results with the judge's verdicts."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snellen.benchmarks.families.results import of_json
from snellen.core import Published, Reading
from snellen.errors import DataError

REPLIES = ("prediction", "response", "video-llm-prediction")
QUOTED = re.compile(r'"(.*?)"')


def results(path: Path, tasks: tuple[str, ...]) -> Published | None:
    """Read TASK.json, or a folder of such files, from predictions/ or auto_eval_results/. None for
    any other path."""
    files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
    replies: dict[str, str | None] = {}
    verdicts: dict[str, tuple[str, ...]] = {}
    readings: dict[str, Reading] = {}
    for file in files:
        content = of_json(file)
        if not of_videos(content):
            continue
        task = file.name.split(".")[0]
        if task not in tasks:
            if path.is_dir():
                continue
            raise DataError(
                f"{file}: the name of a file with TempCompass's results is its task, such as "
                f"{tasks[0]}.json. Rename the file, or select another task."
            )
        for name, row in rows_of(content, task, file):
            text = reply_of(row, name, file)
            judged = row.get("chatgpt-response") or row.get("chatgpt-answer")
            if text is not None and "rating" not in row and task == "captioning":
                text = cleaned(text, file.parent.name)
            replies[name] = text
            if text is not None and row.get("rating") in (0, 1) and judged is not None:
                word = "Correct" if row["rating"] else "Incorrect"
                readings[name] = Reading(answer=word, rule="stored rating")
            elif text is not None and isinstance(judged, str) and judged:
                verdicts[name] = (verdict_of(judged, task),)
    if not replies:
        return None
    return Published(
        replies=replies,
        verdicts={"official": verdicts} if verdicts else {},
        readings={"official": readings} if readings else {},
        only_these=True,
        notes=("the stored ratings of judged replies count",) if readings else (),
    )


def of_videos(content: Any) -> bool:
    """Whether a file's content maps videos to aspects, and these to lists of rows."""
    return (
        isinstance(content, dict)
        and bool(content)
        and all(
            isinstance(aspects, dict) and all(isinstance(rows, list) for rows in aspects.values())
            for aspects in content.values()
        )
    )


def rows_of(
    content: Mapping[str, Any], task: str, file: Path
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for video, aspects in content.items():
        video = video.replace(".jpg", "").replace(".mp4", "")
        for aspect, rows in aspects.items():
            for position, row in enumerate(rows):
                if not isinstance(row, dict):
                    raise DataError(
                        f"{file}: row {position + 1} of {video}, {aspect}, is not an object. "
                        "Download the file again."
                    )
                yield f"{task}|{video}|{aspect}|{position}", row


def reply_of(row: Mapping[str, Any], name: str, file: Path) -> str | None:
    key = next((key for key in REPLIES if key in row), None)
    if key is None:
        raise DataError(
            f"{file}: the row {name} has none of the fields {', '.join(REPLIES)}. Add the model's "
            "reply as `prediction`."
        )
    text = row[key]
    if not isinstance(text, str | None):
        raise DataError(
            f"{file}: the reply of the row {name} is {str(text)[:60]!r}. It must be text or null."
        )
    return text


def verdict_of(judged: str, task: str) -> str:
    """The judge's reply. Files with captions only have the part after "Answer:"."""
    return f"Answer: {judged}" if task == "captioning" and "\n" not in judged else judged


def cleaned(text: str, model: str) -> str:
    """A caption without the words around it, by the rules for models of this name."""
    text = text.replace("</s>", "").strip()
    if "gemini" in model:
        text = text.strip().split("\n")[-1].replace("*", "").strip().strip('"')
        text = text.split(":")[1].strip().strip('"') if ":" in text else text
    if "reka" not in model:
        return text
    last = text.split("\n")[-1]
    for part in (text, last):
        if part.count('"') == 2:
            return match[1] if (match := QUOTED.search(part)) else text
    return next((part.split(": ")[1] for part in (text, last) if part.count(": ") == 1), text)
