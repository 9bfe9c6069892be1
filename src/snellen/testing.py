"""Checks whether a benchmark, metric, or model fulfills its contract.

    from snellen.testing import check_benchmark, check_metric, check_model

Each function raises an `AssertionError` that states what is wrong and what is expected. `snellen
check` and Snellen's own tests call the same functions.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from string import ascii_uppercase

from snellen import api, registry
from snellen.analysis.capabilities import LEAVES
from snellen.analysis.result import Result
from snellen.copies import changed
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import (
    Emission,
    Forks,
    Generates,
    Query,
    Ranks,
    Reply,
    Request,
    SessionSpec,
    Streams,
    loaded,
    request_digest,
)
from snellen.core.presentation import UNMAPPED
from snellen.core.sample import Sample
from snellen.data import jsonl
from snellen.media.content import Frame
from snellen.metrics import Category, Columns, Metric
from snellen.models.recorded import Recorded
from snellen.models.scripted import Scripted
from snellen.run import dummies
from snellen.run.score_run import judgeable
from snellen.scoring.judge import graded, replies_in
from snellen.store import SCORES, Run

SHEET = ("Paper", "Data", "Prompt", "Scoring", "Proof")
DRAWS = 400
"""The minimum number of random answers in the check of the random model."""
Z999 = 3.2905
"""The two-sided 99.9 % quantile of the normal distribution."""


@dataclass(frozen=True)
class CheckRow:
    """The headline value of a dummy model under one scoring."""

    scoring: str
    """The scoring."""
    dummy: str
    """The dummy model."""
    expected: float | tuple[float, float] | None
    """The expected value, or an interval for the random model; None if there must be no value."""
    got: float | None
    """The actual value; None if there is no value."""
    ok: bool
    """Whether the actual value is as expected."""


@dataclass(frozen=True)
class CheckReport:
    """The scores of dummy models on a benchmark's bundled rows."""

    benchmark: str
    """The benchmark."""
    n: int
    """The number of bundled rows."""
    rows: Sequence[CheckRow]
    """One row for each scoring and dummy model."""

    @property
    def passed(self) -> bool:
        return all(row.ok for row in self.rows)


def check_benchmark(name: str | Benchmark) -> CheckReport:
    """Check that a benchmark fulfills its contract on its bundled rows, and score dummy models.

    Pass your own benchmark as an object that has a few rows as its data. If all right answers are
    hidden, dummy models have no score, and the report has no rows.

    Raises:
        AssertionError: the benchmark violates its contract. The message says how.
    """
    benchmark = (
        registry.benchmark(name, data=Path(registry.SYNTHETIC)) if isinstance(name, str) else name
    )
    _keeps_to_the_contract(benchmark)
    assert benchmark.check is not None
    rows: list[CheckRow] = []
    hidden = all(sample.hidden for sample in _turns(benchmark))
    with tempfile.TemporaryDirectory() as folder:
        for dummy, make in dummies.DUMMIES.items():
            replies = dummies.table(benchmark, make(benchmark.check))
            got = _headlines(benchmark, Recorded(dummy, replies), Path(folder))
            if hidden:
                assert not any(value is not None for value in got.values()), (
                    f"{benchmark.name}: the right answers are hidden, but {dummy} has a score"
                )
                continue
            for scoring in _readable_scorings(benchmark):
                expected = benchmark.check.expect[scoring][dummy]
                value = got[scoring]
                ok = value is expected is None or (
                    value is not None
                    and expected is not None
                    and math.isclose(value, expected, abs_tol=1e-9)
                )
                rows.append(CheckRow(scoring, dummy, expected, value, ok))
        rows += [] if hidden else _random(benchmark, Path(folder))
    return CheckReport(benchmark.name, benchmark.data.facts().rows, rows)


def _turns(benchmark: Benchmark) -> Iterator[Sample]:
    """Yield all samples. A conversation whose turns are scored separately yields one sample per
    turn."""
    for row in benchmark.data:
        yield from benchmark.turn_samples(benchmark.read(row))


def _readable_scorings(benchmark: Benchmark) -> list[str]:
    """Return the scorings that can score the benchmark's kind of reply."""
    return [
        name
        for name, scoring in benchmark.scorings.items()
        if scoring.reads == benchmark.procedure.kind
    ]


def _keeps_to_the_contract(benchmark: Benchmark) -> None:
    name = benchmark.name
    entry = next((entry for entry in registry.entries() if entry.name == name), None)
    if entry is not None:
        for heading in SHEET:
            assert heading in entry.sheet, (
                f"{name}: the sheet must have a line {heading!r} that gives the source"
            )
        for alias, options in entry.aliases.items():
            same = registry.benchmark(alias, data=Path("synthetic"))
            assert same.name == name, f"{name}: the alias {alias!r} names another benchmark"
            assert alias not in (name, name.replace("-", "_")), (
                f"{name}: the alias {alias!r} is already the name"
            )
            for key, value in options.items():
                assert same.provenance.options[key] == value, (
                    f"{name}: the alias {alias!r} must set the option {key}"
                )
    samples = [benchmark.sample(row.position, row) for row in benchmark.data]
    again = [benchmark.sample(row.position, row) for row in benchmark.data]
    assert samples, f"{name}: there are no bundled rows"
    assert samples == again, f"{name}: the same rows must give the same samples"
    assert len({sample.id for sample in samples}) == len(samples), f"{name}: ids must be unique"
    assert benchmark.check is not None, (
        f"{name}: the benchmark must have a Check with the scores of dummy models"
    )
    for scoring in _readable_scorings(benchmark):
        expected = set(benchmark.check.expect.get(scoring, {}))
        lacking = [dummy for dummy in dummies.DUMMIES if dummy not in expected]
        assert not lacking, (
            f"{name}: Check.expect of {scoring} lacks {', '.join(lacking)}. Add the score that "
            "each of these models must have, or None for a model that must have no score."
        )
        strange = sorted(expected - {*dummies.DUMMIES})
        assert not strange, (
            f"{name}: Check.expect of {scoring} has unknown models: {', '.join(strange)}. The "
            f"models are {', '.join(dummies.DUMMIES)}."
        )
        rules = benchmark.scorings[scoring]
        assert rules.source == "ours" or "@" in rules.source, (
            f"{name}: the source of {scoring} must name a commit (REPOSITORY@COMMIT)"
        )
    if benchmark.presentation.capabilities is not None:
        strange = sorted(
            set(benchmark.presentation.capabilities.leaves.values()) - {*LEAVES, UNMAPPED}
        )
        assert not strange, f"{name}: {', '.join(strange)}: not a leaf of capabilities.TREE"
        assert benchmark.presentation.capabilities.source, (
            f"{name}: the capabilities must name the source of the categories"
        )
    for sample in samples:
        missing = set(benchmark.presentation.break_down_by) - set(sample.tags)
        assert not missing, f"{name}: sample {sample.id} has no tag {', '.join(missing)}"
        assert all(isinstance(value, str) for value in sample.tags.values())
        request, second_request = benchmark.request(sample), benchmark.request(sample)
        assert request is not None, f"{name}: sample {sample.id} has no request"
        assert request_digest(loaded(request)) == request_digest(
            loaded(second_request or request)
        ), f"{name}: the prompt of {sample.id} differs when it is created again"
        for rules in benchmark.scorings.values():
            for text in ("", "A", "\\boxed{", "é" * 50, "9**9**9", "yes" * 200):
                reading = rules.parse(Reply(text=text), sample)
                assert reading.rule, f"{name}: a reading must have the name of its rule"
                if not sample.hidden:
                    rules.score(reading, sample)


def _headlines(benchmark: Benchmark, model: Generates, out: Path) -> dict[str, float | None]:
    opened = registry.Opened(model=model, name=model.name, server=model.name, concurrency=32)
    # Dummy models cost nothing, and scoring their replies may need fewer packages than scoring
    # those of real models.
    scorings = {
        name: replace(scoring, check_installation=None)
        for name, scoring in benchmark.scorings.items()
    }
    plan = api.Plan(benchmarks=[vary(benchmark, scorings=scorings)], models=[opened], out=out)
    result = _judged(benchmark, api.run_plan(plan)[0].result)
    failed = result.report.replies.get("failed", 0)
    assert not failed, f"{failed} questions cannot be asked: see {result.run}/replies.jsonl"
    n = result.report.conversations or result.report.n
    assert n == benchmark.data.facts().rows, "the report must count every sample"
    return {
        name: next(iter(scoring.metrics.values())).value
        for name, scoring in result.report.scorings.items()
    }


def _judged(benchmark: Benchmark, result: Result | None) -> Result:
    """Add the verdicts of a perfect judge to a result, if any scoring has a judge."""
    assert result is not None
    judges = {
        name: scoring.judge
        for name, scoring in benchmark.scorings.items()
        if scoring.judge and scoring.reads == benchmark.procedure.kind
    }
    if not judges:
        return result
    verdict = benchmark.check and benchmark.check.verdict
    assert verdict, (
        f"{benchmark.name}: Check.verdict must return the verdict of a judge that is always right"
    )
    assert result.run is not None
    run = Run(result.run)
    run.load()
    verdicts = {}
    with closing(run):
        for name, judge in judges.items():
            replies = partial(judgeable, run, benchmark)
            questions = graded(benchmark, name, replies, of=f"{run.path}", digest="")
            for row in questions.data:
                question = questions.sample(0, row)
                pairs = replies_in(question)
                words = [(judge.perfect or verdict)(*pair) for pair in pairs]
                messages = questions.prompt(question, ())
                if judge.then is not None and judge.then_when is None:
                    # In the first of two stages, a perfect judge extracts the reply itself. If the
                    # second stage is optional, a perfect judge decides in the first one.
                    sample, reply = pairs[0]
                    verdicts[messages] = extraction = reply.text or "null"
                    messages = judge.then(sample, reply, extraction)
                verdicts[messages] = (
                    words[0] if judge.batches is None else judge.batches.join(words)
                )
    model = Scripted(lambda request: verdicts[request.messages], name="scripted")
    opened = registry.Opened(model=model, name=model.name, server=model.name, concurrency=32)
    plan = api.Plan(benchmarks=[], models=[opened])
    return api.judge_run(result.run, plan, benchmark=benchmark, scorings=[*judges])[0]


class _InForm:
    """A model whose letters and choices are put in the form that the benchmark's prompt
    requests."""

    def __init__(self, model: object, benchmark: Benchmark, samples: Sequence[Sample]) -> None:
        assert isinstance(model, Generates) and benchmark.check is not None
        self.name = model.name
        self._model = model
        self._says = benchmark.check.says
        requests = ((benchmark.request(sample), sample) for sample in samples)
        self._samples = {_text_of(request): sample for request, sample in requests if request}

    async def generate(self, request: Request) -> Reply:
        reply = await self._model.generate(request)
        sample = self._samples.get(_text_of(request))
        if sample is None:
            return reply
        letters = {
            text: letter for letter, text in zip(ascii_uppercase, sample.choices, strict=False)
        }
        letter = letters.get(reply.text, reply.text)
        return changed(reply, text=self._says(sample, letter))


def _text_of(request: Request) -> str:
    return "\n".join(message.text for message in request.messages)


def _random(benchmark: Benchmark, out: Path) -> list[CheckRow]:
    """Check that the mean score of random answers is within the 99.9 % interval around chance. This
    check applies only to benchmarks with choices. The check uses mean scores of samples instead of
    headline values, since the chance level differs for metrics such as circular accuracy or F1."""
    samples = [*_turns(benchmark)]
    chances = {sample.id: 1 / len(sample.choices) if sample.choices else 0.0 for sample in samples}
    if not any(chances.values()) or benchmark.procedure.kind != "generate":
        return []
    repeats = math.ceil(DRAWS / len(samples))
    opened = registry.model("baseline/random")
    if benchmark.check is not None and benchmark.check.says(samples[0], "A") != "A":
        opened = replace(opened, model=_InForm(opened.model, benchmark, samples))
    # The baselines of the report are not needed here, and they would score the answers again.
    plain = vary(benchmark, check=None)
    plan = api.Plan(benchmarks=[plain], models=[opened], out=out, repeats=repeats)
    result = _judged(benchmark, api.run_plan(plan)[0].result)
    assert result.run is not None
    scores: dict[str, list[tuple[str, float]]] = {name: [] for name in result.report.scorings}
    for row in jsonl(result.run / f"{SCORES}.jsonl"):
        if row.get("score") is not None:
            scores[row["scoring"]].append((row["sample"], row["score"]))
    rows = []
    for name, scored in scores.items():
        # Include only samples that the scoring scores, since some scorings skip whole tasks.
        chances_of_scored = [chances[sample] for sample in {sample for sample, _ in scored}]
        mean = sum(chances_of_scored) / len(chances_of_scored) if chances_of_scored else 0.0
        spread = math.sqrt(sum(p * (1 - p) for p in chances_of_scored) / repeats) / max(
            1, len(chances_of_scored)
        )
        interval = (mean - Z999 * spread, mean + Z999 * spread)
        value = sum(score for _, score in scored) / len(scored) if scored else None
        ok = value is not None and interval[0] - 1e-12 <= value <= interval[1] + 1e-12
        rows.append(CheckRow(name, "random", interval, value, ok))
    return rows


# -- metrics


def check_metric(metric: Metric, *, best: float = 1.0) -> None:
    """Check a metric that uses scores in [0, 1], answers, or both. The order of rows must not
    matter, perfect answers must give `best`, and a table without rows must give no value.

    The metric gets rows whose answers and targets are "yes" or "no". The score of a row is 1 if its
    answer equals its target, and 0 otherwise. The target is the only reference.

    Raises:
        AssertionError: the metric violates its contract.
    """
    import numpy as np

    rng = np.random.default_rng(7)
    targets, right = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    columns = _columns(targets, right, rng.integers(0, 40, 200))
    estimate = metric(columns)
    other = metric(columns.where(rng.permutation(200)))
    assert estimate.value is not None, "a metric of 200 scores must have a value"
    assert other.value is not None
    assert math.isclose(estimate.value, other.value, rel_tol=1e-12), (
        "the order of rows must not matter"
    )
    assert estimate.n == 200, "n must be the number of rows"
    if estimate.ci95 is not None:
        assert estimate.ci95[0] < estimate.value < estimate.ci95[1], (
            "the interval must contain the value and must not be empty"
        )
    if estimate.unit == "fraction":
        assert 0 <= estimate.value <= 1, "a fraction must be in [0, 1]"
    perfect = metric(_columns(targets, np.ones(200, dtype=int), np.arange(200)))
    assert perfect.value == best, f"perfect scores must give {best}, not {perfect.value}"
    nothing = metric(columns.where(np.zeros(200, dtype=bool)))
    assert nothing.value is None, "no rows must give no value"
    assert nothing.reason, "an estimate without a value must give the reason"


def _columns(targets, right, cluster) -> Columns:  # type: ignore[no-untyped-def]
    """Create rows. The target is "yes" where `targets` is 1, and the answer is right where `right`
    is 1."""
    import numpy as np

    n = len(right)
    words = np.array(["no", "yes"], dtype=object)
    references = np.empty(n, dtype=object)
    references[:] = [(word,) for word in words[targets]]
    codes = np.zeros(n, dtype=np.int32)
    return Columns(
        score=right.astype(float),
        answer=words[np.where(right, targets, 1 - targets)],
        target=words[targets],
        references=references,
        state=Category(codes=codes, names=("answered",)),
        tags={"tag": Category(codes=(np.arange(n) % 3).astype(np.int32), names=("a", "b", "c"))},
        cluster=np.asarray(cluster, dtype=np.int32),
    )


# -- models


def check_model(model: Generates, request: Request) -> Reply:
    """Check that a model replies to eight concurrent requests, and still replies after a request
    was canceled.

    Returns the last reply. The model is closed at the end.

    Raises:
        AssertionError: the model violates its contract.
    """

    async def body() -> Reply:
        assert isinstance(model, Generates), (
            "a model must have a name and `async generate(request)`"
        )
        replies = await asyncio.gather(*(model.generate(request) for _ in range(8)))
        assert all(isinstance(reply, Reply) for reply in replies), "generate must return a Reply"
        assert all(isinstance(reply.text, str) for reply in replies), (
            "the text of a Reply must be a str"
        )
        task = asyncio.create_task(_generate(model, request))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return await model.generate(request)

    async def closed() -> Reply:
        try:
            return await body()
        finally:
            if close := getattr(model, "close", None):
                await close()

    return api.run_async(closed())


async def _generate(model: Generates, request: Request) -> Reply:
    return await model.generate(request)


def check_ranks(model: Ranks, request: Request) -> None:
    """Check that a model returns a log-probability (≤ 0) and the number of tokens for each choice.

    Raises:
        AssertionError: the model violates its contract.
    """

    async def body() -> None:
        assert isinstance(model, Ranks), (
            "a ranking model must have a name and `async rank(request)`"
        )
        ranked = await model.rank(request)
        assert len(ranked) == len(request.choices), (
            "there must be one entry for each choice, in their order"
        )
        for logprob, tokens in ranked:
            assert math.isfinite(logprob) and logprob <= 0 and tokens >= 1, (
                "log-probabilities must be finite and ≤ 0, and the number of tokens at least 1"
            )

    api.run_async(body())


def check_streams(model: Streams, frames: Sequence[Frame]) -> None:
    """Check that a session accepts frames in order and answers when it must, and that questions to
    a fork do not affect the original session.

    Raises:
        AssertionError: the model violates its contract.
    """

    async def answers(frames: Sequence[Frame], *, forked: bool) -> list[Emission]:
        session = await model.open(SessionSpec())
        emissions: list[Emission] = []
        for frame in frames:
            emissions += await session.feed([frame])
            if forked and isinstance(session, Forks):
                other = await session.fork()
                await other.ask(Query(id="aside", text="What was that?"), must_answer=True)
                await other.close()
        emissions += await session.ask(Query(id="last", text="What do you see?"), must_answer=True)
        await session.close()
        return emissions

    async def body() -> None:
        assert isinstance(model, Streams), (
            "a streaming model must have a name and `async open(spec)`"
        )
        plain = await answers(frames, forked=False)
        assert plain and plain[-1].text, "a session that must answer must say something"
        assert await answers(frames, forked=True) == plain, (
            "a question to a fork must not affect the session"
        )

    api.run_async(body())
