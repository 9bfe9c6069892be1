"""Whether a stored report still says what scoring its run again would say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from snellen.benchmark import Benchmark
from snellen.scoring._report import Report
from snellen.store import FORMAT, Run

INPUTS = {
    "replies": "replies came in after it was written",
    "verdicts": "verdicts of judges came in after it was written",
    "labels": "people's labels changed after it was written",
}
"""What a report is made of, and what to say when it has another size now."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What of a benchmark decides a report, apart from replies, verdicts, and labels."""

    asks: int
    headline: str | None
    """The first scoring that reads what is asked for. None: no scoring reads it."""
    versions: Mapping[str, int]
    """The version of each scoring."""


def rules_of(benchmark: Benchmark) -> Rules:
    readable = (
        name for name, scoring in benchmark.scorings.items() if scoring.reads == benchmark.ask
    )
    return Rules(
        asks=benchmark.asks,
        headline=next(readable, None),
        versions={name: scoring.version for name, scoring in benchmark.scorings.items()},
    )


def stale_reasons(
    run: Run, report: Report, inputs: Mapping[str, int], rules: Rules | None
) -> list[str]:
    """Why a stored report is out of date, a sentence each; empty where it is not.

    `inputs` are the sizes that were stored with the report; reports of earlier versions have none.
    `rules` are None where the benchmark cannot be made again.
    """
    reasons = [*_format(report), *_inputs(run, inputs)]
    if rules is not None:
        reasons += _versions(report, rules)
    notes = []
    if reasons:
        text = "; ".join(reasons)
        notes.append(f"out of date: {text}. `snellen score {run.path}` scores the run again")
    return notes + asks_notes(report.identity, rules)


def asks_notes(identity: Mapping[str, Any], rules: Rules | None) -> list[str]:
    """Say that a run asked another version of the questions than this version of Snellen asks."""
    asks = identity.get("asks")
    if rules is None or asks is None or asks == rules.asks:
        return []
    return [
        f"out of date: the run asked version {asks} of the questions, and this version of Snellen "
        f"asks version {rules.asks}. `snellen run` asks these; the score is of the others"
    ]


def _format(report: Report) -> Iterator[str]:
    if report.format != FORMAT:
        yield f"the report has format {report.format}, and this version of Snellen writes {FORMAT}"


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
                f"`{name}` was scored as version {scoring.version}, and this version of Snellen "
                f"has version {version}"
            )
    if report.headline != (rules.headline or ""):
        yield f"the headline scoring was `{report.headline}`, and is `{rules.headline}` now"
