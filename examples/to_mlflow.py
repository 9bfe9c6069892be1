"""Logs a result's headline to MLflow, as metrics of the active run. `pip install mlflow`, then

import mlflow
log(mlflow, result, step)
"""

from typing import Any

from snellen.analysis.result import Result


def log(mlflow: Any, result: Result, step: int) -> None:
    """Log a result's value, interval, n, and number of failures under its benchmark's name.

    `mlflow` is the module; the figures go to its active run.
    """
    headline, name = result.headline, result.report.benchmark
    said: dict[str, float] = {f"{name}/n": headline.n, f"{name}/failed": result.failed}
    if headline.value is not None:
        said[f"{name}/value"] = headline.value
    if headline.ci95 is not None:
        said[f"{name}/low"], said[f"{name}/high"] = headline.ci95
    mlflow.log_metrics(said, step=step)
