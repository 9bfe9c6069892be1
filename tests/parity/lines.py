"""One line of docs/parity.md: a published figure, what the authors' scorer gives, and ours."""

from dataclasses import dataclass
from typing import Literal

Proof = Literal["published outputs", "generated pairs", "by hand"]


@dataclass(frozen=True, kw_only=True)
class Line:
    """What one model's outputs score by one metric, in the benchmark's own unit.

    `published` is what the paper or leaderboard says, `official` what the authors' code gives for
    the outputs that they published, `ours` what `snellen.score` gives for the same files; None
    where there is no such figure, with the `reason`, as where published and official differ.
    """

    benchmark: str
    model: str
    metric: str
    n: int
    published: float | None
    official: float | None
    ours: float | None
    proof: Proof
    reason: str = ""
