"""snellen card: which rows count, and what a card says about its data and its replies."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

from tests.gap_cases import GapCase, rule, write_recipe, write_rows
from tests.servers import Answer, ReceivedRequest, completion, serving, status
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


def test_every_form_of_a_card_says_what_is_unusual_about_the_replies(
    snellen: Snellen, mmstar: Command
) -> None:
    """Of every eight replies, one is cut and two are empty. The model thinks, although the recipe
    turns thinking off."""
    mmstar("A", "--out", "unused")  # writes the recipe
    recipe, data = Path("mine.toml"), Path("data")
    head = MMSTAR.partition("[[asks]]")[0]
    recipe.write_text(MMSTAR.replace(head, f'{head}[defaults]\nthinking = {{ mode = "off" }}\n\n'))

    def answer(request: ReceivedRequest) -> Answer:
        number = request.number % 8
        if number == 3:
            return completion("Let me see", stop="length")
        return completion("" if number in (4, 5) else "<think>Hm.</think>B")

    with serving(answer) as server:
        words = ("card", recipe, *at(server), "--data", data, "--concurrency", "1")
        first, kept = (snellen(*words, "--json").json["rows"][0] for _ in range(2))
        part = snellen(*words, "--limit", "4", "--json").json["rows"][0]
        shown = snellen(*words).out
        for ending in ("md", "html", "tex"):
            snellen(*words, "-o", f"card.{ending}")
    assert first == kept
    # A message about the first eight replies is not about a card of four.
    assert any("1 of the first" in note for note in kept["report_notes"]["by_recipe"])
    assert not any("of the first" in note for note in part["report_notes"]["by_recipe"])
    assert {(counts["cut"], counts["empty"]) for counts in kept["counts"].values()} == {(1, 2)}
    notes = [
        "cut at a token limit: 1 of 8 (recipe) and 1 of 8 (official) replies",
        "empty: 2 of 8 (recipe) and 2 of 8 (official) replies",
        "the data have 8 of the 1,500 questions of mmstar",
        "recipe: reply 1 has thoughts, although thinking was turned off",
    ]
    texts = [shown, *(Path(f"card.{ending}").read_text() for ending in ("md", "html", "tex"))]
    for note in notes:
        assert any(line.startswith(note) for line in kept["notes"])
        assert all(note in " ".join(text.split()) for text in texts), note


def test_a_note_on_one_of_two_runs_says_which(snellen: Snellen, mmstar: Command) -> None:
    mmstar("A", "--out", "unused")

    def answer(request: ReceivedRequest) -> Answer:
        is_by_recipe = b"Answer with a letter" in request.body
        return status(400, "too long" if is_by_recipe else "no quota")

    with serving(answer) as server:
        words = ("card", Path("mine.toml"), *at(server), "--data", Path("data"), "--json")
        notes = snellen(*words).json["rows"][0]["notes"]
    assert [note.partition(",")[0] for note in notes if "failed" in note] == [
        "recipe: failed 8",
        "official: failed 8",
    ]


def figures_of(benchmark: str) -> Path:
    path = Path("figures.toml").resolve()
    figure = f'benchmark = "{benchmark}", value = 77.2, checkpoint = "M", source = "me"'
    path.write_text(MMSTAR.partition("figures")[0] + f"figures = [{{ {figure} }}]\n")
    return path


def card_row(snellen: Snellen, benchmark: str, data: Path, text: str) -> tuple[Any, str]:
    """The only row of a card of a model that always replies `text`, and the card as text."""
    with serving(completion(text)) as server:
        words = ("card", figures_of(benchmark), *at(server), "--data", data)
        [line] = snellen(*words, "--json").json["rows"]
        return line, snellen(*words).out


def test_while_replies_wait_for_a_judge_there_are_bounds_and_no_difference(
    snellen: Snellen, tmp_path: Path
) -> None:
    """The rules read the replies to the questions about numbers. All others wait."""
    data = copied_rows(tmp_path / "data", "mathvista")
    line, shown = card_row(snellen, "MathVista", data, "3")
    ours, waiting = line["official"], line["counts"]["official"]["not_judged"]
    assert waiting > 0 and ours["n"] + waiting == 16
    assert "difference" not in line
    assert "no difference: replies wait for a judge" in line["notes"]
    assert any(f"incomplete: {waiting} of 16 replies (official) wait" in n for n in line["notes"])
    right = round(ours["value"] * ours["n"])
    low, high = (f"{100 * score / 16:.2f}" for score in (right, right + waiting))
    assert f"{low} to {high} %" in shown
    assert f"MathVista (official): {low} % if all missing and refused replies were wrong" in shown


def test_a_row_waits_only_for_the_judge_of_the_scoring_that_it_shows(
    snellen: Snellen, tmp_path: Path
) -> None:
    """HallusionBench's figures are by VLMEvalKit's rule. Only the official scoring has a judge."""
    data = copied_rows(tmp_path / "data", "hallusionbench")
    line, _ = card_row(snellen, "HallusionBench (average)", data, "perhaps")
    n = line["official_as_published"]["n"]
    assert line["counts"]["official"]["not_judged"] == n
    assert line["counts"]["official_as_published"]["not_judged"] == 0
    assert not any("incomplete" in note or "wait" in note for note in line["notes"])
    assert any(f"scoring vlmevalkit: {n} of {n} (official)" in note for note in line["notes"])
    assert line["difference"]["value"] == pytest.approx(-0.772)


def test_a_gap_of_replies_that_wait_for_a_judge_is_not_explained(
    snellen: Snellen, tmp_path: Path
) -> None:
    data = copied_rows(tmp_path / "data", "mathvista") / "testmini.json"
    pictures = data.parent / "images"
    row = json.loads(data.read_text())["1"]
    many = {}
    for number in range(20):
        PIL.Image.new("RGB", (16, 16), (number, 0, 0)).save(pictures / f"own{number}.png")
        many[f"{number}"] = {**row, "pid": f"{number}", "image": f"images/own{number}.png"}
    data.write_text(json.dumps(many))
    recipe = tmp_path / "judged.toml"
    recipe.write_text(MMSTAR.replace("mmstar", "mathvista_testmini").replace("MMStar", "MathVista"))
    with serving(completion("perhaps")) as server:
        words = ("card", recipe, *at(server), "--data", data.parent, "--explain-gap", "--json")
        [line] = snellen(*words).json["rows"]
    assert "mathvista: 40 replies wait for a judge, so the gap cannot be" in line["reason"]
    assert all(f"snellen judge {run}" in line["reason"] for run in line["runs"])


def test_a_card_says_how_many_answers_an_official_rule_guesses(
    snellen: Snellen, tmp_path: Path
) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text(MMSTAR.replace("mmstar", "mmmu_val"))
    with serving(completion("No")) as server:
        words = ("card", recipe, *at(server), "--data", "synthetic")
        [line] = snellen(*words, "--json").json["rows"]
        shown = snellen(*words).out
    guessed = line["counts"]["official"]["guessed"]
    assert guessed == 7  # the questions with choices; "No" is none of them
    both = f"{guessed} of 12 (recipe) and {guessed} of 12 (official) replies"
    assert f"guessed by the rule of the scoring official: {both}" in " ".join(shown.split())
