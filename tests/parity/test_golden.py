"""Every golden pack by the engine of scripts/parity.py, and docs/parity.md made of the same."""

from collections import defaultdict
from types import ModuleType

import pytest

from snellen import registry
from tests.golden_data import FOLDER, golden
from tests.parity import engine
from tests.parity.lines import Line
from tests.parity.test_page import ROOT, script

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page() -> ModuleType:
    return script()


@pytest.fixture(scope="module")
def lines(page: ModuleType) -> list[Line]:
    golden("mathvista")
    return list(page.lines())


@pytest.mark.parametrize("name", engine.adapters())
def test_every_figure_and_item_of_a_pack_is_the_authors(name: str) -> None:
    golden(name)
    _, comparisons = engine.comparisons(FOLDER, name)
    assert any(comparison.figures or comparison.items for comparison in comparisons)
    assert [line for comparison in comparisons for line in comparison.differences] == []


def test_the_proof_of_a_benchmark_agrees_with_the_packs() -> None:
    """Published outputs count if a pack has them. Without them, the proof of a headline scoring is
    the authors' or a toolkit's code exactly if a pack compares the scoring with such code."""
    proofs = defaultdict(set)
    for name in engine.adapters():
        golden(name)
        for case in engine.comparisons(FOLDER, name)[0].cases:
            entry = registry.entry_of(case.benchmark)
            assert entry is not None
            for scoring in case.expected:
                proofs[entry.name].add((case.proof, scoring))

    for entry in registry.entries():
        if entry.plugin is not None:
            continue
        headline = next(iter(registry.benchmark(entry.name).scorings))
        has_outputs = any(proof == "published outputs" for proof, _ in proofs[entry.name])
        if has_outputs or ("generated pairs", headline) in proofs[entry.name]:
            kinds = {"published outputs"} if has_outputs else {"authors' code", "toolkit's code"}
            assert entry.facts.proof in kinds, entry.name


Row = tuple[str, str, str, str]
"""Heading, model, metric, and number of questions of one row of docs/parity.md."""


def rows(text: str) -> dict[Row, str]:
    """The rows of docs/parity.md below "All figures"."""
    _, _, below = text.partition("## All figures")
    cells = {}
    for section in below.split("\n### ")[1:]:
        heading, _, table = section.partition("\n")
        for line in table.strip().splitlines()[2:]:
            model, metric, n, *_ = line.removeprefix("| ").split(" | ")
            cells[heading, model, metric, n] = line
    return cells


def test_the_page_is_made_of_the_packs(page: ModuleType, lines: list[Line]) -> None:
    """Of a folder with other models or more made replies only what the page has too."""
    written = (ROOT / "docs/parity.md").read_text(encoding="utf-8")
    current = page.page(lines)
    here, there = rows(current), rows(written)
    assert {row: here[row] for row in here if row in there} == {
        row: there[row] for row in there if row in here
    }
    contents = [{(heading, model, n) for heading, model, _, n in part} for part in (here, there)]
    if contents[0] != contents[1]:
        others = sorted({f"{model} of {name}" for name, model, _ in contents[0] ^ contents[1]})
        pytest.xfail(
            f"docs/parity.md is made of another folder than {FOLDER}: only one of them has, or with"
            f" other numbers of questions, {', '.join(others)}. The rows of both are equal."
        )
    assert current == written


def test_what_differs_from_the_published_figure_has_its_reason(
    page: ModuleType, lines: list[Line]
) -> None:
    published = [line for line in lines if line.published is not None]

    assert published
    assert [line for line in published if not page.as_printed(line) and not line.reason] == []
