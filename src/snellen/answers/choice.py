"""Finds the choice that a reply gives as its answer."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from string import ascii_uppercase

from snellen.answers._letter import Letter
from snellen.answers.latex import boxed, cleaned, number, same_value
from snellen.answers.reply import REFUSES, final_text

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
_DECORATION = re.compile(r"[*`$]|__|\\[()\[\]]")
_WRAPPED = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox|bf)\s{0,3}\{([^{}]{0,200})\}")
_MATHEMATICS = re.compile(r"\$[^$\n]{1,300}\$|\\\(.{0,300}?\\\)|\\\[.{0,300}?\\\]", re.DOTALL)

# A letter that is not part of a word or name: "选B" has one; "A-level", "C#", "U.S.", and "B's" do
# not.
_NO_WORD = r"(?<![A-Za-z0-9_\u00c0-\u024f'\\])"
_NO_MORE = r"(?![A-Za-z0-9_\u00c0-\u024f#+♭♯]|'[a-z]|[-.][A-Za-z])"
_ANY = rf"[(\[{{]?(?P<letter>[A-Z]){_NO_MORE}"
# Before a lowercase word, `A` and `I` are words, unless that word is one of these, which cannot
# follow an article or a pronoun.
_VERBS = "or|and|is|was|are|as|because|since|in|for|from|with|based|due|but|which|would|at|if"
_SURE = rf"(?:[B-HJ-Z]|[AI](?!\s(?!(?:{_VERBS})\b)[a-z])){_NO_MORE}"
_NO_ARTICLE = re.compile(_SURE)
_LETTER = (
    rf"(?<![A-Za-z])(?:[(\[{{<\"']\s?(?P<inside>[A-Za-z])\s?[)\]}}>\"']|(?P<letter>{_SURE})"
    r"|(?P<small>[a-z])(?=[.)\s]{0,6}(?:\n|$)))"
)

# -- statements about a letter

_ANSWER = re.compile(
    r"(?:\b(?i:answers?|ans|(?:correct|right|best|final|closest|chosen|suitable|appropriate) "
    r"(?:option|choice|letter|match))\b(?:\s(?:to|for)(?:\s[a-z]{1,12}){1,5}?)?"
    r"(?:\s{1,3}(?i:is|are|was|be|would|should|must|could|may|might|seems|appears|to|likely|most|"
    r"probably|clearly|definitely|certainly|simply|therefore|thus|then|indeed|actually|the|as|here|"
    r"given|option|choice|letter|number|answer)\b){0,6}[\s\"']{0,3}[:=→-]?\s{0,6}"
    r"(?:(?i:option|choice|letter|number)\s){0,2}"
    r"|(?:答案|正确选项|正确的选项)(?:应该|应)?(?:是|为|选)?\s{0,3}:?\s{0,3}(?:选项)?\s?)" + _LETTER
)
_LAST = re.compile(
    rf"[#>\s(-]{{0,6}}(?i:(?:final |my |the |correct )?answer)\s{{0,3}}:\s{{0,6}}{_LETTER}"
)
_OPTION = re.compile(
    r"(?:\b(?i:option|choice)\b(?:\s(?:letter|number))?(?:\s(?:is|would be)\b)?\s{0,3}:?\s{0,3}"
    r"|(?<!不)(?:选项|选择|选)(?:是|为)?\s{0,3}:?\s{0,3})"
    rf"(?:\(\s?(?P<inside>[A-Za-z])\s?\)|{_ANY}|(?P<small>[a-z])(?=[.)\s]{{0,6}}(?:\n|$)))"
)
_RIGHT = re.compile(
    rf"{_NO_WORD}{_ANY}[)\]}}]?(?:,?\s{{1,3}}(?:is|seems|appears|would be|must be|looks)"
    r"(?:\s(?:to be|the|clearly|also|therefore|thus|most|likely|probably|indeed|only)){0,4}"
    r"\s(?:correct|right|best|answer|closest)\b|\s?(?:选项|项)?\s?(?:是)?(?:正确|对的|最佳))"
)
_NONE = re.compile(r"\b(?i:none|neither|no|nor|not)\b[^.\n]{0,50}$")
_CONCLUDES = re.compile(
    r"(?:(?:^|[.\n!?;,]\s{0,3})(?i:so|thus|therefore|hence|overall|finally|consequently|"
    r"(?:in )?conclusion|i (?:would )?(?:choose|pick|select|go with|say)|my (?:choice|guess) is)\b"
    r"|所以|因此|故|综上)[,:]?\s{0,3}"
    r"(?:(?i:it is|it's|it must be|i (?:would )?(?:choose|pick|select|say)|the|option|choice|选)"
    rf"\s){{0,3}}{_ANY}[)\]}}]?(?=\s{{0,3}}(?:[.,!\n]|$|because\b|since\b|as\b))"
)
_BEGINS = re.compile(
    r"[\s(\[{<\"]{0,6}(?P<letter>[A-Z])(?:[)\]}>]{1,2}(?=[\s.,:;!]|[^\x00-\x7f]|$)"
    r"|\s?[.:,;](?=\s|[^\x00-\x7f]|$)|\s[-–—]\s|[ \t]{0,3}(?:\n|$))"  # noqa: RUF001
)
_NOT = re.compile(
    r"(?:\b(?i:not|never|neither|nor|rather than|instead of|all but|except|rules? out|ruled out|"
    r"eliminates?|excludes?)\s{1,3}|不是|不选|排除)"
    rf"(?:(?:be|the|option|choice|answer|letter)\s{{1,3}}){{0,3}}{_ANY}"
    rf"(?:\s(?:and|or|nor)\s(?P<second>[A-Z]){_NO_MORE})?"
)
_WRONG = re.compile(
    rf"{_NO_WORD}{_ANY}[)\]}}]?(?:\s{{1,3}}(?:is|are|was|seems|can|does)(?:\s(?:clearly|also|"
    r"obviously|definitely|therefore|thus|probably|just|simply))?"
    r"(?:n't|not|\s(?:wrong|incorrect|false|not|out|impossible|invalid))\b"
    r"|(?:选项|项)?(?:是)?(?:错误|不正确|不对))"
)
_DENIED = re.compile(rf"n't\s{{1,3}}(?:(?:be|the|option|choice)\s){{0,3}}{_ANY}")
_MORE = re.compile(
    r"[\s)\]}]{0,3}(?:(?:[,/&]|\b(?:or|and)\b|或|和)\s{0,3}(?:(?:or|and|maybe|possibly|perhaps|even|"
    rf"either|option|choice)\s){{0,3}}(?:(?P<small>[b-hj-z])(?=[\s.,;)]|$))?|(?<!\n)[ \t])"
    rf"(?(small)|[(\[{{]{{0,2}}(?P<letter>{_SURE}))"
)
_OR_ELSE = re.compile(
    r"\b(?:or|could|might|may|possibly|perhaps|maybe)\b[^.;\n]{0,30}?"
    rf"{_NO_WORD}(?P<letter>{_SURE})"
)
_ALONE = re.compile(rf"{_NO_WORD}(?P<letter>[A-Z]){_NO_MORE}(?!'|\s?(?:[=<>+*/^≌∥⊥→]|->))")
# Text before a letter that shows that it names a point, a side, or a vitamin, or is in a formula.
_A_NAME = re.compile(
    r"(?:[=+*/^<>∠△⊙°]|[0-9A-Za-z)]\s?-"
    r"|\b(?:angles?|points?|lines?|sides?|triangles?|circles?|vertex|matrix|at|from|through|between|"
    r"label(?:l?ed)?|group|figure|school|vitamin|hepatitis|type|grade|class)"
    r"(?:\s[A-Z](?:,|\sand|\sor|\sto))?)\s?$",
    re.IGNORECASE,
)
_LISTED = re.compile(r"(?:^|\n)\s{0,3}\((?P<letter>[A-Z])\)\s")
_TAGGED = re.compile(
    r"<answer>(.{0,400}?)(?:</answer>|$)|<\|begin_of_box\|>(.{0,400}?)<\|end_of_box\|>", re.DOTALL
)

# -- statements about choices, or that no choice is right

_ARTICLE = re.compile(r"^(?:an?|the)\s")
_SENTENCE = re.compile(r"[.;!?](?:\s|$)|\n")
_ANSWER_TEXT = re.compile(
    r"\b(?i:answer)(?:\s(?:to|for)(?:\s[a-z]{1,12}){1,5}?)?\s{0,2}(?i:is\b|:)"
)
_DIGITS = re.compile(r"[0-9]{1,20}(?:[.,/][0-9]{1,20}){0,9}")
# A number by itself or with a unit, but not the numbers in "5x", "x5", "5(a+1)", and "2 + 3".
_NUMBER = re.compile(
    rf"(?<![\w\\^{{(.+*/=-])(-?{_DIGITS.pattern})"
    r"(?:cm|mm|dm|km|kg|[mghs])?(?![A-Za-z0-9\\^_({]|\s?[+*/^=])"
)
_NEGATED = re.compile(r"(?:\b(?:not|no|never|neither|nor)|n't)\s(?:an?\s|the\s)?$")
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
    cannot tell the answer.

    >>> option_letter("The answer is (B).", ["a cat", "a dog"])
    Letter(answer='B', rule='the answer is', candidates=('B',))
    >>> option_letter("A B", ["a cat", "a dog"]).answer is None
    True
    """
    # Try the first rule before anything else. It is enough for most replies, and the other rules
    # take ten times as long.
    bare = text.strip(_AROUND)
    if len(bare) == 1 and bare.upper() in ascii_uppercase[: len(choices)]:
        return Letter(bare.upper(), "letter", (bare.upper(),))
    offered = [choice.translate(_SIGNS) for choice in choices[: len(ascii_uppercase)]]
    reply = _Reply(final_text(text).translate(_SIGNS), offered)
    for rule, letters in reply.rules():
        every = tuple(dict.fromkeys(letters))
        offered_letters = tuple(letter for letter in every if letter in reply.letters)
        if len(every) == len(offered_letters) == 1:
            return Letter(offered_letters[0], rule, offered_letters)
        if every:
            return Letter(
                None, f"{'several' if offered_letters else 'not offered'}: {rule}", offered_letters
            )
    return Letter(None, "refuses" if reply.refuses else "no choice")


class _Reply:
    def __init__(self, text: str, choices: list[str]) -> None:
        self.raw = text
        self.text = _plain(text)
        self.choices = [_plain(choice).strip().rstrip(".") for choice in choices]
        self.letters = ascii_uppercase[: len(choices)]

    def rules(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each rule with the letters that it finds, even if they were not offered."""
        yield from self.entire_reply()
        tags = [first or other for first, other in _TAGGED.findall(self.raw)]
        yield "answer tag", [letter for part in tags for letter in self.within(part)]
        boxes = [self.within(box) for box in boxed(self.raw)]
        # A solution may put intermediate values in boxes, so the last box must contain a choice.
        yield "boxed", [letter for box in boxes for letter in box] if boxes and boxes[-1] else []
        yield from self.answers()
        yield from self.options()
        yield "begins with", self.beginning()
        yield "letter and choice", self.with_choice()
        further = [letter for letter in _LISTED.findall(self.text) if letter not in self.letters]
        if boxes or tags or self.refuses or further:
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
        bare = _ARTICLE.sub("", text.strip().casefold())
        return [
            letter
            for letter, choice in zip(self.letters, self.choices, strict=True)
            if bare and bare == _ARTICLE.sub("", choice.casefold())
        ]

    def equal(self, value: str) -> list[str]:
        """The choices with this value."""
        return [
            letter
            for letter, choice in zip(self.letters, self.choices, strict=True)
            if value and same_value(value, cleaned(choice))
        ]

    def within(self, part: str) -> list[str]:
        """The letters in a box or tag, which may contain a letter, a choice, or both."""
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
        letters = self.all_of(_ANSWER, self.text)
        if len(set(letters)) > 1:
            lines = self.text.rstrip().split("\n")
            such = [match for line in lines if (match := _LAST.match(line))]
            if len(lines) > 1 and len(such) == 1 and _LAST.match(lines[-1]):
                letter = _letter(such[0])
                yield "last line", [letter, *self.second(lines[-1], such[0].end(), letter)]
        yield "the answer is", letters

    def all_of(self, pattern: re.Pattern[str], text: str) -> list[str]:
        letters = []
        for match in pattern.finditer(text):
            letter = _letter(match)
            letters += [letter, *self.second(text, match.end(), letter)]
        return letters

    def second(self, text: str, end: int, letter: str) -> list[str]:
        """The other letters that follow in the sentence: "A or B", "A, B", "A, though maybe B"."""
        rest = text[end : end + SHORT]
        if letter in self.letters:
            choice = self.choices[self.letters.index(letter)]
            own = re.match(rf"[\s)\]}}.:,-]{{0,5}}{re.escape(choice)}", rest, re.IGNORECASE)
            if choice and own:
                rest = rest[own.end() :]
        more = [_letter(match)] if (match := _MORE.match(rest)) else []
        sentence = _SENTENCE.split(rest, maxsplit=1)[0]
        more += [match["letter"] for match in _OR_ELSE.finditer(sentence)]
        return [
            candidate
            for candidate in more
            if candidate in self.letters and candidate not in self.rejected
        ]

    def options(self) -> Iterator[tuple[str, list[str]]]:
        letters = self.all_of(_OPTION, self.text)
        if len(set(letters)) == 1 and not self.rejected.issuperset(letters):
            yield "option", self.all_of(_OPTION, self.scope(self.text))
        right = [
            match["letter"]
            for match in _RIGHT.finditer(self.text)
            if not _NONE.search(self.text[max(0, match.start() - 60) : match.start()])
        ]
        yield "is right", right
        yield "concludes", [match["letter"] for match in _CONCLUDES.finditer(self.text)]
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
        letters = []
        for letter, choice in zip(self.letters, self.choices, strict=True):
            pattern = rf"{_NO_WORD}{letter}[)\]}}.:,\s-]{{1,4}}(?i:{re.escape(choice)})(?!\w)"
            if choice and re.search(pattern, self.text):
                letters.append(letter)
        return letters

    def alone(self) -> list[str]:
        """The capital letters that stand alone and that the reply does not call wrong. Names of
        points and lines are left out, and so are `I` and `A` before a word, unless they are in
        parentheses or brackets."""
        text = self.scope(_plain(_MATHEMATICS.sub(" ", self.raw)))
        letters = []
        for match in _ALONE.finditer(text):
            before, letter = text[max(0, match.start() - 24) : match.start()], match["letter"]
            word = letter == "I" or not _NO_ARTICLE.match(text, match.start())
            if letter in self.letters and (before[-1:] in ("(", "[") or not word):
                letters += [] if _A_NAME.search(before) else [letter]
        kept = [letter for letter in letters if letter not in self.rejected]
        denied = {match["letter"] for match in _DENIED.finditer(text)}
        return kept if not denied.issuperset(kept) else []

    @cached_property
    def rejected(self) -> frozenset[str]:
        """The letters that the reply calls wrong."""
        pairs = [match.group("letter", "second") for match in _NOT.finditer(self.text)]
        wrong = [match["letter"] for match in _WRONG.finditer(self.text)]
        return frozenset(letter for pair in (*pairs, wrong) for letter in pair if letter)

    @cached_property
    def refuses(self) -> bool:
        """Whether the reply says that it cannot tell the answer. False if a choice says the
        same."""
        choices = [choice.casefold() for choice in self.choices]
        text = self.text.casefold().replace("none of the", "") if "none" in choices else self.text
        return bool(REFUSES.search(text)) and not any(map(REFUSES.search, choices))

    def scope(self, text: str) -> str:
        """The part of a text that is searched: all of a short text, the last line of a longer
        one."""
        text = text.strip()
        return text if len(text) <= SHORT else text.rpartition("\n")[2][-SHORT:]

    def beginning_choice(self) -> list[str]:
        """The choice at the beginning of the reply if punctuation follows: "No, there is none."."""
        text = self.text.strip().casefold()
        letters = []
        for letter, choice in zip(self.letters, self.choices, strict=True):
            stop = "[,.;:!\n]" if choice.casefold() in _YES_OR_NO else "[.;:!\n]"
            if len(choice) > 1 and re.match(rf"{re.escape(choice.casefold())}\s?{stop}", text):
                letters.append(letter)
        return letters

    def only_choices(self) -> list[str]:
        """The choices whose text occurs in the stated answer or, if the reply states no answer, in
        the part of the reply that `scope` selects."""
        after = [
            _SENTENCE.split(self.text[match.end() : match.end() + SHORT].strip(), maxsplit=1)[0]
            for match in _ANSWER_TEXT.finditer(self.text)
        ]
        rest = (" ".join(after) if after else self.scope(self.text)).casefold()
        numbers = set(_DIGITS.findall(rest))
        alone = {digits.replace(",", "") for digits in _NUMBER.findall(rest)}
        letters = []
        for i in sorted(range(len(self.choices)), key=lambda i: -len(self.choices[i])):
            choice = self.choices[i].casefold()
            if number(cleaned(choice)) is not None and len(_DIGITS.findall(choice)) == 1:
                # If there are several numbers, each of them may mean anything.
                if len(numbers) == 1 and any(
                    same_value(digits, cleaned(choice)) for digits in alone
                ):
                    letters.append(self.letters[i])
                continue
            pattern = rf"(?<!\w){re.escape(choice)}(?!\w|[.,]\d)"
            if len(choice) < 2 or (choice in _YES_OR_NO and not after):
                continue
            matches = list(re.finditer(pattern, rest))
            if any(not _NEGATED.search(rest[: match.start()][-12:]) for match in matches):
                letters.append(self.letters[i])
            if matches and self.choices.count(self.choices[i]) == 1:
                rest = re.sub(pattern, "\0", rest)
        return letters


def _plain(text: str) -> str:
    """Remove emphasis, dollar signs, and LaTeX commands around words."""
    text = _WRAPPED.sub(r"\1", re.sub(r"\\[ ,;]|~", " ", text.replace(r"\!", "")))
    return _DECORATION.sub("", text)


def _is_letter(text: str) -> bool:
    return len(text) == 1 and text.isascii() and text.isalpha()


def _letter(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return next(groups[name] for name in ("letter", "inside", "small") if groups.get(name)).upper()
