"""Numbers in words, as word2number 1.1 reads them."""

import pytest

from snellen.text.number_words import word2number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("two hundred and five", "205"),
        ("Twenty-One", "21"),
        ("two objects", "2"),
        ("no one", "1"),
        ("one of the four", "5"),
        ("one two three four five", "1"),
        ("two thousand three hundred four", "2304"),
        ("two million three thousand", "2004003"),
        ("three point one four", "3.14"),
        ("three point twelve", "3"),
        ("two point zero", "2.0"),
        ("point", "0"),
        ("007", "7"),
        ("thousand", "1000"),
        ("thousand one", None),
        ("thousand two million", None),
        ("one thousand thousand", None),
        ("one point two point three", None),
        ("3.5", None),
        ("²", None),
        ("three.", None),
        ("", None),
    ],
)
def test_a_text_is_the_number_that_word2number_finds(text: str, number: str | None) -> None:
    assert word2number(text) == number
