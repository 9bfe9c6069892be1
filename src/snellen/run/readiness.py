"""Reports everything that a plan lacks in one message, before anything is asked of a model."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.data import Facts
from snellen.errors import DataError, SnellenError, UsageError, install
from snellen.run.plan import Plan


def needs(benchmarks: Sequence[Benchmark]) -> Iterator[str]:
    """Yield a note on the benchmarks whose headline scoring needs a judge, and a note on those that
    show videos if the package that reads videos is missing. Some models do not need the package."""
    judged = dict.fromkeys(benchmark.name for benchmark in benchmarks if needs_judge(benchmark))
    if judged:
        yield (
            f"{', '.join(judged)}: the headline scoring needs a judge for replies that its rules "
            "leave undecided. After the run, ask one with `snellen judge RUN --judge MODEL`"
        )
    shown = dict.fromkeys(benchmark.name for benchmark in benchmarks if benchmark.procedure.frames)
    if shown and importlib.util.find_spec("av") is None:
        yield (
            f"{', '.join(shown)}: models that are shown frames of videos need the extra `video`: "
            f"{install('video')}"
        )


def needs_judge(benchmark: Benchmark) -> bool:
    """Whether the headline scoring needs a judge for at least some replies."""
    judge = benchmark.scorings[benchmark.headline].judge
    return judge is not None and not judge.on_request


def check_settings(plan: Plan, settings: Sequence[Plan]) -> None:
    """Check that what the plan's models and scorings need is installed. If the plan's settings are
    run one after another, also check that all rows can be read.

    Raises:
        SnellenError: something is missing. The message lists all that is missing. If a package is
            missing, it also lists the missing files, but no row is read.
    """
    errors = [*missing_packages(plan), *missing_for_scores(plan)]
    if errors:
        raise combined([*errors, *_missing_files(plan.benchmarks)])
    if len(settings) > 1:
        facts_of_all(plan.benchmarks)


def missing_packages(plan: Plan) -> list[SnellenError]:
    """The errors of the models that need packages which are not installed."""
    errors: list[SnellenError] = []
    for spec in plan.models if plan.replicas is None else ():
        try:
            if isinstance(spec, str):
                registry.check_extra(spec)
        except UsageError as error:
            errors.append(error)
    return errors


def missing_for_scores(plan: Plan) -> list[SnellenError]:
    """The errors of the scorings that need packages or data which are not installed, so that no
    model is asked questions whose replies cannot be scored. A plan without scores needs nothing."""
    errors: list[SnellenError] = []
    for benchmark in plan.benchmarks if plan.score else ():
        failures: dict[str, list[str]] = {}
        for name, scoring in benchmark.scorings.items():
            try:
                if scoring.check_installation is not None:
                    scoring.check_installation()
            except SnellenError as error:
                failures.setdefault(str(error), []).append(f"`{name}`")
        errors += [
            UsageError(
                f"{benchmark.name}: the scoring{'s' * (len(names) > 1)} {', '.join(names)} cannot "
                f"be computed here. {failure} To store replies now and score them later, add "
                "--no-score."
            )
            for failure, names in failures.items()
        ]
    return errors


def facts_of_all(benchmarks: Sequence[Benchmark]) -> list[tuple[Benchmark, Facts]]:
    """Each benchmark with the size and the digest of its rows.

    Raises:
        SnellenError: rows are missing or cannot be read. The message lists all these benchmarks.
    """
    read: list[tuple[Benchmark, Facts]] = []
    errors: list[SnellenError] = []
    for benchmark in benchmarks:
        try:
            read.append((benchmark, benchmark.data.facts()))
        except (DataError, UsageError) as error:  # a usage error: a package is missing
            errors.append(error)
    if errors:
        raise combined(errors)
    return read


def _missing_files(benchmarks: Sequence[Benchmark]) -> Iterator[SnellenError]:
    """Yield the errors of the benchmarks whose file of rows does not exist."""
    for benchmark in benchmarks:
        try:
            if benchmark.interop.files is not None:
                _ = benchmark.interop.files.path
        except DataError as error:
            yield error


def combined(errors: Sequence[SnellenError]) -> SnellenError:
    """The only error, or one error with the messages of several."""
    texts = [*dict.fromkeys(map(str, errors))]
    if len(texts) == 1:
        return errors[0]
    is_about_data = all(isinstance(error, DataError) for error in errors)
    kind = DataError if is_about_data else UsageError
    return kind("\n".join(texts))
