"""A TAB, in the shells themselves."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.test_cli.conftest import Snellen, snellen

__all__ = ["snellen"]
SOURCE = Path(__file__).parents[2] / "src"
BASH = """
source <(snellen completion bash)
COMP_LINE=$LINE COMP_POINT=${#LINE}
compopt() { OPTIONS+=("$*"); }
_snellen_completion snellen
printf '%s\\n' "${COMPREPLY[@]}" "options: ${OPTIONS[*]}"
"""
# What zsh's own functions would be told to offer.
ZSH = """
compdef() { :; }
_describe() { print -rl -- "${described[@]}"; }
compadd() { print -rl -- "${@[$#]}: ${(P)@[$#]}"; }
_path_files() { print -- files; }
source <(snellen completion zsh)
words=(${(z)LINE}) CURRENT=$#words
if [[ $LINE == *" " ]]; then words+=(""); CURRENT=$#words; fi
_snellen_completion
"""
FISH = """
snellen completion fish | source
complete --do-complete "$LINE"
"""


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """Shells that have the command, and this source."""
    program = tmp_path / "bin/snellen"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m snellen "$@"\n')
    program.chmod(0o755)
    return {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PYTHONPATH": str(SOURCE),
        "LANG": "C.UTF-8",
    }


def offered(shell: str, script: str, line: str, environment: Mapping[str, str]) -> list[str]:
    """The lines that a shell prints of what it offers behind `line`."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    ran = subprocess.run(
        [shell, "-c", script],
        env={**environment, "LINE": line},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0 and ran.stderr == ""
    return ran.stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("snellen ju", ["judge", "options: "]),
        ("snellen run --max-c", ["--max-cost", "options: "]),
        ("snellen run -b mmb", ["mmbench", "mmbench-video", "mmbench_en_dev"]),
        ("snellen run -b MMBench_DEV_EN_V", ["MMBench_DEV_EN_V11", "options: "]),
        ("snellen run -m openai-", ["openai-responses/", "options: -o nospace"]),
        ("snellen run --serve v", ["vllm", "options: "]),
        ("snellen show poper", ["options: -o default"]),
        ("snellen data get scienceq", ["scienceqa", "scienceqa_full"]),
        # Of words with : and = bash replaces the last part alone.
        ("snellen run -b suite:qu", ["quick", "options: "]),
        ("snellen run -b mmbench:lang=en,split=te", ["test", "options: "]),
        ("snellen run -b nothing:such=", ["options: -o default"]),
    ],
)
def test_bash_offers_what_fits(
    line: str, wanted: list[str], environment: Mapping[str, str]
) -> None:
    words = [word for word in offered("bash", BASH, line, environment) if word]
    assert words[: len(wanted)] == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("snellen ju", ["judge:Ask a judge model about replies that the rules leave undecided."]),
        ("snellen run -m openai-", ["begun: openai-responses/"]),
        ("snellen run --serve v", ["whole: vllm"]),
        ("snellen show poper", ["files"]),
    ],
)
def test_zsh_offers_what_fits(line: str, wanted: list[str], environment: Mapping[str, str]) -> None:
    assert offered("zsh", ZSH, line, environment) == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("snellen ju", ["judge\tAsk a judge model about replies that the rules leave undecided."]),
        ("snellen run --serve v", ["vllm"]),
        ("snellen run -m openai-", ["openai-responses/\tOpenAI's Responses API"]),
        ("snellen run -b mmbench:lang=en,split=te", ["mmbench:lang=en,split=test"]),
    ],
)
def test_fish_offers_what_fits(
    line: str, wanted: list[str], environment: Mapping[str, str]
) -> None:
    assert offered("fish", FISH, line, environment) == wanted


@pytest.mark.parametrize("verb", ["run", "show"])
def test_a_file_is_offered_where_no_benchmark_begins_so(
    verb: str, environment: Mapping[str, str]
) -> None:
    option = "-b " if verb == "run" else ""
    assert "options: -o default" in offered(
        "bash", BASH, f"snellen {verb} {option}./mine.js", environment
    )


def test_a_tab_loads_no_package_that_the_verb_does_not_load_to_start(
    environment: Mapping[str, str],
) -> None:
    def packages(arguments: list[str], **variables: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "snellen", *arguments],
            env={**environment, **variables},
            capture_output=True,
            check=True,
            text=True,
        )
        modules = (line.rpartition("|")[2].strip() for line in done.stderr.splitlines())
        return {module.partition(".")[0] for module in modules} - set(sys.stdlib_module_names)

    tab = packages(
        [], COMP_WORDS="snellen run --max-", COMP_CWORD="2", _SNELLEN_COMPLETE="bash_complete"
    )
    assert "snellen" in tab
    assert tab <= packages(["run", "--help"])


def test_the_script_is_there_as_json(snellen: Snellen) -> None:
    done = snellen("completion", "bash", "--json")
    assert done.json["shell"] == "bash"
    assert done.json["script"] == snellen("completion", "bash").out


def test_a_shell_that_is_not_known_is_named(snellen: Snellen) -> None:
    done = snellen("completion", "tcsh")
    assert done.code == 2 and "tcsh" in done.err
