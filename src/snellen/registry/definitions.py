"""Finds the definition of a benchmark, by name or in a file or module, and builds the benchmark
from the definition."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from snellen.core.benchmark import Benchmark, mark_from_catalog, mark_source, vary, with_note
from snellen.core.source import Source
from snellen.errors import CatalogError, DataError, SnellenError, UsageError, type_of
from snellen.models.code_files import Files, files_of_module
from snellen.models.user_code import errors_as
from snellen.registry import digests, sources
from snellen.registry.index import Entry, bundled_rows, entries
from snellen.registry.names import ambiguous, origins_of, resolve
from snellen.registry.options import OPEN_ENDED, defaults, parameters, typed
from snellen.registry.outlines import outline
from snellen.registry.specs import Spec

BUNDLED = "the data are the few bundled rows, so the score is not a result"
"""The note on a run that used a benchmark's bundled rows."""
_BUNDLED_BEFORE = "the data are the few bundled rows: this is no result"
"""The wording of the note `BUNDLED` in older versions of Snellen."""
SYNTHETIC = "synthetic"
"""The value of `data` that stands for a benchmark's bundled rows."""


def is_bundled(notes: Collection[str]) -> bool:
    """Return whether a run with these notes used its benchmark's bundled rows."""
    return BUNDLED in notes or _BUNDLED_BEFORE in notes


@dataclass(frozen=True, kw_only=True)
class BenchmarkDefinition:
    """The definition of a benchmark."""

    name: str
    """The benchmark's name in the catalog, or the user's own spec without options, for messages."""
    value: Any
    """A `Benchmark`, or a function that returns one."""
    implied: Mapping[str, Any]
    """The options that an alias stands for."""
    bundled: Path | None
    """The folder of the benchmark's bundled rows."""
    reads_data: bool
    """Whether it reads files."""
    file: Path | None = None
    """The file that defines a user's own benchmark."""
    source: Source | None = None
    """The source of the benchmark; None for Snellen's own benchmarks."""
    files: Files = field(default_factory=dict)
    """The files of the benchmark's code; empty for Snellen's own benchmarks."""


def definition_of(parts: Spec) -> BenchmarkDefinition:
    if parts.kind == "name":
        return definition_of_entry(*resolve(parts.name))
    if parts.kind == "module" and _is_listed(parts.name):
        raise UsageError(
            f"{parts.base}: {parts.attribute!r} is not an option. Write options as name=value, "
            "separated by commas."
        )
    loaded = sources.load(parts)
    file = loaded.file
    known = outline(file).definitions.get(loaded.function) if file is not None else None
    return BenchmarkDefinition(
        name=parts.base,
        value=loaded.value,
        implied={},
        bundled=None if file is None else bundled_rows(file, loaded.function),
        reads_data=known is not None and known.reads_data,
        file=file,
        source=loaded.source,
        files=loaded.files,
    )


def _is_listed(name: str) -> bool:
    try:
        resolve(name)
    except CatalogError:
        return False
    return True


def definition_of_entry(entry: Entry, implied: Mapping[str, Any]) -> BenchmarkDefinition:
    plugin = entry.plugin
    source: Source | None = None
    files: Files = {}
    if plugin is None:
        module = importlib.import_module(f"snellen.benchmarks.{entry.function}")
        value = getattr(module, entry.function)
    else:
        value = sources.load_plugin(plugin)
        source = Source(
            kind="plugin",
            digest=digests.digest_of_plugin(plugin),
            spec=plugin.name,
            distribution=plugin.distribution,
            version=plugin.version,
        )
        files = files_of_module(sys.modules[plugin.module])
    return BenchmarkDefinition(
        name=entry.name,
        value=value,
        implied=implied,
        bundled=entry.bundled,
        reads_data=entry.reads_data,
        source=source,
        files=files,
    )


def build(
    definition: BenchmarkDefinition, options: Mapping[str, Any], data: Path | None
) -> Benchmark:
    """Build the benchmark of a definition, and mark the benchmark with its source."""
    make, name = definition.value, definition.name
    is_synthetic = str(data) == SYNTHETIC
    if isinstance(make, Benchmark):
        if any(make.provenance.options.get(key) != value for key, value in options.items()):
            raise UsageError(
                f"{name} is a Benchmark object, not a function, so it has no options. Leave them "
                "out."
            )
        if data is not None and not is_synthetic:
            raise UsageError(
                f"{name} is a Benchmark object, not a function, so it has its own data. Leave out "
                "--data."
            )
        return _marked(definition, replace(make), None)
    if not callable(make):
        raise UsageError(
            f"{name} is {type_of(make)}: neither a Benchmark nor a function that returns one."
        )
    values = typed(make, {**definition.implied, **options}, name)
    if is_synthetic:
        values["data"] = definition.bundled
        if definition.bundled is None and definition.reads_data:
            raise DataError(
                f"{name} has no bundled rows, because there is no folder "
                f"{_rows_folder(definition)}. Create the folder, or pass rows with --data PATH."
            )
    elif data is not None:
        values["data"] = data
    benchmark = _called(definition, values)
    if is_synthetic and values["data"] is not None:
        benchmark = with_note(vary(benchmark, files=None), BUNDLED)
    shown = {key: value for key, value in values.items() if key != "data"}
    return _marked(definition, vary(benchmark, options={**defaults(make), **shown}), data)


def _rows_folder(definition: BenchmarkDefinition) -> str:
    """The folder in which the bundled rows of a definition would be."""
    spec = None if definition.source is None else definition.source.spec
    if definition.file is None or spec is None:
        return "rows/ next to its file"
    function = spec.rpartition(":")[2]
    return str(definition.file.parent / "rows" / function)


def _called(definition: BenchmarkDefinition, values: Mapping[str, Any]) -> Benchmark:
    """Call the function of a definition, and return the benchmark that it returns."""
    make, name = definition.value, definition.name
    if definition.source is None:
        benchmark: Benchmark = make(**values)
        return benchmark
    values = {key: value for key, value in values.items() if key != "data" or value is not None}
    _check_parameters(definition, values)
    file = None if definition.file is None else f"{definition.file}"
    with errors_as(UsageError, f"{name} failed", file, but=SnellenError):
        benchmark = make(**values)
    if not isinstance(benchmark, Benchmark):
        raise UsageError(
            f"{name} returned {type_of(benchmark)}, not a Benchmark. {_makers_in(definition.file)}"
        )
    return benchmark


def _check_parameters(definition: BenchmarkDefinition, values: Mapping[str, Any]) -> None:
    """Check that the function of a definition can be called with these options.

    Raises:
        UsageError: the function needs more options, or it has no parameter `data`.
    """
    name, known = definition.name, parameters(definition.value)
    takes_any = not known or any(value.kind in OPEN_ENDED for value in known.values())
    if "data" in values and "data" not in known and not takes_any:
        raise UsageError(
            f"{name} has no parameter `data`, because it has its own data. Leave out --data."
        )
    missing = [
        key
        for key, parameter in known.items()
        if parameter.default is parameter.empty
        and parameter.kind not in OPEN_ENDED
        and key not in values
    ]
    if missing == ["data"]:
        raise UsageError(f"{name} needs the path of its data. Pass the path with --data PATH.")
    if missing:
        raise UsageError(
            f"{name} needs a value for {' and '.join(missing)}. If it is a function that returns a "
            f"benchmark, write {name}:{missing[0]}=VALUE. {_makers_in(definition.file)}"
        )


def _makers_in(file: Path | None) -> str:
    """Return a hint that lists the functions in a file that return benchmarks."""
    known = {} if file is None else outline(file).definitions
    names = [name for name, value in known.items() if value.returns.endswith("Benchmark")]
    if not names:
        return "Name a function that returns a Benchmark."
    return f"The functions that return a Benchmark: {', '.join(names)}."


def _marked(definition: BenchmarkDefinition, benchmark: Benchmark, data: Path | None) -> Benchmark:
    source = definition.source
    if source is None:
        return mark_from_catalog(benchmark)
    source = replace(
        source,
        digest=digests.with_benchmark(source.digest, definition.files, benchmark),
        data=None if data is None else f"{data}",
    )
    if source.kind == "plugin":
        if benchmark.name != definition.name:
            raise UsageError(
                f"the plug-in {source.spec} of {source.distribution} {source.version} returns a "
                f"benchmark with the name {benchmark.name!r}. The entry point must have the same "
                "name as the benchmark."
            )
        return mark_source(mark_from_catalog(benchmark), source)
    return mark_source(benchmark, source)


def check_name_is_free(definition: BenchmarkDefinition, benchmark: Benchmark) -> None:
    """If a benchmark comes from a user's file or module, check that no benchmark in the catalog has
    the same name.

    This check is only for new runs. For an existing run, the run's manifest states which of the two
    benchmarks is meant.

    Raises:
        CatalogError: a benchmark in the catalog has the same name.
    """
    source = definition.source
    if source is None or source.kind == "plugin":
        return
    rivals = [
        origin
        for entry in entries()
        if not _is_file_of(entry, definition.file)
        for origin in origins_of(entry, benchmark.name)
    ]
    if rivals:
        raise ambiguous(benchmark.name, [f"{source.spec}", *rivals])


def _is_file_of(entry: Entry, file: Path | None) -> bool:
    own = entry.file()
    return file is not None and own is not None and own.resolve() == file.resolve()
