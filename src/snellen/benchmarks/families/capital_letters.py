"""Shared by MME-RealWorld and TreeBench: the first capital letter of a reply.

The phrases and the rule are those of open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be
94:vlmeval/dataset/utils/multiple_choice.py#L585-L610 and of MME-RealWorld's authors, whose list of
phrases differs.
"""

import re
from collections.abc import Sequence

from snellen.core import Reading

PHRASES = ("The best answer is", "The correct answer is", "The answer is", "The answer")
MORE_PHRASES = ("The best option is", "The correct option is", "Best answer:", "Best option:")
BARE = ("(A)", "(B)", "(C)", "(D)", "(E)")


def first_capital(text: str, phrases: Sequence[str], options: Sequence[str]) -> Reading:
    """Parse the first capital letter A to E after the phrases are deleted, or else the first of the
    options that contains the text."""
    text = text.strip()
    for phrase in phrases:
        text = text.replace(phrase, "")
    if capital := re.search("[A-E]", text):
        return Reading(answer=capital[0], rule="first capital letter")
    if len(text.split()) > 10:
        return Reading(answer=None, rule="more than ten words")
    option = next((option for option in options if text.lower() in option.lower()), "")
    return Reading(answer=option[1:2] or None, rule="in a choice" if option else "in no choice")


def in_tags(text: str) -> str:
    inner, closing, _ = text.partition("<answer>")[2].partition("</answer>")
    return inner.strip().upper() if closing else text
