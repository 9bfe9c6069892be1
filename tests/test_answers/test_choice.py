"""Which choice a reply commits to. Replies were written for this table and read by a person."""

import importlib
import json
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.answers import choice, latex
from snellen.answers import reply as _reply
from snellen.answers.choice import option_letter
from tests.golden_data import golden

CHOICES = ["a cat", "a dog", "a hot dog", "none"]


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        ("B", "B", "letter"),
        ("b", "B", "letter"),
        ("**B**", "B", "letter"),
        ("(B).", "B", "letter"),
        ("B,", "B", "letter"),
        ("“B”", "B", "letter"),
        ("$B$", "B", "letter"),
        ("B</s>", "B", "letter"),
        ("A dog.", "B", "choice"),
        ("dog", "B", "choice"),
        ("<answer>B. a dog</answer>", "B", "answer tag"),
        ("It barks: <|begin_of_box|>B<|end_of_box|>", "B", "answer tag"),
        ("$\\boxed{\\text{C}}$", "C", "boxed"),
        ("So $\\boxed{\\textbf{(C) }\\text{a hot dog}}$.", "C", "boxed"),
        ("With $x = \\boxed{3}$ it is \\boxed{C}", "C", "boxed"),
        ("The picture shows \\boxed{a hot dog}", "C", "boxed"),
        ("The answer is (B).", "B", "the answer is"),
        ("THE ANSWER IS B", "B", "the answer is"),
        ("Answer: a", "A", "the answer is"),
        ("Answer: B\n\nA is a cat, and C is eaten.", "B", "the answer is"),
        ("Answer: \\( \\text{B} \\)", "B", "the answer is"),
        ('{"answer": "B"}', "B", "the answer is"),
        ("### Answer\n\n**(B)**", "B", "the answer is"),
        ("The answer to your question is (B) a dog.", "B", "the answer is"),
        ("The correct option is **C**", "C", "the answer is"),
        ("The correct option letter is C. In figure A and B", "C", "the answer is"),
        ("The answer is B because A is wrong", "B", "the answer is"),
        ("Option A is wrong; the answer is B", "B", "the answer is"),
        ("The answer is A based on the fur", "A", "the answer is"),
        ("The answer is B. It may be that C is near.", "B", "the answer is"),
        ("The answer is B, C is wrong", "B", "the answer is"),
        ("First I thought that the answer is A.\n\nAnswer: B", "B", "last line"),
        ("Looking at it, option B is right, not A", "B", "option"),
        ("option b", "B", "option"),
        ("I would go with choice number A in this case", "A", "option"),
        ("Option A is wrong. Option B is correct.", "B", "is right"),
        ("Only (B) is the best answer; (A) is a cat", "B", "is right"),
        ("A is wrong. C is wrong. So B", "B", "concludes"),
        ("not A, so C", "C", "concludes"),
        ("B. a dog", "B", "begins with"),
        ("B: it barks", "B", "begins with"),
        ("B, a dog", "B", "begins with"),
        ("A\nbecause it meows", "A", "begins with"),
        ("(B) a dog\nIt barks.", "B", "begins with"),
        ("What barks here is (B) a dog, next to A", "B", "letter and choice"),
        ("I would say B here", "B", "only letter"),
        ("assistant: B", "B", "only letter"),
        ("neither A nor B, but C", "C", "only letter"),
        ("A is wrong, I think of B", "B", "only letter"),
        ("None. It is empty, with a dog house.", "D", "begins with choice"),
        ("I think it is a hot dog", "C", "only choice"),
        ("The answer is a cat, surely", "A", "only choice"),
        ("It is not a cat, it is a hot dog", "C", "only choice"),
        ("None of the above", "D", "only choice"),
    ],
)
def test_a_reply_that_commits_to_a_choice_is_read(reply: str, answer: str, rule: str) -> None:
    letter = option_letter(reply, CHOICES)

    assert (letter.answer, letter.rule) == (answer, rule)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "A B C D",
        "A or B",
        "A, B",
        "A, b, c",
        "Both A and B",
        "The answer is A or B",
        "The answer is B, though it could be C.",
        "Answer: B and C",
        "A. a cat\nB. a dog\nC. a hot dog\nD. none",
        "Answer: A\nAnswer: B",
        "There is a dog and a cat",
        "A man stands there",
        "I cannot see it",
        "I'm sorry, I can't help with a dog.",
        "The answer is not B",
        "The answer isn't B",
        "The answer isn't A, it is B",
        "rule out A and B",
        "Option A is wrong.",
        "Option (a), or option (c). I see a dog.",
        "Answer: A. The answer is B.",
        "12\n(E) a tree\n(F) a hot dog",
        "With \\boxed{a cat} in it: \\boxed{7}",
        "The length $B$ is long",
        "It is not a dog.",
        "E",
        "The answer is E",
        "E. a dog",
        "The answer is N/A.",
        "\\boxed{A} or \\boxed{B}",
        "\\boxed{A, B}",
        "B is near. \\boxed{a tree}",
        "None of A, B and C is correct",
        "Yes and no",
        "1 2 3",
        "2 or 3",
        "CATALOG",
        "ABBA",
        "B's dog plays C# at A-level in the U.S.",
        "Vitamin C",
        "I would pick A over B.",
        "A beats D.",
        "The side from A to B",
        "the angle at B is 30",
        "B -> C -> A",
        "180 - A - 25 is 155",
        "Let A + C be 12",
        "(D) none\n(E) both",
    ],
)
def test_a_reply_that_commits_to_none_is_unparsed(reply: str) -> None:
    assert option_letter(reply, CHOICES).answer is None


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Ｂ", "B"),  # noqa: RUF001
        ("（Ｂ）", "B"),  # noqa: RUF001
        ("选B", "B"),
        ("本题选B，因为它会叫。", "B"),
        ("答案是B", "B"),
        ("答案：B", "B"),
        ("正确答案是（B）", "B"),
        ("选项 B", "B"),
        ("∠A＝30°，因此选项C是正确答案。", "C"),  # noqa: RUF001
        ("∠A＝30°，选项为 (D) none。", "D"),  # noqa: RUF001
        ("不选A，选B", "B"),
        ("A错误，B正确", "B"),
        ("A错误，应为B", "B"),
        ("A和B", None),
        ("选A或B", None),
        ("不是B", None),
        ("无法确定", None),
        ("答えはBです", "B"),
        ("정답은 B입니다", "B"),
        ("La respuesta es B.", "B"),
    ],
)
def test_letters_among_signs_of_other_scripts_are_read(reply: str, answer: str | None) -> None:
    assert option_letter(reply, CHOICES).answer == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("<think>A? No: C.</think>B", "B"),
        ("<think>A?</think>\n\n<think>C?</think>B", "B"),
        ("A? No: C.</think>B", "B"),
        ("◁think▷A?◁/think▷B", "B"),
        ("<think>The answer is B", None),
        ("<think>The answer is B</think>", None),
        ("<think>A", None),
    ],
)
def test_thinking_is_no_reply(reply: str, answer: str | None) -> None:
    assert option_letter(reply, CHOICES).answer == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("13", "B"),
        ("13,\\!000", "F"),
        ("13000", "F"),
        ("It is 13 cm long.", "B"),
        ("It is \\boxed{13}.", "B"),
        ("13 or 14", None),
        ("5 and 13 make 18", None),
        ("1/4", "D"),
        ("There are 14.5 of them", None),
        ("Between 2-3 of them", "E"),
        ("-13", None),
        ("It is -13.", None),
        ("It is 13x", None),
        ("\\boxed{13\\tan a}", None),
        ("It is 13 + x.", None),
        ("There are 13.", "B"),
    ],
)
def test_a_choice_is_known_by_its_value(reply: str, answer: str | None) -> None:
    choices = [
        "$12 \\mathrm{~cm}$",
        "$13 \\mathrm{~cm}$",
        "$14 \\mathrm{~cm}$",
        "$\\frac{1}{4}$",
        "2-3",
        "$13,\\!000$",
    ]

    assert option_letter(reply, choices).answer == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("No, there are more buses than cars.", "B"),
        ("There is no information about cars.", None),
        ("The answer is no.", "B"),
        ("Is it?\n(A) yes, it is", "A"),
        ("We cannot determine which. The answer is: Cannot be determined.", None),
    ],
)
def test_no_is_an_answer_only_where_it_answers(reply: str, answer: str | None) -> None:
    assert option_letter(reply, ["Yes", "No"]).answer == answer


def test_a_choice_that_says_that_it_cannot_be_told_may_be_chosen() -> None:
    choices = ["a cat", "Cannot be determined"]

    assert option_letter("It cannot be determined.", choices).answer == "B"


def test_in_a_long_reply_only_the_last_line_is_searched_for_a_lone_letter() -> None:
    working = "Let me call the boys B and look at them one after the other. " * 10

    assert option_letter(f"{working}\nIt has to be C.", CHOICES).answer == "C"
    assert option_letter(f"{working}\nIt has to be one.", CHOICES).answer is None


def test_a_letter_means_the_letter_where_a_choice_has_another_letters_text() -> None:
    assert option_letter("A", ["B", "A"]).answer == "A"
    assert option_letter("Answer: (A) B", ["B", "A"]).answer == "A"


def test_a_letter_in_a_box_that_is_no_choices_letter_may_be_a_choices_text() -> None:
    assert option_letter("\\boxed{U}", ["K", "E", "U"]).answer == "C"
    assert option_letter("\\boxed{B}", ["K", "E", "B"]).answer == "B"
    assert option_letter("\\boxed{Z}", ["K", "E", "U"]).answer is None


def test_the_letter_i_is_no_pronoun_in_brackets() -> None:
    choices = [f"the {name}" for name in ("sun", "moon", "sea", "sky", *"pqrst")]

    assert option_letter("I would say (I) here", choices).answer == "I"
    assert option_letter("I would say so", choices).answer is None


def test_choices_that_are_letters_are_not_found_in_words() -> None:
    assert option_letter("There is a dog", ["x", "a"]).answer is None
    assert option_letter("I'm unable to tell a dog from a cat", ["D", "I", "A"]).answer is None


def test_a_choice_with_letters_in_it_may_stand_behind_its_letter() -> None:
    assert option_letter("(A) B = 3; C = 4", ["B = 3; C = 4", "B = 3; C = 5"]).answer == "A"


def test_two_choices_of_the_same_text_are_not_told_apart_by_it() -> None:
    assert option_letter("a cat", ["a cat", "a cat"]).answer is None
    assert option_letter("I see a cat there", ["a cat", "a cat"]).answer is None


def test_made_replies_that_say_one_letter_in_plain_words_are_read() -> None:
    pattern = re.compile(r"(?:The (?:correct )?answer is |Option |\(|\[|答案是)([A-G])[).\]]{0,2}")
    rows = [
        json.loads(line)
        for line in (golden("mcq_parsing") / "differential.jsonl").read_text().splitlines()
    ]
    plain = [(row, match) for row in rows if (match := pattern.fullmatch(row["prediction"]))]

    assert len(plain) == 154
    for row, match in plain:
        expected = match[1] if match[1] in row["options"] else None
        assert option_letter(row["prediction"], list(row["options"].values())).answer == expected


# -- no reply costs more than a bounded one


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for module in (choice, _reply):
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                yield name, value


def test_no_pattern_matches_more_than_a_thousand_signs() -> None:
    # What a match may cover at most bounds what it costs to try one at each sign of a reply.
    parser = importlib.import_module("re._parser")
    for name, pattern in patterns():
        assert parser.parse(pattern.pattern, pattern.flags).getwidth()[1] < 1_000, name


def test_of_a_reply_of_a_megabyte_the_two_ends_are_read() -> None:
    filler = "so the answer to a question is A or (B), " * 25_000
    long = f"{filler}\n\nAnswer: C"

    assert len(long) > 1_000_000
    assert len(_reply.final_text(long)) <= 2 * _reply.ENDS + 2
    assert option_letter(long, CHOICES) == option_letter(_reply.final_text(long), CHOICES)
    assert option_letter(long, CHOICES).answer == "C"
    assert option_letter(f"C. a hot dog\n{' ' * 1_000_000}", CHOICES).answer == "C"


def test_a_megabyte_of_open_thinking_marks_is_no_reply() -> None:
    assert option_letter("<think>B" * 130_000, CHOICES).answer is None


def test_a_box_holds_no_more_than_a_value() -> None:
    assert latex.boxed("\\boxed{" + "B" * 1_000_000 + "}") == []


@given(st.text("aAbBzı(). \n*_-'\"$\\", max_size=6))  # noqa: RUF001
def test_a_short_reply_is_read_as_it_is_behind_thinking(text: str) -> None:
    choices = ["a cat", "a dog"]
    assert option_letter(text, choices) == option_letter(f"<think>C?</think>{text}", choices)
