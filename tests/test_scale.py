"""The model of a run that docs/scale.md predicts from, against closed forms worked out by hand, and
the page against the figures that it was made of."""

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def imported() -> Iterator[Callable[[str], ModuleType]]:
    sys.path.insert(0, str(ROOT / "perf"))
    try:
        yield importlib.import_module
    finally:
        sys.path.remove(str(ROOT / "perf"))


@pytest.fixture
def model(imported: Callable[[str], ModuleType]) -> ModuleType:
    return imported("_scale_model")


@pytest.fixture
def predictions(imported: Callable[[str], ModuleType]) -> ModuleType:
    return imported("_scale_predictions")


@pytest.fixture
def pages(imported: Callable[[str], ModuleType]) -> ModuleType:
    return imported("_scale_page")


@pytest.fixture
def figures() -> dict[str, Any]:
    document = json.loads((ROOT / "perf/scale.json").read_text())
    assert isinstance(document, dict)
    return document


def played(model: ModuleType, **fields: Any) -> Any:
    return model.simulate(model.Setting(**{"questions": 2000, "after": 0.001, **fields}))


def test_one_question_at_a_time_takes_the_sum_of_its_parts(model: ModuleType) -> None:
    item = played(
        model, questions=100, slots=1, before=0.003, replicas=2, handling=0.002, work=0.02
    )

    # The first is sent after 3 ms; the hundredth is over after 100 times 26 ms.
    assert item.span == pytest.approx(100 * 0.026 - 0.003)
    assert item.rate == pytest.approx(1 / 0.026)
    assert item.driver == pytest.approx(4 / 26)


def test_a_turn_of_the_driver_is_shared_by_all_that_waits_for_it(model: ModuleType) -> None:
    alone = played(model, questions=100, slots=1, before=0.001, wake=0.002, replicas=1, wait=0.01)
    many = played(model, slots=200, before=0.001, wake=0.002, replicas=1, wait=0.01, at_once=200)

    # Two turns for each question, 2 + 1 ms, and 10 ms of the call.
    assert alone.rate == pytest.approx(1 / 0.016)
    # Always busy, in turns of many: 2 ms of its own for each question, and little of the turns.
    assert many.driver == pytest.approx(1.0, rel=0.02)
    assert 1 / 0.0022 < many.rate < 1 / 0.002


def test_a_driver_that_is_always_busy_sets_the_pace(model: ModuleType) -> None:
    item = played(model, slots=128, before=0.001, replicas=4, wait=0.02, at_once=32)

    assert item.rate == pytest.approx(1 / 0.002, rel=0.01)
    assert item.driver == pytest.approx(1.0, rel=0.02)


def test_calls_that_take_cpu_share_the_cores_with_the_driver(model: ModuleType) -> None:
    for replicas in (2, 4):
        item = played(
            model, slots=8, before=0.001, replicas=replicas, handling=0.001, work=0.02, cores=2.0
        )
        # 23 ms of CPU a question, of two cores, all the time.
        assert item.rate == pytest.approx(2 / 0.023, rel=0.01)


def test_one_server_that_takes_cpu_leaves_the_other_core_to_the_driver(model: ModuleType) -> None:
    item = played(model, slots=2, before=0.001, replicas=1, work=0.02, cores=2.0)
    assert item.rate == pytest.approx(1 / 0.02, rel=0.01)


def test_half_a_core_takes_twice_as_long(model: ModuleType) -> None:
    item = played(model, slots=1, before=0.001, replicas=1, work=0.02, cores=0.5)
    assert item.rate == pytest.approx(1 / 0.044)


def test_replicas_that_wait_answer_as_many_as_they_hold_in_each_call(model: ModuleType) -> None:
    item = played(model, slots=80, before=0.001, replicas=4, wait=0.5, at_once=8)
    assert item.rate == pytest.approx(4 * 8 / 0.5, rel=0.05)


def test_a_full_wire_sets_the_pace(model: ModuleType) -> None:
    item = played(model, slots=64, before=0.001, replicas=4, wait=0.1, at_once=64, wire=0.004)

    assert item.rate == pytest.approx(1 / 0.004, rel=0.01)
    assert item.wire == pytest.approx(1.0, rel=0.05)


def test_more_slots_than_questions_leave_some_empty(model: ModuleType) -> None:
    item = played(model, questions=7, slots=100, before=0.001, replicas=3, work=0.02)
    # One of the three replicas has three calls, from the first request on; then the reply is read.
    assert item.span == pytest.approx(3 * 0.02 + 0.001)


def test_the_page_is_what_its_figures_make(pages: ModuleType, figures: dict[str, Any]) -> None:
    assert (ROOT / "docs/scale.md").read_text() == pages.page(figures), (
        "docs/scale.md is not what perf/scale.json makes: "
        "`python perf/scale.py --from perf/scale.json --write docs/scale.md`"
    )


def test_every_table_of_the_page_has_as_many_cells_in_each_row(
    pages: ModuleType, figures: dict[str, Any]
) -> None:
    tables = 0
    for block in pages.page(figures).split("\n\n"):
        if block.startswith("|"):
            tables += 1
            assert len({line.count("|") for line in block.strip().splitlines()}) == 1, block
    assert tables >= 10


def test_the_page_says_of_each_point_how_far_it_was_off(
    pages: ModuleType, predictions: ModuleType, figures: dict[str, Any]
) -> None:
    page = pages.page(figures)
    items = list(predictions.points(figures))

    assert {item.replicas for item in items} == {1, 2, 4}
    off = sum(abs(item.simulated / item.measured - 1) > 0.1 for item in items)
    assert ("All simulated rates are within 10 %" in page) == (off == 0)
    assert (f"**{off} of {len(items)} are off" in page) == (off > 0)


def test_a_slower_driver_is_full_sooner(predictions: ModuleType, figures: dict[str, Any]) -> None:
    vlm = predictions.VLMS[0]
    before = predictions.predicted(figures, vlm, 64, 1024).rate
    for value in figures["sizes"].values():
        value["driver"] *= 10
    assert predictions.predicted(figures, vlm, 64, 1024).rate < before


def test_a_run_has_as_many_drivers_as_its_gpus_need(
    predictions: ModuleType, figures: dict[str, Any]
) -> None:
    vlm = predictions.VLMS[0]
    figures["sizes"]["100000"]["driver"] = 0.001  # a driver asks at most 1,000 questions per second
    # 64 GPUs give 640 replies per second, and 1,024 give 10,240. A driver is full at 95 %.
    assert predictions.drivers(figures, vlm, 64) == 1
    assert predictions.drivers(figures, vlm, 1024) == 11
    parts = predictions.in_parts(figures, vlm, 1024)
    # 1.25 x 16 requests for each of 1,024 GPUs, divided by 11
    assert parts.slots == 1862
    assert parts.rate == pytest.approx(10_240, rel=0.02)
    assert parts.busy == pytest.approx(0.931, rel=0.02)
    assert parts.sent == pytest.approx(10_240 * 100_000 * 4 / 3, rel=0.02)


@pytest.mark.parametrize("which", [0, 1])
def test_no_run_is_foretold_to_be_faster_than_its_driver_or_its_gpus(
    predictions: ModuleType, figures: dict[str, Any], which: int
) -> None:
    vlm = predictions.VLMS[which]
    slots = predictions.under_way(vlm, 1024)
    rate = predictions.predicted(figures, vlm, 1024, slots).rate
    assert rate <= 1.02 * min(predictions.bears(figures), 1024 * vlm.rate)
