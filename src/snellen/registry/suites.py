"""Suites: groups of benchmarks that are run together. A suite is either bundled or defined in a
TOML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from snellen.errors import CatalogError, UsageError, check_regular
from snellen.registry.index import Entry
from snellen.registry.names import resolve

PREFIX = "suite:"


@dataclass(frozen=True)
class Suite:
    """Several benchmarks with a common name."""

    title: str
    """What the suite measures."""
    benchmarks: Sequence[str]
    """The names of the benchmarks, with their options."""
    metrics: Mapping[str, str] = field(default_factory=dict)
    """For a benchmark whose score in the suite is not the headline metric, the metric's name, or
    `SCORING:METRIC`."""
    overall: bool = True
    """Whether the suite has an overall score, the mean of the benchmarks' scores. If it has one,
    every score is a share."""


class SuiteMember(NamedTuple):
    """A benchmark of a suite."""

    spec: str
    """The benchmark's name, with its options."""
    entry: Entry | None
    """The benchmark's catalog entry; None for rows of the user's own."""
    size: int | None
    """The number of questions; None if unknown."""


FIGURES = "hallusionbench:questions=image"
SUITES: Mapping[str, Suite] = {
    "quick": Suite(
        "the size at which a model stops reading letters; minutes, no download",
        ("eyechart",),
        overall=False,
    ),
    "core": Suite(
        "perception, knowledge, and reasoning about images",
        ("eyechart", "mmbench", "scienceqa", "mathvision:split=testmini"),
    ),
    "openvlm": Suite(
        "the eight of the OpenVLM Leaderboard of 2024, with MMBench's English dev split",
        (
            *("mmbench", "mmstar:prompt=vlmevalkit", "mmmu:prompt=vlmevalkit", "mathvista"),
            *(f"{FIGURES},prompt=vlmevalkit", "ai2d", "ocrbench:prompt=vlmevalkit"),
            "mm-vet:prompt=llava",
        ),
        metrics={
            "mmmu:prompt=vlmevalkit": "vlmevalkit:accuracy",
            f"{FIGURES},prompt=vlmevalkit": "vlmevalkit:average",
            "ocrbench:prompt=vlmevalkit": "accuracy",
        },
    ),
    "card-2026": Suite(
        "what at least five of the newest model cards report",
        (
            *("mmmu-pro", "charxiv", "mmmu", "mathvista", "ai2d", "ocrbench", "mathvision"),
            *("mmstar", "zerobench", "mmbench", FIGURES),
        ),
        metrics={"ocrbench": "accuracy", FIGURES: "vlmevalkit:average"},
    ),
    "math": Suite(
        "mathematics with figures",
        ("mathvista", "mathvision", "mathverse:version=vision-only", "dynamath", "wemath"),
    ),
    "spatial": Suite(
        "where things are: positions, depth, distances, and several views",
        ("cv-bench", "embspatial-bench", "erqa", "mmsi-bench", "omnispatial", "all-angles"),
    ),
    "hallucination": Suite(
        "answers that the picture contradicts",
        (FIGURES, "pope", "mmvp"),
        metrics={FIGURES: "vlmevalkit:average"},
    ),
    "knowledge": Suite(
        "facts and subjects, from school to medicine",
        ("mmmu", "mmmu-pro", "ai2d", "medxpertqa-mm", "simplevqa", "worldvqa", "hle:part=image"),
    ),
}


def members(names: Sequence[str]) -> list[SuiteMember]:
    """Return the benchmarks of suites, with their catalog entries and sizes.

    Raises:
        CatalogError: there is no suite or benchmark with that name.
        UsageError: a file is not a suite.
    """
    from snellen.registry import benchmarks  # imports all readers of data

    result = []
    for spec in expanded(names):
        entry = benchmarks.entry_of(spec)
        if entry is None or benchmarks.is_own_code(spec):
            result.append(SuiteMember(spec, entry, None))
            continue
        known = benchmarks.listed_options(entry.name)
        _, options = options_of_spec(spec)
        differing = {
            name: value
            for name, value in options.items()
            if name not in known or str(value) != str(known[name]["default"])
        }
        result.append(SuiteMember(spec, entry, entry.facts.size_with(differing)))
    return result


def options_of_spec(spec: str) -> tuple[Entry, Mapping[str, Any]]:
    """Return a benchmark's catalog entry and the options that its spec sets, including those that
    an alias stands for.

    Raises:
        CatalogError: there is no benchmark with that name.
    """
    from snellen.registry.specs import parse  # imports the store, which `list` does not need

    parts = parse(spec)
    entry, options = resolve(parts.name)
    return entry, {**options, **parts.options}


def with_overall(names: Sequence[str]) -> list[str]:
    """Return the suites with an overall score in a list of names."""
    return [
        name
        for name in dict.fromkeys(names)
        if name.startswith(PREFIX)
        and (suite := SUITES.get(name.removeprefix(PREFIX)))
        and suite.overall
    ]


def expanded(names: Sequence[str]) -> list[str]:
    """Replace each suite in a list of names with the suite's benchmarks, and remove duplicates. A
    name is a suite (`suite:core`), a suite's file (`suite:mine.toml`), or a benchmark.

    A suite's file contains `benchmarks = ["eyechart", "mathvision:split=testmini"]` and optionally
    a `title`.

    Raises:
        CatalogError: there is no suite with that name.
        UsageError: the file is not a suite.
    """
    benchmarks = list(dict.fromkeys(benchmark for name in names for benchmark in _benchmarks(name)))
    if not benchmarks:
        raise UsageError(f"{', '.join(names)}: the suite has no benchmarks. Add some.")
    return benchmarks


def _benchmarks(name: str) -> Iterator[str]:
    if not name.startswith(PREFIX):
        yield name
        return
    suite = name.removeprefix(PREFIX)
    if suite in SUITES:
        yield from SUITES[suite].benchmarks
    elif suite.endswith(".toml"):
        for benchmark in _from_file(Path(suite)):
            if benchmark.startswith(PREFIX):
                raise UsageError(
                    f"{suite}: {benchmark} is a suite, but a suite can contain only benchmarks. "
                    "List its benchmarks instead."
                )
            yield benchmark
    else:
        close = get_close_matches(suite, SUITES, n=1)
        hint = f" Did you mean {PREFIX}{close[0]}?" if close else ""
        known = f"{', '.join(SUITES)}, and files ({PREFIX}mine.toml)"
        raise CatalogError(f"there is no suite {suite!r}. Suites: {known}.{hint}")


def _from_file(path: Path) -> Sequence[str]:
    import tomllib  # like the next import, not needed by most commands

    from snellen.data import utf8  # imports all readers of data (60 ms), which `list` does not need

    try:
        check_regular(path)
        document = tomllib.loads(utf8(path.read_bytes(), path).decode())
    except OSError as error:
        raise CatalogError(f"{path}: the suite cannot be read: {error.strerror}.") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not a TOML file: {error}.") from error
    names = document.get("benchmarks")
    strange = sorted(set(document) - {"benchmarks", "title"})
    if strange or not isinstance(names, list) or not all(isinstance(item, str) for item in names):
        raise UsageError(
            f"{path} is not a suite. It has {', '.join(document) or 'nothing'}. A suite must have "
            'benchmarks = ["eyechart", "mathvision:split=testmini"], and may have a title.'
        )
    return names
