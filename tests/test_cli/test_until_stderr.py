"""Runs that stop once their headline is precise enough, asked over a socket."""

import json
import math
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from perf.until_stderr import CASES, simulate
from snellen import registry
from snellen.core.sample import Sample
from snellen.run.selection import chosen, select
from snellen.run.until_stderr import is_precise
from tests.servers import Answer, ReceivedRequest, completion, serving
from tests.test_cli.conftest import CommandResult, Snellen

N = 600


def is_right(number: int) -> bool:
    """Two thirds, and none of the first hundred, as in data that are sorted by difficulty."""
    return number >= 100 and random.Random(number).random() < 0.8


def number_in(request: ReceivedRequest) -> int:
    text: str = request.json["messages"][-1]["content"]
    return int(text.split("number ")[1].split("?")[0])


def answer(request: ReceivedRequest) -> Answer:
    number = number_in(request)
    return completion("yes" if is_right(number) else "no")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "sorted.jsonl"
    lines = [
        json.dumps({"id": f"q{n}", "question": f"Is it number {n}?", "answer": "yes"})
        for n in range(N)
    ]
    path.write_text("\n".join(lines))
    return path


def ask(
    snellen: Snellen, rows: Path, out: Path, *more: object, concurrency: int = 8
) -> tuple[CommandResult, list[int]]:
    """Run the questions; gives the result, and the numbers of the questions that were sent."""
    with serving(answer) as server:
        done = snellen(
            *("run", "-b", rows, "--task", "yesno", "-m", "openai/m", "--base-url", server.url),
            *("--out", out, "--concurrency", concurrency, *more),
        )
        return done, [number_in(request) for request in server.requests]


def report(out: Path) -> dict[str, Any]:
    (path,) = out.glob("*/*/*/report.json")
    document: dict[str, Any] = json.loads(path.read_bytes())
    return document


def headline(out: Path) -> dict[str, Any]:
    metric: dict[str, Any] = report(out)["scorings"]["default"]["metrics"]["accuracy"]
    return metric


def test_a_run_stops_once_the_standard_error_is_small_enough(
    snellen: Snellen, rows: Path, tmp_path: Path
) -> None:
    done, sent = ask(snellen, rows, tmp_path, "--until-stderr", "0.03")
    metric = headline(tmp_path)
    truth = sum(map(is_right, range(N))) / N
    assert done.code == 0, done.err
    assert 100 < len(sent) < N
    assert metric["n"] == len(sent)
    assert metric["stderr"] <= 0.03
    assert abs(metric["value"] - truth) < 4 * 0.03
    assert "the standard error of accuracy" in done.err
    assert "is at most 0.03, after" in done.err and f"of {N} questions" in done.err
    assert "the same command resumes" not in done.err
    (note,) = (note for note in report(tmp_path)["notes"] if "random order" in note)
    assert f"{len(sent)} of {N} questions" in note


def test_the_rows_are_a_random_sample_drawn_by_the_seed(
    snellen: Snellen, rows: Path, tmp_path: Path
) -> None:
    options = ("--until-stderr", "0.03")
    _, sent = ask(snellen, rows, tmp_path / "a", *options, concurrency=1)
    _, again = ask(snellen, rows, tmp_path / "b", *options, concurrency=1)
    _, other = ask(snellen, rows, tmp_path / "c", *options, "--sample-seed", "2", concurrency=1)
    assert sent == again
    assert sent[:50] != other[:50]
    assert sent[:50] != sorted(sent[:50])
    # The mean of a random sample of 0 to 599, within four standard errors of 299.5.
    assert abs(sum(sent) / len(sent) - (N - 1) / 2) < 4 * (N / math.sqrt(12 * len(sent)))


def test_the_same_command_asks_nothing_more_and_a_smaller_error_asks_on(
    snellen: Snellen, rows: Path, tmp_path: Path
) -> None:
    _, sent = ask(snellen, rows, tmp_path, "--until-stderr", "0.03", concurrency=1)
    same, more = ask(snellen, rows, tmp_path, "--until-stderr", "0.03", concurrency=1)
    assert (same.code, more) == (0, [])
    done, added = ask(snellen, rows, tmp_path, "--until-stderr", "0.025", concurrency=1)
    assert done.code == 0
    assert added and not set(added) & set(sent)
    assert headline(tmp_path)["n"] == len(sent) + len(added)


def test_an_interrupted_run_continues_its_random_order(
    snellen: Snellen, rows: Path, tmp_path: Path
) -> None:
    _, sent = ask(snellen, rows, tmp_path / "a", "--until-stderr", "0.03", concurrency=1)
    stop = ("--until-stderr", "0.03", "--max-requests", "60")
    first, begun = ask(snellen, rows, tmp_path / "b", *stop, concurrency=1)
    assert (first.code, begun) == (130, sent[:60])
    second, rest = ask(snellen, rows, tmp_path / "b", *stop[:2], concurrency=1)
    assert (second.code, begun + rest) == (0, sent)
    assert headline(tmp_path / "b") == headline(tmp_path / "a")


def test_if_all_rows_are_not_enough_the_exit_code_is_1_and_says_why(
    snellen: Snellen, rows: Path, tmp_path: Path
) -> None:
    done, sent = ask(snellen, rows, tmp_path, "--until-stderr", "0.001", "--limit", "130")
    assert (done.code, len(sent)) == (1, 130)
    assert "all 130 questions are asked, and the standard error of accuracy is" in done.err
    assert "at most 0.001 is required" in done.err


def test_replies_in_the_order_of_the_data_are_not_mixed_in(
    snellen: Snellen, rows: Path, tmp_path: Path
) -> None:
    ask(snellen, rows, tmp_path, "--limit", "20")
    refused, sent = ask(snellen, rows, tmp_path, "--until-stderr", "0.03")
    assert (refused.code, sent) == (2, [])
    assert "were not drawn in this random order" in refused.err
    run = next(tmp_path.glob("*/*/*/manifest.json")).parent
    done, sent = ask(
        snellen, rows, tmp_path / "other", "--until-stderr", "0.03", "--reuse", run, concurrency=1
    )
    assert done.code == 0
    assert not set(sent) & set(range(20))  # those that it needs are taken from there
    ask(snellen, rows, tmp_path / "other", "--limit", "40")
    notes = report(tmp_path / "other")["notes"]
    assert any("not a random sample" in note for note in notes)


def test_the_amount_is_not_part_of_the_identity(
    snellen: Snellen, rows: Path, tmp_path: Path
) -> None:
    ask(snellen, rows, tmp_path / "a", "--until-stderr", "0.03")
    ask(snellen, rows, tmp_path / "b", "--limit", "5")
    names = [path.parent.name for path in tmp_path.glob("*/*/*/*/manifest.json")]
    assert len(names) == 2 and len(set(names)) == 1


@pytest.mark.parametrize(
    ("spec", "more", "words"),
    [
        ("eyechart", ["--until-stderr", "0"], "'0' is not above 0"),
        ("eyechart", ["--until-stderr", "much"], "'much' is not a number"),
        ("mm-vet", ["--until-stderr", "0.01", "--data", "synthetic"], "verdicts of a judge"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(
    snellen: Snellen, tmp_path: Path, spec: str, more: Sequence[str], words: str
) -> None:
    done = snellen("run", "-b", spec, "-m", "baseline/first", "--out", tmp_path, *more)
    assert (done.code, words in done.err) == (2, True)


def test_groups_stay_together_in_the_random_order() -> None:
    """MMBench's rotations of a question are asked together, or the circular accuracy would lack
    some of them."""
    benchmark = registry.benchmark("mmbench", data=Path(registry.SYNTHETIC))
    total = benchmark.data.facts().rows
    selection = select(benchmark, total, limit=None, sample=None, seed=0, in_random_order=True)
    together = benchmark.procedure.together
    assert together is not None

    def of(sample: Sample) -> str:
        return together(sample)

    order = [of(benchmark.read(row)) for row in chosen(benchmark, selection)]
    assert len(order) == total
    changes = sum(first != second for first, second in pairwise(order))
    assert changes == len(set(order)) - 1


def test_a_hundred_equal_scores_do_not_end_a_run_that_wants_more() -> None:
    assert not is_precise(0.0, 100, 0.005)
    assert is_precise(0.0, 200, 0.005)
    assert not is_precise(0.0, 100, 0.5, scale=100.0)


@pytest.mark.parametrize("case", [CASES[0], CASES[2]], ids=lambda case: case.name)
def test_intervals_after_stopping_cover_the_truth(case: Any) -> None:
    """A small version of perf/until_stderr.py: 150 draws, so that 95 % is within 4 points or so."""
    figures = simulate(case, 150, 2_000, seed=3)
    assert figures.coverage > 0.9
    assert abs(figures.bias) < 0.5
