"""Citations: out of benchmarks' sheets, and our own."""

import re
from pathlib import Path

import pytest
import yaml

from snellen import registry
from snellen.report import cite

OF_THEIR_OWN = {"eyechart", "eyechart-video", "realworldqa", "vlmevalkit"}
"""Benchmarks without one paper. RealWorldQA was published in a blog post."""
SHEET = """mine: a benchmark

Paper    Doe and Roe 2024, Mine & Yours: 50% of
         All, https://arxiv.org/abs/2401.01234 (ACL 2025), section 3
Data     somewhere
"""


def test_a_sheets_paper_is_bibtex_with_what_tex_acts_on_escaped() -> None:
    assert cite.bibtex(SHEET) == "\n".join(
        [
            "@misc{doe2024mine,",
            "  author = {Doe and Roe},",
            r"  title = {{Mine \& Yours: 50\% of All}},",
            "  year = {2024},",
            "  note = {ACL 2025},",
            "  url = {https://arxiv.org/abs/2401.01234},",
            "  eprint = {2401.01234},",
            "  archivePrefix = {arXiv},",
            "}",
        ]
    )


@pytest.mark.parametrize("sheet", ["", "mine: x", "mine: x\n\nPaper    none; ours\nData     x"])
def test_a_sheet_without_a_paper_has_no_bibtex(sheet: str) -> None:
    assert cite.bibtex(sheet) is None


def test_every_benchmark_with_a_paper_can_be_cited() -> None:
    without = set()
    for entry in registry.entries():
        bibtex = cite.bibtex(entry.sheet)
        if bibtex is None:
            without.add(entry.name)
        else:
            assert re.search(r"^  year = \{(19|20)\d\d\},$", bibtex, re.MULTILINE), entry.name
            assert re.search(r"^  url = \{https://[^ ]+\},$", bibtex, re.MULTILINE), entry.name
    assert without == OF_THEIR_OWN


def test_we_are_cited_as_our_citation_file_says() -> None:
    citation = yaml.safe_load(
        (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    )

    assert citation["title"] == cite.TITLE
    assert [author["name"] for author in citation["authors"]] == [cite.AUTHORS]
    assert cite.TITLE in cite.own()


def test_an_unknown_benchmark_has_only_our_own_citation() -> None:
    assert cite.citations("no-such-thing") == [cite.own()]
