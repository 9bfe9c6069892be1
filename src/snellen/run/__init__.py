"""Asks and stores, from a plan to a result: concurrency, retries, time-outs, budgets, resume.

May import everything but `api`, `view`, and `cli`.
Start with `plan.py`, then `run_plan.py` and `asking.py`.
"""

from snellen.run.addresses import fetched
from snellen.run.asking import (
    Asking,
    OnReply,
    Outcome,
    Reuse,
    Settings,
    Stop,
    check_model,
    own_prompt,
)
from snellen.run.budget import Budget
from snellen.run.limiter import Limiter
from snellen.run.progress import Progress
from snellen.run.selection import Selection, check, chosen, select

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
