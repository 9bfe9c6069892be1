"""docs/parity.md is what scripts/parity.py makes of the published outputs."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from tests.golden_data import golden

ROOT = Path(__file__).parents[2]


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("parity_page", ROOT / "scripts/parity.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["parity_page"] = made
    spec.loader.exec_module(made)
    return made


def test_the_page_is_made_of_the_lines_that_the_tests_hold() -> None:
    golden("mathvista")
    page = script()
    found = page.lines()
    assert len(found) > 700
    assert all(
        line.ours is None or page.difference(line) in (None, 0.0) or page.difference(line) <= 1e-9
        for line in found
    )
    assert page.page(found) == (ROOT / "docs/parity.md").read_text(encoding="utf-8")
