"""MathVerse's judge: it extracts the answer from a reply, and then compares it with the right one.

Lines are those of ZrrSkywalker/MathVerse@937b090597aeafb8e82b35d310a4bc5b9e2ea29d:evaluation/, and
of open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/utils/
mathverse.py, which has another form of both questions.
"""

import re

from snellen.core import Judge, Reading, Reply, Sample
from snellen.media.content import Message, user

WORDS = 30
"""The words at the end of a reply from which the answer is extracted (README.md, step 1)."""
# prompts.py#L1-L29
EXTRACT = """\
I am providing you a response from a model to a math problem, termed 'Model Response'. You should \
extract the answer from the response as 'Extracted Answer'. Directly output the extracted answer \
with no explanation.

1.
Model response: 'Rounded to two decimal places, the perimeter of the sector is approximately:

(-2, 1)'
Extracted Answer: (-2, 1)

2.
Model response: 'at those points.

Therefore, the correct option that represents the meaning of the intersection points of the graphs \
is:

D. They give the solutions to the equation $f(t)=g(t)$.",'
Extracted Answer: D

3.
Model response: ' at 1 (there's a closed circle at y = 1), the range in interval notation is \
\\((-4, 1]\\).

Final values:
Domain: \\((-3, 3]\\)
Range: \\((-4, 1]\\)'
Extracted Answer: Domain: \\((-3, 3]\\)
Range: \\((-4, 1]\\)

4.
Model response: 'As it stands, I cannot provide the correct option letter because there isn't \
enough information to solve for 'y'.'
Extracted Answer: null

5.
Model response: 'Given that AB = 17.6 meters, we can now substitute into the equation:

d = 17.6 / cos(38°)

Therefore, to one decimal place, the distance d between Ned and Bart is approximately 22.3 meters.'
Extracted answer: 22.3

6.
Model response:  have all the coefficients for the quadratic function:
\\( f(x) = ax^2 + bx + c \\)
\\( f(x) = -1x^2 - 2x + 1 \\)

Therefore, the equation for the graphed function \\( f \\) is:
\\( f(x) = -x^2 - 2x + 1 \\)"'
Extracted answer: f(x) = -x^2 - 2x + 1

7."""
# prompts.py#L33-L66
SCORE = """\
Below are two answers to a math question. Question is [Question], [Standard Answer] is the \
standard answer to the question, and [Model_answer] is the answer extracted from a model's output \
to this question.  Determine whether these two answers are consistent.
Please note that only when the [Model_answer] completely matches the [Standard Answer] means they \
are consistent. For non-multiple-choice questions, if the meaning is expressed in the same way, it \
is also considered consistent, for example, 0.5m and 50cm.
If they are consistent, Judement is 1; if they are different, Judement is 0.

[Question]: Write the set of numbers represented on the number line in interval notation.
[Standard Answer]: (-2,1]
[Model_answer] : Extracted Answer: \\((-2, 1)\\)
Judgement: 0

[Question]: As shown in the figure, circle O has a radius 1.0, if angle BAC = 60.0, then the \
length of BC is ()
Choices:
A:2
B:2√{{3}}
C:√{{3}}
D:2√{{2}}
[Standard Answer]: C
[Model_answer] : B:2√{{3}}
Judgement: 0

[Question]: Find the domain and range of the function f using interval notation.
[Standard Answer]: domain: [-4, 0) and range: (-3, 1]
[Model_answer] : Range: \\((-4, 1]\\)
Judgement: 0

[Question]: As shown in the figure, circle O has a radius 1.0, if angle BAC = 60.0, then the \
length of BC is ()
Choices:
A:2
B:2√{{3}}
C:√{{3}}
D:2√{{2}}
[Standard Answer]: C
[Model_answer] : null
Judgement: 0

[Question]: Given the graph of the ellipse that intersects with x-axis at 9 and -9 and with y-axis \
at 3 and -3, determine its equation.A. \\frac{{x^2}}{{81}} + \\frac{{y^2}}{{9}} = 1 B. Can not \
determine.

[Standard Answer]: A
[Model_answer] : \\frac{{x^2}}{{81}} + \\frac{{y^2}}{{9}} = 1
Judgement: 1

[Question]: {question}
[Standard Answer]: {answer}
[Model_answer] : {extraction}
Judgement:"""


def extract(_: Sample, reply: Reply) -> tuple[Message, ...]:
    """Ask for the answer in the last words of a reply, extract_answer_s1.py#L21-L45."""
    end = " ".join(reply.text.split(" ")[-WORDS:])
    return (user(f"{EXTRACT}\n\nModel response: '{end}'\nExtracted Answer: "),)


def compare(sample: Sample, _: Reply, words: str) -> tuple[Message, ...]:
    """Ask whether an extraction equals the right answer, score_answer_s2.py#L22-L41."""
    extraction = words.replace("Extracted Answer: ", "").strip()
    # In the version Vision Only, the question is empty, as in the authors' prompt.
    text = SCORE.format(question=sample.question, answer=sample.target, extraction=extraction)
    return (user(text),)


def judgement(words: str, _: Sample) -> Reading:
    """Parse 0 or 1. The authors ask for another verdict until they get one of the two."""
    verdict = words.replace("Judgement:", "").strip()
    return Reading(answer=verdict if verdict in ("0", "1") else None, rule="judgement")


JUDGE = Judge(
    name="gpt-3.5-turbo",
    authors_model="gpt-3.5-turbo",
    prompt=extract,
    then=compare,
    parse=judgement,
    when=lambda _: True,
    max_answer_tokens=256,
)


# -- VLMEvalKit

_INTRO, *_EXAMPLES, _ = re.split(r"\n\n(?=\d\.)", EXTRACT)
# The last of the authors' examples is not in VLMEvalKit. Double braces stay double there.
_TASK, *_PAIRS = SCORE.split("\n\n[Question]")[:5]


def kit_extract(_: Sample, reply: Reply) -> tuple[Message, ...]:
    """Ask for the answer in the full reply, #L85-L97."""
    examples = "".join(f"\n{example}\n\n\n" for example in _EXAMPLES)
    end = f"7.\nModel response: '{reply.text}'\nExtracted Answer: "
    return (user(f"\n{_INTRO}\n\n\n{examples}{end}"),)


def kit_compare(sample: Sample, _: Reply, words: str) -> tuple[Message, ...]:
    """Ask whether an extraction equals the right answer, #L100-L120. VLMEvalKit does not ask if the
    two are the same text. Here, the judge is asked then, too."""
    examples = "".join(f"\n[Question]{pair}\n\n\n" for pair in _PAIRS)
    end = (
        f"\n    [Question]: {sample.data['for_eval']}\n    [Standard Answer]: {sample.target}"
        f"\n    [Model_answer] : {words}\n    Judgement:"
    )
    return (user(f"\n{_TASK}\n\n\n{examples}{end}"),)


def kit_judgement(words: str, _: Sample) -> Reading:
    """Parse 0 or 1. VLMEvalKit asks five times, and then counts the reply as wrong."""
    verdict = words.strip()
    return Reading(answer=verdict if verdict in ("0", "1") else None, rule="judgement")


KIT = Judge(
    name="vlmevalkit",
    prompt=kit_extract,
    then=kit_compare,
    parse=kit_judgement,
    when=lambda _: True,
    max_answer_tokens=128,
)
