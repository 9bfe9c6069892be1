"""Exports a complete run, with its scores and provenance, in other tools' formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from snellen import registry
from snellen.analysis.result import Result, load_report
from snellen.core.benchmark import Benchmark
from snellen.errors import CatalogError, UsageError
from snellen.interop import every_eval_ever, hub, inspect_log, lm_eval, lmms_eval
from snellen.interop.exchange import RunFacts, RunMetric, RunSample
from snellen.scoring.replies import sample_of
from snellen.store import STEM, Key, Question, ReplyRecord, Run, ScoreRow, safe_name, with_steps

FORMATS = ("inspect", "every-eval-ever", "lm-eval", "lmms-eval", "hf-results", "hf-benchmark")
OF_HUB = ("hf-results", "hf-benchmark")
UNSCORED = ("lm-eval", "lmms-eval", "inspect")
"""The formats to which a run can be exported before it is scored."""
TEXTS = ("inspect", "every-eval-ever", "lm-eval")
"""The formats that can contain only text replies."""


def write(
    run: Run,
    benchmark: Benchmark,
    to: str,
    out: Path | None,
    states: Counter[str],
    target: hub.HubTarget,
) -> tuple[Path, list[str]]:
    """Write a loaded run in one of the formats that FORMATS lists. Returns the path, and notes for
    the user.

    While samples are written, `states` counts the samples by the state of their last reply.

    Raises:
        UsageError: the run has not been scored, or its replies are not text.
        DataError: the file cannot be written.
    """
    manifest = run.manifest()
    if to in TEXTS and benchmark.procedure.kind != "generate":
        raise UsageError(
            f"{run.path}: its replies are not texts ({benchmark.procedure.kind}), and {to} holds "
            "only texts. Use --to jsonl or lmms-eval."
        )
    result = _result_of(run, benchmark, to)
    facts = _facts(run, manifest, benchmark, result)
    samples = _counted(_samples(run, benchmark, {} if result is None else _scores_of(run)), states)
    when = datetime.now(UTC)
    stem = safe_name(f"{benchmark.name}_{manifest['model']}", room=STEM)
    if to == "inspect":
        name = f"{when:%Y-%m-%dT%H-%M-%S}_{stem}.eval"
        path = _placed(out, name, ".eval")
        return path, inspect_log.write(path, facts, samples)
    if to == "hf-results":
        for _ in samples:
            pass  # only counted
        path = _placed(out, f"{stem}.yaml", ".yaml", ".yml")
        return path, hub.write_result(path, facts, target)
    if to == "hf-benchmark":
        path = _placed(out, "eval.yaml", ".yaml")
        return path, hub.write_benchmark(path, facts, target)
    if to == "lmms-eval":
        path = _placed(out, lmms_eval.file_name(facts.task, when), ".jsonl")
        results = path.with_name(lmms_eval.results_name(when))
        return path, lmms_eval.write(path, facts, samples, when, results)
    folder = out or Path()
    if not folder.is_dir():
        raise UsageError(f"{folder}: --to {to} writes several files. Pass a folder with -o.")
    if to == "lm-eval":
        return lm_eval.write(folder, facts, samples, when)
    return every_eval_ever.write(folder, facts, samples)


def _placed(out: Path | None, name: str, *suffixes: str) -> Path:
    path = out / name if out is not None and out.is_dir() else out or Path(name)
    if path.suffix not in suffixes:
        raise UsageError(f"{path}: unknown extension. Use {' or '.join(suffixes)}.")
    return path


def _result_of(run: Run, benchmark: Benchmark, to: str) -> Result | None:
    """The run's result; None if the run has not been scored and the format does not require
    scores."""
    try:
        return load_report(run.path, benchmark)
    except UsageError:
        if to in UNSCORED:
            return None
        raise


# -- the run as a whole


def _facts(
    run: Run, manifest: Mapping[str, Any], benchmark: Benchmark, result: Result | None
) -> RunFacts:
    identity = manifest["identity"]
    sheet = _sheet_of(benchmark)
    return RunFacts(
        benchmark=benchmark.name,
        task=registry.lmms_eval_name(manifest),
        description=next(iter(sheet.splitlines()), ""),
        model=manifest["model"],
        started=next((s["started"] for s in manifest.get("sessions", [])), ""),
        rows=manifest.get("rows", 0),
        repeats=manifest.get("repeats", 1),
        scores_turns=benchmark.procedure.conversation.by_turn is not None,
        generation=identity.get("generation", {}),
        figures=[] if result is None else [*_figures(result, benchmark)],
        best={name: scoring.best for name, scoring in benchmark.scorings.items()},
        readings={}
        if result is None
        else {name: scoring.readings for name, scoring in result.report.scorings.items()},
        provenance=_provenance(run, manifest, sheet, result),
    )


def _figures(result: Result, benchmark: Benchmark) -> Iterator[RunMetric]:
    names = [result.report.headline, *result.report.scorings]
    for name in dict.fromkeys(name for name in names if name in result.report.scorings):
        scoring = result.report.scorings[name]
        known = benchmark.scorings.get(name)
        judge = None if known is None or known.judge is None else known.judge.name
        if (judges := result.report.judged_by.get(name)) is not None:
            state = (
                "" if judges.qualified is None else f", {'not ' * (not judges.qualified)}qualified"
            )
            judge = f"{judges.name}{state}"
        for metric, of in scoring.metrics.items():
            yield RunMetric(
                scoring=name,
                version=scoring.version,
                source=scoring.source,
                judge=judge,
                metric=metric,
                value=of.value,
                unit=of.unit,
                n=of.n,
                stderr=of.stderr,
                interval=of.ci95,
                better=of.better,
                reason=of.reason,
            )


def _provenance(
    run: Run, manifest: Mapping[str, Any], sheet: str, result: Result | None
) -> dict[str, Any]:
    """The provenance that every export contains. Unknown values are left out."""
    identity = manifest["identity"]
    sessions: Sequence[Mapping[str, Any]] = manifest.get("sessions", [])
    report = None if result is None else result.report
    known = {
        "snellen": sessions[-1].get("snellen", "unknown") if sessions else "unknown",
        "identity": run.path.name,
        "identity_fields": identity,
        "asks": identity["asks"],
        "data": {name: value for name, value in identity["data"].items() if value is not None},
        "recipe": manifest.get("recipe"),
        "proof": _proof(sheet),
        "finished": _finished(run, sessions),
        "replies": _states(run) if report is None else report.replies,
        "scorings": None
        if report is None
        else {
            name: {"version": scoring.version, "source": scoring.source}
            for name, scoring in report.scorings.items()
        },
        "readings": None
        if report is None
        else {name: scoring.readings for name, scoring in report.scorings.items()},
        "n": None if report is None else report.n,
        "asked_of": None if report is None else report.asked_of,
        "incomplete": None if report is None or not report.incomplete else True,
        "judges": [*report.judging] or None if report is not None else None,
        "notes": manifest.get("notes", []) if report is None else report.notes,
    }
    return {name: value for name, value in known.items() if value is not None}


def _sheet_of(benchmark: Benchmark) -> str:
    """The benchmark's own description; empty if the benchmark is not in the catalog."""
    if not benchmark.provenance.from_catalog:
        return ""
    with suppress(CatalogError):
        entry = registry.entry_of(benchmark.name)
        return entry.sheet if entry is not None else ""
    return ""


def _proof(sheet: str) -> str | None:
    """The text in the benchmark's sheet that says how the scoring was compared with the authors'
    code; None if there is none."""
    lines = iter(sheet.splitlines())
    for line in lines:
        if line.startswith("Proof "):
            words = line.removeprefix("Proof ").split()
            for more in lines:
                if not more.startswith(" "):
                    break
                words += more.split()
            return " ".join(words)
    return None


def _finished(run: Run, sessions: Sequence[Mapping[str, Any]]) -> str:
    """The time at which the last reply was stored."""
    times = [record.at for record in run.replies() if isinstance(record, ReplyRecord)]
    started = str(sessions[-1].get("started", "")) if sessions else ""
    return max(times, default=started)


def _states(run: Run) -> dict[str, int]:
    """The number of final replies in each state, for a run that has not been scored."""
    finals = (run.final(question.key) for question in run.questions())
    return dict(Counter("absent" if record is None else record.state for record in finals))


# -- its samples


def _scores_of(run: Run) -> dict[tuple[str, int], list[ScoreRow]]:
    """The scorings' results, keyed by sample and repeat. A turn that is scored separately counts as
    a sample. A failed sample has no score, even if `--missing wrong` counts the sample as wrong."""
    scores: dict[tuple[str, int], list[ScoreRow]] = {}
    for row in run.scores():
        if row.reply in ("failed", "absent"):
            row = msgspec.structs.replace(row, score=None)
        scores.setdefault((row.sample, row.repeat), []).append(row)
    return scores


def _samples(
    run: Run, benchmark: Benchmark, scores: Mapping[tuple[str, int], list[ScoreRow]]
) -> Iterator[RunSample]:
    """The samples whose questions the run asked, in the order of the data set. The repeats of a
    sample are consecutive."""
    turns: list[Question] = []
    for question in run.questions():
        if turns and turns[-1].key[:2] != question.key[:2]:
            yield _sample(run, benchmark, turns, scores)
            turns = []
        if question.key.step and turns and turns[-1].key.turn == question.key.turn:
            # The reply to a turn is the reply to its last step. The messages of that step include
            # those of all earlier steps.
            turns[-1] = msgspec.structs.replace(
                turns[-1],
                key=question.key,
                messages=question.messages,
                media=question.media,
                tools=question.tools,
            )
        else:
            turns.append(question)
    if turns:
        yield _sample(run, benchmark, turns, scores)


def _sample(
    run: Run,
    benchmark: Benchmark,
    turns: list[Question],
    scores: Mapping[tuple[str, int], list[ScoreRow]],
) -> RunSample:
    repeat = turns[0].key.repeat
    by_turn = [*_scored_turns(benchmark, turns)]
    names = [question.key.sample for question in by_turn or turns[:1]]
    records = [run.final(question.key) for question in turns]
    return RunSample(
        turns=[
            (with_steps(question, record), record)
            for question, record in zip(turns, records, strict=True)
        ],
        scores=[row for name in names for row in scores.get((name, repeat), [])],
        scored_turns=by_turn,
    )


def _scored_turns(benchmark: Benchmark, turns: list[Question]) -> Iterator[Question]:
    """Yield a question for each turn of a conversation. Yield nothing if the conversation is scored
    as a whole."""
    if benchmark.procedure.conversation.by_turn is None:
        return
    samples = benchmark.turn_samples(sample_of(turns[0]))
    for question, sample in zip(turns, samples, strict=False):
        yield msgspec.structs.replace(
            question,
            key=Key(sample.id, question.key.repeat),
            question=sample.question,
            choices=[*sample.choices],
            target=sample.target,
            references=[*sample.references],
        )


def _counted(samples: Iterator[RunSample], states: Counter[str]) -> Iterator[RunSample]:
    for sample in samples:
        last = sample.last
        states["failed" if sample.error is not None or last is None else last.state] += 1
        yield sample
