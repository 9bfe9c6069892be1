"""Creates benchmarks from a name, a file, a plug-in, or a run's manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.core.benchmark import Benchmark, mark_from_catalog, with_note
from snellen.errors import CatalogError, SnellenError, UsageError
from snellen.registry import sources
from snellen.registry.definitions import (
    SYNTHETIC,
    BenchmarkDefinition,
    build,
    check_name_is_free,
    definition_of,
    definition_of_entry,
)
from snellen.registry.index import Entry, entries, entry_in, kebab
from snellen.registry.names import ambiguous, is_canonical, is_same_name, resolve
from snellen.registry.options import described
from snellen.registry.outlines import outline
from snellen.registry.specs import parse
from snellen.registry.toolkits import is_toolkit, is_toolkit_run, of_toolkit, of_toolkit_run
from snellen.store import data_at, data_path, is_object_run
from snellen.transforms.coordinates import with_coordinates
from snellen.transforms.probes import again
from snellen.transforms.shots import with_shots

OF_CLASS = "vlmevalkit-class:"
"""The prefix of a spec for a data set class written for VLMEvalKit. `FILE:CLASS` follows the
prefix."""


def benchmark(
    spec: str,
    *,
    data: Path | None = None,
    task: str | None = None,
    columns: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Benchmark:
    """Create the benchmark that a spec names. A spec is a name with options
    (`mathvision:split=testmini`), a file of rows, or the caller's own benchmark in a file
    (`FILE.py:NAME`) or a module (`module:NAME`).

    `data` is the folder or file with the benchmark's rows, or `synthetic` for the few bundled rows.
    `task` and `columns` are only for files of rows.

    Raises:
        CatalogError: there is no benchmark with that name.
        UsageError: the benchmark has no such option, or its file cannot be loaded.
    """
    if _is_foreign(spec):
        if data or task or columns or options:
            raise UsageError(
                f"{spec} has its own rows and prompts. Leave out --data, --task, --map, and "
                "options."
            )
        if is_toolkit(spec):
            return of_toolkit(spec)
        return _of_class(*spec.removeprefix(OF_CLASS).split(":"))
    parts = parse(spec)
    values = {**parts.options, **(options or {})}
    if parts.kind == "rows":
        rows = own(data_at(parts.name), data, task, columns, values)
        # If the spec is only a name, the note says where the rows are.
        return rows if parts.name in spec else with_note(rows, f"the rows are in {parts.name}")
    if task or columns:
        raise UsageError(
            f"--task and --map are only for files of rows, but {parts.name} is a benchmark. Leave "
            "them out."
        )
    definition = definition_of(parts)
    chosen = build(definition, values, data)
    check_name_is_free(definition, chosen)
    return chosen


def few_shot(
    spec: str,
    plain: Benchmark,
    n: int,
    *,
    source: str | None = None,
    seed: int = 0,
    data: Path | None = None,
    columns: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Benchmark:
    """Create a benchmark with n examples before each question. `plain` is the benchmark without
    examples.

    `source` is where the examples come from: a file of rows in the same format, or other options of
    the same benchmark (`split=dev`, or just `dev`). If the benchmark is a file of rows, `source`
    may be None, and some of the file's rows become examples that are not asked.

    Raises:
        UsageError: the source is missing, or it has no suitable examples.
    """
    if _is_foreign(spec):
        raise UsageError(f"{spec} has its own rows and prompts. Leave out --shots.")
    parts = parse(spec)
    examples: Benchmark | None = None
    if parts.kind == "rows":
        if source is not None:
            examples = own(
                data_at(source), data, str(plain.provenance.options["task"]), columns, {}
            )
    elif source is None:
        raise UsageError(
            f"{spec}: --shots needs examples from rows that are not asked. Name the examples "
            "with --shots-from: a file in the same format, or other options (split=dev)."
        )
    elif "=" not in source and data_at(source).exists():
        examples = benchmark(spec, data=data_at(source), options=options)
    else:
        other = source if "=" in source else f"split={source}"
        others = parse(f"{parts.base}:{other}").options
        chosen = {**parts.options, **(options or {}), **others}
        examples = benchmark(parts.base, data=data, options=chosen)
    return with_shots(plain, n, source=examples, seed=seed)


def of_run(
    manifest: Mapping[str, Any], spec: str | None = None, *, data: Path | None = None
) -> Benchmark:
    """Create the benchmark of a run from the run's manifest, with the run's options. The data need
    not exist. If `data` is None, one of Snellen's own benchmarks uses the run's data if they still
    exist, since some metrics read a file next to the data.

    A file or module that a manifest names is never run. For a run with a user's file or module,
    pass the file or module as `spec`.

    Raises:
        CatalogError: the benchmark cannot be created from the manifest. The benchmark was a Python
            object, came from a user's file or module, or is in neither the catalog nor an installed
            plug-in.
        UsageError: the run cannot be scored with `spec`.
    """
    plain = _of_run(manifest, data) if spec is None else _of_spec(manifest, spec, data)
    identity = manifest["identity"]
    return again(with_coordinates(plain, identity.get("coordinates")), identity.get("probe", {}))


def supplied(
    specs: Sequence[str | Benchmark], manifest: Mapping[str, Any], *, data: Path | None = None
) -> Benchmark | None:
    """Find a run's benchmark among the benchmarks that the user passed. Return the passed benchmark
    that has the name of the run's benchmark; if it comes from a file or a module, it is created
    with the run's options. Return None if no passed benchmark has that name.

    Raises:
        CatalogError: `specs` contains a name that no benchmark has.
        UsageError: a file or a module cannot be loaded, or one benchmark, which may be the run's,
            could not be created.
    """
    name = manifest.get("benchmark")
    failures: list[SnellenError] = []
    for spec in specs:
        if isinstance(spec, Benchmark):
            if spec.name == name:
                return spec
        elif is_own_code(spec):
            definition_of(parse(spec))  # if the file cannot be loaded, this raises the error
            try:
                candidate = of_run(manifest, spec, data=data)
            except SnellenError as error:
                own_name = _name_by_itself(spec)
                if own_name == name:
                    raise
                if own_name is None:
                    failures.append(error)
                continue
            if candidate.name == name:
                return candidate
        else:
            entry_of(spec)
    if failures and is_object_run(manifest):
        raise failures[0]
    return None


def _name_by_itself(spec: str) -> str | None:
    """Return the name of the benchmark that a spec creates, or None if the spec creates a benchmark
    only together with a run's options."""
    try:
        return benchmark(spec).name
    except SnellenError:
        return None


def is_own_code(spec: str) -> bool:
    """Return whether a spec names a benchmark in a user's file or module."""
    return not _is_foreign(spec) and parse(spec).kind in ("file", "module")


def _is_foreign(spec: str) -> bool:
    """Return whether a spec names a class written for VLMEvalKit, or a data set of a toolkit."""
    return spec.startswith(OF_CLASS) or is_toolkit(spec)


def is_rows(spec: str) -> bool:
    """Return whether a spec names a file of rows."""
    return not _is_foreign(spec) and parse(spec).kind == "rows"


def entry_of(spec: str) -> Entry | None:
    """Return a benchmark's catalog entry, or None for a file of rows and for a benchmark that is
    not defined in a file.

    Raises:
        CatalogError: there is no benchmark with that name.
    """
    if _is_foreign(spec):
        return None
    parts = parse(spec)
    if parts.kind == "rows":
        return None
    if parts.kind == "name":
        return resolve(parts.name)[0]
    loaded = sources.load(parts)
    file = loaded.file
    if file is None or isinstance(loaded.value, Benchmark):
        return None
    return entry_in(kebab(loaded.function), loaded.function, file, outline(file))


def options_of(spec: str) -> dict[str, dict[str, Any]]:
    """Return the default and the possible values of each option of a benchmark. The possible values
    are None for an option that is not limited to a list.

    Raises:
        CatalogError: there is no benchmark with that name.
    """
    value = definition_of(parse(spec)).value
    return {} if isinstance(value, Benchmark) else described(value)


def listed_options(name: str) -> dict[str, dict[str, Any]]:
    """Return the same as `options_of`, but never run a user's file or module, because the name may
    come from a file that the user did not write.

    Raises:
        CatalogError: the catalog has no benchmark with that name.
    """
    value = definition_of_entry(*resolve(name)).value
    return {} if isinstance(value, Benchmark) else described(value)


def reads_data(spec: str) -> bool:
    """Return whether a benchmark uses `data`, because it is a file of rows or reads files.

    Raises:
        CatalogError: there is no benchmark with that name.
    """
    if _is_foreign(spec):
        return False
    parts = parse(spec)
    if parts.kind == "name":
        return resolve(parts.name)[0].reads_data
    return parts.kind == "rows" or definition_of(parts).reads_data


def published_size(benchmark: Benchmark) -> int | None:
    """Return the number of questions of the published data set that a bundled benchmark with these
    options has, or None if it is unknown."""
    if not is_canonical(benchmark.name):
        return None
    entry, _ = resolve(benchmark.name)
    defaults = listed_options(entry.name)
    differing = {
        name: value
        for name, value in benchmark.provenance.options.items()
        if name not in defaults or value != defaults[name]["default"]
    }
    return entry.facts.size_with(differing)


def is_mistakable(benchmark: Benchmark) -> bool:
    """Return whether a user's own benchmark could be mistaken for one in the catalog, because it
    has the same name or options. A run's identity must distinguish such a benchmark from the one in
    the catalog."""
    if benchmark.provenance.from_catalog:
        return False
    options = benchmark.provenance.options
    return (
        "class" in options
        or is_toolkit_run(options)
        or _is_rows(options)
        or is_canonical(benchmark.name)
    )


def runs_a_program(manifest: Mapping[str, Any]) -> bool:
    """Return whether `of_run` would run code that the manifest names: a class written for
    VLMEvalKit, or a toolkit's data set."""
    options = manifest.get("identity", {}).get("options", {})
    return ("class" in options or is_toolkit_run(options)) and not is_object_run(manifest)


def check_names(benchmarks: Sequence[Benchmark]) -> None:
    """Check that benchmarks from different sources have different names.

    Raises:
        CatalogError: two benchmarks from different sources have the same name.
    """
    for number, benchmark in enumerate(benchmarks):
        for other in benchmarks[:number]:
            if is_same_name(benchmark.name, other.name) and _spec_of(benchmark) != _spec_of(other):
                raise ambiguous(benchmark.name, [_origin(other), _origin(benchmark)])


def own(
    path: Path,
    data: Path | None,
    task: str | None,
    columns: Mapping[str, str] | None,
    options: Mapping[str, Any],
) -> Benchmark:
    """Create the benchmark of a file of rows. `data` is the folder of the files that the rows name.

    Raises:
        CatalogError: the file does not exist.
        UsageError: an option is passed, but files of rows have no options.
    """
    if not path.exists():
        raise CatalogError(f"{path}: there is no such file of rows.")
    if options:
        raise UsageError(
            f"{path.name}: a file of rows has no options. Leave out {', '.join(options)}."
        )
    if str(data) == SYNTHETIC:
        raise UsageError(
            f"{path.name}: your own file of rows has no bundled rows. Leave out --data {SYNTHETIC}."
        )
    from snellen.benchmarks.families.own_rows import own_data

    return mark_from_catalog(own_data(path, task=task, columns=columns or {}, data=data))


def _spec_of(benchmark: Benchmark) -> str | None:
    source = benchmark.provenance.source
    return None if source is None else source.spec


def _origin(benchmark: Benchmark) -> str:
    source = sources.source_of(benchmark)
    if source is None:
        return "Snellen's own"
    if source.kind == "plugin":
        return f"{source.spec} of {source.distribution} {source.version}"
    return source.spec or "a Python object"


# -- from a run


def _of_run(manifest: Mapping[str, Any], data: Path | None) -> Benchmark:
    name = manifest.get("benchmark", "")
    options = manifest.get("identity", {}).get("options", {})
    source = manifest.get("benchmark_source", {})
    if is_object_run(manifest):
        raise CatalogError(_unknown(name, source))
    if is_toolkit_run(options):
        return of_toolkit_run(options)
    if runs_a_program(manifest):
        return _of_class(*str(options["class"]).split(":"), options.get("dataset", ""))
    if _is_rows(options):
        from snellen.benchmarks.families.own_rows import stored

        return mark_from_catalog(stored(name, options))
    distribution = source.get("distribution")
    for entry in entries():
        plugin = entry.plugin
        if entry.name == name and distribution == (plugin and plugin.distribution):
            own_data = data or (None if plugin else _data_of(manifest))
            return _built_again(definition_of_entry(entry, {}), options, own_data)
    if distribution:
        raise CatalogError(
            f"the run's benchmark {name!r} comes from the package {distribution} "
            f"{source.get('version', '')}, which is not installed. Install the package."
        )
    # Runs store only canonical names, so the name is not resolved further. Except for `options`,
    # nothing in a manifest may lead to running code or reading a file.
    raise CatalogError(f"the catalog has no benchmark {name!r}.")


def _data_of(manifest: Mapping[str, Any]) -> Path | None:
    """Return the path of a run's rows, or None if the path is not known or no longer exists."""
    where = manifest.get("data")
    path = data_path(where) if where and isinstance(where, str) else None
    return path if path is not None and path.exists() else None


def _unknown(name: str, source: Mapping[str, Any]) -> str:
    spec = source.get("spec")
    if spec is None:
        return (
            f"the run's benchmark {name!r} was a Python object. Such an object cannot be rebuilt "
            "from the run's manifest."
        )
    what = "file" if source.get("kind") == "file" else "module"
    return (
        f"the run's benchmark {name!r} was created by {spec}. A {what} that a run folder names is "
        f"not run automatically. If you trust it, name it: -b {spec}"
    )


def _built_again(
    definition: BenchmarkDefinition, options: Mapping[str, Any], data: Path | None
) -> Benchmark:
    """Build a benchmark with a run's options. Only a benchmark that reads data gets the run's
    data."""
    reads = definition.reads_data and not isinstance(definition.value, Benchmark)
    return build(definition, options, data if reads else None)


def _of_spec(manifest: Mapping[str, Any], spec: str, data: Path | None) -> Benchmark:
    if not is_own_code(spec):
        raise UsageError(
            f"{spec} is not a benchmark of your own. For a run, name only a file or a module of "
            "your own (FILE.py:NAME or module:NAME). Other benchmarks are found automatically."
        )
    if not is_object_run(manifest):
        raise UsageError(
            f"the run's benchmark {manifest.get('benchmark')!r} is found automatically. Leave out "
            "-b."
        )
    parts = parse(spec)
    options = {**manifest.get("identity", {}).get("options", {}), **parts.options}
    return _built_again(definition_of(parts), options, data)


def _is_rows(options: Mapping[str, object]) -> bool:
    """Return whether a run with these options has a file of rows as its benchmark."""
    return {"task", "columns"} <= set(options)


def _of_class(*names: str) -> Benchmark:
    """Create the benchmark of a data set class written for VLMEvalKit."""
    if len(names) not in (2, 3) or not all(names):
        raise UsageError(f"write {OF_CLASS}FILE:CLASS or {OF_CLASS}FILE:CLASS:DATASET.")
    from snellen.benchmarks.families.vlmevalkit_class import vlmevalkit_class

    return mark_from_catalog(vlmevalkit_class(":".join(names[:2]), *names[2:]))
