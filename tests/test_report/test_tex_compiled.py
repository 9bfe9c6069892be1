"""LaTeX tables go through LaTeX, whatever stands in them, and print it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from snellen import report
from snellen.analysis.comparing import Comparisons
from tests.test_report.results import HOSTILE, comparisons, result

PAGE = r"""\documentclass{article}
\usepackage{booktabs}
\begin{document}
\input{tables}
\end{document}
"""
NAMES = (r"a_b%c&d#e~f^g\h", r"{x}$y$[z]*|<w>-1", "Café/Zoë--v1")

needs_latex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex here")


def compiled(folder: Path, tables: str) -> str:
    """What LaTeX's log says of a page with these tables; it must make the page."""
    (folder / "tables.tex").write_text(tables, encoding="utf-8")
    (folder / "page.tex").write_text(PAGE)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)
    log = (folder / "page.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, re.findall(r"^!.*(?:\n.*){3}", log, re.MULTILINE)
    assert (folder / "page.pdf").exists()
    return log


def printed(folder: Path) -> str:
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext here")
    command = ["pdftotext", "-layout", "page.pdf", "-"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout.decode()


@needs_latex
def test_hostile_names_compile_and_are_printed(tmp_path: Path) -> None:
    results = [result(name, "my_bench & co") for name in NAMES]
    results += [result(name, "other #2") for name in NAMES]
    document = comparisons(NAMES)
    log = compiled(tmp_path, report.latex(results, document))

    assert "Missing character" not in log
    text = printed(tmp_path)
    for name in (r"a_b%c&d#e", r"g\h", "{x}$y$[z]*|<w>", "--v1", "my_bench & co"):
        assert name in text.replace("a b%c", "a_b%c").replace("my bench", "my_bench"), name


@needs_latex
def test_a_comparison_compiles_with_text_that_means_harm(tmp_path: Path) -> None:
    document: Comparisons = comparisons(("}{" + HOSTILE.replace("\ud800", ""), r"\input{x}", "\\"))
    compiled(tmp_path, report.compared_latex(document))


def test_names_that_pdflatex_cannot_print_are_announced() -> None:
    notice = "Use LuaLaTeX or XeLaTeX"

    assert notice in report.latex([result("模型"), result("hf/other")])
    assert notice not in report.latex([result("Café"), result("hf/other")])


def test_tables_over_different_samples_say_so() -> None:
    board = comparisons().leaderboards[0]
    fewer = replace_samples(comparisons(), 904)
    text = report.latex([result("one"), result("two", "another"), result("one", "another")], fewer)

    assert board.samples == 200
    assert "on the 904 samples that count for all models" in text
    assert "Headline metric by benchmark, over all samples that count in that run" in text
    assert r"50.00\,\% (n 200)" in text


def replace_samples(document: Comparisons, samples: int) -> Comparisons:
    from msgspec.structs import replace as with_fields

    (board,) = document.leaderboards
    return with_fields(document, leaderboards=[with_fields(board, samples=samples)])


@needs_latex
@pytest.mark.parametrize(
    "names",
    [
        ("openai/m", "hf/other", "third"),
        ("hf/Qwen/Qwen2.5-VL-72B-Instruct (max_side=1344 prompt=cot)", "openai/gpt_4o_mini", "m"),
    ],
)
def test_no_table_is_wider_than_the_text(tmp_path: Path, names: tuple[str, str, str]) -> None:
    results = [result(name, benchmark) for benchmark in ("mine", "more") for name in names]
    log = compiled(tmp_path, report.latex(results, comparisons(names)))
    assert not re.findall(r"Overfull \\hbox .*", log)
