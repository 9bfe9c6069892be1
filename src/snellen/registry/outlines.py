"""Lists what Python files define without importing the files. The lists are cached until the files
change."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import msgspec

from snellen.home import home

FORMAT = 3
CONSTANTS = (
    "ALIASES",
    "KIND",
    "LANGUAGES",
    "LICENSE",
    "NEEDS_JUDGE",
    "OTHER_SIZES",
    "PROOF",
    "SIZE",
)
"""The constants that are read from a benchmark's file. The values of the constants must be
literals."""


class Definition(msgspec.Struct, frozen=True):
    """A function or a class in a file."""

    docstring: str = ""
    """The docstring; empty if there is none."""
    returns: str = ""
    """For a function, the source text of its return annotation."""
    reads_data: bool = False
    """Whether a function uses its parameter `data` for anything except raising an error."""
    is_class: bool = False
    """Whether the definition is a class."""


class Outline(msgspec.Struct, frozen=True):
    """What a file defines."""

    docstring: str = ""
    """The file's docstring."""
    constants: dict[str, Any] = {}
    """The values of `CONSTANTS` that are literals."""
    definitions: dict[str, Definition] = {}
    """The public functions and classes, in the order of the file."""


class _StoredOutline(msgspec.Struct):
    """One file's outline, with the modification time and size of the file."""

    modified: int
    size: int
    outline: Outline


class _Cache(msgspec.Struct):
    format: int = FORMAT
    files: dict[str, _StoredOutline] = {}


_in_memory: dict[str, _StoredOutline] = {}


def outlines(paths: Iterable[Path]) -> Iterator[tuple[Path, Outline]]:
    """Yield the outlines of the files that exist. Files that have changed are read again."""
    stamps = {}
    for path in paths:
        try:
            stat = path.stat()
        except OSError:
            continue
        stamps[path] = (stat.st_mtime_ns, stat.st_size)
    if any(_lookup(_in_memory, path, stamp) is None for path, stamp in stamps.items()):
        stored = _stored()
        changed = False
        for path, stamp in stamps.items():
            kept = _lookup(_in_memory, path, stamp) or _lookup(stored, path, stamp)
            changed |= kept is None
            _in_memory[f"{path}"] = kept or _StoredOutline(*stamp, _outline(path))
        if changed:
            _store({**stored, **_in_memory})
    for path in stamps:
        yield path, _in_memory[f"{path}"].outline


def outline(path: Path) -> Outline:
    """Return the outline of a file. The outline is empty if the file cannot be read."""
    return next((outline for _, outline in outlines([path])), Outline())


def _lookup(
    files: Mapping[str, _StoredOutline], path: Path, stamp: tuple[int, int]
) -> _StoredOutline | None:
    kept = files.get(f"{path}")
    return kept if kept is not None and (kept.modified, kept.size) == stamp else None


def _cache_path() -> Path:
    return home() / "outlines.json"


def _stored() -> Mapping[str, _StoredOutline]:
    try:
        cache = msgspec.json.decode(_cache_path().read_bytes(), type=_Cache)
    except (OSError, msgspec.DecodeError):
        return {}
    return cache.files if cache.format == FORMAT else {}


def _store(files: Mapping[str, _StoredOutline]) -> None:
    """Store outlines for the next process. If storing fails, the next process reads the files
    again."""
    there = {path: kept for path, kept in files.items() if Path(path).exists()}
    path = _cache_path()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Each process writes to a temporary file with a unique name, because several may write at
        # the same time. The last one wins.
        with NamedTemporaryFile(dir=path.parent, prefix=".outlines", delete=False) as part:
            try:
                part.write(msgspec.json.encode(_Cache(files=there)))
                part.flush()
                os.replace(part.name, path)
            finally:
                Path(part.name).unlink(missing_ok=True)


def _outline(path: Path) -> Outline:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):  # importing the file will report the error
        return Outline()
    return Outline(
        docstring=ast.get_docstring(tree) or "",
        constants=dict(_constants(tree)),
        definitions={
            node.name: _definition(node)
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
        },
    )


def _constants(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value):
                pass
            case _:
                continue
        if name in CONSTANTS:
            try:
                yield name, msgspec.to_builtins(ast.literal_eval(value))
            except (ValueError, TypeError):
                continue


def _definition(node: ast.FunctionDef | ast.ClassDef) -> Definition:
    docstring = ast.get_docstring(node) or ""
    if isinstance(node, ast.ClassDef):
        return Definition(docstring=docstring, is_class=True)
    returns = "" if node.returns is None else ast.unparse(node.returns)
    return Definition(docstring=docstring, returns=returns, reads_data=_reads_data(node))


def _reads_data(function: ast.FunctionDef) -> bool:
    waiting: list[ast.AST] = [function]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and node.id == "data":
            return True
        if not (isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise)):
            waiting += ast.iter_child_nodes(node)
    return False
