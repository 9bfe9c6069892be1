"""Snellen from Python: `evaluate`, `score`, `compare`, `load_run`, `ask`.

May import everything below it; it translates and decides nothing.
Start with `_evaluate.py`.
"""

from snellen.api._evaluate import ask, evaluate
from snellen.core.profile import Profile
from snellen.run.compare_runs import compare
from snellen.run.cost_estimate import CostEstimate, estimate
from snellen.run.judge_run import judge_run
from snellen.run.lifecycle import run_async
from snellen.run.paired_runs import compare_with_plain, is_paired
from snellen.run.plan import Finished, Plan
from snellen.run.power import Detectable, Observed, Power, power
from snellen.run.probe_run import probe_run
from snellen.run.run_plan import budget_of, run_plan
from snellen.run.score_run import explain, load_run, score

__all__ = [
    "CostEstimate",
    "Detectable",
    "Finished",
    "Observed",
    "Plan",
    "Power",
    "Profile",
    "ask",
    "budget_of",
    "compare",
    "compare_with_plain",
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
