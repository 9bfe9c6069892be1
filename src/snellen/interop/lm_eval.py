"""Writes and reads sample files in the format of lm-eval's --log_samples. Also writes the results
file that belongs to the sample files.

Source: EleutherAI/lm-evaluation-harness@034ab03621186e68aa1f73ee1508370580ea77b5:
lm_eval/loggers/evaluation_tracker.py, in `save_results_aggregated` and `save_results_samples`, and
lm_eval/evaluator.py for the fields of a sample.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from snellen.core.answer import answer_text
from snellen.data import placed
from snellen.interop.exchange import (
    RunFacts,
    RunMetric,
    RunSample,
    media_of,
    questions_of,
    text_of,
)
from snellen.store import STEM, ScoreRow, safe_name

NAME = re.compile(r"samples_(?P<task>.+)_\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(\.\d+)?")
"""The name of a file of samples, without its suffix."""
COLUMNS = ("doc_id", "resps", "filter")
"""Fields that every sample has; lmms-eval's samples lack `filter`."""


def write(
    folder: Path, facts: RunFacts, samples: Iterable[RunSample], when: datetime
) -> tuple[Path, list[str]]:
    """Write `samples_TASK_TIME.jsonl` and `results_TIME.json` into a folder.

    A question has one line for each scoring that gives the question a score, just as lm-eval writes
    one line for each filter. A question without a score has one line without a metric. A line
    contains the replies to all repeats. Failed replies are left out, because programs that read the
    file would treat null as the answer `None`. A question whose replies all failed has no line. The
    results file contains the errors of failed replies.

    Returns the path of the samples, and notes on what the files cannot represent.

    Raises:
        DataError: a file cannot be written.
    """
    time = when.strftime("%Y-%m-%dT%H-%M-%S.%f")
    task = safe_name(facts.task, room=STEM - len(time) - 9)
    path = folder / f"samples_{task}_{time}.jsonl"
    several = pictures = False
    errors: dict[str, dict[str, str]] = {}
    unscored = 0
    with placed(path) as part, open(part, "wb") as file:
        for repeats in questions_of(facts, samples):
            several |= len(repeats[0].turns) > 1
            pictures |= bool(media_of(repeats[0]))
            if failed := errors_of(repeats):
                errors[repeats[0].id] = failed
            for line in _lines(facts, [sample for sample in repeats if sample.error is None]):
                unscored += not line["metrics"]
                file.write(orjson.dumps(line) + b"\n")
    results = folder / f"results_{time}.json"
    write_results(results, facts, when.timestamp(), errors)
    notes = [f"the results of all samples are in {results}"]
    if errors:
        notes.append(
            f"the failed replies to {len(errors):,} questions are not in the samples; their errors "
            "are in the results"
        )
    if unscored:
        notes.append(
            f"{unscored:,} lines have no metric, because no scoring gives them a score. That is "
            "not a score of 0"
        )
    if several:
        notes.append("only the last reply of each conversation is in the file")
    if pictures:
        notes.append("the file has no pictures: their digests are in `doc`")
    return path, notes


def replies_of(repeats: Iterable[RunSample]) -> list[str | None]:
    """The last reply of each repeat; None if the reply failed."""
    return [
        None if sample.last is None or sample.error is not None else sample.last.reply
        for sample in repeats
    ]


def mean_score(rows: Iterable[ScoreRow]) -> float | None:
    """The mean of the scores that are not None; None if there are no such scores."""
    scores = [row.score for row in rows if row.score is not None]
    return sum(scores) / len(scores) if scores else None


def scoring_facts(repeats: Iterable[RunSample], scoring: str) -> list[dict[str, Any]]:
    """The scoring's result for each repeat: the score, the state, the answer, and the rule."""
    return [
        {
            "repeat": row.repeat,
            "score": row.score,
            "state": row.state,
            "reply": row.reply,
            "answer": None if row.answer is None else answer_text(row.answer),
            "rule": row.rule,
            "version": row.version,
        }
        for sample in repeats
        for row in sample.scores
        if row.scoring == scoring
    ]


def errors_of(repeats: Iterable[RunSample]) -> dict[str, str]:
    """The errors of failed repeats, keyed by the number of the repeat."""
    return {f"{sample.repeat}": sample.error for sample in repeats if sample.error is not None}


def _lines(facts: RunFacts, repeats: list[RunSample]) -> Iterator[dict[str, Any]]:
    if not repeats:
        return
    first = repeats[0]
    question = first.question
    target = "\n".join(first.references)
    prompt = "\n".join(text_of(question, parts) for _, parts in question.messages)
    replies = replies_of(repeats)
    doc = {
        "id": first.id,
        "question": question.question,
        "choices": question.choices,
        "row": question.row,
        "tags": question.tags,
        "media": media_of(first),
    }
    ours = {
        "repeats": [sample.repeat for sample in repeats],
        "readings": {
            figure.scoring: scoring_facts(repeats, figure.scoring) for figure in facts.first_figures
        },
    }
    base = {
        "doc_id": question.place,
        "doc": doc | ours,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": dict(facts.generation)}},
        "resps": [replies],
        "filtered_resps": replies[:1],
        "doc_hash": _hash(orjson.dumps(doc)),
        "prompt_hash": _hash(prompt.encode()),
        "target_hash": _hash(target.encode()),
    }
    lines = 0
    for figure in facts.first_figures:
        rows = [row for sample in repeats for row in sample.scores if row.scoring == figure.scoring]
        score = mean_score(rows)
        if score is not None:
            lines += 1
            yield {
                **base,
                "filter": figure.scoring,
                "metrics": [figure.metric],
                figure.metric: score,
            }
    if not lines:
        yield {**base, "filter": "none", "metrics": []}


def write_results(
    path: Path,
    facts: RunFacts,
    date: float | str,
    errors: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Write the metrics of a run in the format of lm-eval and lmms-eval. The key `METRIC,SCORING`
    has the value, and the key `METRIC_stderr,SCORING` has the value's standard error, or N/A. A
    metric without a value is left out. `errors` contains the errors of failed replies, by sample
    and repeat.

    Raises:
        DataError: the file cannot be written.
    """
    task = facts.task
    values: dict[str, Any] = {"alias": task}
    for figure in facts.figures:
        if figure.value is not None:
            error = "N/A" if figure.stderr is None else figure.stderr
            values[f"{figure.metric},{figure.scoring}"] = figure.value
            values[f"{figure.metric}_stderr,{figure.scoring}"] = error
    document = {
        "results": {task: values},
        "group_subtasks": {task: []},
        "configs": {
            task: {
                "task": task,
                "repeats": facts.repeats,
                "generation_kwargs": dict(facts.generation),
                "metadata": {
                    **facts.provenance,
                    "metrics": [_metric(figure) for figure in facts.figures],
                    "readings": facts.readings,
                    **({"errors": errors} if errors else {}),
                },
            }
        },
        "versions": {task: facts.provenance["asks"]},
        "higher_is_better": {
            task: {
                figure.metric: figure.better == "higher"
                for figure in facts.figures
                if figure.better is not None
            }
        },
        "n-samples": {
            task: {
                "original": facts.rows,
                "effective": 0 if facts.headline is None else facts.headline.n,
            }
        },
        "config": {"model": "snellen", "model_args": f"model={facts.model}"},
        "model_source": "snellen",
        "model_name": facts.model,
        "date": date,
    }
    with placed(path) as part:
        part.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")


def _metric(figure: RunMetric) -> dict[str, Any]:
    return {
        "scoring": figure.scoring,
        "metric": figure.metric,
        "value": figure.value,
        "unit": figure.unit,
        "n": figure.n,
        "stderr": figure.stderr,
        "ci95": figure.interval,
        "reason": figure.reason,
    }


def _hash(raw: bytes) -> str:
    return sha256(raw).hexdigest()


# -- reading


def has_repeats(row: Mapping[str, Any]) -> bool:
    """Whether the responses of a row are repeats, even if there is only one response. Responses are
    repeats in lm-eval's own samples, and in samples that Snellen wrote with numbers of repeats."""
    return "repeats" in row or all(column in row for column in COLUMNS)


def responses(row: Mapping[str, Any]) -> list[tuple[object, str | None]] | None:
    """The responses to a sample's only request, as pairs (repeat, response); None if `resps` has
    another structure.

    The field `resps` contains a list of responses for each request of a sample. For questions whose
    choices are ranked, `resps` contains several requests, or pairs instead of texts.
    """
    match row.get("resps"):
        case [[_, *_] as texts] if all(text is None or isinstance(text, str) for text in texts):
            numbers = row.get("repeats")
            if isinstance(numbers, list) and len(numbers) == len(texts):
                return [*zip(numbers, texts, strict=True)]  # in our own files
            return [*enumerate(texts)]
    return None


def sample_id(row: Mapping[str, Any]) -> str | None:
    """The sample's id in one of our own files; None in other files."""
    name = _own_doc(row).get("id")
    return name if isinstance(name, str) else None


def _own_doc(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The field `doc` of a line in one of our own files; empty in other files."""
    doc = row.get("doc")
    return doc if isinstance(doc, Mapping) and {"id", "repeats", "readings"} <= doc.keys() else {}
