"""How many labelled replies each rule of yes and no reads, and how many of them rightly.

The labels are of two readers (tests/truth/README.md); 111 replies, of which 109 say yes or no.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pytest

from snellen.answers.yes_no import yes_or_no
from snellen.benchmarks import mme, pope
from snellen.benchmarks.families.yes_no import vlmevalkit_answer
from snellen.core.model import Reply
from tests.truth.labelled import Labelled, labelled, packs

Rule = Callable[[Labelled], str | None]


class Measured(NamedTuple):
    """Replies that a rule reads, those of them read as their readers do, and those that say yes or
    no."""

    read: int
    right: int
    said: int


@cache
def replies() -> tuple[Labelled, ...]:
    every = (one for pack in packs() for one in labelled(pack))
    return tuple(one for one in every if one.kind == "yes/no")


def measured(rule: Rule) -> Measured:
    pairs = [(rule(one), one.answer) for one in replies()]
    return Measured(
        read=sum(found is not None for found, _ in pairs),
        right=sum(found is not None and found == answer for found, answer in pairs),
        said=sum(answer is not None for _, answer in pairs),
    )


def ours(one: Labelled) -> str | None:
    return yes_or_no(one.text, one.sample.question).answer


def by(parse: Callable[..., object]) -> Rule:
    def rule(one: Labelled) -> str | None:
        found: str | None = getattr(parse(Reply(text=one.text), one.sample), "answer")  # noqa: B009
        return found

    return rule


@pytest.mark.parametrize(
    ("rule", "precision", "recall"),
    [
        (ours, 1.0, 107 / 109),
        (by(pope.official_answer), 108 / 111, 108 / 109),
        (by(pope.lmms_answer), 1.0, 20 / 109),
        (by(mme.official_answer), 1.0, 106 / 109),
        (by(mme.lmms_answer), 1.0, 106 / 109),
        (by(vlmevalkit_answer), 1.0, 107 / 109),
    ],
)
def test_a_rule_reads_at_least_as_many_replies_as_it_did(
    rule: Rule, precision: float, recall: float
) -> None:
    found = measured(rule)
    assert found.said == 109
    assert found.right / found.read >= precision - 1e-9, found
    assert found.right / found.said >= recall - 1e-9, found


def test_each_rule_of_ours_that_fires_is_right() -> None:
    found: dict[str, list[bool]] = {}
    for one in replies():
        reading = yes_or_no(one.text, one.sample.question)
        if reading.answer is not None:
            found.setdefault(reading.rule, []).append(reading.answer == one.answer)
    assert all(all(right) for right in found.values())
    assert {rule: len(right) for rule, right in found.items()} == {
        "alone": 20,
        "begins with": 86,
        "called out": 1,
    }
