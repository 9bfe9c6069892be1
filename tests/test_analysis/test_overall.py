"""The overall score of a suite: values and intervals worked out by hand, and what prevents one."""

from typing import Any

import pytest

from snellen.analysis.overall import Overall, lines, overalls
from snellen.analysis.result import Result
from snellen.errors import UsageError
from snellen.scoring import MetricReport, Report, ScoringReport
from tests.test_report.results import metric

SUITE = "suite:hallucination"
"""HallusionBench's questions with a picture by its average, POPE, and MMVP."""
IMAGE = {"questions": "image", "prompt": "official"}


def result(
    benchmark: str,
    metrics: dict[str, MetricReport],
    *,
    model: str = "m",
    options: dict[str, Any] | None = None,
    scoring: str = "official",
    readings: dict[str, int] | None = None,
    **changes: Any,
) -> Result:
    scorings = {"official": {"accuracy": metric(0.0)}, scoring: metrics}
    return Result(
        Report(
            **{
                "format": 0,
                "benchmark": benchmark,
                "model": model,
                "n": 100,
                "headline": "official",
                "replies": {"ok": 100},
                "scorings": {
                    name: ScoringReport(
                        version=1, source="theirs", metrics=of, readings=readings or {}
                    )
                    for name, of in scorings.items()
                },
                "breakdown": {},
                "disagreements": [],
                "notes": [],
                "identity": {"options": options or {}},
                **changes,
            }
        )
    )


def figures(value: float = 0.5, **more: Any) -> Result:
    """HallusionBench, whose score in the suite is a metric of another scoring."""
    return result(
        "hallusionbench",
        {"aacc": metric(0.9), "average": metric(value, stderr=0.03)},
        options=IMAGE,
        scoring="vlmevalkit",
        **more,
    )


def pope(value: float | None = 0.8, **more: Any) -> Result:
    return result("pope", {"mean_f1": metric(value, stderr=0.01), "accuracy": metric(0.7)}, **more)


def mmvp(value: float = 0.2, **more: Any) -> Result:
    return result("mmvp", {"pair_accuracy": metric(value, stderr=0.04)}, **more)


def overall_of(*results: Result) -> Overall:
    [overall] = overalls(SUITE, results)
    return overall


def test_the_value_is_the_mean_and_the_interval_adds_the_variances() -> None:
    """(0.5 + 0.8 + 0.2) / 3 = 0.5. The standard error is √(0.0009 + 0.0001 + 0.0016) / 3 =
    √0.0026 / 3 = 0.01699673, and 1.95996398 times this is 0.03331298."""
    overall = overall_of(figures(), pope(), mmvp())

    assert overall.value == pytest.approx(0.5, abs=1e-12)
    assert overall.ci95 == pytest.approx((0.46668702, 0.53331298), abs=1e-7)
    assert (overall.of, overall.missing, overall.notes) == (3, {}, {})
    assert [*lines(SUITE, [figures(), pope(), mmvp()])] == [
        "suite:hallucination, m: 50.00 % [46.67, 53.33], the mean of 3 benchmarks"
    ]


def test_an_interval_stays_within_0_and_1() -> None:
    overall = overall_of(figures(1.0), pope(1.0), mmvp(1.0))
    assert overall.value == 1.0
    assert overall.ci95 == pytest.approx((0.96668702, 1.0), abs=1e-7)


def test_each_model_has_an_overall_score_of_its_own() -> None:
    results = [figures(), pope(), mmvp(), figures(0.8, model="n"), pope(0.8, model="n")]
    first, second = overalls(SUITE, results)

    assert first.model == "m"
    assert first.value == pytest.approx(0.5)
    assert (second.model, second.value, second.ci95) == ("n", None, None)
    assert second.missing == {"no run": ("mmvp",)}


def test_missing_benchmarks_are_listed_by_reason() -> None:
    assert [*lines(SUITE, [pope()])] == [
        "suite:hallucination, m: no overall score, because 2 of 3 scores are missing:",
        "  hallusionbench:questions=image, mmvp: no run",
    ]


def test_two_runs_of_a_benchmark_are_ambiguous() -> None:
    overall = overall_of(figures(), pope(), mmvp(), mmvp(0.9, options={"prompt": "lmms-eval"}))
    assert overall.value is None
    assert overall.missing == {"2 runs. Name only one of them": ("mmvp",)}


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        ({}, True),
        ({"images": "coco", "sets": "all"}, True),
        ({"prompt": "llava"}, True),
        ({"sets": "random"}, False),
        ({"images": "gqa"}, False),
    ],
)
def test_a_run_with_other_options_is_not_the_suites_but_any_prompt_is(
    options: dict[str, str], counts: bool
) -> None:
    overall = overall_of(figures(), pope(options=options), mmvp())
    assert overall.missing == ({} if counts else {"no run": ("pope",)})


def test_a_run_without_the_suites_option_is_not_the_suites() -> None:
    other = result("hallusionbench", {"average": metric(0.5)}, scoring="vlmevalkit")
    assert overall_of(other, pope(), mmvp()).missing == {
        "no run": ("hallusionbench:questions=image",)
    }


def test_a_prompt_that_the_suite_sets_must_be_the_runs() -> None:
    def run(prompt: str) -> Overall:
        of = result("mm-vet", {"score": metric(0.5)}, options={"prompt": prompt})
        return overalls("suite:openvlm", [of])[0]

    assert "mm-vet:prompt=llava" not in run("llava").missing["no run"]
    assert "mm-vet:prompt=llava" in run("official").missing["no run"]


def test_failed_questions_prevent_an_overall_score() -> None:
    failed = pope(replies={"ok": 98, "failed": 2}, incomplete=True)
    overall = overall_of(figures(), failed, mmvp())
    assert overall.value is None
    assert overall.missing == {"incomplete, 2 questions failed. Run the command again": ("pope",)}


def test_an_incomplete_file_of_predictions_prevents_an_overall_score() -> None:
    note = "incomplete: 3 lines cannot be read"
    assert overall_of(figures(), pope(notes=[note], incomplete=True), mmvp()).missing == {
        note: ("pope",)
    }


def test_replies_that_wait_for_a_judge_prevent_an_overall_score() -> None:
    waiting = mmvp(readings={"not-judged": 7}, incomplete=True)
    assert overall_of(figures(), pope(), waiting).missing == {
        "7 replies are not judged. Run `snellen judge`": ("mmvp",)
    }


def test_replies_that_wait_for_the_judge_of_another_scoring_do_not_matter() -> None:
    """The suite takes HallusionBench's score from `vlmevalkit`, which needs no judge."""
    of = figures(incomplete=True).report
    official = ScoringReport(
        version=1, source="theirs", metrics={"aacc": metric(None)}, readings={"not-judged": 100}
    )
    scorings = {**of.scorings, "official": official}
    waiting = figures(incomplete=True, scorings=scorings)
    assert overall_of(waiting, pope(), mmvp()).value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [
        ({"mean_f1": metric(80.0, unit="points")}, "mean_f1 is in points, not a share"),
        ({"mean_f1": metric(None, reason="no replies")}, "mean_f1 has no value (no replies)"),
        ({"mean_f1": metric(None)}, "mean_f1 has no value"),
    ],
)
def test_only_shares_with_a_value_count(metrics: dict[str, MetricReport], reason: str) -> None:
    assert overall_of(figures(), result("pope", metrics), mmvp()).missing == {reason: ("pope",)}


def test_a_scoring_or_metric_that_was_not_computed_is_named() -> None:
    without = result("hallusionbench", {"aacc": metric(0.5)}, options=IMAGE)
    other = result("hallusionbench", {"aacc": metric(0.5)}, options=IMAGE, scoring="vlmevalkit")
    spec = "hallusionbench:questions=image"
    assert overall_of(without, pope(), mmvp()).missing == {"no scoring vlmevalkit": (spec,)}
    reason = "no metric average in the scoring vlmevalkit"
    assert overall_of(other, pope(), mmvp()).missing == {reason: (spec,)}


def test_runs_with_a_probe_never_count() -> None:
    identity = {"options": {}, "probe": {"blind": "blank"}}
    blind = mmvp(0.9, identity=identity)
    assert overall_of(figures(), pope(), blind).missing == {"only runs with a probe": ("mmvp",)}
    assert overall_of(figures(), pope(), mmvp(), blind).value == pytest.approx(0.5)


def test_a_partial_run_counts_with_a_note() -> None:
    overall = overall_of(figures(), pope(n=20, asked_of=9000), mmvp())
    assert overall.value == pytest.approx(0.5)
    assert overall.notes == {"partial, 20 of 9,000": ("pope",)}


def test_a_score_without_a_standard_error_leaves_no_interval() -> None:
    overall = overall_of(figures(), result("pope", {"mean_f1": metric(0.8)}), mmvp())
    assert overall.value == pytest.approx(0.5)
    assert overall.ci95 is None
    assert overall.notes == {"no standard error, therefore no interval": ("pope",)}


@pytest.mark.parametrize("name", ["suite:quick", "suite:gone", "suite:mine.toml"])
def test_a_suite_without_an_overall_score_is_an_error_that_lists_the_others(name: str) -> None:
    with pytest.raises(UsageError, match=r"suite with an overall score.*suite:openvlm"):
        overalls(name, [pope()])
