"""Finds the letter in a reply in the same way as other tools.

None of these functions removes reasoning from a reply. Some of the tools remove reasoning, but they
do so before they search for a letter.
"""

import re
from collections.abc import Sequence
from string import ascii_uppercase

from snellen.answers._letter import Letter
from snellen.lazy import lazy_pattern

VLMEVALKIT = (
    "open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:"
    "vlmeval/utils/matching_util.py#L15-L61 and #L107-L127"
)
VLMEVALKIT_2024 = (
    "MMStar-Benchmark/MMStar@88f243ab4a39cb339530085c33aecb22819881a1:"
    "eval/vlmeval/utils/matching_util.py#L6-L66"
)
LMMS_EVAL = (
    "EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:"
    "lmms_eval/tasks/_task_utils/mcq_extract.py#L17-L158"
)
MMSTAR = (
    "MMStar-Benchmark/MMStar@88f243ab4a39cb339530085c33aecb22819881a1:"
    "eval/vlmeval/evaluate/mmstar.py#L41-L69"
)
TEXTBOOK = "not from a tool: a common first attempt"

# -- VLMEvalKit

_SEPARATORS = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))
_NO_REPLY = "Failed to obtain answer via API"
_REFUSALS = (
    "Sorry, I can't help with images of people yet.",
    "I can't process this file.",
    "I'm sorry, but without the image provided",
    "Cannot determine the answer",
)
# The pattern does not check where a word ends: "the answer is black" gives B. Only the letters A to
# D are recognized.
_IS = lazy_pattern(r"answer\s+is\s+\**([ABCD])", re.IGNORECASE)


def vlmevalkit_letter(text: str, choices: Sequence[str]) -> Letter:
    """The letter that VLMEvalKit finds: `Z` for a refusal, and None if it would ask its judge.

    If exactly one letter occurs as a word of the reply, and it is among the last four words, that
    letter is the answer. Otherwise, the letter after "answer is" is the answer. Otherwise, if the
    reply is short, the answer is the only choice whose text occurs in the reply. Spaces around the
    reply count toward its length.
    """
    if word := _only_word(text, choices, last=4):
        return word
    letters = ascii_uppercase[: len(choices)]
    match = _IS.search(text)
    if match and match[1].upper() in letters and _NO_REPLY not in text:
        return Letter(match[1].upper(), "answer is", (match[1].upper(),))
    if len(text.lower()) > 2 * sum(map(len, choices)):
        return Letter(None, "longer than the choices")
    return _only_part(text, choices)


def vlmevalkit_2024_letter(text: str, choices: Sequence[str]) -> Letter:
    """Like `vlmevalkit_letter`, but the letter may be anywhere in the reply, the length of the
    reply does not matter, and "answer is" is not searched for."""
    return _only_word(text, choices) or _only_part(text, choices)


def _only_word(text: str, choices: Sequence[str], last: int | None = None) -> Letter | None:
    if _NO_REPLY in text:
        return None
    if any(refusal in text for refusal in _REFUSALS):
        return Letter("Z", "refusal")
    words = text.translate(_SEPARATORS).split()
    letters = ascii_uppercase[: len(choices)]
    letters_in_text = tuple(letter for letter in letters if letter in words)
    if len(letters_in_text) == 1 and (
        last is None or words.index(letters_in_text[0]) >= len(words) - last
    ):
        return Letter(letters_in_text[0], "only letter", letters_in_text)
    return Letter("Z", "letter Z") if not letters_in_text and "Z" in words else None


def _only_part(text: str, choices: Sequence[str]) -> Letter:
    low = text.lower()
    matches = tuple(
        letter
        for letter, choice in zip(ascii_uppercase, choices, strict=False)
        if choice.lower() in low
    )
    if len(matches) == 1:
        return Letter(matches[0], "only choice", matches)
    return Letter(None, "several choices" if matches else "no choice", matches)


# -- lmms-eval

_PHRASES = (
    *("the answer is", "answer is", "the correct answer is", "correct answer is"),
    *("the best answer is", "best answer is", "the correct option is", "correct option is"),
    *("the best option is", "best option is", "the choice is", "choice is"),
    *("the correct choice is", "correct choice is", "i choose", "i select", "i pick"),
    *("my answer is", "my choice is", "옵션", "정답은", "답은", "답:"),
    *("答案是", "答案为", "选", "答えは"),
)
_FORMS = (("(A)", "({})"), ("A.", "{}."), ("A:", "{}:"), ("A)", "{})"), ("A ", "{} "))


def lmms_eval_letter(text: str, choices: Sequence[str]) -> Letter:
    """The letter that lmms-eval finds: the last one in the most reliable form that occurs. None if
    the reply has no letter.

    These are the forms, from the most to the least reliable: at the start of the reply; at its end;
    after a phrase such as "answer is"; as (A), A., A:, or A); before a space; anywhere. In all
    forms except the first two, the letter may be part of a word.
    """
    letters = ascii_uppercase[: len(choices)]
    text = text.strip()
    for sign in ",.!?;:'\"":
        text = text.strip(sign)
    text = f" {text} "
    bare, low = text.strip(), text.lower()
    behind = [position + len(phrase) for phrase in _PHRASES if (position := low.find(phrase)) >= 0]
    positions_by_rule: dict[str, list[tuple[int, str]]] = {
        "begins": [
            (0, letter) for letter in letters if bare[:1] == letter and not bare[1:2].isalpha()
        ],
        "ends": [
            (0, letter) for letter in letters if bare[-1:] == letter and not bare[-2:-1].isalpha()
        ],
        "phrase": [(text.find(letter, start), letter) for start in behind for letter in letters],
        **{
            name: [(text.rfind(form.format(letter)), letter) for letter in letters]
            for name, form in _FORMS
        },
        "anywhere": [(text.rfind(letter), letter) for letter in letters],
    }
    for rule, positions in positions_by_rule.items():
        there = [(position, letter) for position, letter in positions if position >= 0]
        if there:
            candidates = tuple(dict.fromkeys(letter for _, letter in there))
            return Letter(max(there, key=lambda item: item[0])[1], rule, candidates)
    return Letter(None, "no letter")


# -- MMStar

_BEFORE = ("", "(", "option ", "the answer is ")


def mmstar_letter(text: str, choices: Sequence[str]) -> Letter:
    """The letter that MMStar finds: the first character of the reply, or the character after "(",
    "option ", or "the answer is " if the reply begins with one of these.

    Case is ignored, and the letter may be the beginning of a word: "A dog" gives A, and "Because"
    gives B. The authors' code only checks whether the right letter is in one of these places, which
    gives the same scores with up to fourteen choices. With more choices, their code would score
    "option B" as right if the right answer is O.
    """
    low = text.lower().strip().replace("\n", " ")
    letters = {*ascii_uppercase[: len(choices)].lower()}
    for before in _BEFORE:
        letter = low[len(before) : len(before) + 1]
        if low.startswith(before) and letter in letters:
            rule = f"behind {before.rstrip()!r}" if before else "begins"
            return Letter(letter.upper(), rule, (letter.upper(),))
    return Letter(None, "no letter")


# -- textbook

_FIRST_SIGNS = 10


def textbook_letter(text: str, choices: Sequence[str]) -> Letter:
    """The first capital letter among the first ten characters that is the letter of a choice:
    "Answer: B" gives A.

    Many short scripts use this rule.
    """
    letters = ascii_uppercase[: len(choices)]
    candidates = tuple(dict.fromkeys(sign for sign in text[:_FIRST_SIGNS] if sign in letters))
    if candidates:
        return Letter(candidates[0], "first letter", candidates)
    return Letter(None, "no letter in the first ten characters")
