"""Samples that share media: made ready before the group's first request, let go after its last."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from snellen.benchmark import Benchmark, Reading, Scoring
from snellen.content import user
from snellen.datasets import Drawn, Row
from snellen.metrics import mean
from snellen.model import Reply, Request
from snellen.runner import (
    Asking,
    Budget,
    Hooks,
    Limiter,
    Progress,
    Settings,
    Stop,
    select,
)
from snellen.sample import Sample
from snellen.store import Run


def video_questions() -> Benchmark:
    def rows() -> Iterator[dict[str, str]]:
        for i in range(12):
            yield {"id": f"q{i}", "video": f"v{i % 3}"}

    def sample(place: int, row: Row) -> Sample:
        return Sample(id=row["id"], question=row["id"], target="yes", data={"video": row["video"]})

    return Benchmark(
        name="videos",
        asks=1,
        data=Drawn("videos", rows),
        sample=sample,
        prompt=lambda sample, history: (user(sample.question),),
        scorings={
            "official": Scoring(
                version=1,
                source="ours",
                parse=lambda reply, sample: Reading(answer=reply.text, rule="whole"),
                score=lambda reading, sample: 1.0,
                metrics={"accuracy": mean},
            )
        },
        group_by=lambda sample: str(sample.data["video"]),
    )


def test_each_group_is_made_ready_once_before_its_requests_and_let_go_after_them(
    tmp_path: Path,
) -> None:
    happened: list[tuple[str, str]] = []

    class Watched:
        name = "watched"

        async def generate(self, request: Request) -> Reply:
            happened.append(("ask", request.messages[0].text))
            await asyncio.sleep(0.001)
            return Reply(text="yes", stop="stop")

    async def prepare(group: list[tuple[Row, Sample]]) -> None:
        happened.append(("prepare", str(group[0][1].data["video"])))

    async def release(group: list[tuple[Row, Sample]]) -> None:
        happened.append(("release", str(group[0][1].data["video"])))

    async def work() -> None:
        benchmark = video_questions()
        run = Run(tmp_path)
        run.load()
        asking = Asking(
            benchmark,
            Watched(),
            run,
            select(benchmark, 12, limit=None, sample=None, seed=0),
            Settings(),
            limiter=Limiter(2),
            budget=Budget(),
            stop=Stop(),
            progress=Progress(name="videos"),
            hooks=Hooks(prepare=prepare, release=release),
        )
        await asking.ask_all()
        run.close()

    asyncio.run(work())

    for video in ("v0", "v1", "v2"):
        ready = happened.index(("prepare", video))
        gone = happened.index(("release", video))
        asked = [
            at
            for at, (what, name) in enumerate(happened)
            if what == "ask" and f"v{int(name[1:]) % 3}" == video
        ]
        assert len(asked) == 4
        assert ready < min(asked) and max(asked) < gone
    assert [what for what, _ in happened].count("prepare") == 3
