"""Match the columns of a user's file to fields, and guess the task from the first rows."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from snellen.benchmarks.families.tasks import Task, yes_no
from snellen.data import rows_of
from snellen.errors import DataError, UsageError
from snellen.media import forms
from snellen.media.content import Image

FIELDS: Mapping[str, Sequence[str]] = {
    "id": ("id", "index"),
    "image": ("image", "images", "image_path"),
    "video": ("video", "video_path"),
    "start": ("start",),
    "end": ("end",),
    "question": ("question",),
    "turns": ("turns",),
    "hint": ("hint",),
    "choices": ("choices",),
    "answer": ("answer", "answers", "caption", "captions"),
    "answer0": ("answer0",),
    "category": ("category",),
    "split": ("split",),
    **{letter: (letter, letter.lower()) for letter in ascii_uppercase},
}
OF_FIRST_TURN = ("image", "video", "start", "end", "hint")
"""The fields of a row that apply only to the first turn of a conversation."""
LOOKED_AT, MOST_LOOKED_AT = 1_000, 4_000_000
"""The task is guessed from at most this many rows and this many characters."""
_VIDEO_LIKE = re.compile(r"video|(?:^|[^a-z])(?:vid|clip|movie|film)|mp4|webm|mkv", re.IGNORECASE)
_IMAGE_LIKE = re.compile(r"im(a)?g|pic|photo|figure|file|path|url|jpe?g|png", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/=]+")
_PICTURE = "(a picture)"
"""The text that replaces a picture in the rows from which the task is guessed."""
SMALL = 200
"""A cell of an unknown column is stored with the sample if it has at most this many characters."""


@dataclass(frozen=True, kw_only=True)
class Guess:
    """The guessed task of a file of rows."""

    task: Task
    """The task."""
    why: str
    """The reason for the guess, as text for the user."""


def first_rows(path: Path, column_map: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the first rows of the file, with one row for each turn of a conversation. Long cells
    are cut and pictures are left out, since a thousand rows may contain gigabytes."""
    spelled = {**FIELDS, **{field: (column,) for column, field in column_map.items()}}
    head = []
    size = 0
    for row in islice(rows_of(path), LOOKED_AT):
        turns = turn_rows(row, spelled, f"row {row.position + 1} of {path.name}")
        blank = {name: None for name in row}  # so that `turns` and `answer` count as columns
        for turn in turns or [row]:
            head.append({**blank, **{name: _cut(value) for name, value in turn.items()}})
        size += sum(len(value) for value in row.values() if isinstance(value, str))
        if size > MOST_LOOKED_AT:
            break
    return head


def _cut(value: Any) -> Any:
    if isinstance(value, str | bytes):
        return value[:SMALL]
    if isinstance(value, Image):
        return _PICTURE
    return [_cut(part) for part in value[:30]] if isinstance(value, list | tuple) else value


def turn_rows(
    row: Mapping[str, Any], columns: Mapping[str, Sequence[str]], where: str
) -> list[dict[str, Any]] | None:
    """Return one row for each turn of a conversation, or None if the row has no turns.

    Raises:
        DataError: the turns are not a list of questions or objects, the number of answers differs
            from the number of turns, or both the row and a turn have an answer.
    """
    cell = cell_of(row, columns, "turns")
    if cell is None:
        return None
    turns = as_list(cell)
    if turns == [cell] or not turns:
        raise DataError(
            f"{where} has turns that are not a list. Write the turns as a JSON list of questions, "
            'or of objects such as [{"question": "What is it?", "answer": "a cat"}, ...].'
        )
    if cell_of(row, columns, "question") is not None:
        raise DataError(f"{where} has both a question and turns. Move the question into the turns.")
    answer = columns.get("answer", FIELDS["answer"])[0]
    answer_cell = cell_of(row, columns, "answer")
    listed = as_list(answer_cell)
    if answer_cell is None or listed == [answer_cell]:
        listed = [None] * (len(turns) - 1) + [answer_cell]
    if len(listed) != len(turns):
        raise DataError(
            f"{where} has {len(turns)} turns and {len(listed)} answers. Give one answer for each "
            "turn (null for a turn that has none), or a single answer for the last turn."
        )
    apart = {name for field in ("turns", "answer") for name in columns.get(field, ())}
    once = {name for field in OF_FIRST_TURN for name in columns.get(field, ())}
    rows = []
    for number, (turn, right) in enumerate(zip(turns, listed, strict=True), 1):
        if isinstance(turn, str):
            turn = {columns.get("question", FIELDS["question"])[0]: turn}
        if not isinstance(turn, Mapping):
            raise DataError(
                f"turn {number} of {where} is of type {type(turn).__name__}. Write the question as "
                "text, or as an object with a question."
            )
        if right is not None:
            if cell_of(turn, columns, "answer") is not None:
                raise DataError(
                    f"turn {number} of {where} has an answer, and so does its row. Remove one."
                )
            turn = {**turn, answer: right}
        left_out = apart if number == 1 else apart | once
        shared = {name: value for name, value in row.items() if name not in left_out}
        rows.append({**shared, **turn})
    return rows


def column_names(head: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the column names of all rows, in order of appearance."""
    return list(dict.fromkeys(name for row in head for name in row))


def field_columns(
    path: Path, head: Sequence[Mapping[str, Any]], column_map: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the columns of each field. If the user mapped a column to a field, that is the field's
    only column. A field without a mapping has all columns whose names `FIELDS` lists for it."""
    names = column_names(head)
    columns: dict[str, list[str]] = {}
    for column, field in column_map.items():
        if column not in names:
            raise DataError(
                f"{path.name} has no column {column!r} (--map {column}={field}). "
                f"{_near(column, names)}"
            )
        known = next((ours for ours, spellings in FIELDS.items() if field in spellings), None)
        if known is None:
            raise UsageError(
                f"--map {column}={field}: there is no field {field!r}. "
                f"{_near(field, list(FIELDS), 'fields')}"
            )
        if known in columns:
            raise UsageError(
                f"--map maps both {columns[known][0]!r} and {column!r} to {known}. Map only one "
                "column."
            )
        columns[known] = [column]
    for field, spellings in FIELDS.items():
        here = [name for name in spellings if name in names and name not in column_map]
        if here:
            columns.setdefault(field, here)
    if "video" not in columns:
        for column, field in column_map.items():
            if field in ("start", "end"):
                raise UsageError(
                    f"--map {column}={field} selects a part of a video, but {path.name} has no "
                    "column 'video'. Say which column has the videos with --map COLUMN=video."
                )
        # Without a video, columns called `start` and `end` can mean anything.
        columns = {field: here for field, here in columns.items() if field not in ("start", "end")}
    if "choices" in columns or not {"A", "B"} <= set(columns):
        # The columns `A` and `B` together are choices. `A` alone may be the answer to `Q`, or
        # anything else.
        columns = {field: here for field, here in columns.items() if field not in ascii_uppercase}
    return columns


def check_columns(
    path: Path, head: Sequence[Mapping[str, Any]], columns: Mapping[str, Sequence[str]], task: Task
) -> None:
    """Raise a DataError if the file lacks a column that the task needs."""
    names = column_names(head)
    needed = set() if task == "caption" else {"question"}
    taken = {column for here in columns.values() for column in here}
    lower = {name.lower(): name for name in names if name not in taken}
    # A similarity of at least 0.8 is taken for a misspelling. `answer_type`, at 0.71, is not one.
    close = get_close_matches("answer", lower, n=1, cutoff=0.8)
    if "answer" not in columns and close:
        column = lower[close[0]]
        raise DataError(
            f"{path.name} has no column 'answer', but {column!r} looks like a misspelling. "
            f"Rename the column, or map it with --map {column}=answer."
        )
    if not {"image", "video"} & set(columns):
        # Rows without pictures are allowed. But if a column of pictures is misspelled, its rows
        # must not be sent without their pictures.
        if any(_VIDEO_LIKE.search(name) for name in names):
            needed.add("video")
        elif task == "caption" or any(_IMAGE_LIKE.search(name) for name in names):
            needed.add("image")
    if task == "caption" and "image" in needed and "question" not in columns:
        raise DataError(
            f"{path.name} has neither a column 'question' nor a column 'image' or 'video'. "
            f"{_near('question', names)} Name the columns with --map COLUMN=question and so on."
        )
    for field in sorted(needed - set(columns)):
        raise DataError(
            f"{path.name} has no column {' or '.join(map(repr, FIELDS[field]))}, which {task} "
            f"needs. {_near(field, names)} Name the column with --map COLUMN={field}."
        )
    if "answer0" in columns and task != "mcq":
        raise DataError(
            f"{path.name} has a column 'answer0', the number of the right choice counted from 0, "
            f"but {task} has no choices. Use the column `answer` instead, or --task mcq."
        )
    if {"answer", "answer0"} <= set(columns):
        raise DataError(
            f"{path.name} has both {columns['answer'][0]!r} and {columns['answer0'][0]!r}. Only "
            "one column can contain the right answers. Remove the other one, or map it to another "
            "field."
        )
    if task == "mcq" and not {"choices", "A"} & set(columns):
        raise DataError(
            f"{path.name} has no choices, which mcq needs: columns 'A', 'B', ... or 'choices'. "
            f"{_near('choices', names)} Name the column with --map COLUMN=choices."
        )


def unshown_choices(
    path: Path, head: Sequence[Mapping[str, Any]], columns: Mapping[str, Sequence[str]], task: Task
) -> str | None:
    """Return a note if the rows have choices that the task does not show.

    Raises:
        DataError: all answers are letters of choices, so no reply to the task could be right.
    """
    letters = sorted(set(columns) & set(ascii_uppercase))
    if task == "mcq" or not (letters or "choices" in columns):
        return None
    where = f"columns {letters[0]} to {letters[-1]}" if letters else "column 'choices'"
    answers = [answer for row in head for answer in answers_in(cell_of(row, columns, "answer"))]
    if answers and all(re.fullmatch("[A-Z]", answer) for answer in answers):
        raise DataError(
            f"{path.name} has choices ({where}), and its answers are their letters, but --task "
            f"{task} does not show the choices. Leave out --task, or use --task mcq. To ask the "
            "questions without their choices, add --open-ended."
        )
    return f"--task {task} does not show the choices of the rows ({where})"


def _near(name: str, names: Sequence[str], kind: str = "columns") -> str:
    lower = {known.lower(): known for known in names}
    close = [lower[known] for known in get_close_matches(name.lower(), lower, n=1, cutoff=0.5)]
    hint = f"Did you mean {close[0]!r}? " if close else ""
    return f"{hint}The {kind} are {', '.join(names)}."


def guess_task(head: Sequence[Mapping[str, Any]], columns: Mapping[str, Sequence[str]]) -> Guess:
    """Guess the task from the fields, and from the answers in these rows."""
    if "choices" in columns:
        return Guess(task="mcq", why=f"the column {columns['choices'][0]!r}")
    if "A" in columns:
        letters = sorted(set(columns) & set(ascii_uppercase))
        return Guess(task="mcq", why=f"the columns {letters[0]} to {letters[-1]}")
    if "question" not in columns:
        return Guess(task="caption", why="rows without a question")
    answers = [answer for row in head for answer in answers_in(cell_of(row, columns, "answer"))]
    seen = f"of the first {len(head):,} rows"
    if not answers:
        return Guess(task="vqa", why=f"rows with a question and without answers, {seen}")
    if all(yes_no(answer) for answer in answers):
        return Guess(task="yesno", why=f"the answers {seen}, which are all yes or no")
    if all(re.fullmatch(r"\d{1,15}", answer) for answer in answers):
        return Guess(task="count", why=f"the answers {seen}, which are all whole numbers")
    return Guess(task="vqa", why=f"the answers {seen}, some of which are in words")


def has_media(row: Mapping[str, Any], columns: Mapping[str, Sequence[str]]) -> bool:
    """Return whether the row has an image or a video."""
    return any(cell_of(row, columns, field) not in (None, [], "[]") for field in ("image", "video"))


def cell_of(row: Mapping[str, Any], columns: Mapping[str, Sequence[str]], field: str) -> Any:
    """Return the first nonempty cell among the field's columns, or None if all these cells are
    empty."""
    for column in columns.get(field, ()):
        value = row.get(column)
        if value is not None and value != "":
            return value
    return None


def as_list(value: Any) -> list[Any]:
    """Convert a cell to a list. The cell may contain a single value, a list, or a JSON or Python
    list as text."""
    if value is None or value == "":
        return []
    if isinstance(value, str) and value.startswith("["):
        return _list_in(value)
    return [*value] if isinstance(value, list | tuple) else [value]


def _list_in(text: str) -> list[Any]:
    """Parse a text as a JSON list or as a Python list of strings. If the text is neither, return a
    list that contains only the text."""
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            items = read(text)
            if isinstance(items, list) and (read is json.loads or all(map(_is_text, items))):
                return items
    return [text]


def _is_text(item: object) -> bool:
    return isinstance(item, str)


def answers_in(value: Any) -> list[str]:
    """Return the answers in a cell, as text. JSON's true and false become yes and no."""
    answers = as_list(value)
    if isinstance(value, str) and not all(isinstance(answer, str) for answer in answers):
        # '["three", "four"]' is a list of answers. "[3, 4]" may be an interval, or anything else.
        answers = [value]
    spelled = {True: "yes", False: "no"}
    return [
        spelled[answer] if isinstance(answer, bool) else str(answer).strip()
        for answer in answers
        if answer is not None
    ]


def is_vlmevalkit(path: Path, head: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the rows have an index and pictures in base64, as in VLMEvalKit's TSVs."""
    if not path.name.lower().endswith((".tsv", ".tsv.gz")) or not {"index", "image"} <= set(
        column_names(head)
    ):
        return False
    cells = (str(row.get("image") or "").lstrip("['\" ") for row in head)
    return any(
        len(cell) > 64 and (forms.is_encoded(cell) or _BASE64.fullmatch(cell)) for cell in cells
    )
