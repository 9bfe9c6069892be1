"""snellen report and compare: which format an ending means, what is compared, what is refused."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from snellen.errors import install
from tests.test_cli.conftest import Snellen, written

COMMAND = "run -b eyechart -m baseline/reader -m baseline/first --limit 18 --out runs"


@pytest.fixture
def runs(snellen: Snellen, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs on one benchmark, asked for by that command."""
    monkeypatch.setattr(sys, "argv", ["snellen", *COMMAND.split()])
    assert snellen(*COMMAND.split()).code == 0
    return Path("runs")


def test_an_ending_says_what_is_written(snellen: Snellen, runs: Path) -> None:
    starts = {
        "r.html": "<!doctype html>",
        "r.HTM": "<!doctype html>",
        "r.tex": "% Made by Snellen",
        "r.csv": "benchmark,model,",
        "r.md": "## 2 runs",
        "r.txt": "\n2 runs",
        "r.svg": "<?xml",
    }
    for name, start in starts.items():
        assert snellen("report", runs, "-o", name).code == 0
        assert Path(name).read_text().startswith(start), name
    assert snellen("report", runs, "-o", "r.png").code == 0
    assert Path("r.png").read_bytes().startswith(b"\x89PNG")


def test_html_says_what_was_asked_with_the_command_that_repeats_it(
    snellen: Snellen, runs: Path
) -> None:
    html = snellen("report", runs, "--format", "html").out

    assert html.count(f">snellen {COMMAND}</pre>") == 2
    assert "max_tokens=64, temperature=0.0" in html
    assert "@software{snellen," in html


def test_several_runs_are_compared_in_html_unless_that_is_not_wanted(
    snellen: Snellen, runs: Path
) -> None:
    verdict = "baseline/reader is "

    assert verdict in snellen("report", runs, "--format", "html").out
    assert verdict not in snellen("report", runs, "--format", "html", "--no-compare").out


def test_runs_that_cannot_be_compared_are_reported_all_the_same(
    snellen: Snellen, runs: Path
) -> None:
    run = next(runs.glob("*/baseline__reader/*"))
    done = snellen("report", run, run, "--format", "html")

    assert done.code == 0
    assert done.err.startswith("not compared: ")
    assert "<h1>2 runs</h1>" in done.out


def test_all_plots_are_written_and_listed(snellen: Snellen, runs: Path) -> None:
    done = snellen("report", runs, "--plots", "plots")

    listed = done.out.split()
    assert done.code == 0
    assert listed == sorted({*listed}, key=listed.index)
    assert {"plots/headline.svg", "plots/eyechart-task.svg", "plots/eyechart-letters.svg"} <= {
        *listed
    }
    assert all(Path(name).is_file() for name in listed)


def test_where_nothing_has_a_value_no_plot_is_drawn_and_it_is_said(
    snellen: Snellen, rows: Path
) -> None:
    rows.write_text('{"id": "a", "question": "Which?"}\n')  # what is right is not known
    run = snellen("run", "-m", "baseline/first", "-b", rows, "--task", "vqa", "--json").json["run"]
    done = snellen("report", run, "--plots", "plots")

    assert (done.code, done.out) == (1, "")
    assert done.err == "nothing drawn: no result has a value\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "svg"), "The format svg needs a file to write to. Name one with -o."),
        (("--plots", "p", "-o", "x.svg"), "Leave out -o"),
        (("--plots", "p", "--format", "html"), "Leave out -o"),
        (("-o", "absent/x.html"), "cannot be written"),
        (("-o", "absent/x.png"), "cannot be written"),
    ],
)
def test_what_makes_no_sense_is_refused(
    snellen: Snellen, runs: Path, options: tuple[str, ...], message: str
) -> None:
    done = snellen("report", runs, "--no-compare", *options)

    assert done.code == 2
    assert message in done.err


def test_plots_without_matplotlib_name_the_extra(
    snellen: Snellen, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = snellen("report", runs, "-o", "x.svg")

    assert done.code == 2
    assert install("plots") in done.err
    assert not Path("x.svg").exists()


def test_a_folder_whose_runs_are_all_damaged_gives_no_report(snellen: Snellen, runs: Path) -> None:
    for stored in runs.glob("*/*/*/report.json"):
        stored.write_bytes(b"{")
    done = snellen("report", runs, "--format", "html")

    assert done.code == 2
    assert "None of the runs could be read" in done.err


def test_a_comparison_is_written_in_every_format(snellen: Snellen, runs: Path) -> None:
    starts = {
        "c.html": "<!doctype html>",
        "c.tex": "% Made by Snellen",
        "c.csv": "benchmark,scoring,a,b,by,name,",
    }
    for name, start in starts.items():
        assert snellen("compare", runs, "-o", name).code == 0
        assert Path(name).read_text().startswith(start), name


def test_the_csv_of_a_comparison_has_its_numbers_in_full(snellen: Snellen, runs: Path) -> None:
    comparison = json.loads(snellen("compare", runs, "--json").out)["comparisons"][0]
    row = snellen("compare", runs, "--format", "csv").out.splitlines()[1].split(",")

    less = comparison["metrics"]["accuracy"]["difference"]
    assert row[:6] == [
        "eyechart",
        "official",
        comparison["a"],
        comparison["b"],
        "metric",
        "accuracy",
    ]
    assert [float(row[8]), float(row[10]), float(row[11])] == [less["value"], *less["ci95"]]


def test_a_run_in_a_folder_whose_name_is_no_utf_8_is_reported_in_every_format(
    snellen: Snellen, runs: Path
) -> None:
    first = next(runs.glob("*/*/*/manifest.json")).parent
    first.rename(first.with_name(os.fsdecode(b"\xff<b>")))
    for form in ("html", "md", "csv", "latex", "json"):
        done = snellen("report", runs, "--format", form)
        assert done.code == 0, form
        assert "<b>" not in done.out or form not in ("html", "md"), form


def test_runs_below_any_folder_are_reported_and_named(snellen: Snellen, runs: Path) -> None:
    done = snellen("report", ".")

    assert done.code == 0 and "2 runs" in done.out
    assert "found in .: runs/eyechart/baseline__first/" in done.err
    assert snellen("report", runs).err == ""


@pytest.fixture
def paper(snellen: Snellen) -> Path:
    """Two models on two benchmarks: one says A, the other B."""
    for name in ("mine", "theirs"):
        written(Path(f"{name}.jsonl"), "AAB" * 8)
    Path("models.py").write_text(
        "def one(messages):\n    return 'A'\n\n\ndef other(messages):\n    return 'B'\n"
    )
    both = ("-b", "mine.jsonl", "-b", "theirs.jsonl", "--out", "runs")
    models = ("-m", "python:models.py:one", "-m", "python:models.py:other")
    assert snellen("run", *both, *models).code == 0
    return Path("runs")


def test_runs_that_share_no_benchmark_are_reported_without_a_word_on_comparing(
    snellen: Snellen, paper: Path
) -> None:
    ones = [path.parent for path in paper.rglob("manifest.json") if "__one" in str(path)]

    assert len(ones) == 2
    assert snellen("report", *ones, "-o", "r.html").err == "wrote r.html\n"
    assert snellen("report", *ones, "-o", "r.tex").err == "wrote r.tex\n"


def test_a_hint_at_a_sample_names_a_run_of_its_own_benchmark(snellen: Snellen, paper: Path) -> None:
    assert snellen("compare", paper, "-o", "c.json").code == 0
    assert snellen("compare", paper, "-o", "c.html").code == 0

    sections = Path("c.html").read_text().split('<p class="faint">')[1:]
    hints = [
        (re.split("[,.]", section)[0], run)
        for section in sections
        for run in re.findall(r"snellen score (\S+) --explain", section)
    ]
    assert {benchmark for benchmark, _ in hints} == {"mine", "theirs"}
    for benchmark, run in hints:
        assert f"runs/{benchmark}" in run


def test_a_paper_of_two_models_on_two_benchmarks_has_tables_of_their_differences(
    snellen: Snellen, paper: Path
) -> None:
    assert snellen("report", paper, "-o", "r.tex").code == 0

    text = Path("r.tex").read_text()
    captions = re.findall(r"\\caption\{(.*)\}", text)
    assert len([caption for caption in captions if " minus " in caption]) == 2
    assert text.count("p is adjusted by Holm's method over 2 comparisons") == 2


def test_a_table_for_a_paper_says_that_its_runs_are_partial(snellen: Snellen) -> None:
    ask = ("run", "-b", "mine.jsonl", "-b", "theirs.jsonl", "--limit", "12", "--out", "runs")
    for name in ("mine", "theirs"):
        written(Path(f"{name}.jsonl"), "AAB" * 8)
    assert snellen(*ask, "-m", "baseline/first", "-m", "baseline/longest").code == 0
    assert snellen("report", "runs", "-o", "r.tex").code == 0
    assert snellen("compare", "runs", "-o", "c.tex").code == 0

    for name, tables in (("r.tex", 5), ("c.tex", 4)):  # a report also has the table of all runs
        captions = re.findall(r"\\caption\{(.*)\}", Path(name).read_text())
        assert sum("Partial: 12 of 24." in caption for caption in captions) == tables
