"""Writes a run's headline for the Hugging Face Hub: `.eval_results/*.yaml` of a model's repository,
and `eval.yaml` of a benchmark's data set.

Source: huggingface/hub-docs@242f4a1eeb867daf4ac3f44026a5df4a68908a3d: docs/hub/eval-results.md and
eval_results.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from snellen.data import placed
from snellen.errors import UsageError
from snellen.interop.exchange import RunFacts

FRAMEWORK = "snellen"
UNKNOWN_FRAMEWORK = (
    "the Hub accepts only frameworks of its own list (huggingface.js, packages/tasks/src/eval.ts): "
    f"{FRAMEWORK} must be added there, or replace evaluation_framework"
)
NO_REPLIES = (
    "the file has one value and no replies. To publish the replies, export the run in another "
    "format, and pass the address of the published file with --source-url"
)


@dataclass(frozen=True, kw_only=True)
class HubTarget:
    """Where a result belongs on the Hub: the data set, the task, and the revision."""

    dataset: str | None = None
    """The benchmark's data set, `ORGANIZATION/NAME`."""
    task: str | None = None
    """The task's id in the data set's `eval.yaml`."""
    revision: str | None = None
    """The commit of the data set."""
    source: str | None = None
    """The URL of the replies or of a report."""


NO_TARGET = HubTarget()


def write_result(path: Path, facts: RunFacts, target: HubTarget) -> list[str]:
    """Write the headline result as an entry of `.eval_results/*.yaml`. Returns notes on what the
    entry lacks.

    Raises:
        UsageError: the data set or the task is not named, or the headline has no value.
        DataError: the file cannot be written.
    """
    headline = facts.headline
    if target.dataset is None or target.task is None:
        raise UsageError(
            "The Hub lists a result under a benchmark's data set and a task of this data set. Name "
            "the data set and the task with --hub-dataset ORGANIZATION/NAME and --hub-task ID."
        )
    if headline is None or headline.value is None:
        why = "" if headline is None or headline.reason is None else f": {headline.reason}"
        raise UsageError(f"The headline of {facts.benchmark} has no value to publish{why}.")
    dataset = {"id": target.dataset, "task_id": target.task}
    if target.revision is not None:
        dataset["revision"] = target.revision
    entry: dict[str, Any] = {"dataset": dataset, "value": headline.value, "date": facts.started}
    if target.source is not None:
        entry["source"] = {"url": target.source, "name": "Snellen"}
    entry["notes"] = "; ".join(_setup(facts))
    _put(path, [entry])
    left = [figure.metric for figure in facts.figures[1:] if figure.value is not None]
    notes = [NO_REPLIES] if target.source is None else []
    if left:
        notes.append(f"only the headline is in the file; {len(left):,} other metrics are not")
    return notes


def write_benchmark(path: Path, facts: RunFacts, target: HubTarget) -> list[str]:
    """Write an `eval.yaml` that registers the run's benchmark. Returns notes for the reader.

    Raises:
        DataError: the file cannot be written.
    """
    options = facts.provenance["identity_fields"].get("options", {})
    task = {"id": target.task or facts.benchmark.replace("-", "_")}
    if isinstance(split := options.get("split"), str):
        task["split"] = split
    document = {
        "name": facts.benchmark,
        "description": facts.description or facts.benchmark,
        "evaluation_framework": FRAMEWORK,
        "tasks": [task],
    }
    _put(path, document)
    return [UNKNOWN_FRAMEWORK]


def _setup(facts: RunFacts) -> Iterator[str]:
    """Yield the parts of the entry's notes, which say how the value was measured."""
    headline, provenance = facts.headline, facts.provenance
    assert headline is not None
    unit = f" ({headline.unit})" if headline.unit else ""
    yield f"{headline.metric}{unit} by scoring {headline.scoring}, version {headline.version}"
    if headline.interval is not None:
        yield f"95 % interval {headline.interval[0]:.6g} to {headline.interval[1]:.6g}"
    if headline.stderr is not None:
        yield f"standard error {headline.stderr:.6g}"
    yield f"n {headline.n}"
    yield f"failed {provenance['replies'].get('failed', 0)}"
    yield from (note for note in provenance["notes"] if note.startswith("--missing "))
    yield f"unparsed {facts.readings[headline.scoring].get('unparsed', 0)}"
    if provenance.get("incomplete"):
        yield "incomplete"
    recipe = provenance.get("recipe")
    if recipe:
        yield f"recipe {recipe['name']} (evidence: {recipe['evidence']})"
    yield f"judge {headline.judge}" if headline.judge else "no judge"
    yield f"snellen {provenance['snellen']}, questions version {provenance['asks']}"
    yield f"data {provenance['data']['digest']}"
    yield f"identity {provenance['identity']}"
    yield f"repeats {facts.repeats}"
    if provenance.get("proof"):
        yield f"proof of the scoring: {provenance['proof']}"


def _put(path: Path, document: Any) -> None:
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    with placed(path) as part:
        part.write_text(text, encoding="utf-8")
