"""English tokens: those of spaCy 3.8.18, `spacy.blank("en")`, which is what stands here.

Beside these, both were run on the 4,500 texts of the golden pack of VCR and on 4,000 models'
replies and pages of documentation (315,781 tokens): no text is cut otherwise. Of 60,000 texts
that were put together at random from the words with rules of their own, 3 are, where two
emoticons or pairs of apostrophes touch. What is taken for an address was made simpler since: no
line of 118,683 of the golden packs is cut otherwise for it.
"""

# ruff: noqa: RUF001

import pytest

from snellen.text.english import english_tokens

CUT: tuple[tuple[str, list[str]], ...] = (
    (
        "It's a city-state (of 3.5%).",
        ["It", "'s", "a", "city", "-", "state", "(", "of", "3.5", "%", ")", "."],
    ),
    (
        "I can't, won't and shan't've.",
        ["I", "ca", "n't", ",", "wo", "n't", "and", "sha", "n't", "'ve", "."],
    ),
    ("She’s John’s", ["She", "’s", "John", "’s"]),
    ("cannot", ["can", "not"]),
    ("gonna", ["gon", "na"]),
    ("well", ["well"]),
    ("Its", ["Its"]),
    ("its", ["its"]),
    ("10am", ["10", "am"]),
    ("10 a.m.", ["10", "a.m."]),
    ("U.S.", ["U.S."]),
    ("in the USA.", ["in", "the", "USA", "."]),
    ("Mr. Smith.", ["Mr.", "Smith", "."]),
    ("e.g., this", ["e.g.", ",", "this"]),
    ("and/or", ["and/or"]),
    ("w/o", ["w/o"]),
    ("(born) 1958-1999", ["(", "born", ")", "1958", "-", "1999"]),
    ("1,000 boats", ["1,000", "boats"]),
    ("a,b", ["a", ",", "b"]),
    ("end.Next", ["end", ".", "Next"]),
    ("3.5km", ["3.5", "km"]),
    ("5kg", ["5", "kg"]),
    ("35°C.", ["35", "°", "C", "."]),
    ("$5", ["$", "5"]),
    ("US$3", ["US$", "3"]),
    ("5€", ["5", "€"]),
    ("+5", ["+5"]),
    ("5+", ["5", "+"]),
    ("2^3", ["2", "^", "3"]),
    ("R&B", ["R&B"]),
    ("#1", ["#", "1"]),
    ("state–of", ["state", "–", "of"]),
    ("—so—", ["—", "so", "—"]),
    ("it ... stops", ["it", "...", "stops"]),
    ("wait…", ["wait", "…"]),
    ('"quoted"', ['"', "quoted", '"']),
    ("«dit»", ["«", "dit", "»"]),
    ("http://a.org/x?y=1", ["http://a.org/x?y=1"]),
    ("foo@bar.org", ["foo@bar.org"]),
    ("A/B", ["A", "/", "B"]),
    ("7:30", ["7:30"]),
    ("key:value", ["key", ":", "value"]),
    ("two  spaces", ["two", " ", "spaces"]),
    ("a\nb", ["a", "\n", "b"]),
    (" lead", [" ", "lead"]),
    ("tail ", ["tail"]),
    (":) ok", [":)", "ok"]),
    ("are: (born)", ["are", ":", "(", "born", ")"]),
    ("(8)", ["(", "8)"]),
    ("☺ok", ["☺", "ok"]),
    ("don't.", ["do", "n't", "."]),
    ("o'clock", ["o'clock"]),
    ("rock'n'roll", ["rock'n'roll"]),
    ("Élan.", ["Élan", "."]),
    ("中文,b", ["中文", ",", "b"]),
    ("x.", ["x."]),
    ("''", ["''"]),
    ("of.)", ["of", ".", ")"]),
)


@pytest.mark.parametrize(("text", "tokens"), CUT)
def test_a_text_is_cut_as_spacy_cuts_it(text: str, tokens: list[str]) -> None:
    assert english_tokens(text) == tokens


def test_nothing_has_no_tokens() -> None:
    assert english_tokens("") == []


def test_an_emoticon_is_one_only_where_nothing_stands_between() -> None:
    assert english_tokens("so:(") == ["so", ":("]
    assert english_tokens("so: (") == ["so", ":", "("]


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("!" * 20_000, 20_000),
        ("." * 20_000, 1),
        ("(" * 10_000 + "a", 10_001),
        ("(" * 160_000, 160_000),
        (".)" * 40_000, 80_000),
        ("a:" * 10_000, 20_000),
        ("a." * 10_000, 2),
        ("a.b/" * 10_000, 19_999),
    ],
)
def test_a_piece_without_an_end_is_cut_too(text: str, n: int) -> None:
    assert len(english_tokens(text)) == n
