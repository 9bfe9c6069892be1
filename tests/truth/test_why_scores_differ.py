"""docs/why-scores-differ.md says what its script finds in the published replies."""

from collections.abc import Mapping

import pytest

from scripts.why_scores_differ import (
    OWN,
    PAGE,
    Case,
    Rule,
    Table,
    cases,
    compared,
    gap,
    marked,
    own,
    parts,
    tools_themselves,
    widest,
)
from snellen import registry
from snellen.core.sample import Sample
from tests.truth.readings import filled


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


def test_a_tool_s_own_rule_stands_beside_its_letters_wherever_it_is_here(
    tables: list[Table],
) -> None:
    rows = tools_themselves(tables)
    for table in tables:
        spec = table.case.spec
        known = set(registry.benchmark(spec).scorings) if spec else set()
        for name, scoring in OWN.items():
            assert (own(name) in table.right) == (scoring in known), (spec, name)
        listed = f"| {table.case.benchmark} | {table.case.model} |" in rows
        assert listed == any(scoring in known for scoring in OWN.values())


def test_step_by_step_replies_score_what_vlmevalkit_makes_of_them(tables: list[Table]) -> None:
    [steps] = [table for table in tables if table.case.model.endswith("step by step")]

    # 918 of 1,730 by its last line, 444 by its letters alone.
    assert steps.right[own("VLMEvalKit")] == 918
    assert steps.right["VLMEvalKit"] == 444
    assert marked(steps, "VLMEvalKit") == "25.66 (53.06)"


def test_the_widest_gap_takes_a_tool_by_its_better_rule_and_no_textbook() -> None:
    case = Case(benchmark="b", model="m", spec=None, replies=[], rules={})
    right = {"official": 9, "robust": 8, "VLMEvalKit": 2, "lmms-eval": 7, "textbook": 0}
    themselves = {own("VLMEvalKit"): 6, own("lmms-eval"): 1}

    assert widest(Table(case=case, right={**right, **themselves}, cells={})) == 3


def test_what_is_not_listed_of_a_gap_is_summed_up() -> None:
    samples = [Sample(id=str(i), question="?", choices=("x", "y"), target="A") for i in range(8)]
    verdicts: Mapping[str, str] = {"official": "11100000", "other": "00011111"}

    def rule(name: str) -> Rule:
        return lambda _, sample: (f"{name} {sample.id}", float(verdicts[name][int(sample.id)]))

    table = compared(
        Case(
            benchmark="b",
            model="m",
            spec=None,
            replies=[(sample.id, "", sample) for sample in samples],
            rules={name: rule(name) for name in verdicts},
        )
    )
    lines = gap(table, "other").splitlines()

    assert len(lines) == 2 + 5 + 2
    assert lines[-2] == "| 3 other pairs | |  | 3 | +37.50 |"
    assert lines[-1] == "| **all** | | **3** | **5** | **+25.00** |"
