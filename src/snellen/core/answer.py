"""The kinds of answers that a reading can hold. Each kind of answer can be stored as JSON and
loaded again.

A text is a `str`, a number is a `float`, and several texts are a tuple of `str`. Every other kind
of answer is a class in this file. In JSON, the field `kind` names the class. Sizes and times must
be finite.
"""

from __future__ import annotations

import math
from string import ascii_uppercase

import msgspec


class AnswerKind(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """The base class of the answer classes in this file.

    Raises:
        ValueError: a number is infinite or NaN, which JSON cannot represent.
    """

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{type(self).__name__}: {name} is {value}, not a finite number.")


class ChoiceAnswer(AnswerKind, frozen=True, tag="choice"):
    """One of the sample's choices."""

    index: int
    """The index of the choice, from 0: A is 0."""


class BoxAnswer(AnswerKind, frozen=True, tag="box"):
    """A box in a picture, in pixels from the upper left corner of the original picture."""

    left: float
    """The left edge, in pixels."""
    top: float
    """The upper edge, in pixels."""
    right: float
    """The right edge, in pixels."""
    bottom: float
    """The lower edge, in pixels."""
    medium: int = 0
    """The index of the picture or video among the sample's media, from 0."""


class PointAnswer(AnswerKind, frozen=True, tag="point"):
    """A point in a picture, in pixels from the upper left corner of the original picture."""

    x: float
    """The distance from the left edge, in pixels."""
    y: float
    """The distance from the upper edge, in pixels."""
    medium: int = 0
    """The index of the picture or video among the sample's media, from 0."""


class PolygonAnswer(AnswerKind, frozen=True, tag="polygon"):
    """A polygon in a picture, in pixels from the upper left corner of the original picture."""

    points: tuple[tuple[float, float], ...]
    """The corners in order, each as (x, y) in pixels. The last corner is connected to the first."""
    medium: int = 0
    """The index of the picture or video among the sample's media, from 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(math.isfinite(value) for point in self.points for value in point):
            raise ValueError("PolygonAnswer: a coordinate of a corner is not a finite number.")


class IntervalAnswer(AnswerKind, frozen=True, tag="interval"):
    """An interval of a video, in seconds from the beginning of the video."""

    start: float
    """The start of the interval, in seconds."""
    end: float
    """The end of the interval, in seconds."""
    medium: int = 0
    """The index of the video among the sample's media, from 0."""


class TableAnswer(AnswerKind, frozen=True, tag="table"):
    """A table of texts."""

    rows: tuple[tuple[str, ...], ...]
    """The cells of each row."""
    header: tuple[str, ...] = ()
    """The names of the columns; empty if the columns have no names."""


class SeveralAnswers(AnswerKind, frozen=True, tag="several"):
    """Several answers, such as boxes. (Several texts are a tuple of `str` instead.)"""

    answers: tuple[Answer, ...]
    """The answers, in the order in which the reply gives them."""


class NamedAnswers(AnswerKind, frozen=True, tag="named"):
    """Separate answers to the named parts of a question."""

    answers: dict[str, Answer]
    """The answers, keyed by the name of the part."""

    def __hash__(self) -> int:
        return hash(frozenset(self.answers.items()))


Answer = (
    str
    | float
    | tuple[str, ...]
    | ChoiceAnswer
    | BoxAnswer
    | PointAnswer
    | PolygonAnswer
    | IntervalAnswer
    | TableAnswer
    | SeveralAnswers
    | NamedAnswers
)


def answer_words(answer: Answer) -> str:
    """The answer as human-readable text.

    >>> answer_words(BoxAnswer(left=10, top=20.5, right=30, bottom=40))
    'box (10, 20.5) to (30, 40)'
    >>> answer_words(IntervalAnswer(start=1.5, end=4, medium=1))
    '1.5 s to 4 s in medium 2'
    """
    match answer:
        case str():
            return answer
        case tuple():
            return ", ".join(answer)
        case float() | int():
            return _number(answer)
        case ChoiceAnswer(index=index):
            letter = index < len(ascii_uppercase)
            return ascii_uppercase[index] if letter else f"choice {index + 1}"
        case BoxAnswer():
            corners = (answer.left, answer.top), (answer.right, answer.bottom)
            return f"box {' to '.join(map(_point, corners))}{_medium(answer.medium)}"
        case PointAnswer():
            return f"point {_point((answer.x, answer.y))}{_medium(answer.medium)}"
        case PolygonAnswer():
            return f"polygon {', '.join(map(_point, answer.points))}{_medium(answer.medium)}"
        case IntervalAnswer():
            ends = f"{_number(answer.start)} s to {_number(answer.end)} s"
            return f"{ends}{_medium(answer.medium)}"
        case TableAnswer():
            lines = [answer.header, *answer.rows] if answer.header else answer.rows
            return "table: " + "; ".join(" | ".join(line) for line in lines)
        case SeveralAnswers():
            return "; ".join(map(answer_words, answer.answers))
        case NamedAnswers():
            return "; ".join(f"{name}: {answer_words(of)}" for name, of in answer.answers.items())


def answer_text(answer: Answer) -> str:
    """The answer as text for other tools' files: typed answers as in `answer_words`, and others as
    Python prints them.

    >>> answer_text(1.0), answer_text(PointAnswer(x=1, y=2))
    ('1.0', 'point (1, 2)')
    """
    return answer_words(answer) if isinstance(answer, AnswerKind) else str(answer)


def _number(value: float) -> str:
    return f"{value:.10g}"


def _point(point: tuple[float, float]) -> str:
    return f"({', '.join(map(_number, point))})"


def _medium(index: int) -> str:
    return f" in medium {index + 1}" if index else ""
