"""Tells from a metric's name whether a higher or a lower value is better.

A stopgap: a metric does not yet state its own direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Direction = Literal["higher", "lower"]

# Names that mean the same in everybody's benchmark.
_EVERYWHERE = """
    accuracy accuracy_by_question accuracy_micro balanced_accuracy mean_accuracy relaxed_accuracy
    anls bleu_1 bleu_2 bleu_3 bleu_4 cider exact_match f1 jaccard mean_f1 precision recall rouge_l
"""
# Names that mean this in these benchmarks. A caller's `score` may well be a distance.
_HIGHER: Mapping[str, str] = {
    "gqa": "consistency plausibility validity",
    "eyechart": "clutter rotation",
    "hallusionbench": "aacc average easy_aacc facc figure_score hard_aacc qacc",
    "llava-bench": "model_score relative_score",
    "mm-vet": "score",
    "mmbench": "circular vanilla vanilla_all",
    "mme": "acc acc_plus cognition perception score",
    "ocrbench": "final_score",
    "ovo-bench": """
        answered_in_span answered_in_span_any answered_in_span_1s answered_in_span_2s
        answered_in_span_3s count_right_time count_skill final_count projected span_auc
    """,
    "seed-bench": "dimension_average",
}
_LOWER: Mapping[str, str] = {
    "eyechart": "acuity contrast noise",
    "eyechart-video": "temporal_acuity",
    "gqa": "distribution",
    "hallusionbench": "figure_inconsistent figure_wrong",
    "ovo-bench": """
        acknowledgements ambiguous count_mae delay_censored delay_mean delay_median early
        false_alarms_per_min late overcount repeats silent slots_failed unsolicited_per_hour
    """,
}


def direction(benchmark: str, metric: str) -> Direction | None:
    """Whether a higher or a lower value of a benchmark's metric is better; None if unknown.

    A caller's metric is unknown unless everybody uses its name for the same thing. What is unknown
    is never ranked, nor called the best.

    >>> direction("eyechart", "accuracy"), direction("eyechart", "acuity")
    ('higher', 'lower')
    >>> direction("mine", "edit_distance") is None
    True
    """
    name = metric.partition("/")[0]  # a category's metric points the same way as the whole set's
    if name in _EVERYWHERE.split() or name in _HIGHER.get(benchmark, "").split():
        return "higher"
    return "lower" if name in _LOWER.get(benchmark, "").split() else None
