"""What VQAv2, OK-VQA and TextVQA share: how VQA's files are read, short-answer prompts, scorings.

A split of VQA's is two files, of questions and of ten people's answers to each:

    {"questions": [{"image_id": 9, "question": "...", "question_id": 9001}, ...], ...}
    {"annotations": [{"question_id": 9001, "question_type": "is the", "answer_type": "yes/no",
                      "answers": [{"answer": "yes", "answer_id": 1, ...}, ...], ...}, ...], ...}

BLIP and LAVIS publish the same re-arranged, one list with an object a question:

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
from snellen.text.vqa import on_one_line

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
"""Ten people's answers, the type of the question, the type of the answers."""
Decoded = TypeVar("Decoded")


def table(found: DataFile, annotations: str | None) -> Table:
    """The questions of a file of VQA's with the answers of the file `annotations`, which lies
    beside it or in `Annotations` beside its folder; of BLIP's one list; or of parquet."""
    if Path(str(found)).suffix == ".parquet":
        return parquet(found)
    return Drawn(str(found), lambda: questions(found, annotations))


def questions(found: DataFile, annotations: str | None) -> Iterator[dict[str, Any]]:
    raw = file_content(found.path)
    if raw.lstrip()[:1] == b"[":
        for one in _decoded(raw, list[_Listed], found.path):
            yield {
                "question_id": one.question_id,
                "image": one.image,
                "question": one.question,
                "answers": one.gt_answers or one.answer or (),
                "question_type": "",
                "answer_type": "",
            }
        return
    asked = _decoded(raw, _Questions, found.path).questions
    del raw
    answered = _answered(_beside(found, annotations)) if annotations else {}
    hidden: Answered = ((), "", "")
    for question in asked:
        if annotations and question.question_id not in answered:
            raise DataError(
                f"{annotations} has no answers to question {question.question_id} of {found.path}. "
                "Both are to be of one split and release."
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
    """By question; equal answers are one object, since two million would need 100 MB."""
    decoder = msgspec.json.Decoder(_Annotation)
    known: dict[str, str] = {}
    same = known.setdefault
    found: dict[int, Answered] = {}
    for raw in _decoded(file_content(path), _Annotations, path).annotations:
        try:
            one = decoder.decode(raw)
        except msgspec.ValidationError as error:
            raise _of_no_form(path, error) from error
        answers = tuple([same(said.answer, said.answer) for said in one.answers])
        question_type, answer_type = one.question_type, one.answer_type
        found[one.question_id] = (
            answers,
            same(question_type, question_type),
            same(answer_type, answer_type),
        )
    return found


def _beside(found: DataFile, name: str) -> Path:
    folder = found.path.parent
    for path in (folder / name, folder.parent / "Annotations" / name):
        if path.is_file():
            return path
    raise DataError(
        f"{found.benchmark}: {found.path} has the questions alone, and {name} with the answers "
        f"lies neither beside it nor in {folder.parent / 'Annotations'}. Put it there."
    )


def _decoded(raw: bytes, kind: type[Decoded], path: Path) -> Decoded:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        raise _of_no_form(path, error) from error
    except msgspec.DecodeError as error:
        raise DataError(f"{path} is not whole JSON: {error}. Get it again, whole.") from error


def _of_no_form(path: Path, error: Exception) -> DataError:
    return DataError(
        f"{path} is no file of VQA's questions or annotations, nor BLIP's list of them: {error}."
    )


class SplitPictures:
    """A split's pictures, in the first of the `folders` that is there, named `COCO_..._ID.jpg` with
    the id in twelve digits."""

    def __init__(self, found: DataFile, folders: Sequence[str], stem: str) -> None:
        self._found = found
        self._folders = folders
        self._stem = stem
        self._last: tuple[object, Image, str] | None = None

    def of(self, row: Row) -> tuple[Image, str]:
        """A row's picture, and what tells it from others."""
        image = row.get("image")
        if isinstance(image, Image):  # parquet has it in the row
            return image, str(row.get("image_id") or authors_files.picture_key(image))
        which = image or row["image_id"]
        # Questions about one picture follow each other, and a path takes as long as a score.
        if self._last is None or self._last[0] != which:
            name = Path(image).name if image else f"{self._stem}_{which:012d}.jpg"
            self._last = which, self._found.image(f"{self._folder}/{name}"), name
        return self._last[1:]

    @cached_property
    def _folder(self) -> str:
        there = (folder for folder in self._folders if (self._found.folder / folder).is_dir())
        return next(there, self._folders[0])


def folders(split: str) -> tuple[str, ...]:
    """Where a split's pictures lie: as COCO's archive, the authors' README and LAVIS have it."""
    return split, f"Images/mscoco/{split}", f"images/{split}"


def picture_of(sample: Sample) -> str:
    return str(sample.data["image"])


def answers_of(row: Row) -> tuple[str, ...]:
    """What people answered; parquet has objects with an `answer` each, or texts."""
    found = row["answers"] or ()
    if isinstance(found, tuple):
        return found
    return tuple([one if isinstance(one, str) else one["answer"] for one in found])


# -- prompts

_BLIP_DROPS = re.compile(r"[.!\"()*#:;~]")


def blip_question(question: str) -> str:
    """A question as BLIP-2 got it: small letters, fewer signs, 50 words at most.

    salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7:
    lavis/processors/blip_processors.py#L88-L101.
    """
    words = _BLIP_DROPS.sub("", question.lower()).rstrip(" ").split(" ")
    return " ".join(words[:50])


# -- scoring

Rule = Callable[[str, Sequence[str]], float]


def whole_reply(reply: Reply, _: Sample) -> Reading:
    """All of it; an empty one is worth what the rule makes of "" all the same."""
    return _whole(reply.text)


def phrase(reply: Reply, _: Sample) -> Reading:
    return _phrase(reply.text)


def kept(read: Callable[[str], Reading]) -> Callable[[str], Reading]:
    """A reading of short replies that is made once for all equal ones: most come again."""
    known = lru_cache(maxsize=1 << 16)(read)
    return lambda text: known(text) if len(text) <= LONGEST_KEPT else read(text)


@kept
def _whole(text: str) -> Reading:
    text = on_one_line(text)
    return Reading(answer=text or None, rule="whole reply" if text else "nothing said")


@kept
def _phrase(text: str) -> Reading:
    return as_reading(final_phrase(text))


def scoring(source: str, rule: Rule, missing: Missing = "excluded") -> Scoring:
    """A scoring of the whole reply by a rule for an answer and its references."""
    return Scoring(
        version=1,
        source=source,
        parse=whole_reply,
        score=lambda reading, sample: rule(str(reading.answer or ""), sample.references),
        metrics=METRICS,
        missing=missing,
        partial=True,
    )


def robust(rule: Rule) -> Scoring:
    """A scoring of the phrase that a reply settles on; unparsed is worth nothing."""

    def score(reading: Reading, sample: Sample) -> float:
        return 0.0 if reading.answer is None else rule(str(reading.answer), sample.references)

    return Scoring(
        version=1, source="ours", parse=phrase, score=score, metrics=METRICS, partial=True
    )


# -- check


def wrong_answer(_: Sample) -> str:
    return "nothing of the kind"
