"""Suites: groups of benchmarks that are run together. A suite is either bundled or defined in a
TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from snellen.errors import CatalogError, UsageError, check_regular

PREFIX = "suite:"


@dataclass(frozen=True)
class Suite:
    """Several benchmarks with a common name."""

    title: str
    """What the suite measures."""
    benchmarks: Sequence[str]
    """The names of the benchmarks, with their options."""
    metrics: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For a benchmark whose score in the suite is the mean of several metrics, these metrics. By
    default, the score is the headline metric."""
    overall: bool = False
    """Whether the suite has an overall score, the mean of the benchmarks' scores. If it has one,
    every score is a share."""


SUITES: Mapping[str, Suite] = {
    "quick": Suite(
        "the size at which a model stops reading letters; minutes, no download", ("eyechart",)
    ),
    "core": Suite(
        "perception, knowledge, and reasoning about images",
        ("eyechart", "mmbench", "scienceqa", "mathvision:split=testmini"),
    ),
    "openvlm": Suite(
        "the eight of the OpenVLM Leaderboard of 2024, with MMBench's public dev split",
        (
            *("mmbench", "mmstar", "mmmu", "mathvista", "hallusionbench:questions=image", "ai2d"),
            *("ocrbench", "mm-vet"),
        ),
        metrics={"hallusionbench:questions=image": ("aacc", "facc", "qacc")},
        overall=True,
    ),
}


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
