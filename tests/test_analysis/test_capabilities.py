"""Samples by what they ask of a model: counted once each, and pooled over benchmarks."""

import math
from pathlib import Path

import msgspec
import pytest

from snellen import registry, report
from snellen.analysis.capabilities import LEAVES, over
from snellen.api import Plan, run_plan
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Reply
from snellen.core.presentation import Capabilities, Presentation
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring
from snellen.data import jsonl
from snellen.metrics import mean
from snellen.scoring import CapabilityReport, MetricReport, Report, Scored, Tally
from snellen.testing import check_benchmark

CAPABILITIES = Capabilities(
    tag="category",
    leaves={"cats": "perception/object", "sums": "reasoning/mathematical"},
    source="x",
)


def benchmark(**changes: object) -> Benchmark:
    default = Benchmark(
        name="mine",
        asks=1,
        data=jsonl(Path("rows.jsonl")),
        sample=lambda _, row: Sample(id=row["id"], question=""),
        prompt=lambda *_: (),
        scorings={
            "official": Scoring(
                version=1,
                source="ours",
                parse=lambda reply, _: Reading(answer=reply.text, rule="whole"),
                score=lambda reading, sample: 2.0 * (reading.answer == sample.target),
                metrics={"accuracy": mean},
                best=2.0,
            )
        },
        presentation=Presentation(capabilities=CAPABILITIES),
    )
    return vary(default, **changes)


def scored_report(own: Benchmark, categories: str) -> Report:
    """A reply to a sample of each category, the first letter of its name: every other one right."""
    names = {"c": "cats", "s": "sums", "o": "other"}
    tally = Tally(own)
    for index, letter in enumerate(categories):
        sample = Sample(id=str(index), question="", target="yes", tags={"category": names[letter]})
        tally.add([Scored(sample, 0, "ok", Reply(text="no" if index % 2 else "yes"))])
    return tally.report(model="m", identity={})


def report_of(name: str, **leaves: MetricReport) -> Report:
    base = scored_report(benchmark(capabilities=None), "c")
    capabilities = {leaf: CapabilityReport(n=mean.n, mean=mean) for leaf, mean in leaves.items()}
    return Report(
        **{
            field: getattr(base, field)
            for field in base.__struct_fields__
            if field not in ("benchmark", "capabilities")
        },
        benchmark=name,
        capabilities=capabilities,
    )


def metric(value: float, n: int, stderr: float | None) -> MetricReport:
    interval = None if stderr is None else (value - stderr, value + stderr)
    return MetricReport(value=value, unit="fraction", n=n, stderr=stderr, ci95=interval)


def test_every_sample_is_counted_for_one_leaf() -> None:
    scored = scored_report(benchmark(), "ccccssso")
    assert {leaf: part.n for leaf, part in scored.capabilities.items()} == {
        "perception/object": 4,
        "reasoning/mathematical": 3,
        "unmapped": 1,
    }
    assert sum(part.n for part in scored.capabilities.values()) == scored.n


def test_a_leafs_mean_is_a_share_of_the_best_score() -> None:
    scored = scored_report(benchmark(), "ccccsss")
    assert scored.capabilities["perception/object"].mean.value == 0.5
    assert scored.capabilities["reasoning/mathematical"].mean.value == pytest.approx(2 / 3)


def test_a_benchmark_without_capabilities_says_nothing_of_them() -> None:
    assert scored_report(benchmark(capabilities=None), "ccs").capabilities == {}


def test_over_benchmarks_each_sample_weighs_the_same() -> None:
    text = "OCR/text"
    (capability,) = over(
        {
            "a": report_of("a", **{text: metric(0.5, 300, 0.03)}),
            "b": report_of("b", **{text: metric(0.9, 100, 0.04)}),
        }
    )
    assert (capability.leaf, capability.n, capability.benchmarks) == (text, 400, ("a", "b"))
    assert capability.mean.value == pytest.approx(0.6)
    stderr = math.sqrt((0.75 * 0.03) ** 2 + (0.25 * 0.04) ** 2)
    assert capability.mean.stderr == pytest.approx(stderr)
    assert capability.mean.ci95 == pytest.approx((0.6 - 1.959964 * stderr, 0.6 + 1.959964 * stderr))


def test_a_benchmark_without_a_score_is_not_among_those_of_a_mean() -> None:
    nothing = MetricReport(value=None, unit="fraction", n=0, stderr=None, ci95=None)
    some = metric(0.5, 300, 0.03)

    (leaf,) = over(
        {"a": report_of("a", **{"OCR/text": some}), "b": report_of("b", **{"OCR/text": nothing})}
    )
    assert (leaf.benchmarks, leaf.mean) == (("a",), some)
    (leaf,) = over({"a": report_of("a", **{"OCR/text": nothing})})
    assert (leaf.benchmarks, leaf.mean.value) == (("a",), None)


def test_the_interval_of_one_benchmark_alone_is_its_own() -> None:
    own = metric(0.5, 300, 0.03)
    (capability,) = over({"a": report_of("a", **{"OCR/text": own})})
    assert capability.mean == own


def test_without_one_of_the_errors_there_is_no_interval() -> None:
    text = "OCR/text"
    (capability,) = over(
        {
            "a": report_of("a", **{text: metric(0.5, 300, 0.03)}),
            "b": report_of("b", **{text: metric(1.0, 5, None)}),
        }
    )
    assert capability.mean.ci95 is None
    assert capability.mean.value == pytest.approx(155 / 305)
    assert capability.mean.reason == "b: no interval"


def test_the_reason_for_no_interval_over_benchmarks_names_the_one_that_has_none() -> None:
    few = msgspec.structs.replace(metric(0.5, 2, None), reason="2 independent clusters")
    (capability,) = over(
        {
            "large": report_of("large", **{"OCR/text": metric(0.5, 300, 0.03)}),
            "small": report_of("small", **{"OCR/text": few}),
        }
    )
    assert (capability.n, capability.mean.reason) == (302, "small: 2 independent clusters")


def test_where_all_are_right_the_interval_gives_the_error() -> None:
    text = "OCR/text"
    right = msgspec.structs.replace(metric(1.0, 100, None), ci95=(0.963, 1.0))
    (capability,) = over(
        {
            "a": report_of("a", **{text: metric(0.5, 300, 0.03)}),
            "b": report_of("b", **{text: right}),
        }
    )
    stderr = math.sqrt((0.75 * 0.03) ** 2 + (0.25 * 0.0185 / 1.959964) ** 2)
    assert capability.mean.stderr == pytest.approx(stderr)
    assert capability.mean.ci95 == pytest.approx(
        (0.625 - 1.959964 * stderr, 0.625 + 1.959964 * stderr)
    )


def test_leaves_stand_in_the_order_of_the_tree_and_unmapped_last() -> None:
    capabilities = over({"mine": scored_report(benchmark(), "oscc")})
    assert [capability.leaf for capability in capabilities] == [
        "perception/object",
        "reasoning/mathematical",
        "unmapped",
    ]


def test_several_runs_of_a_model_are_reported_by_capability(tmp_path: Path) -> None:
    benchmarks = [
        registry.benchmark(name, data=Path("synthetic")) for name in ("scienceqa", "mathvision")
    ]
    plan = Plan(benchmarks=benchmarks, models=["baseline/first"], out=tmp_path)
    results = [outcome.result for outcome in run_plan(plan) if outcome.result is not None]
    text = report.as_text(results)
    assert "by capability" in text
    assert "knowledge/domain" in text and "reasoning/mathematical" in text
    assert "By capability" in report.markdown(results)
    assert "capability" not in report.as_text(results[:1])


@pytest.mark.parametrize("name", [entry.name for entry in registry.entries()])
def test_every_benchmarks_leaves_are_the_trees(name: str) -> None:
    own = registry.benchmark(name)
    capabilities = own.presentation.capabilities
    if name == "vlmevalkit":
        assert capabilities is None  # its sets are many, and none of them says what it asks for
        return
    assert capabilities is not None, (
        f"{name}: say what each category asks for, with capabilities=Capabilities(...): see "
        "docs/add-a-benchmark.md"
    )
    assert set(capabilities.leaves.values()) <= {*LEAVES, "unmapped"}
    assert capabilities.source


def test_a_leaf_that_is_none_of_the_trees_breaks_the_contract() -> None:
    own = registry.benchmark("scienceqa", data=Path("synthetic"))
    strange = Capabilities(tag="subject", leaves={"NAT": "perception/smell"}, source="x")
    with pytest.raises(AssertionError, match="perception/smell"):
        check_benchmark(vary(own, capabilities=strange))
