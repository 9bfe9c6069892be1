"""Logs a result's headline to TensorBoard, as scalars. `pip install tensorboard` and torch, then

from torch.utils.tensorboard import SummaryWriter
log(SummaryWriter("logs"), result, step)
"""

from typing import Any

from snellen.analysis.result import Result


def log(writer: Any, result: Result, step: int) -> None:
    """Log a result's value, interval, n, and number of failures under its benchmark's spec.

    `writer` is a `SummaryWriter` of torch or tensorboardX.
    """
    headline, name = result.headline, result.spec
    writer.add_scalar(f"{name}/n", headline.n, step)
    writer.add_scalar(f"{name}/failed", result.failed, step)
    if headline.value is not None:
        writer.add_scalar(f"{name}/value", headline.value, step)
    if headline.ci95 is not None:
        for edge, bound in zip(("low", "high"), headline.ci95, strict=True):
            writer.add_scalar(f"{name}/{edge}", bound, step)
    writer.flush()
