"""The output of `run --estimate`: a line for each run with its notes, and their sum."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.analysis.result import plain
from snellen.api import CostEstimate
from snellen.text.amounts import duration, money


def lines(found: Sequence[CostEstimate]) -> list[str]:
    """
    `mmbench × openai/m  4,329 requests  4,329 pictures  tokens in about 2,100,000, out at most
    69,264  at most 1.19 USD  about 21 min 30 s`, and below it the notes.
    """
    said = []
    for one in found:
        said.append(plain(_line(f"{one.benchmark} × {one.model}", [one])))
        said += [plain(f"  {note}") for note in one.notes]
    if len(found) > 1:
        said.append(_line("all", found))
    return said


def _line(name: str, of: Sequence[CostEstimate]) -> str:
    """If one of several has no figure, neither does their sum."""
    counts = {
        "request": sum(one.requests for one in of),
        "picture": sum(one.pictures for one in of),
        "frame": sum(one.frames for one in of),
    }
    parts = [name, *(f"{n:,} {what}{'s' * (n != 1)}" for what, n in counts.items() if n)]
    about = "at most" if any(one.at_most for one in of) else "about"
    tokens_in = _sum([one.input_tokens for one in of])
    tokens_out = _sum([one.output_tokens for one in of])
    said_in = "unknown" if tokens_in is None else f"about {tokens_in:,.0f}"
    said_out = "unknown" if tokens_out is None else f"{about} {tokens_out:,.0f}"
    parts.append(f"tokens in {said_in}, out {said_out}")
    cost = _sum([one.cost for one in of])
    if cost is not None and len({one.currency for one in of}) == 1:
        parts.append(f"{about} {money(cost, of[0].currency)}")
    # Runs on different servers are concurrent, so several have no common time.
    if len(of) == 1 and of[0].hours is not None:
        parts.append(f"about {duration(of[0].hours * 3600)}")
    return "  ".join(parts)


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
