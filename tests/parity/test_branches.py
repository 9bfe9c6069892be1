"""docs/generated-replies.md lists every comparison of scripts/branches.toml, with reasons."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = tomllib.loads((ROOT / "scripts/branches.toml").read_text(encoding="utf-8"))["row"]
PAGE, REASONS = (
    (ROOT / "docs/generated-replies.md").read_text(encoding="utf-8").split("\n## Branches", 1)
)


def cells(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in lines]


def test_the_page_has_every_comparison() -> None:
    expected = [(f"`{row['benchmark']}`", row["scoring"]) for row in ROWS]
    assert [(benchmark, scoring) for benchmark, scoring, *_ in cells(PAGE)] == expected


def test_every_branch_that_is_not_reached_has_a_reason() -> None:
    missed = 0
    for _, _, branches, reason in cells(REASONS):
        assert reason.strip(), branches
        missed += len(branches.split(", "))
    counts = [map(int, pair) for pair in re.findall(r"\| (\d+) of (\d+)(?= \|)", PAGE)]
    assert missed == sum(number - reached for reached, number in counts)
