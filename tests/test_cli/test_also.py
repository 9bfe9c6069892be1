"""--also: metrics and categories that are shown on request beside the headlines."""

import re
from pathlib import Path

from tests.test_cli.conftest import Snellen

ROWS = Path(__file__).parents[2] / "src" / "snellen" / "benchmarks" / "rows"


def ask(snellen: Snellen, name: str, model: str, *more: str) -> str:
    result = snellen("run", "-b", name, "-m", model, "--data", ROWS / name, "--out", "runs", *more)
    assert result.code == 0
    return result.out


def lines(text: str, label: str) -> list[list[str]]:
    """The cells of the rows of the last table that have this metric."""
    table = text.split("other metrics")[1].splitlines()
    cells = [re.split(r"  +", line.strip()) for line in table]
    return [row for row in cells if len(row) > 2 and row[2] == label]


def test_metrics_and_categories_stand_beside_the_headlines(snellen: Snellen) -> None:
    ask(snellen, "pope", "baseline/first")
    ask(snellen, "mmbench", "baseline/first")
    names = ("--also", "precision", "--also", "yes_ratio", "--also", "L1")

    shown = snellen("report", "runs", *names)

    assert shown.code == 0
    reports = {
        document["benchmark"]: document["scorings"]["official"]["metrics"]
        for document in snellen("report", "runs", "--json").json
    }
    for name in ("precision", "yes_ratio"):
        (row,) = lines(shown.out, name)
        assert row[:2] == ["pope", "baseline/first"]
        value = reports["pope"][name]["value"]
        assert row[3] == ("-" if value is None else f"{100 * value:.2f} %")
    for category in ("perception", "reasoning"):
        (row,) = lines(shown.out, f"circular, L1={category}")
        assert row[3] == f"{100 * reports['mmbench'][f'circular/{category}']['value']:.2f} %"


def test_a_run_shows_them_at_its_end(snellen: Snellen) -> None:
    out = ask(snellen, "pope", "baseline/first", "--also", "recall")

    assert len(lines(out, "recall")) == 1


def test_an_unknown_name_is_refused_with_those_that_exist(snellen: Snellen) -> None:
    ask(snellen, "pope", "baseline/first")

    refused = snellen("report", "runs", "--also", "presicion")

    assert refused.code == 2
    assert "'presicion'" in refused.err and "precision" in refused.err and "set" in refused.err


def test_an_unknown_name_takes_nothing_from_a_run(snellen: Snellen) -> None:
    result = snellen(
        *("run", "-b", "pope", "-m", "baseline/first", "--data", ROWS / "pope"),
        *("--also", "presicion"),
    )

    assert result.code == 0
    assert "mean_f1" in result.out and "'presicion'" in result.err


def test_other_formats_have_all_metrics_and_refuse_the_option(snellen: Snellen) -> None:
    ask(snellen, "pope", "baseline/first")

    for more in (("-o", "r.md"), ("--json",), ("--plots", "plots")):
        refused = snellen("report", "runs", "--also", "recall", *more)
        assert refused.code == 2 and "--also works only in the terminal" in refused.err
