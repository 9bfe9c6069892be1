"""Sends questions and stores replies, from a plan to a result: concurrency, retries, timeouts,
budgets, resuming.

May import everything but `api`, `view`, and `cli`.
Start with `plan.py`, then `run_plan.py` and `scheduler.py`.
"""

from snellen.run.addresses import fetched
from snellen.run.budget import Budget
from snellen.run.conversations import Reuse
from snellen.run.limiter import Limiter
from snellen.run.model_calls import check_model, own_prompt
from snellen.run.observer import Observer, OnReply, ReplyCallback
from snellen.run.progress import Progress
from snellen.run.scheduler import Job, Scheduler
from snellen.run.selection import Selection, check, chosen, select
from snellen.run.settings import Settings
from snellen.run.stop import Stop

__all__ = [
    "Budget",
    "Job",
    "Limiter",
    "Observer",
    "OnReply",
    "Progress",
    "ReplyCallback",
    "Reuse",
    "Scheduler",
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
