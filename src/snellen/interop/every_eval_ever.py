"""Writes and reads the records of Every Eval Ever: a file with the aggregate results, and a file
with a line for each sample.

Source: evaleval/every_eval_ever, version 0.3.0: every_eval_ever/schemas/eval.schema.json and
instance_level_eval.schema.json; the paths of the files are those of that project's data store.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

from snellen.core.answer import answer_text
from snellen.data import placed
from snellen.errors import DataError
from snellen.interop._layout import CHOICES, ID, QUESTION, REPEAT, REPLY, choices_of, repeat_of
from snellen.interop.exchange import (
    RunFacts,
    RunMetric,
    RunSample,
    as_texts,
    media_of,
    references_of,
)
from snellen.store import ReplyRecord, ScoreRow

VERSION = "0.3.0"
UNITS: Mapping[str, str] = {"fraction": "proportion"}
"""The names that Every Eval Ever uses for units."""
UNPORTABLE = re.compile(r'[<>:"\\|?*\x00-\x1f/]')
NUMBER = re.compile("[0-9]{1,6}")
COLUMNS = ("schema_version", "evaluation_id", "sample_id", "interaction_type")
"""The fields that every line for a sample has."""
FILL_IN = (
    "fill in source_organization_name and evaluator_relationship before you submit it: a run does "
    "not know them"
)


@dataclass
class _Lines:
    """What the aggregate file states about the lines that were written, and the number of results
    that got no line, by state."""

    n: int = 0
    digest: Any = field(default_factory=sha256)
    left_out: Counter[str] = field(default_factory=Counter)
    pictures: bool = False


def write(folder: Path, facts: RunFacts, samples: Iterable[RunSample]) -> tuple[Path, list[str]]:
    """Write `data/BENCHMARK/DEVELOPER/MODEL/UUID.json` and `UUID_samples.jsonl` into a folder.

    A sample has a line for each scoring that gives the sample a number. The schema requires a score
    in each line, so samples without a score, such as failed samples, have no line.

    Returns the path of the aggregate file, and notes on what the records cannot represent.

    Raises:
        DataError: the files cannot be written, or no metric has a value.
    """
    if not any(figure.value is not None for figure in facts.figures):
        raise DataError(
            f"No metric of {facts.benchmark} has a value, and a record of Every Eval Ever must "
            "contain a value."
        )
    model = _model_id(facts.model)
    developer, _, name = model.partition("/")
    path = Path("data", _portable(facts.benchmark), _portable(developer), _portable(name))
    stem = str(
        UUID(bytes=sha256(str(facts.provenance["identity"]).encode()).digest()[:16], version=4)
    )
    target = folder / path
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{target} cannot be written: {error.strerror or error}.") from error
    evaluation = f"{facts.benchmark}/{model.replace('/', '_')}/{facts.started}"
    lines = _Lines()
    sheet = f"{stem}_samples.jsonl"
    with placed(target / sheet) as part, open(part, "wb") as file:
        for sample in samples:
            for line in _lines_of(facts, sample, evaluation, model, lines):
                raw = orjson.dumps(line) + b"\n"
                lines.digest.update(raw)
                lines.n += 1
                file.write(raw)
    document = _aggregate(facts, evaluation, model, lines)
    if lines.n:
        document["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": (path / sheet).as_posix(),
            "hash_algorithm": "sha256",
            "checksum": lines.digest.hexdigest(),
            "total_rows": lines.n,
        }
    else:
        (target / sheet).unlink()
    with placed(target / f"{stem}.json") as part:
        part.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    return target / f"{stem}.json", [*_notes(facts, lines), FILL_IN]


def _notes(facts: RunFacts, lines: _Lines) -> Iterator[str]:
    if lines.left_out:
        states = ", ".join(f"{n:,} {state}" for state, n in lines.left_out.items())
        yield f"results without a score have no line, since a line must have one: {states}"
    if lost := [figure for figure in facts.figures if figure.value is None]:
        yield f"{len(lost):,} metrics without a value, such as {lost[0].metric}, are left out"
    if lines.pictures:
        yield "the records have no pictures: their digests are in the lines"


def _aggregate(facts: RunFacts, evaluation: str, model: str, lines: _Lines) -> dict[str, Any]:
    return {
        "schema_version": VERSION,
        "evaluation_id": evaluation,
        "evaluation_timestamp": facts.started,
        "retrieved_timestamp": f"{datetime.now(UTC).timestamp():.0f}",
        "source_metadata": {
            "source_name": "Snellen",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "snellen",
            "version": facts.provenance["snellen"],
            "additional_details": {
                **facts.texts,
                **as_texts({"results_without_a_line": dict(lines.left_out) or None}),
            },
        },
        "model_info": {
            "name": facts.model,
            "id": model,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [
            _result(facts, figure) for figure in facts.figures if figure.value is not None
        ],
    }


def _result(facts: RunFacts, figure: RunMetric) -> dict[str, Any]:
    uncertainty: dict[str, Any] = {"num_samples": figure.n}
    if figure.stderr is not None:
        uncertainty["standard_error"] = {"value": figure.stderr}
    if figure.interval is not None:
        low, high = figure.interval
        uncertainty["confidence_interval"] = {"lower": low, "upper": high, "confidence_level": 0.95}
    is_fraction = figure.unit == "fraction"
    config = facts.generation
    return {
        "evaluation_result_id": _result_id(figure),
        "evaluation_name": facts.benchmark,
        "source_data": {
            "dataset_name": facts.benchmark,
            "source_type": "other",
            "additional_details": as_texts(facts.provenance["data"]),
        },
        "evaluation_timestamp": facts.started,
        "metric_config": {
            "metric_id": f"{facts.benchmark}.{figure.scoring}.{figure.metric}",
            "metric_name": figure.metric,
            "metric_unit": UNITS.get(figure.unit, figure.unit),
            "lower_is_better": figure.better == "lower",
            **({"score_type": "continuous", "min_score": 0, "max_score": 1} if is_fraction else {}),
            "additional_details": as_texts(
                {
                    "scoring": figure.scoring,
                    "version": figure.version,
                    "source": figure.source,
                    "judge": figure.judge,
                    "better": figure.better or "unknown",
                }
            ),
        },
        "score_details": {
            "score": figure.value,
            "details": as_texts(
                {
                    "n": figure.n,
                    "readings": facts.readings[figure.scoring],
                    "replies": facts.provenance["replies"],
                    "reason": figure.reason,
                }
            ),
            "uncertainty": uncertainty,
        },
        "generation_config": {
            "generation_args": {
                name: config[name]
                for name in ("temperature", "top_p", "max_tokens")
                if config.get(name) is not None
            },
            "additional_details": as_texts({"seed": config.get("seed")}),
        },
    }


def _result_id(figure: RunMetric) -> str:
    return f"{figure.scoring}/{figure.metric}"


def _lines_of(
    facts: RunFacts, sample: RunSample, evaluation: str, model: str, lines: _Lines
) -> Iterator[dict[str, Any]]:
    first = {figure.scoring: figure for figure in facts.first_figures}
    for row in sample.scores:
        if row.scoring not in first:
            continue
        if row.score is None or sample.turn_of(row.sample).error is not None:
            lines.left_out[row.state] += 1
            continue
        line = _line(sample, row, row.score == facts.best.get(row.scoring, 1.0))
        lines.pictures |= "media" in line["metadata"]
        yield {
            "schema_version": VERSION,
            "evaluation_id": evaluation,
            "model_id": model,
            "evaluation_name": facts.benchmark,
            "evaluation_result_id": _result_id(first[row.scoring]),
            **line,
        }


def _line(sample: RunSample, row: ScoreRow, is_correct: bool) -> dict[str, Any]:
    turn, transcript = sample.turn_of(row.sample), sample.transcript
    question, last = turn.question, turn.last
    assert last is not None
    several = len(transcript) > 2 or transcript[0][0] != "user"
    number = next(i for i, (*_, own) in enumerate(transcript) if own is last)
    raw = question.question
    references = references_of(question)
    hashed = raw + "".join(references)
    trace = None if last.reasoning is None else [last.reasoning]
    return {
        "sample_id": row.sample,
        "sample_hash": sha256(hashed.encode()).hexdigest(),
        "interaction_type": "multi_turn" if several else "single_turn",
        "input": {
            "raw": raw,
            "formatted": "\n".join(text for _, text, own in transcript if own is None),
            "reference": references,
            "choices": question.choices or None,
        },
        "output": None if several else {"raw": [last.reply], "reasoning_trace": trace},
        "messages": _messages(transcript) if several else None,
        "answer_attribution": _attribution(row, number if several else None),
        "evaluation": {
            "score": row.score,
            "is_correct": is_correct,
            "num_turns": len(sample.turns) if several else None,
        },
        "token_usage": _usage(last) if len(sample.turns) == 1 else None,
        "performance": _performance(last) if len(sample.turns) == 1 else None,
        "error": f"the reply was {row.reply}" if row.reply == "refused" else None,
        "metadata": as_texts(
            {
                "repeat": sample.repeat,
                "position": question.place,
                "row": question.row,
                "reply_state": row.reply,
                "reading_state": row.state,
                "scoring_version": row.version,
                "parts": row.parts or None,
                "media": media_of(sample) or None,
                **{f"tag.{tag}": value for tag, value in question.tags.items()},
            }
        ),
    }


def _messages(
    transcript: Iterable[tuple[str, str, ReplyRecord | None]],
) -> list[dict[str, Any]]:
    return [
        {
            "turn_idx": number,
            "role": role,
            "content": text,
            "reasoning_trace": None if record is None else record.reasoning,
        }
        for number, (role, text, record) in enumerate(transcript)
    ]


def _attribution(row: ScoreRow, number: int | None) -> list[dict[str, Any]]:
    """Where the answer comes from: from the message at the index `number`, or from the only reply
    if `number` is None. Empty if there is no answer."""
    if row.answer is None:
        return []
    return [
        {
            "turn_idx": number or 0,
            "source": "output.raw" if number is None else f"messages[{number}].content",
            "extracted_value": answer_text(row.answer),
            "extraction_method": row.rule or "unknown",
            "is_terminal": True,
        }
    ]


def _usage(record: ReplyRecord) -> dict[str, int | None] | None:
    """The token counts; None unless the server counted both input and output, because the schema
    requires both counts."""
    used = record.usage
    if used is None or used.input is None or used.output is None:
        return None
    return {
        "input_tokens": used.input,
        "output_tokens": used.output,
        "total_tokens": used.input + used.output,
        "input_tokens_cache_read": used.cached,
        "reasoning_tokens": used.reasoning,
    }


def _performance(record: ReplyRecord) -> dict[str, float | None] | None:
    times = record.times
    if times is None:
        return None
    return {
        "latency_ms": None if times.total is None else times.total * 1000,
        "time_to_first_token_ms": None if times.first is None else times.first * 1000,
    }


def _model_id(model: str) -> str:
    """The model's name as DEVELOPER/NAME. The name of the back end at the beginning is left out if
    the rest consists of a developer and a name."""
    _, _, rest = model.partition("/")
    name = rest if "/" in rest else model
    return name if "/" in name else f"local/{name}"


def _portable(name: str) -> str:
    """Convert a name to a name that every operating system accepts as part of a path."""
    return UNPORTABLE.sub("_", name).rstrip(". ") or "unknown"


# -- reading


def is_line(row: Mapping[str, Any]) -> bool:
    """Whether a row is a line for a sample."""
    return all(column in row for column in COLUMNS)


def row_of(row: Mapping[str, Any], label: str) -> Mapping[str, Any]:
    """Convert a line for a sample to the columns of `_layout`. If the line has an error, the reply
    is None.

    Raises:
        DataError: the line lacks a field that the schema requires.
    """
    content = row.get("input")
    if not isinstance(content, dict) or not isinstance(row["sample_id"], str):
        raise DataError(
            f"{label} is not a line of Every Eval Ever, because it has no input or no id."
        )
    details = row.get("metadata")
    repeat = details.get("repeat", "0") if isinstance(details, dict) else "0"
    number = int(repeat) if isinstance(repeat, str) and NUMBER.fullmatch(repeat) else repeat
    return {
        ID: row["sample_id"],
        REPEAT: repeat_of(number, label),
        REPLY: None if row.get("error") is not None else _reply_of(row, label),
        QUESTION: content.get("raw"),
        CHOICES: choices_of(content.get("choices"), label),
    }


def _reply_of(row: Mapping[str, Any], label: str) -> object:
    """The reply that the line contains, unchanged; None if there is no reply, or if a conversation
    ends with an unanswered question."""
    output, messages = row.get("output"), row.get("messages")
    if isinstance(output, dict):
        raw = output.get("raw")
        texts = raw if isinstance(raw, list) else []
        if len(texts) > 1:
            raise DataError(
                f"{label} has {len(texts)} responses. Only lines with one response can be read."
            )
        return texts[0] if texts else None
    for message in reversed(messages if isinstance(messages, list) else []):
        role = message.get("role") if isinstance(message, dict) else None
        if role == "assistant":
            return message.get("content")
        if role == "user":
            break
    return None
