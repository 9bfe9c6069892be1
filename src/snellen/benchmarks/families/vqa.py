"""Shared by VQAv2, OK-VQA, and TextVQA: readers for VQA's files, short-answer prompts, and
scorings.

A split of VQA has two files. One has the questions, and the other has ten people's answers to each
question:

    {"questions": [{"image_id": 9, "question": "...", "question_id": 9001}, ...], ...}
    {"annotations": [{"question_id": 9001, "question_type": "is the", "answer_type": "yes/no",
                      "answers": [{"answer": "yes", "answer_id": 1, ...}, ...], ...}, ...], ...}

BLIP and LAVIS publish the same content in another format, a single list with an object for each
question:

    [{"question_id": 9001, "question": "...", "answer": ["yes", ...],
      "image": "val2014/COCO_val2014_000000000009.jpg", "dataset": "vqa"}, ...]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from snellen.answers.phrase import final_phrase
from snellen.benchmarks.families import authors_files
from snellen.benchmarks.families.tasks import as_reading
from snellen.core import Reading, Reply, Sample, Scoring
from snellen.core.scoring import Missing
from snellen.data import DataFile, Drawn, Row, Table, file_content, parquet
from snellen.errors import DataError
from snellen.media.content import Image
from snellen.metrics import mean
from snellen.metrics.vqa import LONGEST_KEPT
from snellen.text.vqa import without_line_breaks

LLAVA = "haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd"
SHORT = "Answer the question using a single word or phrase."
METRICS = {"accuracy": mean}

# -- files


class _Question(msgspec.Struct, gc=False):
    image_id: int
    question: str
    question_id: int


class _Answer(msgspec.Struct, gc=False):
    answer: str


class _Annotation(msgspec.Struct, gc=False):
    question_id: int
    answers: list[_Answer]
    question_type: str = ""
    answer_type: str = ""


class _Listed(msgspec.Struct):
    question_id: int | str
    question: str
    image: str
    answer: list[str] | None = None
    gt_answers: list[str] | None = None


class _Questions(msgspec.Struct):
    questions: list[_Question]


class _Annotations(msgspec.Struct):
    annotations: list[msgspec.Raw]


Answered = tuple[tuple[str, ...], str, str]
"""Ten people's answers, the type of the question, and the type of the answers."""
Decoded = TypeVar("Decoded")


def table(data_file: DataFile, annotations: str | None) -> Table:
    """Return the questions in a VQA file, a list in BLIP's format, or a parquet file.

    For a VQA file, `annotations` is the name of the file with the answers. The file with the
    answers is next to the file with the questions, or in a folder `Annotations` next to that
    folder.
    """
    if Path(str(data_file)).suffix == ".parquet":
        return parquet(data_file)
    return Drawn(str(data_file), lambda: questions(data_file, annotations))


def questions(data_file: DataFile, annotations: str | None) -> Iterator[dict[str, Any]]:
    raw = file_content(data_file.path)
    if raw.lstrip()[:1] == b"[":
        for entry in _decoded(raw, list[_Listed], data_file.path):
            yield {
                "question_id": entry.question_id,
                "image": entry.image,
                "question": entry.question,
                "answers": entry.gt_answers or entry.answer or (),
                "question_type": "",
                "answer_type": "",
            }
        return
    question_list = _decoded(raw, _Questions, data_file.path).questions
    del raw
    answered = _answered(_annotations_path(data_file, annotations)) if annotations else {}
    hidden: Answered = ((), "", "")
    for question in question_list:
        if annotations and question.question_id not in answered:
            raise DataError(
                f"{annotations} has no answers to question {question.question_id} of "
                f"{data_file.path}. Both files must belong to the same split and release."
            )
        answers, question_type, answer_type = answered.get(question.question_id, hidden)
        yield {
            "question_id": question.question_id,
            "image_id": question.image_id,
            "question": question.question,
            "answers": answers,
            "question_type": question_type,
            "answer_type": answer_type,
        }


def _answered(path: Path) -> Mapping[int, Answered]:
    """Return the answers, keyed by question id. Equal answers share one object, since two million
    separate objects would need 100 MB."""
    decoder = msgspec.json.Decoder(_Annotation)
    known: dict[str, str] = {}
    same = known.setdefault
    by_question: dict[int, Answered] = {}
    for raw in _decoded(file_content(path), _Annotations, path).annotations:
        try:
            annotation = decoder.decode(raw)
        except msgspec.ValidationError as error:
            raise _of_no_form(path, error) from error
        answers = tuple([same(answer.answer, answer.answer) for answer in annotation.answers])
        question_type, answer_type = annotation.question_type, annotation.answer_type
        by_question[annotation.question_id] = (
            answers,
            same(question_type, question_type),
            same(answer_type, answer_type),
        )
    return by_question


def _annotations_path(data_file: DataFile, name: str) -> Path:
    folder = data_file.path.parent
    for path in (folder / name, folder.parent / "Annotations" / name):
        if path.is_file():
            return path
    raise DataError(
        f"{data_file.benchmark}: {data_file.path} has only the questions. {name}, which has the "
        f"answers, is neither next to it nor in {folder.parent / 'Annotations'}. Put {name} in "
        "one of these folders."
    )


def _decoded(raw: bytes, kind: type[Decoded], path: Path) -> Decoded:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        raise _of_no_form(path, error) from error
    except msgspec.DecodeError as error:
        raise DataError(
            f"{path} is not complete, valid JSON: {error}. Download it again."
        ) from error


def _of_no_form(path: Path, error: Exception) -> DataError:
    return DataError(
        f"{path} is not a file of VQA's questions or annotations, nor BLIP's list: {error}. Check "
        "that it is the right file."
    )


class SplitPictures:
    """The pictures of a split, from the first of the `folders` that exists. The files are named
    `COCO_..._ID.jpg`, with an id of twelve digits."""

    def __init__(self, data_file: DataFile, folders: Sequence[str], stem: str) -> None:
        self._data_file = data_file
        self._folders = folders
        self._stem = stem
        self._last: tuple[object, Image, str] | None = None

    def of(self, row: Row) -> tuple[Image, str]:
        """Return a row's picture and the picture's key."""
        image = row.get("image")
        if isinstance(image, Image):  # parquet files have the picture in the row
            return image, str(row.get("image_id") or authors_files.picture_key(image))
        which = image or row["image_id"]
        # Questions about one picture are consecutive, so the last picture is cached: making a path
        # takes as long as scoring a reply.
        if self._last is None or self._last[0] != which:
            name = Path(image).name if image else f"{self._stem}_{which:012d}.jpg"
            self._last = which, self._data_file.image(f"{self._folder}/{name}"), name
        return self._last[1:]

    @cached_property
    def _folder(self) -> str:
        there = (folder for folder in self._folders if (self._data_file.folder / folder).is_dir())
        return next(there, self._folders[0])


def folders(split: str) -> tuple[str, ...]:
    """Return the folders that may contain a split's pictures. The names come from COCO's archive,
    the authors' README, and LAVIS."""
    return split, f"Images/mscoco/{split}", f"images/{split}"


def picture_of(sample: Sample) -> str:
    return str(sample.data["image"])


def answers_of(row: Row) -> tuple[str, ...]:
    """Return the people's answers. In a parquet file, each answer is a text or an object with a
    field `answer`."""
    answers = row["answers"] or ()
    if isinstance(answers, tuple):
        return answers
    return tuple([answer if isinstance(answer, str) else answer["answer"] for answer in answers])


# -- prompts

_BLIP_DROPS = re.compile(r"[.!\"()*#:;~]")


def blip_question(question: str) -> str:
    """Prepare a question as for BLIP-2: in lowercase, with less punctuation, and with at most 50
    words.

    salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7:
    lavis/processors/blip_processors.py#L88-L101.
    """
    words = _BLIP_DROPS.sub("", question.lower()).rstrip(" ").split(" ")
    return " ".join(words[:50])


# -- scoring

Rule = Callable[[str, Sequence[str]], float]


def full_reply(reply: Reply, _: Sample) -> Reading:
    """Parse the full reply, stripped and on one line. An empty reply is unparsed, and the rule
    scores it as an empty text."""
    return _full(reply.text)


def phrase(reply: Reply, _: Sample) -> Reading:
    return _phrase(reply.text)


def kept(read: Callable[[str], Reading]) -> Callable[[str], Reading]:
    """Cache the readings of short replies, since many samples get the same short reply."""
    known = lru_cache(maxsize=1 << 16)(read)
    return lambda text: known(text) if len(text) <= LONGEST_KEPT else read(text)


@kept
def _full(text: str) -> Reading:
    text = without_line_breaks(text)
    return Reading(answer=text or None, rule="whole reply" if text else "nothing said")


@kept
def _phrase(text: str) -> Reading:
    return as_reading(final_phrase(text))


def scoring(source: str, rule: Rule, missing: Missing = "excluded") -> Scoring:
    """Create a scoring that applies a rule to the whole reply and the references."""
    return Scoring(
        version=1,
        source=source,
        parse=full_reply,
        score=lambda reading, sample: rule(str(reading.answer or ""), sample.references),
        metrics=METRICS,
        missing=missing,
        partial=True,
    )


def robust(rule: Rule) -> Scoring:
    """Create a scoring that applies a rule to the phrase that a reply settles on. An unparsed reply
    scores 0."""

    def score(reading: Reading, sample: Sample) -> float:
        return 0.0 if reading.answer is None else rule(str(reading.answer), sample.references)

    return Scoring(
        version=1, source="ours", parse=phrase, score=score, metrics=METRICS, partial=True
    )


# -- check


def wrong_answer(_: Sample) -> str:
    return "nothing of the kind"
