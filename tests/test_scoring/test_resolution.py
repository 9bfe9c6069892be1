"""Scorings that see all replies of a run before any is scored."""

from collections.abc import Iterator

import pytest

from snellen.core import Image, Reading, Reply, Sample, Scoring, user
from snellen.core.benchmark import Benchmark
from snellen.core.scoring import ReplyTable, Resolution
from snellen.data import Drawn
from snellen.metrics import mean
from snellen.scoring import Scored, resolve

PICTURE = Image(b"bytes of a picture", width=640, height=480, original=(1280, 960))
SAMPLE = Sample(id="s", question="Where is the cat?", media=(PICTURE,), target="320")


def pixels(reply: Reply, sample: Sample) -> Reading:
    """A point that a model gives as a share of the picture's width."""
    medium = sample.media[0]
    assert isinstance(medium, Image) and medium.width is not None
    return Reading(answer=str(round(float(reply.text) * medium.width)), rule="share of the width")


@pytest.fixture
def tables() -> list[ReplyTable]:
    """What the resolver of `benchmark` got."""
    return []


@pytest.fixture
def benchmark(tables: list[ReplyTable]) -> Benchmark:
    def keep(table: ReplyTable) -> Resolution:
        tables.append(table)
        return Resolution()

    return Benchmark(
        name="points",
        asks=1,
        data=Drawn("points", lambda: iter(())),
        sample=lambda index, row: SAMPLE,
        prompt=lambda sample, _: (user(*sample.media, sample.question),),
        scorings={
            "official": Scoring(
                version=1,
                source="ours",
                parse=pixels,
                score=lambda reading, sample: float(reading.answer == sample.target),
                metrics={"accuracy": mean},
                resolve=keep,
            )
        },
    )


def test_a_scoring_that_resolves_may_parse_by_the_sizes_of_pictures(
    benchmark: Benchmark, tables: list[ReplyTable]
) -> None:
    def replies() -> Iterator[Scored]:
        yield Scored(SAMPLE, 0, "ok", Reply(text="0.5"))

    resolved = resolve(benchmark, ["official"], replies)

    reading = resolved.reading("official", "s", 0)
    assert reading is not None and reading.answer == "320"
    (medium,) = tables[0].lines[0].sample.media
    assert isinstance(medium, Image)
    assert (medium.size, medium.original_size) == ((640, 480), (1280, 960))
    assert medium.source == b""
