"""Shared by MMMU and MMMU-Pro: subjects, readers for all file formats, image marks, and rules for
parsing letters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from string import ascii_uppercase

from snellen.benchmarks.families import pins
from snellen.benchmarks.families.authors_files import Joined, texts
from snellen.benchmarks.families.draws import undecided
from snellen.core import Capabilities, Reading, Sample, prompts
from snellen.data import (
    DataFile,
    Facts,
    Row,
    Seekable,
    Table,
    find,
    parquet,
    rows_at,
)
from snellen.data.published import File
from snellen.errors import DataError, MediaError
from snellen.home import home
from snellen.media.content import Image, Part

REVISION = "bb0b95a945998d91dfef37e969e07d49d1139438"
AUTHORS = f"MMMU-Benchmark/MMMU@{REVISION}"
LMMS_DRAWS = (
    "lmms-eval draws letters from Python's shared random state, which depends on what ran before. "
    "The result of lmms-eval may therefore differ."
)
LMMS_PARSER = f"{pins.LMMS_EVAL}:lmms_eval/tasks/_task_utils/mmmu_mcq_utils.py#L17-L65"
HOST = "https://opencompass.openxlab.space/utils/VLMEval"
DOMAINS: Mapping[str, tuple[str, ...]] = {
    "Art and Design": ("Art", "Art_Theory", "Design", "Music"),
    "Business": ("Accounting", "Economics", "Finance", "Manage", "Marketing"),
    "Science": ("Biology", "Chemistry", "Geography", "Math", "Physics"),
    "Health and Medicine": (
        "Basic_Medical_Science",
        "Clinical_Medicine",
        "Diagnostics_and_Laboratory_Medicine",
        "Pharmacy",
        "Public_Health",
    ),
    "Humanities and Social Science": ("History", "Literature", "Sociology", "Psychology"),
    "Tech and Engineering": (
        "Agriculture",
        "Architecture_and_Engineering",
        "Computer_Science",
        "Electronics",
        "Energy_and_Power",
        "Materials",
        "Mechanical_Engineering",
    ),
}
"""From mmmu/utils/data_utils.py#L9-L16. The list in mmmu-pro/evaluate.py#L102-L134 is the same."""
DOMAIN_OF = {subject: domain for domain, subjects in DOMAINS.items() for subject in subjects}
LEAVES = {
    "Art and Design": "knowledge/cultural",
    "Humanities and Social Science": "knowledge/cultural",
}
CAPABILITIES = Capabilities(
    tag="subject",
    leaves={
        subject: LEAVES.get(domain, "knowledge/domain") for subject, domain in DOMAIN_OF.items()
    }
    | {"Math": "reasoning/mathematical"},
    source=f"{AUTHORS}:mmmu/utils/data_utils.py#L9-L16",
)
MARK = re.compile(r"<image\s+(\d+)>")
_PART = re.compile(r".*-(\d{5})-of-(\d{5})\.parquet")


# -- rows


def looked_for(
    data: Path | None,
    benchmark: str,
    patterns: Sequence[str],
    names: Sequence[str],
    published: Sequence[File],
    spec: str,
) -> DataFile:
    """Find all parquet files that match the patterns. If no file matches, find the first file in
    `names` that exists."""
    root = home() / "data" / benchmark if data is None else data
    there = [
        path.relative_to(root).as_posix()
        for pattern in patterns
        for path in sorted(root.glob(pattern))
    ]
    return find(data, benchmark, (*there, *names), published, spec)


def parquet_files(data_file: DataFile) -> list[Path]:
    """Return all parquet files of the data set, or only the file that the user passed.

    Raises:
        DataError: a part of a split file is missing.
    """
    if data_file.data is not None and data_file.data.is_file():
        return [data_file.data]
    paths = [data_file.folder / name for name in data_file.names if name.endswith(".parquet")]
    paths = list(dict.fromkeys(path for path in paths if path.is_file()))
    parts: dict[tuple[Path, int], set[int]] = {}
    for path in paths:
        if part := _PART.fullmatch(path.name):
            parts.setdefault((path.parent, int(part[2])), set()).add(int(part[1]))
    for (folder, of), numbers in parts.items():
        if missing := sorted(set(range(of)) - numbers):
            raise DataError(
                f"{folder} has {len(numbers)} of {of} parts: number {missing[0]:05} of {of:05} is "
                "missing. Download all parts."
            )
    return paths


class Late:
    """A table whose file and format are determined when the table is first used."""

    def __init__(self, where: str, make: Callable[[], Table]) -> None:
        self.where = where
        self.revision: str | None = None
        self._make = make

    @cached_property
    def _table(self) -> Table:
        return self._make()

    def __iter__(self) -> Iterator[Row]:
        return iter(self._table)

    def facts(self) -> Facts:
        return self._table.facts()

    @property
    def seeks(self) -> bool:
        return isinstance(self._table, Seekable) and self._table.seeks

    def at(self, position: int) -> Row:
        return next(rows_at(self._table, [position]))


def of_parquet(data_file: DataFile, paths: Iterable[Path]) -> Table:
    return Joined(str(data_file.folder), map(parquet, paths))


def choices_of(row: Row) -> tuple[str, ...]:
    """Return a row's choices. They come from the hub's column `options`, which contains a Python
    list as text, or from VLMEvalKit's columns A, B, ..."""
    if "options" in row:
        return texts(row["options"])
    choices = [row.get(letter, "") for letter in ascii_uppercase]
    while choices and not choices[-1]:
        choices.pop()
    return tuple(choices)


def pictures_of(row: Row) -> tuple[list[int], tuple[Image, ...]]:
    """Return the numbers of a row's pictures, which appear in marks such as `<image 1>`, and the
    pictures."""
    if "image" in row:
        image = row["image"]
        images = image if isinstance(image, tuple) else (image,)
        return list(range(1, len(images) + 1)), images
    numbered = {number: row.get(f"image_{number}") for number in range(1, 8)}
    there = {number: image for number, image in numbered.items() if isinstance(image, Image)}
    return list(there), tuple(there.values())


def subject_of(name: str) -> str:
    """Return the subject in an id: Art_Theory for `validation_Art_Theory_3`."""
    return "_".join(name.split("_")[1:-1])


# -- marks


def numbered(sample: Sample) -> Mapping[int, Part]:
    numbers = sample.data["numbers"]
    assert isinstance(numbers, list)
    return dict(zip(numbers, sample.media, strict=True))


def shown(sample: Sample, number: int) -> Part:
    """Return the picture that the mark `<image NUMBER>` refers to.

    Raises:
        MediaError: the row has no picture with this number.
    """
    pictures = numbered(sample)
    if number not in pictures:
        raise MediaError(
            f"{sample.id}: <image {number}> is in the question, but the row has no picture "
            f"{number}. A file of answers can be used to score replies, but not to ask questions. "
            "Download the data set itself."
        )
    return pictures[number]


def interleaved(sample: Sample, text: str) -> tuple[Part, ...]:
    """Replace each mark in a text with its picture. If the text has no marks, put all pictures
    before the text."""
    if not MARK.search(text):
        return (*sample.media, text)
    return prompts.interleaved(text, MARK, lambda number: shown(sample, int(number or 0)))


def marked_once(sample: Sample, text: str) -> tuple[Part, ...]:
    """Return the pictures whose marks are in the text, each of them once, in the order of their
    numbers."""
    return tuple(shown(sample, number) for number in sorted(set(map(int, MARK.findall(text)))))


# -- scoring


def letters(sample: Sample) -> str:
    return ascii_uppercase[: len(sample.choices)]


def by_letter(sample: Sample) -> Mapping[str, str]:
    return dict(zip(letters(sample), sample.choices, strict=True))


def last_letter(text: str, sample: Sample, forms: Sequence[str]) -> Reading:
    """Parse the last letter of a choice from a text, by the authors' rules. If there is none, the
    letter is drawn at random later."""
    return last_stated(text, by_letter(sample), forms) or undecided(sample)


def last_stated(text: str, choices: Mapping[str, str], forms: Sequence[str]) -> Reading | None:
    """Parse the last letter of a choice from a text. `choices` maps letters to the choices' texts.

    Two rules are tried in order. Rule 1 takes the last letter in parentheses. If there is none,
    rule 1 takes the last letter in the first of the `forms` that the text contains. Rule 2 applies
    to a text of more than five words, and takes the choice whose text comes last.

    If several letters occur in a form without parentheses, rule 1 looks for the last letter that
    has a space on each side, such as " B ". If no letter has a space on each side, as in "A. or
    B.", rule 1 takes the first letter.
    """
    for mark in ",.!?;:'":
        text = text.strip(mark)
    text = f" {text} "
    present = [letter for letter in choices if letter in text]
    for form in ("({})", *forms):
        if matches := tuple(letter for letter in present if form.format(letter) in text):
            sought = form if form == "({})" else " {} "
            last = max(matches, key=lambda letter: text.rfind(sought.format(letter)))
            return Reading(answer=last, rule=f"named as {form.format('X')!r}", candidates=matches)
    if len(text.split()) > 5:
        low = text.lower()
        lowered = {letter: choice.lower() for letter, choice in choices.items()}
        if matches := tuple(letter for letter, choice in lowered.items() if choice in low):
            last = max(matches, key=lambda letter: low.rfind(lowered[letter]))
            return Reading(answer=last, rule="choice", candidates=matches)
    return None
