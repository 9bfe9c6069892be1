"""Snellen from Python: `evaluate`, `score`, `compare`, `load_run`, `ask`.

May import everything below it; it translates and decides nothing.
Start with `_evaluate.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import lazy

if TYPE_CHECKING:
    from snellen.api._evaluate import ask as ask, evaluate as evaluate
    from snellen.core.profile import Profile as Profile
    from snellen.run.compare_runs import compare as compare
    from snellen.run.cost_estimate import CostEstimate as CostEstimate, estimate as estimate
    from snellen.run.judge_run import judge_run as judge_run
    from snellen.run.lifecycle import run_async as run_async
    from snellen.run.paired_runs import (
        compare_with_plain as compare_with_plain,
        is_paired as is_paired,
    )
    from snellen.run.plan import Finished as Finished, Plan as Plan
    from snellen.run.power import (
        Detectable as Detectable,
        Observed as Observed,
        Power as Power,
        power as power,
    )
    from snellen.run.probe_run import probe_run as probe_run
    from snellen.run.qualify_run import qualify_run as qualify_run
    from snellen.run.run_plan import budget_of as budget_of, run_plan as run_plan
    from snellen.run.score_run import explain as explain, load_run as load_run, score as score

_FILES = {
    "CostEstimate": ".run.cost_estimate",
    "Detectable": ".run.power",
    "Finished": ".run.plan",
    "Observed": ".run.power",
    "Plan": ".run.plan",
    "Power": ".run.power",
    "Profile": ".core.profile",
    "ask": "_evaluate",
    "budget_of": ".run.run_plan",
    "compare": ".run.compare_runs",
    "compare_with_plain": ".run.paired_runs",
    "estimate": ".run.cost_estimate",
    "evaluate": "_evaluate",
    "explain": ".run.score_run",
    "is_paired": ".run.paired_runs",
    "judge_run": ".run.judge_run",
    "load_run": ".run.score_run",
    "power": ".run.power",
    "probe_run": ".run.probe_run",
    "qualify_run": ".run.qualify_run",
    "run_async": ".run.lifecycle",
    "run_plan": ".run.run_plan",
    "score": ".run.score_run",
}
__all__ = [*_FILES]
__getattr__ = lazy.attributes(__name__, _FILES)
