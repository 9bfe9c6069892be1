"""Comparisons for people: what stands in the terminal and in Markdown."""

import io
import json
import re
from pathlib import Path

import pytest

from snellen import registry
from snellen.api import compare, load_run
from snellen.errors import UNSEEN
from snellen.report import (
    compared_html,
    compared_markdown,
    compared_text,
    print_compared,
    print_results,
)
from tests.test_analysis.comparing.test_compare import A, B, run
from tests.tiny import benchmark

HOSTILE = "m\x1b[2J\u202e|<script>alert(1)</script>`*_\n# x"


def test_a_pair_is_shown_with_its_verdict_metrics_and_categories(tmp_path: Path) -> None:
    document = compare(
        run(tmp_path, "a", A), run(tmp_path, "b", B, fails=[19]), benchmark=benchmark(20)
    ).comparisons
    text = compared_text(document)

    # Without s19: a has 10 of 19, b 14 of 19.
    assert "tiny: b (b) against a (a)" in text
    assert "b is 21.05 pp above a in accuracy" in text
    assert "52.63 %" in text and "73.68 %" in text and "+21.05 pp" in text
    assert "left out: 1 failed in b, such as s19" in text
    assert "by kind" in text
    assert "a true difference of" in text


def test_of_two_settings_the_verdict_comes_first_and_what_choosing_gives_last(
    tmp_path: Path,
) -> None:
    cold = run(tmp_path, "m", A, temperature=0.0)
    warm = run(tmp_path, "m", B, temperature=0.5)
    document = compare(cold, warm, benchmark=benchmark(20)).comparisons
    text, marked = compared_text(document), compared_markdown(document)

    assert "m (temperature=0.5) is 20.00 pp above" in text.splitlines()[2]  # 14 of 20, and 10
    assert "best of 2 settings" not in text
    assert marked.index("is 20.00 pp above") < marked.index("best of 2 settings")
    page = compared_html(document)
    assert page.index("is 20.00 pp above") < page.index("best of 2 settings")


def test_three_are_shown_as_standings_and_pairs(tmp_path: Path) -> None:
    for name, which in (("a", A), ("b", B), ("c", range(3))):
        run(tmp_path, name, which)
    document = compare(tmp_path, benchmark=benchmark(20)).comparisons
    text, marked = compared_text(document), compared_markdown(document)

    assert "tiny: official accuracy on the 20 samples that all share" in text
    assert "by Holm's method over the 3 comparisons" in text
    assert "by kind" not in text and "--format md" in text
    assert marked.count("## tiny: ") == 5  # standings, pairs, and each pair
    assert "| 1 | b | 70.00 % |" in marked


def test_several_benchmarks_end_in_a_table_of_models_by_benchmarks(tmp_path: Path) -> None:
    for name in ("easy", "hard"):
        rows = [{"id": f"s{n}", "question": f"question {n}", "answer": "yes"} for n in range(20)]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        for model, which in (("a", A), ("b", B)):
            known = range(20) if name == "easy" else which
            run(tmp_path / "runs", model, known, registry.benchmark(str(path)))
    document = compare(tmp_path / "runs").comparisons

    assert document.tests == 2
    assert [board.benchmark for board in document.leaderboards] == ["easy", "hard"]
    marked = compared_markdown(document)
    assert "| model | easy | hard |" in marked
    assert "| a | 100.00 % a | 50.00 % a |" in marked
    assert "| b | 100.00 % a | 70.00 % a |" in marked
    assert "over the 2 comparisons on 2 benchmarks" in marked


def test_nothing_that_a_name_says_acts_on_terminal_or_markdown(tmp_path: Path) -> None:
    for name, which in ((HOSTILE, A), ("b", B), ("c", range(3))):
        run(tmp_path, name, which)
    compared = compare(tmp_path, benchmark=benchmark(20))
    plain = f"{compared_text(compared.comparisons)}\n{compared}"
    marked = compared_markdown(compared.comparisons)

    for text in (plain, marked):
        assert "\ufffd" in text
        assert not any(re.search(rf"[{UNSEEN}\t]", line) for line in text.split("\n"))
    assert "<script>" not in marked and "\n# x" not in marked


def test_benchmarks_without_letters_are_not_said_to_have_letters(tmp_path: Path) -> None:
    own = [benchmark(8, name=name) for name in ("easy", "hard")]
    for of in own:
        for name, which in (("a", range(8)), ("b", range(4))):
            run(tmp_path, name, which, of)
    text = compared_text(compare(tmp_path, benchmark=own).comparisons)
    assert "models by benchmarks" in text
    assert "The letters after" not in text and "share a letter" not in text


class Terminal(io.StringIO):
    """Standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


def table_widths(terminal: Terminal) -> set[int]:
    """The widths of the rules below the headings of tables."""
    lines = re.sub("\x1b\\[[0-9;]*m", "", terminal.getvalue()).splitlines()
    return {len(line) for line in lines if set(line) == {"─"}}


def test_tables_of_several_runs_fit_a_terminal_of_80_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    own = [benchmark(20, name=name) for name in ("mathvision", "mmbench", "mmmu")]
    runs = [
        run(tmp_path, model, which, of)
        for of in own
        for model, which in (("baseline/random", A), ("python:mine.py:answer", B), ("x", A))
    ]
    print_results([load_run(run) for run in runs])
    print_compared(compare(tmp_path, benchmark=own).comparisons)

    assert max(table_widths(terminal)) <= 80
    text = terminal.getvalue()
    assert "significant is left out, because the terminal is too narrow" in text
    assert "adjusted p" in text and "unparsed" in text
