r"""Finds the boxes and points that a reply names, in the forms of all makers' models."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from snellen.answers.reply import final_text

Numbers = tuple[float, ...]


class Places(NamedTuple):
    """The boxes and points that were found in a reply."""

    answers: tuple[Numbers, ...]
    """The two numbers of each point and the four numbers of each box, without repetitions; empty if
    there are none. The numbers are as in the reply: in its scale and order."""
    rule: str
    """The rule that found the places, or the reason why there are none."""

    @property
    def states_axes(self) -> bool:
        """Whether the reply says which number is x and which is y, so that their order does not
        depend on the model."""
        return self.rule in NAME_AXES


NAME_AXES = ("Molmo's tags", "call", "x and y")
"""The rules whose forms name x and y, or call a function of x and y."""
BOX_KEYS = ("bbox_2d", "box_2d", "bbox", "box")
"""Keys of boxes. Their values have four numbers."""
BROKEN: Numbers = ()
"""Stands for a box or point with another count of numbers. The reply then has no place."""
NOTHING = "no place"
SEVERAL = "several places"
_N = r"[-+]?(?:\d{1,15}(?:\.\d{1,20})?|\.\d{1,20})"
_PAIR = rf"{_N}\s{{0,9}},\s{{0,9}}{_N}"
_NUMBER = re.compile(_N)
_ANSWER = re.compile(r"\b(?:answer|action)\b[\s*]{0,9}(?:is\b|[:=\uff1a])", re.IGNORECASE)
_TAGGED = re.compile(
    r"(?:<\|?(?:b?box|box_start|begin_of_box|point)\|?>|^)([-+\d\s.,()\[\]]{3,200})"
    r"<[|/](?:b?box|box_end|end_of_box|point)\|?>"
)
_LISTS = re.compile(r"\[([^\[\]]+)\]")
_MOLMO_TAG = re.compile(r"<points?\b[^<>]{0,5000}>")
_MOLMO = re.compile(rf'\bx\d{{0,4}}="\s?({_N})\s?"\s{{1,9}}y\d{{0,4}}="\s?({_N})\s?"')
_KEY = re.compile(
    r"""["']?\b(bbox_2d|box_2d|bbox|box|point_2d|point|coordinates?|start_box)["']?"""
    r"""\s{0,9}[:=]\s{0,9}["']?[\[(]{1,2}([-+\d\s.,]{3,200})[\])]"""
)
_CLICK = re.compile(
    rf"(?:click|tap|moveTo)\(\s{{0,9}}(?:x\s?=\s?)?({_N})\s{{0,9}},\s{{0,9}}(?:y\s?=\s?)?({_N})",
    re.IGNORECASE,
)
_X_AND_Y = re.compile(
    rf"""\bx["']?\s{{0,9}}[:=]\s{{0,9}}({_N})\s{{0,9}},?\s{{0,9}}["']?y["']?\s{{0,9}}[:=]"""
    rf"""\s{{0,9}}({_N})(?![\d.]*%)""",
    re.IGNORECASE,
)
_BRACKETS = re.compile(rf"[\[(]\s{{0,9}}({_PAIR}(?:\s{{0,9}},\s{{0,9}}{_PAIR})?)\s{{0,9}}[\])]")
_BARE = re.compile(rf"{_N}(?:(?:\s{{0,9}},\s{{0,9}}|\s{{1,9}}){_N}){{1,3}}")


def final_places(text: str) -> Places:
    """Find the boxes and points that a reply gives as its answer. Never guess what their numbers
    mean: the scale and the order of a model's numbers are facts of the model.

    Tagged reasoning is not part of the reply. If the text after the last "answer is", "Answer:", or
    "Action:" names a place, only that text counts. These rules are tried in order, and the first
    rule that finds a place decides:

    (1) Tags of boxes and points, such as <box>(1,2),(3,4)</box>.
    (2) Molmo's tags, <point x="1" y="2">.
    (3) Keys of JSON, such as "bbox_2d": [1, 2, 3, 4].
    (4) Calls, such as click(x=1, y=2).
    (5) x and y, such as x: 1, y: 2.
    (6) Two or four numbers in brackets.
    (7) A reply that is nothing but two or four numbers.

    >>> final_places("<box>(1,2),(3,4)</box>").answers
    ((1.0, 2.0, 3.0, 4.0),)
    >>> final_places("There are 2 cats and 3 dogs.")
    Places(answers=(), rule='no place')
    """
    text = final_text(text).strip()
    ends = [match.end() for match in _ANSWER.finditer(text)]
    stated = text[ends[-1] :].strip(" *\n") if ends else text
    if not stated:
        return Places(answers=(), rule=NOTHING)
    for part in dict.fromkeys((stated, text)):
        for rule, find in RULES.items():
            answers = tuple(dict.fromkeys(find(part)))
            if BROKEN in answers:
                return Places(answers=(), rule=f"{rule}: not two or four numbers")
            if answers:
                return Places(answers=answers, rule=rule)
    return Places(answers=(), rule=NOTHING)


def single_answer(text: str) -> Places:
    """Find the only box or point that a reply gives. A reply with several has none."""
    result = final_places(text)
    if len(result.answers) > 1:
        return Places(answers=(), rule=SEVERAL)
    return result


def _in_tags(text: str) -> Iterator[Numbers]:
    for content in _TAGGED.findall(text):
        boxes = _LISTS.findall(content)
        for part in boxes if len(boxes) > 1 else [content]:
            yield from _exact(part)


def _of_molmo(text: str) -> Iterator[Numbers]:
    for tag in _MOLMO_TAG.findall(text):
        yield from _pairs(_MOLMO)(tag)


def _of_keys(text: str) -> Iterator[Numbers]:
    for key, content in _KEY.findall(text):
        counts = (2,) if "point" in key else (4,) if key in BOX_KEYS else (2, 4)
        yield from _exact(content, counts)


def _pairs(pattern: re.Pattern[str]) -> Callable[[str], Iterator[Numbers]]:
    def find(text: str) -> Iterator[Numbers]:
        for x, y in pattern.findall(text):
            yield float(x), float(y)

    return find


def _in_brackets(text: str) -> Iterator[Numbers]:
    end = 0
    numbers: list[Numbers] = []
    for match in _BRACKETS.finditer(text):
        before = text[end : match.start()].rstrip()
        if before.endswith(("),", "],")):
            yield BROKEN  # the brackets before belong to this answer, too
        numbers += _exact(match[1])
        end = match.end()
    yield from numbers


def _bare(text: str) -> Iterator[Numbers]:
    if _BARE.fullmatch(text):
        yield from (numbers for numbers in _exact(text) if numbers)


def _exact(text: str, counts: tuple[int, ...] = (2, 4)) -> Iterator[Numbers]:
    """Yield the numbers of a text, or `BROKEN` if their count is not one of the counts."""
    numbers = tuple(map(float, _NUMBER.findall(text)))
    yield numbers if len(numbers) in counts else BROKEN


RULES: dict[str, Callable[[str], Iterator[Numbers]]] = {
    "tags": _in_tags,
    "Molmo's tags": _of_molmo,
    "key": _of_keys,
    "call": _pairs(_CLICK),
    "x and y": _pairs(_X_AND_Y),
    "brackets": _in_brackets,
    "only numbers": _bare,
}
"""The rules in the order in which they are tried."""
