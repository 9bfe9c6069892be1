"""Anybody's own rows, asked and scored without code: a JSONL, JSON, TSV or CSV file.

Paper    none
Data     the file that the user names. Columns: id | index (else the row's number, from 0); image
         | images | image_path (a path relative to the file, a list of them, base64, a data:
         address; an http address, fetched with --allow-urls); video | video_path (a path relative
         to the file), with start and end: frames from the one and before the other, in seconds
         from the first frame; question; hint (put before it); A, B, C, ... or choices; answer |
         answers | caption | captions; category and split (results are broken down by them). `--map
         COLUMN=FIELD` gives a column another
         meaning. turns, in the place of question: a list of questions, or of objects with fields
         as a row has them (question, image, choices, answer); the row's answers are a list with one
         for each turn (null: it is asked and not scored), or one that is the last turn's; its
         images, video and hint are the first turn's, its choices all turns'
Prompt   images, the video, hint, question, choices, and a line on the form of the answer (ASK
         below). mcq and vqa have LLaVA-1.5's, haotian-liu/LLaVA:docs/Evaluation.md; the others are
         ours. Where the text has marks, `<image>` (the next picture) or `<image 2>` (that one),
         pictures stand in their places, and those without one in front. Of a video uniform:64,
         unless --frames says another. In a conversation the model's own replies stand between the
         turns
Scoring  default, ours. mcq: the letter that the reply commits to. yesno: the word it begins with,
         or the only one of the two in it. count: the only number in it, in digits or words. vqa:
         the whole reply, without case, punctuation and articles, against the answer; with three
         answers or more, min(1, how many of them it equals / 3). robust (vqa): the same for what
         follows "the answer is", where a reply says so. caption: CIDEr, BLEU, ROUGE-L. vqa and
         caption, judged: what a judge gives, 0 to 10, against the answers (`snellen judge`).
         Each turn with an answer is scored as a question of its own; a conversation's turns share a
         cluster
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property, partial
from hashlib import blake2b
from itertools import chain, islice, zip_longest
from pathlib import Path
from string import ascii_uppercase
from typing import Any, cast, get_args

from snellen.benchmarks.families.tasks import (
    ASK,
    CHOICES,
    EXPECT,
    TARGET,
    WRONG,
    Task,
    scorings,
    verdict,
    yes_no,
)
from snellen.core import Benchmark, Check, Conversation, History, Presentation, Procedure, Sample
from snellen.core.benchmark import vary
from snellen.core.prompts import interleaved, lettered
from snellen.data import Drawn, Row, Table, rows_of, vlmevalkit_tsv
from snellen.errors import DataError, UsageError
from snellen.media import forms, video
from snellen.media.content import Image, Message, Part, Slice, Video, assistant, user

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
    "category": ("category",),
    "split": ("split",),
    **{letter: (letter, letter.lower()) for letter in ascii_uppercase},
}
BREAK_DOWN = ("category", "split")
OF_FIRST_TURN = ("image", "video", "start", "end", "hint")
"""Fields of a row that its first turn alone has."""
_MARK = re.compile(r"<image(?: (\d{1,3}))?>")
LOOKED_AT, MOST_LOOKED_AT = 1_000, 4_000_000
"""How many rows, of how many characters in all, the task is guessed from."""
_VIDEO_LIKE = re.compile(r"video|(?:^|[^a-z])(?:vid|clip|movie|film)|mp4|webm|mkv", re.IGNORECASE)
_IMAGE_LIKE = re.compile(r"im(a)?g|pic|photo|figure|file|path|url|jpe?g|png", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/=]+")
_PICTURE = "(a picture)"
"""Stands for a picture in the rows that the task is guessed from."""
SMALL = 200
"""Cells of columns without a meaning here are kept with the sample up to so many characters."""


@dataclass(frozen=True, kw_only=True)
class Guess:
    """The task that rows look like, and what shows it, in words for the user."""

    task: Task
    why: str


def own_data(
    path: Path,
    *,
    task: str | None = None,
    columns: Mapping[str, str] | None = None,
    data: Path | None = None,
) -> Benchmark:
    """The benchmark that a file of rows is; where no task is given, it is what `guess` says.

    `columns` maps the file's columns to our fields; `data` is the folder that images and videos are
    named relative to, if it is not the file's own.

    Raises:
        DataError: a column is missing or unknown, or the first rows cannot be read.
        UsageError: there is no such task, or no such field in `columns`.
    """
    if task is not None and task not in get_args(Task):
        close = get_close_matches(task, get_args(Task), n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UsageError(f"no task {task!r}; there are {', '.join(get_args(Task))}.{hint}")
    if data is not None and not data.is_dir():
        raise DataError(
            f"{data} is no folder; --data names the folder that images and videos lie in."
        )
    head = _head(path, columns or {})
    found = _columns(path, head, columns or {})
    notes = []
    if task is None:
        guessed = _guess(head, found)
        task = guessed.task
        notes.append(f"asked as --task {task}, guessed from {guessed.why}")
    chosen = cast(Task, task)
    _check_columns(path, head, found, chosen)
    if not {"image", "video"} & set(found):
        notes.append("the rows have no column of images or videos: asked as text alone")
    elif "turns" not in found and (bare := sum(not _shows(row, found) for row in head)):
        notes.append(
            f"{bare:,} of the first {len(head):,} rows have no image or video: asked as text alone"
        )
    if "answer" not in found:
        notes.append("the rows have no column of answers: asked and stored, not scored")
    elif without := sum(_cell(row, found, "answer") is None for row in head):
        which = "turns" if "turns" in found else "rows"
        notes.append(f"{without:,} of the first {len(head):,} {which} have no answer: in no mean")
    folder = data or (path if path.is_dir() else path.parent)
    known = {column for here in found.values() for column in here}
    if unused := [name for name in _names(head) if name not in known]:
        more = f" and {len(unused) - 8} more" if len(unused) > 8 else ""
        notes.append(f"columns that mean nothing here: {', '.join(unused[:8])}{more}")
    reader = _Reader(name=path.name, folder=folder, task=chosen, columns=found)
    # Pictures in the rows of a TSV are known by where they lie, and not read with them.
    kit = _is_vlmevalkit(path, head) and found.get("image") == ["image"]
    table = vlmevalkit_tsv(path) if kit else rows_of(path)
    return _benchmark(_safe_name(path), chosen, found, table, reader.sample, tuple(notes))


def guess(path: Path, columns: Mapping[str, str] | None = None) -> Guess:
    """What the file's columns and the answers in its first 1,000 rows look like.

    Raises:
        DataError: a column of the map is not there, or the rows cannot be read.
    """
    head = _head(path, columns or {})
    return _guess(head, _columns(path, head, columns or {}))


def stored(name: str, options: Mapping[str, Any]) -> Benchmark:
    """The benchmark that a run of own rows was made with, to score its replies without the rows."""
    reader = _Reader(
        name=name, folder=Path(), task=options["task"], columns=dict(options["columns"])
    )
    nothing = Drawn(name, lambda: iter(()))
    return _benchmark(name, reader.task, reader.columns, nothing, reader.sample)


def _benchmark(
    name: str,
    task: Task,
    columns: Mapping[str, Sequence[str]],
    data: Table,
    sample: Callable[[int, Row], Sample],
    notes: tuple[str, ...] = (),
) -> Benchmark:
    in_turns = "turns" in columns
    made = Benchmark(
        name=name,
        asks=2,
        data=data,
        sample=sample,
        prompt=lambda s, history: _conversation(task, s, history),
        scorings=scorings(task),
        cluster_by=_shown_by,
        check=Check(
            says=lambda _, answer: answer,
            wrong=WRONG[task],
            expect=EXPECT[task],
            verdict=verdict,
        ),
        procedure=Procedure(
            conversation=Conversation(
                turns=None if in_turns else 1, by_turn=by_turn if in_turns else None
            ),
            # Each video is decoded once for all that is asked about it.
            group_by=_shown_by if "video" in columns else None,
            frames=video.DEFAULT if "video" in columns else None,
        ),
        presentation=Presentation(
            break_down_by=tuple(tag for tag in BREAK_DOWN if tag in columns), notes=notes
        ),
    )
    stored_columns = {field: [*here] for field, here in columns.items()}
    return vary(made, options={"task": task, "columns": stored_columns})


def _shown_by(sample: Sample) -> str:
    """What samples about the same video, else the same image, have in common."""
    return str(sample.data.get("video") or sample.data.get("image") or sample.id)


OF_VIDEO = "Describe the video in one sentence."


def prompt(task: Task, sample: Sample) -> tuple[Message, ...]:
    """Images first, but for those that have a mark in the text, then the video, then all text, a
    line each."""
    lines = [sample.question]
    if task == "mcq":
        lines.append(lettered(sample.choices))
    is_video = any(isinstance(one, Video) for one in sample.media)
    lines.append(OF_VIDEO if task == "caption" and is_video else ASK[task])
    return (user(*_placed(sample.media, "\n".join(filter(None, lines)), sample.id)),)


def _placed(media: Sequence[Image | Video], text: str, where: str) -> tuple[Part, ...]:
    """Media and text, with each image that has a mark in the text in its place.

    Raises:
        DataError: a mark calls an image that is not there.
    """
    pictures = [one for one in media if isinstance(one, Image)]
    if not pictures or not _MARK.search(text):
        return (*media, text)
    in_order = iter(range(1, len(pictures) + 1))
    placed: set[int] = set()

    def picture(number: str | None) -> Part:
        place = next(in_order, len(pictures) + 1) if number is None else int(number)
        if not 1 <= place <= len(pictures):
            called = "<image>" if number is None else f"<image {number}>"
            raise DataError(
                f"{where} says {called} in its text, and has no image {place}: it has "
                f"{len(pictures)}. Give it the image, or take the mark out."
            )
        placed.add(place)
        return pictures[place - 1]

    parts = interleaved(text, _MARK, picture)
    left = [one for number, one in enumerate(pictures, 1) if number not in placed]
    return (*left, *(one for one in media if isinstance(one, Video)), *parts)


def _conversation(task: Task, sample: Sample, history: History) -> tuple[Message, ...]:
    """The next turn behind those that were asked and what the model said to them."""
    turns = by_turn(sample)
    if len(history) == len(turns):
        return ()
    asked = prompt(task, turns[len(history)])
    if not history:
        return asked
    sent, reply = history[-1]
    return (*sent, assistant(reply.text), *asked)


def by_turn(sample: Sample) -> tuple[Sample, ...]:
    """What each turn of a row asks, as a sample; the row's own where it is no conversation."""
    turns: Any = sample.data.get("turns")
    if turns is None:
        return (sample,)
    media = iter(sample.media)
    rest = {name: value for name, value in sample.data.items() if name != "turns"}
    return tuple(
        Sample(
            id=f"{sample.id}#{number}",
            question=turn["question"],
            choices=tuple(turn["choices"]),
            media=tuple(islice(media, turn["media"])),
            target=turn["target"],
            references=tuple(turn["references"]),
            tags=sample.tags,
            data=rest,
        )
        for number, turn in enumerate(turns, 1)
    )


# -- columns, and what they are taken for


def _head(path: Path, given: Mapping[str, str]) -> list[dict[str, Any]]:
    """The first rows, and in the place of one with turns a row for each; long cells cut and
    pictures left out: a thousand may be gigabytes."""
    spelled = {**FIELDS, **{field: (column,) for column, field in given.items()}}
    head = []
    size = 0
    for row in islice(rows_of(path), LOOKED_AT):
        turns = _exploded(row, spelled, f"row {row.place + 1} of {path.name}")
        named = {name: None for name in row}  # turns and answers are columns too
        for one in turns or [row]:
            head.append({**named, **{name: _cut(value) for name, value in one.items()}})
        size += sum(len(value) for value in row.values() if isinstance(value, str))
        if size > MOST_LOOKED_AT:
            break
    return head


def _shows(row: Mapping[str, Any], columns: Mapping[str, Sequence[str]]) -> bool:
    """Whether the row has an image or a video."""
    return any(_cell(row, columns, field) not in (None, [], "[]") for field in ("image", "video"))


def _cut(value: Any) -> Any:
    if isinstance(value, str | bytes):
        return value[:SMALL]
    if isinstance(value, Image):
        return _PICTURE
    return [_cut(part) for part in value[:30]] if isinstance(value, list | tuple) else value


def _exploded(
    row: Mapping[str, Any], columns: Mapping[str, Sequence[str]], where: str
) -> list[dict[str, Any]] | None:
    """For each turn of a conversation the row that it would be alone; None for another row.

    Raises:
        DataError: the turns are no list of questions or objects, or there are not as many answers,
            or answers in both places.
    """
    cell = _cell(row, columns, "turns")
    if cell is None:
        return None
    turns = _list(cell)
    if turns == [cell] or not turns:
        raise DataError(
            f"{where} has turns that are no list. Write them as a JSON list of questions, or of "
            'objects: [{"question": "What is it?", "answer": "a cat"}, ...].'
        )
    if _cell(row, columns, "question") is not None:
        raise DataError(f"{where} has a question beside its turns. Make it one of them.")
    answer = columns.get("answer", FIELDS["answer"])[0]
    given = _cell(row, columns, "answer")
    listed = _list(given)
    if given is None or listed == [given]:
        listed = [None] * (len(turns) - 1) + [given]
    if len(listed) != len(turns):
        raise DataError(
            f"{where} has {len(turns)} turns and {len(listed)} answers. Give one for each turn, "
            "null where there is none, or one alone, which is the last turn's."
        )
    apart = {name for field in ("turns", "answer") for name in columns.get(field, ())}
    once = {name for field in OF_FIRST_TURN for name in columns.get(field, ())}
    made = []
    for number, (turn, right) in enumerate(zip(turns, listed, strict=True), 1):
        if isinstance(turn, str):
            turn = {columns.get("question", FIELDS["question"])[0]: turn}
        if not isinstance(turn, Mapping):
            raise DataError(
                f"turn {number} of {where} is a {type(turn).__name__}, not a question or an object "
                "that has one."
            )
        if right is not None:
            if _cell(turn, columns, "answer") is not None:
                raise DataError(f"turn {number} of {where} has an answer, and its row another.")
            turn = {**turn, answer: right}
        left_out = apart if number == 1 else apart | once
        shared = {name: value for name, value in row.items() if name not in left_out}
        made.append({**shared, **turn})
    return made


def _names(head: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in head for name in row))


def _columns(
    path: Path, head: Sequence[Mapping[str, Any]], given: Mapping[str, str]
) -> dict[str, list[str]]:
    """For each field the column that the user mapped to it, else those of its names, in order."""
    names = _names(head)
    found: dict[str, list[str]] = {}
    for column, field in given.items():
        if column not in names:
            raise DataError(
                f"{path.name} has no column {column!r} (--map {column}={field}). "
                f"{_near(column, names)}"
            )
        known = next((ours for ours, spellings in FIELDS.items() if field in spellings), None)
        if known is None:
            raise UsageError(
                f"--map {column}={field}: there is no field {field!r}. {_near(field, list(FIELDS))}"
            )
        if known in found:
            raise UsageError(f"--map gives both {found[known][0]!r} and {column!r} to {known}.")
        found[known] = [column]
    for field, spellings in FIELDS.items():
        here = [name for name in spellings if name in names and name not in given]
        if here:
            found.setdefault(field, here)
    if "video" not in found:
        for column, field in given.items():
            if field in ("start", "end"):
                raise UsageError(
                    f"--map {column}={field} says which part of a video is shown, and "
                    f"{path.name} has no column 'video'. Say which it is with --map COLUMN=video."
                )
        # `start` and `end` alone are of anything.
        found = {field: here for field, here in found.items() if field not in ("start", "end")}
    if "choices" in found or not {"A", "B"} <= set(found):
        # A column `A` alone is an answer to `Q`, or anything; two letters are choices.
        found = {field: here for field, here in found.items() if field not in ascii_uppercase}
    return found


def _check_columns(
    path: Path, head: Sequence[Mapping[str, Any]], found: Mapping[str, Sequence[str]], task: Task
) -> None:
    names = _names(head)
    needed = set() if task == "caption" else {"question"}
    taken = {column for here in found.values() for column in here}
    lower = {name.lower(): name for name in names if name not in taken}
    # Closer than 0.8 are misspellings; `answer_type`, 0.71, says nothing of hidden answers.
    close = get_close_matches("answer", lower, n=1, cutoff=0.8)
    if "answer" not in found and close:
        column = lower[close[0]]
        raise DataError(
            f"{path.name} has no column 'answer', but {column!r}. Rename it, or say what it is "
            f"with --map {column}=answer."
        )
    if not {"image", "video"} & set(found):
        # Rows may be text alone, but a misspelt column must not be asked about without its
        # pictures.
        if any(_VIDEO_LIKE.search(name) for name in names):
            needed.add("video")
        elif task == "caption" or any(_IMAGE_LIKE.search(name) for name in names):
            needed.add("image")
    if task == "caption" and "image" in needed and "question" not in found:
        raise DataError(
            f"{path.name} has neither a column 'question' nor one of pictures, 'image' or 'video'. "
            f"{_near('question', names)} Say which they are with --map COLUMN=question."
        )
    for field in sorted(needed - set(found)):
        raise DataError(
            f"{path.name} has no column {' or '.join(map(repr, FIELDS[field]))}, which {task} "
            f"needs. {_near(field, names)} Say which it is with --map COLUMN={field}."
        )
    if task == "mcq" and not {"choices", "A"} & set(found):
        raise DataError(
            f"{path.name} has no choices, which mcq needs: columns 'A', 'B', ... or 'choices'. "
            f"{_near('choices', names)} Say which it is with --map COLUMN=choices."
        )


def _near(name: str, names: Sequence[str]) -> str:
    lower = {one.lower(): one for one in names}
    close = [lower[one] for one in get_close_matches(name.lower(), lower, n=1, cutoff=0.5)]
    hint = f"Did you mean {close[0]!r}? " if close else ""
    return f"{hint}There are {', '.join(names)}."


def _guess(head: Sequence[Mapping[str, Any]], found: Mapping[str, Sequence[str]]) -> Guess:
    if "choices" in found:
        return Guess(task="mcq", why=f"the column {found['choices'][0]!r}")
    if "A" in found:
        letters = sorted(set(found) & set(ascii_uppercase))
        return Guess(task="mcq", why=f"the columns {letters[0]} to {letters[-1]}")
    if "question" not in found:
        return Guess(task="caption", why="there is no question in the rows")
    answers = [answer for row in head for answer in _answers(_cell(row, found, "answer"))]
    seen = f"of the first {len(head):,} rows"
    if not answers:
        return Guess(task="vqa", why=f"a question, and no answers in any {seen}")
    if all(yes_no(answer) for answer in answers):
        return Guess(task="yesno", why=f"all answers {seen} are yes or no")
    if all(re.fullmatch(r"\d{1,15}", answer) for answer in answers):
        return Guess(task="count", why=f"all answers {seen} are whole numbers")
    return Guess(task="vqa", why=f"a question, and answers in words in some {seen}")


def _cell(row: Mapping[str, Any], columns: Mapping[str, Sequence[str]], field: str) -> Any:
    """The first of a field's columns that is not empty in this row; None where all are."""
    for column in columns.get(field, ()):
        value = row.get(column)
        if value is not None and value != "":
            return value
    return None


def _safe_name(path: Path) -> str:
    """The file's name without its endings; never that of a benchmark of ours."""
    stem = re.sub(r"\.(jsonl|json|tsv|csv|parquet)(\.gz)?$", "", path.name, flags=re.IGNORECASE)
    name = re.sub(r"[^\w.-]+", "-", stem).strip(".-") or "rows"
    taken = (Path(__file__).parents[1] / f"{name.lower().replace('-', '_')}.py").exists()
    return f"{name}-own" if taken else name


# -- rows to samples


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """Makes samples of rows; knows where images lie and which column is which field."""

    name: str
    folder: Path
    task: Task
    columns: Mapping[str, Sequence[str]]

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(column for columns in self.columns.values() for column in columns)

    @cached_property
    def _letters(self) -> str:
        """The letters of choices, up to the last that is a column."""
        last = max(letter for letter in self.columns if len(letter) == 1)
        return ascii_uppercase[: ascii_uppercase.index(last) + 1]

    def sample(self, place: int, row: Row) -> Sample:
        where = f"row {place + 1} of {self.name}"
        turns = _exploded(row, self.columns, where)
        if turns is None:
            return self._sample(place, row, where)
        asked = [
            self._sample(place, turn, f"turn {number} of {where}")
            for number, turn in enumerate(turns, 1)
        ]
        told = {name: value for one in reversed(asked) for name, value in one.data.items()}
        for medium in ("image", "video"):
            if shown := [str(one.data[medium]) for one in asked if medium in one.data]:
                told[medium] = ", ".join(shown)
        told["turns"] = [
            {
                "question": one.question,
                "choices": [*one.choices],
                "target": one.target,
                "references": [*one.references],
                "media": len(one.media),
            }
            for one in asked
        ]
        return Sample(
            id=asked[0].id,
            question="\n".join(one.question for one in asked),
            media=tuple(chain.from_iterable(one.media for one in asked)),
            tags=asked[0].tags,
            data=told,
        )

    def _sample(self, place: int, row: Mapping[str, Any], where: str) -> Sample:
        cell = partial(_cell, row, self.columns)
        question = cell("question")
        if question is None and self.task != "caption":
            raise DataError(f"{where} has no question. Give it one, or take the row out.")
        for field in ("question", "hint"):
            _check_text(cell(field), f"{where} has a {field} that")
        name = cell("id")
        if name is None and "id" in self.columns:
            raise DataError(f"{where} has no {self.columns['id'][0]!r}. Give it one of its own.")
        if isinstance(name, float) and abs(name) >= 2**53:
            raise DataError(f"{where} has the id {name!r}, a rounded number. Write ids as text.")
        cells = _list(cell("image"))
        choices = self._choices(cell, where) if self.task == "mcq" else CHOICES[self.task]
        target, references = self._right(_answers(cell("answer")), choices, where)
        film = self._video(cell, where)
        data = {key: row[key] for key in row if key not in self._known and _small(row[key])}
        data.pop("turns", None)  # ours
        if cells:
            data["image"] = ", ".join(map(_image_key, cells))
        if film is not None:
            data["video"] = film.place
        asked = "\n".join(str(text) for text in (cell("hint"), question) if text is not None)
        images = self._images(cells, where)
        _placed(images, "\n".join((asked, *choices)), where)
        return Sample(
            id=str(place if name is None else name),
            question=asked,
            choices=choices,
            media=(*images, *filter(None, (film,))),
            target=target,
            references=references,
            tags={tag: str(cell(tag) or "") for tag in BREAK_DOWN if tag in self.columns},
            data=data,
        )

    def _images(self, cells: Sequence[Any], where: str) -> list[Image]:
        several = len(cells) > 1
        return [
            self._image(cell, f"{where}, image {number}" if several else f"{where}, image")
            for number, cell in enumerate(cells, 1)
        ]

    def _image(self, cell: Any, where: str) -> Image:
        shown = forms.medium(cell, where, kind="image", folder=self.folder)
        if isinstance(shown, Video):
            raise DataError(f"{where} is a video. Put it in the column `video`.")
        return shown

    def _video(self, cell: Callable[[str], Any], where: str) -> Video | None:
        cells = _list(cell("video"))
        start, end = (self._seconds(cell, field, where) for field in ("start", "end"))
        if not cells:
            if (given := start if end is None else end) is not None:
                raise DataError(
                    f"{where} has no video to show a part of, {given:g} s. Name its file, or take "
                    "the times out."
                )
            return None
        place = f"{where}, video"
        if len(cells) > 1:
            raise DataError(f"{place} is a list of {len(cells)}: a row may name one.")
        (name,) = cells
        if not isinstance(name, str | Mapping):
            raise DataError(f"{place} is a {type(name).__name__}, not a file's name.")
        if end is not None and end <= (start or 0.0):
            began = "at the video's start" if start is None else f"at {start:g} s"
            raise DataError(
                f"{where} has a part that begins {began} and ends at {end:g} s: there is nothing "
                "in it. `end` is to be after `start`, in seconds from the first frame."
            )
        film = forms.medium(name, place, kind="video", folder=self.folder)
        if not isinstance(film, Video):
            raise DataError(f"{place} is a picture. Put it in the column `image`.")
        return replace(film, start=start or 0.0, end=end)

    def _seconds(self, cell: Callable[[str], Any], field: str, where: str) -> float | None:
        value = cell(field)
        if value is None:
            return None
        try:
            seconds = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            seconds = math.nan
        if not 0 <= seconds < math.inf:
            raise DataError(
                f"{where} has the {field} {str(value)[:40]!r}, which is no time in a video. Write "
                "seconds from its first frame, such as 83.5, or leave the cell empty."
            )
        return seconds

    def _choices(self, cell: Callable[[str], Any], where: str) -> tuple[str, ...]:
        if "choices" in self.columns:
            cells = _list(cell("choices"))
        else:
            cells = [cell(letter) for letter in self._letters]
            while cells and cells[-1] is None:
                cells.pop()
            if None in cells:
                last, gap = ascii_uppercase[len(cells) - 1], ascii_uppercase[cells.index(None)]
                raise DataError(f"{where} has a choice {last} but none {gap}.")
        choices = [
            _choice(value, f"{where} has a choice {letter} that")
            for letter, value in zip_longest(ascii_uppercase[: len(cells)], cells)
        ]
        if not choices:
            raise DataError(
                f"{where} has no choices, and the file is asked as multiple choice (mcq). A file "
                "holds one kind of question: put rows without choices into a file of their own. "
                'Choices are columns A, B, ... or a list, ["a cat", "a dog"], in choices.'
            )
        if not 2 <= len(choices) <= len(ascii_uppercase):
            raise DataError(
                f"{where} has {len(choices)} choices; there must be 2 to {len(ascii_uppercase)}. "
                'Write them in columns A, B, ... or as a list, ["a cat", "a dog"], in choices.'
            )
        return tuple(choices)

    def _right(
        self, answers: Sequence[str], choices: Sequence[str], where: str
    ) -> tuple[str | None, tuple[str, ...]]:
        """What is right: one target or several people's answers; None and () where hidden."""
        if not answers:
            return None, ()
        if self.task == "caption" or (self.task == "vqa" and len(answers) > 1):
            return None, tuple(answers)
        if len(set(answers)) > 1:
            raise DataError(
                f"{where} has {len(answers)} different answers; {self.task} takes one. "
                "For any of several, use --task vqa."
            )
        if self.task == "mcq":
            return _letter(answers[0], choices, where), ()
        read = TARGET[self.task](answers[0])
        if read is None:
            raise DataError(
                f"{where} has the answer {answers[0]!r}, which is none for {self.task}. "
                "Correct it, or choose another --task."
            )
        return read, ()


def _list(value: Any) -> list[Any]:
    """A cell with one thing or a list of them, as JSON or in JSON's text."""
    if value is None or value == "":
        return []
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            return [value]
    return [*value] if isinstance(value, list | tuple) else [value]


def _answers(value: Any) -> list[str]:
    answers = _list(value)
    if isinstance(value, str) and not all(isinstance(answer, str) for answer in answers):
        answers = [value]  # "[3, 4]" is an interval, or anything; '["three", "four"]' is a list
    spelled = {True: "yes", False: "no"}
    return [
        spelled[answer] if isinstance(answer, bool) else str(answer).strip()
        for answer in answers
        if answer is not None
    ]


def _check_text(value: Any, who: str) -> None:
    """Refuse a value that is not text in a text column: a picture would be sent as its name.

    Raises:
        DataError: the value is not text.
    """
    if not isinstance(value, str) and isinstance(value, Mapping | list | tuple | bytes | Image):
        raise DataError(
            f"{who} is a {type(value).__name__}, not text. Put pictures in the column `images`, "
            "and mark their position in the text with <image 1>."
        )


def _choice(value: Any, who: str) -> str:
    """The text of a choice.

    Raises:
        DataError: the choice is a picture.
    """
    if not isinstance(value, str):
        if isinstance(value, Mapping) and value.get("type") == "text":
            return forms.text_of(value, who).strip()
        _check_text(value, who)
    elif forms.kind_of(value):
        raise DataError(
            f"{who} looks like a picture, {value[:80]!r}, but choices must be text. Put the "
            'picture in the column `images`, and write the choice as "<image 1>". If the choice is '
            'text, write {"type": "text", "text": ...}.'
        )
    return str(value).strip()


def _image_key(cell: Any) -> str:
    """What rows about the same image share."""
    if isinstance(cell, Mapping):
        cell = forms.medium(cell, "an image", kind="image")
    if isinstance(cell, Image):
        if isinstance(cell.source, Slice):
            return f"{cell.source.path.name}:{cell.source.offset}"
        cell = cell.source
    if isinstance(cell, bytes):
        return blake2b(cell, digest_size=8).hexdigest()
    text = str(cell)
    return blake2b(text.encode(), digest_size=8).hexdigest() if forms.is_encoded(text) else text


def _is_vlmevalkit(path: Path, head: Sequence[Mapping[str, Any]]) -> bool:
    """Whether rows have an index and their pictures in base64, as VLMEvalKit publishes them."""
    if not path.name.lower().endswith((".tsv", ".tsv.gz")) or not {"index", "image"} <= set(
        _names(head)
    ):
        return False
    cells = (str(row.get("image") or "").lstrip("['\" ") for row in head)
    return any(
        len(cell) > 64 and (forms.is_encoded(cell) or _BASE64.fullmatch(cell)) for cell in cells
    )


def _small(value: Any) -> bool:
    return isinstance(value, int | float | bool) or (isinstance(value, str) and len(value) <= SMALL)


def _letter(answer: str, choices: Sequence[str], where: str) -> str:
    """The letter of the right choice, which may be given as its letter or its text.

    Raises:
        DataError: it is neither, or could be two.
    """
    letters = ascii_uppercase[: len(choices)]
    meant = {letter for letter, choice in zip(letters, choices, strict=True) if choice == answer}
    if len(answer) == 1 and answer.upper() in letters:
        meant.add(answer.upper())
    if len(meant) == 1:
        return meant.pop()
    listed = ", ".join(
        f"{letter}: {choice!r}" for letter, choice in zip(letters, choices, strict=True)
    )
    if meant:
        raise DataError(
            f"{where} has the answer {answer!r}, which could mean {' or '.join(sorted(meant))} "
            f"({listed}). Make the choices differ, or write the answer as a letter."
        )
    if len(answer) == 1 and answer.isascii() and answer.isalpha():
        raise DataError(
            f"{where} has the answer {answer!r}, and there are only {len(choices)} choices "
            f"({listed}). Give the letter of one of them, or add the choice that is missing."
        )
    raise DataError(
        f"{where} has the answer {answer!r}, which is neither the letter nor the text of a choice "
        f"({listed}). Write it as a letter."
    )
