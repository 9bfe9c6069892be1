"""Run folders of commit 56a9bc9, one of each kind, are opened, resumed, and scored as that commit
did. `tests/data/old-runs/README.md` says how they were written; they are never written anew."""

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.stores import Bucket
from tests.test_cli.conftest import Snellen, snellen

__all__ = ["snellen"]
STORED = Path(__file__).parent / "data" / "old-runs"
EXPECTED = json.loads((STORED / "expected.json").read_text())
RUNS: dict[str, dict[str, Any]] = EXPECTED["runs"]
COMPARISONS: dict[str, Any] = EXPECTED["comparisons"]
COMMANDS = [
    (name, command.split()[1:])
    for name, command in (
        line.split("\t") for line in (STORED / "commands.txt").read_text().splitlines()
    )
]
ASKING = {name: arguments for name, arguments in COMMANDS if arguments[0] == "run"}
WORDING = {"notes", "reason"}
"""Text that may be written better."""
TIMING = {"spent", "seconds"}
"""What depends on the machine."""
RULES = {"version"}
"""The versions of the scorings' rules, which are raised when scores of other replies move."""


@pytest.fixture(autouse=True)
def folder(snellen: Snellen, tmp_path: Path) -> Path:
    """The current folder, with the runs and all that their commands read."""
    return Path(shutil.copytree(STORED, tmp_path, dirs_exist_ok=True))


def values(document: Any, path: tuple[str | int, ...] = ()) -> dict[tuple[str | int, ...], Any]:
    """Each value of a JSON document by its path, apart from wording, timing, and versions of
    rules."""
    if isinstance(document, dict):
        items: list[tuple[str | int, Any]] = [
            (key, value) for key, value in document.items() if key not in WORDING | TIMING | RULES
        ]
    elif isinstance(document, list):
        items = list(enumerate(document))
    else:
        return {path: document}
    return {
        inner: leaf for key, value in items for inner, leaf in values(value, (*path, key)).items()
    }


def assert_has(actual: Any, expected: Any) -> None:
    """All values of `expected` are in `actual`, which may have more."""
    wanted, present = values(expected), values(actual)
    assert {path: present.get(path, "absent") for path in wanted} == wanted


@pytest.mark.parametrize("name", RUNS)
def test_the_stored_report_shows_the_numbers_of_56a9bc9(snellen: Snellen, name: str) -> None:
    shown = snellen("report", RUNS[name]["run"], "--json")

    assert shown.code == 0, shown.err
    assert_has(shown.json, RUNS[name]["score"])


@pytest.mark.parametrize("name", RUNS)
def test_scoring_again_gives_the_numbers_of_56a9bc9(snellen: Snellen, name: str) -> None:
    scored = snellen("score", RUNS[name]["run"], "--json")

    assert scored.code == 0, scored.err
    assert_has(scored.json, RUNS[name]["score"])


@pytest.mark.parametrize("name", sorted(ASKING.keys() - {"class", "replicas", "repeats", "store"}))
def test_the_same_command_asks_nothing_again(snellen: Snellen, name: str) -> None:
    before = journal(name)

    done = snellen(*ASKING[name])

    assert done.code == 0, done.err
    assert attempts_since(before) == []
    assert_has(done.json, RUNS[name]["score"])


def test_the_same_command_asks_only_the_failed_question_again(snellen: Snellen) -> None:
    before = journal("repeats")

    done = snellen(*ASKING["repeats"])

    assert done.code == 1, "it fails again"
    assert [(line["key"], line["state"]) for line in attempts_since(before)] == [
        (["s5", 2, 0], "failed")
    ]
    assert_has(done.json, RUNS["repeats"]["score"])


@pytest.mark.parametrize("name", sorted(ASKING.keys() - {"replicas", "store"}))
def test_requests_are_the_same_so_that_their_replies_can_be_reused(
    snellen: Snellen, name: str
) -> None:
    old = RUNS[name]["run"]
    index = ASKING[name].index("--out") + 1
    command = [*ASKING[name][:index], "again", *ASKING[name][index + 1 :]]

    done = snellen(*command, "--reuse", old)

    new = done.json["run"]
    assert new.startswith("again/")
    assert {key: reply["request"] for key, reply in replies(new).items()} == {
        key: reply["request"] for key, reply in replies(old).items()
    }
    if name != "online":  # what is said in a session is not reused
        answered = [reply for reply in replies(new).values() if reply["state"] == "ok"]
        assert {reply.get("reused") for reply in answered} == {old}


@pytest.mark.skipif(find_spec("ray") is None, reason="needs ray, of constraints-heavy.txt")
def test_a_run_of_replicas_asks_nothing_again() -> None:
    before = journal("replicas")
    # Ray reads once in a process whether clusters ask for a token, and other tests set that.
    command = [sys.executable, "-m", "snellen", *ASKING["replicas"]]

    done = subprocess.run(command, capture_output=True, text=True, timeout=120)

    assert done.returncode == 0, done.stderr
    assert attempts_since(before) == []
    assert_has(json.loads(done.stdout), RUNS["replicas"]["score"])


def test_a_run_of_replicas_goes_on_without_them(snellen: Snellen) -> None:
    before = journal("replicas")
    index = ASKING["replicas"].index("--replicas")
    command = [*ASKING["replicas"][:index], *ASKING["replicas"][index + 2 :]]

    done = snellen(*command)

    assert done.code == 0, done.err
    assert attempts_since(before) == []
    assert_has(done.json, RUNS["replicas"]["score"])


def test_a_run_on_an_object_store_asks_nothing_again_there(
    snellen: Snellen, folder: Path, bucket: Bucket
) -> None:
    stored = (folder / RUNS["store"]["run"]).iterdir()
    for path in stored:
        bucket.put(path.relative_to(folder).as_posix(), path.read_bytes())
    before = {key: bucket.get(key) for key in bucket.objects() if is_journal(Path(key))}
    command = [word.replace("s3://old-runs", bucket.url) for word in ASKING["store"]]

    done = snellen(*command)

    assert done.code == 0, done.err
    assert {key: bucket.get(key) for key in bucket.objects() if is_journal(Path(key))} == before
    run = f"{bucket.url}/{RUNS['store']['run']}"
    assert done.json["run"] == run
    assert_has({**done.json, "run": RUNS["store"]["run"]}, RUNS["store"]["score"])
    assert_has(
        {**snellen("score", run, "--json").json, "run": RUNS["store"]["run"]},
        RUNS["store"]["score"],
    )


def test_a_set_of_vlmevalkit_is_another_run_since_asks_rose(snellen: Snellen) -> None:
    """`asks` of these sets is 2 since 56a9bc9: an old reply may have been to a picture's address
    as text (changelog/9.pictures.md). The old folder stays as it is."""
    before = journal("class")

    done = snellen(*ASKING["class"])

    assert done.code == 0, done.err
    assert done.json["run"] != RUNS["class"]["run"]
    assert done.json["identity"]["asks"] == 2
    # The version is 2 since a figure needs every reply (changelog/14.vlmevalkit-own.md).
    old = RUNS["class"]["score"]["scorings"]["evaluate"]
    assert done.json["scorings"] == {"evaluate": {**old, "version": 2}}
    after = journal("class")
    assert {path: after[path] for path in before} == before


def test_the_same_judge_is_asked_nothing_again(snellen: Snellen) -> None:
    before = journal("judge")
    (command,) = (arguments for _, arguments in COMMANDS if arguments[0] == "judge")

    done = snellen(*command)

    assert done.code == 0, done.err
    assert attempts_since(before) == []
    assert_has(done.json, RUNS["judge"]["score"])


@pytest.mark.parametrize("pair", COMPARISONS)
def test_a_comparison_has_the_numbers_of_56a9bc9(snellen: Snellen, pair: str) -> None:
    compared = snellen("compare", *(RUNS[name]["run"] for name in pair.split()), "--json")

    assert compared.code == 0, compared.err
    assert_has(compared.json, COMPARISONS[pair])


@pytest.mark.parametrize("form", ["terminal", "md", "html", "latex", "csv"])
def test_reports_of_all_runs_are_written(snellen: Snellen, form: str) -> None:
    written = snellen("report", "runs", "--format", form, "-o", f"report.{form}")

    assert written.code == 0, written.err
    assert Path(f"report.{form}").stat().st_size > 0


@pytest.mark.parametrize("name", RUNS)
def test_replies_are_exported(snellen: Snellen, name: str) -> None:
    exported = snellen("export", RUNS[name]["run"], "--to", "jsonl", "-o", "replies.jsonl")

    assert exported.code == 0, exported.err
    repeats = json.loads(Path(RUNS[name]["run"], "manifest.json").read_text())["repeats"]
    lines = Path("replies.jsonl").read_text().splitlines()
    assert len(lines) == RUNS[name]["score"]["n"] / repeats


def is_journal(path: Path) -> bool:
    return path.name.startswith(("questions", "replies", "events")) and path.suffix == ".jsonl"


def journal(name: str) -> dict[Path, bytes]:
    """The bytes of a run's questions, replies, and events, those of its judge too."""
    return {
        path: path.read_bytes()
        for path in sorted(Path("runs", name).rglob("*.jsonl"))
        if is_journal(path)
    }


def replies(run: str) -> dict[tuple[str | int, ...], Any]:
    """The last attempt at each question of a run, by its key."""
    lines = map(json.loads, Path(run, "replies.jsonl").read_text().splitlines())
    return {tuple(line["key"]): line for line in lines if line["kind"] == "reply"}


def attempts_since(before: dict[Path, bytes]) -> list[Any]:
    """The attempts that were appended to a journal since, and nothing else but the lines of kind
    `end` that later code writes where a conversation is over (changelog/9.pictures.md)."""
    new = []
    for path, start in before.items():
        text = path.read_bytes()
        assert text.startswith(start), path
        new += [json.loads(line) for line in text.removeprefix(start).splitlines()]
    return [line for line in new if line.get("kind") != "end"]
