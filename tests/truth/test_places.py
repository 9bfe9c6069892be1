"""The parser of boxes and points on replies that were labelled before it was written."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from snellen.answers.places import final_places, single_answer

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__).with_name("places.jsonl").read_text(encoding="utf-8").splitlines()
]


def test_there_are_enough_replies_in_enough_forms() -> None:
    forms = Counter(row["form"] for row in ROWS)
    assert len(ROWS) >= 300
    assert len(forms) >= 10


def test_no_place_is_wrong_and_almost_all_are_found() -> None:
    parsed = [(row, [[*numbers] for numbers in final_places(row["text"]).answers]) for row in ROWS]
    wrong = [(row["text"], places) for row, places in parsed if places and places != row["places"]]
    assert wrong == []
    labelled = [places == row["places"] for row, places in parsed if row["places"]]
    assert sum(labelled) / len(labelled) >= 0.98


@pytest.mark.parametrize("form", sorted({row["form"] for row in ROWS}))
def test_each_form_is_parsed(form: str) -> None:
    rows = [row for row in ROWS if row["form"] == form]
    right = [
        [[*numbers] for numbers in final_places(row["text"]).answers] == row["places"]
        for row in rows
    ]
    assert sum(right) / len(right) >= 0.9


def test_several_places_are_not_one_answer() -> None:
    assert single_answer("Either (10, 20) or (30, 40).") == ((), "several places")
    assert single_answer("(10, 20), that is (10, 20)").answers == ((10, 20),)


@pytest.mark.parametrize("text", ["[" * 20_000, "1," * 20_000, "<point " * 5_000, "x=1 " * 20_000])
def test_a_hostile_reply_is_parsed_in_time(text: str) -> None:
    assert isinstance(final_places(text).rule, str)
