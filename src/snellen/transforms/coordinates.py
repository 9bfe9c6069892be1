"""Changes a benchmark so that its scorings read a model's boxes and points."""

from dataclasses import replace

from snellen.core.benchmark import Benchmark, vary
from snellen.core.coordinates import coordinates_in


def with_coordinates(benchmark: Benchmark, text: str | None) -> Benchmark:
    """Set the coordinates in which the model writes boxes and points. Without such a text, or if no
    scoring of the benchmark depends on coordinates, the benchmark is returned unchanged.

    Raises:
        UsageError: the text states no coordinates.
    """
    if text is None:
        return benchmark
    coordinates = coordinates_in(text)
    scorings = dict(benchmark.scorings)
    for name, scoring in benchmark.scorings.items():
        if scoring.coordinates is not None:
            use = replace(scoring.coordinates, of_model=coordinates)
            scorings[name] = replace(scoring, coordinates=use, parse=use.bound)
    return vary(benchmark, scorings=scorings) if scorings != benchmark.scorings else benchmark
