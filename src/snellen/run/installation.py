"""Checks before a run that everything that its scorings need is installed."""

from __future__ import annotations

from snellen.errors import SnellenError, UsageError
from snellen.run.plan import Plan


def check_installation(plan: Plan) -> None:
    """Check that the packages and data that the scorings of a plan need are installed, so that no
    model is asked questions whose replies cannot be scored. A plan without scores needs nothing.

    Raises:
        UsageError: something is missing. The message says how to install it.
    """
    if not plan.score:
        return
    for benchmark in plan.benchmarks:
        for name, scoring in benchmark.scorings.items():
            if scoring.check_installation is None:
                continue
            try:
                scoring.check_installation()
            except SnellenError as error:
                raise UsageError(
                    f"{benchmark.name}: the scoring `{name}` cannot be computed here. {error} To "
                    "store replies now and score them later, add --no-score."
                ) from error
