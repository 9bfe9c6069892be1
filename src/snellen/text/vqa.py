"""Answer normalization of the VQA evaluation and of its copies. No numpy, no state.

Source   GT-Vision-Lab/VQA@a013f0043c1e2cdc995922dfe257f7149aa9af06:
         PythonEvaluationTools/vqaEvaluation/vqaEval.py#L62-L66 and #L130-L155. The same steps are
         in LAVIS, mmpretrain, VLMEvalKit, lmms-eval and in mmf, whose TextVQA adds some before.
"""

import re

PUNCTUATION = frozenset(';/[]"{}()=+\\_-><@`,?!')
"""Without the full stop, which has its own rule, and without : ' % $ * &, which stay."""
_DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMBERS = {"none": "0"} | {word: str(number) for number, word in enumerate(_DIGITS)}
ARTICLES = frozenset(("a", "an", "the"))
MOST_STOPS = 32
"""At most 32 full stops are removed: the authors pass `re.UNICODE`, which is 32, as the count."""

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
# A contraction is restored if one of its apostrophes is missing: "dont", but not "lets".
# The authors' "Im", "Ive" and "Id've" never match, because words are lowercase by then.
CONTRACTIONS = {
    word[:position] + word[position + 1 :]: word
    for word in _CONTRACTED.split()
    for position, sign in enumerate(word)
    if sign == "'"
} | {"somebody'd": "somebodyd"}  # the only one that loses its apostrophe

_WORDS = NUMBERS | CONTRACTIONS
_MARKED = re.compile(f"[.{re.escape(''.join(sorted(PUNCTUATION)))}]")
# A full stop stays only if a digit follows, whatever is before it: the authors meant a lookbehind,
# but their `(?!<=\d)` looks ahead for "<=" and a digit.
_STOP = re.compile(r"\.(?!\d)")
_STOP_OF_VLMEVALKIT = re.compile(r"(?<!\d)\.(?!\d)")
_COMMA_IN_NUMBER = re.compile(r"\d,\d")


def without_line_breaks(text: str) -> str:
    r"""A text with spaces for line ends and tabs, stripped at both ends.

    >>> without_line_breaks(" a\tcat\n")
    'a cat'
    """
    return text.replace("\n", " ").replace("\t", " ").strip()


def without_punctuation(text: str) -> str:
    """A text with each punctuation mark deleted or replaced by a space (processPunctuation).

    A mark is deleted everywhere if it is next to a space somewhere in the text, or if the text has
    a comma between two digits. Otherwise it becomes a space.

    >>> without_punctuation("a-b, c-d."), without_punctuation("1,000 a-b. .5")
    ('a b c d', '1000 ab .5')
    """
    return _without(text, _STOP)


def plain_words(text: str) -> str:
    """A text's words in lowercase, numbers up to ten as digits, without articles, and with the
    missing apostrophes of contractions restored (processDigitArticle).

    >>> plain_words("The two dogs dont bark"), plain_words("None"), plain_words("an a")
    ("2 dogs don't bark", '0', '')
    """
    return " ".join(
        [_WORDS.get(word, word) for word in text.lower().split() if word not in ARTICLES]
    )


def normalize(text: str) -> str:
    """`plain_words` of a text `without_punctuation`, as the authors compare answers.

    >>> normalize("The umbrella!"), normalize("1,000"), normalize("3.5 m.")
    ('umbrella', '1000', '3.5 m')
    """
    return plain_words(without_punctuation(text))


def normalize_textvqa(text: str) -> str:
    """An answer normalized as in mmf's EvalAI processor, which scores TextVQA.

    Before the other steps it converts to lowercase, deletes commas and question marks (so that no
    comma is left between digits), and separates "'s" as a word.

    Source: haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:
    llava/eval/m4c_evaluator.py#L181-L218, the same as mmf's.

    >>> normalize_textvqa("Joe's, 1,000-1"), normalize_textvqa("What?")
    ("joe 's 1000 1", 'what')
    """
    text = text.lower().replace(",", "").replace("?", "").replace("'s", " 's")
    return normalize(without_line_breaks(text.strip()))


def normalize_vlmevalkit(text: str) -> str:
    """`normalize` of a text on one line, except that a full stop after a digit stays.

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
