"""README and the five-minute start in Chinese are in step with the English."""

import hashlib
import re
from pathlib import Path

import pytest

from tests.pages import FENCE, blocks

ROOT = Path(__file__).parents[1]
PAIRS = [
    (ROOT / "README.md", ROOT / "README.zh-CN.md"),
    (ROOT / "docs/start.md", ROOT / "docs/start.zh-CN.md"),
]
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
SEEN = re.compile(r"^<!-- english: ([0-9a-f]{12}) -->$", re.MULTILINE)


def sections(page: str) -> list[tuple[str, str]]:
    """Each heading's level, and its whole section with the heading; signs in code are none."""
    hidden = FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), page)
    starts = [match.start() for match in HEADING.finditer(hidden)]
    levels = [match[1] for match in HEADING.finditer(hidden)]
    ends = [*starts[1:], len(page)]
    return [
        (level, page[start:end].strip())
        for level, start, end in zip(levels, starts, ends, strict=True)
    ]


def digest(section: str) -> str:
    return hashlib.sha256(section.encode()).hexdigest()[:12]


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=lambda path: path.name)
def test_the_chinese_has_the_same_sections_and_code(english: Path, chinese: Path) -> None:
    ours, theirs = english.read_text(encoding="utf-8"), chinese.read_text(encoding="utf-8")
    assert [level for level, _ in sections(theirs)] == [level for level, _ in sections(ours)]
    assert [(block.info, block.text) for block in blocks(theirs)] == [
        (block.info, block.text) for block in blocks(ours)
    ]


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=lambda path: path.name)
def test_each_section_was_looked_at_since_the_english_changed(english: Path, chinese: Path) -> None:
    pairs = zip(
        sections(english.read_text(encoding="utf-8")),
        sections(chinese.read_text(encoding="utf-8")),
        strict=True,
    )
    for (_, ours), (_, theirs) in pairs:
        (seen,) = SEEN.findall(theirs)
        heading = ours.partition("\n")[0]
        assert seen == digest(ours), (
            f"{english.name}, {heading!r} has changed: put the change into {chinese.name}, "
            f"then write <!-- english: {digest(ours)} --> there"
        )


def test_a_changed_word_changes_its_sections_digest_alone() -> None:
    page = "# a\n\nx\n\n```sh\n# no heading\n```\n\n## b\n\ny\n"
    before, after = sections(page), sections(page.replace("y", "z"))
    assert [level for level, _ in before] == ["#", "##"]
    assert digest(before[0][1]) == digest(after[0][1])
    assert digest(before[1][1]) != digest(after[1][1])
