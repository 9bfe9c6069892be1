"""Snellen from Python: `evaluate`, `score`, `compare`, `load_run`, `ask`. The command line calls
the same functions."""

from snellen.api._compare import compare
from snellen.api._estimate import Estimate, estimate
from snellen.api._evaluate import ask, evaluate
from snellen.api._judge import judge_run
from snellen.api._plan import Finished, Plan
from snellen.api._probe import probe_run
from snellen.api._run import budget_of, run_plan
from snellen.api._running import run_async
from snellen.api._score import explain, load_run, score
from snellen.models._profile import Profile

__all__ = [
    "Estimate",
    "Finished",
    "Plan",
    "Profile",
    "ask",
    "budget_of",
    "compare",
    "estimate",
    "evaluate",
    "explain",
    "judge_run",
    "load_run",
    "probe_run",
    "run_async",
    "run_plan",
    "score",
]
