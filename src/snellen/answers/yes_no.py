"""Decides whether a reply says yes or no."""

import re
import unicodedata
from typing import NamedTuple

from snellen.answers._search import SearchText, WordSearch
from snellen.answers.reply import final_text
from snellen.lazy import lazy_pattern

UNKNOWN = "does not know"
"""The rule for a reply that says that it does not know the answer."""


class YesNo(NamedTuple):
    """The answer that was found in a reply to a yes/no question."""

    answer: str | None
    """`yes` or `no`; None if no answer was found."""
    rule: str
    """The rule that found the answer, or the reason why none was found."""
    candidates: tuple[str, ...] = ()
    """The answers that the reply could mean."""


_YES = ("yes", "yeah", "yep", "true", "是", "是的", "对", "对的", "有", "有的", "正确", "存在")
_NO = (
    *("no", "nope", "false", "否", "不", "不是", "不是的", "不对", "没有"),
    *("不正确", "错误", "不存在"),
)
_MEANS = dict.fromkeys(_YES, "yes") | dict.fromkeys(_NO, "no")
_ENGLISH = r"(?:(?:yes|yeah|yep|nope|no)(?![\w'-])|(?:true|false)(?=[\s\"')]{0,4}(?:[,.;:!}<]|$)))"
# Chinese has no spaces between words, so a word counts only if one of these characters follows.
_CHINESE = (
    "(?:" + "|".join(sorted((word for word in _MEANS if word > "z"), key=len, reverse=True)) + ")"
    r"(?=[\s,.;:!?、。)\]}<\"'」』]|$)"
)
_WORD = f"(?P<word>{_ENGLISH}|{_CHINESE})"
# The number of spaces is limited, so that matching is fast even if there are thousands.
_OPENING = r"[\s\"'(\[{]{0,8}"
_ALONE = lazy_pattern(rf"[\W_]*(?P<word>{_ENGLISH}|{_CHINESE}|y|n)[\W_]*")
_TAGGED = lazy_pattern(r"<answer>(.*?)(?:</answer>|$)", re.DOTALL)
_BOXED = lazy_pattern(r"\\boxed\s{0,8}\{\s{0,8}(?:\\(?:text|textbf|mathrm)\s{0,8}\{)?([^{}]*)")
_ANSWER = lazy_pattern(
    r"(?:\banswer(?:\sto\s(?:the|this|your)\squestion)?(?:\s(?:is|would be|should be|must be)"
    r"(?:\s(?:simply|clearly|definitely|therefore|thus|likely|probably))?)?\s{0,8}:?"
    rf"|(?:答案|结论)(?:应该是|应为|是|为)?\s{{0,8}}:?){_OPENING}{_WORD}"
)
_ANSWERS = WordSearch(_ANSWER, ("answer", "答案", "结论"))
_BACK = lazy_pattern(
    r"\b(?:wait|actually|correction|on second thought)[\s,.:!-]{1,8}"
    r"(?:(?:the|my) answer is\s|it is\s)?(?P<word>(?:yes|no)(?=\s{0,4}(?:[,.;:!]|$)))"
)
_CORRECTIONS = WordSearch(_BACK, ("wait", "actually", "correction", "on second thought"))
_LEADING = lazy_pattern(rf"[\W_]*{_WORD}")
_NEVER = lazy_pattern(
    r"[\W_]*(?:(?:definitely|certainly|absolutely|of course)\snot\b|not\s(?:at all|really)\b)"
)
# Phrases such as "no doubt" do not mean no.
_NO_OTHER = lazy_pattern(
    r"\s(?:doubt|idea|problem|worries|information|comment|answer|way|matter|definite|image|text)\b"
)
_SECOND = lazy_pattern(
    r"[\"')\]\s]{0,4}[,;/|.!]{0,3}\s{0,4}(?:(?:and|or|but)\s)?"
    rf"{_OPENING}(?P<word>(?:yes|no)(?![\w'-]|\s\w)|否)"
)
_EITHER = lazy_pattern(r"\byes\s?(?:or|/|\|)\s?no\b")
_YES_OR_NO = WordSearch(_EITHER, ("yes",))
_CALLED_OUT = lazy_pattern(
    r"\b(?<!not\s)(?P<word>yes|nope|no)(?=[\"')\]]{0,4}\s{0,4}(?:[,.;:!]|$))"
)
_CALLS = WordSearch(_CALLED_OUT, ("yes", "no"))
_CLAUSE = lazy_pattern(r"[,.!?;](?=\s|$)|\n|$")
_QUESTION = lazy_pattern(
    r"\b(?:is|are|was|were|do|does|did|has|have|can|could|will|would|should)\b[^?]*"
)
_IN_THE_IMAGE = lazy_pattern(r"\bin (?:the|this) (?:image|picture|photo(?:graph)?|figure)\b")
_TOKEN = lazy_pattern(r"[^\W_]+(?:'t\b)?")
_CANNOT = lazy_pattern(
    r"\b(?:can't|cannot|can not|unable to|(?:not|n't|im)\s?possible to|hard to|difficult to)\s"
    r"(?:\w{1,12}\s)?(?:answer|assist|confirm|determine|do that|help|identify|judge|know|provide|"
    r"say|see|tell|verify|view)\b"
    r"|\bi (?:don't|do not) (?:\w{1,12}\s)?(?:have|know)\b|\bi(?:'m| am) (?:sorry|not sure|unsure)"
    r"|\b(?:not|n't) (?:have )?(?:enough|sufficient) (?:information|data|context|detail)"
    r"|无法|不确定|不能确定|不知道|不清楚"
)
_CANNOT_TELL = WordSearch(
    _CANNOT,
    (
        *(
            "can't",
            "cannot",
            "can not",
            "unable to",
            "not",
            "n't",
            "impossible to",
            "im possible to",
        ),
        *("hard to", "difficult to", "i don't", "i do not", "i'm ", "i am "),
        *("无法", "不确定", "不能确定", "不知道", "不清楚"),
    ),
)
_EMPHASIS = lazy_pattern(r"[*_`#]+")
_SPACES = lazy_pattern(r"[^\S\n]+")
_OTHER_SPACE = lazy_pattern(r"[^\S\n ]")
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_DENYING = frozenset(("no", "not", "never", "cannot"))
_EMPTY = lazy_pattern(
    r"a|an|the|is|are|was|were|be|do|does|did|has|have|had|can|could|will|would|should|there|"
    r"this|that|these|those|it|any|image|picture|photo|photograph|figure|show|shows|shown|"
    r"contain|contains|feature|features|include|includes|depict|depicts|visible|present"
)


def yes_or_no(text: str, question: str = "") -> YesNo:
    r"""Decide whether a reply says yes or no. Never guess.

    Tagged reasoning is not part of the reply. These rules are tried in order:

    (1) The whole reply is the word yes or no.
    (2) The reply contains `<answer>yes</answer>` or \boxed{Yes}.
    (3) The reply says "the answer is yes".
    (4) The reply corrects itself ("Wait, no.").
    (5) The reply begins with yes or no.
    (6) The reply contains yes or no as an interjection ("So yes, it is.").
    (7) The first clause of the reply affirms or denies what the `question` asks.

    The first rule that finds an answer decides. If that rule finds both answers, the reply is
    unparsed. A reply in which no rule finds an answer is unparsed, too. If such a reply says that
    it cannot determine the answer, `rule` is `UNKNOWN`. Chinese words are recognized in the same
    way as English ones.

    >>> yes_or_no("**No**, there is a cat.")
    YesNo(answer='no', rule='begins with', candidates=('no',))
    >>> yes_or_no("There is no dog.", "Is there a dog in the image?").answer
    'no'
    >>> yes_or_no("Yes and no.").answer is None
    True
    """
    text = _plain(text)
    if alone := _ALONE.fullmatch(text):
        word = {"y": "yes", "n": "no"}.get(alone["word"]) or _MEANS[alone["word"]]
        return YesNo(word, "alone", (word,))
    search_text = SearchText(text)
    for rule, words in (
        ("answer tag", _firsts(_TAGGED.findall(text))),
        ("boxed", _firsts(_BOXED.findall(text))),
        ("the answer is", _answers(search_text)),
        ("takes back", [match["word"] for match in _CORRECTIONS.finditer(search_text)][-1:]),
        ("begins with", _beginning(text)),
        (
            "called out",
            [_MEANS[match["word"]] for match in _CALLS.finditer(_without_either(search_text))],
        ),
        ("says the question", _restated(text, _plain(question))),
    ):
        answers = tuple(dict.fromkeys(words))
        if len(answers) == 1:
            return YesNo(answers[0], rule, answers)
        if answers:
            return YesNo(None, f"several: {rule}", answers)
    return YesNo(None, UNKNOWN if _CANNOT_TELL.search(search_text) else "neither yes nor no")


def _plain(text: str) -> str:
    """Normalize a text: lowercase, with uniform quotes and single spaces, without reasoning and
    emphasis."""
    text = unicodedata.normalize("NFKC", final_text(text)).casefold().translate(_QUOTES)
    if "*" in text or "_" in text or "`" in text or "#" in text:
        text = _EMPHASIS.sub("", text)
    if "  " in text or _OTHER_SPACE.search(text):
        text = _SPACES.sub(" ", text)
    return text.strip()


def _firsts(parts: list[str]) -> list[str]:
    return [_MEANS[begins["word"]] for part in parts if (begins := _LEADING.match(part))]


def _answers(text: SearchText) -> list[str]:
    words = []
    for match in _ANSWERS.finditer(text):
        words += [_MEANS[match["word"]], *_second(text.text, match.end())]
    return words


def _without_either(text: SearchText) -> SearchText:
    """The text without "yes or no"."""
    return SearchText(_EITHER.sub("", text.text)) if _YES_OR_NO.search(text) else text


def _beginning(text: str) -> list[str]:
    if _NEVER.match(text):
        return ["no"]
    begins = _LEADING.match(text)
    if not begins or (begins["word"] == "no" and _NO_OTHER.match(text, begins.end())):
        return []
    return [_MEANS[begins["word"]], *_second(text, begins.end())]


def _second(text: str, start: int) -> list[str]:
    """A second answer that directly follows the first one, as in "Yes and no"."""
    second = _SECOND.match(text, start)
    return [_MEANS[second["word"]]] if second else []


def _restated(text: str, question: str) -> list[str]:
    """The answer that follows from the first clause of a reply: yes if the clause has the same
    content words as the question, in the same order, and no if it also has one negation."""
    question_words = _QUESTION.search(question)
    end = _CLAUSE.search(text)
    if not question_words or not end or end[0] == "?":
        return []
    wanted, clause = _meaning(question_words[0]), _meaning(text[: end.start()])
    denied = [word for word in clause if _denies(word)]
    rest = [word for word in clause if not _denies(word)]
    if not wanted or any(map(_denies, wanted)) or rest != wanted or len(denied) > 1:
        return []
    return ["no" if denied else "yes"]


def _meaning(text: str) -> list[str]:
    """The content words of a clause. A final s is removed from words of more than three letters."""
    words = _TOKEN.findall(_IN_THE_IMAGE.sub("", text))
    full = [word for word in words if not _EMPTY.fullmatch(word)]
    return [word.removesuffix("s") if len(word) > 3 else word for word in full]


def _denies(word: str) -> bool:
    return word in _DENYING or word.endswith("n't")
