"""What scripts/parity.py prints of a golden folder."""

from collections.abc import Iterator, Sequence

from tests.parity.engine import Comparison, Pack

SHOWN = 10
"""Differences of one file that are printed."""
LONGEST = 300


def of_pack(name: str, pack: Pack, comparisons: Sequence[Comparison]) -> Iterator[str]:
    """The lines of one pack: a line for each file of replies, and its differences below."""
    yield name
    for one in comparisons:
        yield f"  {one.case.model}: {in_words(one)}"
        yield from (f"    note: {note}" for note in one.case.notes)
        yield from (f"    {line[:LONGEST]}" for line in one.differences[:SHOWN])
        if len(one.differences) > SHOWN:
            yield f"    and {len(one.differences) - SHOWN:,} more differences"
    yield from (f"  {model}: no output here" for model in pack.without_output)


def in_words(one: Comparison) -> str:
    if one.error and not one.case.expected:
        return f"no figure to compare with; {one.error}"
    if not one.case.expected:
        return f"no figure to compare with; here {headline(one)}"
    parts = []
    if one.figures:
        equal = one.figures - one.figure_differences
        parts.append(f"figures {equal:,} of {one.figures:,}")
    noun = "items" if one.case.proof == "published outputs" else "rows"
    parts += [f"{scoring} {noun} {n:,} of {of:,}" for scoring, (n, of) in one.items.items()]
    parts.append(f"largest difference {one.largest:.2g}")
    return f"{one.case.benchmark}: {', '.join(parts)}"


def headline(one: Comparison) -> str:
    scoring, metrics = next(iter(one.ours.items()))
    metric, (value, n) = next(iter(metrics.items()))
    number = "no value" if value is None else f"{value:.6g}"
    return f"{one.case.benchmark} {scoring} {metric} {number} (n {n:,})"


def total(names: Sequence[str], comparisons: Sequence[Comparison]) -> str:
    """The last line: what agrees, of all packs."""
    figures = sum(one.figures for one in comparisons)
    equal = figures - sum(one.figure_differences for one in comparisons)
    items = [count for one in comparisons for count in one.items.values()]
    agree, of = sum(n for n, _ in items), sum(of for _, of in items)
    return (
        f"{len(names)} packs: {equal:,} of {figures:,} figures and {agree:,} of {of:,} items and "
        "rows are equal"
    )
