"""Loads users' benchmarks from files, modules, and plug-ins, and determines their sources."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from snellen.core.benchmark import Benchmark
from snellen.core.source import Source
from snellen.errors import CatalogError, SnellenError, UsageError
from snellen.models.code_files import Files, digest_of_files, files_of, files_of_module
from snellen.models.user_code import attribute_of, defined_in, errors_as, module_of, unknown_name
from snellen.registry.digests import digest_of_benchmark
from snellen.registry.index import normalized
from snellen.registry.plugins import Plugin
from snellen.registry.specs import Spec


@dataclass(frozen=True, kw_only=True)
class UserBenchmark:
    """A benchmark in a user's file or module, or a function that returns the benchmark."""

    value: Any
    """A `Benchmark`, or a function that returns one."""
    function: str
    """The name of `value` in the file or module."""
    file: Path | None
    """The file that defines the benchmark."""
    source: Source
    """Where the benchmark comes from."""
    files: Files
    """The files of the benchmark's code."""


def load(spec: Spec) -> UserBenchmark:
    """Load the benchmark that `FILE.py:NAME` or `module:NAME` names. Loading runs the file or
    module.

    Raises:
        CatalogError: the file does not exist.
        UsageError: the file or module cannot be loaded, or it does not define the name.
    """
    if spec.kind == "file":
        path = Path(spec.name)
        if not path.is_file():
            raise CatalogError(f"{path}: there is no such file. Name the benchmark's file.")
        files = files_of(path)
        module = _module_of_file(path.absolute(), tuple(files.items()), spec.name)
    else:
        module = module_of(spec.name, f"the benchmark {spec.base}")
        files = files_of_module(module)
    name = _name_in(module, spec.attribute, spec.name)
    return UserBenchmark(
        value=attribute_of(module, name, spec.name),
        function=name,
        file=None if module.__file__ is None else Path(module.__file__),
        source=Source(
            kind="file" if spec.kind == "file" else "module",
            digest=digest_of_files(files),
            spec=f"{spec.name}:{name}",
        ),
        files=files,
    )


def load_plugin(plugin: Plugin) -> Any:
    """Load the object that a plug-in's entry point names. Loading imports the plug-in's module.

    Raises:
        UsageError: the module cannot be imported, or it does not define the name.
    """
    with errors_as(UsageError, f"the plug-in {plugin} cannot be loaded", None, but=SnellenError):
        module = import_module(plugin.module)
    return attribute_of(module, plugin.attribute, f"the plug-in {plugin}")


@lru_cache(maxsize=64)
def _module_of_file(path: Path, files: tuple[tuple[Path, str], ...], title: str) -> ModuleType:
    """Return the module of a file. `files` are the file itself and the files that it imports. The
    file runs again only if one of them has changed."""
    _forget_changed(dict(files[1:]))
    return module_of(f"{path}", title)


_imported: dict[Path, str] = {}


def _forget_changed(helpers: Files) -> None:
    """Make Python reload all modules that a benchmark's file imports, if one of those modules has
    changed."""
    if any(_imported.get(path, digest) != digest for path, digest in helpers.items()):
        for name, module in [*sys.modules.items()]:
            file = getattr(module, "__file__", None)
            if file is not None and Path(file).resolve() in helpers:
                del sys.modules[name]
    _imported.update(helpers)


def _name_in(module: ModuleType, name: str | None, where: str) -> str:
    """Return the name of a benchmark in a module. If `name` is None, the benchmark is the one with
    the file's name, or else the only one in the module. Otherwise, `name` is the name in the module
    or the benchmark's own name, and case and separators do not matter.

    Raises:
        UsageError: the module has no such benchmark, or it has several.
    """
    values = {
        known: value for known, value in vars(module).items() if _is_benchmark(known, value, module)
    }
    if name is None:
        return _only([*values], module, where)
    if hasattr(module, name.partition(".")[0]):
        return name
    matches = [
        known
        for known, value in values.items()
        if normalized(name) in (normalized(known), normalized(getattr(value, "name", known)))
    ]
    if len(matches) == 1:
        return matches[0]
    raise unknown_name(name, where, matches or [*values] or defined_in(module))


def _only(names: Sequence[str], module: ModuleType, where: str) -> str:
    stem = Path(module.__file__ or "").stem
    if stem in names:
        return stem
    if len(names) == 1:
        return names[0]
    if names:
        raise UsageError(
            f"{where} has several benchmarks: {', '.join(names)}. Name one of them, as in "
            f"{where}:{names[0]}"
        )
    raise UsageError(
        f"{where} has no benchmark: neither a Benchmark object, nor a function that is annotated "
        f"to return one (`-> Benchmark`). Name the function that returns it: {where}:NAME"
    )


def _is_benchmark(name: str, value: object, module: ModuleType) -> bool:
    if name.startswith("_"):
        return False
    if inspect.isfunction(value):
        returns = value.__annotations__.get("return")
        is_maker = returns is Benchmark or str(returns).rpartition(".")[2] == "Benchmark"
        return is_maker and value.__module__ == module.__name__
    return isinstance(value, Benchmark)


def source_of(benchmark: Benchmark) -> Source | None:
    """Return the source of a benchmark, or None for Snellen's own benchmarks."""
    if benchmark.provenance.source is not None or benchmark.provenance.from_catalog:
        return benchmark.provenance.source
    return Source(kind="object", digest=digest_of_benchmark(benchmark))
