"""What a recipe states besides the question: figures, scoring, thinking."""

from typing import Literal

import msgspec

Evidence = Literal["maker-code", "maker-thread", "maker-card", "toolkit-endorsed", "toolkit"]
"""Who vouches for a recipe, from the maker's own code to a toolkit's adapter alone."""


class Figure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A published figure of a checkpoint."""

    checkpoint: str
    """The checkpoint."""
    value: float
    """The figure, in the unit of its source."""
    source: str
    """Where it is published."""


class CardFigure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A published figure, also of a benchmark whose way of asking is unknown: `[[figures]]`."""

    benchmark: str
    """The benchmark's name, as the source has it."""
    checkpoint: str
    """The checkpoint."""
    value: float
    """The figure, in the unit of its source."""
    source: str
    """Where it is published."""
    data_set: str = ""
    """The data set that the recipe asks; empty if no source says how the benchmark is asked."""
    variant: str = ""
    """The recipe's variant; empty for the usual way of asking."""
    snellen: str = ""
    """The benchmark in Snellen, with its options, if its name in `benchmark` does not say it."""

    @property
    def figure(self) -> Figure:
        """The figure without its benchmark."""
        return Figure(checkpoint=self.checkpoint, value=self.value, source=self.source)


class RecipeScoring(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the published figures were scored."""

    rule: str
    """The rule, in words."""
    judge: str = ""
    """The model that judges; empty if none does, or none is known."""
    fallback: str = ""
    """What becomes of a reply without an answer; empty if it is wrong."""
    scoring: str = ""
    """The scoring of Snellen that comes closest, if the benchmark has it; empty: none is known."""

    def __str__(self) -> str:
        judge = f"; judge: {self.judge}" if self.judge else ""
        fallback = f"; without an answer: {self.fallback}" if self.fallback else ""
        return f"{self.rule}{judge}{fallback}"


class RecipeThinking(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether the model thinks, and what becomes of its thoughts."""

    mode: Literal["on", "off", "template"]
    """Whether it is made to think; `template`: as the checkpoint's chat template does."""
    suffix: str = ""
    """What is added to the question to turn thoughts on or off; empty if nothing is."""
    begins: str = ""
    """The text that the reply is made to begin with; empty if there is none."""
    strip: str = ""
    """The mark after which the answer begins; empty if nothing is cut."""
    budget: int | None = None
    """The most tokens of thoughts; None for no such limit."""
    on_budget: str = ""
    """The text that is forced in when the budget is spent; empty if there is none."""

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
