"""The phrase that a reply settles on."""

import pytest

from snellen.answers.phrase import final_phrase


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        ("May 5, 1970", "May 5, 1970", "whole reply"),
        (" May 5, 1970.\n", "May 5, 1970", "whole reply"),
        ("**Ivy Moss**", "Ivy Moss", "whole reply"),
        ("\u201cIvy Moss\u201d", "Ivy Moss", "whole reply"),
        ("6 p.m.", "6 p.m.", "whole reply"),
        ("The answer is May 5, 1970.", "May 5, 1970", "the answer is"),
        ('The answer is: "Ivy Moss". She signed.', "Ivy Moss", "the answer is"),
        ("The answer is Dr. Ada Byron. She is named.", "Dr. Ada Byron", "the answer is"),
        ("The answer is 3.5.", "3.5", "the answer is"),
        ("The answer is 3.5", "3.5", "the answer is"),
        ("The answer is 3.5 million. So it says.", "3.5 million", "the answer is"),
        ("It is late.\n**Answer:** 6 p.m.", "6 p.m.", "the answer is"),
        ("Answer: Ivy\nThe answer is ivy.", "ivy", "the answer is"),
        (r"So \boxed{\text{Ivy Moss}}. The answer is 3.", "Ivy Moss", "boxed"),
        ("The answer is Ivy. No, the answer is Ada.", None, "several: the answer is"),
        ("", None, "nothing said"),
        (" \n", None, "nothing said"),
        ("...", None, "nothing said"),
    ],
)
def test_a_reply_settles_on_a_phrase_or_on_none(reply: str, answer: str | None, rule: str) -> None:
    phrase = final_phrase(reply)
    assert (phrase.answer, phrase.rule) == (answer, rule)
