"""The types of an explained gap, as `snellen card --explain-gap --json` prints it."""

from __future__ import annotations

from typing import Literal

import msgspec

from snellen.scoring import MetricReport

GapKind = Literal[
    "alike",
    "noise",
    "field",
    "added",
    "joint",
    "either",
    "opposed",
    "pair",
    "unexplained",
    "unfinished",
]
"""The outcome: nothing differs; no significant difference; a single field; fields whose effects add
up; fields that do more together than the sum of their effects; fields that do less, because they
make each other needless; fields that move the score in opposite directions, and whose effects do
not add up; no single field, but a pair; neither; or an interrupted search."""


class GapEffect(msgspec.Struct, frozen=True, kw_only=True):
    """A paired difference of scores, as a fraction of the best score."""

    difference: MetricReport
    """The mean difference with its 95 % interval."""
    p: float
    """The two-sided p value of the permutation test of signs, not adjusted."""


class GapField(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A field in which the two configurations differ, with its effect on the score."""

    name: str
    """The name of the field, as in a profile or a recipe: `max_tokens`, `extra.top_k`."""
    base: str
    """The field's value in the base."""
    recipe: str
    """The field's value in the recipe."""
    reason: str = ""
    """Why the field cannot be exchanged; empty if it can be."""
    into: GapEffect | None = None
    """The effect of changing the base to the recipe's value of the field; None if it was not
    measured."""
    out: GapEffect | None = None
    """The score of the recipe minus its score with the base's value of the field; None if it was
    not measured."""
    mean: GapEffect | None = None
    """The mean of `into` and `out`; None if it was not measured."""
    p: float | None = None
    """The field's p value: the smallest p value of its tests, times the number of tests; None if
    not measured."""
    adjusted: float | None = None
    """The field's p value, adjusted by Holm's method over all fields; None if not measured."""
    matters: bool = False
    """Whether the field has a significant effect on the score, according to `adjusted` or
    `after_p`."""
    share: float | None = None
    """`mean` as a fraction of the gap; None if not measured."""
    after: GapEffect | None = None
    """The field's effect once the only field that matters by itself was exchanged, as the mean of
    both directions; None if it was not measured."""
    after_p: float | None = None
    """The p value of `after`, adjusted for the number of other fields; None if it was not
    measured."""

    @property
    def raises(self) -> bool:
        """Whether the recipe's value raises the score, by `mean`."""
        return self.mean is not None and (self.mean.difference.value or 0.0) > 0


class GapInteraction(msgspec.Struct, frozen=True, kw_only=True):
    """What fields do together beyond the sum of their single effects, in one direction. All values
    are of the questions that have a score in all ways, as fractions of the best score."""

    alone: list[float]
    """The effect of each field alone, in the order of the group's fields."""
    together: float
    """The effect of all together."""
    beyond: float
    """Into the base: together minus the sum of alone. Out of the recipe: that sum minus together,
    because each field alone already takes its part of the joint effect out."""


class GapGroup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Several fields that were exchanged together, with their joint effect."""

    fields: list[str]
    """The names of the fields."""
    into: GapEffect
    """The effect of changing the base to the recipe's values of these fields."""
    out: GapEffect
    """The score of the recipe minus its score with the base's values of these fields."""
    mean: GapEffect
    """The mean of `into` and `out`."""
    share: float
    """`mean` as a fraction of the gap."""
    interaction: GapEffect | None = None
    """What the fields do together beyond the sum of their single effects: the mean of
    `interaction_into` and `interaction_out`; None if the single effects were not measured."""
    interaction_into: GapInteraction | None = None
    """The interaction into the base; None if no question has a score in all ways."""
    interaction_out: GapInteraction | None = None
    """The interaction out of the recipe; None if no question has a score in all ways."""
    p: float | None = None
    """The p value of the group: the smallest p value of its tests, times the number of tests."""
    adjusted: float | None = None
    """The p value, adjusted by Holm's method over all pairs that were tried; None if the fields
    matter by themselves."""


class Gap(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The gap between the scores of two configurations of a benchmark, and the fields that cause
    it."""

    format: int
    """The version of the JSON format."""
    benchmark: str
    """The benchmark."""
    recipe: str
    """The recipe, as in `--recipe`."""
    model: str
    """The model."""
    against: str
    """What the recipe is compared with: `official`, or `own options`."""
    scoring: str
    """The scoring."""
    questions: int
    """The number of questions in the sample."""
    requests: int
    """The maximum number of requests, as announced before the search. It includes requests whose
    replies are already stored."""
    kind: GapKind
    """The outcome."""
    fields: list[GapField]
    """The fields in which the two configurations differ."""
    base: MetricReport | None = None
    """The mean score of the base on the questions of the gap, as a fraction of the best score; None
    if it was not measured."""
    by_recipe: MetricReport | None = None
    """The mean score by the recipe on the same questions."""
    total: GapEffect | None = None
    """The gap: the recipe minus the base, on the questions that have a score both ways."""
    detectable: float | None = None
    """The smallest true gap that a test at the 5 % level on these questions detects with 80 %
    probability."""
    matters: list[str] = []
    """The names of the fields that cause the gap."""
    rest: GapEffect | None = None
    """The part of the gap that the fields in `matters` do not explain; None if `matters` is
    empty."""
    groups: list[GapGroup] = []
    """The fields that were exchanged together."""
    runs: dict[str, str] = {}
    """Maps each combination of fields that have the recipe's values to its run folder."""
    notes: list[str] = []
    """Notes on what limits the result."""
