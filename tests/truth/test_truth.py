"""What the parsers read is what people read: precision and recall on labelled published replies."""

import pytest

from tests.truth.labelled import labelled, packs
from tests.truth.readings import PAGE, filled, free_answers, letters, official, parts, robust, tally

# Answered, of these as labelled, and labelled with an answer. A rule that is changed may read more;
# it may not read one reply wrongly that was read rightly, nor leave one.
ROBUST = {
    "letter": (286, 286, 290),
    "short": (135, 134, 147),
    "count": (15, 15, 15),
    "yes/no": (107, 107, 109),
}
OFFICIAL = {
    ("mathvision", "letter"): (34, 34, 46),
    ("mathvision", "short"): (80, 75, 79),
    ("mme", "yes/no"): (70, 70, 70),
    ("mmmu", "letter"): (46, 44, 45),
    ("mmmu", "short"): (22, 22, 22),
    ("mmmu_pro", "letter"): (110, 103, 103),
    ("pope", "yes/no"): (5, 5, 5),
    ("scienceqa", "letter"): (9, 9, 9),
}


@pytest.mark.parametrize("kind", ROBUST)
def test_our_parsers_read_at_least_as_much_and_no_more_of_it_wrongly(kind: str) -> None:
    total = tally(read for pack in packs() for read in robust(pack) if read.kind == kind)
    answered, right, wanted = ROBUST[kind]

    assert total.wanted == wanted
    assert total.right >= right
    assert total.answered - total.right <= answered - right


def test_no_rule_that_finds_a_letter_finds_a_wrong_one() -> None:
    reads = [read for pack in packs() for read in robust(pack) if read.kind == "letter"]

    assert [read for read in reads if read.answered and not read.right] == []


# Before a reply of one sentence was read, robust had 187, 77, and 162.
@pytest.mark.parametrize(
    ("name", "measured"), [("robust", (134, 123, 162)), ("default", (187, 74, 162))]
)
def test_free_answers_of_own_rows_are_read_as_measured(
    name: str, measured: tuple[int, int, int]
) -> None:
    total = tally(free_answers(name))

    assert (total.answered, total.right, total.wanted) == measured


@pytest.mark.parametrize(("pack", "kind"), OFFICIAL)
def test_official_rules_read_what_they_were_measured_to(pack: str, kind: str) -> None:
    total = tally(read for read in official(pack) if read.kind == kind)

    assert (total.answered, total.right, total.wanted) == OFFICIAL[pack, kind]


def test_every_label_has_its_reply() -> None:
    assert sum(len(labelled(pack)) for pack in packs()) == 654


def test_vlmevalkit_is_read_by_its_own_rule_where_it_asks_for_steps() -> None:
    steps = [
        tally(read for read in letters(name) if read.source.endswith("_cot"))
        for name in ("VLMEvalKit", "VLMEvalKit, special rule for MMMU-Pro")
    ]

    # Of 49 labelled replies step by step, all with an answer: its letters leave 30 open.
    assert [(total.answered, total.right, total.wanted) for total in steps] == [
        (19, 19, 49),
        (48, 48, 49),
    ]


def test_the_page_has_the_tables_as_they_are() -> None:
    page = PAGE.read_text()

    assert filled(page, parts()) == page, "run python -m tests.truth.readings"
