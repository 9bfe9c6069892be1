"""Draw sentences at random from docstrings, comments, messages, and guides, to be read aloud.

usage: python scripts/sentences.py [N] [--seed SEED]

Prints N sentences (default 100), each with its file and line. The default seed is the hash of the
current commit, so that everyone draws the same sentences and nobody can choose them.
"""

import argparse
import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[1]
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])")
SQL = re.compile(r"\s*(SELECT|INSERT|WITH|CREATE|UPDATE|DELETE)\b|.* (FROM|WHERE) ", re.DOTALL)
FENCE = re.compile(r"^( *)(`{3,})(.*?)^\1\2$", re.MULTILINE | re.DOTALL)
SHORTEST = 5
"""Sentences with fewer words are left out."""


def of_python(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, text) for docstrings and other strings, which may be messages.

    SQL and the constants of benchmarks, which are mostly official prompts, are left out.
    """
    tree = ast.parse(path.read_bytes())
    constants = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    quoted = [ast.walk(node) for node in constants if "benchmarks" in path.parts]
    skipped = {id(node) for nodes in quoted for node in nodes}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) not in skipped and not SQL.match(node.value):
            for paragraph in node.value.split("\n\n"):
                lines = paragraph.splitlines()
                if not any(line.startswith((">>>", "    ")) for line in map(str.strip, lines)):
                    yield node.lineno, " ".join(paragraph.split())


def of_markdown(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, text) for paragraphs and items, without code blocks and tables."""
    text = FENCE.sub(lambda match: "\n" * match[0].count("\n"), path.read_text(encoding="utf-8"))
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith(("|", "#", "```", "<")):
            yield number, re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line.strip("-* "))


def sentences() -> Iterator[tuple[str, str]]:
    """Yield (file:line, sentence) for everything that a reader sees, in order."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    for path in sorted(file for file in files if ".zh-CN." not in file.name):
        texts = of_python(path) if path.suffix == ".py" else of_markdown(path)
        for line, text in texts:
            for sentence in SENTENCE.split(text):
                if len(sentence.split()) >= SHORTEST and sentence[-1:] in ".!?":
                    yield f"{path.relative_to(ROOT)}:{line}", sentence


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("n", nargs="?", type=int, default=100, help="how many")
    parser.add_argument("--seed", help="default: the hash of the current commit")
    options = parser.parse_args()
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    everything = sorted(set(sentences()))
    for source, sentence in Random(options.seed or commit).sample(everything, options.n):
        print(f"{source}\n    {sentence}")


if __name__ == "__main__":
    main()
