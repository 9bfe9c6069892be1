"""--explain-gap against a server that knows which fields matter. `perf/gap_cases.py` asks more."""

from pathlib import Path

import pytest

from tests.gap_cases import Kind, drawn, explained

OUTCOMES = {"none": "noise", "single": "field"}


@pytest.mark.parametrize(
    ("seed", "kind"),
    [
        (2001, "none"),
        (2002, "none"),
        (2003, "single"),
        (2005, "added"),
        (2006, "joint"),
        (2007, "either"),
    ],
)
def test_exactly_the_fields_that_matter_are_named(tmp_path: Path, seed: int, kind: Kind) -> None:
    case = drawn(seed, kind, most=4)
    gap = explained(case, tmp_path, budget=1_200)
    assert set(gap.matters) == set(case.effects)
    assert gap.kind == OUTCOMES.get(kind, kind)
