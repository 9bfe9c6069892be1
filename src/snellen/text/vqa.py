"""Normalizes answers as the VQA evaluation and its copies do. Does not import NumPy.

Source   GT-Vision-Lab/VQA@a013f0043c1e2cdc995922dfe257f7149aa9af06:
         PythonEvaluationTools/vqaEvaluation/vqaEval.py#L62-L66 and #L130-L155. LAVIS, mmpretrain,
         VLMEvalKit, lmms-eval, and mmf use the same steps. For TextVQA, mmf runs other steps first.
"""

import re

PUNCTUATION = frozenset(';/[]"{}()=+\\_-><@`,?!')
"""The punctuation marks that are removed. The period has its own rule, and : ' % $ * & are kept."""
_DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMBERS = {"none": "0"} | {word: str(number) for number, word in enumerate(_DIGITS)}
ARTICLES = frozenset(("a", "an", "the"))
MOST_STOPS = 32
"""The maximum number of periods that are removed. The authors' code passes `re.UNICODE`, whose
value is 32, as the count."""

_CONTRACTED = """
ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't
haven't he'd he'd've he's how'd how'll how's isn't it'd it'd've it'll ma'am mightn't mightn't've
might've mustn't must've needn't not've o'clock oughtn't 'ow's'at shan't she'd've should've
shouldn't shouldn't've somebody'd've somebody'll somebody's someone'd someone'd've someone'll
someone's something'd something'd've something'll that's there'd there'd've there're there's they'd
they'd've they'll they're they've 'twas wasn't we'd've we've weren't what'll what're what's what've
when's where'd where's where've who'd who'd've who'll who's who've why'll why're why's won't
would've wouldn't wouldn't've y'all y'all'll y'all'd've you'd you'd've you'll you're you've
"""
# A contraction in this list is restored if one of its apostrophes is missing: "dont" is, but "lets"
# is not. The entries "Im", "Ive", and "Id've" in the authors' list never match, because all words
# are lowercase at that point, so they are left out here.
CONTRACTIONS = {
    word[:position] + word[position + 1 :]: word
    for word in _CONTRACTED.split()
    for position, sign in enumerate(word)
    if sign == "'"
} | {"somebody'd": "somebodyd"}  # a quirk: this word loses its apostrophe

_WORDS = NUMBERS | CONTRACTIONS
_MARKED = re.compile(f"[.{re.escape(''.join(sorted(PUNCTUATION)))}]")
# A period is kept only if a digit follows; the character before it does not matter. The authors
# probably intended a lookbehind, but their `(?!<=\d)` looks ahead for "<=" and a digit.
_STOP = re.compile(r"\.(?!\d)")
_STOP_OF_VLMEVALKIT = re.compile(r"(?<!\d)\.(?!\d)")
_COMMA_IN_NUMBER = re.compile(r"\d,\d")


def without_line_breaks(text: str) -> str:
    r"""Replace line ends and tabs with spaces, and strip the text at both ends.

    >>> without_line_breaks(" a\tcat\n")
    'a cat'
    """
    return text.replace("\n", " ").replace("\t", " ").strip()


def without_punctuation(text: str) -> str:
    """Delete each punctuation mark, or replace it with a space (processPunctuation).

    A mark is deleted everywhere if it is next to a space anywhere in the text, or if the text
    contains a comma between two digits. Otherwise, the mark is replaced with a space.

    >>> without_punctuation("a-b, c-d."), without_punctuation("1,000 a-b. .5")
    ('a b c d', '1000 ab .5')
    """
    return _without(text, _STOP)


def plain_words(text: str) -> str:
    """Normalize the words of a text (processDigitArticle). Words become lowercase, number words up
    to ten become digits, articles are removed, and the missing apostrophes of contractions are
    restored.

    >>> plain_words("The two dogs dont bark"), plain_words("None"), plain_words("an a")
    ("2 dogs don't bark", '0', '')
    """
    return " ".join(
        [_WORDS.get(word, word) for word in text.lower().split() if word not in ARTICLES]
    )


def normalize(text: str) -> str:
    """Normalize an answer as the authors' code does before comparing it: `without_punctuation`,
    then `plain_words`.

    >>> normalize("The umbrella!"), normalize("1,000"), normalize("3.5 m.")
    ('umbrella', '1000', '3.5 m')
    """
    return plain_words(without_punctuation(text))


def normalize_textvqa(text: str) -> str:
    """Normalize an answer in the same way as mmf's EvalAI processor, which scores TextVQA.

    Before the steps of `normalize`, the text is converted to lowercase, commas and question marks
    are deleted (so no comma is left between digits), and "'s" becomes a separate word.

    Source: haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:
    llava/eval/m4c_evaluator.py#L181-L218, which equals mmf's code.

    >>> normalize_textvqa("Joe's, 1,000-1"), normalize_textvqa("What?")
    ("joe 's 1000 1", 'what')
    """
    text = text.lower().replace(",", "").replace("?", "").replace("'s", " 's")
    return normalize(without_line_breaks(text.strip()))


def normalize_vlmevalkit(text: str) -> str:
    """Normalize an answer as VLMEvalKit does: like `normalize`, but line breaks become spaces, and
    a period after a digit is kept.

    Source: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:
    vlmeval/dataset/utils/vqa_eval.py#L242-L248, vlmeval/smp/misc.py#L18-L33.

    >>> normalize_vlmevalkit("The 3."), normalize("The 3.")
    ('3.', '3')
    """
    return plain_words(_without(without_line_breaks(text), _STOP_OF_VLMEVALKIT))


def _without(text: str, stop: re.Pattern[str]) -> str:
    if not _MARKED.search(text):
        return text
    joined = _COMMA_IN_NUMBER.search(text) is not None
    marks = {
        ord(mark): "" if joined or f"{mark} " in text or f" {mark}" in text else " "
        for mark in PUNCTUATION.intersection(text)
    }
    return stop.sub("", text.translate(marks), MOST_STOPS)
