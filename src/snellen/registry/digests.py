"""Digests of the code that strangers bring, which tell one version of it from the next.

A digest covers a benchmark's file and the modules of the stranger's own that it imports, directly
or through each other, anywhere in a file. Own is what lies in the file's folder or below it and,
for a module of a package, in that package. With the benchmark made, the files of the functions and
classes that it holds are added: its metrics may come from another package.

What isn't followed: Python's own modules, Snellen's, those of other installed packages
(`site-packages`), imports by computed names (`importlib`), files that code reads, and a package's
`__init__.py`, unless something is imported from it.
"""

from __future__ import annotations

import ast
import inspect
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from snellen.core.benchmark import Benchmark
from snellen.registry.plugins import Plugin, file_of_module

PACKAGE = Path(__file__).resolve().parents[1]
STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib")).resolve()
INSTALLED = frozenset(("site-packages", "dist-packages"))
"""Folders that hold packages of several authors."""

Files = Mapping[Path, str]
"""Files of code, each with the digest of its content."""


def files_of(file: Path, module: str | None = None) -> Files:
    """A file and the modules of its author that it imports. `module` is the file's name in Python,
    with dots; None for a file that belongs to no package.

    Raises:
        OSError: the file cannot be read.
    """
    file = file.resolve()
    text = file.read_bytes()
    files = {file: _digest(text)}
    home = _home_of(file, module)
    if home is None:
        return files
    waiting = [(text, home.package)]
    while waiting:
        text, package = waiting.pop()
        for name, path in _own_imports(text, package, home):
            if path in files:
                continue
            with suppress(OSError):  # the import itself will say so
                inner = path.read_bytes()
                files[path] = _digest(inner)
                is_package = path.name == "__init__.py"
                waiting.append((inner, name if is_package else name.rpartition(".")[0]))
    return files


_files_when_loaded: WeakKeyDictionary[ModuleType, Files] = WeakKeyDictionary()


def files_of_module(module: ModuleType) -> Files:
    """The files of an imported module, as they were when this process first asked: an edit changes
    no code that is already loaded. Empty if the module is no Python file."""
    files = _files_when_loaded.get(module)
    if files is None:
        file = getattr(module, "__file__", None)
        files = {} if file is None else files_of(Path(file), module.__name__)
        _files_when_loaded[module] = files
    return files


def digest_of_files(files: Files) -> str | None:
    """The digest of a single file, or one of several; None without any."""
    return _together(files.values())


def digest_of_plugin(plugin: Plugin) -> str:
    """Of the package's name and version, and of the files of the plug-in's module."""
    files = files_of_module(sys.modules[plugin.module])
    parts = (plugin.distribution, plugin.version, digest_of_files(files) or "")
    return _digest("\0".join(parts).encode())


def digest_of_benchmark(benchmark: Benchmark) -> str | None:
    """Of the files of its functions and classes, and of what these import. Of code without a file,
    such as a notebook's, it is the functions' source. None where no source can be read."""
    digests = {*_code_files(benchmark).values()}
    # A single one is digested once more, as several are.
    return _digest("".join(sorted(digests)).encode()) if digests else None


def with_benchmark(digest: str | None, files: Files, benchmark: Benchmark) -> str | None:
    """The digest of the files that a benchmark was made from, with that of any other file that its
    functions are in: its metrics may come from another package."""
    others = {other for file, other in _code_files(benchmark).items() if file not in files}
    return _together([*([digest] if digest else []), *others])


def _together(digests: Iterable[str]) -> str | None:
    several = sorted({*digests})
    if len(several) < 2:
        return several[0] if several else None
    return _digest("".join(several).encode())


def _digest(text: bytes) -> str:
    return blake2b(text, digest_size=16).hexdigest()


# -- what a file imports


@dataclass(frozen=True)
class _Home:
    """Where the author of a file keeps code."""

    folder: Path
    """What lies in it or below it is the author's."""
    search: Path
    """The folder that names of modules begin from."""
    package: str
    """The package that the file belongs to, with dots; empty if there is none."""
    is_own: dict[str, bool] = field(default_factory=dict)
    """Modules and packages by the first part of their names: whether the author may have made any
    of their files."""


def _home_of(file: Path, module: str | None) -> _Home | None:
    """None if the file lies among packages of several authors, in none of them."""
    is_package = file.name == "__init__.py"
    stems = file.parent.parts if is_package else file.with_suffix("").parts
    parts = tuple(module.split(".")) if module else ()
    home = _Home(file.parent, file.parent, "")
    if parts and stems[-len(parts) :] == parts and (is_package or len(parts) > 1):
        top = Path(*stems[: len(stems) - len(parts) + 1])
        home = _Home(top, top.parent, ".".join(parts if is_package else parts[:-1]))
    return None if home.folder.name in INSTALLED else home


def _own_imports(text: bytes, package: str, home: _Home) -> Iterator[tuple[str, Path]]:
    """The author's modules that a file imports: their names and files."""
    for level, module, names in _imports(text):
        if level:
            parts = package.split(".") if package else []
            if level > len(parts):
                continue  # the import itself fails
            module = ".".join([*parts[: len(parts) - level + 1], *filter(None, [module])])
        # What is taken from a package is a module in it, or stands in its `__init__.py`.
        inner = {f"{module}.{name}": _own_file(f"{module}.{name}", home) for name in names}
        yield from ((name, path) for name, path in inner.items() if path is not None)
        if (not names or None in inner.values()) and (path := _own_file(module, home)):
            yield module, path


def _own_file(name: str, home: _Home) -> Path | None:
    """The file of a module; None if it is not there, or somebody else's."""
    top = name.partition(".")[0]
    if top not in home.is_own:  # looked up once: most imports are of other people's packages
        home.is_own[top] = top not in sys.stdlib_module_names and _may_be_in(home, top)
    if not home.is_own[top]:
        return None
    file = file_of_module(name, [f"{home.search}", *sys.path])
    if file is None:
        return None
    file = file.resolve()
    if not file.is_relative_to(home.folder) or _is_of_python_or_snellen(file):
        return None
    is_installed = INSTALLED.intersection(file.relative_to(home.folder).parts)
    return None if is_installed else file


def _may_be_in(home: _Home, top: str) -> bool:
    """Whether a module or package, by the first part of its name, may have files of the author."""
    spec = PathFinder.find_spec(top, [f"{home.search}", *sys.path])
    if spec is None:
        return False
    if spec.submodule_search_locations is None:  # a module, which may lie anywhere
        return True
    folders = [Path(folder).resolve() for folder in spec.submodule_search_locations]
    return any(
        not folder.is_relative_to(PACKAGE)
        and (folder.is_relative_to(home.folder) or home.folder.is_relative_to(folder))
        for folder in folders
    )


@lru_cache(maxsize=256)
def _imports(text: bytes) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
    """Each import of a file: its leading dots, its module, and the names that it takes of it."""
    try:
        waiting: list[ast.AST] = [ast.parse(text)]
    except (SyntaxError, ValueError):  # the import will say what is wrong
        return ()
    imports: list[tuple[int, str, tuple[str, ...]]] = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            imports += [(0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            imports.append((node.level, node.module or "", names))
        else:  # imports are statements, which lie in no expression
            inner = ast.iter_child_nodes(node)
            waiting += [child for child in inner if not isinstance(child, ast.expr)]
    return tuple(imports)


def _is_of_python_or_snellen(file: Path) -> bool:
    is_python = file.is_relative_to(STANDARD_LIBRARY) and not INSTALLED.intersection(file.parts)
    return is_python or file.is_relative_to(PACKAGE)


# -- what a benchmark holds


def _code_files(benchmark: Benchmark) -> Mapping[Path | bytes, str]:
    """The files that a benchmark's functions and classes are in and what these import, and the
    source of functions without a file. An installed package's file is taken alone."""
    files: dict[Path | bytes, str] = {}
    for code in _code_in(benchmark, set()):
        file = _source_file(code)
        if file is None:
            if text := _source_text(code):
                files[text] = _digest(text)
        elif file not in files and not _is_of_python_or_snellen(file):
            with suppress(OSError):
                if INSTALLED.intersection(file.parts):
                    files[file] = _digest(file.read_bytes())
                else:
                    files.update(files_of(file, code.__module__).items())
    return files


def _code_in(value: Any, seen: set[int]) -> Iterator[Any]:
    """The functions and classes that a benchmark uses; its rows are not looked through."""
    if id(value) in seen:
        return
    seen.add(id(value))
    held: Iterable[Any] = ()
    if isinstance(value, partial):
        held = [value.func, *value.args, *value.keywords.values()]
    elif inspect.ismethod(value):
        held = [value.__func__, value.__self__]
    elif inspect.isroutine(value):
        yield value
        cells = getattr(value, "__closure__", None) or ()
        inside = [cell.cell_contents for cell in cells if _is_set(cell)]
        held = [inner for inner in inside if callable(inner) or is_dataclass(inner)]
    elif inspect.isclass(value):
        yield value
    elif isinstance(value, Mapping):
        held = value.values()
    elif isinstance(value, tuple):
        held = value
    else:
        yield type(value)
        held = vars(value).values() if hasattr(value, "__dict__") else ()
    for inner in held:
        is_table = hasattr(inner, "facts")
        if callable(inner) or is_dataclass(inner) or is_table or isinstance(inner, Mapping | tuple):
            yield from _code_in(inner, seen)


def _is_set(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # a variable that has no value yet
        return False


def _source_file(code: Any) -> Path | None:
    """The file that a function or class is in; None if there is none."""
    try:
        file = inspect.getsourcefile(code)
    except (OSError, TypeError):  # built in
        return None
    return _resolved(file) if file is not None and Path(file).is_file() else None


@lru_cache(maxsize=1024)
def _resolved(file: str) -> Path:
    return Path(file).resolve()


def _source_text(code: Any) -> bytes | None:
    try:
        return inspect.getsource(code).encode()
    except (OSError, TypeError):  # built in, or typed where no source is kept
        return None
