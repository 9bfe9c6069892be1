"""How scripts/parity.py writes docs/parity.md."""

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from tests.parity.lines import Line

ROOT = Path(__file__).parents[2]


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("parity_page", ROOT / "scripts/parity.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["parity_page"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page() -> ModuleType:
    return script()


def line(metric: str, published: float | None, official: float | None, reason: str = "") -> Line:
    return Line(
        benchmark="b",
        model="m",
        metric=metric,
        n=1000,
        published=published,
        official=official,
        ours=official,
        proof="published outputs",
        reason=reason,
    )


def test_a_model_s_published_figures_stand_first_without_parts_that_are_as_printed(
    page: ModuleType,
) -> None:
    overall, same = line("accuracy", 0.5, 0.5004), line("accuracy/easy", 0.25, 0.2511)
    off, none = line("accuracy/hard", 0.25, 0.2561, "why"), line("f1", None, 0.5)

    assert page.with_published([overall, same, off, none]) == [overall, off]
    assert page.with_published([same, none]) == [same]


def test_a_figure_is_as_printed_if_it_rounds_to_it(page: ModuleType) -> None:
    assert page.as_printed(line("score", 0.0717, 0.07171052631578947))
    assert page.as_printed(line("score", 963.6, 963.6114445778312))
    assert page.as_printed(line("score", 0.0569 + 1e-17, 0.05685))
    assert not page.as_printed(line("score", 0.1766, 0.1769736842105263))
    assert not page.as_printed(line("score", 0.6332, None))


def test_published_figures_come_before_the_summary_and_benchmarks_by_their_names(
    page: ModuleType,
) -> None:
    first_line = line("accuracy", 0.5, 0.5004, "not this")
    second_line = replace(line("accuracy", 0.25, 0.3, "why"), benchmark="a-b")
    split_line = replace(first_line, benchmark="a:split=val")
    text = page.page([first_line, second_line, split_line])

    first, _, rest = text.partition("## At a glance")
    assert "| a-b | m | accuracy | 1,000 | 0.25 | 0.3 | 0.3 | why |" in first
    assert "| b | m | accuracy | 1,000 | 0.5 | 0.5004 | 0.5004 |  |" in first
    assert re.findall(r"^### (.*)$", rest, re.MULTILINE) == ["a:split=val", "a-b", "b"]
