"""snellen card: published figures of which no source says how they were measured, and modes."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Answer, ReceivedRequest, Server, completion, serving
from tests.test_cli.conftest import CommandResult, Snellen, copied_rows

FIGURES = {
    "MMStar": 50.0,
    "OCRBench": 896,
    "HallusionBench (average)": 50.0,
    "AI2D": 80.0,
    "LVBench": 60.0,
    "DocVQA (test)": 90.0,
}
RECIPE = """\
family = "Mine"
evidence = "maker-card"
source = "me/mine@0123abc:README.md"
"""
Command = Callable[..., CommandResult]


def answers(request: ReceivedRequest) -> Answer:
    if b"Options:" in request.body:
        return completion("A")
    return completion("HOTEL" if b"what is written" in request.body else "No")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(answers) as running:
        yield running


def write_recipe(figures: dict[str, float], more: str = "") -> Path:
    lines = [
        f'{{ benchmark = "{name}", value = {value}, checkpoint = "Mine-7B", source = "me"{more} }},'
        for name, value in figures.items()
    ]
    path = Path("mine.toml").resolve()
    path.write_text("\n".join([RECIPE, "figures = [", *lines, "]"]))
    return path


@pytest.fixture
def card(snellen: Snellen, server: Server) -> Command:
    return lambda *words: snellen(
        *("card", *words, "--data", "synthetic", "-q"),
        *("-m", "openai/Mine-7B", "--base-url", server.url),
    )


@pytest.fixture
def card_of_files(snellen: Snellen, server: Server, tmp_path: Path) -> Command:
    """The command on a copy of the bundled rows. A card of bundled rows has no differences."""
    data = copied_rows(tmp_path / "data", *("mmstar", "ocrbench", "hallusionbench", "mmmu"))
    return lambda *words: snellen(
        *("card", *words, "--data", data, "-q"),
        *("-m", "openai/Mine-7B", "--base-url", server.url),
    )


def row(document: Any, data_set: str) -> Any:
    return next(row for row in document["rows"] if row["data_set"] == data_set)


def test_a_figure_that_nobody_says_how_to_ask_is_compared_with_official_settings(
    card_of_files: Command,
) -> None:
    done = card_of_files(write_recipe({"MMStar": 50.0}), "--json")
    line = row(done.json, "MMStar")
    assert line["benchmark"] == "mmstar"
    assert line["official"]["value"] == 2 / 8  # the answer is A twice
    assert line["difference"]["value"] == pytest.approx(2 / 8 - 0.5)
    assert line["reason"] == (
        "no source says how it is asked: the difference is official minus published"
    )
    assert "by_recipe" not in line


def test_a_figure_in_points_is_compared_in_points(card_of_files: Command) -> None:
    done = card_of_files(write_recipe({"OCRBench": 896}), "--json")
    line = row(done.json, "OCRBench")
    assert line["official"]["value"] == pytest.approx(1000 / 11)  # one of eleven has HOTEL
    assert line["difference"]["value"] == pytest.approx(1000 / 11 - 896)
    low, high = line["official"]["ci95"]
    assert line["difference"]["ci95"] == pytest.approx([low - 896, high - 896])
    assert line["difference"]["unit"] == "points"
    assert "in points, of 1,000 at most" in line["notes"]


def test_the_same_figure_in_percent_is_compared_in_percent(card_of_files: Command) -> None:
    line = row(card_of_files(write_recipe({"OCRBench": 89.6}), "--json").json, "OCRBench")
    assert line["difference"]["value"] == pytest.approx(1 / 11 - 0.896)
    assert line["difference"]["unit"] == "fraction"


def test_a_figure_of_hallusionbench_is_compared_with_the_mean_of_three_accuracies(
    card_of_files: Command,
) -> None:
    name = "HallusionBench (average)"
    line = row(card_of_files(write_recipe({name: 50.0}), "--json").json, name)
    assert (line["metric"], line["figure_scoring"]) == ("average", "vlmevalkit")
    # All replies are no: right are 7 of 12 answers, 1 of 6 figures, and 1 of 6 questions.
    assert line["official_as_published"]["value"] == pytest.approx((7 / 12 + 1 / 6 + 1 / 6) / 3)
    assert line["difference"]["value"] == pytest.approx((7 / 12 + 1 / 6 + 1 / 6) / 3 - 0.5)


SCORED = """\

[prompts]
short = "{{ images | join }}{{ question }}"

[[asks]]
data_sets = ["mmmu_val"]
prompt = "short"
generation = { max_new_tokens = 64 }
scoring = { rule = "VLMEvalKit's", scoring = "vlmevalkit" }
"""
FIGURE = 'figures = [{ checkpoint = "Mine-7B", value = 50.0, source = "me" }]\n'


@pytest.mark.parametrize(
    ("ending", "row_of"), [("md", r"^\| mmmu.{0,3}val \| (.*)"), ("tex", r"mmmu.{0,3}val & (.*)")]
)
def test_the_results_beside_a_figure_are_by_its_scoring(
    card_of_files: Command, ending: str, row_of: str
) -> None:
    path = write_recipe({})
    path.write_text(RECIPE + SCORED + FIGURE)
    line = row(card_of_files(path, "--json").json, "mmmu_val")
    assert line["as_published"]["value"] != line["by_recipe"]["value"]
    assert line["difference"]["value"] == pytest.approx(line["as_published"]["value"] - 0.5)
    # By the official rule "No" is a letter drawn at random; by VLMEvalKit's it is no answer.
    counts = line["counts"]["by_recipe"]
    assert (counts["failed"], counts["unparsed"], counts["guessed"]) == (0, 0, 7)
    assert line["counts"]["as_published"]["unparsed"] > 0
    card_of_files(path, "-o", f"card.{ending}")
    first = re.search(row_of, Path(f"card.{ending}").read_text(), re.MULTILINE)
    assert first is not None
    value, less = (100 * line[name]["value"] for name in ("as_published", "difference"))
    assert f"{value:.2f}" in first[1]
    assert f"{abs(less):.2f}" in first[1]
    assert f"{100 * line['by_recipe']['value']:.2f}" not in first[1]


def test_a_row_without_a_figure_is_by_the_benchmarks_own_scoring(card: Command) -> None:
    path = write_recipe({})
    path.write_text(RECIPE + SCORED)
    line = row(card(path, "--json").json, "mmmu_val")
    assert "figure_scoring" not in line
    assert "as_published" not in line
    assert not any("figure" in note for note in line["notes"])


def test_what_is_not_run_stands_in_the_table_with_the_reason(card: Command, server: Server) -> None:
    figures = {name: FIGURES[name] for name in ("AI2D", "LVBench", "DocVQA (test)")}
    done = card(write_recipe(figures))
    assert done.code == 2
    assert (
        "AI2D: no source says how it is asked; not run: no source says which data set it is: with "
        "or without masks." in done.err
    )
    assert "LVBench: no source says how it is asked; not in Snellen." in done.err
    assert "the answers of this split are not public" in done.err
    assert server.requests == []


def test_a_recipe_of_your_own_names_the_benchmark_of_a_figure(card: Command) -> None:
    path = write_recipe({"Objects": 60.0}, more=', snellen = "pope"')
    line = row(card(path, "--json").json, "Objects")
    assert (line["benchmark"], line["official"]["n"]) == ("pope", 24)


def test_a_benchmark_is_chosen_by_its_name_in_snellen(card: Command) -> None:
    path = write_recipe({"MMStar": 50.0, "OCRBench": 896})
    for name in ("MMStar", "mmstar"):
        done = card(path, "-b", name, "--json")
        assert [row["data_set"] for row in done.json["rows"]] == ["MMStar"]


def test_figures_alone_have_no_gap_to_explain(card: Command, server: Server) -> None:
    done = card(write_recipe({"MMStar": 50.0}), "--explain-gap")
    assert done.code == 2
    assert "has only published figures. No source says how questions were asked" in done.err
    assert server.requests == []


# -- the layout


@pytest.fixture
def bundled(card: Command) -> Command:
    """The card of a bundled recipe with many remarks."""
    return lambda *words: card("qwen3-vl::instruct", "--checkpoint", "Qwen3-VL-8B-Instruct", *words)


def test_the_tables_fit_80_columns(bundled: Command) -> None:
    lines = bundled().out.splitlines()
    rules = [line for line in lines if line.strip("─ ") == "" and "─" in line]
    # The card, the values by both scorings, and the paired differences.
    assert len(rules) == 4
    assert max(map(len, rules)) <= 80
    table = lines[: next(n for n, line in enumerate(lines) if line.startswith(" [1]"))]
    assert max(map(len, table[2:])) <= 80


def test_remarks_are_numbered_below_the_table_and_equal_remarks_once(bundled: Command) -> None:
    text = bundled().out
    assert len(re.findall(r"no source says how it is asked$", text, re.MULTILINE)) == 1
    assert len(re.findall(r"^ \[\d+\] not in Snellen$", text, re.MULTILINE)) == 1
    number = re.search(r"^ \[(\d+)\] not in Snellen$", text, re.MULTILINE)
    assert number is not None
    assert re.search(rf"^ *odinw13 +{number[1]} *$", text, re.MULTILINE)
    # What holds for all runs has no number.
    assert " note: the data are the few bundled rows" in text
    notes = re.findall(r"^ \[\d+\] (.*)$", text, re.MULTILINE)
    assert max(map(len, notes)) <= 160


@pytest.mark.parametrize(
    ("ending", "table_end", "note"),
    [
        ("md", "\n\n- ", r"- \[1\] "),
        ("html", "</table>", "[1] "),
        ("tex", r"\begin{tabular}", "{[}1] "),
    ],
)
def test_remarks_are_outside_the_table_in_every_format(
    bundled: Command, ending: str, table_end: str, note: str
) -> None:
    bundled("-o", f"card.{ending}")
    text = Path(f"card.{ending}").read_text()
    assert text.count(note) == 1
    assert table_end in text
    assert (text.index(note) < text.index(table_end)) == (ending == "tex")  # the caption is first


# -- modes


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (
            ("qwen3-vl", "--checkpoint", "Qwen3-VL-8B-Instruct"),
            "For Qwen3-VL-8B-Instruct, name the mode instruct: `snellen card qwen3-vl::instruct`.",
        ),
        (
            ("qwen3-vl:mathvision", "--checkpoint", "Qwen/Qwen3-VL-8B-Thinking"),
            "name the mode think: `snellen card qwen3-vl:mathvision:think`.",
        ),
        (
            ("qwen3-vl",),
            "Name one: `snellen card qwen3-vl::instruct` or `snellen card qwen3-vl::think`.",
        ),
    ],
)
def test_a_recipe_with_modes_needs_one_before_anything_is_asked(
    card: Command, server: Server, words: tuple[str, ...], advice: str
) -> None:
    done = card(*words)
    assert done.code == 2
    assert advice in done.err
    assert server.requests == []


def test_a_variant_that_the_recipe_does_not_have_is_an_error_that_lists_them(
    card: Command, server: Server
) -> None:
    done = card("qwen3-vl::instrct")
    assert done.code == 2
    assert "The recipe qwen3-vl has no variant instrct. It has: instruct and think." in done.err
    assert server.requests == []


def test_figures_of_another_variant_are_pointed_at(card: Command) -> None:
    name = "internvl3.5-thinking-vlmevalkit"
    done = card(name, "-b", "pope", "--json")
    assert done.json["notes"] == [
        f"there are figures of the variant cot too: `snellen card {name}::cot`"
    ]
