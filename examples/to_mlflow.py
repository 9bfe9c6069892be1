"""MLflow: a result's headline as metrics of the active run. `pip install mlflow`, then

import mlflow
log(mlflow, result, step)
"""

from typing import Any

from snellen.analysis.result import Result


def log(mlflow: Any, result: Result, step: int) -> None:
    """Log value, interval, n and failures of a result under its benchmark's name.

    `mlflow` is the module; its active run is logged to.
    """
    headline, name = result.headline, result.report.benchmark
    said: dict[str, float] = {f"{name}/n": headline.n, f"{name}/failed": result.failed}
    if headline.value is not None:
        said[f"{name}/value"] = headline.value
    if headline.ci95 is not None:
        said[f"{name}/low"], said[f"{name}/high"] = headline.ci95
    mlflow.log_metrics(said, step=step)
