"""The verbs that ask no model but our own: help, list, show, check, demo, doctor."""

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import snellen as package
from snellen import registry
from snellen.cli import VERBS, doctor, show
from snellen.errors import install
from tests.test_cli.conftest import Snellen

ROWS = registry.ROWS / "own"
PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_help_names_every_verb(snellen: Snellen) -> None:
    done = snellen("--help")

    assert done.code == 0
    assert all(f"  {verb} " in done.out for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_gives_json(snellen: Snellen, verb: str) -> None:
    done = snellen(verb, "--help")

    assert done.code == 0
    assert "--json" in done.out


def test_the_version_is_the_packages(snellen: Snellen) -> None:
    assert snellen("--version").out == f"snellen, version {package.__version__}\n"


@pytest.mark.parametrize("words", ["--help", "list"])
def test_what_is_quick_loads_nothing_that_is_slow(words: str) -> None:
    script = (
        "import sys; from snellen.cli import exit_code; exit_code(sys.argv[1:]);"
        "slow = {'numpy', 'PIL', 'aiohttp', 'rich', 'asyncio', 'snellen.api', 'snellen.scoring'};"
        "print(sorted(slow & set(sys.modules)), file=sys.stderr)"
    )
    out = subprocess.run([sys.executable, "-c", script, words], capture_output=True, text=True)

    assert (out.returncode, out.stderr) == (0, "[]\n")


def test_the_list_has_every_benchmark_model_and_metric(snellen: Snellen) -> None:
    listing = snellen("list", "--json").json

    assert set(listing) == {"benchmarks", "suites", "models", "metrics", "recipes"}
    assert {"eyechart", "mathvision"} <= {entry["name"] for entry in listing["benchmarks"]}
    assert {"suite:quick", "suite:core"} <= {entry["name"] for entry in listing["suites"]}
    assert {"openai/NAME", "baseline/reader"} <= {entry["name"] for entry in listing["models"]}
    metrics = [entry["name"] for entry in listing["metrics"]]
    assert {"mean", "acuity.threshold", "yes_no.f1", "streaming.f1", "anls.anls"} <= {*metrics}
    assert len({*metrics}) == len(metrics)
    assert not {"streaming.to_json", "streaming.columns_of", "captions.captions"} & {*metrics}
    assert all(entry["title"].endswith(".") for entry in listing["metrics"])
    assert all(entry["title"] for kind in listing.values() for entry in kind)


def test_one_kind_can_be_listed(snellen: Snellen) -> None:
    out = snellen("list", "models").out

    assert "openai/NAME" in out
    assert "eyechart" not in out


# -- show


def test_the_sheet_shows_options_scorings_sources_and_an_example(snellen: Snellen) -> None:
    out = snellen("show", "mathvision").out

    assert "Paper    Wang et al. 2024" in out
    assert "option         split=test, one of test, testmini" in out
    assert "scoring        official, version " in out
    assert "mathllm/MATH-V@a1f5cc3" in out
    assert "also known as  MathVision, MathVision_MINI" in out
    assert "rows           not found: run `snellen data get mathvision`, or pass --data" in out
    assert "Which fraction of the disc is blue?" in out
    assert "<images/1.png>" in out
    assert "target: \\frac{3}{8}" in out


def test_the_sheet_has_the_facts_of_the_list(snellen: Snellen) -> None:
    out = snellen("show", "mathvista:split=test").out
    sheet = snellen("show", "mathvista", "--json").json
    (listed,) = [
        entry
        for entry in snellen("list", "benchmarks", "--json").json["benchmarks"]
        if entry["name"] == "mathvista"
    ]

    for line in (
        "questions      5,141\n",
        "kind           mixed: answers of several of these kinds; needs a judge\n",
        "languages      English, Chinese, Persian\n",
        "license        CC-BY-SA-4.0\n",
        "proof          published outputs: equal to the authors' results",
    ):
        assert line in out
    names = ("n", "kind", "needs_judge", "languages", "license", "proof")
    assert {name: sheet[name] for name in names} == {name: listed[name] for name in names}


def test_the_sheet_counts_rows_where_the_data_is(snellen: Snellen) -> None:
    rows = (registry.ROWS / "mathvision" / "testmini.jsonl").read_text().splitlines()
    sheet = snellen("show", "mathvision:split=testmini", "--data", "synthetic", "--json").json

    assert sheet["rows"] == len(rows)
    assert sheet["options"]["split"] == {"default": "test", "choices": ["test", "testmini"]}


def test_chance_is_the_mean_of_one_over_the_number_of_choices(
    snellen: Snellen, tmp_path: Path
) -> None:
    text = "id,question,A,B,C,D,answer\n1,One?,w,x,,,A\n2,Two?,w,x,y,z,B\n"
    (tmp_path / "mine.csv").write_text(text)

    assert snellen("show", "mine.csv", "--json").json["chance"] == (1 / 2 + 1 / 4) / 2


def test_a_file_of_rows_has_a_sheet_too(snellen: Snellen) -> None:
    out = snellen("show", ROWS / "yesno.jsonl").out

    assert "asked as --task yesno, guessed" in out
    assert "Answer with yes or no." in out


@pytest.mark.parametrize(("scored", "expected"), [(0.5, 0.5), (0.1, None)])
def test_what_hedging_scores_is_told_where_it_beats_chance(
    scored: float, expected: float | None
) -> None:
    benchmark = registry.benchmark("mathvision", data=Path(registry.SYNTHETIC))
    assert benchmark.check is not None
    generous = replace(benchmark.check, expect={"official": {"hedging": scored}})

    assert show._hedging(replace(benchmark, check=generous), "official", 0.12) == expected


# -- check, doctor, demo


def test_check_shows_what_each_dummy_scored_beside_what_it_must(snellen: Snellen) -> None:
    done = snellen("check", "mathvision", "--json")

    assert done.code == 0
    (document,) = done.json
    assert document["passed"]
    oracle = [row for row in document["rows"] if row["dummy"] == "oracle"]
    assert [row["got"] for row in oracle] == [1.0] * len(oracle)
    assert {row["scoring"] for row in oracle} == {"official", "robust"}


def test_check_says_where_all_answers_are_hidden(snellen: Snellen) -> None:
    done = snellen("check", "vqav2:split=test")

    assert done.code == 0
    assert (
        "passed on 3 bundled rows, whose answers are hidden, so there is nothing to score"
        in done.out
    )


def sums(folder: Path) -> Path:
    """The benchmark of the guide in a file of its own, without bundled rows."""
    guide = (PROJECT.parent / "docs/plugins.md").read_text()
    path = folder / "sums.py"
    path.write_text(guide.partition("```python\n")[2].partition("```")[0])
    return path


def test_check_takes_rows_of_ones_own(snellen: Snellen, tmp_path: Path) -> None:
    sums(tmp_path)
    (tmp_path / "mine").mkdir()
    row = {"id": "1", "sum": "1 + 1", "right": 2}
    (tmp_path / "mine/sums.jsonl").write_text(json.dumps(row))

    done = snellen("check", "sums.py", "--data", "mine")
    several = snellen("check", "sums.py", "eyechart", "--data", "mine")

    assert done.code == 0
    assert "sums: passed on 1 row of mine" in done.out
    assert several.code == 2
    assert "Name exactly one benchmark." in several.err


def test_a_benchmark_without_bundled_rows_says_in_which_folder_they_belong(
    snellen: Snellen, tmp_path: Path
) -> None:
    sums(tmp_path)
    done = snellen("check", "sums.py")
    assert f"there is no folder {tmp_path / 'rows/sums'}. Create the folder, or" in done.err


def test_doctor_knows_the_packages_and_extras_of_the_project() -> None:
    project = tomllib.loads(PROJECT.read_text())["project"]

    def names(wanted: list[str]) -> tuple[str, ...]:
        return tuple(re.split("[=>]", requirement)[0] for requirement in wanted)

    assert names(project["dependencies"]) == doctor.CORE
    extras = project["optional-dependencies"]
    for_developers = ("all", "dev", "exchange")
    assert {extra: names(extras[extra]) for extra in extras if extra not in for_developers} == (
        doctor.EXTRAS
    )


def test_doctor_says_how_to_get_what_is_missing(snellen: Snellen) -> None:
    document = snellen("doctor", "--json").json
    out = snellen("doctor").out

    assert document["packages"]["click"] is not None
    for extra, versions in document["extras"].items():
        there = all(versions.values())
        assert (install(extra) in out) != there


def test_doctor_says_that_a_key_is_set_and_never_which(
    snellen: Snellen, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "OPENAI_API_KEY is not set" in snellen("doctor").out
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")

    texts = [snellen("doctor").out, snellen("doctor", "--json").out]

    assert "OPENAI_API_KEY is set" in texts[0]
    assert not any("secret" in text for text in texts)


def test_the_demo_measures_the_reader_offline_and_says_what_that_was(snellen: Snellen) -> None:
    done = snellen("demo")

    assert done.code == 0
    assert "eyechart × baseline/reader" in done.out
    assert "648 (648 ok)" in done.out
    assert "are in runs/eyechart/baseline__reader/" in done.out


def test_the_demo_of_clips_measures_how_short_a_flash_may_be(
    snellen: Snellen, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SNELLEN_HOME", f"{home}")  # where other tests draw the same clips
    done = snellen("demo", "--video")

    assert done.code == 0
    assert "eyechart-video × baseline/reader" in done.out
    assert "172 (" in done.out
    assert re.search(r"count +100\.00 %", done.out)
    assert re.search(r"temporal_acuity ↓ +0\.[12][0-9]+ seconds", done.out)
    assert "are in runs/eyechart-video/baseline__reader/" in done.out

    again = snellen("demo", "--video", "--json")

    assert (again.code, again.json["n"], again.json["benchmark"]) == (0, 172, "eyechart-video")


def test_the_demo_of_clips_says_what_to_install_where_there_is_no_decoder(
    snellen: Snellen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    done = snellen("demo", "--video")

    assert done.code == 2
    assert install("video") in done.err
    assert "Traceback" not in done.err


def test_a_file_of_rows_that_cannot_be_read_is_shown_with_the_reason(snellen: Snellen) -> None:
    choice = {"question": "Which?", "A": "an ant", "B": "a bee", "answer": "A"}
    rows = [choice, {"question": "Is it?", "answer": "yes"}]
    Path("mixed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    done = snellen("show", "mixed.jsonl")

    assert done.code == 2
    assert "row 2 of mixed.jsonl has no choices" in done.err
    assert "pass --data" not in done.out + done.err
