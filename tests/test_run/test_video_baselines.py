"""The blind baseline that knows the answers is asked about videos: with each option of each video
benchmark, it recognizes all questions."""

import importlib
from collections.abc import Iterator
from pathlib import Path

from snellen import api, registry
from snellen.core.benchmark import Benchmark
from snellen.errors import DataError, UsageError
from snellen.registry.options import described

SYNTHETIC = Path(registry.SYNTHETIC)
DRAWN = ("eyechart-video",)
"""Benchmarks that draw their videos, which takes seconds. They have tests of their own."""
WITHOUT_VIDEOS = {"ovo-bench:videos=chunks"}
"""The bundled rows have no such videos, so every question fails with the name of its file."""
WITHOUT_ROWS = {"video-mme:duration=medium"}
"""No bundled row is of this kind."""


def specs() -> Iterator[str]:
    """Each video benchmark, and each value of each of its options."""
    for entry in registry.entries():
        if entry.name in DRAWN:
            continue
        if registry.benchmark(entry.name, data=SYNTHETIC).procedure.frames is None:
            continue
        yield entry.name
        module = importlib.import_module(f"snellen.benchmarks.{entry.function}")
        for option, values in described(getattr(module, entry.function)).items():
            for value in values["choices"] or ():
                if value != values["default"]:
                    yield f"{entry.name}:{option}={value}"


def usable(spec: str) -> Benchmark | None:
    """The benchmark; None if the option works only together with others, if there are no bundled
    rows, or if sessions watch the videos."""
    try:
        benchmark = registry.benchmark(spec, data=SYNTHETIC)
        benchmark.data.facts()
    except UsageError as error:
        assert "has no effect with" in str(error), spec
        return None
    except DataError as error:
        assert "has no bundled rows" in str(error), spec
        return None
    return None if benchmark.procedure.kind == "session" else benchmark


def test_the_most_frequent_answer_is_given_to_each_question_of_each_video_benchmark(
    tmp_path: Path,
) -> None:
    benchmarks = {
        spec: benchmark
        for spec in specs()
        if spec not in WITHOUT_ROWS and (benchmark := usable(spec)) is not None
    }
    assert {"video-mme:subtitles=frames", "longvideobench:prompt=official"} <= {*benchmarks}
    plan = api.Plan(
        benchmarks=[*benchmarks.values()],
        models=["baseline/most-frequent"],
        out=tmp_path,
        score=False,
    )
    unanswered = {
        spec
        for spec, finished in zip(benchmarks, api.run_plan(plan), strict=True)
        if finished.progress.done != finished.progress.total
    }
    assert unanswered == WITHOUT_VIDEOS
