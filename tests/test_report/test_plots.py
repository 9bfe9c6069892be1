"""Plots: what is drawn, always with the same bytes. matplotlib writes its texts as comments."""

import re
import sys
from pathlib import Path

import pytest

from snellen import report
from snellen.analysis.result import Result
from snellen.errors import UsageError, install
from tests.test_report.results import comparisons, result


def texts(path: Path) -> list[str]:
    return re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8"), re.DOTALL)


def two() -> list[Result]:
    return [result(), result("hf/other")]


def test_all_plots_are_drawn_and_named_for_what_they_show(tmp_path: Path) -> None:
    drawn = report.plots(two(), tmp_path / "new", "svg", comparisons())

    assert [path.name for path in drawn] == [
        "headline.svg",
        "mine-subject.svg",
        "mine-letters.svg",
        "mine-differences.svg",
    ]
    assert {"openai/m", "hf/other", "mine: accuracy", "by chance"} <= {*texts(drawn[0])}
    assert {"art", "law", "openai/m", "hf/other"} <= {*texts(drawn[1])}
    assert {"4", "8", "16", "pixels"} <= {*texts(drawn[2])}
    assert "two minus one" in texts(drawn[3])


@pytest.mark.parametrize("form", ["svg", "png"])
def test_the_same_results_give_the_same_bytes_without_a_date(tmp_path: Path, form: str) -> None:
    first, second = (
        [path.read_bytes() for path in report.plots(two(), tmp_path / name, form, comparisons())]
        for name in ("first", "second")
    )

    assert first == second
    assert not [content for content in first if b"<dc:date>" in content or b"Software" in content]
    start = b"<?xml" if form == "svg" else b"\x89PNG"
    assert all(content.startswith(start) for content in first)


def test_one_result_is_drawn_with_its_categories(tmp_path: Path) -> None:
    path = tmp_path / "one.svg"
    report.plot([result()], path, "svg")

    assert {"all", "art", "law"} <= {*texts(path)}


def test_names_are_neither_formulas_nor_paths(tmp_path: Path) -> None:
    hostile = result(r"$\frac{1}", "../../x")
    drawn = report.plots([hostile, result("--></svg><script>", "../../x")], tmp_path / "in", "svg")

    assert {path.parent for path in drawn} == {tmp_path / "in"}
    assert r"$\frac{1}" in texts(drawn[0])
    assert "<script>" not in drawn[0].read_text()


def test_results_without_a_value_are_said_to_give_no_plot(tmp_path: Path) -> None:
    nothing = result(headline="", scorings={}, breakdown={}, baselines=None)

    with pytest.raises(UsageError, match="no result has a value"):
        report.plot([nothing], tmp_path / "x.svg", "svg")
    assert report.plots([nothing], tmp_path, "svg") == []


def test_a_missing_matplotlib_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(UsageError, match=re.escape(install("plots"))):
        report.plot([result()], tmp_path / "x.svg", "svg")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match="cannot be created"):
        report.plots([result()], tmp_path / "file" / "in", "svg")
    with pytest.raises(UsageError, match="cannot be written"):
        report.plot([result()], tmp_path / "absent" / "x.svg", "svg")


def test_no_plot_takes_anothers_file(tmp_path: Path) -> None:
    """Names that differ in signs alone, which files' names have not, or only in their ends."""
    names = ("a/b", "a b", "ა" * 200, "ა" * 201)
    results = [result(model, name) for name in names for model in ("one", "two")]
    drawn = report.plots(results, tmp_path, "svg")

    assert len({*drawn}) == len(drawn) == len([*tmp_path.iterdir()])
    assert tmp_path / "a-b-subject-2.svg" in drawn


def test_runs_of_one_model_have_a_row_and_a_curve_each(tmp_path: Path) -> None:
    full = {"model": "openai/m"}
    small = {**full, "profile": {"images": {"max_side": 168}}}
    paths = report.plots([result(identity=full), result(identity=small)], tmp_path, "svg")

    for name in ("headline", "mine-letters", "mine-subject"):
        (path,) = (path for path in paths if path.stem == name)
        labels = {*texts(path)}
        assert {"openai/m", "openai/m (max_side=168)"} <= labels
