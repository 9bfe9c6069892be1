"""The commands of README and guides, run where they can be, and read by the command line where
they cannot."""

import re
import shlex
from pathlib import Path

import click
import pytest

from snellen import registry
from snellen.cli import VERBS, Verbs, cli
from snellen.errors import SnellenError
from tests.pages import Block, blocks, commands, followed, matches
from tests.servers import completion, serving

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN = [path for path in PAGES if "```console" in path.read_text() and ".zh-CN." not in path.name]
PLACEHOLDERS = {"my-bench", "NAME", "BENCH", "URL", "N", "X"}
FOREIGN = ("suite:", "-", "vlmevalkit-class:")
"""The beginnings of words that are no benchmarks of the catalog."""


def lines(block: Block) -> list[str]:
    """The calls of `snellen` in a block, whether they are run or not; lines that end in a
    backslash go on."""
    text = block.text.replace("\\\n", " ")
    calls = re.findall(r"^(?:\$ )?(snellen [^\n#|>]+)", text, re.MULTILINE)
    return [line.strip() for line in calls]


CALLS = [
    pytest.param(line, id=f"{path.name}: {line}"[:90])
    for path in PAGES
    for line in dict.fromkeys(line for block in blocks(path.read_text()) for line in lines(block))
]


@pytest.mark.parametrize("path", RUN, ids=lambda path: path.name)
def test_the_commands_of_a_page_do_what_it_says(path: Path, tmp_path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    with serving(completion("A")) as server:
        done = followed(page, tmp_path, server.url)
    assert done == sum(
        1 for block in blocks(page) if block.info == "console" for _ in commands(block)
    )


@pytest.mark.parametrize("line", CALLS)
def test_a_command_of_a_page_is_one(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for asks_a_store in ("mirrored.pull", "_fetched.fetch"):  # there is no such bucket
        monkeypatch.setattr(f"snellen.store.{asks_a_store}", lambda path, **_: None)
    for name in re.findall(r"\S+\.toml", line):
        Path(name).write_text("")
    _, verb, *arguments = shlex.split(line)
    assert verb in VERBS
    assert isinstance(cli, Verbs)
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    settings = cli.context_settings  # click keeps the first help option that it makes
    context: click.Context | None = command.make_context(verb, arguments, **settings)
    assert context
    for name in re.findall(r"(?:-b|data get|show|check|power|contamination) (\S+)", line):
        is_foreign = name.startswith(FOREIGN) or registry.is_toolkit(name)
        if name not in PLACEHOLDERS and not is_foreign:
            known(name)
    for name in re.findall(r"-m (\S+)", line):
        prefix = name.partition("/")[0].partition(":")[0]
        assert prefix in {known.partition("/")[0].partition(":")[0] for known in registry.MODELS}


def known(name: str) -> None:
    if re.search(r"\.(jsonl|json|tsv|csv|parquet|py(:.*)?)$", name):
        return  # a file of the reader's
    try:
        registry.benchmark(name)
    except SnellenError as error:
        pytest.fail(str(error))


def test_an_ellipsis_stands_for_what_differs_and_for_nothing_else() -> None:
    assert matches("a … c\n…\nend", "a b c\nx\ny\nend\n")
    assert matches("a …\nend", "a\nend\n")
    assert matches("value […, …]", "value [1, 2]   \n")
    assert not matches("a … c", "a b d\n")
    assert not matches("a", "a\nb\n")
    assert not matches("…\nend", "x\nthe end\n")
