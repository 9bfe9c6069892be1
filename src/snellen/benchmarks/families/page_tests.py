"""The tests of pages in olmOCR-Bench: what a page in Markdown must have, and what it must not have.

The rules are those of allenai/olmocr@f7cfe4c22098b154c76b6ec950d1c0a464eecf8d:olmocr/bench/tests.py
#L44-L77 (texts), #L124-L180 (present, absent), #L183-L228 (order), #L325-L470 (tables), #L473-L539
(baseline). Tests of formulas need KaTeX in a browser and are not run.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rapidfuzz import fuzz

from snellen.benchmarks.families.near_matches import near_matches
from snellen.benchmarks.families.page_markdown import without_images
from snellen.benchmarks.families.table_cells import CellTable, html_tables, markdown_tables

Test = Mapping[str, Any]
SKIPPED = "math"
"""The kind of tests that are not run."""
REPLACED = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a", "'"),
        **dict.fromkeys("\u201c\u201d\u201e", '"'),
        **dict.fromkeys("\u2013\u2014\u2011\u2012\u2212", "-"),
        "\uff3f": "_",
        "\u00b5": "\u03bc",
    }
)
DISALLOWED = re.compile(
    "[\u4e00-\u9fff\u3040-\u309f\u30a0-\u30ff\U0001f600-\U0001f64f\U0001f300-\U0001f5ff"
    "\U0001f680-\U0001f6ff\U0001f1e0-\U0001f1ff]"
)
"""Chinese and Japanese characters, and emoji."""
DIRECTIONS = ("up", "down", "left", "right")


def passes(test: Test, page: str) -> bool:
    """Whether a page passes a test.

    Raises:
        ValueError: there is no test of this kind.
    """
    run = TESTS.get(test["type"])
    if run is None:
        raise ValueError(f"no test of the kind {test['type']!r}; there are {', '.join(TESTS)}")
    return run(test, page)


def plain(text: str) -> str:
    """A text without marks of bold and italics, with single blanks and plain quotes and hyphens.

    >>> plain("**a**  _b_ “c”—d")
    'a b "c"-d'
    """
    text = re.sub(r"<br/?>", " ", text)
    text = unmarked(text, "**")
    text = unmarked(text, "__")
    text = re.sub(r"</?[bi]>", "", text) if "<" in text else text
    text = unmarked(text, "**", "__")
    text = unmarked(text, "*", "_")
    text = re.sub(r"\s+", " ", text)
    return unicodedata.normalize("NFC", text).translate(REPLACED)


def unmarked(text: str, *marks: str) -> str:
    """The text without pairs of marks in one line."""
    if not any(mark in text for mark in marks):
        return text
    lines = []
    for line in text.split("\n"):
        parts, position = [], 0
        opening = re.compile("|".join(re.escape(mark) for mark in marks))
        while match := opening.search(line, position):
            end = line.find(match[0], match.end())
            if end < 0:
                if len(marks) == 1:
                    break
                # Another kind of mark may still have a pair.
                parts.append(line[position : match.end()])
                position = match.end()
                continue
            parts += [line[position : match.start()], line[match.end() : end]]
            position = end + len(match[0])
        lines.append("".join([*parts, line[position:]]))
    return "\n".join(lines)


def share(text: str, most: int) -> float:
    """The similarity that a match of a text must have with this many edits."""
    return 1.0 - most / (len(text) or 1)


def is_present(test: Test, page: str) -> bool:
    text, page = plain(test["text"]), plain(page)
    if not test.get("case_sensitive", True):
        text, page = text.lower(), page.lower()
    first, last = test.get("first_n"), test.get("last_n")
    if first and last:
        page = page[:first] + page[-last:]
    elif first:
        page = page[:first]
    elif last:
        page = page[-last:]
    least = share(text, test.get("max_diffs", 0))
    return bool(fuzz.partial_ratio(text, page) / 100.0 >= least)


def is_ordered(test: Test, page: str) -> bool:
    page = plain(page)
    most = test.get("max_diffs", 0)
    before, after = (near_matches(plain(test[name]), page, most) for name in ("before", "after"))
    return bool(before and after) and before[0].start < after[-1].start


def has_cell(test: Test, page: str) -> bool:
    """Whether a table has the cell with the neighbors and headings."""
    try:
        tables = [] if test.get("ignore_markdown_tables") else markdown_tables(page)
        tables += html_tables(page)
    except ValueError:
        return False
    return any(table_has_cell(test, table) for table in tables)


def table_has_cell(test: Test, table: CellTable) -> bool:
    most = test.get("max_diffs", 0)
    texts = {cell: plain(text) for cell, text in table.texts.items()}
    wanted = plain(test["cell"])
    least = max(0.5, share(wanted, most))
    checks: list[tuple[str, Callable[[tuple[int, int]], frozenset[tuple[int, int]]]]] = []
    for name in DIRECTIONS:
        if text := plain(test.get(name) or ""):
            checks.append((text, table.neighbors[name].__getitem__))
    for name, direction in (("left_heading", "left"), ("top_heading", "up")):
        if text := plain(test.get(name) or ""):
            checks.append((text, lambda cell, way=direction: table.heading(cell, way)))  # type: ignore[misc]
    for cell, text in texts.items():
        if fuzz.ratio(wanted, text) / 100.0 < least:
            continue
        if all(
            any(
                fuzz.ratio(expected, texts[other]) / 100.0 >= max(0.5, share(expected, most))
                for other in near(cell)
            )
            for expected, near in checks
        ):
            return True
    return False


def is_sound(test: Test, page: str) -> bool:
    """Whether a page has letters or digits, does not end with a repeated text, and has no character
    that models make up. A page that must be empty has at most `max_length` letters and digits."""
    longest = test.get("max_length")
    if longest is not None:
        page = without_images(page) if test.get("max_length_skips_image_alt_tags") else page
        return sum(map(str.isalnum, page)) <= int(longest)
    if not any(map(str.isalnum, page)):
        return False
    if max(repeats(page, size) for size in range(1, 6)) > test.get("max_repeats", 30):
        return False
    return not (test.get("check_disallowed_characters", True) and DISALLOWED.search(page))


def repeats(page: str, size: int) -> int:
    """How often the last characters of a page are repeated at its end.

    >>> repeats("abcbcbc", 2)
    3
    """
    text = re.sub(r"\s+", " ", page)
    last = text[-size:]
    count = 0
    while len(text) >= size * (count + 1) and text.startswith(last, len(text) - size * (count + 1)):
        count += 1
    return count


TESTS: Mapping[str, Callable[[Test, str], bool]] = {
    "present": is_present,
    "absent": lambda test, page: not is_present(test, page),
    "order": is_ordered,
    "table": has_cell,
    "baseline": is_sound,
}


def passing_page(tests: Sequence[Test]) -> str:
    """A page that passes the tests, unless they contradict each other."""
    parts = []
    for test in tests:
        if test["type"] == "present":
            parts.append(test["text"])
        elif test["type"] == "order":
            parts += [test["before"], test["after"]]
        elif test["type"] == "table":
            up, down, left, right = (test.get(name) or "" for name in DIRECTIONS)
            row = [test.get("left_heading") or "", left, test["cell"], right]
            rows = [["", "", test.get("top_heading") or "", ""], ["", "", up, ""], row]
            rows.append(["", "", down, ""])
            lines = ("".join(f"<td>{cell}</td>" for cell in cells if cells) for cells in rows)
            parts.append(f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>")
    return "\n\n".join(parts) or "A page."
