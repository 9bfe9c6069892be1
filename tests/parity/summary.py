"""What scripts/parity.py prints of a golden folder."""

from collections.abc import Iterator, Sequence

from tests.parity.engine import Comparison, Pack

SHOWN = 10
"""Differences of one file that are printed."""
LONGEST = 300


def of_pack(name: str, pack: Pack, comparisons: Sequence[Comparison]) -> Iterator[str]:
    """The lines of one pack: a line for each file of replies, and its differences below."""
    yield name
    for comparison in comparisons:
        yield f"  {comparison.case.model}: {in_words(comparison)}"
        yield from (f"    note: {note}" for note in comparison.case.notes)
        yield from (f"    {line[:LONGEST]}" for line in comparison.differences[:SHOWN])
        if len(comparison.differences) > SHOWN:
            yield f"    and {len(comparison.differences) - SHOWN:,} more differences"
    yield from (f"  {model}: no output here" for model in pack.without_output)


def in_words(comparison: Comparison) -> str:
    if comparison.error and not comparison.case.expected:
        return f"no figure to compare with; {comparison.error}"
    if not comparison.case.expected:
        return f"no figure to compare with; here {headline(comparison)}"
    parts = []
    if comparison.figures:
        equal = comparison.figures - comparison.figure_differences
        parts.append(f"figures {equal:,} of {comparison.figures:,}")
    noun = "items" if comparison.case.proof == "published outputs" else "rows"
    parts += [f"{scoring} {noun} {n:,} of {of:,}" for scoring, (n, of) in comparison.items.items()]
    parts.append(f"largest difference {comparison.largest:.2g}")
    return f"{comparison.case.benchmark}: {', '.join(parts)}"


def headline(comparison: Comparison) -> str:
    scoring, metrics = next(iter(comparison.ours.items()))
    metric, (value, n) = next(iter(metrics.items()))
    number = "no value" if value is None else f"{value:.6g}"
    return f"{comparison.case.benchmark} {scoring} {metric} {number} (n {n:,})"


def total(names: Sequence[str], comparisons: Sequence[Comparison]) -> str:
    """The last line: what agrees, of all packs."""
    figures = sum(comparison.figures for comparison in comparisons)
    equal = figures - sum(comparison.figure_differences for comparison in comparisons)
    items = [count for comparison in comparisons for count in comparison.items.values()]
    agree, of = sum(n for n, _ in items), sum(of for _, of in items)
    return (
        f"{len(names)} packs: {equal:,} of {figures:,} figures and {agree:,} of {of:,} items and "
        "rows are equal"
    )
