"""The blocks of a page in Markdown, and how its commands are run and their output compared.

- A block `console` is run: each line after `$ ` (with those after `> `) is a command, what follows
  up to the next is what it writes to standard output. All of a page's commands run in one folder,
  in order, and must end with 0. `…` stands for anything within a line, a line of `…` alone for any
  lines; blanks at the ends of lines do not count. Nothing else is masked.
- A block `python` that begins with `# NAME.py` is that file. A block of `json` or `toml` is the
  file whose name, in backticks, was named last before it.
- `http://localhost:8000/v1` is a server that answers "A" to every question.
- Commands in any other block are not run; `tests/test_commands.py` reads their options.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
SERVER = "http://localhost:8000/v1"
FENCE = re.compile(r"^( *)(`{3,})(.*?)\n(.*?)^\1\2$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`([\w.-]+\.(?:jsonl|json|toml))`")


@dataclass(frozen=True)
class Block:
    """One fenced block: what stands behind its fence, its text, and the page's text before it."""

    info: str
    text: str
    before: str


@dataclass(frozen=True)
class Command:
    """A command of a page, and what it must write."""

    line: str
    output: str


def blocks(page: str) -> list[Block]:
    return [
        Block(match[3].strip(), match[4], page[: match.start()]) for match in FENCE.finditer(page)
    ]


def commands(block: Block) -> Iterator[Command]:
    """The commands of a `console` block."""
    lines = block.text.splitlines()
    starts = [position for position, line in enumerate(lines) if line.startswith("$ ")]
    assert starts[:1] == [0], f"a console block begins with a command:\n{block.text}"
    for start, end in pairwise([*starts, len(lines)]):
        stop = start + 1
        while stop < end and lines[stop].startswith("> "):
            stop += 1
        typed = "\n".join(line[2:] for line in lines[start:stop])
        yield Command(typed, "\n".join(lines[stop:end]))


def file_name(block: Block) -> str | None:
    """The file that a block is, if it is one."""
    if block.info == "python":
        match = re.match(r"# (\S+\.py)\n", block.text)
        return match[1] if match else None
    if block.info in ("json", "toml"):
        return next(iter(reversed(FILE.findall(block.before))), None)
    return None


def matches(expected: str, output: str) -> bool:
    pattern = ""
    for line in expected.splitlines():
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
            continue
        ends = re.escape(line.rstrip()).replace(r"\ …", r"(?:\ [^\n]*)?").replace("…", r"[^\n]*?")
        pattern += ends + r"\n"
    lines = "".join(f"{line.rstrip()}\n" for line in output.splitlines())
    return re.fullmatch(pattern, lines) is not None


def shell(
    folder: Path, python: Path | str = sys.executable, source: Path | None = ROOT / "src"
) -> Mapping[str, str]:
    """The environment of a newcomer: the command, a Python, no keys, no data, no settings. The
    package is the one in `source`; None: the one that is installed."""
    programs = folder / ".bin"
    programs.mkdir(exist_ok=True)
    for name, words in (("snellen", "-m snellen "), ("python", "")):
        path = programs / name
        path.write_text(f'#!/bin/sh\nexec "{python}" {words}"$@"\n')
        path.chmod(0o755)
    return {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(folder / ".home"),
        **({} if source is None else {"PYTHONPATH": str(source)}),
        "LANG": "C.UTF-8",
        "COLUMNS": "100",
    }


def followed(
    page: str, folder: Path, server: str, environment: Mapping[str, str] | None = None
) -> int:
    """Run the commands of a page in a folder, and return their number."""
    environment = environment or shell(folder)
    done = 0
    for block in blocks(page):
        if name := file_name(block):
            (folder / name).write_text(block.text, encoding="utf-8")
        for command in commands(block) if block.info == "console" else ():
            ran = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", command.line.replace(SERVER, server)],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert ran.returncode == 0, f"$ {command.line}\n{ran.stdout}{ran.stderr}"
            text = f"$ {command.line}\nit wrote\n{ran.stdout}\nand not\n{command.output}"
            assert matches(command.output, ran.stdout), text
            done += 1
    return done
