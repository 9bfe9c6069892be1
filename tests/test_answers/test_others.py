"""The letters that other tools find, against these tools' own code."""

import json
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest

from snellen.answers.choice import Letter
from snellen.answers.others import (
    lmms_eval_letter,
    mmstar_letter,
    textbook_letter,
    vlmevalkit_2024_letter,
    vlmevalkit_letter,
)
from tests.golden_data import golden

LETTERS = Path(__file__).parents[1] / "data/lmms_eval_letters.txt"
CHOICES = ["cat", "dog", "red car", "blue sky"]


def rows() -> list[dict[str, Any]]:
    lines = (golden("mcq_parsing") / "differential.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert all(list(row["options"]) == [*ascii_uppercase[: len(row["options"])]] for row in records)
    return records


def right(letters: list[Letter], every: list[dict[str, Any]]) -> list[int]:
    return [int(letter.answer == row["answer"]) for letter, row in zip(letters, every, strict=True)]


def test_vlmevalkits_letter_is_that_of_its_code_on_every_made_reply() -> None:
    every = rows()
    letters = [vlmevalkit_letter(row["prediction"], [*row["options"].values()]) for row in every]

    assert len(every) == 1_500
    assert [letter.answer or False for letter in letters] == [
        row["vlmevalkit_can_infer"] for row in every
    ]
    assert right(letters, every) == [row["vlmevalkit_correct"] for row in every]


def test_vlmevalkits_letter_of_2024_is_that_of_its_code_on_every_made_reply() -> None:
    every = rows()
    letters = [
        vlmevalkit_2024_letter(row["prediction"], [*row["options"].values()]) for row in every
    ]

    assert [letter.answer or False for letter in letters] == [
        row["vlmeval_2024_can_infer"] for row in every
    ]
    assert right(letters, every) == [row["vlmeval_2024_correct"] for row in every]


def test_lmms_evals_letter_is_that_of_its_code_on_every_made_reply() -> None:
    # By id: "-" where the code finds no letter, "." where it was not run (draw_lmms_eval.py).
    theirs = LETTERS.read_text().replace("\n", "")
    every = [row for row in rows() if theirs[row["id"]] != "."]
    letters = [lmms_eval_letter(row["prediction"], [*row["options"].values()]) for row in every]

    assert len(every) == 1_500
    assert [letter.answer or "-" for letter in letters] == [theirs[row["id"]] for row in every]


def test_mmstars_letter_is_right_where_its_code_says_so_on_every_made_reply() -> None:
    every = rows()
    letters = [mmstar_letter(row["prediction"], [*row["options"].values()]) for row in every]

    assert right(letters, every) == [row["mmstar_correct"] for row in every]


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        # Each as reported in the reference, by running the code.
        ("**Answer:** B", "B", "only letter"),
        ("\\boxed{C}", "C", "only letter"),
        ("the answer is d", "D", "answer is"),
        ("The answer is A, not B.", "A", "answer is"),
        ("The answer is definitely B, as one can see from the shape of it", "D", "answer is"),
        ("My answer is cats or dogs, B or C", "C", "answer is"),
        ("A dog is on the grass there", "B", "only choice"),
        ("B or C", None, "no choice"),
        ("dog and cat", None, "several choices"),
        ("I can't process this file.", "Z", "refusal"),
        ("Failed to obtain answer via API: A", None, "no choice"),
        ("B is what I would say of it, were I asked again, and again", None, "longer than"),
    ],
)
def test_vlmevalkits_rules(reply: str, answer: str | None, rule: str) -> None:
    letter = vlmevalkit_letter(reply, CHOICES)

    assert letter.answer == answer
    assert letter.rule.startswith(rule)


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        # Each by running the code of 2024. No "answer is" yet, and no last words.
        ("B is what I would say of it", "B", "only letter"),
        ("It is a dog, as anybody can see from its ears and its tail", "B", "only choice"),
        ("The answer is d", None, "no choice"),
        ("B or dog", "B", "only letter"),
        ("B or C", None, "no choice"),
        ("dog and cat", None, "several choices"),
        ("I would say Z to that, no letter", "Z", "letter Z"),
        ("Cannot determine the answer", "Z", "refusal"),
        ("Failed to obtain answer via API: B", None, "no choice"),
    ],
)
def test_vlmevalkits_rules_of_2024(reply: str, answer: str | None, rule: str) -> None:
    letter = vlmevalkit_2024_letter(reply, CHOICES)

    assert (letter.answer, letter.rule) == (answer, rule)


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        ("A man is running", "A", "begins"),
        ("It barks, so B", "B", "ends"),
        # Signs go from the ends one after the other: the full stop within quotes stays.
        ('(C) it was, not "B."', "C", "(A)"),
        ("option B because A is wrong, the answer is C or so", "C", "phrase"),
        # Of each letter its first place behind the phrase, and of these the last.
        ("The answer is B, since C is not B at all", "C", "phrase"),
        # The form counts before the place.
        ("Say (A), and no B. in it", "A", "(A)"),
        ("Say A. and no B: in it", "A", "A."),
        ("Say A: and no B) in it", "A", "A:"),
        ("Say A) and no B in it", "A", "A)"),
        ("The letter (B) or (C) it is", "C", "(A)"),
        ("To say B. To say no more", "B", "A."),
        ("To say B: it barks", "B", "A:"),
        ("To say B) it barks", "B", "A)"),
        ("[LMMS_EVAL_REQUEST_FAILED it]", "D", "A "),
        ("ABBA: it", "A", "A:"),
        ("CATs", "A", "anywhere"),
        ("it barks", None, "no letter"),
        ("", None, "no letter"),
    ],
)
def test_lmms_evals_rules(reply: str, answer: str | None, rule: str) -> None:
    letter = lmms_eval_letter(reply, CHOICES)

    assert (letter.answer, letter.rule) == (answer, rule)


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        ("B", "B", "begins"),
        ("\n b. dog", "B", "begins"),
        ("A dog is on the grass", "A", "begins"),
        ("(C) red car", "C", "behind '('"),
        ("Option\nD", "D", "behind 'option'"),
        ("The answer is black", "B", "behind 'the answer is'"),
        # Only the second sign is looked at, and only these words.
        ("( C)", None, "no letter"),
        ("**B**", None, "no letter"),
        ("The answer is (B)", None, "no letter"),
        ("The answer is: B", None, "no letter"),
        ("Answer: B", "A", "begins"),
        ("E", None, "no letter"),
        ("(", None, "no letter"),
        ("option ", None, "no letter"),
        ("", None, "no letter"),
    ],
)
def test_mmstars_rules(reply: str, answer: str | None, rule: str) -> None:
    letter = mmstar_letter(reply, CHOICES)

    assert (letter.answer, letter.rule) == (answer, rule)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("B", "B"),
        ("It is (B).", "B"),
        ("Answer: B", "A"),
        ("The right answer is B", None),
        ("", None),
    ],
)
def test_the_textbook_rule_takes_the_first_letter_of_the_first_ten_signs(
    reply: str, answer: str | None
) -> None:
    assert textbook_letter(reply, CHOICES).answer == answer
