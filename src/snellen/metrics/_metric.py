"""Defines a metric: a function of columns with a name, a unit, and a better direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, get_args

from snellen.errors import UsageError
from snellen.metrics._columns import Columns
from snellen.stats import Direction, Estimate

Compute = Callable[[Columns], Estimate]
"""What a scoring accepts as a metric: a `Metric`, or a plain callable."""
ACCURACY = "accuracy"
"""The only metric name that implies that higher scores are better."""


@dataclass(frozen=True)
class Metric:
    """A function that computes an estimate from columns, with its name, unit, and better direction.

    A metric is called in the same way as its function:

    >>> from snellen.stats import Estimate
    >>> rows = Metric(lambda columns: Estimate(value=3.0, n=3), better="lower", unit="rows")
    >>> rows(None).value, rows.better
    (3.0, 'lower')

    A metric can be created from another metric, and arguments that are passed replace the other
    metric's values. For example, `Metric(mean, better="lower")` is the mean of scores that are
    distances.

    Raises:
        UsageError: `better` is neither a direction nor None.
    """

    compute: Callable[..., Estimate]
    """The function, whose first argument is a `Columns` object. If a metric is passed, the metric's
    function is used."""
    _: KW_ONLY
    better: Direction | None = None
    """The better direction, `higher` or `lower`; None if neither is better, or if the better
    direction is unknown."""
    unit: str = ""
    """The unit of the estimates: `fraction` for values in [0, 1]; "" if each estimate states its
    own unit."""
    name: str = ""
    """The name of the metric; by default, the name of the function."""
    averages_scores: bool = False
    """Whether the metric is a mean of scores, over all rows or over categories. Its value for
    expected scores is then its expected value, so the chance level is exact. Such a metric has the
    same better direction as the scores, which may be distances. If `better` is None and the metric
    is reported under the name `accuracy`, higher is better. Under any other name, the scoring must
    state the direction: `Metric(mean, better="higher")`."""

    def __post_init__(self) -> None:
        check_direction(self.better, self.name or getattr(self.compute, "__name__", ""))
        compute, stated = self.compute, {}
        if isinstance(compute, Metric):
            stated = {
                "compute": compute.compute,
                "better": self.better or compute.better,
                "unit": self.unit or compute.unit,
                "name": self.name or compute.name,
                "averages_scores": self.averages_scores or compute.averages_scores,
            }
            compute = compute.compute
        # For help(), doctest, and other tools that unwrap decorated functions.
        function = compute.func if isinstance(compute, partial) else compute
        if not self.name:
            stated.setdefault("name", getattr(function, "__name__", ""))
        stated |= {"__wrapped__": function, "__doc__": function.__doc__}
        stated |= {"__module__": getattr(function, "__module__", __name__)}
        for field, value in stated.items():
            object.__setattr__(self, field, value)

    def __call__(self, columns: Columns, **arguments: Any) -> Estimate:
        return self.compute(columns, **arguments)

    def with_arguments(self, **arguments: Any) -> Metric:
        """Create a copy of the metric that passes these arguments to its function."""
        return replace(self, compute=partial(self.compute, **arguments))


def metric(
    *, better: Direction | None, unit: str, averages_scores: bool = False
) -> Callable[[Callable[..., Estimate]], Metric]:
    """A decorator that turns a function into a `Metric`.

    >>> from snellen.stats import Estimate
    >>> @metric(better="higher", unit="rows")
    ... def rows(columns):
    ...     return Estimate(value=3.0, n=3, unit="rows")
    >>> rows.name, rows.better, rows.unit
    ('rows', 'higher', 'rows')
    """
    return partial(Metric, better=better, unit=unit, averages_scores=averages_scores)


def averages_scores(metric: Compute) -> bool:
    """Whether a metric states that it is a mean of scores. If the scores are replaced by their
    expected values, such a metric gives its own expected value.

    >>> from snellen.metrics import macro_average, mean
    >>> averages_scores(macro_average("kind")), averages_scores(lambda columns: mean(columns))
    (True, False)
    """
    return getattr(metric, "averages_scores", False) is True


def direction_of(name: str, metric: Compute) -> Direction | None:
    """The better direction, `higher` or `lower`, of a metric that is reported under `name`.

    The result is None if the metric does not state a direction, for example if it is a plain
    callable without the attribute `better`. Such a metric is never ranked, and none of its values
    is called the best.

    >>> from snellen.metrics import mean
    >>> direction_of("accuracy", mean), direction_of("edit_distance", mean)
    ('higher', None)
    >>> direction_of("edit_distance", Metric(mean, better="lower"))
    'lower'

    Raises:
        UsageError: The attribute `better` of the metric is neither a direction nor None.
    """
    better: Direction | None = getattr(metric, "better", None)
    check_direction(better, name)
    if better is None and name == ACCURACY and averages_scores(metric):
        return "higher"
    return better


def check_direction(better: object, metric: str) -> None:
    """Check that `better`, as stated by a metric, is a direction or None.

    Raises:
        UsageError: `better` is neither a direction nor None.
    """
    directions = get_args(Direction)
    if better is not None and better not in directions:
        raise UsageError(
            f"the metric {metric!r} has better={better!r}. Write better="
            f"{' or better='.join(map(repr, directions))}, or None if neither is better."
        )
