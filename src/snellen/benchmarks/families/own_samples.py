"""Make samples from a user's rows, and check their questions, choices, answers, and media."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import chain, zip_longest
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from snellen.benchmarks.families.own_columns import SMALL, answers_in, as_list, cell_of, turn_rows
from snellen.benchmarks.families.tasks import CHOICES, TARGET, Task
from snellen.core import Sample
from snellen.core.prompts import interleaved
from snellen.data import Row
from snellen.errors import DataError
from snellen.media import forms
from snellen.media.content import Image, Part, Slice, Video

BREAK_DOWN = ("category", "split")
CHOICE_FORMS = (
    "Put the choices in columns `A`, `B`, ..., or put a list such as "
    '["a cat", "a dog"] in the column `choices`.'
)
_MARK = re.compile(r"<image(?: (\d{1,3}))?>")


@dataclass(frozen=True, kw_only=True)
class RowReader:
    """Makes samples from rows."""

    name: str
    """The benchmark's name."""
    folder: Path
    """The folder of the images."""
    task: Task
    """The kind of question."""
    columns: Mapping[str, Sequence[str]]
    """Maps each field to the file's columns that contain it."""

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(column for columns in self.columns.values() for column in columns)

    @cached_property
    def _letters(self) -> str:
        """The letters from A to the last letter that has a column of choices."""
        last = max(letter for letter in self.columns if len(letter) == 1)
        return ascii_uppercase[: ascii_uppercase.index(last) + 1]

    def sample(self, row_index: int, row: Row) -> Sample:
        where = f"row {row_index + 1} of {self.name}"
        turns = turn_rows(row, self.columns, where)
        if turns is None:
            return self._sample(row_index, row, where)
        turn_samples = [
            self._sample(row_index, turn, f"turn {number} of {where}")
            for number, turn in enumerate(turns, 1)
        ]
        data = {
            name: value
            for turn_sample in reversed(turn_samples)
            for name, value in turn_sample.data.items()
        }
        for medium in ("image", "video"):
            if shown := [
                str(turn_sample.data[medium])
                for turn_sample in turn_samples
                if medium in turn_sample.data
            ]:
                data[medium] = ", ".join(shown)
        data["turns"] = [
            {
                "question": turn_sample.question,
                "choices": [*turn_sample.choices],
                "target": turn_sample.target,
                "references": [*turn_sample.references],
                "media": len(turn_sample.media),
            }
            for turn_sample in turn_samples
        ]
        return Sample(
            id=turn_samples[0].id,
            question="\n".join(turn_sample.question for turn_sample in turn_samples),
            media=tuple(chain.from_iterable(turn_sample.media for turn_sample in turn_samples)),
            tags=turn_samples[0].tags,
            data=data,
        )

    def _sample(self, row_index: int, row: Mapping[str, Any], where: str) -> Sample:
        cell = partial(cell_of, row, self.columns)
        question = cell("question")
        if question is None and self.task != "caption":
            raise DataError(f"{where} has no question. Add a question, or remove the row.")
        hint = cell("hint")
        for field, value in (("question", question), ("hint", hint)):
            _check_text(value, f"{where} has a {field} that")
        name = cell("id")
        if name is None and "id" in self.columns:
            raise DataError(f"{where} has no {self.columns['id'][0]!r}. Add a unique one.")
        if isinstance(name, float) and abs(name) >= 2**53:
            raise DataError(
                f"{where} has the id {name!r}, a number too large to be exact. Write ids as text."
            )
        cells = as_list(cell("image"))
        choices = self._choices(cell, where) if self.task == "mcq" else CHOICES[self.task]
        references: tuple[str, ...] = ()
        if "answer0" in self.columns:
            target = _numbered(cell("answer0"), choices, where)
        else:
            target, references = self._right(answers_in(cell("answer")), choices, where)
        film = self._video(cell, where)
        known = self._known
        data = {key: value for key, value in row.items() if key not in known and _small(value)}
        data.pop("turns", None)  # the name is reserved for conversations
        if cells:
            data["image"] = ", ".join(map(image_key, cells))
        if film is not None:
            data["video"] = film.label
        question_text = "\n".join([str(text) for text in (hint, question) if text is not None])
        images = self._images(cells, where)
        interleaved_media(images, "\n".join((question_text, *choices)), where)
        return Sample(
            id=str(row_index if name is None else name),
            question=question_text,
            choices=choices,
            media=(*images, film) if film else tuple(images),
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
            raise DataError(f"{where} is a video. Put videos in the column `video`.")
        return shown

    def _video(self, cell: Callable[[str], Any], where: str) -> Video | None:
        if "video" not in self.columns:  # then there are no columns `start` and `end` either
            return None
        cells = as_list(cell("video"))
        start, end = (self._seconds(cell, field, where) for field in ("start", "end"))
        if not cells:
            if (time := start if end is None else end) is not None:
                raise DataError(
                    f"{where} has the time {time:g} s but no video. Add the video's file name, or "
                    "remove the time."
                )
            return None
        label = f"{where}, video"
        if len(cells) > 1:
            raise DataError(
                f"{label} is a list of {len(cells)}. A row may have only one video. Split the row."
            )
        (name,) = cells
        if not isinstance(name, str | Mapping):
            raise DataError(
                f"{label} is of type {type(name).__name__}. Write the name of a video file."
            )
        if end is not None and end <= (start or 0.0):
            began = "at the video's start" if start is None else f"at {start:g} s"
            raise DataError(
                f"{where} has an empty part of a video: it begins {began} and ends at {end:g} s. "
                "Make `end` later than `start`. Write both times in seconds from the first frame."
            )
        film = forms.medium(name, label, kind="video", folder=self.folder)
        if not isinstance(film, Video):
            raise DataError(f"{label} is a picture. Put pictures in the column `image`.")
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
                f"{where} has the {field} {str(value)[:40]!r}, which is not a time in a video. "
                "Write seconds from the first frame, such as 83.5, or leave the cell empty."
            )
        return seconds

    def _choices(self, cell: Callable[[str], Any], where: str) -> tuple[str, ...]:
        if "choices" in self.columns:
            cells = as_list(cell("choices"))
        else:
            cells = [cell(letter) for letter in self._letters]
            while cells and cells[-1] is None:
                cells.pop()
            if None in cells:
                last, gap = ascii_uppercase[len(cells) - 1], ascii_uppercase[cells.index(None)]
                raise DataError(
                    f"{where} has a choice {last} but no choice {gap}. Add it, or move {last} up."
                )
        choices = [
            _choice(value, where, letter)
            for letter, value in zip_longest(ascii_uppercase[: len(cells)], cells)
        ]
        if not choices:
            raise DataError(
                f"{where} has no choices, but the file is asked as multiple choice (mcq). A file "
                "has only one kind of question. Put rows without choices into another file, or add "
                f"choices. {CHOICE_FORMS}"
            )
        if not 2 <= len(choices) <= len(ascii_uppercase):
            raise DataError(
                f"{where} has {len(choices)} choices; there must be 2 to {len(ascii_uppercase)}. "
                f"{CHOICE_FORMS}"
            )
        return tuple(choices)

    def _right(
        self, answers: Sequence[str], choices: Sequence[str], where: str
    ) -> tuple[str | None, tuple[str, ...]]:
        """Return the target and the references. Rows of captions have references, and so do vqa
        rows with several answers. All other rows have a target. If the answers are hidden, return
        None and ()."""
        if not answers:
            return None, ()
        if self.task == "caption" or (self.task == "vqa" and len(answers) > 1):
            return None, tuple(answers)
        if len(set(answers)) > 1:
            raise DataError(
                f"{where} has {len(answers)} different answers; {self.task} takes one. "
                "If any of several answers is right, use --task vqa."
            )
        if self.task == "mcq":
            return _letter(answers[0], choices, where), ()
        read = TARGET[self.task](answers[0])
        if read is None:
            raise DataError(
                f"{where} has the answer {answers[0]!r}, which is not valid for {self.task}. "
                "Correct the answer, or choose another --task."
            )
        return read, ()


def _check_text(value: Any, who: str) -> None:
    """Check that a value in a text column is text. A picture in a text column would reach the model
    only as a file name.

    Raises:
        DataError: the value is not text.
    """
    if isinstance(value, str) or value is None:
        return
    if isinstance(value, Mapping | list | tuple | bytes | Image):
        raise DataError(
            f"{who} is not text but of type {type(value).__name__}. Put pictures in the column "
            "`images`, and mark their positions in the text with <image 1>, <image 2>, ..."
        )


def _choice(value: Any, where: str, letter: str | None) -> str:
    """Return the text of a choice.

    Raises:
        DataError: the choice is a picture.
    """
    if isinstance(value, str) and forms.kind_of(value) is None:
        return value.strip()
    who = f"{where} has a choice {letter} that"
    if isinstance(value, str):
        raise DataError(
            f"{who} looks like a picture, {value[:80]!r}, but choices must be text. Put the "
            'picture in the column `images`, and write the choice as "<image 1>". If the choice is '
            'text, write {"type": "text", "text": ...}.'
        )
    if isinstance(value, Mapping) and value.get("type") == "text":
        return forms.text_of(value, who).strip()
    _check_text(value, who)
    return str(value).strip()


def image_key(cell: Any) -> str:
    """Return a key that all rows with the same image share."""
    if not isinstance(cell, str) and isinstance(cell, Mapping):
        cell = forms.medium(cell, "an image", kind="image")
    if isinstance(cell, Image):
        if isinstance(cell.source, Slice):
            return f"{cell.source.path.name}:{cell.source.offset}"
        cell = cell.source
    if isinstance(cell, bytes):
        return blake2b(cell, digest_size=8).hexdigest()
    text = str(cell)
    return blake2b(text.encode(), digest_size=8).hexdigest() if forms.is_encoded(text) else text


def _small(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= SMALL
    return isinstance(value, int | float | bool)


def _numbered(value: Any, choices: Sequence[str], where: str) -> str | None:
    """Return the letter of the choice with this number, counted from 0, or None if the cell is
    empty.

    Raises:
        DataError: the value is not the number of a choice.
    """
    if value is None:
        return None
    text = str(value).strip()
    if not re.fullmatch(r"\d{1,3}", text) or int(text) >= len(choices):
        raise DataError(
            f"{where} has the answer {text[:40]!r}, which is not the number of a choice, from 0 to "
            f"{len(choices) - 1}. Correct it. If the answers are letters or texts, do not map them "
            "to answer0."
        )
    return ascii_uppercase[int(text)]


def _letter(answer: str, choices: Sequence[str], where: str) -> str:
    """Return the letter of the right choice. `answer` is the letter or the text of that choice.

    Raises:
        DataError: the answer is neither the letter nor the text of a choice, or it matches two
            choices.
    """
    letters = ascii_uppercase[: len(choices)]
    if len(answer) == 1 and answer in letters and answer not in choices:
        return answer
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
            f"({listed}). Make the choices distinct, or write the answer as a letter."
        )
    if len(answer) == 1 and answer.isascii() and answer.isalpha():
        raise DataError(
            f"{where} has the answer {answer!r}, but only {len(choices)} choices ({listed}). "
            "Write one of these letters, or add the missing choice."
        )
    numbers = " If the answers are numbers that count from 0, use --map answer=answer0."
    raise DataError(
        f"{where} has the answer {answer!r}, which is neither the letter nor the text of a choice "
        f"({listed}). Write the answer as a letter.{numbers if answer.isdecimal() else ''}"
    )


def interleaved_media(media: Sequence[Image | Video], text: str, where: str) -> tuple[Part, ...]:
    """Combine the media and the text. Each image that is marked in the text replaces its mark. All
    other media come first.

    Raises:
        DataError: a mark refers to an image that the row does not have.
    """
    pictures = [medium for medium in media if isinstance(medium, Image)]
    if not pictures or "<image" not in text or not _MARK.search(text):
        return (*media, text)
    in_order = iter(range(1, len(pictures) + 1))
    placed: set[int] = set()

    def picture(number: str | None) -> Part:
        position = next(in_order, len(pictures) + 1) if number is None else int(number)
        if not 1 <= position <= len(pictures):
            called = "<image>" if number is None else f"<image {number}>"
            raise DataError(
                f"{where} has {called} in its text, but no image {position}: it has "
                f"{len(pictures)}. Add the image, or remove the mark."
            )
        placed.add(position)
        return pictures[position - 1]

    parts = interleaved(text, _MARK, picture)
    left = [medium for number, medium in enumerate(pictures, 1) if number not in placed]
    return (*left, *(medium for medium in media if isinstance(medium, Video)), *parts)
