"""The results of 1,000 tests of generated pages by the code of olmOCR-Bench's authors.

`scripts/draw_page_tests.py` made the file from a clone of their repository.
"""

from collections import Counter
from pathlib import Path
from typing import Any

from snellen.benchmarks.families.page_tests import TESTS, passes
from tests.parity.engine import of_json_lines


def test_a_page_passes_a_test_where_it_does_by_the_authors_code() -> None:
    rows: list[Any] = [*of_json_lines(Path(__file__).with_name("page_tests.jsonl"))]
    wrong = [row for row in rows if passes(row[0], row[1]) != row[2]]
    results = Counter((test["type"], passed) for test, _, passed in rows)

    assert wrong == []
    assert len(rows) == 1000
    assert {*results} == {(kind, passed) for kind in TESTS for passed in (True, False)}
