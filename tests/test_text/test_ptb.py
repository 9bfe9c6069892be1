"""Penn Treebank tokens. What is expected is what Stanford CoreNLP 3.4.1 gave for these texts, with
-preserveLines -lowerCase, without coco-caption's list of punctuation. What is not done, the module
says."""

import pytest

from snellen.text.ptb import tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A man rides a horse.", "a man rides a horse"),
        ("  two   blanks\tand a tab ", "two blanks and a tab"),
        ("", ""),
        ("...", ""),
        ("cats,dogs; and: birds", "cats dogs and birds"),
        ("end.of line", "end.of line"),
        ("wow!! really??", "wow !! really ??"),
        ("hmm... ok....", "hmm ok"),
        ("a -- b --- c - d", "a b c d"),
        ("a\u2014b", "a b"),
    ],
)
def test_words_and_punctuation(text: str, expected: str) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("don't can't won't", "do n't ca n't wo n't"),
        ("cannot gonna wanna gotta lemme gimme", "can not gon na wan na got ta lem me gim me"),
        ("a man's dogs' balls", "a man 's dogs balls"),
        ("it's they're I'll we've he'd I'm", "it 's they 're i 'll we 've he 'd i 'm"),
        ("it\u2019s isn\u2019t", "it 's is n't"),
        ("rock'n'roll 'tis o'clock O'Brien", "rock 'n' roll 't is o'clock o'brien"),
        ("y'all ma'am 'em the '90s the 90's", "y' all ma'am 'em the '90s the 90 's"),
        ("don`t", "do n`t"),
        (
            "the o\u2019clock \u2019em \u201990s dog\u2019s don\u2019t",
            "the o\u2019clock \u2019em \u201990s dog 's do n't",
        ),
        ("d'Or l'a y'know Hawai'i ol' c'mon a'b", "d'or l' a y' know hawai'i ol' c'mon a b"),
    ],
)
def test_apostrophes(text: str, expected: str) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\"style\" 'a' \u201ca\u201d", "style a a"),
        ("(fast) [slow]", "-lrb- fast -rrb- -lsb- slow -rsb-"),
        ("{a}", "-lcb- a -rcb-"),
        (":) ;-)", ":-rrb- ;--rrb-"),
    ],
)
def test_quotation_marks_are_dropped_and_brackets_stay_by_name(text: str, expected: str) -> None:
    # coco-caption's list has -LRB- in capitals, and the tokens are in small letters.
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$1,000.50 US$5 100%", "$ 1,000.50 us$ 5 100 %"),
        ("10:30 a.m. 5pm 1st 3-year-old", "10:30 a.m. 5pm 1st 3-year-old"),
        ("6'2\" 12ft.", "6 2 12ft"),
        ("1/2 a pizza, \u00bd a cup", "1/2 a pizza 1/2 a cup"),
        ("3 1/2 cups", "3\u00a01/2 cups"),
        ("$5 3/4-inch 1.5 1/2", "$ 5\u00a03/4 inch 1.5 1/2"),
        (
            "10:30-11:00 10:30am 2.5-inch 1.5kg +5 -5 (-5)",
            "10:30 -11:00 10:30 am 2.5-inch 1.5 kg +5 -5 -lrb- -5 -rrb-",
        ),
        ("No. 1 of fig. 2, no. man", "no. 1 of fig. 2 no man"),
        ("\u00a35 \u20ac5", "# 5 $ 5"),
        ("5\u00b0 m\u00b2", "5 \u00b0 m \u00b2"),
    ],
)
def test_numbers(text: str, expected: str) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Smith on Main St.", "mr. smith on main st."),
        ("etc. Wash. wash. ark.", "etc. wash. wash ark"),
        ("the U.S. flag, a tv. set", "the u.s. flag a tv set"),
        ("section B.", "section b."),
        ("plan B. The end", "plan b the end"),
        ("plan B. an end", "plan b. an end"),
        ("vs. the team", "vs. the team"),
        ("J. K. Rowling", "j. k. rowling"),
        ("plan B. Mr. Smith, plan B. I am", "plan b mr. smith plan b. i am"),
        ("U.S.-based p.m. The a.k.a. Ph.D.", "u.s.-based p.m. the a.k.a. ph.d."),
        ("dog., dog.; dog.: dog.) dog.!", "dog. dog. dog. dog -rrb- dog"),
    ],
)
def test_abbreviations(text: str, expected: str) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t-shirt black-and-white pre-", "t-shirt black-and-white pre"),
        ("cat/dog and/or w/ w/o a/b/c", "cat/dog and/or w / w/o a/b/c"),
        ("AT&T a&b B&W's", "at&t a & b b&w 's"),
        ("a_b c*d e+f g=h", "a_b c * d e + f g = h"),
        ("http://a.com/b. www.a.com", "http://a.com/b www.a.com"),
        ("#tag @user # 5", "#tag @user # 5"),
        ("caf\u00e9-bar na\u00efve \u732b", "caf\u00e9-bar na\u00efve \u732b"),
        ("a \U0001f600 b a\U0001f600b", "a b a b"),
        ("yes!No one.Two-three w/o a/b/c/d", "yes!no one.two-three w/o a/b/c / d"),
        ("a \u2605 b\u00b2 \u2026 c\u00addef \u200b\u2103", "a \u2605 b \xb2 cdef \u2103"),
        ("** ## __ !?! ***a*** ---", "** ## __ !?! *** a ***"),
        ("<b>bold</b> a<b <3", "<b> bold </b> a < b < 3"),
    ],
)
def test_joined_words_and_signs(text: str, expected: str) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("sign", "n"),
    [
        ("a", 1),
        ("1", 1),
        ("(", 200_000),
        (".", 0),
        ("'", 0),
        ("a-", 1),
        ("a.", 1),
        ("1.", 1),
        ("a'", 100_000),
        ("<a", 200_000),
        ("http://.", 1),
    ],
)
def test_a_word_of_very_many_signs_has_tokens_too(sign: str, n: int) -> None:
    # Were a rule's time the square of a word's length, this would not end.
    assert len(tokens((sign * 200_000)[:200_000]).split()) == n
