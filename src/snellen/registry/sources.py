"""Benchmarks that strangers bring: from a file, from a module, as an object; and their digests."""

from __future__ import annotations

import inspect
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from snellen.core.benchmark import Benchmark
from snellen.core.source import Source
from snellen.errors import CatalogError, SnellenError, UsageError
from snellen.models.user_code import attribute_of, digest_of, module_of, told_as
from snellen.registry.plugins import Plugin
from snellen.registry.specs import Spec

PACKAGE = Path(__file__).parents[1]
STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib")).resolve()


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """What stands in a file or module: a benchmark, or a function that makes one."""

    value: Any
    """A `Benchmark`, or a function that gives one."""
    function: str
    """Its name there."""
    file: Path | None
    """The file that it stands in."""
    source: Source
    """Where it comes from."""


def load(spec: Spec) -> Loaded:
    """The benchmark of `FILE.py:NAME` or `module:NAME`. This runs the file.

    Raises:
        CatalogError: there is no such file. UsageError: it cannot be loaded, or has no such name.
    """
    if spec.kind == "file":
        path = Path(spec.name)
        if not path.is_file():
            raise CatalogError(f"{path}: there is no such benchmark file.")
        module = _module_of_file(path.absolute(), digest_of(f"{path}"), spec.name)
    else:
        module = module_of(spec.name, f"the benchmark {spec.base}")
    name = spec.attribute or _only(module, spec.name)
    return Loaded(
        value=attribute_of(module, name, spec.name),
        function=name,
        file=None if module.__file__ is None else Path(module.__file__),
        source=Source(
            kind="file" if spec.kind == "file" else "module",
            digest=None if module.__file__ is None else digest_of(module.__file__),
            spec=f"{spec.name}:{name}",
        ),
    )


def load_plugin(plugin: Plugin) -> Any:
    """What a plug-in's entry point names. This imports its module.

    Raises:
        UsageError: the module cannot be imported, or has no such name.
    """
    with told_as(UsageError, f"the plug-in {plugin} cannot be loaded", None, but=SnellenError):
        module = import_module(plugin.module)
    return attribute_of(module, plugin.attribute, f"the plug-in {plugin}")


def digest_of_plugin(plugin: Plugin) -> str:
    """Of the package's name and version, and of the module's file."""
    file = plugin.file()
    parts = (plugin.distribution, plugin.version, "" if file is None else digest_of(f"{file}"))
    return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


@lru_cache(maxsize=64)
def _module_of_file(path: Path, digest: str, title: str) -> ModuleType:
    """The module of a file; it runs again only if the file has changed, which `digest` tells."""
    return module_of(f"{path}", title)


def _only(module: ModuleType, where: str) -> str:
    """The benchmark that is meant where none is named: the only one, or that of the file's name.

    Raises:
        UsageError: there is none, or there are several.
    """
    names = [name for name, value in vars(module).items() if _is_benchmark(name, value, module)]
    stem = Path(module.__file__ or "").stem
    if stem in names:
        return stem
    if len(names) == 1:
        return names[0]
    if names:
        raise UsageError(
            f"{where} has several benchmarks: {', '.join(names)}. Name one: {where}:{names[0]}"
        )
    raise UsageError(
        f"{where} has no benchmark: neither a Benchmark, nor a function that is annotated to "
        f"return one (`-> Benchmark`). Name what makes it: {where}:NAME"
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
    """Where a benchmark comes from; None for those of this package.

    The digest of an object is that of the files that its functions and classes stand in. Of code
    without a file, such as a notebook's, it is that of the functions' source.
    """
    if benchmark.provenance.source is not None or benchmark.provenance.from_catalog:
        return benchmark.provenance.source
    return Source(kind="object", digest=_digest_of_object(benchmark))


def _digest_of_object(benchmark: Benchmark) -> str | None:
    digests = set()
    for code in _code_in(benchmark, set()):
        text = _source_text(code)
        if text is not None:
            digests.add(blake2b(text, digest_size=16).hexdigest())
    if not digests:
        return None
    return blake2b("".join(sorted(digests)).encode(), digest_size=16).hexdigest()


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


def _source_text(code: Any) -> bytes | None:
    """The file that a function or class stands in; None for this package's and Python's own."""
    try:
        file = inspect.getsourcefile(code)
        if file is not None and Path(file).is_file():
            path = Path(file).resolve()
            is_ours = path.is_relative_to(PACKAGE)
            is_python = path.is_relative_to(STANDARD_LIBRARY) and "site-packages" not in path.parts
            return None if is_ours or is_python else path.read_bytes()
        return inspect.getsource(code).encode()
    except (OSError, TypeError):  # built in, or typed where no source is kept
        return None
