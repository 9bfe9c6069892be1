"""docs/coming-from.md, followed literally."""

import re
import shlex
from pathlib import Path

import click
import pytest

from snellen import registry
from snellen.cli import Verbs, cli
from tests.test_cli.conftest import Snellen, snellen

__all__ = ["snellen"]
PAGE = (Path(__file__).parents[1] / "docs" / "coming-from.md").read_text()
LINES = re.findall(r"(?:^|`)(snellen [^`\n]+)", PAGE, re.MULTILINE)
OURS = [row.split(" | ")[-1] for row in PAGE.splitlines() if row.startswith("| `")]
OPTIONS = [option for cell in OURS for option in re.findall(r"`(--[^`]+)`", cell)]
FILES = dict(re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE, re.DOTALL))
BENCHMARKS = {name for line in LINES for name in re.findall(r"-b (\S+)", line)}


def parsed(line: str) -> click.Context:
    _, verb, *arguments = shlex.split(line)
    assert isinstance(cli, Verbs)
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None, f"there is no verb {verb}"
    settings = cli.context_settings  # click keeps the first help option that it makes
    return command.make_context(verb, arguments, **settings)


@pytest.mark.parametrize("line", dict.fromkeys(LINES))
def test_every_command_on_the_page_is_one(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text("")
    assert parsed(line)


@pytest.mark.parametrize("option", dict.fromkeys(OPTIONS))
def test_every_option_on_the_page_is_one_of_run(option: str) -> None:
    assert parsed(f"snellen run {option}")


@pytest.mark.parametrize("name", sorted(name for name in BENCHMARKS if ".py" not in name))
def test_every_data_set_on_the_page_is_known(name: str) -> None:
    assert registry.reads_data(name) or name == "eyechart"


@pytest.fixture
def files(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


@pytest.mark.parametrize(
    "line", [line for line in LINES if any(name in line for name in ("my_model.py", "my_set.py"))]
)
def test_the_classes_on_the_page_run_by_its_commands(
    line: str, snellen: Snellen, files: None
) -> None:
    done = snellen(*shlex.split(line)[1:], "--json")

    assert done.code == 0
    assert done.json["replies"] == {"ok": done.json["n"]}


def test_the_set_on_the_page_is_scored_by_its_evaluate(snellen: Snellen, files: None) -> None:
    done = snellen(
        *("run", "-m", "vlmevalkit:my_model.py:MyModel"),
        *("-b", "vlmevalkit-class:my_set.py:MySet", "--json"),
    )
    # It says nothing where there is no picture.
    metrics = done.json["scorings"]["evaluate"]["metrics"]
    assert {name: estimate["value"] for name, estimate in metrics.items()} == {
        "primary": 0,
        "Overall": 0,
    }


def test_the_page_has_what_is_tested_of_it() -> None:
    assert len(LINES) > 10 and len(OPTIONS) > 10
    assert set(FILES) == {"my_model.py", "my_set.py"}
