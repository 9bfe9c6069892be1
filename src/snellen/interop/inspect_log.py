"""Writes and reads Inspect's logs: `.eval`, a zip of JSON documents.

Source: UKGovernmentBEIS/inspect_ai, version 0.3.285: inspect_ai/log/_log.py (the fields) and
inspect_ai/log/_recorders/eval.py (the names of the documents). Inspect compresses its logs with
Zstandard, so reading such a log needs the extra `inspect`. Snellen writes documents that are
compressed with Deflate, which Inspect can read, so writing a log needs no extra.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from snellen.core.answer import answer_text
from snellen.data import placed
from snellen.errors import DataError
from snellen.interop._layout import CHOICES, ID, QUESTION, REPEAT, REPLY, choices_of, repeat_of
from snellen.interop._zip import document
from snellen.interop.exchange import RunFacts, RunMetric, RunSample, media_of
from snellen.interop.inspect_tools import tool_events, with_calls
from snellen.store import ReplyRecord, ScoreRow

LOG_VERSION = 2
HEADER, SUMMARIES, SAMPLES = "header.json", "summaries.json", "samples/"
STOPS: Mapping[str, str] = {
    "ok": "stop",
    "empty": "stop",
    "truncated": "max_tokens",
    "refused": "content_filter",
}
"""Inspect's term for why the model stopped, keyed by the state of a reply."""
ATTACHMENT = "attachment://"
"""The prefix of a text that refers to an attachment."""
PICTURES = (
    "the log has no pictures: their digests are in the messages and in each sample's metadata"
)


def write(path: Path, facts: RunFacts, samples: Iterable[RunSample]) -> list[str]:
    """Write a run as one log. A failed sample has an error and neither output nor score. Returns
    notes on what the log cannot represent.

    Raises:
        DataError: the file cannot be written.
    """
    summaries: list[dict[str, Any]] = []
    names: set[str] = set()
    failed = pictures = 0
    usage = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    with placed(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as log:
        for sample in samples:
            fields = _sample(facts, sample)
            name = f"{SAMPLES}{sample.id}_epoch_{sample.repeat + 1}.json"
            if name in names:
                raise DataError(f"{path}: two samples have the name {name!r} in the log.")
            names.add(name)
            log.writestr(name, orjson.dumps(fields))
            failed += "error" in fields
            pictures += bool(fields["metadata"].get("media"))
            for used in fields["model_usage"].values():
                usage = {kind: usage[kind] + used[kind] for kind in usage}
            kept = ("id", "epoch", "input", "choices", "target", "scores", "model_usage")
            summary = {key: fields[key] for key in kept if key in fields}
            if "error" in fields:
                summary["error"] = fields["error"]["message"]
            summaries.append({**summary, "completed": "error" not in fields})
        log.writestr(SUMMARIES, orjson.dumps(summaries))
        log.writestr(
            HEADER, orjson.dumps(_header(facts, summaries, usage), option=orjson.OPT_INDENT_2)
        )
    notes = [PICTURES] * bool(pictures)
    if failed:
        notes.append(
            f"{failed:,} samples failed: the log has their errors, and no output or score of them"
        )
    if lost := [figure for figure in facts.figures if figure.value is None]:
        notes.append(
            f"{len(lost):,} metrics without a value, such as {lost[0].metric}, are left out"
        )
    return notes


def _header(
    facts: RunFacts, summaries: list[dict[str, Any]], usage: Mapping[str, int]
) -> dict[str, Any]:
    completed = sum(summary["completed"] for summary in summaries)
    figures: dict[str, list[RunMetric]] = {}
    for figure in facts.figures:
        figures.setdefault(figure.scoring, []).append(figure)
    headline = facts.headline
    identity = str(facts.provenance["identity"])
    return {
        "version": LOG_VERSION,
        "status": "success",
        "eval": {
            "eval_id": identity,
            "run_id": identity,
            "task_id": identity,
            "created": facts.started,
            "task": facts.benchmark,
            "task_version": facts.provenance["asks"],
            "dataset": {
                "name": facts.benchmark,
                "samples": facts.rows,
                "sample_ids": list(dict.fromkeys(summary["id"] for summary in summaries)),
                "shuffled": False,
            },
            "model": facts.model,
            "model_generate_config": {
                name: facts.generation[name]
                for name in ("max_tokens", "temperature", "top_p", "seed")
                if facts.generation.get(name) is not None
            },
            "config": {"epochs": facts.repeats},
            "packages": {"snellen": facts.provenance["snellen"]},
            "metadata": dict(facts.provenance),
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(summaries),
            "completed_samples": completed,
            "scores": [_score(name, of, facts, len(summaries)) for name, of in figures.items()],
            **(
                {}
                if headline is None or headline.value is None
                else {
                    "headline": {
                        "scorer": headline.scoring,
                        "score": headline.scoring,
                        "metric": headline.metric,
                    }
                }
            ),
        },
        "stats": {
            "started_at": facts.started,
            "completed_at": facts.provenance["finished"],
            "model_usage": {facts.model: dict(usage)} if any(usage.values()) else {},
        },
    }


def _score(name: str, figures: list[RunMetric], facts: RunFacts, samples: int) -> dict[str, Any]:
    n = figures[0].n
    return {
        "name": name,
        "scorer": name,
        "scored_samples": n,
        "unscored_samples": max(0, samples - n),
        "metrics": {
            figure.metric: {
                "name": figure.metric,
                "value": figure.value,
                "metadata": {
                    "unit": figure.unit,
                    "n": figure.n,
                    "stderr": figure.stderr,
                    "ci95": figure.interval,
                    "better": figure.better,
                    "reason": figure.reason,
                },
            }
            for figure in figures
            if figure.value is not None
        },
        "metadata": {
            "version": figures[0].version,
            "source": figures[0].source,
            "readings": dict(facts.readings[name]),
        },
    }


def _sample(facts: RunFacts, sample: RunSample) -> dict[str, Any]:
    question = sample.question
    targets = sample.references
    error = sample.error
    fields: dict[str, Any] = {
        "id": sample.id,
        "epoch": sample.repeat + 1,
        "input": question.question,
        "target": targets if len(targets) > 1 else "".join(targets),
        "messages": [
            _message(facts.model, number, role, text, record)
            for number, (role, text, record) in enumerate(sample.transcript)
        ],
        "output": {"model": facts.model, "choices": [], "completion": ""},
        "metadata": {
            "position": question.place,
            "row": question.row,
            "repeat": sample.repeat,
            "tags": question.tags,
            "media": media_of(sample),
            "replies": [_facts_of(record) for _, record in sample.turns if record is not None],
        },
        "model_usage": {},
    }
    with_calls(sample, fields["messages"])
    if events := [*tool_events(sample, facts.started)]:
        fields["events"] = events
    if question.choices:
        fields["choices"] = question.choices
    last = sample.last
    if error is not None:
        fields["error"] = {"message": error, "traceback": "", "traceback_ansi": ""}
        if scores := _scores(sample):  # of its earlier turns
            fields["scores"] = scores
    elif last is not None:
        fields["output"] = _output(facts.model, fields["messages"][-1], last)
        fields["scores"] = _scores(sample)
        fields["metadata"]["unscored"] = {
            _score_name(sample, row): row.state for row in sample.scores if row.score is None
        }
        used = [usage for _, record in sample.turns if (usage := _usage(record)) is not None]
        if used:
            kinds = dict.fromkeys(kind for usage in used for kind in usage)
            fields["model_usage"][facts.model] = {
                kind: sum(usage.get(kind, 0) for usage in used) for kind in kinds
            }
        times = [record.times.total for _, record in sample.turns if record and record.times]
        if times and None not in times:
            fields["total_time"] = sum(filter(None, times))
    return fields


def _score_name(sample: RunSample, row: ScoreRow) -> str:
    return row.scoring if row.sample == sample.id else f"{row.scoring}, {row.sample}"


def _scores(sample: RunSample) -> dict[str, Any]:
    """The scores of a sample, or of its turns."""
    return {
        _score_name(sample, row): {
            "value": row.score,
            "answer": None if row.answer is None else answer_text(row.answer),
            "explanation": f"read by the rule {row.rule!r}" if row.rule else None,
            "metadata": {
                "state": row.state,
                "version": row.version,
                "parts": row.parts,
                "candidates": [answer_text(answer) for answer in row.candidates],
            },
        }
        for row in sample.scores
        if row.score is not None
    }


def _message(
    model: str, number: int, role: str, text: str, record: ReplyRecord | None
) -> dict[str, Any]:
    content: str | list[dict[str, Any]] = text
    if record is not None and record.reasoning is not None:
        content = [
            {"type": "reasoning", "reasoning": record.reasoning},
            {"type": "text", "text": text},
        ]
    message: dict[str, Any] = {"id": f"m{number}", "role": role, "content": content}
    if role == "assistant":
        message |= {"source": "generate", "model": model}
    elif role == "user":
        message["source"] = "input"
    return message


def _output(model: str, message: Mapping[str, Any], record: ReplyRecord) -> dict[str, Any]:
    output: dict[str, Any] = {
        "model": model,
        "choices": [{"message": message, "stop_reason": STOPS.get(record.state, "unknown")}],
        "completion": record.reply,
    }
    if (usage := _usage(record)) is not None:
        output["usage"] = usage
    if record.times is not None and record.times.total is not None:
        output["time"] = record.times.total
    return output


def _usage(record: ReplyRecord | None) -> dict[str, int] | None:
    """The token counts; None unless the server counted both input and output, because Inspect would
    store 0 for an unknown count."""
    used = None if record is None else record.usage
    if used is None or used.input is None or used.output is None:
        return None
    counts = {
        "input_tokens": used.input,
        "output_tokens": used.output,
        "total_tokens": used.input + used.output,
        "input_tokens_cache_read": used.cached,
        "reasoning_tokens": used.reasoning,
    }
    return {kind: count for kind, count in counts.items() if count is not None}


def _facts_of(record: ReplyRecord) -> dict[str, Any]:
    """What is known about a reply but has no field in Inspect's logs."""
    usage, times = record.usage, record.times
    known = {
        "state": record.state,
        "stop": record.stop,
        "attempt": record.attempt,
        "at": record.at,
        "request": record.request,
        "input_tokens": usage and usage.input,
        "output_tokens": usage and usage.output,
        "seconds_to_first": times and times.first,
        "seconds": times and times.total,
    }
    return {name: value for name, value in known.items() if value is not None}


# -- reading


def names_of(path: Path) -> tuple[str, str]:
    """The model and the task of a log.

    Raises:
        DataError: the file is not a log.
    """
    header = _header_of(path)
    return str(header["eval"].get("model", "")), str(header["eval"].get("task", ""))


def notes_of(path: Path) -> list[str]:
    """Notes for the report: the log's task, and the status of the logged run if the run did not
    succeed.

    Raises:
        DataError: the file is not a log.
    """
    header = _header_of(path)
    status = header.get("status", "unknown")
    model, task = names_of(path)
    notes = [f"read from Inspect's log of the task {task!r}, model {model}"]
    if status != "success":
        notes.append(f"incomplete: Inspect's log has the status {status!r}")
    return notes


def rows_of(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A row for each sample and epoch, each with a label for messages. A sample with an error, or
    without output, has no reply.

    Raises:
        DataError: the file is not a log, or a document in it is damaged.
        UsageError: the log needs an extra that is not installed.
    """
    with _opened(path) as log:
        names = [n for n in dict.fromkeys(log.namelist()) if n.startswith(SAMPLES)]
        if not names:
            raise DataError(
                f"{path} has no samples. The log may have been written with --no-log-samples."
            )
        for name in names:
            sample = document(path, log, name)
            if not isinstance(sample, dict) or not isinstance(sample.get("id"), int | str):
                raise DataError(f"{path}: {name} is not a sample of Inspect's log.")
            epoch = sample.get("epoch", 1)
            label = f"sample {sample['id']}, epoch {epoch}"
            where = f"{path}: {label}"
            number = epoch - 1 if isinstance(epoch, int) else epoch
            yield (
                label,
                {
                    ID: str(sample["id"]),
                    REPEAT: repeat_of(number, where),
                    REPLY: _reply_of(sample),
                    QUESTION: _input_of(sample),
                    CHOICES: choices_of(sample.get("choices"), where),
                },
            )


def _header_of(path: Path) -> dict[str, Any]:
    with _opened(path) as log:
        if HEADER not in log.namelist():
            raise DataError(
                f"{path} has no {HEADER}: it is not a complete Inspect log. If the log is still "
                "being written, wait. Otherwise, complete the log with `inspect eval-retry`."
            )
        header = document(path, log, HEADER)
    if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
        raise DataError(f"{path}: its {HEADER} does not belong to an Inspect log.")
    return header


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} is not an Inspect log: {error}.") from error


def _reply_of(sample: Mapping[str, Any]) -> object:
    """The text of the sample's output; None if the sample has an error or no output. Content of a
    type that Inspect does not write is returned unchanged."""
    output = sample.get("output")
    if sample.get("error") is not None or not isinstance(output, dict):
        return None
    choices = output.get("choices")
    if not isinstance(choices, list) or not choices or output.get("error") is not None:
        return None
    message = choices[0].get("message") if isinstance(choices[0], dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    return _text_of(content, sample) if isinstance(content, str | list) else content


def _input_of(sample: Mapping[str, Any]) -> str | None:
    """The text of the input; if the input is a conversation, the text of the user's messages."""
    content = sample.get("input")
    if isinstance(content, list):
        texts = (
            _text_of(message.get("content"), sample)
            for message in content
            if isinstance(message, dict) and message.get("role") == "user"
        )
        return "\n".join(text for text in texts if text is not None)
    return _text_of(content, sample)


def _text_of(content: object, sample: Mapping[str, Any]) -> str | None:
    """The text of a message. References to attachments, which Inspect uses for long texts, are
    replaced with the texts. None if the content has another type, or if an attachment is
    missing."""
    match content:
        case str() if content.startswith(ATTACHMENT):
            attachments = sample.get("attachments")
            known = attachments if isinstance(attachments, dict) else {}
            text = known.get(content.removeprefix(ATTACHMENT))
            return text if isinstance(text, str) else None
        case str():
            return content
        case list():
            parts = [
                _text_of(part["text"], sample)
                for part in content
                if isinstance(part, dict)
                and part.get("type") == "text"
                and part.get("text") is not None
            ]
            known_parts = [part for part in parts if part is not None]
            return "\n".join(known_parts) if len(known_parts) == len(parts) else None
    return None
