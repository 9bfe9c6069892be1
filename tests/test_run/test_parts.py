"""One run, asked in parts: every question in one part, and no question twice."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import snellen
from snellen.core.benchmark import vary
from snellen.core.profile import Profile
from snellen.errors import StoreError, UsageError
from snellen.registry import benchmark
from snellen.run.option_text import part
from snellen.run.outcome import SUMMED, continued, merge_progress
from snellen.run.parts import in_part, share
from snellen.run.progress import Progress
from snellen.run.selection import select
from snellen.store import Key, Run, RunPart
from tests.viewers import question

N = 23
ALONE = """
import sys, snellen
snellen.evaluate(sys.argv[1], "baseline/most-frequent", task="mcq", part=sys.argv[2])
"""


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return written(tmp_path / "mine.jsonl", [f"q{number}" for number in range(N)])


def written(path: Path, ids: list[str]) -> Path:
    lines = [
        {"id": name, "question": f"Which {number}?", "A": "x", "B": "y", "answer": "A"}
        for number, name in enumerate(ids)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


class Model:
    """Answers A, and counts how often it was asked each question."""

    revision = "1"

    def __init__(self) -> None:
        self.name = "counting"
        self.counts: Counter[str] = Counter()

    def generate(self, messages: object) -> str:
        text = str(messages)
        self.counts[text[text.index("Which") :].split("?")[0]] += 1
        return "A"


def ask(rows: Path, model: object, **options: object) -> snellen.Result:
    return snellen.evaluate(str(rows), model, task="mcq", **options)  # type: ignore[arg-type]


def only_run() -> Path:
    [manifest] = Path("runs").glob("*/*/*/manifest.json")
    return manifest.parent


def replies(run: Path) -> Counter[Key]:
    lines = [line for path in run.glob("replies*.jsonl") for line in path.read_text().splitlines()]
    return Counter(Key(*json.loads(line)["key"]) for line in lines)


@pytest.mark.parametrize("total", [1, 2, 3, 8, 40])
def test_each_row_is_in_one_part_and_parts_differ_by_at_most_one_row(
    rows: Path, total: int
) -> None:
    mine = benchmark(str(rows), task="mcq")
    everything = select(mine, N, limit=None, sample=None, seed=0)

    parts = [in_part(mine, everything, RunPart(number, total)) for number in range(1, total + 1)]

    places = [row for selection in parts for row in selection.places or ()]
    assert sorted(places) == [*range(N)]
    assert max(part.rows for part in parts) - min(part.rows for part in parts) <= 1


def test_samples_that_share_media_are_in_the_same_part_whatever_is_selected(rows: Path) -> None:
    mine = benchmark(str(rows), task="mcq")
    grouped = vary(mine, group_by=lambda sample: str(int(sample.id[1:]) // 4))
    everything = select(grouped, N, limit=None, sample=None, seed=0)
    first = select(grouped, N, limit=10, sample=None, seed=0)

    parts: list[frozenset[int]] = [
        in_part(grouped, everything, RunPart(number, 3)).places or frozenset()
        for number in (1, 2, 3)
    ]

    assert sorted(row for places in parts for row in places) == [*range(N)]
    for places in parts:
        assert {row // 4 for row in places}.isdisjoint(
            row // 4 for row in range(N) if row not in places
        )
    assert [in_part(grouped, first, RunPart(number, 3)).places for number in (1, 2, 3)] == [
        frozenset(row for row in places if row < 10) for places in parts
    ]


def test_shares_add_up_to_the_whole() -> None:
    for amount in (1, 7, 8, 9, 100):
        shares = [share(amount, RunPart(number, 8)) for number in range(1, 9)]
        assert sum(shares) == amount
        assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize("text", ["3", "0/8", "9/8", "1/0", "a/b", "1/8/2", "-1/8"])
def test_what_is_not_a_part_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="part"):
        part(text)


def test_parts_make_one_run_that_is_scored_like_a_run_of_one_process(rows: Path) -> None:
    model = Model()
    counts = [ask(rows, model, part=f"{number}/3").report.n for number in (1, 2, 3)]
    alone = ask(rows, Model(), out="alone")

    merged = snellen.load_run(only_run()).report
    assert counts == [8, 16, 23]
    assert merged.scorings == alone.report.scorings
    assert merged.identity == alone.report.identity
    assert set(model.counts.values()) == {1}


def test_another_number_of_parts_neither_loses_nor_repeats_a_question(rows: Path) -> None:
    model = Model()
    ask(rows, model, part="1/2")
    ask(rows, model, part="2/5")
    ask(rows, model, part="3/5", limit=9)
    for number in (1, 2, 3):
        ask(rows, model, part=f"{number}/3")
    ask(rows, model)

    assert len(model.counts) == N and set(model.counts.values()) == {1}
    assert set(replies(only_run()).values()) == {1}


def test_a_run_that_one_process_began_is_continued_in_parts(rows: Path) -> None:
    model = Model()
    ask(rows, model, limit=7)
    result = [ask(rows, model, part=part) for part in ("1/2", "2/2")][-1]

    assert result.report.n == N
    assert set(model.counts.values()) == {1}
    manifest = json.loads((only_run() / "manifest.json").read_text())
    assert manifest["format"] == 1 and len(manifest["sessions"]) == 1
    assert len(Run(only_run()).manifest()["sessions"]) == 3


def test_parts_that_begin_at_once_create_one_manifest(rows: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", ALONE, str(rows), f"{number}/4"])
        for number in range(1, 5)
    ]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]

    assert set(replies(only_run()).values()) == {1} and len(replies(only_run())) == N
    assert len(Run(only_run()).manifest()["sessions"]) == 4
    assert snellen.load_run(only_run()).report.n == N  # the last of them saw all replies


def test_processes_with_different_numbers_of_parts_exclude_each_other(rows: Path) -> None:
    ask(rows, Model(), part="1/4")
    run = Run(only_run())

    with run.part(2, 4).folder.lock():
        with run.part(3, 4).folder.lock():
            pass
        with (
            pytest.raises(StoreError, match=r"divide this run into 4 parts .* divides it into 3"),
            run.part(3, 3).folder.lock(),
        ):
            pass
        with pytest.raises(StoreError, match="is writing part 2"), run.part(2, 4).folder.lock():
            pass
        with pytest.raises(StoreError, match="is writing this run"), run.folder.lock():
            pass
    with run.part(3, 3).folder.lock():
        pass


def test_a_run_can_be_scored_while_its_parts_are_written(rows: Path) -> None:
    ask(rows, Model(), part="1/4")
    run = Run(only_run())
    with run.part(2, 4).folder.lock():
        assert snellen.score(only_run()).report.n == 6
        with run.folder.scores_lock(), pytest.raises(StoreError, match="the scores of this run"):
            snellen.score(only_run())
    with run.folder.lock(), pytest.raises(StoreError, match="is writing this run"):
        snellen.score(only_run())


def test_two_rows_with_the_same_id_in_different_parts_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ask(written(tmp_path / "mine.jsonl", ["a", "b", "c"]), Model(), part="1/2")
    for number, row_index in ((1, 7), (2, 5)):
        part = Run(only_run()).part(number, 2)
        part.append_question(question("same", row_index))
        part.close()
    with pytest.raises(StoreError, match=r"rows 6 and 8 .* same id 'same'"):
        snellen.score(only_run())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"until_stderr": 0.1}, "--until-stderr stops by the replies of the whole run"),
        ({"on_truncation": "raise:900"}, "Use --retry-truncated N instead"),
        ({"drivers": 2}, "Leave out --part"),
    ],
)
def test_what_needs_all_replies_does_not_work_with_parts(
    rows: Path, options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        ask(rows, Model(), part="1/2", **options)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("python:model.py:answer", {}, "use --replicas N"),
        ("hf/NAME", {}, "use --replicas N"),
        ("openai/m", {"serve": "vllm"}, "pass its address with --base-url"),
        ("openai/m", {"max_requests": 1}, "cannot be divided among 2 drivers"),
        ("openai/m", {"profile": Profile()}, "a profile in a file"),
    ],
)
def test_what_drivers_cannot_share_is_refused(
    rows: Path, model: str, options: dict[str, object], message: str
) -> None:
    Path("model.py").write_text("def answer(messages): return 'A'\n")
    with pytest.raises(UsageError, match=message):
        ask(rows, model, drivers=2, base_url="http://localhost:1/v1", **options)


def test_the_progress_of_parts_is_their_sum() -> None:
    parts = [
        Progress(name="b × m", total=10, kept=2, done=3, requests=4, notes=("x",), started=5.0),
        Progress(
            name="b × m", total=9, done=1, failed=1, requests=3, notes=("x", "y"), started=4.0
        ),
    ]
    total = Progress(name="")

    merge_progress(total, parts, are_all=True)

    assert (total.total, total.kept, total.done, total.failed, total.requests) == (19, 2, 4, 1, 7)
    assert total.notes == ("x", "y") and total.started == 4.0 and total.finished is None
    assert {*SUMMED} < {*vars(total)}


def test_replies_of_a_killed_process_count_as_done() -> None:
    before = Progress(name="", total=10, kept=1, done=4, requests=6, cost=0.5)
    after = Progress(name="", total=10, kept=5, done=5, requests=5, cost=0.25)

    both = continued(after, before)

    assert (both.kept, both.done, both.requests, both.cost) == (1, 9, 11, 0.75)
