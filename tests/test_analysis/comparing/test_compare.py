"""Comparisons of stored runs: numbers by hand, what is paired, what is said."""

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import report
from snellen.analysis.comparing import Comparison, Comparisons, shown_difference, significant
from snellen.analysis.comparing.sides import LoadedSide, load
from snellen.api import compare
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Reply, Request
from snellen.core.presentation import Capabilities
from snellen.core.scoring import Scoring
from snellen.data import Drawn
from snellen.errors import CatalogError, Rejected, UsageError
from snellen.metrics import Metric, macro_average, mean
from snellen.metrics.circular import circular
from snellen.metrics.groups import share_of_groups
from snellen.metrics.only_tagged import only_tagged
from snellen.scoring import MetricReport
from snellen.scoring.replies import replies_of
from snellen.store import Run
from tests import tiny
from tests.tiny import Says, benchmark, parse, right

A, B = range(10), range(5, 19)
"""What two models have right of twenty samples: 10 and 14, both of them five."""


def knows(which: Collection[int], fails: Collection[int] = ()) -> Callable[[Request], str]:
    """Says yes, which is right, to some questions, and gives no reply to others."""

    def say(request: Request) -> str:
        number = int(request.messages[0].text.split()[1])
        if number in fails:
            raise Rejected("no")
        return "yes" if number in which else "no"

    return say


def run(
    out: Path,
    name: str,
    which: Collection[int],
    own: Benchmark | None = None,
    *,
    fails: Collection[int] = (),
    **fields: Any,
) -> Path:
    return tiny.run(out, Says(knows(which, fails), name), own or benchmark(20), **fields).run


def compared(*sides: Path, own: Benchmark | None = None, **options: Any) -> Comparisons:
    return compare(*sides, benchmark=own or benchmark(20), **options).comparisons


def only(document: Comparisons) -> Comparison:
    (comparison,) = document.comparisons
    return comparison


def with_metrics(n: int = 20, **metrics: Any) -> Benchmark:
    scoring = Scoring(version=1, source="ours", parse=parse, score=right, metrics=metrics)
    return benchmark(n, scorings={"official": scoring})


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    out = tmp_path_factory.mktemp("runs")
    return run(out, "a", A), run(out, "b", B)


def test_a_difference_is_that_of_the_paired_scores(two: tuple[Path, Path]) -> None:
    comparison = only(compared(*two))
    difference = comparison.metrics["accuracy"]

    assert (comparison.a, comparison.b, comparison.samples, comparison.clusters) == (
        "a",
        "b",
        20,
        20,
    )
    assert (difference.a.value, difference.b.value) == (0.5, 0.7)
    assert difference.difference.value == pytest.approx(0.2)
    # Nine times +1, five times -1, six times 0: the variance is (14 - 20 · 0.2²)/19.
    assert difference.difference.stderr == pytest.approx(sqrt((14 - 0.8) / 19 / 20))
    assert difference.difference.ci95 is not None
    assert difference.difference.ci95[0] < 0 < difference.difference.ci95[1]
    assert difference.p is not None and difference.p > 0.05
    assert significant(difference) is False
    assert comparison.unpaired == [] and comparison.settings == []


def test_samples_that_one_alone_has_right_are_counted_and_named(two: tuple[Path, Path]) -> None:
    flips = only(compared(*two)).flips

    assert flips is not None
    assert (flips.both, flips.only_a, flips.only_b, flips.neither) == (5, 5, 9, 1)
    assert flips.examples_a == ["s0", "s1", "s2", "s3", "s4"]
    assert flips.examples_b == ["s10", "s11", "s12", "s13", "s14"]
    # Of 14 five or fewer: 2 (1 + 14 + 91 + 364 + 1001 + 2002) / 2^14.
    assert flips.p == pytest.approx(2 * 3473 / 2**14)


def test_the_side_that_is_named_first_is_what_the_other_is_measured_against(
    two: tuple[Path, Path],
) -> None:
    a, b = two
    back = only(compared(b, a)).metrics["accuracy"]

    assert back.difference.value == pytest.approx(-0.2)
    assert back.p == only(compared(a, b)).metrics["accuracy"].p


def test_categories_are_compared_and_their_p_adjusted_over_their_tag(
    two: tuple[Path, Path],
) -> None:
    kinds = only(compared(*two)).breakdown["kind"]

    # Of the even ones a has 0, 2, 4, 6, 8 right, b has 6, 8, ... 18; of the odd ones as many.
    assert [difference.difference.value for difference in kinds.values()] == pytest.approx(
        [0.2, 0.2]
    )
    low, high = sorted(difference.p or 0.0 for difference in kinds.values())
    # Holm's: the smaller is doubled, the larger is not a smaller than that.
    assert sorted(difference.adjusted or 0.0 for difference in kinds.values()) == pytest.approx(
        [min(1, 2 * low), max(min(1, 2 * low), high)]
    )


def test_categories_that_the_first_metric_does_not_count_are_compared_by_another(
    tmp_path: Path,
) -> None:
    metrics = {name: Metric(only_tagged(mean, "kind", [name]), better="higher") for name in "ab"}
    own = with_metrics(24, **metrics)
    sides = run(tmp_path, "right", range(24), own), run(tmp_path, "wrong", (), own)

    document = compare(*sides, benchmark=own).comparisons

    (kinds,) = document.comparisons[0].breakdown.values()
    assert {name: (kind.other_metric, kind.difference.value) for name, kind in kinds.items()} == {
        "a": ("", -1.0),
        "b": ("b", -1.0),
    }
    assert "| b (b) | 100.00 % | 0.00 % |" in report.compared_markdown(document)
    assert "kind,b (b),1.0,0.0,-1.0" in report.compared_csv(document)


def test_nothing_of_a_run_is_written(two: tuple[Path, Path]) -> None:
    def files() -> dict[Path, bytes]:
        every = (path for side in two for path in side.rglob("*") if path.is_file())
        return {path: path.read_bytes() for path in every}

    before = files()
    compared(*two)
    assert files() == before


def test_a_run_that_another_process_writes_can_be_compared(two: tuple[Path, Path]) -> None:
    with Run(two[1]).folder.lock():
        assert only(compared(*two)).samples == 20


def test_a_failed_sample_is_in_no_difference_and_is_said(tmp_path: Path) -> None:
    a = run(tmp_path, "a", A)
    b = run(tmp_path, "b", B, fails=[18, 19])
    comparison = only(compared(a, b))

    assert comparison.samples == 18
    assert [(left.why, left.n, left.examples) for left in comparison.unpaired] == [
        ("failed in b", 2, ["s18", "s19"])
    ]
    # Both without s18 and s19: a 10 of 18, b 13.
    assert comparison.metrics["accuracy"].difference.value == pytest.approx(3 / 18)


def test_samples_that_failed_on_both_sides_are_counted_on_each(tmp_path: Path) -> None:
    a = run(tmp_path, "a", A, fails=[3, 4, 18])
    b = run(tmp_path, "b", B, fails=[3, 4, 17, 19, 0])
    comparison = only(compared(a, b))

    assert comparison.samples == 14
    assert [(left.why, left.n, left.examples) for left in comparison.unpaired] == [
        ("failed in a", 3, ["s3", "s4", "s18"]),
        ("failed in b", 5, ["s0", "s3", "s4", "s17", "s19"]),
    ]


def test_a_reply_that_the_service_withheld_is_wrong_and_is_said(tmp_path: Path) -> None:
    def say(request: Request) -> str | Reply:
        refused = request.messages[0].text == "question 5"
        return Reply(text="", stop="filter") if refused else knows(B)(request)

    b = tiny.run(tmp_path, Says(say, "b"), benchmark(20)).run
    comparison = only(compared(run(tmp_path, "a", A), b))

    assert comparison.samples == 20
    assert comparison.metrics["accuracy"].b.value == 0.65
    assert comparison.notes == ["b: 1 replies that the service withheld count as wrong"]


def test_replies_in_which_no_answer_was_found_are_said(tmp_path: Path) -> None:
    def say(request: Request) -> str:
        return "" if request.messages[0].text in ("question 5", "question 6") else knows(B)(request)

    b = tiny.run(tmp_path, Says(say, "b"), benchmark(20)).run
    comparison = only(compared(run(tmp_path, "a", A), b))

    assert comparison.metrics["accuracy"].b.value == 0.6
    assert comparison.notes == ["b: 2 of 20 replies are unparsed, which count as wrong"]


def test_what_one_side_was_not_asked_is_left_out_and_said(tmp_path: Path) -> None:
    a = run(tmp_path, "a", A, limit=15)
    b = run(tmp_path, "b", B)
    document = compared(a, b)

    assert only(document).samples == 15
    assert [(left.why, left.n) for left in only(document).unpaired] == [("not in a", 5)]
    assert [(left.why, left.n) for left in only(compared(b, a)).unpaired] == [("not in a", 5)]
    assert "a: partial: 15 of 20" in document.notes


def changed(own: Benchmark, which: Collection[str], **fields: Any) -> Benchmark:
    """The benchmark with other data in some rows."""

    def rows() -> Iterator[dict[str, Any]]:
        for row in own.data:
            yield {**row, **fields} if row["id"] in which else dict(row)

    return replace(own, data=Drawn("other", rows))


def test_other_data_under_the_same_id_is_not_compared(tmp_path: Path) -> None:
    a = run(tmp_path, "a", A)
    b = run(tmp_path, "b", B, changed(benchmark(20), ["s3", "s4"], kind="c"))
    comparison = only(compared(a, b))

    assert comparison.samples == 18
    assert [(left.why, left.n, left.examples) for left in comparison.unpaired] == [
        ("different data under the same id", 2, ["s3", "s4"])
    ]
    # `changed` makes its rows by a function of this file, which the other run's source lacks.
    assert [setting.partition(":")[0] for setting in comparison.settings] == [
        "data.digest",
        "source",
    ]


def test_a_sample_whose_answer_is_hidden_is_left_out(tmp_path: Path) -> None:
    own = changed(benchmark(20), ["s0"], a=None)
    comparison = only(compared(run(tmp_path, "a", A, own), run(tmp_path, "b", B, own)))

    assert [(left.why, left.n) for left in comparison.unpaired] == [("right answer hidden", 1)]
    assert comparison.samples == 19


def test_a_composite_is_taken_of_the_paired_rows(tmp_path: Path) -> None:
    own = with_metrics(accuracy=macro_average("kind"), micro=mean)
    own = changed(own, [f"s{n}" for n in range(20) if n % 4 == 0], kind="c")
    a, b = run(tmp_path, "a", A, own), run(tmp_path, "b", B, own)
    metrics = only(compared(a, b, own=own)).metrics

    # c: 0 4 8 12 16, of which a has 3, b 3 (8 12 16); a: 2 6 10 14 18, of which a has 2, b 4;
    # b: the odd ones, of which a has 5 of 10, b 7.
    assert metrics["accuracy"].a.value == pytest.approx((3 / 5 + 2 / 5 + 5 / 10) / 3)
    assert metrics["accuracy"].b.value == pytest.approx((3 / 5 + 4 / 5 + 7 / 10) / 3)
    assert metrics["accuracy"].difference.value == pytest.approx((0 + 2 / 5 + 2 / 10) / 3)
    assert metrics["accuracy"].difference.ci95 is not None
    assert metrics["micro"].difference.value == pytest.approx(0.2)


@pytest.mark.parametrize(
    "metric", [circular("pass"), share_of_groups("question", "pass")], ids=["passes", "groups"]
)
def test_questions_that_count_together_count_if_both_sides_have_them_all(
    tmp_path: Path, metric: Metric
) -> None:
    own = vary(
        with_metrics(24, accuracy=metric),
        cluster_by=lambda sample: str(sample.data["question"]),
        metric_tags=("pass", "question"),
        sample=lambda index, row: replace(
            tiny.sample_of(index, row),
            tags={
                "kind": row["kind"],
                "pass": f"{index % 2 + 1} of 2",
                "question": str(index // 2),
            },
            data={"question": index // 2},
        ),
    )
    a = run(tmp_path, "a", range(24), own)
    b = run(tmp_path, "b", range(6, 24), own, fails=[23])
    difference = only(compared(a, b, own=own)).metrics["accuracy"]

    # Twelve times two, a question's passes or a group's questions; the last two are on one side
    # alone. b has 3 of the other 11 wrong.
    assert (difference.a.n, difference.b.n) == (11, 11)
    assert difference.a.value == 1
    assert difference.b.value == pytest.approx(8 / 11)


def test_all_replies_to_a_sample_count_and_the_sample_is_one_cluster(tmp_path: Path) -> None:
    a = run(tmp_path, "a", A, repeats=2)
    b = run(tmp_path, "b", B)
    comparison = only(compared(a, b))

    assert (comparison.samples, comparison.clusters) == (20, 20)
    assert (comparison.metrics["accuracy"].a.n, comparison.metrics["accuracy"].b.n) == (40, 20)
    assert comparison.metrics["accuracy"].difference.value == pytest.approx(0.2)
    # As with one reply each: the replies to a sample are alike.
    assert comparison.metrics["accuracy"].difference.stderr == pytest.approx(sqrt(13.2 / 19 / 20))
    assert comparison.flips is None
    assert comparison.notes == ["a: 40 replies to 20 samples, all of which count"]


def test_n_of_a_difference_is_the_number_of_replies_that_both_sides_have(tmp_path: Path) -> None:
    def fails_once(bad: dict[int, int]) -> Callable[[Request], str]:
        """Gives no reply to one repeat of some questions: `bad` maps questions to seeds."""

        def say(request: Request) -> str:
            number = int(request.messages[0].text.split()[1])
            if number in bad and (request.seed or 0) == bad[number]:
                raise Rejected("no")
            return "yes" if number % 2 else "no"

        return say

    a = tiny.run(tmp_path, Says(fails_once({0: 0, 1: 1}), "a"), benchmark(20), repeats=2).run
    b = tiny.run(tmp_path, Says(fails_once({1: 0, 2: 1, 3: 1}), "b"), benchmark(20), repeats=2).run
    accuracy = only(compared(a, b)).metrics["accuracy"]

    # The failed replies are five different ones of the 40.
    assert (accuracy.a.n, accuracy.b.n) == (38, 37)
    assert accuracy.difference.n == 35


def test_samples_that_share_an_image_are_one_cluster_and_have_no_mcnemar(tmp_path: Path) -> None:
    own = benchmark(40, cluster_by=lambda sample: str(int(sample.id[1:]) // 2))
    a, b = run(tmp_path, "a", range(20), own), run(tmp_path, "b", range(10, 36), own)
    comparison = only(compared(a, b, own=own))

    assert (comparison.samples, comparison.clusters) == (40, 20)
    # Pairs of like samples: the same as twenty samples.
    assert comparison.metrics["accuracy"].difference.value == pytest.approx(0.15)
    moves = [-1] * 5 + [0] * 5 + [1] * 8 + [0] * 2
    variance = sum((move - 0.15) ** 2 for move in moves) / 19
    assert comparison.metrics["accuracy"].difference.stderr == pytest.approx(sqrt(variance / 20))
    assert comparison.flips is not None and comparison.flips.p is None


def test_clusters_are_the_same_on_both_sides_whatever_was_asked_first(tmp_path: Path) -> None:
    own = benchmark(40, cluster_by=lambda sample: str(int(sample.id[1:]) % 20))
    rows = [*own.data]
    backwards = replace(own, data=Drawn("tiny", lambda: (dict(row) for row in reversed(rows))))
    a, b = run(tmp_path, "a", range(10), own), run(tmp_path, "b", range(10, 36), backwards)
    there = run(tmp_path, "b", range(10, 36), own)
    assert there != b
    comparison, other = (only(compared(a, side, own=own)) for side in (b, there))

    assert (comparison.samples, comparison.clusters) == (40, 20)
    # Cluster k is of samples k and k + 20. Below 10 each side has one of them right; b alone has
    # both from 10 to 15, and one from 16 on.
    moves = [0.0] * 10 + [1.0] * 6 + [0.5] * 4
    variance = sum((move - 0.4) ** 2 for move in moves) / 19
    for pair in (comparison, other):
        error = pair.metrics["accuracy"].difference.stderr
        assert error == pytest.approx(sqrt(variance / 20))


def test_rows_are_paired_by_sample_in_whatever_order_replies_are_read(
    two: tuple[Path, Path],
) -> None:
    def side(path: Path, order: Collection[int]) -> LoadedSide:
        with closing(Run(path)) as stored:
            stored.load()
            replies = [*replies_of(stored, benchmark(20))]
        shuffled = [replies[index] for index in order]
        return load(benchmark(20), lambda: shuffled, model="m", where=str(path), identity={})

    in_order = side(two[0], range(20))
    # 7 has no factor with 20, so this is every sample but the last, s13.
    other = side(two[0], [7 * index % 20 for index in range(19)])

    scores = {}
    for name, loaded in (("all", in_order), ("shuffled", other)):
        ids = [loaded.ids[number] for number in loaded.sample]
        score = loaded.rows[0].columns.score
        assert score is not None
        scores[name] = dict(zip(ids, score.tolist(), strict=True))
    assert scores["all"] == {f"s{index}": float(index in A) for index in range(20)}
    assert scores["shuffled"] == {k: v for k, v in scores["all"].items() if k != "s13"}


def test_journals_in_other_orders_and_a_lost_row_change_no_pair(tmp_path: Path) -> None:
    first, second = run(tmp_path, "a", A), run(tmp_path, "b", B)

    def reorder(name: str, step: int, without: str = "") -> None:
        path = second / name
        lines = path.read_text().splitlines(keepends=True)
        lines = [lines[step * index % len(lines)] for index in range(len(lines))]
        kept = [line for line in lines if json.loads(line)["key"][0] != without]
        path.write_text("".join(kept))

    # 7 and 3 have no factor with 20, so every line is there once.
    reorder("replies.jsonl", 7, without="s7")
    reorder("questions.jsonl", 3, without="s7")
    comparison = only(compared(first, second))

    a = {f"s{index}": float(index in A) for index in range(20)}
    b = {f"s{index}": float(index in B) for index in range(20) if index != 7}
    differences = [b[name] - a[name] for name in b]
    assert comparison.samples == 19
    assert [(left.why, left.examples) for left in comparison.unpaired] == [("not in b", ["s7"])]
    assert comparison.metrics["accuracy"].difference.value == pytest.approx(sum(differences) / 19)
    mean_difference = sum(differences) / 19
    squares = sum((value - mean_difference) ** 2 for value in differences)
    assert comparison.metrics["accuracy"].difference.stderr == pytest.approx(
        sqrt(squares / 18 / 19)
    )
    assert comparison.flips is not None
    assert (comparison.flips.only_a, comparison.flips.only_b) == (
        differences.count(-1),
        differences.count(1),
    )
    assert comparison.flips.examples_a == [name for name in b if a[name] > b[name]][:5]
    assert comparison.flips.examples_b == [name for name in b if a[name] < b[name]][:5]
    for kind, remainder in (("a", 0), ("b", 1)):
        values = [b[name] - a[name] for name in b if int(name[1:]) % 2 == remainder]
        assert comparison.breakdown["kind"][kind].difference.value == pytest.approx(
            sum(values) / len(values)
        )


def test_an_interval_of_shares_ends_where_their_difference_must(tmp_path: Path) -> None:
    own = benchmark(12)
    a, b = run(tmp_path, "a", [0], own), run(tmp_path, "b", range(12), own)
    difference = only(compared(a, b, own=own)).metrics["accuracy"].difference

    assert (
        difference.stderr is not None
        and difference.value is not None
        and difference.ci95 is not None
    )
    assert difference.value + 1.96 * difference.stderr > 1
    assert difference.ci95[1] == 1


def test_what_samples_ask_of_a_model_is_compared_as_a_share_of_the_best(tmp_path: Path) -> None:
    asks = Capabilities(tag="kind", leaves={"a": "ocr", "b": "counting"}, source="ours")
    own = benchmark(40, capabilities=asks)
    official = own.scorings["official"]
    scoring = replace(official, score=lambda reading, sample: 4 * right(reading, sample), best=4.0)
    own = replace(own, scorings={"official": scoring})
    a, b = run(tmp_path, "a", range(20), own), run(tmp_path, "b", range(0, 40, 2), own)
    leaves = only(compared(a, b, own=own)).capabilities

    # Of the even ones a has ten of twenty right and b all, of the odd ones a ten and b none.
    assert {name: difference.difference.value for name, difference in leaves.items()} == {
        "ocr": 0.5,
        "counting": -0.5,
    }
    assert all(difference.adjusted is not None for difference in leaves.values())


def test_below_ten_clusters_there_is_a_difference_and_no_test(tmp_path: Path) -> None:
    own = benchmark(6)
    comparison = only(compared(run(tmp_path, "a", [0], own), run(tmp_path, "b", [0, 1], own)))
    difference = comparison.metrics["accuracy"]

    assert difference.difference.value == pytest.approx(1 / 6)
    assert difference.p is None and difference.difference.ci95 is None
    assert "at least 10" in (difference.difference.reason or "")


def test_the_same_replies_do_not_differ(tmp_path: Path) -> None:
    difference = only(compared(run(tmp_path, "a", A), run(tmp_path, "b", A))).metrics["accuracy"]

    assert (difference.difference.value, difference.p) == (0, 1)


def test_settings_in_which_runs_differ_are_named(tmp_path: Path) -> None:
    a = run(tmp_path, "m", A, temperature=0.0)
    b = run(tmp_path, "m", B, temperature=0.7, max_tokens=99)
    comparison = only(compared(a, b))

    assert comparison.settings == [
        "generation.max_tokens: 512 against 99",
        "generation.temperature: 0.0 against 0.7",
    ]
    assert [comparison.a, comparison.b] == [
        "m (max_tokens=512 temperature=0.0)",
        "m (max_tokens=99 temperature=0.7)",
    ]


def test_predictions_are_compared_with_a_run_and_with_each_other(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    files = []
    for name, which in (("a", A), ("b", B)):
        rows = [{"id": f"s{n}", "reply": "yes" if n in which else "no"} for n in range(20)]
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps(rows))

    for sides in ((files[0], files[1]), (files[0], two[1]), (two[0], files[1])):
        comparison = only(compared(*sides, replies_in="reply"))
        assert comparison.samples == 20
        assert comparison.metrics["accuracy"].difference.value == pytest.approx(0.2)
        assert comparison.settings == []


def test_predictions_of_part_of_the_questions_are_paired_as_their_rule_says(
    tmp_path: Path,
) -> None:
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    a.write_text(json.dumps([{"id": f"s{n}", "reply": "yes"} for n in range(20)]))
    b.write_text(json.dumps([{"id": f"s{n}", "reply": "yes"} for n in range(15)]))
    wrong = with_metrics(accuracy=mean)
    wrong = replace(
        wrong, scorings={"official": replace(wrong.scorings["official"], missing="wrong")}
    )

    excluded = only(compared(a, b, replies_in="reply"))
    assert (excluded.samples, excluded.metrics["accuracy"].difference.value) == (15, 0)
    assert [(left.why, left.n) for left in excluded.unpaired] == [("without a reply in b.json", 5)]
    counted = only(compared(a, b, own=wrong, replies_in="reply"))
    assert counted.metrics["accuracy"].difference.value == pytest.approx(-0.25)
    assert counted.notes == [
        "b.json: 5 samples without a reply count as wrong, as in the authors' scoring"
    ]


def test_another_scoring_may_be_named(two: tuple[Path, Path]) -> None:
    own = benchmark(20)
    official = own.scorings["official"]
    half = replace(official, score=lambda reading, sample: right(reading, sample) / 2, best=0.5)
    own = replace(own, scorings={"official": official, "half": half})

    comparison = only(compared(*two, own=own, scoring="half"))
    assert comparison.scoring == "half"
    assert comparison.metrics["accuracy"].difference.value == pytest.approx(0.1)
    with pytest.raises(UsageError, match=r"no scoring 'other'\. Scorings: official, half"):
        compared(*two, own=own, scoring="other")


def test_runs_are_of_the_options_they_were_asked_with_whatever_files_are_of(
    tmp_path: Path,
) -> None:
    for model in ("baseline/silent", "baseline/eager"):
        snellen.evaluate("ovo-bench:mode=proactive", model=model, data="synthetic", out=tmp_path)
    comparison = only(compare(tmp_path, benchmark="ovo-bench").comparisons)
    assert comparison.scoring == "default"
    assert next(iter(comparison.metrics)) == "answered_in_span"


def test_where_one_is_no_full_score_nobody_is_right_or_wrong(two: tuple[Path, Path]) -> None:
    own = benchmark(20)
    official = own.scorings["official"]
    own = replace(own, scorings={"official": replace(official, best=10.0)})
    assert only(compared(*two, own=own)).flips is None


def test_a_comparison_prints_itself(two: tuple[Path, Path]) -> None:
    text = str(snellen.compare(*two, benchmark=benchmark(20)))

    assert "b is 20.00 pp above a in accuracy, [-" in text
    assert "not significant at 5 %" in text
    assert "both are right on 5, neither on 1; only b on 9, such as s10, s11" in text
    assert f"snellen score {two[0]} --explain s10" in text


# -- what cannot be compared


def test_one_side_is_too_few(two: tuple[Path, Path]) -> None:
    with pytest.raises(
        UsageError, match=r"A comparison needs two sets of replies, but there is only"
    ):
        compared(two[0])
    with pytest.raises(UsageError, match="was passed twice"):
        compared(two[0], two[0])


def test_a_folder_without_runs_needs_a_benchmark(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"there is no run in this folder, .* If the folder has predictions, name"
    ):
        compare(tmp_path, tmp_path)
    with pytest.raises(UsageError, match="there is no such file or folder"):
        compare(tmp_path / "none", tmp_path)


def test_runs_of_different_benchmarks_are_not_compared(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(
        "".join(json.dumps({"id": f"s{n}", "question": "q", "answer": "yes"}) + "\n" for n in "12")
    )
    result = snellen.evaluate(str(other), model="baseline/first", out=tmp_path / "runs")
    assert result.run is not None
    with pytest.raises(UsageError, match="Replies to different questions cannot be compared"):
        compared(two[0], result.run)


def test_runs_that_share_no_question_say_why(tmp_path: Path) -> None:
    a = run(tmp_path, "a", A, limit=5)
    ids = [f"s{n}" for n in range(20)]
    b = run(tmp_path, "b", B, changed(benchmark(20), ids, kind="c"))
    with pytest.raises(
        UsageError, match="5 ids are on both sides, but have different data, such as 's0'"
    ):
        compared(a, b)
    c = run(tmp_path, "c", B, fails=range(20))
    with pytest.raises(
        UsageError,
        match=r"counts on both sides: 15 not in .*/a/.*; 5 failed in .*/c/",
    ):
        compared(a, c)


def test_a_run_of_the_callers_benchmark_must_be_given_it(two: tuple[Path, Path]) -> None:
    with pytest.raises(CatalogError, match="pass the Benchmark object that made the run"):
        compare(*two)


def test_a_difference_of_points_has_the_decimals_of_the_points() -> None:
    def points(value: float) -> MetricReport:
        return MetricReport(value=value, unit="points", n=9, stderr=None, ci95=None)

    small = points(0.0802)
    assert shown_difference(small).value == "+0.0802 points"
    assert shown_difference(small, points(1213.25)).value == "+0.08 points"
    assert shown_difference(small, points(0.35)).value == "+0.0802 points"
