"""Logs a result's headline to Weights & Biases, as metrics of a run. `pip install wandb`, then

import wandb
log(wandb.init(project="my-model"), result, step)
"""

from typing import Any

from snellen.analysis.result import Result


def log(run: Any, result: Result, step: int) -> None:
    """Log a result's value, interval, n, and number of failures under its benchmark's spec.

    `run` is the object that `wandb.init` returns.
    """
    headline, name = result.headline, result.spec
    values: dict[str, float] = {f"{name}/n": headline.n, f"{name}/failed": result.failed}
    if headline.value is not None:
        values[f"{name}/value"] = headline.value
    if headline.ci95 is not None:
        values[f"{name}/low"], values[f"{name}/high"] = headline.ci95
    run.log(values, step=step)
