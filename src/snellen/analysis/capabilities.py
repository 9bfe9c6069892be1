"""Defines a tree of the capabilities that benchmarks require, and combines the results of several
benchmarks by capability.

A benchmark's file assigns a leaf of this tree to each of its categories
(`Presentation.capabilities`), and cites the source in which the benchmark's authors define the
categories. A category that fits no leaf is `unmapped`.
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
    """A model's result for one capability, combined over several benchmarks."""

    leaf: str
    """The capability, such as `OCR/text`."""
    n: int
    """The number of samples that require the capability."""
    mean: MetricReport
    """The mean score of these samples."""
    benchmarks: tuple[str, ...]
    """The benchmarks that these samples come from."""


def over(reports: Mapping[str, Report]) -> list[Capability]:
    """Combine the results of one model for each leaf, in the order of the tree, with `unmapped`
    last. `reports` maps names of benchmarks to reports.

    Each sample has the same weight. Benchmark b has n_b samples with a score. The mean of these
    scores is m_b, and its standard error is s_b. N is the sum of all n_b. The combined mean m and
    its standard error are:

        m = Σ n_b·m_b / N        stderr² = Σ (n_b / N)²·s_b²

    The variances add up because different benchmarks share no samples. If only one benchmark has
    samples for a leaf, the interval is that benchmark's own. If all scores of a benchmark are
    equal, the benchmark has an interval but no standard error, and s_b is half the width of the
    interval, divided by 1.96.
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
    """The benchmarks that contribute to the mean; all benchmarks if none has a score."""
    scored = tuple(name for name, score in parts if score.mean.value is not None)
    return scored or tuple(name for name, _ in parts)


def _mean(parts: Mapping[str, MetricReport]) -> MetricReport:
    """The mean over several benchmarks. `parts` maps the names of benchmarks to their means."""
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
