r"""Finds the value that a reply gives as its answer."""

from typing import NamedTuple

from snellen.answers._search import SearchText, WordSearch
from snellen.answers.latex import LONGEST, boxed, cleaned, number, same_value
from snellen.answers.reply import final_text, refuses
from snellen.lazy import lazy_pattern

__all__ = ["Value", "boxed", "cleaned", "final_value", "number", "same_value"]


class Value(NamedTuple):
    """The value that was found in a reply."""

    answer: str | None
    """The value without dollar signs and units; None if no value was found."""
    rule: str
    """The rule that found the value, or the reason why none was found."""
    candidates: tuple[str, ...] = ()
    """The values that the reply could mean."""


_ANSWER_IS = lazy_pattern(
    r"\b(?i:(?:answer|solution|result|final value)(?:\s(?:to|for)(?:\s[a-z]{1,12}){1,5}?)?"
    r"(?:\s+(?:is|should be|would be|must be)\b|\s*[:=])"
    r"|answer\s*\*\*\s*:)[\s:*]*(?P<value>[^\n]*)"
)
_ANSWERS = WordSearch(_ANSWER_IS, ("answer", "solution", "result", "final value"))
_SENTENCE = lazy_pattern(r"[.;!?](?:\s|$)|,\s|\s(?:because|since|as|so|which|when|where)\b")
_ENDING = lazy_pattern(
    r"(?:^|[.!?:;]\s|\n)[^.!?\n]{0,300}\s(?:is|are|equals|be)"
    r"(?:\s(?:about|approximately|exactly))?\s(?P<value>[^,+\n]{1,60}?)\.?$"
)
_DIGITS = lazy_pattern(r"[0-9](?:[0-9.,/]*[0-9])?")
_ALONE = lazy_pattern(
    r"(?<![^\s$=:*])(-?[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?:/[0-9]+)?)(?=[.,;:?*$)°%]*(?:\s|$))"
)
_LETTER_OR_TUPLE = lazy_pattern(r"[A-Za-z]|[(\[][^()\[\],]+(?:,[^()\[\],]+)+[)\]]")


def final_value(text: str) -> Value:
    r"""Find the value that a reply gives as its answer. Never guess.

    Tagged reasoning is not part of the reply. These rules are tried in order:

    (1) The value is the content of \boxed{…}.
    (2) The value is the text after "the answer is" or "Answer:".
    (3) The value is the whole reply.
    (4) The value is the only number in the reply.
    (5) The value is the end of the last sentence ("So the length is 12.").

    The first rule that applies decides. If that rule finds several values, or if the reply says
    that it cannot determine the answer, the reply is unparsed.

    >>> final_value("The answer is $12$ cm.").answer
    '12'
    >>> final_value("1 2 3").answer is None
    True
    """
    text = final_text(text)
    boxes = boxed(text)
    if boxes:
        return _only("boxed", [cleaned(box) for box in boxes if not refuses(box)])
    search_text = SearchText(text)
    values = [
        value for match in _ANSWERS.finditer(search_text) if (value := _begins_with(match["value"]))
    ]
    if values:
        return _only("the answer is", values)
    reply = cleaned(text) if len(text) <= LONGEST else ""
    if _is_value(reply):
        return _only("whole reply", [reply])
    if refuses(search_text):
        return Value(None, "refuses")
    numbers = tuple(dict.fromkeys(_DIGITS.findall(text)))
    alone = _ALONE.search(text)
    if len(numbers) == 1 and alone:
        return Value(alone[1], "only number", (alone[1],))
    ending = _ENDING.search(text)
    last = cleaned(ending["value"]) if ending else ""
    if _is_value(last):
        return Value(last, "concludes", (last,))
    return Value(None, "several: only number" if len(numbers) > 1 else "no value", numbers)


def _begins_with(line: str) -> str | None:
    """The value that the line consists of or begins with; None if there is none."""
    line = line[: 2 * LONGEST]
    for text in (cleaned(line), cleaned(_SENTENCE.split(line)[0])):
        if _is_value(text):
            return text
    return None


def _is_value(text: str) -> bool:
    return bool(_LETTER_OR_TUPLE.fullmatch(text)) or number(text) is not None


def _only(rule: str, values: list[str]) -> Value:
    different: list[str] = []
    for value in values:
        if value and not any(same_value(value, other) for other in different):
            different.append(value)
    if len(different) == 1:
        return Value(different[0], rule, tuple(different))
    return Value(None, f"several: {rule}" if different else f"nothing: {rule}", tuple(different))
