"""What benchmarks ask of a model, as leaves of one tree, and results over several benchmarks by it.

A benchmark's file says which leaf each of its categories is (`Presentation.capabilities`) and where
its authors define them; what fits none is `unmapped`.
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
    """A capability over several benchmarks."""

    leaf: str
    """The capability, such as `OCR/text`."""
    n: int
    """The number of samples that require it."""
    mean: MetricReport
    """Their mean score."""
    benchmarks: tuple[str, ...]
    """Their benchmarks."""


def over(reports: Mapping[str, Report]) -> list[Capability]:
    """One model's results by leaf, in the order of the tree, `unmapped` last; `reports` are by the
    benchmark's name.

    Each sample weighs the same. With n_b the samples of benchmark b that have a score, N their sum,
    m_b and s_b their mean and its standard error:

        m = Σ n_b·m_b / N        stderr² = Σ (n_b / N)²·s_b²

    since benchmarks share no samples. The interval of one benchmark alone is its own. Where all of
    a benchmark's scores are alike it has an interval and no s_b: half its width / 1.96 is taken.
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
    """The benchmarks that have a part in the mean; all where none has a score."""
    scored = tuple(name for name, score in parts if score.mean.value is not None)
    return scored or tuple(name for name, _ in parts)


def _mean(parts: Mapping[str, MetricReport]) -> MetricReport:
    """Of several benchmarks' means, by the benchmark's name."""
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
