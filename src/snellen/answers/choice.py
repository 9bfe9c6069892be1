"""Finds the choice that a reply gives as its answer."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from string import ascii_uppercase

from snellen.answers._letter import Letter
from snellen.answers._search import SearchText, WordSearch, lazy, lowercase, matches_at
from snellen.answers.latex import LatexValue, boxed, cleaned
from snellen.answers.reply import final_text, refuses
from snellen.lazy import lazy_pattern

__all__ = ["Letter", "option_letter"]

SHORT = 300
"""A reply with at most this many characters is searched as a whole for a lone letter or choice. In
a longer reply, only the last line is searched, since letters and numbers in a solution can mean
many other things."""

# -- characters and letters

_SIGNS = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}  # full width
    | dict(zip("\u3000、。【】‘’“”", " ,.[]''\"\"", strict=True))  # noqa: RUF001
)
_AROUND = " \n\t\r_()[]{}.,;:!?\"'#%-"
"""The characters that may surround the letter if the whole reply is a letter."""
_DECORATION = lazy_pattern(r"[*`$]|__|\\[()\[\]]")
_NO_MARKUP = lazy_pattern(r"[a-z0-9 .,:;!?'\"()/%+-]{0,500}")
"""Matches texts without signs that `cleaned` removes or replaces anywhere in a text, and without
white space other than spaces."""
_WRAPPED = lazy_pattern(r"\\(?:text|textbf|mathrm|mathbf|mbox|bf)\s{0,3}\{([^{}]{0,200})\}")
_SPACE = lazy_pattern(r"\\[ ,;]|~")
_MATHEMATICS = lazy_pattern(r"\$[^$\n]{1,300}\$|\\\(.{0,300}?\\\)|\\\[.{0,300}?\\\]", re.DOTALL)

# A letter that is not part of a word or name: "选B" has one; "A-level", "C#", "U.S.", and "B's" do
# not.
_NO_WORD = r"(?<![A-Za-z0-9_\u00c0-\u024f'\\])"
_NO_MORE = r"(?![A-Za-z0-9_\u00c0-\u024f#+♭♯]|'[a-z]|[-.][A-Za-z])"
_ANY = rf"[(\[{{]?(?P<letter>[A-Z]){_NO_MORE}"
# Before a lowercase word, `A` and `I` are words, unless that word is one of these, which cannot
# follow an article or a pronoun.
_VERBS = (
    "or|and|is|was|are|as|because|since|in|for|from|with|based|due|but|which|would|at|if|over|"
    "rather|instead|beats|fits|matches"
)
_SURE = rf"(?:[B-HJ-Z]|[AI](?!\s(?!(?:{_VERBS})\b)[a-z])){_NO_MORE}"
_NO_ARTICLE = lazy_pattern(_SURE)
_LETTER = (
    rf"(?<![A-Za-z])(?:[(\[{{<\"']\s?(?P<inside>[A-Za-z])\s?[)\]}}>\"']|(?P<letter>{_SURE})"
    r"|(?P<small>[a-z])(?=[.)\s]{0,6}(?:\n|$)))"
)

# -- statements about a letter

_ANSWER = lazy_pattern(
    r"(?:\b(?i:answers?|ans|(?:correct|right|best|final|closest|chosen|suitable|appropriate) "
    r"(?:option|choice|letter|match))\b(?:\s(?:to|for)(?:\s[a-z]{1,12}){1,5}?)?"
    r"(?:\s{1,3}(?i:is|are|was|be|would|should|must|could|may|might|seems|appears|to|likely|most|"
    r"probably|clearly|definitely|certainly|simply|therefore|thus|then|indeed|actually|the|as|here|"
    r"given|option|choice|letter|number|answer)\b){0,6}[\s\"']{0,3}[:=→-]?\s{0,6}"
    r"(?:(?i:option|choice|letter|number)\s){0,2}"
    r"|(?:答案|正确选项|正确的选项)(?:应该|应)?(?:是|为|选)?\s{0,3}:?\s{0,3}(?:选项)?\s?)" + _LETTER
)
_ANSWERS = WordSearch(
    _ANSWER,
    (
        *("ans", "correct", "right", "best", "final", "closest", "chosen", "suitable"),
        *("appropriate", "答案", "正确"),
    ),
)
_LAST = lazy_pattern(
    rf"[#>\s(-]{{0,6}}(?i:(?:final |my |the |correct )?answer)\s{{0,3}}:\s{{0,6}}{_LETTER}"
)
_OPTION = lazy_pattern(
    r"(?:\b(?i:option|choice)\b(?:\s(?:letter|number))?(?:\s(?:is|would be)\b)?\s{0,3}:?\s{0,3}"
    r"|(?<!不)(?:选项|选择|选)(?:是|为)?\s{0,3}:?\s{0,3})"
    rf"(?:\(\s?(?P<inside>[A-Za-z])\s?\)|{_ANY}|(?P<small>[a-z])(?=[.)\s]{{0,6}}(?:\n|$)))"
)
_OPTIONS = WordSearch(_OPTION, ("option", "choice", "选"))
_RIGHT = lazy_pattern(
    rf"{_NO_WORD}{_ANY}[)\]}}]?(?:,?\s{{1,3}}(?:is|seems|appears|would be|must be|looks)"
    r"(?:\s(?:to be|the|clearly|also|therefore|thus|most|likely|probably|indeed|only)){0,4}"
    r"\s(?:correct|right|best|answer|closest)\b|\s?(?:选项|项)?\s?(?:是)?(?:正确|对的|最佳))"
)
_NONE = lazy_pattern(r"\b(?i:none|neither|no|nor|not)\b[^.\n]{0,50}$")
_CONCLUDES = lazy_pattern(
    r"(?:(?:^|[.\n!?;,]\s{0,3})(?i:so|thus|therefore|hence|overall|finally|consequently|"
    r"(?:in )?conclusion|i (?:would )?(?:choose|pick|select|go with|say)|my (?:choice|guess) is)\b"
    r"|所以|因此|故|综上)[,:]?\s{0,3}"
    r"(?:(?i:it is|it's|it must be|i (?:would )?(?:choose|pick|select|say)|the|option|choice|选)"
    rf"\s){{0,3}}{_ANY}[)\]}}]?(?=\s{{0,3}}(?:[.,!\n]|$|because\b|since\b|as\b))"
)
_CONCLUSIONS = WordSearch(
    _CONCLUDES,
    (
        *("so", "thus", "therefore", "hence", "overall", "finally", "consequently", "conclusion"),
        *("in conclusion", "i would ", "i choose", "i pick", "i select", "i go with", "i say"),
        *("my choice is", "my guess is", "所以", "因此", "故", "综上"),
    ),
    before=4,
)
_BEGINS = lazy_pattern(
    r"[\s(\[{<\"]{0,6}(?P<letter>[A-Z])(?:[)\]}>]{1,2}(?=[\s.,:;!]|[^\x00-\x7f]|$)"
    r"|\s?[.:,;](?=\s|[^\x00-\x7f]|$)|\s[-–—]\s|[ \t]{0,3}(?:\n|$))"  # noqa: RUF001
)
_NOT = lazy_pattern(
    r"(?:\b(?i:not|never|neither|nor|rather than|instead of|all but|except|rules? out|ruled out|"
    r"eliminates?|excludes?)\s{1,3}|不是|不选|排除)"
    rf"(?:(?:be|the|option|choice|answer|letter)\s{{1,3}}){{0,3}}{_ANY}"
    rf"(?:\s(?:and|or|nor)\s(?P<second>[A-Z]){_NO_MORE})?"
)
_NOT_THIS = WordSearch(
    _NOT,
    (
        *("not", "never", "neither", "nor", "rather than", "instead of", "all but", "except"),
        *("rule out", "rules out", "ruled out", "eliminate", "exclude", "不是", "不选", "排除"),
    ),
)
_WRONG = lazy_pattern(
    rf"{_NO_WORD}{_ANY}[)\]}}]?(?:\s{{1,3}}(?:is|are|was|seems|can|does)(?:\s(?:clearly|also|"
    r"obviously|definitely|therefore|thus|probably|just|simply))?"
    r"(?:n't|not|\s(?:wrong|incorrect|false|not|out|impossible|invalid))\b"
    r"|(?:选项|项)?(?:是)?(?:错误|不正确|不对))"
)
_DENIED = lazy_pattern(rf"n't\s{{1,3}}(?:(?:be|the|option|choice)\s){{0,3}}{_ANY}")
_DENIALS = WordSearch(_DENIED, ("n't",))
_MORE = lazy_pattern(
    r"[\s)\]}]{0,3}(?:(?:[,/&]|\b(?:or|and)\b|或|和)\s{0,3}(?:(?:or|and|maybe|possibly|perhaps|even|"
    rf"either|option|choice)\s){{0,3}}(?:(?P<small>[b-hj-z])(?=[\s.,;)]|$))?|(?<!\n)[ \t])"
    rf"(?(small)|[(\[{{]{{0,2}}(?P<letter>{_SURE}))"
)
_OR_ELSE = lazy_pattern(
    r"\b(?:or|could|might|may|possibly|perhaps|maybe)\b[^.;\n]{0,30}?"
    rf"{_NO_WORD}(?P<letter>{_SURE})"
)
_ALONE = lazy_pattern(rf"{_NO_WORD}(?P<letter>[A-Z]){_NO_MORE}(?!'|\s?(?:[=<>+*/^≌∥⊥→]|->))")
# Text before a letter that shows that it names a point, a side, or a vitamin, or is in a formula.
_A_NAME = lazy_pattern(
    r"(?:[=+*/^<>∠△⊙°]|[0-9A-Za-z)]\s?-"
    r"|\b(?:angles?|points?|lines?|sides?|triangles?|circles?|vertex|matrix|at|from|through|between|"
    r"label(?:l?ed)?|group|figure|school|vitamin|hepatitis|type|grade|class)"
    r"(?:\s[A-Z](?:,|\sand|\sor|\sto))?)\s?$",
    re.IGNORECASE,
)
_LISTED = lazy_pattern(r"(?:^|\n)\s{0,3}\((?P<letter>[A-Z])\)\s")
_LIST_ITEMS = WordSearch(_LISTED, ("(",), before=4)
_TAGGED = lazy_pattern(
    r"<answer>(.{0,400}?)(?:</answer>|$)|<\|begin_of_box\|>(.{0,400}?)<\|end_of_box\|>", re.DOTALL
)

# -- statements about choices, or that no choice is right

_ARTICLE = lazy_pattern(r"^(?:an?|the)\s")
_SENTENCE = lazy_pattern(r"[.;!?](?:\s|$)|\n")
_ANSWER_TEXT = lazy_pattern(
    r"\b(?i:answer)(?:\s(?:to|for)(?:\s[a-z]{1,12}){1,5}?)?\s{0,2}(?i:is\b|:)"
)
_ANSWER_TEXTS = WordSearch(_ANSWER_TEXT, ("answer",))
_DIGITS = lazy_pattern(r"[0-9]{1,20}(?:[.,/][0-9]{1,20}){0,9}")
# A number by itself or with a unit, but not the numbers in "5x", "x5", "5(a+1)", and "2 + 3".
_NUMBER = lazy_pattern(
    rf"(?<![\w\\^{{(.+*/=-])(-?{_DIGITS.pattern})"
    r"(?:cm|mm|dm|km|kg|[mghs])?(?![A-Za-z0-9\\^_({]|\s?[+*/^=])"
)
_NEGATED = lazy_pattern(r"(?:\b(?:not|no|never|neither|nor)|n't)\s(?:an?\s|the\s)?$")
_IN_WORD = lazy_pattern(r"\w")
_DECIMALS = lazy_pattern(r"[.,]\d")
_STOP = lazy_pattern(r"\s?[.;:!\n]")
_STOP_OR_COMMA = lazy_pattern(r"\s?[,.;:!\n]")
_BETWEEN = lazy_pattern(r"[\s)\]}.:,-]{0,5}")
_BEFORE_CHOICE = lazy_pattern(rf"{_NO_WORD}(?P<letter>[A-Z])[)\]}}.:,\s-]{{1,4}}\Z")
_YES_OR_NO = frozenset(("yes", "no", "true", "false"))


def option_letter(text: str, choices: Sequence[str]) -> Letter:
    r"""Find the letter of the choice that a reply gives as its answer. Never guess.

    Tagged reasoning is not part of the reply. These rules are tried in order:

    (1) The whole reply is a letter or a choice.
    (2) The reply contains <answer>B</answer> or \boxed{B}.
    (3) The reply says "the answer is B" or "option B".
    (4) The reply says that B is right, or draws a conclusion ("So B.").
    (5) The reply begins with "B." or "B)".
    (6) A letter precedes the text of its choice.
    (7) A single letter stands alone.
    (8) The reply begins with a choice.
    (9) The reply contains a single choice.

    The first rule that finds a letter decides. If that rule finds several letters, or a letter that
    was not offered, the reply is unparsed. Rules 7 to 9 are skipped if the reply says that it
    cannot determine the answer.

    >>> option_letter("The answer is (B).", ["a cat", "a dog"])
    Letter(answer='B', rule='the answer is', candidates=('B',))
    >>> option_letter("A B", ["a cat", "a dog"]).answer is None
    True
    """
    # Try the first rule before anything else. It is enough for most short replies.
    bare = text.strip(_AROUND)
    if len(bare) == 1 and bare.upper() in ascii_uppercase[: len(choices)]:
        return Letter(bare.upper(), "letter", (bare.upper(),))
    reply = _Reply(_ascii_signs(final_text(text)), tuple(choices))
    for rule, letters in reply.rules():
        if not letters:
            continue
        every = tuple(dict.fromkeys(letters))
        offered_letters = tuple(letter for letter in every if letter in reply.letters)
        if len(every) == len(offered_letters) == 1:
            return Letter(offered_letters[0], rule, offered_letters)
        reason = "several" if offered_letters else "not offered"
        return Letter(None, f"{reason}: {rule}", offered_letters)
    return Letter(None, "refuses" if reply.refuses else "no choice")


class _Choice:
    """A choice, in the forms that the rules compare with a reply. Some forms are computed only when
    they are first needed."""

    def __init__(self, letter: str, text: str) -> None:
        self.letter = letter
        """The letter of the choice."""
        self.text = _plain(text).strip().rstrip(".")
        """The choice without emphasis and the period at its end."""
        self.folded = folded = self.text.casefold()
        """The text for comparisons that ignore case."""
        self.bare = _without_article(folded)
        """The folded text without its article."""

    @lazy
    def lower(self) -> str:
        """The text in lowercase, with the same length."""
        return lowercase(self.text)

    @lazy
    def value(self) -> LatexValue:
        """The choice as a value, without dollar signs and units."""
        return LatexValue(cleaned(self.text))

    def may_have(self, key: str) -> bool:
        """False if `value` cannot have this key. `cleaned` removes nothing but the end of a text
        without markup, so the text begins with the key."""
        if not _NO_MARKUP.fullmatch(self.folded):
            return True
        return self.folded[:1] == key[:1] and self.folded.replace(" ", "").startswith(key)

    @lazy
    def number(self) -> LatexValue | None:
        """The choice as a value, if it is a number whose digits are separated only by periods,
        commas, or slashes; else None."""
        value = LatexValue(cleaned(self.folded))
        return (
            value if len(_DIGITS.findall(self.folded)) == 1 and value.number is not None else None
        )

    @lazy
    def refuses(self) -> bool:
        """Whether the choice says that the question cannot be answered, or that no choice is
        right."""
        return refuses(self.text)


@lru_cache(maxsize=1024)
def _prepared(choices: tuple[str, ...]) -> tuple[_Choice, ...]:
    return tuple(
        _Choice(letter, _ascii_signs(choice))
        for letter, choice in zip(ascii_uppercase, choices, strict=False)
    )


class _Reply:
    def __init__(self, text: str, choices: tuple[str, ...]) -> None:
        self.raw = text
        self.search_text = SearchText(_plain(text))
        self.text = self.search_text.text
        self.raw_choices = choices
        self.letters = ascii_uppercase[: len(choices)]

    @lazy
    def choices(self) -> tuple[_Choice, ...]:
        return _prepared(self.raw_choices)

    def rules(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each rule with the letters that it finds, even if they were not offered."""
        yield from self.entire_reply()
        tags = (
            [first or other for first, other in _TAGGED.findall(self.raw)]
            if "<" in self.raw
            else []
        )
        yield "answer tag", [letter for part in tags for letter in self.within(part)]
        boxes = [self.within(box) for box in boxed(self.raw)]
        # A solution may put intermediate values in boxes, so the last box must contain a choice.
        yield "boxed", [letter for box in boxes for letter in box] if boxes and boxes[-1] else []
        yield from self.answers()
        yield from self.options()
        yield "begins with", self.beginning()
        yield "letter and choice", self.with_choice()
        items = [match["letter"] for match in _LIST_ITEMS.finditer(self.search_text)]
        if boxes or tags or self.refuses or not set(items).issubset(self.letters):
            # A box contains the final answer, and this box contains no choice. Lines with letters
            # that were not offered continue the list of choices and are not an answer.
            return
        yield "only letter", self.alone()
        yield "begins with choice", self.beginning_choice()
        yield "only choice", self.only_choices()

    def entire_reply(self) -> Iterator[tuple[str, list[str]]]:
        bare = self.text.strip(_AROUND)
        yield "letter", [bare.upper()] if len(bare) == 1 and bare.upper() in self.letters else []
        yield "choice", self.same(self.text.strip(" \n\t\r\"'").rstrip(".,;!"))
        value = cleaned(self.raw) if len(self.raw) <= SHORT else ""
        yield "value", self.equal(value)

    def same(self, text: str) -> list[str]:
        """The choices with this text."""
        bare = _without_article(text.strip().casefold())
        # Folding makes a choice at most three times as long.
        if not bare or len(bare) > 3 * max(map(len, self.raw_choices), default=0):
            return []
        return [choice.letter for choice in self.choices if bare == choice.bare]

    def equal(self, value: str) -> list[str]:
        """The choices with this value."""
        answer = LatexValue(value)
        if not answer.key:
            return []
        # An answer that is no number can only have the same text as a choice.
        choices = (
            [choice for choice in self.choices if choice.may_have(answer.key)]
            if answer.number is None
            else self.choices
        )
        return [choice.letter for choice in choices if answer.same_as(choice.value)]

    def within(self, part: str) -> list[str]:
        """The letters of the choices that a box or tag states. The box or tag may contain a letter,
        the text of a choice, or both."""
        text = _plain(part)
        bare = text.strip(" \n\t_()[]{}.,;:!?\"'")
        if _is_letter(bare) and (bare.upper() in self.letters or not self.same(bare)):
            return [bare.upper()]
        if letters := self.same(bare) or self.equal(cleaned(part)):
            return letters
        begins = _BEGINS.match(text)
        if begins:
            return [begins["letter"], *self.second(text, begins.end("letter"), begins["letter"])]
        return []

    def answers(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the letters that the reply states as the answer. If it states several, a last line
        such as "Answer: B" decides."""
        letters = self.all_of(_ANSWERS, self.search_text)
        if len(set(letters)) > 1:
            lines = self.text.rstrip().split("\n")
            such = [match for line in lines if (match := _LAST.match(line))]
            if len(lines) > 1 and len(such) == 1 and _LAST.match(lines[-1]):
                letter = _letter(such[0])
                yield "last line", [letter, *self.second(lines[-1], such[0].end(), letter)]
        yield "the answer is", letters

    def all_of(self, search: WordSearch, text: SearchText) -> list[str]:
        letters = []
        for match in search.finditer(text):
            letter = _letter(match)
            letters += [letter, *self.second(text.text, match.end(), letter)]
        return letters

    def second(self, text: str, end: int, letter: str) -> list[str]:
        """The further letters that the same sentence states as answers, as in "A or B", "A, B", and
        "A, though maybe B"."""
        rest = text[end : end + SHORT]
        if len(rest) < 2:  # too short for a separator and a letter
            return []
        if letter in self.letters:
            choice = self.choices[self.letters.index(letter)]
            rest = _after_choice(rest, choice)
        more = [_letter(match)] if (match := _MORE.match(rest)) else []
        sentence = _SENTENCE.split(rest, maxsplit=1)[0]
        more += [match["letter"] for match in _OR_ELSE.finditer(sentence)]
        return [
            candidate
            for candidate in more
            if candidate in self.letters and candidate not in self.rejected
        ]

    def options(self) -> Iterator[tuple[str, list[str]]]:
        letters = self.all_of(_OPTIONS, self.search_text)
        if len(set(letters)) == 1 and not self.rejected.issuperset(letters):
            yield "option", self.all_of(_OPTIONS, SearchText(self.scope(self.text)))
        right = [
            match["letter"]
            for match in matches_at(_RIGHT, self.search_text, self.search_text.capitals)
            if not _NONE.search(self.text[max(0, match.start() - 60) : match.start()])
        ]
        yield "is right", right
        conclusions = _CONCLUSIONS.finditer(self.search_text)
        yield "concludes", [match["letter"] for match in conclusions]
        yield "option", letters if len(set(letters)) > 1 else []

    def beginning(self) -> list[str]:
        """The letters at the beginning of lines, if the first line begins with a letter."""
        lines = self.text.strip().split("\n")
        if not _BEGINS.match(lines[0]):
            return []
        letters = []
        for line in lines:
            if match := _BEGINS.match(line):
                end = match.end("letter")
                letters += [match["letter"], *self.second(line, end, match["letter"])]
        return letters

    def with_choice(self) -> list[str]:
        """The letters that precede the text of their choice."""
        return [
            choice.letter
            for choice in self.choices
            if any(
                (match := _BEFORE_CHOICE.search(self.text, max(0, start - 6), start))
                and match["letter"] == choice.letter
                for start, _ in _occurrences(choice.lower, self.search_text.lower)
            )
        ]

    def alone(self) -> list[str]:
        """The capital letters that stand alone and that the reply does not call wrong. Names of
        points and lines are left out, and so are `I` and `A` before a word, unless they are in
        parentheses or brackets."""
        text = self.scope(_plain(_MATHEMATICS.sub(" ", self.raw)))
        search_text = SearchText(text)
        letters = []
        for match in matches_at(_ALONE, search_text, search_text.capitals):
            before, letter = text[max(0, match.start() - 24) : match.start()], match["letter"]
            word = letter == "I" or not _NO_ARTICLE.match(text, match.start())
            if letter in self.letters and (before[-1:] in ("(", "[") or not word):
                letters += [] if _A_NAME.search(before) else [letter]
        kept = [letter for letter in letters if letter not in self.rejected]
        denied = {match["letter"] for match in _DENIALS.finditer(search_text)}
        return kept if not denied.issuperset(kept) else []

    @lazy
    def rejected(self) -> frozenset[str]:
        """The letters that the reply calls wrong."""
        text = self.search_text
        pairs = [match.group("letter", "second") for match in _NOT_THIS.finditer(text)]
        wrong = [match["letter"] for match in matches_at(_WRONG, text, text.capitals)]
        return frozenset(letter for pair in (*pairs, wrong) for letter in pair if letter)

    @lazy
    def refuses(self) -> bool:
        """Whether the reply says that it cannot determine the answer. False if a choice says the
        same."""
        none = any(choice.folded == "none" for choice in self.choices)
        text = self.text.casefold().replace("none of the", "") if none else self.search_text
        return refuses(text) and not any(choice.refuses for choice in self.choices)

    def scope(self, text: str) -> str:
        """The part of a text that is searched: all of a short text, the last line of a longer
        one."""
        text = text.strip()
        return text if len(text) <= SHORT else text.rpartition("\n")[2][-SHORT:]

    def beginning_choice(self) -> list[str]:
        """The choice at the beginning of the reply if punctuation follows: "No, there is none."."""
        text = self.text.strip().casefold()
        letters = []
        for choice in self.choices:
            stop = _STOP_OR_COMMA if choice.folded in _YES_OR_NO else _STOP
            if (
                len(choice.text) > 1
                and text.startswith(choice.folded)
                and stop.match(text, len(choice.folded))
            ):
                letters.append(choice.letter)
        return letters

    def only_choices(self) -> list[str]:
        """The choices whose text occurs in the stated answer or, if the reply states no answer, in
        the part of the reply that `scope` selects."""
        after = [
            _SENTENCE.split(self.text[match.end() : match.end() + SHORT].strip(), maxsplit=1)[0]
            for match in _ANSWER_TEXTS.finditer(self.search_text)
        ]
        rest = (" ".join(after) if after else self.scope(self.text)).casefold()
        numbers = set(_DIGITS.findall(rest))
        alone = {digits.replace(",", "") for digits in _NUMBER.findall(rest)}
        letters = []
        for choice in sorted(self.choices, key=lambda choice: -len(choice.text)):
            if choice.number is not None:
                # If there are several numbers, it is unclear which one is the answer.
                if len(numbers) == 1 and any(
                    LatexValue(digits).same_as(choice.number) for digits in alone
                ):
                    letters.append(choice.letter)
                continue
            if len(choice.text) < 2 or (choice.folded in _YES_OR_NO and not after):
                continue
            matches = [
                (start, end)
                for start, end in _occurrences(choice.folded, rest)
                if not _IN_WORD.match(rest[start - 1 : start]) and not _DECIMALS.match(rest, end)
            ]
            if any(not _NEGATED.search(rest[:start][-12:]) for start, _ in matches):
                letters.append(choice.letter)
            if matches and sum(other.text == choice.text for other in self.choices) == 1:
                for start, end in reversed(matches):
                    rest = f"{rest[:start]}\0{rest[end:]}"
        return letters


def _occurrences(part: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each occurrence of a part in the text. The occurrences do not
    overlap, and an occurrence that a letter or digit follows is left out."""
    start = text.find(part) if part else -1
    while start >= 0:
        end = start + len(part)
        if _IN_WORD.match(text, end):
            start = text.find(part, start + 1)
        else:
            yield start, end
            start = text.find(part, end)


def _after_choice(rest: str, choice: _Choice) -> str:
    """The text after the choice if the text begins with the choice, else the whole text."""
    length = len(choice.text)
    begins = lowercase(rest[: length + 5])
    if length and choice.lower in begins:
        for start in range(_BETWEEN.match(rest).end(), -1, -1):  # type: ignore[union-attr]
            if begins.startswith(choice.lower, start):
                return rest[start + length :]
    return rest


def _without_article(text: str) -> str:
    article = _ARTICLE.match(text) if text[:1] in ("a", "t") else None
    return text[article.end() :] if article else text


def _ascii_signs(text: str) -> str:
    """Replace full-width characters and typographic quotes with their ASCII forms."""
    return text if text.isascii() else text.translate(_SIGNS)


def _plain(text: str) -> str:
    """Remove emphasis, dollar signs, and LaTeX commands around words."""
    if "\\" in text or "~" in text:
        text = _WRAPPED.sub(r"\1", _SPACE.sub(" ", text.replace(r"\!", "")))
        return _DECORATION.sub("", text)
    if "__" in text:
        return _DECORATION.sub("", text)
    # Replacing single signs is much faster than the pattern.
    return text.replace("*", "").replace("`", "").replace("$", "")


def _is_letter(text: str) -> bool:
    return len(text) == 1 and text.isascii() and text.isalpha()


def _letter(match: re.Match[str]) -> str:
    """The letter in a match. Only one group of these patterns, the last, can have matched."""
    return match[match.lastgroup or 0].upper()
