"""`snellen list` with facts, filters, and a table that fits."""

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from tests.test_cli.conftest import Snellen


def names(document: Any) -> set[str]:
    return {row["name"] for row in document["benchmarks"]}


def test_a_benchmark_is_listed_with_its_facts(snellen: Snellen) -> None:
    rows = {row["name"]: row for row in snellen("list", "benchmarks", "--json").json["benchmarks"]}

    assert rows["mathvista"] == {
        "name": "mathvista",
        "title": rows["mathvista"]["title"],
        "n": 1000,
        "kind": "mixed",
        "needs_judge": True,
        "languages": ["en", "zh", "fa"],
        "license": "CC-BY-SA-4.0",
        "proof": "published outputs",
    }
    out = snellen("list", "benchmarks").out
    [line] = [line for line in out.splitlines() if line.startswith("  mathvista ")]
    assert line.split(maxsplit=6)[1:6] == ["1,000", "mixed*", "en", "+2", "CC-BY-SA-4.0"]
    assert line.endswith(rows["mathvista"]["title"])
    assert "* needs a judge" in out


def test_a_recipe_is_listed_with_its_data_sets_and_figures(snellen: Snellen) -> None:
    titles = {
        row["name"]: row["title"] for row in snellen("list", "recipes", "--json").json["recipes"]
    }
    # Counted in the files: `figures` under `[[asks]]`, and at the top.
    assert titles["minicpm-v-4.5"].startswith("MiniCPM-V 4.5: 22 data sets, 1 published figure (")
    assert titles["eagle2.5"].startswith("Eagle2.5: 0 data sets, 18 published figures (")


@pytest.mark.parametrize(
    ("filters", "within", "without"),
    [
        (["--kind", "yes-no"], {"pope", "mme", "hallusionbench"}, {"mmstar", "gqa"}),
        (["--kind", "YES-NO", "--kind", "caption"], {"pope", "coco-captions"}, {"mmstar"}),
        (["--language", "zh"], {"mmbench", "simplevqa"}, {"gqa"}),
        (["--license", "cc-by*"], {"gqa", "charxiv"}, {"mathvision"}),
        (["--license", "MIT"], {"mathvision", "pope"}, {"gqa"}),
        (["--proof", "published outputs"], {"mathvision", "mmmu"}, {"gqa", "eyechart"}),
        (["--proof", "own"], {"eyechart"}, {"mathvision"}),
        (["--judge"], {"mm-vet", "mathvista"}, {"pope"}),
        (["--no-judge"], {"pope"}, {"mm-vet", "mathvista"}),
        (["--kind", "choice", "--language", "zh"], {"mmbench"}, {"mmstar", "simplevqa"}),
    ],
)
def test_filters_select_benchmarks_that_match_all_of_them(
    snellen: Snellen, filters: list[str], within: set[str], without: set[str]
) -> None:
    document = snellen("list", *filters, "--json").json

    assert set(document) == {"benchmarks"}
    assert within <= names(document)
    assert not without & names(document)
    listed = snellen("list", *filters).out
    assert all(f"  {name} " in listed for name in within)
    assert not any(f"  {name} " in listed for name in without)


def test_a_value_that_does_not_exist_is_an_error_that_lists_the_values(snellen: Snellen) -> None:
    done = snellen("list", "--kind", "essay")

    assert done.code == 2
    assert "--kind essay: there is no such kind" in done.err
    assert "box, caption, chat, choice, mixed, number, point, span, text, words, yes-no" in done.err


def test_values_that_no_benchmark_combines_give_an_empty_list(snellen: Snellen) -> None:
    filters = ("--kind", "caption", "--language", "zh")
    done = snellen("list", *filters)

    assert done.code == 0
    assert "no benchmark matches" in done.out
    assert snellen("list", *filters, "--json").json == {"benchmarks": []}


def test_filters_are_for_benchmarks_only(snellen: Snellen) -> None:
    done = snellen("list", "models", "--kind", "words")

    assert done.code == 2
    assert "apply only to benchmarks" in done.err


@pytest.mark.parametrize("columns", [60, 80, 132])
def test_no_line_of_the_table_is_wider_than_the_terminal(tmp_path: Path, columns: int) -> None:
    text = in_terminal(tmp_path, columns)

    assert max(map(len, text.splitlines())) <= columns
    assert all(f"  {entry.name}"[:columns] in text for entry in registry.entries())
    if columns >= 80:
        assert "published outputs" in text
        assert "CC-BY-NC-SA-4.0" in text


def in_terminal(folder: Path, columns: int) -> str:
    """The output of `snellen list benchmarks` in a terminal of this width."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": f"{columns}", "SNELLEN_HOME": f"{folder}"}
    command = [sys.executable, "-m", "snellen", "list", "benchmarks"]
    process = subprocess.Popen(command, env=environment, stdout=theirs)
    os.close(theirs)
    output = bytearray()
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the end of the output on Linux
            break
        if not part:
            break
        output += part
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return output.decode().replace("\r\n", "\n")
