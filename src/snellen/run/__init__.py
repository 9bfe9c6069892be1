"""Runs plans: sends questions, stores replies, and handles concurrency, retries, timeouts, budgets,
and resuming.

This package may import all other packages except `api`, `view`, and `cli`. To understand the code,
read `plan.py` first, then `run_plan.py` and `scheduler.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import lazy

if TYPE_CHECKING:
    from snellen.run.addresses import fetched as fetched
    from snellen.run.budget import Budget as Budget
    from snellen.run.conversations import Reuse as Reuse
    from snellen.run.limiter import Limiter as Limiter
    from snellen.run.model_calls import check_model as check_model, own_prompt as own_prompt
    from snellen.run.observer import (
        Observer as Observer,
        OnReply as OnReply,
        ReplyCallback as ReplyCallback,
    )
    from snellen.run.progress import Progress as Progress
    from snellen.run.scheduler import Job as Job, Scheduler as Scheduler
    from snellen.run.selection import (
        Selection as Selection,
        check as check,
        chosen as chosen,
        select as select,
    )
    from snellen.run.settings import Settings as Settings
    from snellen.run.stop import Stop as Stop

_FILES = {
    "Budget": "budget",
    "Job": "scheduler",
    "Limiter": "limiter",
    "Observer": "observer",
    "OnReply": "observer",
    "Progress": "progress",
    "ReplyCallback": "observer",
    "Reuse": "conversations",
    "Scheduler": "scheduler",
    "Selection": "selection",
    "Settings": "settings",
    "Stop": "stop",
    "check": "selection",
    "check_model": "model_calls",
    "chosen": "selection",
    "fetched": "addresses",
    "own_prompt": "model_calls",
    "select": "selection",
}
__all__ = [*_FILES]
__getattr__ = lazy.attributes(__name__, _FILES)
