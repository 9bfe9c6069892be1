"""The n beside a headline: what the value is over, the same one everywhere it is shown."""

import csv
import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from snellen import api, report
from snellen.analysis.result import Counts, Result
from snellen.cli.json_output import results_as_json
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply, Request
from snellen.core.sample import Sample
from snellen.core.scoring import Scoring
from snellen.data import Row
from snellen.errors import Rejected
from snellen.metrics.circular import circular
from snellen.registry import benchmark as from_catalog
from snellen.registry import bundled
from snellen.view.pages import Pages
from tests import tiny
from tests.test_scoring import test_judge


class Case(NamedTuple):
    """An incomplete run: who is asked, how, and what its headline is over by hand."""

    benchmark: Callable[[Path], Benchmark]
    say: Callable[[Request], str | Reply]
    counts: Counts
    limit: int | None = None
    repeats: int = 1


def number(request: Request) -> int:
    return int(request.messages[0].text.split()[-1])


def right(_: Request) -> str:
    return "yes"


def three(_: Request) -> str:
    return "3"


def fails_every_fourth(request: Request) -> str:
    if number(request) % 4 == 0:
        raise Rejected("no")
    return "yes"


def refuses_every_fourth(request: Request) -> str | Reply:
    return Reply(text="", stop="filter") if number(request) % 4 == 0 else "yes"


def twelve(_: Path) -> Benchmark:
    return tiny.benchmark(12)


def two_passes(_: Path) -> Benchmark:
    """Six questions, each asked in two passes that count as one."""
    official = Scoring(
        version=1,
        source="ours",
        parse=tiny.parse,
        score=tiny.right,
        metrics={"accuracy": circular("pass")},
    )
    return tiny.benchmark(
        12,
        scorings={"official": official},
        cluster_by=lambda sample: str(sample.data["question"]),
        metric_tags=("pass",),
        sample=lambda place, row: replace(
            tiny.sample_of(place, row),
            tags={"kind": row["kind"], "pass": f"{place % 2 + 1} of 2"},
            data={"question": place // 2},
        ),
    )


def hides_a_third(_: Path) -> Benchmark:
    def sample(place: int, row: Row) -> Sample:
        target = None if place % 3 == 0 else row["a"]
        return replace(tiny.sample_of(place, row), target=target)

    return tiny.benchmark(12, sample=sample)


def mathvista(_: Path) -> Benchmark:
    return from_catalog("mathvista", data=bundled("mathvista"))


CASES = {
    "failed": Case(twelve, fails_every_fourth, Counts(9, 3, 0, 0, 0)),
    "refused": Case(twelve, refuses_every_fourth, Counts(12, 0, 0, 0, 0)),
    "not judged": Case(
        test_judge.benchmark,
        test_judge.openly,
        Counts(test_judge.N // 2, 0, test_judge.N // 2, 0, 0),
    ),
    # Of its 16 bundled rows 7 ask for a number, which the rules read; the rest wait for a judge.
    "extraction": Case(mathvista, three, Counts(7, 0, 9, 0, 0)),
    # Passes 0, 4, and 8 fail: each takes its question out.
    "circular": Case(two_passes, fails_every_fourth, Counts(3, 3, 0, 0, 0)),
    "hidden": Case(hides_a_third, right, Counts(8, 0, 0, 4, 0)),
    "limit": Case(twelve, fails_every_fourth, Counts(3, 2, 0, 0, 0), limit=5),
    "repeats": Case(twelve, fails_every_fourth, Counts(27, 9, 0, 0, 0), repeats=3),
}


def run(out: Path, case: Case, own: Benchmark, name: str) -> Result:
    finished = tiny.run(out, tiny.Says(case.say, name), own, limit=case.limit, repeats=case.repeats)
    return api.load_run(finished.run)


@pytest.mark.parametrize("kind", CASES)
def test_every_table_plot_and_page_has_the_n_that_the_value_is_over(
    kind: str, tmp_path: Path
) -> None:
    case = CASES[kind]
    own = case.benchmark(tmp_path)
    two = [run(tmp_path / "runs", case, own, name) for name in ("one", "other")]
    first, n = two[0], f"{case.counts.n:,}"

    assert first.counts == case.counts
    assert f"  n {n}" in str(first)
    assert right_aligned(report.as_text([first]), " n ") == n
    assert right_aligned(report.as_text(two), " n ") == n
    assert cells(report.markdown(two), "|", "n") == n
    assert in_html(report.html(two), "Headline metric of each run") == n
    assert f"<dt>n</dt><dd>{n}</dd>" in report.html([first])
    assert cells(report.latex(two), "&", "n") == n

    (row, *_) = csv.DictReader(io.StringIO(report.csv(two)))
    assert int(row["n"]) == case.counts.n
    assert (int(row["failed"]), int(row["not_judged"])) == case.counts[1:3]
    document = json.loads(results_as_json([first]))
    headline = next(iter(document["scorings"][document["headline"]]["metrics"].values()))
    assert headline["n"] == case.counts.n

    report.plot(two, tmp_path / "plot.svg", "svg")
    assert re.search(rf"<!-- n {n}\b", (tmp_path / "plot.svg").read_text())

    for path in (tmp_path / "runs").rglob("replies*.jsonl"):
        os.utime(path, (0, 0))  # what is new may still be written, where the system keeps no locks
    pages = Pages(tmp_path / "runs")
    try:
        assert in_html(pages.overview(), "Model") == n
        name = pages.runs.all()[0].name
        assert f"<dt>n</dt><dd>{n}</dd>" in pages.run_page(name)
    finally:
        pages.stop()


@pytest.mark.parametrize("kind", CASES)
def test_a_comparison_of_equals_has_the_n_of_each(kind: str, tmp_path: Path) -> None:
    case = CASES[kind]
    own = case.benchmark(tmp_path)
    three = [run(tmp_path / "runs", case, own, name) for name in ("one", "other", "third")]
    document = api.compare(*three, benchmark=own).comparisons

    pair = next(iter(document.comparisons[0].metrics.values()))
    assert (pair.a.n, pair.b.n, pair.difference.n) == (case.counts.n,) * 3
    (board,) = document.leaderboards
    assert [one.value.n for one in board.standings] == [case.counts.n] * 3
    assert f"n {case.counts.n:,}" in str(api.compare(*three, benchmark=own))


def right_aligned(text: str, heading: str) -> str:
    """The first cell under a right-aligned heading of a table for the terminal."""
    lines = text.splitlines()
    place = next(n for n, line in enumerate(lines) if heading in f"{line} " and "metric" in line)
    end = f"{lines[place]} ".index(heading) + len(heading) - 1
    return lines[place + 2][:end].split()[-1]


def cells(text: str, mark: str, heading: str) -> str:
    """The first cell under a heading of the first table whose cells are parted by a mark."""
    lines = [line.strip().removesuffix(r"\\").strip() for line in text.splitlines()]
    rows = [[cell.strip() for cell in line.split(mark)] for line in lines if mark in line]
    place = next(n for n, row in enumerate(rows) if heading in row)
    behind = (row for row in rows[place + 1 :] if not row[1].startswith("---"))
    return next(behind)[rows[place].index(heading)]


def in_html(page: str, caption: str) -> str:
    """The first cell under `n` of the table with a caption, or a heading."""
    table = page[page.index(caption) :].partition("</table>")[0]
    headings, _, body = table.partition("</thead>")
    names = [re.sub("<[^>]+>", "", one) for one in re.findall(r"<th\b.*?</th>", headings)]
    row = body.partition("<tr")[2].partition("</tr>")[0]
    texts = re.findall(r"<t([hd])\b[^>]*>(.*?)</t\1>", row, re.DOTALL)
    behind = len(names) - names.index("n")
    return re.sub("<[^>]+>", "", texts[len(texts) - behind][1]).split()[0]
