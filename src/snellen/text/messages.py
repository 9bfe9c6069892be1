"""Error messages as they are stored and printed: of bounded length, without control codes."""

import re

LONGEST = 2000
"""Longer messages are cut to this many characters."""
CUT = " […] "
# Control codes except tab and line feed, marks that reverse text direction, lone surrogates.
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""The text with control codes escaped. They can move a terminal's cursor or change its title,
    and lone surrogates cannot be stored.

    >>> printable("\x1b[31mred")
    '\\x1b[31mred'
    """
    return UNPRINTABLE.sub(_escaped, text)


def shortened(text: str, limit: int = LONGEST) -> str:
    """The text, or its beginning and end where it has more than `limit` characters.

    >>> shortened("abcdefghijklmnop", limit=11)
    'abc […] nop'
    """
    if len(text) <= limit:
        return text
    half = (limit - len(CUT)) // 2
    return f"{text[:half]}{CUT}{text[-half:]}"


def message_of(error: BaseException) -> str:
    """What an exception says, ready to be stored; its own `__str__` may fail."""
    try:
        text = str.__str__(str(error))  # a plain string, also of an instance of a subclass
    except Exception:
        return "(its message cannot be read: its __str__ raises an exception)"
    return printable(shortened(text))


def type_of(value: object) -> str:
    """The type of a value, with its article.

    >>> type_of(5), type_of("a"), type_of(None)
    ('an int', 'a str', 'None')
    """
    name = type(value).__name__
    if value is None:
        return "None"
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
