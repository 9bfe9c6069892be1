"""Tokenizes English text according to the rules of spaCy's tokenizer (MIT license).

spaCy itself is not used because it would be a large dependency for one function.

Text is split at spaces. Prefixes and suffixes are removed repeatedly from each piece. The rest of
the piece is split at infixes, unless the rest is a URL or a word with its own rule. The rules are
those of explosion/spaCy, version 3.8: spacy/tokenizer.pyx,
spacy/lang/{punctuation,char_classes,tokenizer_exceptions}.py, and
spacy/lang/en/{punctuation,tokenizer_exceptions}.py. There are two differences. Symbols, and letters
that are not Latin, Greek, or Cyrillic, are recognized by their Unicode blocks. The rule for URLs is
simpler than spaCy's. `tests/test_text/test_english.py` measures the agreement.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, product
from typing import NamedTuple

LONGEST_SUFFIX = 4
LOOKED_BACK = 2
"""The number of characters that the rules for suffixes examine before a suffix."""

# A URL has a scheme, a user, a host, a port, and a path. The host contains a period, or consists
# of four numbers. It ends in lowercase letters, so "end.Next" is not a host. Possessive repeats
# keep matching fast for long pieces.
_ADDRESS = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*+://)?(?:[^\s/@]++@)?"
    r"(?:(?:[^\W_]++(?:-++[^\W_]++)*+\.)++[a-z]{2,}+|\d{1,3}(?:\.\d{1,3}){3})"
    r"(?::\d++)?(?:[/?#]\S*+)?\Z"
)


def english_tokens(text: str) -> list[str]:
    """Return the tokens of a text, in order. Whitespace other than a single space is a token, too.

    >>> english_tokens("It's a city-state (of 3.5%).")
    ['It', "'s", 'a', 'city', '-', 'state', '(', 'of', '3.5', '%', ')', '.']
    """
    rules = _rules()
    pieces: list[tuple[str, bool]] = []
    known: dict[str, Sequence[str]] = {}
    for piece, spaced in _pieces(text):
        # Cache the tokens, since most pieces of a long text occur many times.
        tokens = known.get(piece) or known.setdefault(piece, _cut(piece, rules))
        pieces += [(token, False) for token in tokens[:-1]]
        pieces.append((tokens[-1], spaced))
    return _joined(pieces, rules)


class _Rules(NamedTuple):
    words: Mapping[str, Sequence[str]]
    runs: Mapping[tuple[str, ...], str]
    """The words in `words` that the general rules would split. Each key is the tokens into which
    the general rules would split the word."""
    longest: Mapping[str, int]
    """The maximum number of tokens in a key of `runs`, for each first token."""
    letters: int
    """The maximum length of a word with its own rule, in characters."""
    prefix: re.Pattern[str]
    suffix: re.Pattern[str]
    infix: re.Pattern[str]


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a text between spaces, and for each piece whether a space follows.
    Whitespace other than a single space between two words is a piece, too."""
    for match in re.finditer(r"(\s+)|(\S+)( ?)", text):
        blanks, word, space = match.groups()
        if blanks is None:
            yield word, bool(space)
        else:
            yield blanks, False


def _cut(piece: str, rules: _Rules, *, words: bool = True) -> Sequence[str]:
    known = rules.words if words else {}
    if piece in known:
        return known[piece]
    if piece.isspace():
        return [piece]
    before, middle, after = _stripped(piece, rules, known)
    if not middle:
        inner: Sequence[str] = ()
    elif middle in known:
        inner = known[middle]
    elif _ADDRESS.match(middle):
        inner = [middle]
    else:
        inner = _split(middle, rules.infix)
    return [*before, *inner, *reversed(after)]


def _stripped(
    piece: str, rules: _Rules, known: Mapping[str, Sequence[str]]
) -> tuple[list[str], str, list[str]]:
    """Split a piece into its prefixes (in order), the rest, and its suffixes (from last to
    first)."""

    def is_known(start: int, end: int) -> bool:
        # Only slices that are short enough to be a word are copied. Otherwise the time would be
        # quadratic in the length of the piece.
        return end - start <= rules.letters and piece[start:end] in known

    before: list[str] = []
    after: list[str] = []
    start, end = 0, len(piece)
    while start < end and not is_known(start, end):
        match = rules.prefix.match(piece, start, end)
        left = match.end() if match else start
        if left > start and is_known(left, end):
            before.append(piece[start:left])
            return before, piece[left:end], after
        right = _suffix_start(piece, left, end, rules.suffix)
        if right < end and is_known(start, right):
            after.append(piece[right:end])
            return before, piece[start:right], after
        if (left, right) == (start, end):
            break
        if left > start:
            before.append(piece[start:left])
        if right < end:
            after.append(piece[right:end])
        start, end = left, right
    return before, piece[start:end], after


def _suffix_start(piece: str, start: int, end: int, suffix: re.Pattern[str]) -> int:
    """Return the position at which the suffix of `piece[start:end]` begins, or `end` if there is no
    suffix."""
    dots = end
    while dots > start and piece[dots - 1] == ".":
        dots -= 1
    # A sequence of dots of any length is one suffix. Other suffixes have at most four characters.
    first = max(start, dots - LONGEST_SUFFIX)
    seen = max(start, first - LOOKED_BACK)
    match = suffix.search(piece[seen:end], first - seen)
    return seen + match.start() if match else end


def _split(middle: str, infix: re.Pattern[str]) -> list[str]:
    tokens: list[str] = []
    start = 0
    for match in infix.finditer(middle):
        if match.start() == 0:
            continue
        if match.start() > start:
            tokens.append(middle[start : match.start()])
        tokens.append(match[0])
        start = match.end()
    return [*tokens, middle[start:]] if start < len(middle) else tokens


def _joined(pieces: Sequence[tuple[str, bool]], rules: _Rules) -> list[str]:
    """Combine the pieces into the final tokens. If a run of pieces without spaces between them
    forms a word that has its own rule, that rule is applied. If such runs overlap, the longest is
    used; among runs of equal length, the first is used."""
    texts = [text for text, _ in pieces]
    runs = []
    for start, text in enumerate(texts):
        longest = rules.longest.get(text, 0)
        for end in range(start + 1, min(start + longest, len(texts)) + 1):
            if tuple(texts[start:end]) in rules.runs:
                runs.append((start - end, start, end))
            if pieces[end - 1][1]:
                break
    taken: dict[int, int] = {}
    seen: set[int] = set()
    for _, start, end in sorted(runs):
        if start not in seen and end - 1 not in seen:
            taken[start] = end
            seen.update(range(start, end))
    tokens: list[str] = []
    position = 0
    while position < len(texts):
        end = taken.get(position, position + 1)
        if position in taken:
            tokens += rules.words[rules.runs[tuple(texts[position:end])]]
        else:
            tokens.append(texts[position])
        position = end
    return tokens


# -- rules

_PUNCTUATION = "…,:;!?¿؟¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪"  # noqa: RUF001
_QUOTES = "'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉〈〉⟦⟧"  # noqa: RUF001
_CURRENCIES = r"\$|£|€|¥|฿|US\$|C\$|A\$|₽|﷼|[₠-₿]"
_UNITS = (
    "km²|km³|km|m²|m³|m/s|mm²|mm³|mm|mph|mbar|mb|mg|m|dm²|dm³|dm|cm²|cm³|cm|ha|µm|µg|nm|yd|in|ft|"
    "kg|kmh|kb|g|gb|t|tb|lb|oz|hPa|Pa|MB|M|KB|K|kB|GB|G|TB|T|%"
)
_SYMBOLS = (
    "¦©®°\u2100\u2101\u2103-\u2106\u2108\u2109\u2114\u2116\u2117\u211e-\u2123\u2195-\u2199"
    "\u219c-\u21f3\u2300-\u2307\u230c-\u23db\u2440-\u244a\u249c-\u24e9\u2500-\u25b6\u25b8-\u25c0"
    "\u25c2-\u25f7\u2600-\u266e\u2670-\u2767\u2794-\u27bf\u2800-\u28ff\u2b00-\u2b2f\u2b45-\u2b95"
    "\u2e80-\u2fff\u3004\u3012\u3013\u3020\u3036\u3037\u303e\u303f\u3190\u3191\u3196-\u319f"
    "\u31c0-\u31e3\u3200-\u33ff\u4dc0-\u4dff\ufffc\ufffd\U0001f000-\U0001f3fa\U0001f400-\U0001fa6d"
)
_UNCASED = (
    "\u0591-\u05f4\u0620-\u064a\u066e-\u06d5\u06e5-\u06ff\u0750-\u077f\u0900-\u097f\u0980-\u09ff"
    "\u0b80-\u0bff\u0c00-\u0c7f\u0c80-\u0cff\u0d80-\u0dff\u1200-\u137f\u3040-\u30ff\u4e00-\u9fff"
    "\uac00-\ud7af\u1100-\u11ff"
)
_CASED = (*range(0x41, 0x24F), *range(0x386, 0x4FF), *range(0x1E00, 0x1EFF), *range(0xFF21, 0xFF5B))
_HYPHENS = "---|--|——|[-–—~]"  # noqa: RUF001


@cache
def _rules() -> _Rules:
    lower = "".join(chr(c) for c in _CASED if chr(c).islower() and c not in (0xAA, 0xB5, 0xBA))
    upper = "".join(chr(c) for c in _CASED if chr(c).isupper())
    lower, upper, alpha = lower + _UNCASED, upper + _UNCASED, lower + upper + _UNCASED
    quotes, marks = re.escape(_QUOTES), re.escape(_PUNCTUATION + _QUOTES)
    prefix = rf"[§%=—–]|\+(?![0-9])|……|[{marks}]|\.\.+|{_CURRENCIES}|[{_SYMBOLS}]"  # noqa: RUF001
    suffix = (
        rf"(?:……|[{marks}{_SYMBOLS}—–]|\.\.+|['’][sS]|(?<=[0-9])\+|(?<=°[FfCcKk])\."  # noqa: RUF001
        rf"|(?<=[0-9])(?:{_CURRENCIES}|{_UNITS})"
        rf"|(?<=[0-9{lower}%²+|\-{marks}])\.|(?<=[{upper}][{upper}])\.)$"
    )
    infix = (
        rf"\.\.+|…|[{_SYMBOLS}]|(?<=[0-9])[+\-*^](?=[0-9-])"
        rf"|(?<=[{lower}{quotes}])\.(?=[{upper}{quotes}])|(?<=[{alpha}]),(?=[{alpha}])"
        rf"|(?<=[{alpha}0-9])(?:{_HYPHENS})(?=[{alpha}])|(?<=[{alpha}0-9])[:<>=/](?=[{alpha}])"
    )
    words = _words()
    letters = max(map(len, words))
    patterns = re.compile(prefix), re.compile(suffix), re.compile(infix)
    rules = _Rules(words, {}, {}, letters, *patterns)
    runs = {
        tuple(_cut(word, rules, words=False)): word
        for word in words
        if not word.isspace()
        and (rules.prefix.match(word) or rules.infix.search(word) or rules.suffix.search(word))
    }
    longest: dict[str, int] = {}
    for run in runs:
        longest[run[0]] = max(longest.get(run[0], 0), len(run))
    return rules._replace(runs=runs, longest=longest)


# fmt: off
_PRONOUNS = ("i", "you", "he", "she", "it", "we", "they")
_ASKING = ("who", "what", "when", "where", "why", "how", "there", "that", "this", "these", "those")
_NOT = ("ca", "could", "do", "does", "did", "had", "may", "might", "must", "need", "ought", "sha",
        "should", "wo", "would")
_NOT_ALONE = ("ai", "are", "is", "was", "were", "have", "has", "dare")
_HAVE = ("could", "might", "must", "should", "would")
_AS_WRITTEN = (
    "\t \\t \n \\n — \u00a0 ' \\\") <space> '' C++ ä. ö. ü. 'S 's ‘S ‘s and/or w/o 're 'Cause "  # noqa: RUF001
    "'cause 'cos 'Cos 'coz 'Coz 'cuz 'Cuz 'bout ma'am Ma'am o'clock O'clock em 'em ll 'll nuff "
    "'nuff Mt. Ak. Ala. Apr. Ariz. Ark. Aug. Calif. Colo. Conn. Dec. Del. Feb. Fla. Ga. Ia. Id. "
    "Ill. Ind. Jan. Jul. Jun. Kan. Kans. Ky. La. Mar. Mass. Mich. Minn. Miss. N.C. N.D. N.H. N.J. "
    "N.M. N.Y. Neb. Nebr. Nev. Nov. Oct. Okla. Ore. Pa. S.C. Sep. Sept. Tenn. Va. Wash. Wis. 'd "
    "a.m. Adm. Bros. co. Co. Corp. D.C. Dr. e.g. E.g. E.G. Gen. Gov. i.e. I.e. I.E. Inc. Jr. Ltd. "
    "Md. Messrs. Mo. Mont. Mr. Mrs. Ms. p.m. Ph.D. Prof. Rep. Rev. Sen. St. vs. v.s. "
    ":) :-) :)) :-)) :))) :-))) (: (-: =) (= :] :-] [: [-: [= =] :o) (o: :} :-} 8) 8-) (-8 ;) ;-) "
    "(; (-; :( :-( :(( :-(( :((( :-((( ): )-: =( >:( :') :'-) :'( :'-( :/ :-/ =/ =| :| :-| ]= =[ "
    ":1 :P :-P :p :-p :O :-O :o :-o :0 :-0 :() >:o :* :-* :3 :-3 =3 :> :-> :X :-X :x :-x :D :-D "
    ";D ;-D =D xD XD xDD XDD 8D 8-D ^_^ ^__^ ^___^ >.< >.> <.< ._. ;_; -_- -__- v.v V.V v_v V_V "
    "o_o o_O O_o O_O 0_o o_0 0_0 o.O O.o O.O o.o 0.0 o.0 0.o @_@ <3 <33 <333 </3 (^_^) (-_-) "
    "(._.) (>_<) (*_*) (¬_¬) ಠ_ಠ ಠ︵ಠ (ಠ_ಠ) ¯\\(ツ)/¯ (╯°□°）╯︵┻━┻ ><(((*>"
)
_CUT = (
    "y' all|y all|how 'd 'y|How 'd 'y|not 've|not ve|Not 've|Not ve|can not|Can not|gon na|Gon na|"
    "got ta|Got ta|let 's|Let 's|c'm on|C'm on"
)
_ALONE = ("Ill", "ill", "Its", "its", "Hell", "hell", "Shell", "shell", "Shed", "shed", "were",
          "Were", "Well", "well", "Whore", "whore")
# fmt: on


def _words() -> Mapping[str, Sequence[str]]:
    """The words that have their own rules. Maps each word to its tokens."""
    cut: list[Sequence[str]] = []

    def add(stems: Sequence[str], *endings: str) -> None:
        """Add all combinations of a stem and an ending, with lowercase and capitalized stems, and
        with and without apostrophes."""
        for stem, ending, mark in product(stems, endings, ("'", "")):
            parts = ending.replace("'", mark).split(" ")
            cut.extend([[stem, *parts], [stem.title(), *parts]])

    add(["i"], "'m", "'m a")
    add(_PRONOUNS, "'ll", "'ll 've", "'d", "'d 've")
    add(["i", "you", "we", "they"], "'ve")
    add(["you", "we", "they"], "'re")
    add(["he", "she", "it"], "'s")
    add(_ASKING[:9], "'s")
    add(_ASKING, "'ll", "'ll 've", "'d", "'d 've")
    add([*_ASKING[:7], *_ASKING[9:]], "'re", "'ve")
    add(_NOT, "n't", "n't 've")
    add(_NOT_ALONE, "n't")
    add(_HAVE, "'ve")
    cut += [[str(h), half] for h in range(1, 13) for half in ("a.m.", "am", "p.m.", "pm")]
    cut += [parts.split(" ") for parts in _CUT.split("|")]
    cut += [["°", letter, "."] for letter in "cfkCFK"]
    exceptions: dict[str, Sequence[str]] = {"".join(parts): parts for parts in cut}
    unsplit = chain(
        (f"{letter}." for letter in "abcdefghijklmnopqrstuvwxyz"),
        (
            f"{word}{mark}"
            for stem in ["doin", "goin", "nothin", "nuthin", "ol", "somethin", "lovin", "havin"]
            for word in (stem, stem.title())
            for mark in ("", "'")
        ),
        _AS_WRITTEN.split(" "),
    )
    exceptions |= {word: [word] for word in unsplit}
    curly = {
        word.replace("'", "’"): [part.replace("'", "’") for part in parts]  # noqa: RUF001
        for word, parts in exceptions.items()
    }
    every = {**exceptions, **curly}
    return {word: parts for word, parts in every.items() if word not in _ALONE}
