"""Which of the offered choices a reply commits to."""

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import NamedTuple


class Letter(NamedTuple):
    """A choice's letter, or None; the rule that found it or gave up; the letters it could be."""

    answer: str | None
    rule: str
    candidates: tuple[str, ...] = ()


# A letter as it is named behind a word: in brackets, capital, or small at the end of a line.
# `A` and `I` before a small word are words themselves.
_NAMED = (
    r"[\s:*_]{0,6}(?:is\b|:)?[\s:*_\"'`]{0,6}(?i:option\s|choice\s)?"
    r"(?:\(([A-Za-z])\)|([B-HJ-Z]|[AI](?!\s(?!(?:or|and|is|because|since)\b)[a-z]))(?![\w'\u2019])"
    r"|([a-z])(?=[.*\s]{0,6}(?:\n|$)))"
)
_BOXED = re.compile(r"\\boxed\s{0,3}\{\s{0,3}(?:\\text\s{0,3}\{)?\s{0,3}\(?([A-Za-z])\)?\s{0,3}\}")
_ANSWER = re.compile(r"\b(?i:answer|(?:correct|right|best) (?:option|choice))\b" + _NAMED)
_OPTION = re.compile(r"\b(?<!\bnot\s)(?i:option|choice)\b" + _NAMED)
_FIRST = re.compile(r"[\s*_(\[]{0,6}([A-Z])[\s*_]{0,3}[)\].:,](?=\s|$|\*)")
_ALONE = re.compile(r"(?<!\bnot\s)(?<!\bnot\s[(\[])(?<![\w'\u2019\\])([A-Z])(?![\w'\u2019])")
_ARTICLE = re.compile(r"\s(?!(?:or|and|nor|is)\b)[a-z]")


def option_letter(text: str, choices: Sequence[str]) -> Letter:
    """The letter of the choice that a reply settles on; never a guess.

    In this order: the reply is a letter, or a choice's text; it has \\boxed{B}; it says "the answer
    is B", or "option B"; its lines begin "B." or "B)"; one letter stands alone in it; one choice's
    text stands in it. The first of these that names a choice decides; if it names two, the reply is
    unparsed.

    >>> option_letter("The answer is (B).", ["a cat", "a dog"])
    Letter(answer='B', rule='the answer is', candidates=('B',))
    >>> option_letter("A B", ["a cat", "a dog"]).answer is None
    True
    """
    letters = ascii_uppercase[: len(choices)]
    bare = text.strip().strip("*_`()[]{}.:\"' \n")
    if len(bare) == 1 and bare.upper() in letters:
        return Letter(bare.upper(), "letter", (bare.upper(),))
    same = [letter for letter, choice in zip(letters, choices, strict=True) if _same(bare, choice)]
    if len(same) == 1:
        return Letter(same[0], "choice", tuple(same))
    steps = (
        ("boxed", [match.upper() for match in _BOXED.findall(text)]),
        ("the answer is", ["".join(found).upper() for found in _ANSWER.findall(text)]),
        ("option", ["".join(found).upper() for found in _OPTION.findall(text)]),
        ("begins with", _beginning(text)),
        ("only letter", _alone(text)),
        ("only choice", _named(text, choices)),
    )
    for rule, found in steps:
        named = tuple(dict.fromkeys(letter for letter in found if letter in letters))
        if len(named) == 1 and not _goes_on(text, named[0], letters, rule):
            return Letter(named[0], rule, named)
        if named:
            return Letter(None, f"several: {rule}", named)
    return Letter(None, "no choice")


def _same(text: str, choice: str) -> bool:
    return bool(text) and text.casefold() == choice.strip().rstrip(".").casefold()


def _beginning(text: str) -> list[str]:
    """The letters that lines begin with, if the reply's first line does."""
    if not _FIRST.match(text):
        return []
    return [match[1] for line in text.splitlines() if (match := _FIRST.match(line))]


def _alone(text: str) -> list[str]:
    """Capital letters that stand alone; not `A` before a word, nor `I`, unless in brackets."""
    found = []
    for match in _ALONE.finditer(text):
        bracketed = text[match.start() - 1 : match.start()] in ("(", "[")
        word = match[1] == "I" or (match[1] == "A" and _ARTICLE.match(text, match.end()))
        if bracketed or not word:
            found.append(match[1])
    return found


def _named(text: str, choices: Sequence[str]) -> list[str]:
    """The choices whose text stands in the reply, not counting one inside a longer one."""
    rest = text.casefold()
    found = []
    order = sorted(range(len(choices)), key=lambda i: -len(choices[i]))
    for i in order:
        choice = choices[i].strip().casefold()
        pattern = rf"(?<!\w){re.escape(choice)}(?!\w)"
        if choice and re.search(pattern, rest):
            found.append(ascii_uppercase[i])
            if sum(other.strip().casefold() == choice for other in choices) == 1:
                rest = re.sub(pattern, "\0", rest)
    return found


def _goes_on(text: str, letter: str, letters: str, rule: str) -> bool:
    """Whether the reply names a second letter right behind this one: "A or B", "A, B"."""
    if rule not in ("the answer is", "option", "begins with"):
        return False
    between = r"\b[\s)\]*,./]{0,4}(?:(?:or|and|&)\s{0,3})?[(\[*]{0,3}"
    more = re.finditer(rf"\b{letter}{between}([{letters}])(?![\w'])", text)
    return any(match[1] != letter for match in more)
