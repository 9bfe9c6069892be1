"""Digests of code from outside Snellen, which distinguish versions of that code.

A digest covers a benchmark's file, and the author's other modules that the file imports directly or
indirectly, even inside functions. When the benchmark has been built, the files of its functions and
classes are added, because its metrics may come from another package.

`snellen.models.code_files` decides which imports are followed.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from snellen.core.benchmark import Benchmark
from snellen.core.rule_errors import INSTALLED
from snellen.models.code_files import (
    Files,
    digest_of,
    digest_of_all,
    digest_of_files,
    files_of,
    files_of_module,
    is_of_python_or_snellen,
)
from snellen.registry.plugins import Plugin


def digest_of_plugin(plugin: Plugin) -> str:
    """Return the digest of a plug-in, which covers the package's name and version, and the files of
    the plug-in's module."""
    files = files_of_module(sys.modules[plugin.module])
    parts = (plugin.distribution, plugin.version, digest_of_files(files) or "")
    return digest_of("\0".join(parts).encode())


def digest_of_benchmark(benchmark: Benchmark) -> str | None:
    """Return the digest of a Benchmark object, or None if no source can be read. The digest covers
    the files of the object's functions and classes, and the files that those files import. For code
    without a file, such as code in a notebook, the digest covers the source text."""
    digests = {*_code_files(benchmark).values()}
    # Even if there is only one digest, it is digested again, as it is when there are several.
    return digest_of("".join(sorted(digests)).encode()) if digests else None


def with_benchmark(digest: str | None, files: Files, benchmark: Benchmark) -> str | None:
    """Extend the digest of a benchmark's files with the other files that define its functions,
    because its metrics may come from another package."""
    others = {other for file, other in _code_files(benchmark).items() if file not in files}
    return digest_of_all([*([digest] if digest else []), *others])


# -- the code that a benchmark uses


def _code_files(benchmark: Benchmark) -> Mapping[Path | bytes, str]:
    """Return the digests of a benchmark's code. The keys are the files of the code and the files
    that those files import. For code without a file, the key is the source text. Files that an
    installed package imports are not included."""
    files: dict[Path | bytes, str] = {}
    for code in _code_in(benchmark, set()):
        file = _source_file(code)
        if file is None:
            if text := _source_text(code):
                files[text] = digest_of(text)
        elif file not in files and not is_of_python_or_snellen(file):
            with suppress(OSError):
                if INSTALLED.intersection(file.parts):
                    files[file] = digest_of(file.read_bytes())
                else:
                    files.update(files_of(file, code.__module__).items())
    return files


def _code_in(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the functions and classes that a benchmark uses. The benchmark's rows are not
    searched."""
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
    except ValueError:  # the variable has no value yet
        return False


def _source_file(code: Any) -> Path | None:
    """Return the file that defines a function or class, or None if there is no such file."""
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
    except (OSError, TypeError):  # a built-in, or code typed into a prompt that keeps no source
        return None
