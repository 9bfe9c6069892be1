"""A judge measured against people where rules decide some of the replies."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from snellen.scoring import JudgeReport
from snellen.scoring.sections.judges import against
from snellen.store import LabelRecord

BY_RULES = [1.0, 1.0, 0.0, 0.0]
BY_JUDGE = [1.0] * 15 + [0.0] * 5
"""People take the first five of these for wrong, and agree with the rest."""


def measured(labels: dict[int, float]) -> JudgeReport:
    """By row: four that rules decided, then the judge's twenty."""
    score = np.array([*BY_RULES, *BY_JUDGE])
    positions = np.arange(len(score))
    return against(
        [
            LabelRecord(format=0, sample=str(row), label=label, seed="0")
            for row, label in labels.items()
        ],
        metric=None,
        rows={(str(row), 0): row for row in labels},
        score=score,
        cluster=positions,
        in_mean=np.ones(len(score), dtype=bool),
        judged=positions >= len(BY_RULES),
    )


PEOPLE = {4 + row: 0.0 if row < 5 else score for row, score in enumerate(BY_JUDGE)}


def test_what_rules_decided_counts_as_it_stands() -> None:
    agreement = measured(PEOPLE)
    assert agreement.judged.value == pytest.approx((2 + 15) / 24)
    assert agreement.corrected.value == pytest.approx((2 + 10) / 24)
    # All are labelled: 15 of 20 are right by the judge, sensitivity 1, specificity 1/2.
    assert agreement.rogan_gladen == pytest.approx((2 + 20 * (0.75 + 0.5 - 1) / 0.5) / 24)


def test_labels_of_what_rules_decided_say_nothing_of_the_judge() -> None:
    agreement = measured({0: 0.0, 1: 0.0, **PEOPLE})
    assert agreement == replace(measured(PEOPLE), notes=agreement.notes)
    assert agreement.notes == ["2 rows have replies that were scored by rules, not by a judge"]


def test_a_bias_is_no_share_whatever_values_it_has() -> None:
    """Differences are 0 and 1 here: a share's interval would lean to the middle."""
    bias = measured(PEOPLE).bias
    assert bias.value == 0.25
    assert bias.ci95 is not None
    assert sum(bias.ci95) == pytest.approx(2 * 0.25)


def test_grades_that_are_equal_share_the_mean_of_their_ranks() -> None:
    """By hand. The judge gave 1, 1, 1, 0, of which the ranks are 2, 2, 2, 0; the people gave 0.5,
    0.5, 0.9, 0, of which they are 1.5, 1.5, 3, 0. Both have the mean 1.5; products and squares of
    what is off it sum up to 3, 3, and 4.5."""
    agreement = measured({4: 0.5, 5: 0.5, 6: 0.9, 23: 0.0})
    assert agreement.spearman == pytest.approx(3 / math.sqrt(3 * 4.5))
