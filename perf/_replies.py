"""Replies as models write them, for benchmarks of parsing, running, and scoring.

A reply has one of these forms:

letter     the answer alone: "B", "12.5", "a red bus"
sentence   "The answer is B." in several wordings
reasoning  about 1.5 kB of sentences about the picture, then the answer
long       about 15 kB: reasoning in <think> tags, then 1.5 kB as above
untagged   about 15 kB of reasoning without tags, then the answer

The question has choices, or its answer is a number, a phrase, or yes or no. Seven of ten replies
are right. Everything follows from the number of the question, and the texts differ from question to
question: choices, numbers, names, and sentences. The wordings are plain, so that every parser finds
the intended answer. How well parsers do with ambiguous replies is the subject of docs/readings.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random

FORMS = ("reasoning", "sentence", "letter", "long")
"""The forms that benchmarks of whole runs measure, with the realistic one first."""
ALL_FORMS = (*FORMS, "untagged")
KINDS = ("choices", "numbers", "open", "yes-no")
REASONING, LONG = 1_500, 15_000
"""The lengths of replies in characters, roughly."""
LETTERS = "ABCD"
WRONG = 10_000_000
"""The distance between the numbers of a right answer and of a wrong one."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, its right answer, and the answer that the model gives."""

    kind: str
    """`choices`, `numbers`, `open`, or `yes-no`."""
    number: int
    """The replies to questions with different numbers differ."""
    text: str
    target: str
    """The right answer. For a question with choices, this is a letter."""
    answer: str
    """The answer that the model gives: the right answer for seven of ten questions."""
    choices: tuple[str, ...] = ()
    """Empty if the question has no choices."""


# -- words

THINGS = (
    *("bicycle", "lighthouse", "red umbrella", "coffee cup", "wooden bench", "street lamp"),
    *("delivery van", "traffic sign", "flower pot", "tennis racket", "clock tower", "suitcase"),
    *("fishing boat", "telephone booth", "brick chimney", "laptop", "picture frame", "ladder"),
    *("parking meter", "blue backpack", "shopping cart", "garden hose", "white fence", "bird"),
)
PLACES = (
    *("on the left", "in the foreground", "behind the counter", "next to the door", "at the top"),
    *("near the window", "in the lower right corner", "under the bridge", "in the background"),
    *("beside the road", "between the two trees", "in the middle of the picture"),
)
COLORS = ("red", "dark blue", "pale green", "yellow", "gray", "brown", "white", "orange", "black")
PEOPLE = ("a woman in a long coat", "a cyclist", "two children", "an older man", "a waiter")
TITLES = ("Quarterly Report", "Visitor Guide", "Annual Summary", "Harbor News", "Field Notes")
STREETS = ("Main Street", "Harbor Road", "Station Lane", "Mill Avenue", "Bishop Street")
MONTHS = ("January", "March", "May", "June", "August", "October", "November")
UNITS = ("cm", "mm", "meters", "kilograms", "minutes", "square units")
REASONS = (
    "which does not match what is visible",
    "but nothing in the picture supports that",
    "which would need a darker background",
    "but the shape at the edge is different",
    "and the proportions do not agree with it",
    "but that object is only partly visible",
    "which contradicts the label at the top",
)
OBSERVATIONS = (
    "The picture shows a {thing} {position}, and a {other} {second}.",
    "There is {person} {position}, who seems to look toward the {thing}.",
    "Most of the area is {color}, with a {shade} band {position}.",
    "The {thing} {position} is about {few} times as tall as the {other}.",
    "A {color} {thing} stands {position}; its shadow falls to the right.",
    "I can count {few} objects {position}, among them a {thing} and a {other}.",
    "The text on the sign reads *{street}*, which suggests a town rather than a village.",
    "The caption mentions the year {year}, so the scene is not recent.",
    "The light comes from the left, since the {thing} is brighter on that side.",
    "Although the {other} is blurred, its outline is clear enough to tell it from a {thing}.",
    "In the title, *{title}*, the word {title_word!r} is printed in {color}.",
    "Roughly {percent} % of the surface is covered by {color} and {shade} spots.",
    "The texture {position} is coarse, while the rest of the image is smooth.",
    "Comparing the two halves, the right half has more contrast and a {color} tint.",
    "The arrow points from the {thing} to the {other}, {position}.",
    "From the axis, the values range from {few} to {percent}, with a peak near {middle}.",
)
LISTS = (
    "Let me go through the details:\n\n- **Objects**: a {thing} and a {other}, {position}\n"
    "- **Colors**: mainly {color}, some {shade}\n- **Text**: *{street}*, {year}",
    "**Step {step}.** Look at what is {position}.\n\n1. The {thing} is {color}.\n"
    "2. The {other} is {shade}, and smaller.\n3. Both are lit from the left.",
    "| part | color | number |\n| --- | --- | --- |\n| {thing} | {color} | {few} |\n"
    "| {other} | {shade} | {middle} |",
)
HESITATIONS = (
    "Wait, let me look at the {thing} again.",
    "Hmm, that might be a {other} instead, but the outline {position} is too round for it.",
    "Let me double-check the part {position}: {color}, then {shade}, then {color} again.",
    "OK, so the {thing} is settled, and the next detail is the {other}.",
    "I should be careful here, since the {other} could also be a reflection of the {thing}.",
    "On the other hand, the year {year} on the label fits well with the {color} paint.",
    "Going back to the question, it asks about the whole picture and not only about the {thing}.",
)
STEPS = (
    "The first side measures {p} {unit} and the second {q} {unit}, so $ {p} \\times {q} = {pq} $.",
    "From the diagram, $x + {p} = {sum}$, which gives $x = {q}$.",
    "By the Pythagorean theorem, $ {p}^2 + {q}^2 = {squares} $, and we need its root.",
    "Half of this is $\\frac{{{pq}}}{{2}}$, or about {half} {unit}.",
    "The ratio of the two is $\\frac{{{p}}}{{{q}}} \\approx {ratio}$.",
    "Each of the {p} groups has {q} members, which makes {pq} members in total.",
    "Subtracting {p} from {sum} leaves {q}, as the second row of the table confirms.",
    "Then \\( \\sqrt{{{squares}}} \\approx {root} \\), which I keep for later.",
    "The bar for {month} reaches {pq}, and the next bar is lower by {p}.",
    "The angle at the top is ${p}^\\circ$, so the remaining two add up to ${rest}^\\circ$.",
    "The equation is therefore\n\n$$ {p}x + {q} = {sum} $$\n\nwith a single unknown.",
    "The scale says that {p} {unit} on paper stand for {pq} {unit} in reality.",
)


def _words(random: Random) -> dict[str, object]:
    thing, other = random.sample(THINGS, 2)
    position, second = random.sample(PLACES, 2)
    color, shade = random.sample(COLORS, 2)
    title = random.choice(TITLES)
    return {
        "thing": thing,
        "other": other,
        "position": position,
        "second": second,
        "color": color,
        "shade": shade,
        "person": random.choice(PEOPLE),
        "street": random.choice(STREETS),
        "title": title,
        "title_word": title.split()[0],
        "year": random.randrange(1890, 2024),
        "few": random.randrange(2, 10),
        "step": random.randrange(1, 6),
        "middle": random.randrange(10, 50),
        "percent": random.randrange(50, 98),
    }


def _figures(random: Random) -> dict[str, object]:
    p, q = random.randrange(3, 60), random.randrange(3, 60)
    return {
        "p": p,
        "q": q,
        "pq": p * q,
        "sum": p + q,
        "squares": p * p + q * q,
        "half": p * q / 2,
        "ratio": round(p / q, 3),
        "root": round((p * p + q * q) ** 0.5, 2),
        "rest": 180 - p,
        "unit": random.choice(UNITS),
        "month": random.choice(MONTHS),
    }


# -- questions


def question(kind: str, number: int) -> Question:
    """A question of this kind. Questions with different numbers differ.

    The letters are those of the peers' workload (make_datasets.py): the model answers A, B, C, and
    D in turn.
    """
    random = Random(f"question {kind} {number}")
    words = _words(random)
    is_right = number % 10 < 7
    if kind == "choices":
        text = f"What does the picture show {words['position']}? ({number})"
        answer, other = LETTERS[number % 4], LETTERS[(number + 1) % 4]
        choices = _choices(random, number)
    elif kind == "yes-no":
        text = f"Is there a {words['thing']} in the image?"
        answer, other = random.sample(("yes", "no"), 2)
        choices = ()
    elif kind == "numbers":
        text = "What is the value of $x$ in the figure, if the {thing} has the height {few}? ({n})"
        text = text.format(**words, n=number)
        answer, other = _two_answers(_number, number)
        choices = ()
    else:
        text = f"What is written on the {words['thing']} {words['position']}? ({number})"
        answer, other = _two_answers(_phrase, number)
        choices = ()
    return Question(
        kind=kind,
        number=number,
        text=text,
        target=answer if is_right else other,
        answer=answer,
        choices=choices,
    )


def _choices(random: Random, number: int) -> tuple[str, ...]:
    """Four choices that no other question has: things, sentences, numbers, or streets."""
    form = random.randrange(4)
    if form == 0:
        things, colors = random.sample(THINGS, 4), random.sample(COLORS, 4)
        pairs = zip(colors, things, strict=True)
        return tuple(f"the {color} {thing} with the number {number}" for color, thing in pairs)
    if form == 1:
        things, places = random.sample(THINGS, 4), random.sample(PLACES, 4)
        pairs = zip(things, places, strict=True)
        return tuple(f"There is a {thing} {position}, near {number}." for thing, position in pairs)
    if form == 2:
        start, step = random.randrange(2, 400), random.randrange(3, 40)
        unit = random.choice(("", " cm", "%", " kg"))
        return tuple(f"{start + step * position}.{number % 1000}{unit}" for position in range(4))
    names = random.sample(STREETS, 4)
    return tuple(f"{name} {number}" for name in names)


def _two_answers(draw: Callable[[int], str], number: int) -> tuple[str, str]:
    """The answer with this number, and another answer."""
    answer = draw(number)
    others = (draw(number + times * WRONG) for times in count(1))
    return answer, next(other for other in others if other != answer)


def _number(number: int) -> str:
    random = Random(f"number {number}")
    form = random.randrange(4)
    if form == 0:
        return f"{random.randrange(-500, 5000) / 100:.2f}"
    if form == 1:
        denominator = random.choice((7, 11, 13, 17, 41))
        return rf"\frac{{{random.randrange(1, denominator)}}}{{{denominator}}}"
    return str(random.randrange(2, 3000))


def _phrase(number: int) -> str:
    random = Random(f"phrase {number}")
    form, year = random.randrange(4), random.randrange(1890, 2024)
    if form == 0:
        return f"{random.choice(STREETS)} {number}"
    if form == 1:
        return f"{random.choice(MONTHS)} {random.randrange(1, 29)}, {year}"
    if form == 2:
        return f"a {random.choice(COLORS)} {random.choice(THINGS)}"
    return f"{random.choice(TITLES)} {year}"


# -- replies


def reply(question: Question, form: str) -> str:
    """The model's reply to a question in this form."""
    random = Random(f"reply {form} {question.number}")
    if form == "letter":
        return question.answer.capitalize() if question.kind == "yes-no" else question.answer
    if form == "sentence":
        return _stated(random, question)
    if form == "reasoning":
        return _reasoned(random, question, REASONING)
    if form == "long":
        thoughts = "\n\n".join(_paragraphs(random, question, LONG - REASONING, hesitates=True))
        return f"<think>\n{thoughts}\n</think>\n\n{_reasoned(random, question, REASONING)}"
    if form == "untagged":
        return _reasoned(random, question, LONG)
    raise ValueError(f"replies have no form {form!r}; forms: {', '.join(ALL_FORMS)}")


def choice_replies(form: str, n: int) -> list[str]:
    """Replies to n questions with choices, for use in turn: the letters are A, B, C, and D."""
    return [reply(question("choices", number), form) for number in range(n)]


ENDINGS = {
    "choices": (
        "The answer is {answer}.",
        "The correct answer is **{answer}**.",
        "Therefore, the answer is ({answer}).",
        "**Answer: {answer}**",
        "Answer: {answer}. {choice}",
        "The best option is {answer}: {choice}",
        "Hence, the correct option is {answer}.",
        "So the answer should be {answer}.",
        "The final answer is $\\boxed{{{answer}}}$.",
    ),
    "numbers": (
        "The answer is {answer}.",
        "The answer is ${answer}$.",
        "**Answer:** ${answer}$",
        "Answer: {answer}",
        "Therefore, the answer is $\\boxed{{{answer}}}$.",
        "The final answer is: $\\boxed{{{answer}}}$",
    ),
    "open": (
        "The answer is {answer}.",
        "The answer is **{answer}**.",
        "**Answer:** {answer}",
        "Answer: {answer}",
        "So the answer should be {answer}.",
        'The answer is "{answer}".',
    ),
    "yes-no": (
        "The answer is {answer}.",
        "So the answer is **{answer}**.",
        "**Answer:** {answer}",
        "Answer: {answer}",
        "Therefore, the answer would be {answer}.",
    ),
}


def _stated(random: Random, question: Question) -> str:
    choice = question.choices[LETTERS.index(question.answer)] if question.choices else ""
    pattern = random.choice(ENDINGS[question.kind])
    return pattern.format(answer=question.answer, choice=choice)


def _reasoned(random: Random, question: Question, length: int) -> str:
    """Sentences about the picture, then the answer: about this many characters."""
    parts = _paragraphs(random, question, length - 80, hesitates=False)
    return "\n\n".join([*parts, _stated(random, question)])


def _paragraphs(random: Random, question: Question, length: int, *, hesitates: bool) -> list[str]:
    parts: list[str] = []
    characters = 0
    while characters < length:
        sentences = [_sentence(random, question) for _ in range(random.randrange(2, 5))]
        if hesitates:
            sentences.append(random.choice(HESITATIONS).format(**_words(random)))
        if random.random() < 0.2:
            part = random.choice(LISTS).format(**_words(random))
        elif question.choices and random.random() < 0.3:
            part = _judged(random, question.choices)
        else:
            part = " ".join(sentences)
        parts.append(part)
        characters += len(part) + 2
    return parts


def _sentence(random: Random, question: Question) -> str:
    if question.kind == "numbers" and random.random() < 0.7:
        return random.choice(STEPS).format(**_figures(random))
    return random.choice(OBSERVATIONS).format(**_words(random))


def _judged(random: Random, choices: Sequence[str]) -> str:
    """A sentence about one of the choices."""
    position = random.randrange(len(choices))
    letter, choice = LETTERS[position], choices[position].rstrip(".")
    pattern = random.choice(
        (
            "Option {letter} says *{choice}*, {reason}.",
            "Option {letter} is next: *{choice}*, {reason}.",
            "For choice {letter}, I would expect *{choice}*, {reason}.",
            "**{letter}.** {choice}, {reason}.",
        )
    )
    return pattern.format(letter=letter, choice=choice, reason=random.choice(REASONS))
