"""Every golden pack by the engine of scripts/parity.py, and docs/parity.md made of the same."""

from types import ModuleType

import pytest

from tests.golden_data import FOLDER, golden
from tests.parity import engine
from tests.parity.lines import Line
from tests.parity.test_page import ROOT, script


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
    assert any(one.figures or one.items for one in comparisons)
    assert [line for one in comparisons for line in one.differences] == []


def test_the_page_is_made_of_the_packs(page: ModuleType, lines: list[Line]) -> None:
    assert len(lines) > 700
    assert all(
        line.ours is None or page.difference(line) is None or page.difference(line) <= 1e-9
        for line in lines
    )
    assert page.page(lines) == (ROOT / "docs/parity.md").read_text(encoding="utf-8")


def test_what_differs_from_the_published_figure_has_its_reason(
    page: ModuleType, lines: list[Line]
) -> None:
    published = [line for line in lines if line.published is not None]

    assert len(published) > 300
    assert [line for line in published if not page.as_printed(line) and not line.reason] == []
