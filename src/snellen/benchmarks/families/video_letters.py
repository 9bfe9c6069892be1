"""How the code of nine benchmarks of videos finds the letter of a reply.

Each function is `Scoring.parse`. The sources are in the benchmarks' sheets. An answer that is
several letters is right if one of them is.
"""

import re
from collections.abc import Callable, Sequence
from string import ascii_uppercase

from snellen.answers.others import lmms_eval_letter
from snellen.benchmarks.families.draws import undecided
from snellen.core import Reading, Reply, Sample

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def letters_of(sample: Sample) -> str:
    return ascii_uppercase[: len(sample.choices)]


def reading(letter: str | None, rule: str) -> Reading:
    return Reading(answer=letter or None, rule=rule if letter else "no letter")


def fits_target(reading: Reading, sample: Sample) -> float:
    """1 if the right letter is the answer, or one of several answers."""
    right = reading.answer if isinstance(reading.answer, tuple) else (reading.answer,)
    return float(sample.target is not None and sample.target in right)


def shared_rule(reply: Reply, _: Sample) -> Reading:
    """Parse the letter by lmms-eval's shared rule with the letters A to D."""
    letter = lmms_eval_letter(reply.text, "ABCD")
    return Reading(answer=letter.answer, rule=letter.rule, candidates=letter.candidates)


# -- MVBench and TVBench


def first_word(text: str, sample: Sample, contents: bool = False) -> Reading:
    """Parse the first word, which must be a part of "(a)" or contain it. The empty word is a part
    of each choice. With `contents`, a choice's text anywhere in the reply also counts."""
    low = text.lower()
    word = low.split(" ")[0]
    matches = [
        letter
        for letter, choice in zip(ascii_uppercase, sample.choices, strict=False)
        if word.replace(".", "") in f"({letter.lower()})"
        or f"({letter.lower()})" in word
        or (contents and content_of(choice) in low.strip(". \n"))
    ]
    if len(matches) > 1:
        return Reading(answer=tuple(matches), rule="fits several choices")
    return reading("".join(matches), "first word")


def content_of(choice: str) -> str:
    """The text of a choice, with a digit as an English word."""
    text = choice.lower().strip(". \n")
    return DIGITS[int(text)] if re.fullmatch("[0-9]", text) else text


def mvbench(reply: Reply, sample: Sample) -> Reading:
    return first_word(reply.text, sample)


def mvbench_internvl(reply: Reply, sample: Sample) -> Reading:
    return first_word(reply.text.replace("Answer: ", ""), sample)


def mvbench_vlmevalkit(reply: Reply, sample: Sample) -> Reading:
    return first_word(reply.text.strip(), sample)


def mvbench_vlmevalkit_advanced(reply: Reply, sample: Sample) -> Reading:
    return first_word(reply.text.strip(), sample, contents=True)


def mvbench_lmms_eval(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter before a period at the beginning, or else the first letter from A to E that
    stands alone, which may be the article "a"."""
    text = reply.text
    if match := re.match(r"([A-E])\.\s*.+$", text.strip(), re.IGNORECASE):
        return reading(match[1].upper(), "begins")
    text = without_punctuation(text.replace("\n", " ").replace("\t", " ").strip())
    for sign in ("'", '"', ")", "("):
        text = text.strip(sign)
    text = text.strip()
    if match := re.search(r"\b([A-E])\b", text, re.IGNORECASE):
        return reading(match[1].upper(), "first letter")
    return reading(text.upper() if text.upper() in [*letters_of(sample)] else None, "only letter")


def without_punctuation(text: str) -> str:
    """Delete each sign that is next to a blank, and replace others by a blank. A comma between
    digits lets all signs be deleted. At most 32 periods are deleted."""
    numbers = re.search(r"\d,\d", text)
    result = text
    for sign in ';/[]"{}()=+\\_-><@`,?!':
        delete = numbers or f"{sign} " in text or f" {sign}" in text
        result = result.replace(sign, "" if delete else " ")
    return re.sub(r"\.(?!\d)", "", result, count=32)


def tvbench_lmms_eval(reply: Reply, sample: Sample) -> Reading:
    """Parse the first letter that stands alone, the letter at the beginning, or the only choice
    whose text is in the reply."""
    text = reply.text.strip()
    allowed = ascii_uppercase[: max(len(sample.choices), 2)]
    for form, rule in ((r"\b([A-Z])\b", "first letter"), (r"\s*[(\[]?([A-Z])", "begins")):
        search = re.search if rule == "first letter" else re.match
        match = search(form, text.upper())
        if match and match[1] in allowed:
            return reading(match[1], rule)
    low = " ".join(text.lower().split())
    texts = (" ".join(choice.lower().split()) for choice in sample.choices)
    matches = [
        letter
        for letter, choice in zip(allowed, texts, strict=False)
        if text and choice and choice in low
    ]
    return reading(matches[0] if len(matches) == 1 else None, "only choice")


# -- MLVU, LVBench, LongVideoBench, MotionBench


def mlvu(reply: Reply, _: Sample) -> Reading:
    """Parse the character before the first ")", or else the whole reply."""
    before, bracket, _rest = reply.text.partition(")")
    return reading(before[-1:] if bracket else reply.text, 'before ")"' if bracket else "reply")


def lvbench(reply: Reply, _: Sample) -> Reading:
    """Parse the first character of the text before ")", after "(", and before a blank."""
    text = reply.text.strip().split(")")[0].strip()
    if "(" in text:
        text = text.split("(")[1].strip()
    return reading(text[:1].strip(" "), "first character")


PREFIXES = (
    *("The best answer is", "The correct answer is", "The answer is", "The answer"),
    *("The best option is", "The correct option is", "Best answer:", "Best option:"),
)


def longvideobench(reply: Reply, sample: Sample) -> Reading:
    """Parse the first capital from A to E, even in a word. A reply without one gets a drawn
    letter."""
    text = reply.text
    for prefix in PREFIXES:
        text = text.replace(prefix, "")
    match = re.search("[A-E]", text)
    return reading(match[0], "first capital") if match else undecided(sample)


def motionbench(reply: Reply, _: Sample) -> Reading:
    """Parse the first letter from A to F that stands alone, that is before a sign, or that is
    anywhere."""
    text = reply.text.split("</think>")[-1].strip().upper()
    for prefix in ("THE BEST ANSWER IS", "THE CORRECT ANSWER IS", "THE ANSWER IS", "BEST ANSWER:",
                   "ANSWER:"):  # fmt: skip
        text = text.replace(prefix, "")
    for form, rule in ((r"\b([A-F])\b", "alone"), (r"([A-F])[.):]", "sign"), ("([A-F])", "any")):
        if match := re.search(form, text):
            return reading(match[1], rule)
    return reading(None, "")


# -- EgoSchema, TOMATO, VideoMMMU: descendants of MMMU's rule


def stripped(text: str, signs: str = ",.!?;:'") -> str:
    for sign in signs:
        text = text.strip(sign)
    return f" {text} "


def mentioned(text: str, sample: Sample) -> list[str]:
    """The letters of the choices whose texts are in a reply of more than five words."""
    low = text.lower()
    if len(text.split()) <= 5:
        return []
    pairs = zip(ascii_uppercase, sample.choices, strict=False)
    return [letter for letter, choice in pairs if choice.lower() in low]


def positioned(
    letters: Sequence[str], position: Callable[[str], int], pick: Callable[[Sequence[int]], int]
) -> str:
    """The letter whose position `pick` picks; the first of equal ones."""
    positions = [position(letter) for letter in letters]
    return letters[positions.index(pick(positions))]


def egoschema(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter whose last mention comes first, even at the end of a word. A reply without
    one gets a drawn letter."""
    text = stripped(reply.text)
    forms = [
        form.format(letter)
        for form in ("({})", "{} ", "{}.")
        for letter in letters_of(sample)
        if form.format(letter) in text
    ]
    if forms:
        return reading(positioned(forms, text.rfind, min).strip("(). "), "first of last mentions")
    if letters := mentioned(text, sample):
        letter = positioned(letters, lambda name: last_content(text, name, sample), min)
        return reading(letter, "content")
    return undecided(sample)


def last_content(text: str, letter: str, sample: Sample) -> int:
    choice = sample.choices[ascii_uppercase.index(letter)]
    return text.lower().rfind(choice.lower())


FOR_THE_JUDGE = "for the judge"
ANSWER_IS = re.compile(r"Answer is:?\(?([A-Fa-f])\)?$")


def tomato(reply: Reply, sample: Sample) -> Reading:
    """Parse a lone letter, a choice in capitals such as "A: 2", or "Answer is: (A)", without a
    blank before the letter."""
    text = reply.text.strip()
    if len(text) == 1 and text.upper() in letters_of(sample):
        return reading(text.upper(), "only letter")
    pairs = zip(ascii_uppercase, sample.choices, strict=False)
    if text.upper() in [f"{letter}: {choice}" for letter, choice in pairs]:
        return reading(text[0].upper(), "a choice")
    match = ANSWER_IS.match(text)
    if match and match[1].upper() in letters_of(sample):
        return reading(match[1].upper(), "answer is")
    return Reading(answer=None, rule=FOR_THE_JUDGE)


def tomato_lmms_eval(reply: Reply, sample: Sample) -> Reading:
    """Parse the only capital of a choice, or the last "(A)". A reply without one is read as A."""
    text = stripped(reply.text)
    letters = [letter for letter in letters_of(sample) if letter in text]
    if letters:
        letter = positioned(letters, lambda name: text.rfind(f"({name})"), max)
        return reading(letter, "capital" if len(letters) == 1 else "last in parentheses")
    if letters := mentioned(text, sample):
        letter = positioned(letters, lambda name: last_content(text, name, sample), max)
        return reading(letter, "content")
    return reading("A", "A by default")


def videommmu(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter whose last mention comes last, in the forms "A." and "A:", or else "(A)", or
    else "A "."""
    if not reply.text:
        return Reading(answer=None, rule="nothing said")
    text = stripped(reply.text)
    letters: list[str] = []
    for forms in (("{}.", "{}:"), ("({})",), ("{} ",)):
        if not letters:
            letters = [
                letter
                for form in forms
                for letter in letters_of(sample)
                if form.format(letter) in text
            ]
    if letters:
        return reading(positioned(letters, lambda name: last_form(text, name), max), "last letter")
    if letters := mentioned(text, sample):
        letter = positioned(letters, lambda name: last_content(text, name, sample), max)
        return reading(letter, "content")
    return reading(None, "")


def last_form(text: str, letter: str) -> int:
    """The last position of the first form of a letter that occurs; -1 if none does."""
    forms = (f"{letter}.", f"{letter}:", f"({letter})", f" {letter} ")
    return next((text.rfind(form) for form in forms if form in text), -1)
