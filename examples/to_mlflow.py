"""Logs a result's headline to MLflow, as metrics of the active run. `pip install mlflow`, then

import mlflow
log(mlflow, result, step)
"""

import re
from typing import Any

from snellen.analysis.result import Result


def log(mlflow: Any, result: Result, step: int) -> None:
    """Log a result's value, interval, n, and number of failures under its benchmark's spec.

    `mlflow` is the module; the figures go to its active run. MLflow refuses `=`, `+`, and `,` in
    names, so a hyphen replaces such characters.
    """
    headline, name = result.headline, re.sub(r"[^\w./ -]", "-", result.spec)
    values: dict[str, float] = {f"{name}/n": headline.n, f"{name}/failed": result.failed}
    if headline.value is not None:
        values[f"{name}/value"] = headline.value
    if headline.ci95 is not None:
        values[f"{name}/low"], values[f"{name}/high"] = headline.ci95
    mlflow.log_metrics(values, step=step)
