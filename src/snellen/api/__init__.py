"""Snellen from Python: `evaluate`, `score`, `compare`, `load_run`, `ask`. The command line calls
the same functions."""

from snellen.api._beside import beside_plain, is_paired
from snellen.api._compare import compare
from snellen.api._estimate import Estimate, estimate
from snellen.api._evaluate import ask, evaluate
from snellen.api._judge import judge_run
from snellen.api._plan import Finished, Plan
from snellen.api._power import Detectable, Observed, Power, power
from snellen.api._probe import probe_run
from snellen.api._run import budget_of, run_plan
from snellen.api._running import run_async
from snellen.api._score import explain, load_run, score
from snellen.core.profile import Profile

__all__ = [
    "Detectable",
    "Estimate",
    "Finished",
    "Observed",
    "Plan",
    "Power",
    "Profile",
    "ask",
    "beside_plain",
    "budget_of",
    "compare",
    "estimate",
    "evaluate",
    "explain",
    "is_paired",
    "judge_run",
    "load_run",
    "power",
    "probe_run",
    "run_async",
    "run_plan",
    "score",
]
