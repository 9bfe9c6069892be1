"""What benchmarks ask of a model, as the leaves of one tree, and results by leaf over several
benchmarks.

A benchmark's file says which leaf each of its categories belongs to (`Presentation.capabilities`),
and where its authors define the categories. A category that fits no leaf is `unmapped`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from snellen.core.presentation import UNMAPPED
from snellen.scoring import CapabilityReport, MetricReport, Report
from snellen.stats import normal_quantile

TREE: Mapping[str, tuple[str, ...]] = {
    "perception": ("object", "scene", "attribute", "counting", "spatial"),
    "reasoning": ("logic", "commonsense", "causal", "mathematical", "temporal"),
    "knowledge": ("world", "domain", "cultural"),
    "OCR": ("text", "document", "table", "formula"),
    "hallucination": ("object", "attribute", "relation"),
}
LEAVES = tuple(f"{branch}/{leaf}" for branch, leaves in TREE.items() for leaf in leaves)
Z = normal_quantile(0.975)


@dataclass(frozen=True, kw_only=True)
class Capability:
    """One leaf over several benchmarks: the number of samples that ask for it, the mean of their
    scores, and the benchmarks that they come from."""

    leaf: str
    n: int
    mean: MetricReport
    benchmarks: tuple[str, ...]


def over(reports: Mapping[str, Report]) -> list[Capability]:
    """One model's results by leaf, in the order of the tree, `unmapped` last. The keys of `reports`
    are the benchmarks' names.

    All samples weigh the same. With n_b the number of samples of benchmark b that have a score, N
    their sum, m_b and s_b the mean and its standard error:

        m = Σ n_b·m_b / N        stderr² = Σ (n_b / N)²·s_b²

    since benchmarks share no samples. A leaf with a single benchmark keeps that benchmark's
    interval. If all scores of a benchmark are equal, it has an interval but no s_b; half the
    interval's width / 1.96 is used instead.
    """
    parts: dict[str, list[tuple[str, CapabilityReport]]] = {}
    for name, report in reports.items():
        for leaf, part in report.capabilities.items():
            parts.setdefault(leaf, []).append((name, part))
    return [
        Capability(
            leaf=leaf,
            n=sum(part.n for _, part in parts[leaf]),
            mean=_mean({name: part.mean for name, part in parts[leaf]}),
            benchmarks=_benchmarks_of(parts[leaf]),
        )
        for leaf in (*LEAVES, UNMAPPED)
        if leaf in parts
    ]


def _benchmarks_of(parts: Sequence[tuple[str, CapabilityReport]]) -> tuple[str, ...]:
    """The benchmarks that contribute to the mean, or all if none has a score."""
    scored = tuple(name for name, score in parts if score.mean.value is not None)
    return scored or tuple(name for name, _ in parts)


def _mean(parts: Mapping[str, MetricReport]) -> MetricReport:
    """The mean over several benchmarks, whose names are the keys."""
    known = {name: part for name, part in parts.items() if part.value is not None}
    if len(known) == 1:
        return next(iter(known.values()))
    n = sum(part.n for part in known.values())
    if not n:
        return next(iter(parts.values()))
    value = sum(part.n * part.value for part in known.values() if part.value is not None) / n
    squares = 0.0
    for name, part in known.items():
        error = _error(part)
        if error is None:
            reason = f"{name}: {part.reason or 'no interval'}"
            return MetricReport(
                value=value, unit="fraction", n=n, stderr=None, ci95=None, reason=reason
            )
        squares += (part.n / n * error) ** 2
    stderr = math.sqrt(squares)
    reach = Z * stderr
    interval = (max(0.0, value - reach), min(1.0, value + reach))
    return MetricReport(value=value, unit="fraction", n=n, stderr=stderr, ci95=interval)


def _error(part: MetricReport) -> float | None:
    if part.stderr is None and part.ci95 is not None:
        low, high = part.ci95
        return (high - low) / 2 / Z
    return part.stderr
