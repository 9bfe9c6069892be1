"""Finds the benchmark that a name refers to, and the names that other tools use for benchmarks."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from snellen.data.locations import lmu_data
from snellen.errors import CatalogError
from snellen.registry.index import Entry, entries, kebab, normalized
from snellen.registry.plugins import Group, Plugin, plugins
from snellen.store import is_object_run

TEXT = (".jsonl", ".json", ".tsv", ".csv")
OWN_DATA = (*TEXT, *(f"{ending}.gz" for ending in TEXT), ".parquet", ".xlsx")
"""The file name extensions of files with rows."""


def resolve(name: str) -> tuple[Entry, Mapping[str, Any]]:
    """Return the benchmark and the options that a name stands for. Names from other tools work too,
    and so does the name that begins the first line of a benchmark's docstring (`V*`), in any case
    and with any separators.

    A name in the exact spelling of another tool means that tool's benchmark, even if Snellen has a
    benchmark with the same name in lowercase. For example, `A-OKVQA` means VLMEvalKit's data set.

    Raises:
        CatalogError: no benchmark has that name, or several benchmarks have it.
    """
    known = entries()
    entry, options = _match(name, known)
    # Some of Snellen's benchmarks share a name on purpose. `_match` knows which of them is meant.
    rivals = [
        origin
        for other in known
        if other is not entry and not (entry.plugin is None and other.plugin is None)
        for origin in origins_of(other, name)
    ]
    if rivals:
        raise ambiguous(name, [*(origins_of(entry, name) or [entry.defined_in]), *rivals])
    return entry, options


def sheet_in_lmu_data(name: str) -> Path | None:
    """Return the file `$LMUData/NAME.tsv`, which users of VLMEvalKit call NAME. Return None if the
    file does not exist or if a benchmark has this name."""
    file = lmu_data() / f"{name}.tsv"
    # Not `Path.is_file`, which raises an error if the name is too long for a file.
    if not name or Path(name).name != name or not os.path.isfile(file):
        return None
    try:
        resolve(name)
    except CatalogError:
        return file
    return None


def origins_of(entry: Entry, name: str) -> list[str]:
    """Return a list with a benchmark's origin if `name` is the benchmark's name or one of its
    aliases, and an empty list otherwise."""
    if is_same_name(entry.name, name):
        return [entry.defined_in]
    alias = next((alias for alias in entry.aliases if is_same_name(alias, name)), None)
    return [] if alias is None else [f"{entry.defined_in} (its alias {alias})"]


def is_same_name(name: str, other: str) -> bool:
    """Return whether two names are equal or differ only in case and separators."""
    return normalized(name) == normalized(other)


def ambiguous(name: str, origins: Sequence[str], kind: str = "benchmark") -> CatalogError:
    """Create the error for several benchmarks (or objects of another `kind`) with the same name."""
    return CatalogError(
        f"there is more than one {kind} named {name!r} (case and separators are ignored): "
        f"{' and '.join(origins)}. Rename one {kind}, or uninstall its package."
    )


def plugins_by_name(group: Group, name: str) -> list[Plugin]:
    """Return a group's plug-ins that have this name. Case and separators are ignored."""
    return [plugin for plugin in plugins(group) if is_same_name(plugin.name, name)]


def is_canonical(name: str) -> bool:
    """Return whether a benchmark of Snellen or of a plug-in has exactly this name."""
    return any(entry.name == name for entry in entries())


def vlmevalkit_name(manifest: Mapping[str, Any]) -> str:
    """Return VLMEvalKit's name for a run's benchmark and options, or Snellen's name if VLMEvalKit
    has none.

    The value of the option `name` is always one of VLMEvalKit's names. It may be the alias of
    another benchmark.
    """
    if (set_name := manifest["identity"]["options"].get("name")) and not is_object_run(manifest):
        return str(set_name)
    return _name_elsewhere(manifest, lambda alias, _: alias[0].isupper())


def lmms_eval_name(manifest: Mapping[str, Any]) -> str:
    """Return lmms-eval's name for a run's benchmark and options, or Snellen's name if lmms-eval has
    none.

    An alias is lmms-eval's if it is in lowercase and is not the value of the option `name`. That
    value is always one of VLMEvalKit's names.
    """
    return _name_elsewhere(
        manifest, lambda alias, options: alias.islower() and alias != options.get("name")
    )


def _name_elsewhere(
    manifest: Mapping[str, Any], is_theirs: Callable[[str, Mapping[str, Any]], bool]
) -> str:
    """Return the alias that stands for the run's options. An alias that also matches the prompt is
    preferred."""
    name, options = manifest["benchmark"], manifest["identity"]["options"]
    if is_object_run(manifest):
        return str(name)
    aliases = next((entry.aliases for entry in entries() if entry.name == name), {})
    known = {alias: implied for alias, implied in aliases.items() if is_theirs(alias, implied)}
    for ignored in ((), ("prompt",)):
        for alias, implied in known.items():
            if all(options.get(k) == v for k, v in implied.items() if k not in ignored):
                return alias
    return str(name)


def _match(name: str, known: Sequence[Entry]) -> tuple[Entry, Mapping[str, Any]]:
    for entry in known:
        if name in entry.aliases:
            return entry, entry.aliases[name]
    for entry in known:
        if entry.name == kebab(name.lower()) or entry.name == name:
            return entry, {}
    for entry in known:
        if is_same_name(entry.name, name):
            return entry, {}
    letters = _letters(name)
    for entry in known:
        title = _letters(entry.title.partition(":")[0])
        if letters and letters in (_letters(entry.name), title):
            return entry, {}
    alike = [
        (alias, entry, options)
        for entry in known
        for alias, options in entry.aliases.items()
        if _letters(alias) == letters
    ]
    if alike and all(match[1:] == alike[0][1:] for match in alike):
        return alike[0][1:]
    _refuse(name, known, [alias for alias, _, _ in alike])


def _letters(name: str) -> str:
    """Return a name without case and separators: `We-Math` becomes `wemath`. `+` and `*` remain,
    because they are parts of names (RefCOCO+, V*)."""
    return "".join(c for c in name.lower() if c.isalnum() or c in "+*")


def _refuse(name: str, known: Sequence[Entry], alike: Sequence[str]) -> NoReturn:
    names = [entry.name for entry in known]
    if os.path.isfile(name):
        hint = (
            f"A file of rows must end in {', '.join((*TEXT, '.parquet', '.xlsx'))}. Save the rows "
            "in one of these formats. A file that defines a benchmark must end in .py."
        )
        raise CatalogError(f"there is no benchmark {name!r}. {hint}")
    close = [f"./{name}"] if os.path.isdir(name) else []
    close += [f"{name}{ending}" for ending in (*OWN_DATA, ".py") if os.path.isfile(name + ending)]
    aliases = [alias for entry in known for alias in entry.aliases]
    close = close or [*alike] or _close_matches(name, [*names, *aliases])
    hint = f"Did you mean {' or '.join(close)}?" if close else f"Benchmarks: {', '.join(names)}."
    raise CatalogError(f"there is no benchmark {name!r}. {hint}")


def _close_matches(name: str, known: Sequence[str]) -> list[str]:
    """Return at most three of the known names that are spelled almost like `name`. If there are
    none, the comparison is repeated without regard to case."""
    close = difflib.get_close_matches(name, known, 3, cutoff=0.5)
    if close:
        return close
    by_lower = {other.lower(): other for other in reversed(known)}
    return [
        by_lower[other]
        for other in difflib.get_close_matches(name.lower(), by_lower, 3, cutoff=0.5)
    ]
