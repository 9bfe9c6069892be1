"""Scores replies with the code of an lmms-eval task: its filters, `process_results`, and
aggregations.

Source: lmms-eval 0.7.3, lmms_eval/evaluator.py (`evaluate`, `_process_document_results`) and
lmms_eval/evaluator_utils.py (`calculate_aggregate_metric`).

Three things differ on purpose. A question without a reply is not passed to the task's code. A
reply whose scoring fails has no score: `process_results` raised an exception, logged an error (as
tasks do when their judge cannot be reached), or returned one of `FAILURES`. A reply for which the
code drew a random number is read as guessed.
"""

from __future__ import annotations

import inspect
import math
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from tempfile import TemporaryDirectory
from threading import RLock
from typing import Any

from snellen import stats
from snellen.benchmarks.families.toolkit import UNIT, random_state, seeded, unchanged_globals
from snellen.benchmarks.families.vlmevalkit_evaluate import flattened
from snellen.core import Reading, Sample
from snellen.core.scoring import ReplyTable, Resolution
from snellen.errors import UsageError
from snellen.metrics import Columns
from snellen.models.user_code import errors_as
from snellen.models.vlmevalkit_messages import aside
from snellen.stats import Direction, Estimate

TOOLKIT = "lmms-eval"
SEED, NUMPY_SEED = 0, 1234
"""The defaults of `random_seed` and `numpy_random_seed` in lmms_eval/evaluator.py,
simple_evaluate."""
REASONING_TAGS = '[["<think>", "</think>"], ["<analysis>", "</analysis>"]]'
"""The default of --reasoning_tags in lmms_eval/__main__.py#L319-L322."""
FAILURES = (
    "[LMMS_EVAL_REQUEST_FAILED",
    "Failed to Get a Proper Review",
    "Failed to obtain answer via API",
    "Failed Request",
    "Fail to Call API",
)
"""The beginnings of the texts that tasks return instead of a verdict."""
WITH_SCORE, WITHOUT_SCORE = "whole reply", "whole reply; not every reply of the run has a score"
"""The rules of readings, which determine whether replies have scores of their own."""
OVERALL = ("overall", "average")
"""Words that select the headline metric by its name. Without them, the first metric is the
headline."""
NO_INTERVAL = f"{TOOLKIT}'s aggregation gives no interval"

Key = tuple[str, str]
"""The names of a metric and of a filter pipeline."""


@dataclass(frozen=True, kw_only=True)
class ScoredReply:
    """What a task's code returned for a reply."""

    values: Mapping[Key, Any]
    """The results of `process_results`, for each filter pipeline."""
    guessed: bool = False
    """Whether the code drew a random number."""
    failure: str = ""
    """Why the reply has no score; empty if it has one."""


Pass = Sequence[tuple[int, ScoredReply | float]]
"""The rows of a repeat. Each row has its cluster and the result of its reply. A question without a
reply has the score that it counts as."""


class TaskScores:
    """The scores that a task gives replies, and the figures that it computes from them."""

    def __init__(self, task: Any, title: str) -> None:
        self._task = task
        self._title = title
        config = task.config
        tags = getattr(config, "reasoning_tags", None)
        reasoning = import_module("lmms_eval.api.reasoning")
        self._tags = reasoning.parse_reasoning_tags_config(
            cli_value=REASONING_TAGS, task_value=tags
        )
        self._strip = reasoning.strip_reasoning_tags
        if getattr(config, "auto_strip_thinking", False) and self._tags is None:
            stripping = import_module("lmms_eval.filters.transformation").StripThinkingFilter
            for pipeline in task._filters:
                pipeline.filters.insert(0, stripping())
        self._mean = import_module("lmms_eval.api.registry").get_aggregation("mean")
        self._keys = _keys(task)
        self._known: dict[tuple[int, str], ScoredReply] = {}
        self._lock = RLock()
        self._columns: Columns | None = None
        self._estimates: Mapping[str, Estimate] = {}
        self._nested: Mapping[str, Estimate] = {}

    @property
    def labels(self) -> Sequence[str]:
        """The names of the metrics, of which the first is the headline. If a task has several
        filter pipelines, a name ends with that of the pipeline, as in lmms-eval's results."""
        return [*self._keys]

    def better(self, label: str) -> Direction | None:
        """Whether higher or lower values of a metric are better."""
        higher = self._task.higher_is_better().get(self._keys[label][0])
        return None if higher is None else "higher" if higher else "lower"

    def metric(self, label: str) -> Callable[[Columns], Estimate]:
        """The function that computes a metric."""
        return partial(self._metric, label=label)

    def _metric(self, columns: Columns, label: str) -> Estimate:
        self._aggregate(columns)
        return self._estimates[label]

    def nested(self, columns: Columns) -> Mapping[str, Estimate]:
        """The numbers in the aggregates that are not numbers themselves: `metric|key`."""
        self._aggregate(columns)
        return self._nested

    # -- single replies

    def score(self, reading: Reading, sample: Sample) -> float | None:
        """The score of a reply: its number under the first metric that gives it one. If a reply of
        the run has no such number, no reply has a score, since metrics would otherwise see only the
        replies with a score."""
        if reading.answer is None or reading.rule == WITHOUT_SCORE:
            return None
        return self._number(self._scored(_doc(sample), str(reading.answer)))

    def resolve(self, table: ReplyTable) -> Resolution:
        """Score all replies in the order of the documents, as lmms-eval does, since the random
        numbers of a reply depend on the replies before it."""
        results: dict[str, tuple[str, ScoredReply]] = {}
        with self._lock, _errors_logged() as errors, seeded(SEED, NUMPY_SEED):
            for line in sorted(table.lines, key=lambda line: line.row_index):
                doc, text = _doc(line.sample), str(line.reading.answer)
                scored = self._known.get((doc, text))
                if scored is None or scored.guessed:
                    scored = self._known[doc, text] = self._computed(doc, text, errors)
                results[line.sample.id] = text, scored
        all_have_scores = all(self._number(scored) is not None for _, scored in results.values())
        rule = WITH_SCORE if all_have_scores else WITHOUT_SCORE
        return Resolution(
            readings={
                sample: Reading(answer=None, rule="its scoring failed")
                if scored.failure
                else Reading(answer=text, rule=rule, guessed=scored.guessed)
                for sample, (text, scored) in results.items()
            },
            notes=tuple(_notes({name: scored for name, (_, scored) in results.items()})),
        )

    def _scored(self, doc: int, text: str) -> ScoredReply:
        """The result for a reply. A reply that `resolve` has not seen is scored by itself."""
        with self._lock:
            if (doc, text) not in self._known:
                with _errors_logged() as errors, seeded(SEED, NUMPY_SEED):
                    self._known[doc, text] = self._computed(doc, text, errors)
            return self._known[doc, text]

    def _computed(self, doc: int, text: str, errors: list[str]) -> ScoredReply:
        errors.clear()
        before = random_state()
        try:
            with aside(), errors_as(UsageError, "process_results failed", None), unretried():
                values = self._values(doc, text)
        except UsageError as error:
            return ScoredReply(values={}, failure=f"{error}")
        failure = errors[0] if errors else next(_failures(values), "")
        if failure:
            return ScoredReply(values={}, failure=failure)
        return ScoredReply(values=values, guessed=random_state() != before)

    def _values(self, doc: int, text: str) -> Mapping[Key, Any]:
        task = self._task
        instance = import_module("lmms_eval.api.instance").Instance(
            request_type=task.OUTPUT_TYPE,
            arguments=(),
            idx=0,
            metadata={"task": task.config.task, "doc_id": doc, "repeats": 1},
        )
        instance.resps.append(text)
        docs = task.eval_docs.select([doc])
        for pipeline in task._filters:
            pipeline.apply([instance], docs)
        row = task.eval_docs_no_media[doc]
        # Without the retries, which would wait two seconds after each exception.
        process = getattr(task.process_results, "__wrapped__", None)
        run = task.process_results if process is None else partial(process, task)
        values: dict[Key, Any] = {}
        for name, filtered in instance.filtered_resps.items():
            results = run(row, [self._without_thoughts(filtered)])
            values |= {(metric, name): value for metric, value in results.items()}
        return values

    def _without_thoughts(self, filtered: Any) -> Any:
        if self._tags is None:
            return filtered
        if isinstance(filtered, list):
            return [self._without_thoughts(item) for item in filtered]
        return self._strip(filtered, self._tags) if isinstance(filtered, str) else filtered

    def _number(self, scored: ScoredReply) -> float | None:
        """The number of a reply under the first metric that gives it one. As in lmms-eval's
        standard errors, an object may have its number in the field `score_key`."""
        field = getattr(self._task.config, "score_key", None) or "score"
        for key in self._keys.values():
            value = scored.values.get(key)
            value = value.get(field) if isinstance(value, Mapping) else value
            if (number := _as_number(value)) is not None:
                return number
        return None

    # -- all replies

    def _aggregate(self, columns: Columns) -> None:
        with self._lock:
            if self._columns is columns:
                return
            passes, excluded = self._passes(columns)
            self._estimates, self._nested = {}, {}
            for label, key in self._keys.items():
                self._estimates |= {label: self._estimate(label, key, passes, excluded)}
            self._columns = columns

    def _passes(self, columns: Columns) -> tuple[Sequence[Pass], int]:
        """Divide the rows into one list for each repeat. Also count the questions that are left
        out."""
        doc = columns.tags["doc"]
        passes: list[list[tuple[int, ScoredReply | float]]] = []
        seen: dict[str, int] = {}
        excluded = 0 if columns.unscored is None else columns.unscored.n
        state = columns.state
        for row, text in enumerate(columns.answer):
            name = doc.names[doc.codes[row]]
            if text is None and state.names[state.codes[row]] != "no-reply":
                excluded += 1
                continue
            if text is not None:
                scored: ScoredReply | float = self._scored(int(name), str(text))
            else:
                scored = 0.0 if columns.score is None else float(columns.score[row])
            repeat = seen[name] = seen.get(name, -1) + 1
            if repeat == len(passes):
                passes.append([])
            passes[repeat].append((int(columns.cluster[row]), scored))
        return passes, excluded

    def _estimate(
        self,
        label: str,
        key: Key,
        passes: Sequence[Pass],
        excluded: int,
    ) -> Estimate:
        function = self._task.aggregation()[key[0]]
        rows = [
            [
                (cluster, scored if isinstance(scored, float) else scored.values[key])
                for cluster, scored in of_pass
                if isinstance(scored, float) or key in scored.values
            ]
            for of_pass in passes
        ]
        rows = [of_pass for of_pass in rows if of_pass]
        items = [item for of_pass in rows for _, item in of_pass]
        n = len(items)
        if not items:
            return Estimate(value=None, n=0, unit=UNIT, reason="process_results gives no values")
        assumed = sum(isinstance(scored, float) for of_pass in passes for _, scored in of_pass)
        numbers = [number for item in items if (number := _as_number(item)) is not None]
        is_mean = function is self._mean and len(numbers) == n
        # A mean leaves questions out. It can count them as wrong if it covers all questions, and if
        # 0 and 1 are the scores of wrong and right answers.
        is_share = is_mean and n == sum(map(len, passes)) and _are_shares(numbers)
        if (excluded and not is_mean) or (assumed and not is_share):
            reason = (
                f"{excluded + assumed} replies are missing or have no score, and the task's "
                "aggregation may need the reply to every question"
            )
            return Estimate(value=None, n=n, unit=UNIT, reason=reason)
        try:
            results = [self._result(function, [item for _, item in of_pass]) for of_pass in rows]
        except UsageError as error:
            return Estimate(value=None, n=n, unit=UNIT, reason=f"{error}")
        values = [value for result in results if (value := _as_number(result)) is not None]
        if len(values) < len(results):
            self._put_nested(label, results, n)
            reason = "the task's aggregation gives no single number"
            return Estimate(value=None, n=n, unit=UNIT, reason=reason)
        value = values[0] if len(values) == 1 else sum(values) / len(values)
        if not is_mean:
            return Estimate(value=value, n=n, unit=UNIT, reason=NO_INTERVAL)
        return _mean_estimate(value, rows)

    def _result(self, function: Any, items: list[Any]) -> Any:
        """The result of an aggregation. Aggregations that write a file for a test server get a
        temporary folder."""
        failed = "the task's aggregation failed"
        with (
            aside(),
            errors_as(UsageError, failed, None),
            seeded(SEED, NUMPY_SEED),
            unchanged_globals(function),
        ):
            if "args" not in inspect.signature(function).parameters:
                return function(items)
            with TemporaryDirectory(prefix="snellen-") as folder:
                return function(items, args=Namespace(output_path=folder))

    def _put_nested(self, label: str, results: Sequence[Any], n: int) -> None:
        if len(results) == 1 and not isinstance(results[0], str | None):
            self._nested = {
                **self._nested,
                **{
                    f"{label}|{name}": Estimate(value=value, n=n, unit=UNIT, reason=NO_INTERVAL)
                    for name, value in flattened(results[0]).items()
                },
            }


def _keys(task: Any) -> dict[str, Key]:
    """The metric and the filter pipeline of each metric's name, with the headline first."""
    filters = [pipeline.name for pipeline in task._filters]
    keys = {
        metric if len(filters) == 1 else f"{metric},{name}": (metric, name)
        for metric in task.aggregation()
        for name in filters
    }
    first = next((label for word in OVERALL for label in keys if word in label.lower()), None)
    return keys if first is None else {first: keys[first], **keys}


def _mean_estimate(value: float, rows: Sequence[Sequence[tuple[int, Any]]]) -> Estimate:
    """The mean that the task's aggregation gave, with our interval."""
    import numpy as np

    pairs = [pair for of_pass in rows for pair in of_pass]
    scores = [float(item) for _, item in pairs]
    clusters = np.array([cluster for cluster, _ in pairs], dtype=np.int32)
    estimate = replace(stats.mean(np.array(scores), clusters), value=value)
    return estimate if _are_shares(scores) else replace(estimate, unit=UNIT)


def _are_shares(numbers: Sequence[float]) -> bool:
    return all(0 <= number <= 1 for number in numbers)


def _doc(sample: Sample) -> int:
    doc: Any = sample.data["doc"]
    return int(doc)


def _as_number(value: Any) -> float | None:
    value = value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _failures(value: Any) -> Iterator[str]:
    """Yield the texts in a result that stand for a failure."""
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, list | tuple):
        for item in value:
            yield from _failures(item)
    elif isinstance(value, str) and value.startswith(FAILURES):
        yield value


def _notes(results: Mapping[str, ScoredReply]) -> Iterator[str]:
    guesses = sum(scored.guessed for scored in results.values())
    if guesses:
        yield f"for {guesses:,} replies, the task's code drew a random number; they are guessed"
    failed = [(name, scored.failure) for name, scored in results.items() if scored.failure]
    if failed:
        sample, failure = failed[0]
        yield (
            f"{len(failed):,} replies could not be scored by the task's code and are left out; the "
            f"first is that to sample {sample}: {failure}"
        )


@contextmanager
def _errors_logged() -> Iterator[list[str]]:
    """Collect the errors that lmms-eval's code logs inside the block."""
    logger = import_module("loguru").logger
    errors: list[str] = []
    sink = logger.add(
        lambda message: errors.append(str(message).strip()), level="ERROR", format="{message}"
    )
    try:
        yield errors
    finally:
        logger.remove(sink)


@contextmanager
def unretried() -> Iterator[None]:
    """Replace the exception of lmms-eval's retries with that of the last attempt."""
    retry_error: Any = getattr(sys.modules.get("tenacity"), "RetryError", ())
    try:
        yield
    except retry_error as error:
        raise error.last_attempt.exception() from error
