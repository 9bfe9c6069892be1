"""The facts in a recipe besides its prompts: published figures, scoring, and thinking."""

from typing import Literal

import msgspec

Evidence = Literal["maker-code", "maker-thread", "maker-card", "toolkit-endorsed", "toolkit"]
"""The kinds of evidence for a recipe, from the strongest (the maker's own code) to the weakest
(only a toolkit's adapter)."""


class Figure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A published figure of a checkpoint."""

    checkpoint: str
    """The checkpoint."""
    value: float
    """The figure, in the unit of its source."""
    source: str
    """Where it is published."""


class CardFigure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A published figure, from `[[figures]]`. The source need not state how the questions were
    asked."""

    benchmark: str
    """The benchmark's name in the source."""
    checkpoint: str
    """The checkpoint."""
    value: float
    """The figure, in the unit of its source."""
    source: str
    """Where it is published."""
    data_set: str = ""
    """The data set in the recipe; empty if no source states how its questions are asked."""
    variant: str = ""
    """The recipe's variant; empty for the default."""
    snellen: str = ""
    """The benchmark in Snellen, with its options; needed only if `benchmark` does not identify
    it."""

    @property
    def figure(self) -> Figure:
        """The figure without the name of its benchmark."""
        return Figure(checkpoint=self.checkpoint, value=self.value, source=self.source)


class RecipeScoring(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the published figures were scored."""

    rule: str
    """The rule, as readable text."""
    judge: str = ""
    """The judge model; empty if there is no judge or if the judge is not known."""
    fallback: str = ""
    """How a reply without an answer is scored; empty if such a reply counts as wrong."""
    scoring: str = ""
    """The most similar scoring of the benchmark in Snellen; empty if none is known."""

    def __str__(self) -> str:
        judge = f"; judge: {self.judge}" if self.judge else ""
        fallback = f"; without an answer: {self.fallback}" if self.fallback else ""
        return f"{self.rule}{judge}{fallback}"


class RecipeThinking(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether a model thinks, and how its thoughts are limited and removed."""

    mode: Literal["on", "off", "template"]
    """Whether thinking is on or off; `template`: the checkpoint's chat template decides."""
    suffix: str = ""
    """The text that is added to the question to turn thinking on or off; empty if no text is
    added."""
    begins: str = ""
    """The text with which the reply is forced to begin; empty if the reply may begin freely."""
    strip: str = ""
    """The mark after which the answer begins; empty if no thoughts are removed."""
    budget: int | None = None
    """The maximum number of thinking tokens; None: no limit."""
    on_budget: str = ""
    """The text that is inserted when the budget is used up; empty if no text is inserted."""

    def __str__(self) -> str:
        parts = [
            self.mode,
            f"suffix {self.suffix!r}" if self.suffix else "",
            f"the reply begins with {self.begins!r}" if self.begins else "",
            f"the answer follows {self.strip!r}" if self.strip else "",
            f"at most {self.budget:,} tokens" if self.budget else "",
            f"then {self.on_budget!r}" if self.on_budget else "",
        ]
        return "; ".join(part for part in parts if part)
