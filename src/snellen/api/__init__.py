"""The Python interface of Snellen: `evaluate`, `card`, `score`, `compare`, `load_run`, `ask`.

The functions here only convert arguments and call other packages, which make the decisions. Start
reading at `_evaluate.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import lazy

if TYPE_CHECKING:
    from snellen.api._evaluate import ask as ask, evaluate as evaluate
    from snellen.api._card import card as card
    from snellen.core.profile import Profile as Profile
    from snellen.run.card_entries import CardRequest as CardRequest
    from snellen.run.card_run import CardOutcome as CardOutcome, card_run as card_run
    from snellen.run.compare_runs import compare as compare
    from snellen.run.cost_estimate import CostEstimate as CostEstimate, estimate as estimate
    from snellen.run.gap_run import GAP_BUDGET as GAP_BUDGET
    from snellen.run.judge_run import NothingToJudge as NothingToJudge, judge_run as judge_run
    from snellen.run.lifecycle import run_async as run_async
    from snellen.run.paired_runs import (
        compare_with_plain as compare_with_plain,
        is_paired as is_paired,
    )
    from snellen.run.plan import (
        Finished as Finished,
        Plan as Plan,
        load_benchmarks as load_benchmarks,
    )
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
    "CardOutcome": ".run.card_run",
    "CardRequest": ".run.card_entries",
    "CostEstimate": ".run.cost_estimate",
    "Detectable": ".run.power",
    "GAP_BUDGET": ".run.gap_run",
    "Finished": ".run.plan",
    "NothingToJudge": ".run.judge_run",
    "Observed": ".run.power",
    "Plan": ".run.plan",
    "Power": ".run.power",
    "Profile": ".core.profile",
    "ask": "_evaluate",
    "budget_of": ".run.run_plan",
    "card": "_card",
    "card_run": ".run.card_run",
    "compare": ".run.compare_runs",
    "compare_with_plain": ".run.paired_runs",
    "estimate": ".run.cost_estimate",
    "evaluate": "_evaluate",
    "explain": ".run.score_run",
    "is_paired": ".run.paired_runs",
    "judge_run": ".run.judge_run",
    "load_benchmarks": ".run.plan",
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
