import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from snellen import api, registry, stats
from snellen.cli.power import command
from snellen.errors import UsageError


def rows(path: Path, *, pictures: int, per_picture: int, hidden: int = 0) -> Path:
    """Two-choice questions, `per_picture` about each picture, some without an answer."""
    lines = []
    for n in range(pictures * per_picture + hidden):
        row = {"id": str(n), "question": "Which?", "A": "this", "B": "that", "answer": "A"}
        if n >= pictures * per_picture:
            del row["answer"]
        row["image"] = f"{n // per_picture}.png"
        lines.append(json.dumps(row))
    path.write_text("\n".join(lines) + "\n")
    return path


def output(*args: object) -> str:
    result = CliRunner().invoke(command, [str(arg) for arg in args], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.stdout


def test_clusters_cost_their_design_effect(tmp_path: Path) -> None:
    benchmark = registry.benchmark(str(rows(tmp_path / "own.jsonl", pictures=40, per_picture=5)))
    result = api.power(benchmark, disagree=[0.3], icc=0.25, difference=0.1)
    # 1 + (5 - 1) 0.25 = 2: two hundred samples are worth a hundred
    assert (result.samples, result.clusters, result.design_effect) == (200, 40, 2.0)
    (row,) = result.rows
    assert row.stderr == pytest.approx(math.sqrt(0.3 / 100))
    assert row.smallest == stats.detectable_share(100, 0.3)
    needed = stats.needed_pairs(0.1, 0.3)
    assert needed is not None and row.samples_needed == math.ceil(2 * needed)
    assert row.clusters_needed == math.ceil(row.samples_needed / 5)


def test_as_many_clusters_are_needed_as_have_a_test(tmp_path: Path) -> None:
    benchmark = registry.benchmark(str(rows(tmp_path / "own.jsonl", pictures=40, per_picture=5)))
    (row,) = api.power(benchmark, disagree=[0.5], difference=0.5).rows
    needed = stats.needed_pairs(0.5, 0.5)
    # Fewer than three pictures would have enough questions; ten, of five each, have an interval.
    assert needed is not None and needed < 15
    assert (row.samples_needed, row.clusters_needed) == (50, 10)


def test_clusters_of_different_sizes_count_by_what_a_sample_sees(tmp_path: Path) -> None:
    path = rows(tmp_path / "own.jsonl", pictures=2, per_picture=4)
    benchmark = registry.benchmark(str(path))
    # of the first five rows four share a picture and one has its own: (16 + 1) / 5
    assert api.power(benchmark, limit=5).cluster_size == pytest.approx(3.4)


def test_hidden_answers_tell_nothing_and_are_counted_apart(tmp_path: Path) -> None:
    path = rows(tmp_path / "own.jsonl", pictures=12, per_picture=1, hidden=3)
    result = api.power(registry.benchmark(str(path)))
    assert (result.samples, result.hidden, result.clusters) == (12, 3, 12)
    assert "3 more samples have a hidden answer and are not counted" in result.notes


def test_where_all_answers_are_hidden_there_is_nothing_to_find() -> None:
    benchmark = registry.benchmark("docvqa:split=test", data=Path(registry.SYNTHETIC))
    with pytest.raises(UsageError, match="answers to all 3 samples are hidden"):
        api.power(benchmark)


def test_below_ten_clusters_no_difference_is_found(tmp_path: Path) -> None:
    benchmark = registry.benchmark(str(rows(tmp_path / "own.jsonl", pictures=9, per_picture=50)))
    result = api.power(benchmark)
    assert all(row.smallest is None for row in result.rows)
    assert any("9 independent clusters" in note for note in result.notes)


def test_models_that_are_mostly_right_cannot_disagree_often() -> None:
    benchmark = registry.benchmark("eyechart")
    assert max(row.disagree for row in api.power(benchmark, accuracy=0.97).rows) < 0.06
    with pytest.raises(UsageError, match="can disagree on at most 6 %"):
        api.power(benchmark, accuracy=0.97, disagree=[0.2])


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--accuracy", "1.5"),
        ("--power", "0"),
        ("--level", "nan"),
        ("--disagree", "-0.1"),
        ("--difference", "inf"),
        ("--icc", "1.1"),
        ("--power", "0.01"),
    ],
)
def test_what_is_no_share_is_named(option: str, value: str) -> None:
    with pytest.raises(UsageError, match=option.removeprefix("--")):
        output("eyechart", option, value)


def test_two_runs_give_their_own_standard_error(tmp_path: Path) -> None:
    for model in ("baseline/reader", "baseline/first"):
        api.run_plan(
            api.Plan(
                benchmarks=[registry.benchmark("eyechart")], models=[model], out=tmp_path, limit=60
            )
        )
    run_a, run_b = sorted(path.parent for path in tmp_path.glob("*/*/*/manifest.json"))
    (compared,) = api.compare(run_a, run_b).comparisons.comparisons
    paired = compared.metrics["accuracy"].difference
    assert paired.stderr is not None
    document = json.loads(output("eyechart", "--from", run_a, run_b, "--difference", 0.1, "--json"))
    seen = document["observed"]
    assert (seen["samples"], seen["stderr"], document["rows"]) == (60, paired.stderr, [])
    assert seen["smallest"] == pytest.approx(stats.detectable(paired.stderr))
    # 648 charts: the standard error shrinks with the root of their number
    assert seen["smallest_of_all"] == pytest.approx(seen["smallest"] * math.sqrt(60 / 648))
    assert seen["samples_needed"] == math.ceil(60 * (seen["smallest"] / 0.1) ** 2)
    with pytest.raises(UsageError, match="is a run of eyechart, not of mmbench"):
        output("mmbench", "--data", "synthetic", "--from", run_a, run_b)


def test_the_table_says_what_no_disagreement_can_show(tmp_path: Path) -> None:
    path = rows(tmp_path / "own.jsonl", pictures=20, per_picture=2)
    shown = output(path, "--disagree", 0.02, "--disagree", 0.4, "--difference", 0.05, "--icc", 0.5)
    lines = shown.splitlines()
    assert lines[0].endswith(
        "40 samples in 20 clusters, equivalent to 27 independent samples (design effect 1.50)"
    )
    assert lines[3].split("  ")[-2:] == ["samples for 5.00 pp", "clusters"]
    assert lines[4].split()[-3:] == ["none", "none", "none"]
    assert "none: not detectable, even if one model is right wherever the two disagree" in lines
