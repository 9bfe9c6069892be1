"""Shared by A-OKVQA, GQA, and OCR-VQA: split rows into questions, and parse short answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from snellen.answers.phrase import final_phrase
from snellen.benchmarks.families import authors_files
from snellen.core import Reading, Reply, Sample
from snellen.data import DataFile, Facts, Row, Table, facts_of
from snellen.media.content import Image
from snellen.text.vqa import normalize, without_line_breaks

SHORT = "{question}\nAnswer the question using a single word or phrase."
"""LLaVA-1.5's prompt, which VLMEvalKit and lmms-eval also use."""
WRONG = "nothing of the kind"


class Unfolded:
    """A table with one row per question, made from a table with several questions per row."""

    def __init__(self, table: Table, unfold: Callable[[Row], Iterator[Mapping[str, Any]]]) -> None:
        self.where = table.where
        self.revision = table.revision
        self._table = table
        self._unfold = unfold

    def __iter__(self) -> Iterator[Row]:
        position = 0
        for row in self._table:
            for number, fields in enumerate(self._unfold(row)):
                digest = blake2b(f"{row.digest} {number}".encode(), digest_size=16)
                yield Row(fields, position, digest.hexdigest())
                position += 1

    def facts(self) -> Facts:
        return facts_of(iter(self))


def picture(row: Row, data_file: DataFile, names: Sequence[str]) -> tuple[Image, str]:
    """Return a row's picture and the picture's key. The picture is in the row itself, or in the
    first file in `names` that exists."""
    if isinstance(row.get("image"), Image | tuple):
        image = authors_files.picture(row)
        return image, authors_files.picture_key(image)
    there = (name for name in names if (data_file.folder / name).is_file())
    name = next(there, names[0])
    return data_file.image(name), names[0]


def phrase(reply: Reply, _: Sample) -> Reading:
    """Parse the final phrase of a reply, and normalize the phrase with `plain`."""
    final = final_phrase(reply.text)
    answer = None if final.answer is None else plain(final.answer)
    return Reading(answer=answer, rule=final.rule, candidates=final.candidates)


def plain(text: str) -> str:
    """Normalize a text as VQA's evaluation does, but keep a text that would become empty, such as
    "A"."""
    return normalize(without_line_breaks(text)) or text.strip().lower()
