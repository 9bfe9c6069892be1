"""The document of an explained gap, which `snellen card --explain-gap --json` prints."""

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
    """The two-sided p of the permutation test of signs, not adjusted."""


class GapField(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A field in which the two ways of asking differ."""

    name: str
    """The name of the field, as in a profile or a recipe: `max_tokens`, `extra.top_k`."""
    base: str
    """Its value in the base."""
    recipe: str
    """Its value in the recipe."""
    reason: str = ""
    """Why it cannot be exchanged; empty if it can."""
    into: GapEffect | None = None
    """The base with the recipe's value, minus the base; None if it was not measured."""
    out: GapEffect | None = None
    """The recipe, minus the recipe with the base's value; None if it was not measured."""
    mean: GapEffect | None = None
    """The mean of both; None if it was not measured."""
    p: float | None = None
    """The p of the field: the smallest of its tests, times their number; None if not measured."""
    adjusted: float | None = None
    """p adjusted by Holm's method over all fields; None if not measured."""
    matters: bool = False
    """Whether the field moves the score, by `adjusted` or `after_p`."""
    share: float | None = None
    """`mean` as a fraction of the gap; None if not measured."""
    after: GapEffect | None = None
    """The effect after the field that matters singly was exchanged, the mean of both directions;
    None if it was not measured."""
    after_p: float | None = None
    """The p of `after`, adjusted over the other fields; None if it was not measured."""

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
    """Several fields that are exchanged together."""

    fields: list[str]
    """The names of the fields."""
    into: GapEffect
    """The base with the recipe's values, minus the base."""
    out: GapEffect
    """The recipe, minus the recipe with the base's values."""
    mean: GapEffect
    """The mean of both."""
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
    """The p of a pair of the search: the smallest of its tests, times their number; None of fields
    that matter singly."""
    adjusted: float | None = None
    """p adjusted by Holm's method over the pairs of the search."""


class Gap(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The difference between two ways of asking a benchmark, and the fields that make it."""

    format: int
    """The number of the format."""
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
    """The number of questions of the sample."""
    requests: int
    """The most requests that were announced, those with a stored reply included."""
    kind: GapKind
    """The outcome."""
    fields: list[GapField]
    """The fields in which the ways differ."""
    base: MetricReport | None = None
    """The mean score of the base on the questions of the gap, as a fraction of the best score; None
    if it was not measured."""
    by_recipe: MetricReport | None = None
    """The mean score by the recipe on the same questions."""
    total: GapEffect | None = None
    """The gap: the recipe minus the base, on the questions that have a score both ways."""
    detectable: float | None = None
    """The smallest true gap that these questions detect with 80 % probability at 5 %."""
    matters: list[str] = []
    """The fields that make the gap."""
    rest: GapEffect | None = None
    """The gap without the effect of these fields; None if none matters."""
    groups: list[GapGroup] = []
    """The fields that were exchanged together."""
    runs: dict[str, str] = {}
    """The folder of each run, by the fields that have the recipe's values."""
    notes: list[str] = []
    """What limits the result."""
