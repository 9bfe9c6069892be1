"""The types of the result of `snellen card --explain-gap --json`."""

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
"""The outcome of the search for the fields that cause a gap.

`alike` means that the configurations do not differ in any field that can be exchanged. `noise`
means that the gap is not significant. `field` means that a single field causes the gap. `added`
means that several fields cause the gap, and that their effects add up. `joint` means that several
fields do more together than the sum of their single effects. `either` means that several fields do
less together than the sum of their single effects, because each field makes the other fields
unnecessary. `opposed` means that fields move the score in opposite directions, and that their
effects do not add up. `pair` means that no single field explains the gap, but a pair of fields
does. `unexplained` means that neither a single field nor a pair explains the gap. `unfinished`
means that the search was interrupted.
"""


class GapEffect(msgspec.Struct, frozen=True, kw_only=True):
    """A paired difference of scores, as a fraction of the best score."""

    difference: MetricReport
    """The mean difference with its 95 % interval."""
    p: float
    """The two-sided p value of a permutation test of signs, without adjustment."""


class GapField(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A field in which the two configurations differ, with the field's effect on the score."""

    name: str
    """The name of the field, as in a profile or a recipe: `max_tokens`, `extra.top_k`."""
    base: str
    """The field's value in the base configuration."""
    recipe: str
    """The field's value in the recipe."""
    reason: str = ""
    """Why the field cannot be exchanged; empty if it can be exchanged."""
    into: GapEffect | None = None
    """The effect of giving the base configuration the recipe's value of the field; None if it was
    not measured."""
    out: GapEffect | None = None
    """The recipe's score minus the score of the recipe with the base's value of the field; None if
    it was not measured."""
    mean: GapEffect | None = None
    """The mean of `into` and `out`; None if these effects were not measured."""
    p: float | None = None
    """The smallest p value of the field's tests, multiplied by the number of tests; None if no
    effect was measured."""
    adjusted: float | None = None
    """`p` after Holm's correction over all fields; None if no effect was measured."""
    matters: bool = False
    """Whether the field has a significant effect on the score, according to `adjusted` or
    `after_p`."""
    share: float | None = None
    """`mean` as a fraction of the gap; None if no effect was measured."""
    after: GapEffect | None = None
    """The effect of exchanging this field in addition to another field, the only field that has a
    significant effect by itself. The effect is the mean of both directions; None if it was not
    measured."""
    after_p: float | None = None
    """The p value of `after`, adjusted for the number of other fields; None if `after` was not
    measured."""

    @property
    def raises(self) -> bool:
        """Whether `mean` is positive, so that the recipe's value raises the score."""
        return self.mean is not None and (self.mean.difference.value or 0.0) > 0


class GapInteraction(msgspec.Struct, frozen=True, kw_only=True):
    """The difference between the joint effect of several fields and the sum of their single
    effects, either in the base or in the recipe. All values are fractions of the best score, on the
    questions that have a score in every configuration."""

    alone: list[float]
    """The single effect of each field, in the order of `GapGroup.fields`."""
    together: float
    """The joint effect of all fields of the group."""
    beyond: float
    """The interaction of the fields. In the base, the interaction is `together` minus the sum of
    `alone`. In the recipe, the interaction is the sum of `alone` minus `together`, because
    resetting any single field already removes this field's part of the joint effect."""


class GapGroup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Several fields that were exchanged together, with their joint effect."""

    fields: list[str]
    """The names of the fields."""
    into: GapEffect
    """The effect of giving the base configuration the recipe's values of these fields."""
    out: GapEffect
    """The recipe's score minus the score of the recipe with the base's values of these fields."""
    mean: GapEffect
    """The mean of `into` and `out`."""
    share: float
    """`mean` as a fraction of the gap."""
    interaction: GapEffect | None = None
    """The mean of `interaction_into` and `interaction_out`; None if the single effects were not
    measured."""
    interaction_into: GapInteraction | None = None
    """The interaction of the fields in the base; None if no question has a score in every
    configuration."""
    interaction_out: GapInteraction | None = None
    """The interaction of the fields in the recipe; None if no question has a score in every
    configuration."""
    p: float | None = None
    """The smallest p value of the group's tests, multiplied by the number of tests."""
    adjusted: float | None = None
    """`p` after Holm's correction over all pairs that were tried; None if the group consists of
    fields with significant single effects."""


class Gap(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The gap between the scores of two configurations of a benchmark, with the fields that cause
    the gap."""

    format: int
    """The version of the JSON format."""
    benchmark: str
    """The benchmark."""
    recipe: str
    """The recipe's name, as in the option `--recipe`."""
    data_set: str = ""
    """The recipe's name for the benchmark's data set."""
    model: str
    """The model."""
    against: str
    """What the recipe is compared with: `official`, or `own options`."""
    scoring: str
    """The scoring."""
    questions: int
    """The number of questions in the sample."""
    requests: int
    """The maximum number of requests, as announced before the search. Requests whose replies are
    already stored are included."""
    kind: GapKind
    """The outcome."""
    fields: list[GapField]
    """The fields in which the two configurations differ."""
    base: MetricReport | None = None
    """The mean score of the base configuration on the questions of `total`, as a fraction of the
    best score; None if it was not measured."""
    by_recipe: MetricReport | None = None
    """The mean score of the recipe on the questions of `total`, as a fraction of the best score;
    None if it was not measured."""
    total: GapEffect | None = None
    """The gap, which is the recipe's score minus the base's score, on the questions that have a
    score in both configurations."""
    detectable: float | None = None
    """The smallest true gap that a test at the 5 % level on these questions detects with 80 %
    probability."""
    matters: list[str] = []
    """The names of the fields that cause the gap."""
    rest: GapEffect | None = None
    """The part of the gap that the fields in `matters` do not explain; None if `matters` is
    empty."""
    groups: list[GapGroup] = []
    """The groups of fields that were exchanged together."""
    runs: dict[str, str] = {}
    """The run folder of each configuration. Each key lists the fields that have the recipe's values
    in this configuration."""
    notes: list[str] = []
    """Limitations of the result."""

    @property
    def name(self) -> str:
        """The name of the data set, or of the benchmark if it is unknown."""
        return self.data_set or self.benchmark
