"""Finds the phrase that a reply of a single sentence gives as its answer."""

import re

from snellen.answers.phrase import ANSWER_IS, Phrase, final_phrase
from snellen.answers.reply import final_text
from snellen.lazy import lazy_pattern

FULL_REPLY = "whole reply"
STATES = "one sentence"

# The subject must not contain a comma, since another clause may begin after a comma.
_STATES = lazy_pattern(
    r"""^(?:
      (?:i|we)\s(?:can\s)?(?:see|read|count)
    | (?:it|this|that|these|those|there|he|she|they)
      (?:['\u2019]s|\s(?:is|are|was|were|says?|shows?|reads?))
    | (?:the|this|that|these|those)\s[^,;:\n]{1,120}?\s
      (?:is|are|was|were|says?|shows?|reads?|displays?|depicts?|contains?)
    )(?:\s|:\s)(?P<phrase>[^\n]{1,120})$""",
    re.IGNORECASE | re.VERBOSE,
)
# "The cat is not red", "the cat is on the mat": what follows such a word is not an answer
# by itself.
_NOT_A_PHRASE = lazy_pattern(
    r"(?:not|no|never|neither|unable|unclear|unknown|in|on|at|by|from|with|near|about|that|to)\b",
    re.IGNORECASE,
)
_SENTENCE_ENDS = lazy_pattern(r"(?<=\w{3})[.!?]\s|\n")


def stated_phrase(text: str) -> Phrase:
    r"""Find the phrase that a reply gives as its answer, even if the phrase is part of a sentence.

    The rules of `final_phrase` come first: \boxed{…}, and "the answer is". If a reply says "the
    answer is" with several phrases, the last phrase is the answer, since it corrects the others. If
    no rule applies, and the reply is a single sentence such as "The picture shows X.", "There are
    X.", "The color of the car is X.", or "I see X.", the phrase is X. Otherwise it is the whole
    reply.

    >>> stated_phrase("The picture shows **MBMM**.").answer
    'MBMM'
    >>> stated_phrase("The car is not red.").rule
    'whole reply'
    """
    phrase = final_phrase(text)
    if phrase.rule == "several: the answer is":
        final = final_text(text)
        *_, last = ANSWER_IS.finditer(final)
        return final_phrase(final[last.start() :])._replace(rule="the last answer is")
    if phrase.rule != FULL_REPLY or phrase.answer is None or _SENTENCE_ENDS.search(phrase.answer):
        return phrase
    statement = _STATES.match(phrase.answer)
    if statement is None or _NOT_A_PHRASE.match(statement["phrase"]):
        return phrase
    stated = final_phrase(statement["phrase"])
    return stated if stated.answer is None else stated._replace(rule=STATES)
