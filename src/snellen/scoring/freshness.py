"""Checks whether a stored report is out of date, which means that scoring the run again would
change it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from snellen.core.benchmark import Benchmark
from snellen.scoring.document import Report, with_directions
from snellen.stats import Direction
from snellen.store import FORMAT, Run

INPUTS = {
    "replies": "replies were added after the report was written",
    "verdicts": "judges' verdicts were added after the report was written",
    "labels": "people's labels changed after the report was written",
}
"""For each input of a report, the reason that a note gives if the size of the input has changed."""
SOURCE_CHANGED = "It has changed since the run was made"
SOURCE_DIFFERS = "which may be another version"
"""How a note ends if the report was scored with different source code than the run used."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The properties of a benchmark that a report depends on, in addition to replies, verdicts, and
    labels."""

    asks: int
    """The version of the benchmark's questions."""
    headline: str | None
    """The first scoring that can parse the kind of reply that a run requests; None if there is no
    such scoring."""
    versions: Mapping[str, int]
    """The version of each scoring."""
    better: Mapping[str, Mapping[str, Direction | None]]
    """For each scoring and metric, whether a higher or a lower value is better."""
    source: str | None
    """The digest of the source code of a user's own benchmark; None for a benchmark of the
    catalog."""


class StoredWith(msgspec.Struct, frozen=True, omit_defaults=True):
    """The inputs of a stored report, which are stored in the report's file but are not part of
    `Report`."""

    inputs: dict[str, int] = {}
    """The size of each input; empty in reports of earlier versions."""
    source: str | None = None
    """The digest of the source code of a user's own benchmark; None for a benchmark of the catalog,
    and in reports of earlier versions."""


def rules_of(benchmark: Benchmark) -> Rules:
    readable = (
        name
        for name, scoring in benchmark.scorings.items()
        if scoring.reads == benchmark.procedure.kind
    )
    return Rules(
        asks=benchmark.asks,
        headline=next(readable, None),
        versions={name: scoring.version for name, scoring in benchmark.scorings.items()},
        better={
            name: {metric: scoring.direction(metric) for metric in scoring.metrics}
            for name, scoring in benchmark.scorings.items()
        },
        source=source_digest(benchmark),
    )


def source_digest(benchmark: Benchmark) -> str | None:
    """The digest of the source code of a user's own benchmark; None for a benchmark of the
    catalog."""
    source = benchmark.provenance.source
    return None if source is None else source.digest


def with_known_directions(report: Report, rules: Rules | None) -> Report:
    """Add the benchmark's current directions to metrics without a direction, since reports of
    earlier versions contain no directions."""
    if rules is None:
        return report
    scorings = {
        name: replace(
            scoring, metrics=with_directions(scoring.metrics, rules.better.get(name, {}).get)
        )
        for name, scoring in report.scorings.items()
    }
    return replace(report, scorings=scorings)


def stale_reasons(run: Run, report: Report, stored: StoredWith, rules: Rules | None) -> list[str]:
    """Notes that explain why a stored report is out of date; empty if the report is up to date.

    `rules` is None if the benchmark cannot be rebuilt.
    """
    reasons = [*_format(report), *_inputs(run, stored.inputs)]
    if rules is not None:
        reasons += _versions(report, rules)
        if None not in (stored.source, rules.source) and stored.source != rules.source:
            reasons.append("the benchmark's source has changed since the report was written")
    notes = []
    if reasons:
        text = "; ".join(reasons)
        notes.append(f"out of date: {text}. `{run.command('score')}` scores the run again")
    return notes + asks_notes(report.identity, rules)


def asks_notes(identity: Mapping[str, Any], rules: Rules | None) -> list[str]:
    """A note if the run asked a different version of the questions than this version of Snellen
    asks."""
    asks = identity.get("asks")
    if rules is None or asks is None or asks == rules.asks:
        return []
    return [
        f"out of date: the run asked version {asks} of the questions, but this version of Snellen "
        f"asks version {rules.asks}. The score applies to version {asks}; `snellen run` asks "
        f"version {rules.asks}"
    ]


def _format(report: Report) -> Iterator[str]:
    if report.format != FORMAT:
        yield f"the report has format {report.format}, but this version of Snellen writes {FORMAT}"


def _inputs(run: Run, inputs: Mapping[str, int]) -> Iterator[str]:
    if inputs:
        sizes = run.input_sizes()
        yield from (text for name, text in INPUTS.items() if inputs.get(name) != sizes[name])


def _versions(report: Report, rules: Rules) -> Iterator[str]:
    for name, scoring in report.scorings.items():
        version = rules.versions.get(name)
        if version is None:
            yield f"this version of Snellen has no scoring `{name}`"
        elif version != scoring.version:
            yield (
                f"`{name}` was scored as version {scoring.version}, but this version of Snellen "
                f"has version {version}"
            )
    if report.headline != (rules.headline or ""):
        yield f"the headline scoring was `{report.headline}`, and is now `{rules.headline}`"
