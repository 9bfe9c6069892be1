"""The output of `run --estimate`: a line and notes for each run, and a line for their total."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.errors import plain
from snellen.text.amounts import duration, money

if TYPE_CHECKING:
    from snellen.api import CostEstimate


def lines(estimates: Sequence[CostEstimate]) -> list[str]:
    """
    A line for each estimate, followed by the estimate's notes. A line looks like `mmbench ×
    openai/m  4,329 requests  4,329 pictures  tokens in about 2,100,000, out at most 69,264  at most
    1.19 USD  about 21 min 30 s`.
    """
    text_lines = []
    for estimate in estimates:
        text_lines.append(plain(_line(f"{estimate.benchmark} × {estimate.model}", [estimate])))
        text_lines += [plain(f"  {note}") for note in estimate.notes]
    if len(estimates) > 1:
        text_lines.append(_line("all", estimates))
    return text_lines


def _line(name: str, estimates: Sequence[CostEstimate]) -> str:
    """The line for one estimate or for the total of several. If an estimate has an unknown value,
    the total of that value is unknown, too."""
    counts = {
        "request": sum(estimate.requests for estimate in estimates),
        "picture": sum(estimate.pictures for estimate in estimates),
        "frame": sum(estimate.frames for estimate in estimates),
    }
    parts = [name, *(f"{n:,} {what}{'s' * (n != 1)}" for what, n in counts.items() if n)]
    about = "at most" if any(estimate.at_most for estimate in estimates) else "about"
    tokens_in = _sum([estimate.input_tokens for estimate in estimates])
    tokens_out = _sum([estimate.output_tokens for estimate in estimates])
    shown_in = "unknown" if tokens_in is None else f"about {tokens_in:,.0f}"
    shown_out = "unknown" if tokens_out is None else f"{about} {tokens_out:,.0f}"
    parts.append(f"tokens in {shown_in}, out {shown_out}")
    cost = _sum([estimate.cost for estimate in estimates])
    if cost is not None and len({estimate.currency for estimate in estimates}) == 1:
        parts.append(f"{about} {money(cost, estimates[0].currency)}")
    # Runs on different servers are concurrent, so their times do not add up.
    if len(estimates) == 1 and estimates[0].hours is not None:
        parts.append(f"about {duration(estimates[0].hours * 3600)}")
    return "  ".join(parts)


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
