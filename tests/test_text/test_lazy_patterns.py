"""A lazy pattern does what a compiled pattern does."""

import re

import pytest

from snellen.lazy import lazy_pattern

TEXT = r"(?P<word>[a-z]+)-(\d)"


def test_a_lazy_pattern_has_the_methods_and_attributes_of_a_compiled_one() -> None:
    lazy, compiled = lazy_pattern(TEXT, re.IGNORECASE), re.compile(TEXT, re.IGNORECASE)
    line = "Ab-1, c-2; d"
    for _ in range(2):  # the second time, the methods are stored
        assert lazy.findall(line) == compiled.findall(line) == [("Ab", "1"), ("c", "2")]
        assert [match.span() for match in lazy.finditer(line)] == [(0, 4), (6, 9)]
        assert lazy.sub("x", line) == "x, x; d"
        assert lazy.split(line, maxsplit=1) == compiled.split(line, maxsplit=1)
        assert lazy.match(line) and lazy.search(line, 5) and not lazy.fullmatch(line)
        assert (lazy.pattern, lazy.flags) == (compiled.pattern, compiled.flags)
        assert lazy.groupindex == compiled.groupindex


def test_an_invalid_pattern_is_an_error_when_it_is_used() -> None:
    lazy = lazy_pattern("(")
    with pytest.raises(re.error):
        lazy.search("text")


def test_a_pattern_has_no_other_attributes() -> None:
    with pytest.raises(AttributeError, match="serach"):
        lazy_pattern(TEXT).serach("text")  # type: ignore[attr-defined]
