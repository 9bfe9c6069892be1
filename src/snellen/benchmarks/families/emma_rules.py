"""EMMA's rules: the answer that a reply gives, whether it is right, and the judge's verdict.

Lines are those of EMMA-Bench/EMMA@50609fd4d7e4ce03124092b3862e10654b3b7cda:evaluation/.
"""

import re

from snellen.benchmarks.families.mathematics import boxes, is_float
from snellen.core import Judge, Reading, Reply, Sample
from snellen.media.content import Message, user
from snellen.text.number_words import word2number
from snellen.text.numbers import evaluated_value

FLAGS = ("final answer is", "correct answer is", "answer should be", "answer is", "answer:")
FOR_JUDGE = "for the judge"
# utils.py#L84-L103, with the spaces before the line breaks.
EXAMPLES = (
    "Please read the following example. Then determine whether the response is correct and type it "
    "\nat the end of the prompt. It is worth noting that the final answer in the response is "
    "usually in \\boxed{}, \nYou only need to compare the final answer in the response with the "
    "answer, without considering the logical \ncorrectness of the response itself.\n\n"
    "Response: The correct answer is:\n\nA\n\nAnswer: A\n\nCorrect_or_not: Correct\n\n"
    "Response: The correct option is:\n\n\\[\n\\boxed{E}\n\\]\n\nAnswer: C\n\n"
    "Correct_or_not: Incorrect"
)


def official_answer(reply: Reply, _: Sample) -> Reading:
    """Parse the answer by the authors' rules, evaluate.py#L11-L51."""
    answer, rule = _extracted(reply.text.strip()) if reply.text else ("", "nothing said")
    return Reading(answer=answer or None, rule=rule)


def _extracted(text: str) -> tuple[str, str]:
    for letter in "ABCDEFGH":
        # A lone small letter counts, but "a." does not.
        if text.upper() == letter or text.startswith((f"{letter}:", f"{letter}.")):
            return letter, "letter"
    if is_float(text):
        return text, "number"
    if contents := boxes(text):
        inner = re.findall(r"\\text{(.*?)}", contents[-1])
        return (inner or contents)[-1].strip(), "boxed"
    low = text.lower()
    for flag in FLAGS:
        if flag in low:
            # "is D: 2.23." gives "d: 2", and "is (B)." gives "(b)", which is not B.
            return low.rpartition(flag)[2].strip().split("\n")[0].split(".")[0], flag
    return "", "no answer"


def official_score(reading: Reading, sample: Sample) -> float:
    """1 if the answer equals the right letter or the text of the right choice, else 0."""
    golds = (str(sample.data["answer"]), str(sample.data["content"]))
    return float(any(_equal(str(reading.answer or ""), gold) for gold in golds))


def _equal(answer: str, gold: str) -> bool:
    """Whether two answers are the same text, the same number in words ("two objects" is 2), or the
    same number to two decimals, utils.py#L50-L80."""
    answer, gold = answer.lower(), gold.lower()
    if gold.strip() in (answer.strip(), word2number(answer)):
        return True
    # The letter E is Euler's number here, since it is a small letter now.
    value, right = evaluated_value(answer), evaluated_value(gold)
    return value is not None and right is not None and round(value, 2) == round(right, 2)


JUDGE = Judge(
    name="chatgpt-4o-latest",
    authors_model="chatgpt-4o-latest",
    prompt=lambda sample, reply: _question(sample, reply),
    parse=lambda words, _: Reading(answer=_verdict(words), rule="verdict"),
    when=lambda reading: reading.rule == FOR_JUDGE,
    temperature=None,
)
"""The judge that compares a reply with the right answer, evaluate.py#L54-L90."""


def _question(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    answer = sample.data["answer"]
    return (user(f"{EXAMPLES}\nResponse: {reply.text}\nAnswer: {answer}\nCorrect_or_not:"),)


def _verdict(words: str) -> str:
    # "Correct." and "**Correct_or_not: Correct**" count as wrong, #L131.
    return "correct" if words.strip().lower() == "correct" else "not correct"


def for_judge(reply: Reply, _: Sample) -> Reading:
    """Leave each reply to the judge, except for an empty one, which is wrong."""
    return Reading(answer=None, rule=FOR_JUDGE if reply.text else "nothing said")


def judged_score(reading: Reading, _: Sample) -> float:
    return float(reading.answer == "correct")
