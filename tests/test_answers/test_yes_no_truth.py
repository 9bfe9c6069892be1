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


class ReplyCounts(NamedTuple):
    """Replies that a rule reads, those of them read as their readers do, and those that say yes or
    no."""

    read: int
    right: int
    with_answer: int


@cache
def replies() -> tuple[Labelled, ...]:
    every = (reply for pack in packs() for reply in labelled(pack))
    return tuple(reply for reply in every if reply.kind == "yes/no")


def count_replies(rule: Rule) -> ReplyCounts:
    pairs = [(rule(reply), reply.answer) for reply in replies()]
    return ReplyCounts(
        read=sum(reading is not None for reading, _ in pairs),
        right=sum(reading is not None and reading == answer for reading, answer in pairs),
        with_answer=sum(answer is not None for _, answer in pairs),
    )


def ours(reply: Labelled) -> str | None:
    return yes_or_no(reply.text, reply.sample.question).answer


def by(parse: Callable[..., object]) -> Rule:
    def rule(reply: Labelled) -> str | None:
        answer: str | None = getattr(parse(Reply(text=reply.text), reply.sample), "answer")  # noqa: B009
        return answer

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
    counts = count_replies(rule)
    assert counts.with_answer == 109
    assert counts.right / counts.read >= precision - 1e-9, counts
    assert counts.right / counts.with_answer >= recall - 1e-9, counts


def test_each_rule_of_ours_that_fires_is_right() -> None:
    by_rule: dict[str, list[bool]] = {}
    for reply in replies():
        reading = yes_or_no(reply.text, reply.sample.question)
        if reading.answer is not None:
            by_rule.setdefault(reading.rule, []).append(reading.answer == reply.answer)
    assert all(all(right) for right in by_rule.values())
    assert {rule: len(right) for rule, right in by_rule.items()} == {
        "alone": 20,
        "begins with": 86,
        "called out": 1,
    }
