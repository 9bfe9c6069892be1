"""What every new benchmark, metric and model is put through, unasked."""

from pathlib import Path

import pytest

import snellen.metrics
from snellen import registry
from snellen.core.model import Generates, Request
from snellen.errors import CatalogError, UsageError
from snellen.media.content import user
from snellen.testing import check_benchmark, check_metric, check_model

BENCHMARKS = [entry.name for entry in registry.entries()]
METRICS = [
    name
    for name in snellen.metrics.__all__
    if isinstance(getattr(snellen.metrics, name), snellen.metrics.Metric)
]
BLIND = ("baseline/random", "baseline/first", "baseline/longest")
QUESTION = Request(messages=(user("Which?\nA. a cat\nB. a dog"),), choices=("a cat", "a dog"))


def test_there_are_benchmarks_and_metrics_to_check() -> None:
    assert {"eyechart", "mathvision"} <= set(BENCHMARKS)
    assert "mean" in METRICS


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_keeps_to_the_contract(name: str) -> None:
    report = check_benchmark(name)

    wrong = [row for row in report.rows if not row.ok]
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("name", ["docvqa", "vqav2", "textvqa", "mmmu"])
def test_a_split_whose_answers_are_hidden_keeps_to_the_contract(name: str) -> None:
    report = check_benchmark(f"{name}:split=test")
    assert report.n > 0
    assert not report.rows


@pytest.mark.parametrize("entry", list(registry.entries()), ids=lambda entry: entry.name)
def test_another_toolkits_name_asks_in_that_toolkits_words(entry: registry.Entry) -> None:
    """Where the benchmark has them. A name with a capital is VLMEvalKit's."""
    others = {}
    for alias in entry.aliases:
        theirs = "lmms-eval" if alias.islower() else "vlmevalkit"
        try:
            registry.benchmark(alias, data=Path("synthetic"), options={"prompt": theirs})
        except UsageError:
            continue
        prompt_name = registry.benchmark(alias, data=Path("synthetic")).provenance.options["prompt"]
        if prompt_name != theirs:
            others[alias] = prompt_name
    assert not others


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("chartqa:prompt=lmms-eval", 16),
        ("hallusion_bench_image", 128),
        ("mmmu_val", 128),
        ("mmmu_test", 512),
        ("mmmu_pro_standard", 256),
        ("mmmu_pro_vision_cot", 16_384),
        ("mmvet", 1024),
        ("ocrbench:prompt=lmms-eval", 128),
        ("pope_adv", 128),
        ("seedbench_2", 16),
    ],
)
def test_a_reply_is_as_long_as_lmms_eval_lets_it_be(name: str, limit: int) -> None:
    # EvolvingLMMs-Lab/lmms-eval@75571cf: max_new_tokens of each task's YAML
    assert registry.benchmark(name, data=Path("synthetic")).max_answer_tokens == limit


def test_a_name_in_nobodys_letters_is_asked_back_where_two_toolkits_have_it() -> None:
    with pytest.raises(CatalogError, match="Did you mean TextVQA_VAL or textvqa_val"):
        registry.benchmark("TEXTVQA_VAL")
    assert registry.benchmark("mmbench_dev_en", data=Path("synthetic")).name == "mmbench"


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_keeps_to_the_contract(name: str) -> None:
    check_metric(getattr(snellen.metrics, name))


@pytest.mark.parametrize("name", BLIND)
def test_a_blind_baseline_keeps_to_the_contract(name: str) -> None:
    model = registry.model(name).model
    assert isinstance(model, Generates)
    reply = check_model(model, QUESTION)
    assert reply.text in ("A", "B")


@pytest.mark.parametrize("name", BLIND)
def test_a_blind_baseline_says_nothing_to_an_open_question(name: str) -> None:
    model = registry.model(name).model
    assert isinstance(model, Generates)
    assert check_model(model, Request(messages=(user("How many?"),))).text == ""
