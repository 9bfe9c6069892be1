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
    every = [
        row
        for path in sorted(folder.glob("*.json"))
        for group, of in json.loads(path.read_bytes()).items()
        for row in of
        if group in GROUPS
    ]
    assert len({row["id"] for row in every}) == len(every) == 1640
    return {row["id"]: row for row in every}


@pytest.mark.parametrize("name", COMPLETE)
def test_a_row_is_what_the_authors_code_makes_of_the_same_reply(name: str) -> None:
    theirs = rows(golden("ovobench") / "outputs" / name)
    replies = {}
    for number, row in theirs.items():
        if "test_info" in row:
            replies_of_row = {
                f"{number}_{k}": point["response"] for k, point in enumerate(row["test_info"])
            }
        else:
            replies_of_row = {str(number): row["response"]}
        replies.update(replies_of_row)
    assert len(replies) == 3035
    write = ovo_bench(data=golden("ovobench")).interop.results
    assert write is not None

    written = write("Model", replies)

    ours = {row["id"]: row for group in GROUPS for row in written.holds[group]}
    assert list(written.holds) == list(GROUPS)
    assert ours.keys() == theirs.keys()
    for number, row in theirs.items():
        assert ours[number] == row
        assert list(ours[number]) == list(row)
    assert written.notes == ()
