"""Asks and stores: concurrency, retries, time-outs, budgets, resume."""

from snellen.runner._addresses import fetched
from snellen.runner._budget import Budget
from snellen.runner._limiter import Limiter
from snellen.runner._progress import Progress
from snellen.runner._run import (
    Asking,
    OnReply,
    Outcome,
    Reuse,
    Settings,
    Stop,
    check_model,
    own_prompt,
)
from snellen.runner._select import Selection, check, chosen, select

__all__ = [
    "Asking",
    "Budget",
    "Limiter",
    "OnReply",
    "Outcome",
    "Progress",
    "Reuse",
    "Selection",
    "Settings",
    "Stop",
    "check",
    "check_model",
    "chosen",
    "fetched",
    "own_prompt",
    "select",
]
