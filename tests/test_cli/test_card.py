"""snellen card: what is run, what the table says, and how a gap is explained."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import snellen as package
from snellen.errors import UsageError
from snellen.registry import models
from tests.gap_cases import GapCase, fields_of, rule, target, write_recipe, write_rows
from tests.servers import Answer, ReceivedRequest, Server, completion, serving, status
from tests.test_cli.conftest import CommandResult, Snellen, copied_rows

RECIPE = """\
family = "Mine"
checkpoints = ["me/Mine-7B"]
evidence = "maker-card"
source = "me/mine@0123abc:eval.py"

[prompts]
yes = "{{ images | join }}{{ question }} Yes or no?"

[[asks]]
data_sets = ["pope"]
prompt = "yes"
generation = { max_new_tokens = 64, temperature = 0.0 }
figures = [
  { checkpoint = "Mine-7B", value = 86.5, source = "me/mine#1" },
  { checkpoint = "Mine-72B", value = 90.0, source = "me/mine#2" },
]

[[asks]]
data_sets = ["mmmu_val"]
prompt = "yes"
generation = { top_k = 5 }
figures = [{ checkpoint = "Mine-7B", value = 50.0, source = "me/mine#3" }]

[[asks]]
data_sets = ["secret_set"]
prompt = "yes"
"""
Command = Callable[..., CommandResult]


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(RECIPE)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return copied_rows(tmp_path / "data", "pope", "mmmu")


@pytest.fixture
def card(snellen: Snellen, recipe: Path, data: Path) -> Command:
    """`card("-m", "baseline/first")`: the command on the recipe and a copy of the bundled rows."""
    return lambda *words: snellen("card", recipe, "--data", data, "-q", *words)


def row(document: Any, data_set: str) -> Any:
    return next(row for row in document["rows"] if row["data_set"] == data_set)


def limit_of(request: ReceivedRequest) -> int | None:
    body: dict[str, int] = request.json
    return body.get("max_completion_tokens", body.get("max_tokens"))


def pope(request: ReceivedRequest) -> Answer:
    """By the recipe, which asks for 64 tokens, every answer is yes; else no."""
    return completion("Yes" if limit_of(request) == 64 else "No")


def at(model: str, server: Server) -> tuple[str, ...]:
    return ("-m", f"openai/{model}", "--base-url", server.url)


def test_published_recipe_and_official_stand_in_a_row(card: Command) -> None:
    with serving(pope) as server:
        done = card(*at("Mine-7B", server), "--json")
        sent = len(server.requests)
    assert done.code == 0
    assert done.json["checkpoint"] == "Mine-7B"
    line = row(done.json, "pope")
    assert line["published"]["value"] == 86.5
    ours, official = line["by_recipe"]["value"], line["official"]["value"]
    assert line["difference"]["value"] == pytest.approx(ours - 0.865)
    assert line["paired"]["difference"]["value"] == pytest.approx(ours - official)
    assert sent == 2 * 24 + 2 * 12  # two ways, the bundled rows of POPE and MMMU


def test_the_interval_of_the_difference_is_that_of_our_estimate(card: Command) -> None:
    with serving(completion("A")) as server:
        words = (*at("Mine-7B", server), "-b", "mmmu")
        done, shown = card(*words, "--json"), card(*words)
    line = row(done.json, "mmmu_val")
    low, high = line["by_recipe"]["ci95"]
    assert line["difference"]["ci95"] == pytest.approx([low - 0.5, high - 0.5])
    assert "sampling error of the published figure is not known" in shown.out


def test_what_cannot_be_run_stands_in_the_table_with_the_reason(card: Command) -> None:
    done = card("-m", "baseline/first", "--json")
    assert done.code == 0
    assert row(done.json, "secret_set")["reason"] == "not in Snellen"
    refused = row(done.json, "mmmu_val")
    assert "does not support these settings of the recipe mine: top_k = 5" in refused["reason"]
    assert "by_recipe" not in refused
    assert refused["official"]["n"] == 12


def test_all_that_is_missing_is_said_before_anything_is_asked(
    snellen: Snellen, tmp_path: Path, data: Path
) -> None:
    names = ("mathvista_testmini", "mme", "ocrbench", "pope")
    ask = '[[asks]]\ndata_sets = ["{}"]\nprompt = "yes"\n'
    head = RECIPE.partition("[[asks]]")[0]
    (tmp_path / "mine.toml").write_text(head + "".join(map(ask.format, names)))
    copied_rows(data, "mathvista")
    with serving(completion("A")) as server:
        done = snellen("card", "mine.toml", "--data", data, *at("m", server), "--limit", "2")

    lines = done.err[: done.err.index("pope × openai/m")].splitlines()
    start = lines.index("2 of 4 benchmarks cannot be run as requested:")
    assert lines[start + 1].startswith("- mme: ") and lines[start + 2].startswith("- ocrbench: ")
    assert "mathvista: the headline scoring needs a judge" in lines[start + 3]


def test_a_missing_package_is_said_with_the_missing_data(
    snellen: Snellen, recipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "EXTRAS", {"vllm": ("vllm", ("vllm_that_is_nowhere",))})
    data = copied_rows(Path("data"), "pope")
    done = snellen("card", recipe, "--data", data, "-m", "vllm/m", "-q")
    assert done.code == 2
    assert "vllm/m needs vllm_that_is_nowhere" in done.err
    assert "mmmu: no " in done.err


def test_a_card_without_any_data_is_an_error(snellen: Snellen, recipe: Path) -> None:
    done = snellen("card", recipe, "-m", "baseline/first", "-q")
    assert done.code == 2
    assert "snellen data get" in done.err


def test_a_figure_of_another_checkpoint_is_listed_without_a_difference(card: Command) -> None:
    with serving(pope) as server:
        words = (*at("other", server), "-b", "pope", "--json")
        done, chosen = card(*words), card(*words, "--checkpoint", "me/Mine-72B")
    line = row(done.json, "pope")
    assert [figure["value"] for figure in line["figures"]] == [86.5, 90.0]
    assert "difference" not in line
    assert "openai/other has no published figure" in done.json["notes"][0]
    assert row(chosen.json, "pope")["published"]["value"] == 90.0


def test_a_checkpoint_with_figures_of_other_benchmarks_alone_is_not_told_to_name_another(
    card: Command,
) -> None:
    with serving(completion("A")) as server:
        done = card(*at("Mine-72B", server), "-b", "mmmu", "--json")
    [note] = done.json["notes"]
    assert "no figure of openai/Mine-72B for the benchmarks of this card, only for others" in note
    assert "--checkpoint" not in note


def test_two_models_are_refused(card: Command) -> None:
    done = card("-m", "baseline/first", "-m", "baseline/random")
    assert done.code == 2
    assert "a single model, but -m names baseline/first, baseline/random." in done.err


def test_a_checkpoint_without_figures_is_an_error_that_lists_them(card: Command) -> None:
    done = card("-m", "baseline/first", "--checkpoint", "Mine-3B")
    assert done.code == 2
    assert "has no figures of this checkpoint. It has figures of: Mine-7B, Mine-72B." in done.err


def test_a_setting_to_leave_out_must_be_one_of_the_card(card: Command) -> None:
    done = card("-m", "baseline/first", "--recipe-without", "top_k", "--json")
    assert "reason" not in row(done.json, "mmmu_val")
    assert "by_recipe" in row(done.json, "pope")  # which has no such setting
    left_out = "recipe: without these settings of the recipe: top_k"
    assert left_out in row(done.json, "mmmu_val")["notes"]
    assert left_out not in row(done.json, "pope")["notes"]
    wrong = card("-m", "baseline/first", "--recipe-without", "top_q")
    assert wrong.code == 2
    assert "--recipe-without top_q: no data set of the card has this setting." in wrong.err


def test_runs_are_those_of_snellen_run(
    snellen: Snellen, recipe: Path, data: Path, card: Command
) -> None:
    with serving(pope) as server:
        snellen("run", "-b", "pope", "--data", data, *at("m", server))
        snellen("run", "-b", "pope", "--data", data, *at("m", server), "--recipe", recipe)
        before = len(server.requests)
        done = card(*at("m", server), "-b", "pope", "--json")
        assert len(server.requests) == before == 48
    assert row(done.json, "pope")["by_recipe"]["n"] == 24


def test_own_options_replace_the_official_settings_only(card: Command) -> None:
    with serving(pope) as server:
        done = card(*at("m", server), "-b", "pope", "--json", "--max-tokens", "9")
        limits = [*map(limit_of, server.requests)]
    assert done.json["against"] == "own options"
    assert limits.count(9) == limits.count(64) == 24


@pytest.mark.parametrize(
    ("ending", "part"),
    [
        ("md", "| pope | 86.5 |"),
        ("html", ">86.5</td>"),
        ("tex", "pope & 86.5 &"),
        ("json", '"published":{"checkpoint":"Mine-7B"'),
        ("txt", "86.5"),
    ],
)
def test_a_card_is_written_in_the_format_of_its_ending(
    card: Command, ending: str, part: str
) -> None:
    with serving(pope) as server:
        done = card(*at("Mine-7B", server), "-b", "pope", "-o", f"card.{ending}")
    assert done.code == 0
    assert part in Path(f"card.{ending}").read_text()


def test_a_benchmark_that_is_not_on_the_card_is_an_error(card: Command) -> None:
    done = card("-m", "baseline/first", "-b", "mme")
    assert done.code == 2
    assert "has neither questions nor figures for mme. It has: pope, mmmu_val," in done.err


def test_a_failed_request_is_no_score_and_ends_with_1(card: Command) -> None:
    with serving(lambda request: status(400) if request.number == 3 else pope(request)) as server:
        done = card(*at("m", server), "-b", "pope", "--json")
    assert done.code == 1
    line = row(done.json, "pope")
    assert {line["by_recipe"]["n"], line["official"]["n"]} == {23, 24}
    assert "incomplete" in line["notes"]


def test_each_result_has_its_own_n_failed_and_unparsed(card: Command) -> None:
    def answer(request: ReceivedRequest) -> Answer:
        has_a_triangle = b"triangle" in request.body
        if limit_of(request) == 64:
            return status(400) if has_a_triangle else completion("Yes")
        return completion("No")

    with serving(answer) as server:
        words = (*at("Mine-7B", server), "-b", "pope")
        done, shown = card(*words, "--json"), card(*words)
    line = row(done.json, "pope")
    counts = line["counts"]
    for name in ("by_recipe", "official"):
        assert line[name]["n"] == 24 - counts[name]["failed"]
        cells = f"{line[name]['n']} +{counts[name]['failed']} +{counts[name]['unparsed']}"
        setting = {"by_recipe": "recipe"}.get(name, name)
        assert re.search(rf"^ pope +{setting} .* {cells} *$", shown.out, re.MULTILINE)
    assert counts["by_recipe"]["failed"] > 0
    assert line["paired"]["difference"]["n"] == line["by_recipe"]["n"]  # the pairs
    assert "only questions that have a score both ways count" in shown.out


def test_without_any_reply_the_reason_is_that(card: Command) -> None:
    with serving(status(400)) as server:
        line = row(card(*at("Mine-7B", server), "-b", "pope", "--json").json, "pope")
    assert "no difference: none of the 24 questions has a reply" in line["notes"]
    assert not any("unit" in note or "scoring" in note for note in line["notes"])


def test_failed_requests_cannot_be_made_to_count_as_wrong(recipe: Path) -> None:
    with pytest.raises(UsageError, match="A card has no option missing"):
        package.card(f"{recipe}", "baseline/first", data="synthetic", missing="wrong")


def test_a_second_figure_of_the_same_checkpoint_is_in_the_notes(
    snellen: Snellen, recipe: Path
) -> None:
    recipe.write_text(RECIPE.replace("Mine-72B", "Mine-7B"))
    done = snellen(
        "card", recipe, "--data", "synthetic", "-m", "baseline/first", "-b", "pope", "--json"
    )
    assert "published" not in row(done.json, "pope")
    words = ("-m", "baseline/first", "-b", "pope", "--checkpoint", "Mine-7B", "--json")
    line = row(snellen("card", recipe, "--data", "synthetic", *words).json, "pope")
    assert line["published"]["value"] == 86.5
    assert "also published: 90 (me/mine#2)" in line["notes"]


def test_data_sets_named_in_two_ways_are_an_error(snellen: Snellen, recipe: Path) -> None:
    done = snellen(
        "card", f"{recipe}:pope", "--data", "synthetic", "-m", "baseline/first", "-b", "mmmu"
    )
    assert done.code == 2
    assert "names the data set pope, and -b names mmmu" in done.err


def test_a_budget_without_a_gap_to_explain_is_an_error(card: Command) -> None:
    done = card("-m", "baseline/first", "--budget", "10")
    assert done.code == 2
    assert "--budget is only for --explain-gap" in done.err


def test_a_run_that_is_precise_enough_does_not_end_the_card(snellen: Snellen) -> None:
    rows = Path("rows.jsonl").resolve()
    write_rows(rows, 200)
    recipe = rows.with_name("stand-in.toml")
    write_recipe(recipe, rows, ("max_tokens",))
    with serving(rule(LARGE)) as server:
        words = ("card", recipe, *at("m", server), "--until-stderr", "0.05", "-q")
        done, gap = snellen(*words, "--json"), snellen(*words, "--explain-gap")
    assert done.code == 0, done.err
    [line] = done.json["rows"]
    counts = [line[name]["n"] for name in ("by_recipe", "official")]
    assert all(100 <= n < 200 for n in counts)
    assert line["paired"]["difference"]["n"] == min(counts)
    assert gap.code == 2
    assert "--until-stderr does not work with --explain-gap" in gap.err


def test_from_python_a_card_takes_a_function(snellen: Snellen, recipe: Path) -> None:
    result = package.card(
        f"{recipe}", lambda messages: "Yes", benchmarks=["pope"], data="synthetic"
    )
    assert result.card.rows[0].by_recipe is not None
    assert "pope" in str(result)
    with pytest.raises(UsageError, match="first argument"):
        package.card(f"{recipe}", "baseline/first", recipe="qwen2-vl")


# -- explained gaps


@pytest.fixture
def explained(snellen: Snellen) -> Callable[..., Any]:
    """`explained(case, "--budget", "800")`: the result of the command, and the requests."""

    def call(case: GapCase, *words: str) -> Any:
        rows = Path("rows.jsonl").resolve()
        write_rows(rows)
        write_recipe(rows.with_name("stand-in.toml"), rows, case.fields)
        with serving(rule(case)) as server:
            done = snellen(
                *("card", rows.with_name("stand-in.toml"), *at("m", server)),
                *("--explain-gap", *words),
            )
        return done, server.requests

    return call


LARGE = GapCase(seed=3, kind="single", fields=("max_tokens", "top_p"), effects={"max_tokens": 0.37})


def test_the_budget_is_said_before_anything_is_asked_and_kept(
    explained: Callable[..., Any],
) -> None:
    done, requests = explained(LARGE, "--budget", "400")
    assert (
        "2 fields differ (max_tokens, top_p); at most 400 requests: 100 questions in 4 runs; 200 "
        "first, and no more if they show no gap" in done.err
    )
    assert len(requests) == 400
    assert "max_tokens makes the difference: +" in done.out


def test_every_exchange_is_a_run_that_resumes(explained: Callable[..., Any]) -> None:
    done, first = explained(LARGE, "--budget", "400", "--json")
    again, second = explained(LARGE, "--budget", "400", "--json", "-q")
    assert (len(first), len(second)) == (400, 0)
    [gap] = done.json["gaps"]
    assert gap == again.json["gaps"][0]
    assert set(gap["runs"]) == {"base", "recipe", "base + max_tokens", "base + top_p"}
    for path in gap["runs"].values():
        assert json.loads(Path(path, "manifest.json").read_text())["identity"]


def test_without_a_gap_only_the_ends_are_asked_and_no_field_is_named(
    explained: Callable[..., Any],
) -> None:
    case = GapCase(seed=5, kind="none", fields=("prompt", "system", "max_tokens"), effects={})
    done, requests = explained(case, "--budget", "800", "--json")
    [gap] = done.json["gaps"]
    assert len(requests) == 200
    assert (gap["kind"], gap.get("matters", [])) == ("noise", [])
    assert 0 < gap["detectable"] < 0.2


def test_the_runs_that_exchange_pairs_are_in_the_announced_number_of_requests(
    snellen: Snellen,
) -> None:
    """An answer is right by at least three of the recipe's five fields, so that neither a single
    field nor a pair changes any answer."""
    fields = ("prompt", "system", "max_tokens", "top_p", "extra.top_k")
    rows = Path("rows.jsonl").resolve()
    write_rows(rows, 20)
    recipe = rows.with_name("stand-in.toml")
    write_recipe(recipe, rows, fields)

    def answer(request: ReceivedRequest) -> Answer:
        match = re.search(rb"Question (\d+):", request.body)
        assert match is not None
        right = len(fields_of(request.json, int(match[1]))) >= 3
        letter = target(int(match[1]))
        return completion(letter if right else "ABCD"["ABCD".index(letter) - 1])

    with serving(answer) as server:
        done = snellen("card", recipe, *at("m", server), "--explain-gap", "--json")
        sent = len(server.requests)
    [gap] = done.json["gaps"]
    assert gap["kind"] == "unexplained"
    # Two ends, 5 fields and 10 pairs, each in both directions.
    assert sent == gap["requests"] == 20 * (2 + 2 * 5 + 2 * 10)
    assert "at most 640 requests: 20 questions in 32 runs; 40 first" in done.err


def test_a_gap_of_failed_runs_says_that_the_replies_are_missing(snellen: Snellen) -> None:
    rows = Path("rows.jsonl").resolve()
    write_rows(rows, 20)
    recipe = rows.with_name("stand-in.toml")
    write_recipe(recipe, rows, LARGE.fields)
    with serving(status(400)) as server:
        done = snellen("card", recipe, *at("m", server), "--explain-gap", "--json", "-q")
    [line] = done.json["rows"]
    assert "0 of 20 questions have a score in both runs" in line["reason"]
    assert line["by_recipe"]["n"] == line["official"]["n"] == 0


def test_a_setting_that_the_model_cannot_take_is_not_exchangeable(snellen: Snellen) -> None:
    rows = Path("rows.jsonl").resolve()
    write_rows(rows, 40)
    recipe = rows.with_name("stand-in.toml")
    write_recipe(recipe, rows, ("prompt", "extra.top_k"))
    done = snellen("card", recipe, "-m", "baseline/first", "--explain-gap", "--json", "-q")
    fields = {field["name"]: field for field in done.json["gaps"][0]["fields"]}
    assert fields["top_k"]["reason"] == "baseline/first does not support it"
    assert "reason" not in fields["prompt"]


def test_a_failed_question_is_left_out_of_every_effect(snellen: Snellen) -> None:
    rows = Path("rows.jsonl").resolve()
    write_rows(rows, 40)
    recipe = rows.with_name("stand-in.toml")
    write_recipe(recipe, rows, LARGE.fields)
    answer = rule(LARGE)
    with serving(
        lambda request: status(400) if b"Question 7:" in request.body else answer(request)
    ) as server:
        words = ("card", recipe, *at("m", server), "--explain-gap", "-q")
        done, shown = snellen(*words, "--json"), snellen(*words)
    [gap] = done.json["gaps"]
    assert done.code == 1
    assert (gap["questions"], gap["total"]["difference"]["n"]) == (40, 39)
    assert "left out, without a score both ways: 1 of 40" in shown.out
    assert "; 39 questions, " in shown.out
    assert (gap["base"]["n"], gap["by_recipe"]["n"]) == (39, 39)
    assert gap["by_recipe"]["value"] - gap["base"]["value"] == pytest.approx(
        gap["total"]["difference"]["value"]
    )


def test_a_budget_that_is_too_small_says_what_is_enough(explained: Callable[..., Any]) -> None:
    done, requests = explained(LARGE, "--budget", "79")
    assert done.code == 2
    assert (
        "--budget 79 is too small for rows: 2 fields differ, and 20 questions must be" in done.err
    )
    assert "Use --budget 80 or more." in done.err
    assert requests == []


def test_questions_about_few_pictures_explain_no_gap(card: Command) -> None:
    done = card("-m", "baseline/first", "-b", "pope", "--explain-gap")
    assert done.code == 2
    assert "the 24 questions form only 2" in done.err
