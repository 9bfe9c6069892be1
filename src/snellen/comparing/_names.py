"""What sides and benchmarks are called, and in which settings two sides differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from snellen.comparing._sides import Loaded
from snellen.store import differing

NAMES = ("model", "replies")
"""Fields of an identity that say whose replies they are."""


def settings(a: Loaded, b: Loaded) -> list[str]:
    """The settings in which two sides differ: `media.frames: uniform:64 against fps:1`"""
    return [
        f"{name}: {_said(one, name)} against {_said(other, name)}"
        for name, one, other in _fields(a, b)
    ]


def setting_names(sides: Sequence[Loaded]) -> list[str]:
    """For each side what it has in the settings in which runs of one model differ:
    `prompt=cot temperature=0.7`; "" where none does."""
    fields: dict[str, None] = {}
    for one in sides:
        for other in sides:
            if one is not other and one.model == other.model:
                fields.update(dict.fromkeys(name for name, _, _ in _fields(one, other)))
    shorts = Counter(name.rpartition(".")[2] for name in fields)
    found = []
    for side in sides:
        parts = []
        for name in fields:
            short = name.rpartition(".")[2]
            value = _said(_value(side.identity, name), name)
            parts.append(f"{short if shorts[short] == 1 else name}={value}")
        found.append(" ".join(parts))
    return found


def side_names(sides: Sequence[Loaded]) -> list[str]:
    """A name of its own for each: the model, the settings that tell its runs apart, and what its
    folder or file is called where these do not."""
    models = Counter(side.model for side in sides)
    named = [
        f"{side.model} ({setting})" if models[side.model] > 1 and setting else side.model
        for side, setting in zip(sides, setting_names(sides), strict=True)
    ]
    uses = Counter(named)
    doubled = [n for n, name in enumerate(named) if uses[name] > 1]
    for n, tail in zip(doubled, _tails([sides[n].where for n in doubled]), strict=True):
        named[n] = f"{named[n]} ({tail})"
    return named


def benchmark_names(groups: Sequence[Sequence[Loaded]]) -> list[str]:
    """What each group of sides is asked: the benchmark, with the options in which groups of that
    name differ (`mmbench:lang=cn`)."""
    found = []
    for group in groups:
        first = group[0]
        name = first.benchmark.name
        among = [one[0] for one in groups if one[0].benchmark.name == name]
        options = [
            f"{option}={_said(value)}"
            for option, value in _options(first).items()
            if any(_options(other).get(option) != value for other in among)
        ]
        found.append(f"{name}:{','.join(options)}" if options else name)
    uses = Counter(found)
    seen: Counter[str] = Counter()
    for n, name in enumerate(found):
        seen[name] += 1
        if uses[name] > 1:
            found[n] = f"{name} (data {seen[name]})"
    return found


def _options(side: Loaded) -> Mapping[str, Any]:
    options: Mapping[str, Any] = side.identity.get("options", {})
    return options


def _fields(a: Loaded, b: Loaded) -> Iterator[tuple[str, Any, Any]]:
    """Where two identities differ; of predictions it is not known how they were asked for."""
    one, other = a.identity, b.identity
    common = {*one, *other} if "model" in one and "model" in other else {*one} & {*other}
    return differing(
        {name: one.get(name) for name in common - {*NAMES}},
        {name: other.get(name) for name in common - {*NAMES}},
    )


def _value(identity: Mapping[str, Any], name: str) -> Any:
    value: Any = identity
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _said(value: Any, name: str = "") -> str:
    match value:
        case None:
            return "none"
        case dict():
            return ",".join(f"{name}={_said(one)}" for name, one in value.items())
    return str(value)[:8] if name == "data.digest" else str(value)


def _tails(places: Sequence[str]) -> list[str]:
    """As many of the last parts of paths as tell all of them apart."""
    parts = [PurePath(place).parts or (place,) for place in places]
    for n in range(1, max(map(len, parts), default=1) + 1):
        tails = ["/".join(one[-n:]) for one in parts]
        if len(set(tails)) == len(tails):
            break
    return tails if parts else []
