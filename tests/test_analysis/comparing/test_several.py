"""More than two sides: standings, several benchmarks, several settings of one model."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from snellen.analysis.comparing import Comparisons, LoadedSide, RankFlip, verdict
from snellen.analysis.comparing.sides import in_order
from snellen.api import compare, evaluate
from snellen.core.benchmark import Benchmark, vary
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.errors import UsageError
from snellen.media.content import Message
from snellen.metrics import Category, Columns, macro_average, mean
from snellen.report import compared_text, print_swept
from snellen.scoring import ScoredRows
from snellen.stats import Estimate
from snellen.store import MANIFEST
from tests import tiny
from tests.test_analysis.comparing.test_compare import changed, run, with_metrics
from tests.tiny import benchmark, right

GOOD, FAIR, POOR = range(90), range(5, 90), range(30)
"""What three models have right of a hundred samples."""


def compared(*sides: Path, own: Benchmark | None = None) -> Comparisons:
    return compare(*sides, benchmark=own or benchmark(100)).comparisons


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    for name, which in (("poor", POOR), ("good", GOOD), ("fair", FAIR)):
        run(out, name, which, benchmark(100))
    return out


def test_all_runs_in_a_folder_are_compared_in_pairs_with_their_p_adjusted_over_all(
    three: Path,
) -> None:
    document = compared(three)

    # The order in which the runs started, not that of their names.
    assert [side.name for side in document.sides] == ["poor", "good", "fair"]
    assert [(pair.a, pair.b) for pair in document.comparisons] == [
        ("poor", "good"),
        ("poor", "fair"),
        ("good", "fair"),
    ]
    assert document.tests == 3
    ps = [pair.metrics["accuracy"].p or 0.0 for pair in document.comparisons]
    adjusted = [pair.metrics["accuracy"].adjusted or 0.0 for pair in document.comparisons]
    # Two are far from chance; the third and largest stays as it is.
    assert max(ps) == ps[2] == adjusted[2]
    assert adjusted[0] <= 3 * ps[0] + 1e-12 and adjusted[1] <= 3 * ps[1] + 1e-12


def test_without_details_pairs_have_their_first_metric_alone_and_the_same(three: Path) -> None:
    detailed = compared(three)
    quick = compare(three, benchmark=benchmark(100), details=False).comparisons

    assert quick.leaderboards == detailed.leaderboards
    assert [pair.metrics for pair in quick.comparisons] == [
        pair.metrics for pair in detailed.comparisons
    ]
    assert all(pair.breakdown for pair in detailed.comparisons)
    assert not any(pair.breakdown for pair in quick.comparisons)


def test_a_leaderboard_has_the_best_first_and_letters_for_those_that_do_not_differ(
    three: Path,
) -> None:
    (board,) = compared(three).leaderboards

    # good 90 of 100 and fair 85: of five that differ all are good's, for which t's p is 0.04.
    assert [
        (standing.name, standing.rank, standing.value.value) for standing in board.standings
    ] == [
        ("good", 1, 0.9),
        ("fair", 2, 0.85),
        ("poor", 3, 0.3),
    ]
    assert [standing.group for standing in board.standings] == ["a", "b", "c"]
    assert board.standings[2].ranks == (3, 3)


def test_sides_that_do_not_differ_share_a_letter_and_equal_values_a_rank(tmp_path: Path) -> None:
    for name, which in (("one", range(50)), ("other", range(48, 98)), ("more", range(49))):
        run(tmp_path, name, which, benchmark(100))
    (board,) = compared(tmp_path).leaderboards

    assert [(standing.name, standing.rank) for standing in board.standings] == [
        ("one", 1),
        ("other", 1),
        ("more", 3),
    ]
    assert {standing.group for standing in board.standings} == {"a"}


def test_a_model_that_says_the_same_each_time_ranks_with_itself_asked_once(tmp_path: Path) -> None:
    # Scores of 0.1 and 0.8, of which neither sums nor means are the same to the last digit.
    own = with_metrics(accuracy=mean)
    official = replace(
        own.scorings["official"], score=lambda reading, sample: 0.1 + 0.7 * right(reading, sample)
    )
    own = replace(own, scorings={"official": official})
    for folder, which, repeats in (("one", 9, 1), ("another", 20, 1), ("one again", 9, 3)):
        run(tmp_path / folder, folder.split()[0], range(which), own, repeats=repeats)
    folders = [tmp_path / folder for folder in ("one", "another", "one again")]
    document = compared(*folders, own=own)
    (board,) = document.leaderboards

    same = document.comparisons[1].metrics["accuracy"]  # the first and the third
    assert (same.difference.value, same.p) == (0, 1)
    assert same.difference.reason == "both sides are the same in every cluster"
    assert [(standing.rank, standing.ranks) for standing in board.standings] == [
        (1, (1, 1)),
        *[(2, (2, 2))] * 2,
    ]
    assert board.notes == []


@pytest.mark.parametrize(
    ("tag", "note"),
    [
        ("one", "rank intervals contain all ranks, since in many resamples a side has no value"),
        ("none", "good has no value: no question of it"),
    ],
)
def test_sides_without_a_value_have_no_standing_and_a_reason(
    tmp_path: Path, tag: str, note: str
) -> None:
    """In categories of two samples each, and of a metric that has no value."""

    def nothing(columns: Columns) -> Estimate:
        return Estimate(value=None, n=0, reason="no question of it")

    own = with_metrics(100, accuracy=macro_average("pair") if tag == "one" else nothing)
    own = vary(
        own,
        break_down_by=("pair",),
        sample=lambda index, row: replace(
            tiny.sample_of(index, row), tags={"kind": row["kind"], "pair": str(index // 2)}
        ),
    )
    for name, divisor in (("good", 5), ("fair", 3), ("poor", 2)):
        run(tmp_path, name, [n for n in range(100) if n % divisor], own)
    result = compare(tmp_path, benchmark=own)
    (board,) = result.comparisons.leaderboards

    assert note in board.notes
    assert {standing.ranks for standing in board.standings} == ({(1, 3)} if tag == "one" else set())
    assert "good" in str(result)


def test_letters_are_by_tests_adjusted_for_all_pairs(tmp_path: Path) -> None:
    # Each pair differs in five samples, or in five each way: t's p is 0.02 and 1, and Holm's of the
    # first two 0.07 and 0.05.
    for name, lacks in (("best", ()), ("one", range(5)), ("other", range(5, 10))):
        run(tmp_path, name, [n for n in range(100) if n not in lacks], benchmark(100))
    document = compared(tmp_path)

    ps = [pair.metrics["accuracy"].p or 0.0 for pair in document.comparisons]
    assert ps[0] < 0.05 and ps[1] < 0.05
    assert [standing.group for standing in document.leaderboards[0].standings] == ["a", "a", "a"]


def test_versions_of_the_data_are_no_settings_of_which_one_is_best(tmp_path: Path) -> None:
    run(tmp_path, "m", GOOD, benchmark(100))
    run(tmp_path, "m", FAIR, changed(benchmark(100), ["s0"], kind="c"))
    document = compared(tmp_path)

    assert [pair.samples for pair in document.comparisons] == [99]
    assert document.best_of == []


def test_categories_are_numbered_by_name_whatever_came_first() -> None:
    kind = Category(codes=np.array([0, 1, 2, 0], dtype=np.int32), names=("c", "a", "b"))
    none, no = np.full(4, None, dtype=object), np.zeros(4, dtype=np.bool_)
    columns = Columns(
        score=np.ones(4),
        cluster=np.arange(4, dtype=np.int32),
        tags={"kind": kind},
        answer=none,
        target=none,
        references=none,
        state=Category(codes=np.zeros(4, dtype=np.int32), names=("answered",)),
    )
    side = LoadedSide(
        benchmark=benchmark(4),
        scoring="official",
        model="m",
        where="m",
        identity={},
        replies={},
        ids=["s0", "s1", "s2", "s3"],
        digests=[None] * 4,
        sample=np.arange(4, dtype=np.int32),
        repeat=np.zeros(4, dtype=np.int32),
        rows=[ScoredRows(columns=columns, in_mean=~no, unknown=no, absent=no, refused=no)],
        leaves=None,
    )
    category = in_order(side).rows[0].columns.tags["kind"]

    assert category.names == ("a", "b", "c")
    assert category.codes.tolist() == [2, 0, 1, 2]


def test_the_first_one_named_comes_first_and_a_run_is_taken_once(three: Path) -> None:
    good = next(three.glob(f"tiny/good/*/{MANIFEST}")).parent
    document = compared(good, three)

    assert [side.name for side in document.sides] == ["good", "poor", "fair"]


def test_a_run_of_another_version_of_the_data_is_compared_on_what_is_the_same(
    three: Path, tmp_path: Path
) -> None:
    other = run(tmp_path, "other", GOOD, changed(benchmark(100), ["s0", "s1"], kind="c"))
    document = compared(three, other)
    (board,) = document.leaderboards

    assert board.samples == 98
    assert board.notes == ["2 samples left out: different data under the same id"]
    assert {pair.samples for pair in document.comparisons if "other" in (pair.a, pair.b)} == {98}


def test_a_run_that_shares_no_question_is_left_out_and_said(three: Path, tmp_path: Path) -> None:
    every = [f"s{n}" for n in range(100)]
    other = run(tmp_path, "other", GOOD, changed(benchmark(100), every, kind="c"))
    document = compared(three, other)

    assert [side.name for side in document.sides] == ["poor", "good", "fair"]
    assert f"{other} is not compared: no other side has the same questions" in document.notes


def test_groups_are_those_of_the_pairs_own_tests(tmp_path: Path) -> None:
    run(tmp_path, "a", range(100), benchmark(100))
    run(tmp_path, "b", range(90), benchmark(100))
    run(tmp_path, "c", range(30), benchmark(100), fails=range(90, 100))
    document = compared(tmp_path)
    (board,) = document.leaderboards

    # On the 90 samples that all have a and b are alike; on their own 100 they are not.
    assert board.samples == 90
    assert [(standing.name, standing.group) for standing in board.standings] == [
        ("a", "a"),
        ("b", "b"),
        ("c", "c"),
    ]


def test_groups_verdicts_and_tables_follow_the_p_value_adjusted_over_all_benchmarks(
    tmp_path: Path,
) -> None:
    own = [replace(benchmark(100), name=name) for name in ("one", "two")]
    for own_benchmark in own:
        run(tmp_path, "a", range(50, 100), own_benchmark)
        run(tmp_path, "b", range(45, 100), own_benchmark)
    document = compare(tmp_path, benchmark=own).comparisons
    (difference, *_) = document.comparisons[0].metrics.values()
    assert difference.p is not None and difference.adjusted is not None

    assert difference.p < 0.05 < difference.adjusted
    assert [standing.group for standing in document.leaderboards[0].standings] == ["a", "a"]
    assert f"not significant at 5 % (adjusted p {difference.adjusted:.4f}; p " in verdict(
        document.comparisons[0]
    )


def test_a_run_whose_counterpart_failed_throughout_is_not_said_to_be_the_only_one(
    three: Path, tmp_path: Path
) -> None:
    others = changed(benchmark(20), [f"s{n}" for n in range(20)], kind="c")
    good = run(tmp_path, "good", range(20), others)
    failed = run(tmp_path, "failed", range(20), others, fails=range(20))
    document = compared(three, tmp_path)

    why = "the other sides with the same questions have no sample that counts"
    assert f"{good} is not compared: {why}" in document.notes
    assert f"{failed} is not compared: none of its 20 samples counts" in document.notes


def test_sides_of_which_two_share_nothing_have_pairs_and_no_leaderboard(tmp_path: Path) -> None:
    first, last = [f"s{n}" for n in range(50)], [f"s{n}" for n in range(50, 100)]
    run(tmp_path, "m", GOOD, changed(benchmark(100), first, kind="c"))
    run(tmp_path, "m", FAIR, benchmark(100), temperature=0.5)
    run(tmp_path, "m", FAIR, changed(benchmark(100), last, kind="c"), temperature=0.7)
    document = compared(tmp_path)

    assert [pair.samples for pair in document.comparisons] == [50, 50]
    assert document.leaderboards == [] and document.best_of == []
    notes = "\n".join(document.notes)
    assert "share no sample that counts" in notes
    assert "tiny: no leaderboard, since no sample counts on all sides" in notes


def test_two_data_sets_of_one_benchmark_have_a_table_each(three: Path, tmp_path: Path) -> None:
    every = [f"s{n}" for n in range(100)]
    own = changed(benchmark(100, options={"lang": "cn"}), every, kind="c")
    for name, which in (("good", POOR), ("poor", GOOD)):
        run(tmp_path, name, which, own)
    document = compared(three, tmp_path)

    assert {side.benchmark for side in document.sides} == {"tiny", "tiny:lang=cn"}
    assert [board.standings[0].name for board in document.leaderboards] == ["good", "poor"]
    assert document.tests == 4  # three pairs and one


def test_what_is_so_of_two_data_sets_is_said_once(tmp_path: Path) -> None:
    every = [f"s{n}" for n in range(100)]
    for own in (benchmark(100), changed(benchmark(100), every, kind="c")):
        for name, which in (("good", GOOD), ("poor", POOR)):
            run(tmp_path, name, which, own, limit=50)
    document = compared(tmp_path)
    assert len(document.leaderboards) == 2
    # `changed` is not part of the benchmark that scores: it makes the rows of the second set.
    order, partial, source = document.notes
    assert order.endswith("in the order in which they started; the oldest is good")
    assert partial == "partial: 50 of 100"
    assert source.endswith("as it is now. It has changed since the run was made")


def test_a_run_that_failed_throughout_is_left_out_and_said(three: Path, tmp_path: Path) -> None:
    dead = run(tmp_path, "dead", (), benchmark(100), fails=range(100))
    document = compared(three, dead)

    assert [standing.name for standing in document.leaderboards[0].standings] == [
        "good",
        "fair",
        "poor",
    ]
    assert f"{dead} is not compared: none of its 100 samples counts" in document.notes


def test_one_broken_run_among_others_is_left_out_and_said(three: Path, tmp_path: Path) -> None:
    broken = tmp_path / "tiny/broken/0"
    broken.mkdir(parents=True)
    (broken / MANIFEST).write_text("{")
    document = compared(three, tmp_path)

    assert len(document.sides) == 3
    assert any(f"left out: {broken}" in note for note in document.notes)


def test_runs_of_one_model_are_told_apart_by_their_settings(tmp_path: Path) -> None:
    run(tmp_path, "m", POOR, benchmark(100), temperature=0.0)
    run(tmp_path, "m", GOOD, benchmark(100), temperature=0.5)
    run(tmp_path, "n", FAIR, benchmark(100), temperature=0.5)
    document = compared(tmp_path)

    assert {side.name for side in document.sides} == {
        "m (temperature=0.0)",
        "m (temperature=0.5)",
        "n",
    }


def test_the_best_of_several_settings_stands_beside_what_choosing_it_gives(
    tmp_path: Path,
) -> None:
    for n in range(4):
        run(tmp_path, "m", range(n, n + 50), benchmark(100), temperature=n / 10)
    document = compared(tmp_path)
    (best,) = document.best_of

    # Each has 50 of 100, so the best is no better than any, and neither is choosing it.
    assert best.model == "m" and len(best.values) == 4
    assert {metric.value for metric in best.values.values()} == {0.5}
    assert best.spread == 0
    assert best.held_out.value is not None and best.held_out.value < 0.5
    assert "best of 4 settings" in str(compare(tmp_path, benchmark=benchmark(100)))


def test_questions_in_another_language_are_no_setting_of_which_one_is_best(tmp_path: Path) -> None:
    def in_german(row_index: int, row: Row) -> Sample:
        return replace(tiny.sample_of(row_index, row), question=row["q"].replace("q", "Q"))

    run(tmp_path, "m", range(80), benchmark(100), temperature=0.0)
    run(tmp_path, "m", range(60), benchmark(100), temperature=0.5)
    run(tmp_path, "m", range(99), benchmark(100, sample=in_german), temperature=1.0)
    document = compared(tmp_path)
    (best,) = document.best_of
    cold, warm, german = (side.name for side in document.sides)

    assert (best.best, [*best.values]) == (cold, [cold, warm])
    assert (
        f"tiny: the questions of {german} are not those of {cold}. A difference may be due to the "
        "questions and not to the models"
    ) in document.notes


class Checkpoint:
    """A model of a training, with the first `right` of 100 samples right."""

    name = "mine"

    def __init__(self, step: int, right: int) -> None:
        self.revision = f"step-{step}"
        self._right = right

    def generate(self, messages: Sequence[Message]) -> str:
        return "yes" if int(messages[-1].text.split()[-1]) < self._right else "no"


def test_runs_that_differ_in_the_revision_alone_are_checkpoints(tmp_path: Path) -> None:
    own = benchmark(100)
    runs = [
        evaluate(own, Checkpoint(step, right), out=tmp_path)
        for step, right in ((1, 30), (2, 60), (3, 90))
    ]
    text = compared_text(compare(*runs, benchmark=own).comparisons)
    assert "by checkpoint\n tiny: mine, best of 3 checkpoints: " in text
    assert "setting" not in text


def test_models_that_change_places_between_settings_are_named(tmp_path: Path) -> None:
    for name, cold, warm in (("m", POOR, GOOD), ("n", FAIR, range(40))):
        run(tmp_path, name, cold, benchmark(100), temperature=0.0)
        run(tmp_path, name, warm, benchmark(100), temperature=0.5)

    assert compared(tmp_path).rank_flips == [
        RankFlip(
            benchmark="tiny",
            models=("m", "n"),
            first_above=["temperature=0.5"],
            second_above=["temperature=0.0"],
            significant=True,
        )
    ]


def test_the_order_of_models_is_unknown_if_one_lacks_a_setting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for temperature in (0.0, 0.5):
        run(tmp_path, "m", GOOD, benchmark(100), temperature=temperature)
        run(tmp_path, "n", POOR, benchmark(100), temperature=temperature)
    same = "the order of the models is the same in all settings"
    print_swept(compared(tmp_path))
    assert same in capsys.readouterr().out

    run(tmp_path, "m", GOOD, benchmark(100), temperature=1.0)
    print_swept(compared(tmp_path))
    assert same not in capsys.readouterr().out


def test_settings_without_common_samples_have_no_values_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each pair shares samples that all three do not."""
    for n in range(3):
        fails = range(n * 30, 30 + n * 30 + 10 * (n == 2))
        run(tmp_path, "m", GOOD, benchmark(100), fails=fails, temperature=n / 10)
    document = compared(tmp_path)

    assert document.leaderboards == []
    assert [pair.samples for pair in document.comparisons] == [40, 30, 30]
    print_swept(document)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[2] for line in lines if line.startswith(" temperature=")] == ["-"] * 3


def test_runs_without_a_reply_are_left_out(three: Path, tmp_path: Path) -> None:
    empty = tmp_path / "tiny/empty/0"
    empty.mkdir(parents=True)
    good = next(three.glob(f"tiny/good/*/{MANIFEST}"))
    (empty / MANIFEST).write_bytes(good.read_bytes())

    assert any("has no reply yet" in note for note in compared(three, tmp_path).notes)
    with pytest.raises(UsageError, match="has no reply yet"):
        compared(good.parent, empty)


def test_a_folder_whose_name_is_no_utf8_can_be_written_down(three: Path, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"ru\xffns")
    shutil.copytree(three, odd)
    document = compare(odd, benchmark=benchmark(100))

    assert "ru?ns" in document.json()
    assert len(document.comparisons.sides) == 3
