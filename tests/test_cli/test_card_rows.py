"""snellen card: which rows count, and what a card says about its data and its replies."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gap_cases import GapCase, rule, write_recipe, write_rows
from tests.servers import completion, serving, status
from tests.test_cli.conftest import CommandResult, Snellen, copied_rows

CASE = GapCase(seed=3, kind="single", fields=("max_tokens", "top_p"), effects={"max_tokens": 0.37})
MMSTAR = """\
family = "Mine"
evidence = "maker-card"
source = "me/mine@0123abc:README.md"
figures = [
  { data_set = "mmstar", benchmark = "MMStar", value = 60.7, checkpoint = "M", source = "me" },
]

[prompts]
letter = "{{ images | join }}{{ question }} Answer with a letter."

[[asks]]
data_sets = ["mmstar"]
prompt = "letter"
"""
Command = Callable[..., CommandResult]


def at(server: Any) -> tuple[str, ...]:
    return ("-m", "openai/M", "--base-url", server.url, "-q")


def test_a_card_of_the_first_rows_counts_only_these_after_a_search_asked_others(
    snellen: Snellen,
) -> None:
    rows = Path("rows.jsonl").resolve()
    write_rows(rows)
    recipe = rows.with_name("stand-in.toml")
    write_recipe(recipe, rows, CASE.fields)
    with serving(rule(CASE)) as server:
        words = ("card", recipe, *at(server), "--json")
        before = snellen(*words, "--limit", "60").json
        explained = snellen(*words, "--explain-gap", "--budget", "400").json
        after = snellen(*words, "--limit", "60").json
    assert after == before
    [line] = after["rows"]
    assert line["by_recipe"]["n"] == line["official"]["n"] == 60
    assert line["paired"]["difference"]["n"] == 60
    listed = snellen("compare", Path("runs"), "--json").json
    assert len(listed["sides"]) == 2  # the runs that exchange fields are left out
    [line], [gap] = explained["rows"], explained["gaps"]
    assert all(Path(path, "manifest.json").exists() for path in gap["runs"].values())
    assert line["by_recipe"]["n"] == line["paired"]["difference"]["n"] == gap["questions"] == 100


@pytest.fixture
def mmstar(snellen: Snellen, tmp_path: Path) -> Command:
    """`mmstar("**B**")`: the card of a model that always answers this, on a file with the name of
    the published file."""
    recipe = tmp_path / "mine.toml"
    recipe.write_text(MMSTAR)
    data = copied_rows(tmp_path / "data", "vlmevalkit")

    def call(reply: str, *words: str | Path) -> CommandResult:
        with serving(completion(reply)) as server:
            return snellen("card", recipe, *at(server), "--data", data, *words)

    return call


def test_every_form_of_a_card_says_that_its_data_are_not_the_published_file(
    mmstar: Command,
) -> None:
    [line] = mmstar("A", "--json").json["rows"]
    warning = line["notes"][0]
    assert "MMStar.tsv is not the published MMStar.tsv: its MD5 is" in warning
    assert warning in line["report_notes"]["by_recipe"]
    shown = mmstar("A").out
    assert "is not the published MMStar.tsv" in " ".join(shown.split())
    for ending in ("md", "html", "tex"):
        mmstar("A", "-o", f"card.{ending}")
        assert "is not the published MMStar.tsv" in Path(f"card.{ending}").read_text()


def test_a_card_says_how_many_replies_the_scoring_does_not_parse(mmstar: Command) -> None:
    [line] = mmstar("**B**", "--json").json["rows"]
    assert (
        "unparsed by the scoring official: 8 of 8 (recipe) and 8 of 8 (official) replies, which "
        "count as wrong. `snellen view` shows them" in line["notes"]
    )
    [line] = mmstar("B", "--json", "--out", "letters").json["rows"]
    assert not any("unparsed" in note for note in line["notes"])


def test_bundled_rows_give_no_difference_from_a_published_figure(
    snellen: Snellen, mmstar: Command
) -> None:
    with serving(completion("A")) as server:
        words = ("card", Path("mine.toml"), *at(server), "--data", "synthetic")
        [line] = snellen(*words, "--json").json["rows"]
        shown = snellen(*words).out
    assert "difference" not in line
    assert "the data are the few bundled rows, so the score is not a result" in line["notes"]
    assert "no difference: the bundled rows are not the published benchmark" in line["notes"]
    assert "[1] the data are the few bundled rows" in shown


def test_a_benchmark_that_cannot_read_the_data_does_not_end_the_card(
    snellen: Snellen, tmp_path: Path
) -> None:
    recipe = tmp_path / "two.toml"
    recipe.write_text(MMSTAR.replace('["mmstar"]', '["mmstar", "mmmu_val"]'))
    data = copied_rows(tmp_path / "data", "vlmevalkit") / "MMStar.tsv"
    with serving(completion("A")) as server:
        done = snellen("card", recipe, *at(server), "--data", data, "--json")
    rows = {line["data_set"]: line for line in done.json["rows"]}
    assert "cannot be read: no field 'id'. It has the fields index," in rows["mmmu_val"]["reason"]
    assert rows["mmstar"]["by_recipe"]["n"] == 8
    assert done.code == 1
    assert "not run, because the data are missing or cannot be read: mmmu_val." in done.err


def test_a_card_without_any_data_lists_the_benchmarks_that_have_none(
    snellen: Snellen, tmp_path: Path
) -> None:
    recipe = tmp_path / "two.toml"
    recipe.write_text(MMSTAR.replace('["mmstar"]', '["mmstar", "mmmu_val"]'))
    done = snellen("card", recipe, "-m", "baseline/first", "-q")
    assert done.code == 2
    assert "the data of 2 benchmarks are missing or cannot be read: mmstar, mmmu_val." in done.err
    assert "snellen data get" in done.err


def test_a_card_says_why_questions_have_no_reply(snellen: Snellen, mmstar: Command) -> None:
    [line] = mmstar("A", "--out", "first", "--json").json["rows"]
    assert not any(note.startswith("failed") for note in line["notes"])
    recipe, data = Path("mine.toml"), Path("data")
    with serving(status(400)) as server:
        done = snellen("card", recipe, *at(server), "--data", data, "--json")
    [line] = done.json["rows"]
    assert done.code == 1
    assert any(note.startswith("failed 8, such as ") and "400" in note for note in line["notes"])


def test_a_search_without_a_gap_says_how_a_smaller_gap_is_detected(snellen: Snellen) -> None:
    case = GapCase(seed=5, kind="none", fields=("prompt", "system"), effects={})
    rows = Path("rows.jsonl").resolve()
    write_rows(rows)
    recipe = rows.with_name("stand-in.toml")
    write_recipe(recipe, rows, case.fields)
    with serving(rule(case)) as server:
        words = ("card", recipe, *at(server), "--explain-gap", "--budget", "160")
        shown = " ".join(snellen(*words).out.split())
    assert "the budget allowed 40 of 400 questions. A larger --budget detects smaller" in shown
    assert "--budget 1601 asks all questions" in shown
