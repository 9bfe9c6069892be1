"""Selects the part of a reply that is parsed: without reasoning, and without the middle of a long
reply."""

import re

from snellen.answers._search import SearchText, WordSearch
from snellen.lazy import lazy_pattern

ENDS = 10_000
"""The number of characters that are parsed at each end of a long reply. The middle is skipped to
limit the time that parsing takes."""

THINKING = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
)
MARKS = ("</s>", "<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<end_of_turn>")
"""End-of-turn marks, which some servers leave in the text of a reply."""

REFUSES = lazy_pattern(
    r"\b(?:can(?:not|'t| not)|unable to|impossible to|(?:not|n't) (?:be )?(?:possible|able) to)\s"
    r"(?:\w{1,12}\s)?(?:determine|answer|see|view|identify|provide|assist|help|tell|say|analy[sz]e|"
    r"evaluate|interpret|access|read|"
    r"be (?:determined|answered|identified|calculated|seen|inferred))"
    r"|\b(?:not|n't|in)\s?(?:sufficient|enough) (?:information|data|context|detail)"
    r"|(?:\bnot|n't) (?:provide|contain|include|given|provided|available|valid|described)\b"
    r"|(?:\bnot|n't) (?:listed |given |available )?(?:in|among|one of|any of|match)\s"
    r"(?:any of )?(?:the|these|those)\b|\bplease (?:provide|describe|share)"
    r"|\bi(?:'m| am) sorry\b|\bno (?:correct|right|suitable) (?:option|answer|choice)"
    r"|\bnone of the\b|\binconclusive\b|\bindeterminate\b"
    r"|\bmore (?:information|context) is\b"
    r"|无法|不能确定|没有正确",
    re.IGNORECASE,
)
"""Matches replies that say that the question cannot be answered, or that no choice is right."""
_REFUSALS = (
    WordSearch(
        REFUSES,
        (
            *("cannot", "can't", "can not", "unable to", "impossible to", "not ", "n't"),
            *("please ", "i'm sorry", "i am sorry", "no correct ", "no right ", "no suitable "),
            *("none of the", "inconclusive", "indeterminate", "more information", "more context"),
            *("无法", "不能确定", "没有正确"),
        ),
    ),
    WordSearch(REFUSES, ("sufficient", "enough"), before=4),
)


def refuses(text: str | SearchText) -> bool:
    """Whether a text says that the question cannot be answered, or that no choice is right.

    >>> refuses("I am sorry, there is no picture."), refuses("It is red.")
    (True, False)
    """
    text = SearchText(text) if isinstance(text, str) else text
    return any(search.search(text) for search in _REFUSALS)


def final_text(text: str) -> str:
    """The text of a reply without its reasoning. If this text has more than `2 * ENDS` characters,
    its middle is removed.

    A closing mark ends the reasoning even if there is no opening mark, since some prompts contain
    the opening mark. If an opening mark has no closing mark, everything after it is reasoning.

    >>> final_text("<think>A? No, B.</think>B"), final_text("A? No, B.</think>B")
    ('B', 'B')
    >>> final_text("<think>A? No, B.")
    ''
    """
    if "<" in text or "◁" in text:
        for begins, ends in THINKING:
            if begins in text or ends in text:
                text = _without(text, begins, ends)
    text = text.strip()
    if text.endswith(MARKS):
        for mark in MARKS:
            text = text.removesuffix(mark).rstrip()
    return text if len(text) <= 2 * ENDS else f"{text[:ENDS]}\n\n{text[-ENDS:]}"


def thoughts_in(text: str) -> str:
    """The reasoning in the text of a reply; empty if there is none, or if it is only white space.

    >>> thoughts_in("<think>A? No, B.</think>B"), thoughts_in("A? No, B.</think>B")
    ('A? No, B.', 'A? No, B.')
    >>> thoughts_in("<think>\\n\\n</think>B")
    ''
    """
    for begins, ends in THINKING:
        start = text.find(begins)
        end = text.find(ends, max(start, 0))
        if start < 0 and end < 0:
            continue
        first = start + len(begins) if start >= 0 else 0
        if thoughts := text[first : end if end >= 0 else len(text)].strip():
            return thoughts
    return ""


def _without(text: str, begins: str, ends: str) -> str:
    kept = []
    position = 0
    while (start := text.find(begins, position)) >= 0:
        kept.append(text[position:start])
        position = text.find(ends, start)
        if position < 0:
            return "".join(kept).rpartition(ends)[2]
        position += len(ends)
    kept.append(text[position:])
    return "".join(kept).rpartition(ends)[2]
