"""Which way a metric gets better, and in which unit: what the metric states."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.scoring import Scoring
from snellen.errors import UsageError
from snellen.metrics import Columns, Metric, direction_of, macro_average, mean
from snellen.metrics.groups import share_of_groups
from snellen.metrics.only_tagged import only_tagged
from snellen.metrics.streaming import METRICS, Point, Slot, SpeechLog, Utterance, Watch, columns_of
from snellen.metrics.yes_no import f1, precision, yes_ratio
from snellen.scoring import Scored, Tally
from snellen.stats import Estimate
from tests import tiny

HIGHER = {
    "a-okvqa": "accuracy",
    "activitynet-qa": "accuracy score",
    "ai2d": "accuracy",
    "all-angles": "accuracy",
    "babyvision": "accuracy",
    "blink": "accuracy micro_accuracy",
    "cc-ocr": "kie_f1 micro_f1 response_success_ratio score",
    "cg-bench": "accuracy",
    "charades-sta": "miou recall@0.3 recall@0.5 recall@0.7",
    "chartqa": "relaxed_accuracy",
    "chartqapro": "relaxed_accuracy",
    "charxiv": "accuracy",
    "coco-captions": "bleu_1 bleu_2 bleu_3 bleu_4 cider rouge_l",
    "countbench": "accuracy",
    "crpe": "circular vanilla",
    "cv-bench": "accuracy cv_bench_acc",
    "docvqa": "accuracy anls",
    "dynamath": "average best_case robustness worst_case",
    "egoschema": "accuracy",
    "embspatial-bench": "accuracy",
    "emma": "accuracy",
    "erqa": "accuracy",
    "eyechart": "accuracy clutter rotation",
    "eyechart-video": "accuracy",
    "gqa": "accuracy consistency plausibility validity",
    "hallusionbench": "aacc average easy_aacc facc figure_score hard_aacc qacc",
    "hle": "accuracy",
    "hr-bench": "accuracy",
    "info-vqa": "accuracy anls",
    "llava-bench": "model_score relative_score score",
    "logicvista": "accuracy",
    "longvideobench": "accuracy",
    "lvbench": "accuracy",
    "m3cot": "accuracy",
    "m4u": "accuracy average",
    "mathverse": "accuracy",
    "mathvision": "accuracy",
    "mathvista": "accuracy",
    "medxpertqa-mm": "accuracy",
    "mlvu": "accuracy m_avg",
    "mm-mt-bench": "macro_average_score micro_average_score",
    "mm-vet": "score",
    "mmbench": "circular vanilla vanilla_all",
    "mmbench-video": "score",
    "mme": "acc acc_plus cognition perception precision recall score",
    "mme-realworld": "accuracy",
    "mmlongbench-doc": "accuracy f1",
    "mmmu": "accuracy",
    "mmmu-pro": "accuracy",
    "mmsi-bench": "accuracy",
    "mmstar": "accuracy average",
    "mmt-bench": "accuracy subtasks",
    "mmvp": "accuracy pair_accuracy",
    "mmvu": "accuracy score",
    "motionbench": "accuracy",
    "mp-docvqa": "accuracy anls page_accuracy",
    "mtvqa": "accuracy average",
    "muirbench": "accuracy",
    "mvbench": "accuracy",
    "next-qa": "accuracy",
    "ocr-vqa": "accuracy",
    "ocrbench": "accuracy final_score",
    "ocrbench-v2": "chinese english score",
    "ok-vqa": "accuracy",
    "olmocr-bench": "absent baseline math order present score_without_math table",
    "olympiadbench": "accuracy",
    "omnidocbench": "teds teds_by_table teds_s teds_s_by_table",
    "omnispatial": "accuracy",
    "osworld-g": "accuracy",
    "ovo-bench": """
        accuracy accuracy_by_question accuracy_micro balanced_accuracy f1 precision recall
        answered_in_span answered_in_span_any answered_in_span_1s answered_in_span_2s
        answered_in_span_3s count_right_time count_skill final_count projected span_auc
    """,
    "perceptiontest": "accuracy",
    "pointbench": "accuracy",
    "pope": "accuracy f1 mean_accuracy mean_f1 precision recall",
    "realworldqa": "accuracy",
    "ref-l4": "accuracy accuracy@0.75 accuracy@0.9 class_accuracy class_macc iou macc",
    "refcoco": """
        accuracy accuracy@0.1 accuracy@0.3 accuracy@0.7 accuracy@0.9 average average_iou iou
    """,
    "refspatial": "accuracy",
    "scienceqa": "accuracy",
    "screenspot": """
        accuracy accuracy@0.1 accuracy@0.3 accuracy@0.5 accuracy@0.7 accuracy@0.9 average iou
    """,
    "screenspot-pro": "accuracy",
    "seed-bench": "accuracy dimension_average",
    "simplevqa": "accuracy accuracy_given_attempted exact_match f1 is_correct",
    "tablevqa-bench": "accuracy average",
    "tempcompass": "accuracy matched",
    "textvqa": "accuracy",
    "tir-bench": "accuracy",
    "tomato": "accuracy",
    "treebench": "accuracy mean_iou",
    "tvbench": "accuracy",
    "vcr-wiki": "exact_match f1 jaccard precision recall",
    "vibe-eval": "score",
    "video-holmes": "accuracy",
    "video-mme": "accuracy",
    "video-mmmu": "accuracy",
    "visualpuzzles": "accuracy",
    "visulogic": "accuracy",
    "vlmevalkit": "accuracy",
    "vlms-are-blind": "accuracy average",
    "vqav2": "accuracy",
    "vsi-bench": "object_rel_direction overall",
    "vstar": "accuracy",
    "wemath": "cm_loose cm_strict concepts one_step score_loose score_strict three_steps two_steps",
    "worldvqa": "accuracy accuracy_given_attempted f1 is_correct",
    "zerobench": "accuracy k_of_k",
}
LOWER = {
    "charxiv": "invalid",
    "eyechart": "acuity contrast noise",
    "eyechart-video": "temporal_acuity",
    "gqa": "distribution",
    "hallusionbench": "figure_inconsistent figure_wrong",
    "hle": "calibration_error",
    "omnidocbench": """
        formula_edit order_edit overall_v1.0_en overall_v1.0_zh table_edit text_edit
    """,
    "osworld-g": "wrong_format",
    "ovo-bench": """
        acknowledgements ambiguous count_mae delay_censored delay_mean delay_median early
        false_alarms_per_min late overcount repeats silent slots_failed unsolicited_per_hour
    """,
    "refspatial": "unparsed",
    "screenspot": "wrong_format",
    "screenspot-pro": "wrong_format",
    "simplevqa": "is_incorrect",
    "wemath": "ig ik rm_loose rm_strict",
    "worldvqa": "is_incorrect",
}
# Shares of a kind of answer or of blame, and what a video's end cuts off: neither way is better.
# Another model's score is not a score.
NEITHER = {
    "hallusionbench": "lh mixed vi yes_diff yes_fp",
    "llava-bench": "reference_score",
    "mme-realworld": "e_share",
    "ovo-bench": "slots_dropped yes_ratio",
    "pope": "yes_ratio",
    "simplevqa": "is_given_attempted is_not_attempted",
    "worldvqa": "is_given_attempted is_not_attempted",
}
# Their authors publish distances.
LOWER_HEADLINE = ("omnidocbench",)
PROACTIVE = "ovo-bench:mode=proactive"
SYNTHETIC = Path("synthetic")


def catalog_benchmarks() -> Iterator[Benchmark]:
    for name in (*(entry.name for entry in registry.entries()), PROACTIVE):
        yield registry.benchmark(name, data=SYNTHETIC)


def test_each_metric_of_the_catalog_has_the_direction_of_its_definition() -> None:
    expected = {
        (benchmark, metric): better
        for better, names in (("higher", HIGHER), ("lower", LOWER), (None, NEITHER))
        for benchmark, metrics in names.items()
        for metric in metrics.split()
    }
    stated = {
        (benchmark.name, metric): scoring.direction(metric)
        for benchmark in catalog_benchmarks()
        for scoring in benchmark.scorings.values()
        for metric in scoring.metrics
    }

    assert stated == expected


def test_a_headline_of_the_catalog_has_the_direction_that_its_authors_publish() -> None:
    for benchmark in catalog_benchmarks():
        for name, scoring in benchmark.scorings.items():
            expected = "lower" if benchmark.name in LOWER_HEADLINE else "higher"
            assert scoring.better == expected, f"{benchmark.name} {name}"
            assert scoring.zero_is_wrong == (expected == "higher")


@pytest.mark.parametrize("spec", HIGHER)
def test_a_metric_states_the_unit_of_its_estimates(spec: str) -> None:
    benchmark = registry.benchmark(spec, data=SYNTHETIC)
    assert benchmark.check is not None
    says = benchmark.check.says
    samples = [benchmark.read(row) for row in benchmark.data]
    answered = [
        (sample, says(sample, sample.target)) for sample in samples if sample.target is not None
    ]
    tally = Tally(benchmark)
    tally.add(Scored(sample, 0, "ok", Reply(text=text, stop="stop")) for sample, text in answered)
    report = tally.report(model="", identity={})

    for name, scoring in report.scorings.items():
        for metric, function in benchmark.scorings[name].metrics.items():
            assert isinstance(function, Metric), f"{name} {metric}"
            if scoring.metrics[metric].value is not None:
                assert scoring.metrics[metric].unit == function.unit, f"{name} {metric}"


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_of_streams_has_the_direction_and_unit_that_its_formula_states(name: str) -> None:
    text = " ".join((METRICS[name].__doc__ or "").split())
    stated = [way for way in ("higher", "lower") if f"{way} is better" in text]

    if stated:
        assert [METRICS[name].better] == stated

    slots = (Slot(10, 20, 1), Slot(20, 40, 2))
    watch = Watch(task="REC", asked=5, end=40, slots=slots, points=(Point(40, 2),), counts=True)
    estimate = METRICS[name](columns_of((watch, SpeechLog((Utterance(12, 13, 1),)))))
    assert estimate.value is not None and METRICS[name].unit == estimate.unit


def test_a_plain_callable_has_no_direction_whatever_its_name() -> None:
    def plain(columns: Columns) -> Estimate:
        raise NotImplementedError

    scoring = Scoring(
        version=1,
        source="ours",
        parse=tiny.parse,
        score=tiny.right,
        metrics={"accuracy": plain, "f1": f1, "errors": Metric(plain, better="lower")},
    )

    assert [scoring.direction(name) for name in scoring.metrics] == [None, "higher", "lower"]
    assert scoring.direction("no metric of it") is None
    assert not scoring.zero_is_wrong


def test_a_plain_callable_may_state_its_direction_as_an_attribute() -> None:
    class Distance:
        better = "lower"

        def __call__(self, columns: Columns) -> Estimate:
            raise NotImplementedError

    assert direction_of("distance", Distance()) == "lower"


@pytest.mark.parametrize("metric", [mean, macro_average("kind"), only_tagged(mean, "kind", ["a"])])
def test_a_mean_of_scores_points_where_they_do_which_accuracy_alone_says(metric: Metric) -> None:
    assert direction_of("accuracy", metric) == "higher"
    assert direction_of("edit_distance", metric) is None
    assert direction_of("edit_distance", Metric(metric, better="lower")) == "lower"
    assert direction_of("accuracy", Metric(metric, better="lower")) == "lower"


def test_shares_of_wrong_groups_are_better_when_lower() -> None:
    assert share_of_groups("figure", "question").better == "higher"
    assert share_of_groups("figure", "question", "right").better == "higher"
    assert share_of_groups("figure", "question", "some right").better == "lower"
    assert share_of_groups("figure", "question", "none right").better == "lower"


def test_what_a_metric_states_stays_with_other_arguments_and_with_fewer_rows() -> None:
    quiet = precision.with_arguments(otherwise=0.0)

    assert (quiet.name, quiet.better, quiet.unit) == ("precision", "higher", "fraction")
    kept = only_tagged(quiet, "balanced", ["balanced"])
    assert (kept.better, kept.unit) == ("higher", "fraction")
    assert yes_ratio.better is None


@pytest.mark.parametrize("better", ["up", "Higher", "", True])
def test_a_direction_that_is_none_is_refused_with_those_that_are(better: object) -> None:
    def distance(columns: Columns) -> Estimate:
        return Estimate(value=1.0, n=1)

    message = "'distance' has better=.* Write better='higher' or better='lower', or None"
    with pytest.raises(UsageError, match=message):
        Metric(distance, better=better)  # type: ignore[arg-type]
    distance.better = better  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match=message):
        direction_of("distance", distance)
