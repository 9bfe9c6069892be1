"""Suites: benchmarks that are run together, by one name or from a small file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from snellen.errors import CatalogError, UsageError, check_regular

PREFIX = "suite:"


@dataclass(frozen=True)
class Suite:
    """Benchmarks under one name."""

    title: str
    """What they are for."""
    benchmarks: Sequence[str]
    """The names of the benchmarks, with their options."""


SUITES: Mapping[str, Suite] = {
    "quick": Suite("minutes, nothing to download: where a model stops reading", ("eyechart",)),
    "core": Suite(
        "perception, knowledge and reasoning over images",
        ("eyechart", "mmbench", "scienceqa", "mathvision:split=testmini"),
    ),
}


def expanded(names: Sequence[str]) -> list[str]:
    """The benchmarks of some names, each once: `suite:core`, `suite:mine.toml`, or a benchmark's
    own name.

    A suite's file has `benchmarks = ["eyechart", "mathvision:split=testmini"]` and optionally a
    `title`.

    Raises:
        CatalogError: no suite of that name. UsageError: the file is not a suite.
    """
    benchmarks = list(dict.fromkeys(benchmark for name in names for benchmark in _benchmarks(name)))
    if not benchmarks:
        raise UsageError(f"{', '.join(names)}: no benchmarks in it.")
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
                raise UsageError(f"{suite}: {benchmark} is a suite; a suite holds benchmarks only.")
            yield benchmark
    else:
        close = get_close_matches(suite, SUITES, n=1)
        hint = f" Did you mean {PREFIX}{close[0]}?" if close else ""
        known = f"{', '.join(SUITES)}, and files ({PREFIX}mine.toml)"
        raise CatalogError(f"no suite {suite!r}; there are {known}.{hint}")


def _from_file(path: Path) -> Sequence[str]:
    from snellen.data import utf8  # all readers of data, 60 ms: `list` needs none

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
            f"{path} is not a suite. It has {', '.join(document) or 'nothing'}; a suite has "
            'benchmarks = ["eyechart", "mathvision:split=testmini"], and optionally a title.'
        )
    return names
