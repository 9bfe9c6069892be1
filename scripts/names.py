"""Check that names do not contain banned words, which do not say what a name stands for.

usage: python scripts/names.py [PATH...]

Without arguments, it checks the folders in `CLEAN` and exits with 1 if one has a banned name. With
files or folders, it lists their banned names. Fields of `msgspec.Struct` are stored in files and
keep their names. Names of tests are sentences (`test_a_reply_is_kept_once`) and are not checked.
Without arguments, it also checks that no two classes in `src` have the same name.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BANNED = {
    *("found", "said", "told", "made", "asked", "given", "named"),
    *("one", "each", "whole", "place", "beside", "among", "spent"),
}
"""Words that do not say what a name stands for."""
REQUIRED = {"connection_made"}
"""Names that other packages require, such as those of asyncio's protocols."""
CLEAN = ("src/snellen", "tests", "perf", "scripts", "docs")
"""Folders and files without banned names. Add more, but do not remove any."""


def bound_name(node: ast.AST) -> str | None:
    """The name that a node binds, if any. Uses of names are not counted, only bindings."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.arg(arg=name) | ast.alias(asname=name) | ast.ExceptHandler(name=name):
            return name
        case ast.MatchAs(name=name) | ast.MatchStar(name=name) | ast.MatchMapping(rest=name):
            return name
    return None


def banned_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each binding whose name is or contains a banned word."""
    stored = {
        id(field.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and any("Struct" in ast.unparse(b) for b in node.bases)
        for field in node.body
        if isinstance(field, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        name = bound_name(node)
        is_sentence = name is not None and name.startswith("test_")
        words = set() if name is None or name in REQUIRED else set(name.lower().split("_"))
        banned = bool(BANNED & words)
        if name and banned and not is_sentence and id(node) not in stored:
            yield getattr(node, "lineno", 0), name


def doubled_classes(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The name of each class that is defined more than once in a folder, and the files."""
    files: dict[str, list[str]] = {}
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, []).append(str(file.relative_to(ROOT)))
    return ((name, where) for name, where in files.items() if len(where) > 1)


def main(paths: list[str]) -> int:
    number = 0
    for name, files in () if paths else doubled_classes(ROOT / "src"):
        number += 1
        print(f"{' and '.join(files)} define the class {name}. Rename all but one.")
    for path in paths or CLEAN:
        folder = ROOT / path
        if not folder.exists():
            sys.exit(f"{folder}: no such file or folder.")
        for file in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            for line, name in banned_names(ast.parse(file.read_bytes())):
                number += 1
                print(
                    f"{file.relative_to(ROOT)}:{line}: {name} is a banned name. "
                    "Say what it stands for."
                )
    return 1 if number and not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
