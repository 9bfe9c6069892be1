"""The letters that others' code reads in 600 generated replies, by rules that no golden pack has.

`scripts/draw_choice_letters.py` made the file from clones of their repositories.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from snellen import registry
from snellen.core.model import Reply
from snellen.core.sample import Sample

CHOICES = ("none of the above", "Yes", "red car", "left", "The object is not in the image.")
RULES = {
    "mme_realworld_vlmevalkit": ("mme-realworld", "vlmevalkit", 5),
    "visulogic_vlmevalkit": ("visulogic", "vlmevalkit", 4),
    "muirbench_official": ("muirbench", "official", 5),
    "muirbench_lmms": ("muirbench", "lmms-eval", 5),
    "erqa_lmms": ("erqa", "lmms-eval", 4),
}


@cache
def rows() -> Sequence[Sequence[str]]:
    text = Path(__file__).with_name("choice_letters.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


@pytest.mark.parametrize("column", RULES)
def test_a_letter_is_read_as_the_others_code_reads_it(column: str) -> None:
    name, scoring, choices = RULES[column]
    parse = registry.benchmark(name, data=Path("synthetic")).scorings[scoring].parse
    sample = Sample(id="1", question="?", choices=CHOICES[:choices], target="A")
    header, *known = rows()
    index = header.index(column)
    ours = [parse(Reply(text=row[0]), sample).answer or "" for row in known]
    assert len(ours) == 600
    assert ours == [row[index] for row in known]


def test_every_rule_reads_letters_in_some_replies_and_none_in_others() -> None:
    header, *known = rows()
    assert {*header[1:]} == {*RULES}
    for column in zip(*known, strict=True):
        assert len({*column}) >= 5
