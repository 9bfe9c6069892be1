"""Compares the questions, the choices, and the answers in a file of predictions with those of the
data set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from string import ascii_uppercase

from snellen.core.benchmark import Benchmark
from snellen.core.prompts import IMAGE_MARK
from snellen.core.sample import Sample
from snellen.errors import DataError

NO_LETTERS = re.compile(r"[\W_]+")
OTHERS = 0.2
"""If a larger fraction of a file's questions differ from the data set's questions, the file does
not belong to this data set. In a file for the other release of POPE, a third of the questions
differ. In one correct file, 6 % of the questions differ because numbers in the questions were
masked for the model."""
SHOWN = 200
"""The maximum length, in characters, of a text in a message."""
LISTS = ("[", "{")
"""The beginnings of answers that are lists or objects."""
REMOVE_CHOICES = (
    "If the model saw the choices of the data set and only the file differs, remove the choices "
    "from the file."
)


@dataclass(frozen=True, kw_only=True)
class FileQuestions:
    """What a file of predictions contains about the questions. It is compared with the data set,
    and never scored."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """The questions, by sample id; some may be missing."""
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The choices in the order of their letters, by sample id. An empty text stands for a choice
    that the file does not have."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """The right answers, by sample id."""


class FileComparison:
    """Compares a file with the data set, one sample at a time."""

    def __init__(self, stated: FileQuestions) -> None:
        self._parts = (
            _QuestionComparison(stated.texts),
            _ChoiceComparison(stated.choices),
            _AnswerComparison(stated.answers),
        )

    def compare(self, sample: Sample) -> None:
        """Compare one sample of the data set with the file."""
        for part in self._parts:
            part.compare(sample)

    def notes(self, benchmark: Benchmark, where: str) -> Iterator[str]:
        """Yield notes on the differences between the compared samples and the file.

        Raises:
            DataError: too many questions or choices differ, or a question has its choices in a
                different order.
        """
        for part in self._parts:
            yield from part.notes(benchmark, where)


@dataclass
class _QuestionComparison:
    """Compares the questions of a file with the questions of the data set.

    Only letters and digits are compared. Two questions match if they are equal, or if one question
    contains the other. The file may contain the whole prompt, or may lack image markers.
    """

    questions: Mapping[str, str]
    theirs: set[str] = field(default_factory=set)
    ours: set[str] = field(default_factory=set)
    n: int = 0
    others: int = 0
    example: str = ""

    def compare(self, sample: Sample) -> None:
        if sample.id not in self.questions:
            return
        theirs, ours = _letters(self.questions[sample.id]), _letters(sample.question)
        if not theirs or not ours:
            return
        self.n += 1
        self.theirs.add(theirs)
        self.ours.add(ours)
        if theirs not in ours and ours not in theirs:
            self.others += 1
            self.example = self.example or (
                f"{sample.id!r} is {_shown(self.questions[sample.id])} in the file, but "
                f"{_shown(sample.question)} in the data set"
            )

    def notes(self, benchmark: Benchmark, where: str) -> Iterator[str]:
        # If all samples ask the same question, its wording is arbitrary. If there are far fewer
        # prompts than questions, the prompts are templates without the question.
        comparable = len(self.ours) > 1 and len(self.theirs) * 2 > len(self.ours)
        if not comparable or not self.others:
            return
        some = f"{self.others:,} of the {self.n:,} questions in the file"
        if self.others > OTHERS * self.n:
            raise DataError(
                f"{where}: {some} differ from those of {benchmark.name}: {self.example}. "
                f"{_advice(benchmark)} If the file only words the same questions differently, "
                "remove the questions from the file."
            )
        yield f"{some} differ from those of the data set, for example: {self.example}"


@dataclass
class _ChoiceComparison:
    """Compares the choices of a file with the choices of the data set, letter by letter.

    Two choices match if they are the same number. Two texts match if one contains the other, as for
    questions. A choice that the file lacks is not compared. Choices that are only their letters
    are not compared, because they do not say what the letters stand for.
    """

    choices: Mapping[str, Sequence[str]]
    n: int = 0
    others: int = 0
    example: str = ""
    moved: str = ""
    """The first question whose choices are in a different order, in words."""

    def compare(self, sample: Sample) -> None:
        theirs, ours = self.choices.get(sample.id, ()), sample.choices
        if not ours or not any(theirs) or _only_letters(theirs):
            return
        self.n += 1
        moved = _moved(theirs, ours)
        if moved is not None:
            self.moved = self.moved or (
                f"{sample.id!r} has its choices in a different order than in the data set: "
                f"{_difference(sample, theirs, moved)}"
            )
        other = _other(theirs, ours)
        if other is not None:
            self.others += 1
            self.example = self.example or f"{sample.id!r}: {_difference(sample, theirs, other)}"

    def notes(self, benchmark: Benchmark, where: str) -> Iterator[str]:
        if self.moved:
            raise DataError(
                f"{where}: sample {self.moved}, so the letters in the replies stand for different "
                "choices. Ask the questions again with the choices in the order of "
                f"{benchmark.data.where}. {REMOVE_CHOICES}"
            )
        if not self.others:
            return
        some = f"the choices of {self.others:,} of the {self.n:,} questions in the file"
        if self.others > OTHERS * self.n:
            raise DataError(
                f"{where}: {some} differ from those of {benchmark.name}: {self.example}. "
                f"{_advice(benchmark)} {REMOVE_CHOICES}"
            )
        yield f"{some} differ from those of the data set, for example: {self.example}"


@dataclass
class _AnswerComparison:
    """Compares the right answers of a file with those of the data set.

    An answer to a question with choices is compared if it is the letter or the text of a choice. A
    number is not compared, because it may be the index of a choice. Other answers match like
    questions. Lists and objects are not compared.
    """

    answers: Mapping[str, str]
    n: int = 0
    others: int = 0
    example: str = ""

    def compare(self, sample: Sample) -> None:
        if sample.id not in self.answers or sample.target is None:
            return
        theirs, ours = self.answers[sample.id].strip(), sample.target.strip()
        if sample.choices:
            chosen = _chosen(theirs, sample.choices), _chosen(ours, sample.choices)
            if None in chosen:
                return
            is_same = chosen[0] == chosen[1]
        elif theirs.startswith(LISTS) or ours.startswith(LISTS):
            return
        else:
            is_same = _alike(theirs, ours)
        self.n += 1
        if not is_same:
            self.others += 1
            self.example = self.example or (
                f"{sample.id!r} has {_shown(theirs)} in the file, but {_shown(ours)} in the data "
                "set"
            )

    def notes(self, benchmark: Benchmark, where: str) -> Iterator[str]:
        if self.others:
            yield (
                f"{self.others:,} of the {self.n:,} right answers in the file differ from those of "
                f"the data set, for example: {self.example}. The data set's answers are used; "
                "--answers-in-file uses those of the file"
            )


def _only_letters(choices: Sequence[str]) -> bool:
    """Whether the choices are A, B, and so on, as in a list of allowed replies."""
    return [choice.strip() for choice in choices] == list(ascii_uppercase[: len(choices)])


def _moved(theirs: Sequence[str], ours: Sequence[str]) -> int | None:
    """The index of a choice in the file that has another letter in the data set; None if there is
    none. If the file has a choice twice, once under the right letter, the choice has not moved."""
    letters: dict[str, list[int]] = {}
    for index, choice in enumerate(ours):
        letters.setdefault(_exact(choice), []).append(index)
    present = [_exact(choice) if choice else None for choice in theirs]
    for index, text in enumerate(present):
        right = letters.get(text, []) if text is not None else []
        if right and not any(i < len(present) and present[i] == text for i in right):
            return index
    return None


def _other(theirs: Sequence[str], ours: Sequence[str]) -> int | None:
    """The index of the first choice in the file that does not match the data set's choice with the
    same letter; None if all match."""
    for index, choice in enumerate(theirs):
        if choice and not (index < len(ours) and _alike(choice, ours[index])):
            return index
    return None


def _alike(theirs: str, ours: str) -> bool:
    """Whether two texts are the same number or, if they are not numbers, whether one contains the
    other."""
    numbers = _number(theirs), _number(ours)
    if None not in numbers:
        return numbers[0] == numbers[1]
    texts = _letters(theirs), _letters(ours)
    return texts[0] in texts[1] or texts[1] in texts[0]


def _difference(sample: Sample, theirs: Sequence[str], index: int) -> str:
    letter = ascii_uppercase[index] if index < len(ascii_uppercase) else f"{index + 1}"
    ours = _shown(sample.choices[index]) if index < len(sample.choices) else "absent"
    return f"choice {letter} is {_shown(theirs[index])} in the file, but {ours} in the data set"


def _chosen(answer: str, choices: Sequence[str]) -> int | None:
    """The index of the choice that an answer names by its letter or its text. None if the answer
    names no choice, or is a number."""
    letters = ascii_uppercase[: len(choices)]
    if len(answer) == 1 and answer.upper() in letters:
        return letters.index(answer.upper())
    if _number(answer) is not None or choices.count(answer) != 1:
        return None
    return [*choices].index(answer)


def _advice(benchmark: Benchmark) -> str:
    """What to check if a file does not belong to the data set."""
    options = benchmark.provenance.options
    if "columns" in options:  # the user's own rows, whose options follow from their columns
        return f"Check that the replies are to the questions of {benchmark.data.where}."
    listed = ", ".join(f"{name}={value}" for name, value in options.items())
    return (
        "Check the benchmark, the split, and the release."
        + (f" It was read with {listed}." if listed else "")
        + f" `snellen show {benchmark.name}` lists the options."
    )


def _exact(text: str) -> str:
    number = _number(text)
    return " ".join(text.split()) if number is None else repr(number)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _letters(text: str) -> str:
    return NO_LETTERS.sub("", IMAGE_MARK.sub("", text)).casefold()


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")
