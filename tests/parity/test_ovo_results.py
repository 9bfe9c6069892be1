"""OVO-Bench's results as our exports write them, against files that the authors' code wrote."""

import json
from pathlib import Path
from typing import Any

import pytest

from snellen.benchmarks.ovo_bench import GROUPS, ovo_bench
from tests.golden_data import golden

# Folders in which each question is there once, by today's annotations.
COMPLETE = ("InternVL2", "LLaVA_Video", "QWen2VL_7B_", "QWen2VL_72B_")


def rows(folder: Path) -> dict[int, Any]:
    found = [
        row
        for path in sorted(folder.glob("*.json"))
        for group, of in json.loads(path.read_bytes()).items()
        for row in of
        if group in GROUPS
    ]
    assert len({row["id"] for row in found}) == len(found) == 1640
    return {row["id"]: row for row in found}


@pytest.mark.parametrize("name", COMPLETE)
def test_a_row_is_what_the_authors_code_makes_of_the_same_reply(name: str) -> None:
    theirs = rows(golden("ovobench") / "outputs" / name)
    replies = {}
    for number, row in theirs.items():
        if "test_info" in row:
            said = {f"{number}_{k}": one["response"] for k, one in enumerate(row["test_info"])}
        else:
            said = {str(number): row["response"]}
        replies.update(said)
    assert len(replies) == 3035
    write = ovo_bench(data=golden("ovobench")).interop.results
    assert write is not None

    made = write("Model", replies)

    ours = {row["id"]: row for group in GROUPS for row in made.holds[group]}
    assert list(made.holds) == list(GROUPS)
    assert ours.keys() == theirs.keys()
    for number, row in theirs.items():
        assert ours[number] == row
        assert list(ours[number]) == list(row)
    assert made.notes == ()
