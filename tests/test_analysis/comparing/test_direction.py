"""What is not known to be better when higher is not ranked, and called nobody's best."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from snellen import api, evaluate, report
from snellen.analysis.comparing import Comparisons, shown_difference, verdict
from snellen.analysis.result import load_report, shown
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply, Request
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.errors import Rejected
from snellen.metrics import Columns, Metric, mean
from snellen.stats import Estimate
from snellen.view.pages import Pages
from snellen.view.query import Wanted
from tests import tiny
from tests.test_analysis.comparing.test_compare import run, with_metrics

N = 60


def distance(reading: Reading, sample: Sample) -> float:
    """A share of letters that differ: nothing is better than 0."""
    pairs = zip(str(reading.answer or "").ljust(3), str(sample.target).ljust(3), strict=True)
    return float(sum(a != b for a, b in pairs)) / 3


def distances(name: str = "edit_distance", metric: Metric = mean) -> Benchmark:
    own = with_metrics(N, **{name: metric})
    return replace(own, scorings={"official": replace(own.scorings["official"], score=distance)})


def run_three(out: Path, own: Benchmark, **fields: Any) -> None:
    """Three models: `close` has a letter wrong in every third reply, `far` two in each."""
    for name, texts in (
        ("close", ("yet", "yes", "yes")),
        ("far", ("yxx",) * 3),
        ("mid", ("yet",) * 3),
    ):

        def say(request: Request, texts: tuple[str, ...] = texts) -> str:
            return texts[int(request.messages[0].text.split()[-1]) % 3]

        tiny.run(out, tiny.Says(say, name), own, **fields)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Comparisons:
    out = tmp_path_factory.mktemp("runs")
    run_three(out, distances())
    return api.compare(out, benchmark=distances()).comparisons


def test_a_metric_without_a_direction_has_no_ranks_and_the_order_of_the_runs(
    compared: Comparisons,
) -> None:
    (board,) = compared.leaderboards

    assert board.direction is None
    assert [(standing.name, standing.rank, standing.ranks) for standing in board.standings] == [
        ("close", None, None),
        ("far", None, None),
        ("mid", None, None),
    ]
    assert (
        "not ranked: Snellen does not know whether a higher edit_distance is better" in board.notes
    )


def test_its_differences_are_above_or_below_and_nobody_is_better(compared: Comparisons) -> None:
    pair = compared.comparisons[0]

    # A third of a third of the letters, against two thirds.
    assert verdict(pair).startswith("far is 55.56 pp above close in edit_distance")
    assert verdict(pair).endswith("; Snellen does not know whether higher or lower is better")
    assert pair.flips is None


def test_nothing_of_it_is_bold_or_has_a_rank_in_any_form(compared: Comparisons) -> None:
    assert r"\textbf" not in report.compared_latex(compared)
    for text in (
        report.compared_text(compared),
        report.compared_markdown(compared),
        report.compared_html(compared),
    ):
        assert not re.search(r"\brank\b", text.partition("How to read this")[0])
        assert "not ranked" in text


def test_of_several_settings_none_is_the_best(tmp_path: Path) -> None:
    own = distances()
    for limit in (7, 8):
        run_three(tmp_path, own, max_tokens=limit)
    document = api.compare(tmp_path, benchmark=own).comparisons

    assert document.best_of == [] and document.rank_flips == []
    known = distances("accuracy")
    folder = tmp_path / "named"
    for limit in (7, 8):
        run_three(folder, known, max_tokens=limit)
    assert len(api.compare(folder, benchmark=known).comparisons.best_of) == 3


def test_a_refused_reply_is_in_no_mean_of_a_distance_and_an_incomplete_run_has_no_bounds(
    tmp_path: Path,
) -> None:
    def say(request: Request) -> str | Reply:
        number = int(request.messages[0].text.split()[-1])
        if number % 10 == 0:
            raise Rejected("no")
        return Reply(stop="filter") if number % 10 == 1 else "yes"

    result = tiny.run(tmp_path, tiny.Says(say, "one"), distances()).result
    assert result is not None
    assert result.headline.bounds is None
    text = " ".join(result.report.notes)
    assert (
        "6 replies were withheld by the service and are left out of the means: Snellen does" in text
    )
    # A refusal is not a distance of 0. Of 60 replies 6 failed and 6 were withheld.
    assert (result.headline.n, result.report.n) == (48, 60)
    assert "count as wrong" not in text

    tiny.run(tmp_path, tiny.Says(lambda _: "yet", "two"), distances())
    compared = api.compare(tmp_path, benchmark=distances()).comparisons
    left_out = {left.why: left.n for left in compared.comparisons[0].unpaired}
    assert left_out == {"failed in one": 6, "withheld by the service in one": 6}

    usual = tiny.run(tmp_path / "usual", tiny.Says(say, "one"), tiny.benchmark(N)).result
    assert usual is not None and usual.headline.bounds is not None
    assert "6 replies were withheld by the service and count as wrong" in usual.report.notes


def test_a_metric_that_does_not_follow_from_scores_has_no_bounds(tmp_path: Path) -> None:
    """A share of answers is the same whether what is missing is right or wrong."""

    def share_of_no(columns: Columns) -> Estimate:
        return Estimate(value=float((columns.answer == "no").mean()), n=columns.n)

    def say(request: Request) -> str:
        if request.messages[0].text.endswith("0"):
            raise Rejected("no")
        return "no" if request.messages[0].text.endswith("1") else "yes"

    own = with_metrics(20, accuracy=mean, recall=share_of_no)
    result = tiny.run(tmp_path, tiny.Says(say, "one"), own).result
    assert result is not None
    # 2 of 20 are missing, and 2 of the 18 others are wrong.
    assert result.headline.bounds == pytest.approx((16 / 20, 18 / 20))
    assert result.scoring().metrics["recall"].bounds is None


def test_lower_is_better_where_that_is_known(tmp_path: Path) -> None:
    own = distances(metric=Metric(mean, better="lower"))
    run_three(tmp_path, own)
    document = api.compare(tmp_path, benchmark=own).comparisons
    (board,) = document.leaderboards

    assert board.direction == "lower"
    assert [(standing.name, standing.rank, standing.ranks) for standing in board.standings] == [
        ("close", 1, (1, 1)),
        ("mid", 2, (2, 2)),
        ("far", 3, (3, 3)),
    ]
    assert [standing.group for standing in board.standings] == ["a", "b", "c"]
    assert verdict(document.comparisons[0]).endswith("; lower is better")
    latex = report.compared_latex(document)
    assert r"close & \textbf{11.11\,\%}" in latex and "Lower is better." in latex


def test_an_arrow_marks_the_metric_in_every_format_where_lower_is_better(tmp_path: Path) -> None:
    own = distances(metric=Metric(mean, better="lower"))
    run_three(tmp_path, own)
    results = [load_report(path.parent, own) for path in tmp_path.rglob("report.json")]
    document = api.compare(tmp_path, benchmark=own).comparisons

    texts = {
        "a run in the terminal": report.as_text(results[:1]),
        "a run in Markdown": report.markdown(results[:1]).replace("\\", ""),
        "a run on a page": report.html(results[:1]),
        "runs in the terminal": report.as_text(results),
        "runs in Markdown": report.markdown(results).replace("\\", ""),
        "runs on a page": report.html(results),
        "a comparison in the terminal": report.compared_text(document),
        "a comparison in Markdown": report.compared_markdown(document).replace("\\", ""),
        "a comparison on a page": report.compared_html(document),
    }
    assert [name for name, text in texts.items() if "edit_distance ↓" not in text] == []
    for latex in (report.latex(results), report.compared_latex(document)):
        assert r"edit\_distance $\downarrow{}$" in latex and "↓" not in latex
    # In sheets, which programs read, a column has the direction.
    for sheet in (report.csv(results), report.compared_csv(document)):
        rows = list(csv.DictReader(io.StringIO(sheet)))
        assert {row["better"] for row in rows} == {"lower"}
    # Every difference is b minus a, so a plus means that b is worse.
    (pair,) = [pair for pair in document.comparisons if (pair.a, pair.b) == ("close", "far")]
    assert shown_difference(pair.metrics["edit_distance"].difference).value == "+55.56 pp"
    assert "far is 55.56 pp above close in edit_distance" in verdict(pair)


def test_of_several_settings_the_lowest_is_the_best_where_lower_is(tmp_path: Path) -> None:
    own = distances(metric=Metric(mean, better="lower"))
    for limit, texts in ((7, ("yes", "yes", "yet")), (8, ("yxx", "yxx", "yxx"))):

        def say(request: Request, texts: tuple[str, ...] = texts) -> str:
            return texts[int(request.messages[0].text.split()[-1]) % 3]

        tiny.run(tmp_path, tiny.Says(say, "one"), own, max_tokens=limit)
    (best,) = api.compare(tmp_path, benchmark=own).comparisons.best_of

    # A third of the replies has one of three letters wrong, against two letters in each.
    assert best.values[best.best].value == pytest.approx(1 / 9)
    assert best.held_out.value == pytest.approx(1 / 9)


def withheld_or_failed(request: Request) -> str | Reply:
    """Of ten replies one fails, and one is withheld."""
    number = int(request.messages[0].text.split()[-1])
    if number % 10 == 0:
        raise Rejected("no")
    return Reply(stop="filter") if number % 10 == 1 else "yet"


def test_a_withheld_reply_has_no_distance_where_lower_is_better_either(tmp_path: Path) -> None:
    own = distances(metric=Metric(mean, better="lower"))
    result = tiny.run(tmp_path, tiny.Says(withheld_or_failed, "one"), own).result

    assert result is not None and result.headline.bounds is None
    assert result.headline.value == pytest.approx(1 / 3)
    assert (result.headline.n, result.report.n) == (48, 60)
    assert "count as wrong" not in " ".join(result.report.notes)


def test_the_bounds_of_a_lower_metric_of_right_and_wrong_fall(tmp_path: Path) -> None:
    def error_rate(columns: Columns) -> Estimate:
        assert columns.score is not None
        return Estimate(value=float(1 - columns.score.mean()), n=columns.n)

    def say(request: Request) -> str:
        if request.messages[0].text.endswith("0"):
            raise Rejected("no")
        return "no" if request.messages[0].text.endswith("1") else "yes"

    errors = Metric(error_rate, better="lower", unit="fraction")
    result = tiny.run(
        tmp_path, tiny.Says(say, "one"), with_metrics(20, accuracy=mean, errors=errors)
    ).result

    assert result is not None
    # 2 of 20 are missing, and 2 of the 18 others are wrong.
    metrics = result.scoring().metrics
    assert metrics["errors"].bounds == pytest.approx((4 / 20, 2 / 20))
    assert metrics["accuracy"].bounds == pytest.approx((16 / 20, 18 / 20))
    remark = shown(metrics["errors"]).remark
    assert remark == "20.00 % if all missing and refused replies were wrong, 10.00 % if right"


def test_a_report_states_the_direction_of_each_metric_and_of_its_categories(tmp_path: Path) -> None:
    own = with_metrics(
        N, accuracy=mean, distance=Metric(mean, better="lower"), other=Metric(mean, unit="fraction")
    )
    own = replace(
        own, scorings={"official": replace(own.scorings["official"], extra_metrics=stating)}
    )
    done = tiny.run(tmp_path, tiny.Says(lambda _: "yes", "one"), own)
    stored = json.loads((done.run / "report.json").read_text())["scorings"]["official"]["metrics"]

    assert {name: metric.get("better") for name, metric in stored.items()} == {
        "accuracy": "higher",
        "accuracy/a": "higher",
        "accuracy/b": "higher",
        "distance": "lower",
        "distance/a": "lower",
        "distance/b": "lower",
        "other": None,
        "other/a": None,
        "other/b": None,
        "edits of 60": "lower",
        "replies": None,
    }
    assert "better" not in stored["other"]


def stating(columns: Columns) -> dict[str, Estimate]:
    """Metrics whose names are known with the data alone, one of which states its direction."""
    return {
        f"edits of {columns.n}": Estimate(value=0.0, n=columns.n, better="lower"),
        "replies": Estimate(value=float(columns.n), n=columns.n, unit="replies"),
    }


def test_a_report_without_directions_takes_them_from_what_the_benchmark_says_now(
    tmp_path: Path,
) -> None:
    result = evaluate("eyechart", "baseline/reader", out=tmp_path, limit=12)
    assert result.run is not None
    path = result.run / "report.json"
    report = json.loads(path.read_text())
    written = report["scorings"]["official"]["metrics"]
    stated = {name: metric.pop("better") for name, metric in written.items()}
    path.write_text(json.dumps(report))
    metrics = load_report(path).scoring().metrics

    assert stated["accuracy"] == "higher" and stated["acuity"] == "lower"
    assert {name: metric.better for name, metric in metrics.items()} == stated


def test_the_viewer_puts_the_lowest_first_where_lower_is_better_and_marks_nothing(
    tmp_path: Path,
) -> None:
    run_three(tmp_path, distances(metric=Metric(mean, better="lower")))
    pages = Pages(tmp_path)
    try:
        assert re.findall(r"<bdi>(close|far|mid)</bdi>", pages.overview()) == [
            "close",
            "mid",
            "far",
        ]
        far = next(stored.name for stored in pages.runs.all() if stored.model == "far")
        samples = pages.samples(far, Wanted())
        assert "✗" not in samples and "✓" not in samples
        assert 'title="score 0.6666' in samples and "does not know which score is right" in samples
        assert "score=wrong" not in pages.run_page(far)
    finally:
        pages.stop()


def test_the_viewer_neither_sorts_nor_marks_what_has_no_direction(tmp_path: Path) -> None:
    run_three(tmp_path, distances())
    pages = Pages(tmp_path)
    try:
        overview = pages.overview()
        assert re.findall(r"<bdi>(close|far|mid)</bdi>", overview) == ["close", "far", "mid"]
        far = next(stored.name for stored in pages.runs.all() if stored.model == "far")
        samples = pages.samples(far, Wanted())
        assert "✗" not in samples and "✓" not in samples
        assert ">0.67</span>" in samples
        assert "score=wrong" not in pages.run_page(far)
    finally:
        pages.stop()


def test_untested_sides_share_no_letter_and_none_is_bold(tmp_path: Path) -> None:
    own = tiny.benchmark(8)
    for name, which in (("one", 8), ("two", 4), ("three", 1)):
        run(tmp_path, name, range(which), own)
    document = api.compare(tmp_path, benchmark=own).comparisons
    (board,) = document.leaderboards

    assert [standing.group for standing in board.standings] == ["", "", ""]
    (note,) = board.notes
    assert note == (
        "no groups and no rank intervals: some pairs have no test (8 independent clusters: "
        "an interval needs at least 10)"
    )
    latex = report.compared_latex(document)
    assert r"\textbf" not in latex and "share a letter" not in latex
    assert (
        "groups"
        not in latex.partition(r"\end{table}")[0]
        .partition(r"\midrule")[0]
        .partition(r"\toprule")[2]
    )
    text, page = report.compared_text(document), report.compared_html(document)
    assert "share a letter" not in text
    assert board.standings[0].ranks is None
    assert "ranks " not in text and "a rank interval contains" not in text
    assert "in 95 % of resamples" not in page
