"""docs/why-scores-differ.md says what its script finds in the published replies."""

from collections.abc import Mapping

import pytest

from scripts.why_scores_differ import PAGE, Case, Rule, Table, cases, compared, filled, gap, parts
from snellen.sample import Sample


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    return [compared(case) for case in cases()]


def test_the_cells_of_every_gap_add_up_to_it(tables: list[Table]) -> None:
    for table in tables:
        for name, cells in table.cells.items():
            net = sum(cell.only_other - cell.only_official for cell in cells)
            assert net == table.right[name] - table.right["official"], (table.case.model, name)


def test_the_page_has_the_tables_as_they_are(tables: list[Table]) -> None:
    page = PAGE.read_text()

    assert filled(page, parts(tables)) == page, "run scripts/why_scores_differ.py"


def test_what_is_not_listed_of_a_gap_is_summed_up() -> None:
    samples = [Sample(id=str(i), question="?", choices=("x", "y"), target="A") for i in range(8)]
    verdicts: Mapping[str, str] = {"official": "11100000", "other": "00011111"}

    def rule(name: str) -> Rule:
        return lambda _, sample: (f"{name} {sample.id}", float(verdicts[name][int(sample.id)]))

    table = compared(
        Case(
            benchmark="b",
            model="m",
            replies=[(sample.id, "", sample) for sample in samples],
            rules={name: rule(name) for name in verdicts},
        )
    )
    lines = gap(table, "other").splitlines()

    assert len(lines) == 2 + 5 + 2
    assert lines[-2] == "| 3 other pairs | |  | 3 | +37.50 |"
    assert lines[-1] == "| **all** | | **3** | **5** | **+25.00** |"
