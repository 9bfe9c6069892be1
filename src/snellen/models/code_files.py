"""Finds the files of a user's code: a file, and the author's other modules that the file imports.

The author's modules are those in the file's folder or below it. If the file is a module of a
package, all modules of that package count as the author's, too. Modules of Python, of Snellen, and
of other packages in `site-packages` are left out, and so are files that the code reads. Modules
that are imported under a computed name, with `importlib`, cannot be recognized. A package's
`__init__.py` is included only if the code imports something from it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from snellen.core.rule_errors import INSTALLED, PACKAGE, STANDARD_LIBRARY

Files = Mapping[Path, str]
"""Maps each file to the digest of its content."""


def files_of(file: Path, module: str | None = None) -> Files:
    """Return a file and the author's other modules that the file imports. `module` is the dotted
    name of the file as a Python module, or None if the file belongs to no package.

    Raises:
        OSError: the file cannot be read.
    """
    file = file.resolve()
    text = file.read_bytes()
    files = {file: digest_of(text)}
    home = _home_of(file, module)
    if home is None:
        return files
    waiting = [(text, home.package)]
    while waiting:
        text, package = waiting.pop()
        for name, path in _own_imports(text, package, home):
            if path in files:
                continue
            with suppress(OSError):  # the import itself will report it
                inner = path.read_bytes()
                files[path] = digest_of(inner)
                is_package = path.name == "__init__.py"
                waiting.append((inner, name if is_package else name.rpartition(".")[0]))
    return files


_files_when_loaded: WeakKeyDictionary[ModuleType, Files] = WeakKeyDictionary()


def files_of_module(module: ModuleType) -> Files:
    """Return the files of an imported module, or no files if the module is not a Python file. The
    digests are those at the first call in this process, since later edits do not change code that
    is already loaded."""
    files = _files_when_loaded.get(module)
    if files is None:
        file = getattr(module, "__file__", None)
        files = {} if file is None else files_of(Path(file), module.__name__)
        _files_when_loaded[module] = files
    return files


def digest_of_files(files: Files) -> str | None:
    """Return the digest of a single file, or a combined digest of several files, or None if there
    are no files."""
    return digest_of_all(files.values())


def digest_of_code(file: Path, module: str | None = None) -> str:
    """Return the digest of a file and of the author's modules that the file imports. If there are
    no such modules, this is the digest of the file.

    Raises:
        OSError: the file cannot be read.
    """
    digest = digest_of_files(files_of(file, module))
    assert digest is not None
    return digest


def digest_of_all(digests: Iterable[str]) -> str | None:
    several = sorted({*digests})
    if len(several) < 2:
        return several[0] if several else None
    return digest_of("".join(several).encode())


def digest_of(text: bytes) -> str:
    return blake2b(text, digest_size=16).hexdigest()


def file_of_module(module: str, search: Sequence[str] | None = None) -> Path | None:
    """Find a module's file without importing the packages that contain the module. `search` lists
    the folders that may contain the first part of the module's name (None: `sys.path`)."""
    path: Any = search
    loader = None
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        if end > 1 and path is None:
            return None  # a module that is not a package contains no other modules
        spec = PathFinder.find_spec(".".join(parts[:end]), path)
        if spec is None:
            return None
        path, loader = spec.submodule_search_locations, spec.loader
    return Path(loader.path) if isinstance(loader, SourceFileLoader) else None


# -- what a file imports


@dataclass(frozen=True)
class _Home:
    """The folders in which the author of a file keeps code."""

    folder: Path
    """The folder that contains the author's files, also in subfolders."""
    search: Path
    """The folder that contains the file's top-level package or module."""
    package: str
    """The dotted name of the file's package; empty if the file is in no package."""
    is_own: dict[str, bool] = field(default_factory=dict)
    """A cache of whether modules may be the author's, keyed by the first part of a module's
    name."""


def _home_of(file: Path, module: str | None) -> _Home | None:
    """Return where the author of a file keeps code, or None if the file is directly in a folder of
    installed packages."""
    is_package = file.name == "__init__.py"
    stems = file.parent.parts if is_package else file.with_suffix("").parts
    parts = tuple(module.split(".")) if module else ()
    home = _Home(file.parent, file.parent, "")
    if parts and stems[-len(parts) :] == parts and (is_package or len(parts) > 1):
        top = Path(*stems[: len(stems) - len(parts) + 1])
        home = _Home(top, top.parent, ".".join(parts if is_package else parts[:-1]))
    return None if home.folder.name in INSTALLED else home


def _own_imports(text: bytes, package: str, home: _Home) -> Iterator[tuple[str, Path]]:
    """Yield the names and files of the author's modules that a file imports."""
    for level, module, names in _imports(text):
        if level:
            parts = package.split(".") if package else []
            if level > len(parts):
                continue  # the import itself fails
            module = ".".join([*parts[: len(parts) - level + 1], *filter(None, [module])])
        # A name that is imported from a package is either a module in the package, or it is defined
        # in the package's `__init__.py`.
        inner = {f"{module}.{name}": _own_file(f"{module}.{name}", home) for name in names}
        yield from ((name, path) for name, path in inner.items() if path is not None)
        if (not names or None in inner.values()) and (path := _own_file(module, home)):
            yield module, path


def _own_file(name: str, home: _Home) -> Path | None:
    """Return the file of a module, or None if the file does not exist or is not the author's."""
    top = name.partition(".")[0]
    if top not in home.is_own:  # cached, since most imports are of other people's packages
        home.is_own[top] = top not in sys.stdlib_module_names and _may_be_in(home, top)
    if not home.is_own[top]:
        return None
    file = file_of_module(name, [f"{home.search}", *sys.path])
    if file is None:
        return None
    file = file.resolve()
    if not file.is_relative_to(home.folder) or is_of_python_or_snellen(file):
        return None
    is_installed = INSTALLED.intersection(file.relative_to(home.folder).parts)
    return None if is_installed else file


def _may_be_in(home: _Home, top: str) -> bool:
    """Return whether a module or package may contain files of the author. `top` is the first part
    of the module's name."""
    spec = PathFinder.find_spec(top, [f"{home.search}", *sys.path])
    if spec is None:
        return False
    if spec.submodule_search_locations is None:  # a single module, which can be anywhere
        return True
    folders = [Path(folder).resolve() for folder in spec.submodule_search_locations]
    return any(
        not folder.is_relative_to(PACKAGE)
        and (folder.is_relative_to(home.folder) or home.folder.is_relative_to(folder))
        for folder in folders
    )


@lru_cache(maxsize=256)
def _imports(text: bytes) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
    """Return the imports of a file. Each import consists of the number of leading dots, the module,
    and the imported names."""
    try:
        waiting: list[ast.AST] = [ast.parse(text)]
    except (SyntaxError, ValueError):  # the import will report it
        return ()
    imports: list[tuple[int, str, tuple[str, ...]]] = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            imports += [(0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            imports.append((node.level, node.module or "", names))
        else:  # imports are statements, so expressions do not contain them
            inner = ast.iter_child_nodes(node)
            waiting += [child for child in inner if not isinstance(child, ast.expr)]
    return tuple(imports)


def is_of_python_or_snellen(file: Path) -> bool:
    is_python = file.is_relative_to(STANDARD_LIBRARY) and not INSTALLED.intersection(file.parts)
    return is_python or file.is_relative_to(PACKAGE)
