"""Suites on the command line: what they contain, what they cost, and their overall scores."""

from pathlib import Path

import pytest

from snellen import registry
from snellen.registry.suites import SUITES, members
from tests.test_cli.conftest import Snellen, written

SUITE = "suite:hallucination"
FIRST = ("-m", "baseline/first", "--data", "synthetic")


@pytest.mark.parametrize("name", [name for name, suite in SUITES.items() if suite.overall])
def test_every_score_of_a_suite_with_an_overall_score_is_a_share(name: str) -> None:
    suite = SUITES[name]
    assert {*suite.metrics} <= {*suite.benchmarks}
    for spec in suite.benchmarks:
        scorings = registry.benchmark(spec).scorings
        scoring, _, metric = suite.metrics.get(spec, "").rpartition(":")
        metrics = scorings[scoring or next(iter(scorings))].metrics
        measure = metrics[metric or next(iter(metrics))]
        assert getattr(measure, "unit", None) == "fraction", spec
        assert getattr(measure, "better", None) != "lower", spec


def test_sizes_are_those_of_the_options() -> None:
    sizes = {member.spec: member.size for member in members(["suite:core", "suite:math"])}
    assert sizes["mathvision:split=testmini"] == 304
    assert sizes["mathvision"] == 3040
    assert sizes["eyechart"] == 648
    assert sizes["mmbench"] is None


def test_an_alias_has_the_size_of_its_options(tmp_path: Path) -> None:
    suite = tmp_path / "theirs.toml"
    suite.write_text('benchmarks = ["HallusionBench", "OCRBench", "docvqa_test", "pope:sets=all"]')
    assert [member.size for member in members([f"suite:{suite}"])] == [951, 1000, 5188, 9000]


def test_a_suite_is_shown_with_sizes_and_proofs(snellen: Snellen) -> None:
    document = snellen("show", "suite:math", "--json").json
    assert document["benchmarks"][1] == {
        "name": "mathvision",
        "n": 3040,
        "kind": "mixed",
        "needs_judge": False,
        "proof": "published outputs",
        "score": None,
    }
    # 1,000 + 3,040 + 788 + 5,010 + 1,740
    assert document["size"] == "5 benchmarks, 11,578 questions"
    assert document["overall"]

    out = snellen("show", SUITE).out
    assert "vlmevalkit:average" in out
    assert "3 benchmarks, 10,251 questions" in out
    assert "snellen run -b suite:hallucination -m MODEL --estimate" in out


def test_a_suite_of_ones_own_is_shown_too(snellen: Snellen, tmp_path: Path) -> None:
    written(tmp_path / "mine.jsonl", "AAB")
    (tmp_path / "both.toml").write_text('benchmarks = ["mine.jsonl", "mmstar"]')

    document = snellen("show", "suite:both.toml", "--json").json
    assert [row["n"] for row in document["benchmarks"]] == [None, 1500]
    assert not document["overall"]
    assert document["size"] == (
        "2 benchmarks, 1,500 questions and those of mine.jsonl, whose number is not known here"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["suite:maths"], "Did you mean suite:math?"),
        (["suite:math", "--data", "synthetic"], "--data is only for benchmarks"),
    ],
)
def test_a_suite_that_cannot_be_shown_is_an_error(
    snellen: Snellen, arguments: list[str], message: str
) -> None:
    done = snellen("show", *arguments)
    assert done.code == 2
    assert message in done.err


def test_a_run_of_a_suite_states_its_size_first(snellen: Snellen) -> None:
    line = f"{SUITE}: 3 benchmarks, 10,251 questions, for each model"
    estimate = snellen("run", "-b", SUITE, *FIRST, "--estimate")
    assert estimate.err.splitlines()[0] == line
    assert estimate.out.splitlines()[-1].startswith("all ")

    done = snellen("run", "-b", SUITE, *FIRST)
    assert done.err.splitlines()[0] == f"{line}. To see the cost first, add --estimate"
    # The few bundled rows are complete, except for the replies that MMVP's judge must read.
    assert f"{SUITE}, baseline/first: no overall score, because 1 of 3 scores are missing" in (
        done.out
    )
    assert "mmvp: 8 replies are not judged. Run `snellen judge`" in done.out

    quiet = snellen("run", "-b", SUITE, *FIRST, "-q")
    assert SUITE not in quiet.err


def test_an_overall_score_is_shown_after_a_run_and_in_a_report(snellen: Snellen) -> None:
    """The spatial suite needs no judge. The mean is that of the values in the results."""
    run = ("run", "-b", "suite:spatial", *FIRST)
    documents = snellen(*run, "--json").json
    values = [
        next(iter(document["scorings"][document["headline"]]["metrics"].values()))["value"]
        for document in documents
    ]
    assert len(values) == 6
    line = f"suite:spatial, baseline/first: {100 * sum(values) / 6:.2f} %, the mean of 6 benchmarks"

    assert line in snellen(*run).out
    report = snellen("report", "runs", "--suite", "suite:spatial")
    assert line in report.out
    assert "mmsi-bench, omnispatial, all-angles: only the few bundled rows" in report.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--suite", "suite:quick"], "is not a suite with an overall score"),
        (["--suite", "suite:gone"], "is not a suite with an overall score"),
        (["--suite", SUITE, "--format", "md"], "--suite works only in the terminal"),
    ],
)
def test_a_report_refuses_a_suite_without_an_overall_score(
    snellen: Snellen, options: list[str], message: str
) -> None:
    snellen("run", "-b", "pope", *FIRST, "-q")
    done = snellen("report", "runs", *options)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""


def test_the_guide_lists_every_suite_with_its_benchmarks() -> None:
    guide = (Path(__file__).parents[2] / "docs/suites.md").read_text(encoding="utf-8")
    for name, suite in SUITES.items():
        [row] = [line for line in guide.splitlines() if line.startswith(f"| `suite:{name}` |")]
        listed = row.split("|")[3].replace("`", "").replace(" ", "").split(",")
        names = [spec.partition(":")[0] for spec in suite.benchmarks]
        assert [item.partition(":")[0] for item in listed] == names
