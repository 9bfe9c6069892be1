"""A tiny benchmark, a model that says what a function says, and a run of the two."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from snellen.api import Finished, Plan, run_plan
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Model, Reply, Request
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring
from snellen.data import Drawn, Row
from snellen.media.content import user
from snellen.metrics import mean
from snellen.registry import Opened
from snellen.store import ReplyRecord, Run

QUICK = {"backoff": 0.001, "longest_wait": 0.01}


class Says:
    """A model that answers with a function of the request, and counts."""

    def __init__(self, say: Callable[[Request], str | Reply], name: str = "says") -> None:
        self.name = name
        self.say = say
        self.requests: list[Request] = []
        self.most = self.now = 0

    async def generate(self, request: Request) -> Reply:
        self.requests.append(request)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(0)
            content = self.say(request)
        finally:
            self.now -= 1
        return content if isinstance(content, Reply) else Reply(text=content, stop="stop")

    @property
    def questions(self) -> list[str]:
        return [request.messages[0].text for request in self.requests]


def parse(reply: Reply, sample: Sample) -> Reading:
    return Reading(answer=reply.text or None, rule="whole")


def right(reading: Reading, sample: Sample) -> float:
    return float(reading.answer == sample.target)


def sample_of(row_index: int, row: Row) -> Sample:
    return Sample(id=row["id"], question=row["q"], target=row["a"], tags={"kind": row["kind"]})


def benchmark(n: int = 10, **fields: Any) -> Benchmark:
    def rows() -> Iterator[dict[str, str]]:
        for i in range(n):
            yield {"id": f"s{i}", "q": f"question {i}", "a": "yes", "kind": "ab"[i % 2]}

    defaults: dict[str, Any] = {
        "name": "tiny",
        "asks": 1,
        "data": Drawn("tiny", rows),
        "sample": sample_of,
        "prompt": lambda sample, history: (user(sample.question),),
        "scorings": {
            "official": Scoring(
                version=1, source="ours", parse=parse, score=right, metrics={"accuracy": mean}
            )
        },
    }
    return vary(Benchmark(**defaults), **{"break_down_by": ("kind",), **fields})


def run(
    out: Path,
    model: Model,
    benchmark_to_run: Benchmark | None = None,
    *,
    concurrency: int = 4,
    **fields: Any,
) -> Finished:
    opened = Opened(model=model, name=model.name, server=model.name, concurrency=concurrency)
    plan = Plan(
        benchmarks=[benchmark_to_run or benchmark()],
        models=[opened],
        out=out,
        **{"retry": QUICK, **fields},
    )
    return run_plan(plan)[0]


def records(finished: Finished) -> list[ReplyRecord]:
    return [record for record in Run(finished.run).replies() if isinstance(record, ReplyRecord)]


def states(finished: Finished) -> dict[str, int]:
    assert finished.result is not None
    return finished.result.report.replies
