"""Weights & Biases: a result's headline as metrics of a run. `pip install wandb`, then

import wandb
log(wandb.init(project="my-model"), result, step)
"""

from typing import Any

from snellen.analysis.result import Result


def log(run: Any, result: Result, step: int) -> None:
    """Log value, interval, n and failures of a result under its benchmark's name.

    `run` is what `wandb.init` gives.
    """
    headline, name = result.headline, result.report.benchmark
    said: dict[str, float] = {f"{name}/n": headline.n, f"{name}/failed": result.failed}
    if headline.value is not None:
        said[f"{name}/value"] = headline.value
    if headline.ci95 is not None:
        said[f"{name}/low"], said[f"{name}/high"] = headline.ci95
    run.log(said, step=step)
