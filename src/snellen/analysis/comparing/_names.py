"""Chooses the names of sides and benchmarks, and finds the settings in which two sides differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import PurePath
from typing import Any, Protocol

from snellen import registry
from snellen.errors import CatalogError
from snellen.store import differing

LONGEST_SETTING = 60
"""The maximum length of a side's settings in its name, in characters. If cut names are equal, the
run's folder is added."""
NAMES = ("model", "replies")
"""The fields of an identity that contain the model's name or the file of the replies."""
REVISIONS = {"model_revision", "profile.revision"}
"""The fields of an identity that name the weights of a model."""
ECHOES = {
    "probe": "data.digest",
    "profile.images": "media.images",
    "generation.effort": "thinking",
    "tools": "tool_use",
}
"""Maps a field to the field, or group of fields, that changes as a consequence of it. For example,
a probe leaves out rows, which changes the digest of the data."""


class SideIdentity(Protocol):
    """The model of a set of replies, how they were requested, and where they are stored."""

    @property
    def model(self) -> str: ...

    @property
    def identity(self) -> Mapping[str, Any]: ...

    @property
    def where(self) -> str: ...


def settings(a: SideIdentity, b: SideIdentity) -> list[str]:
    """The settings in which two sides differ, such as `media.frames: uniform:64 against fps:1`."""
    return [
        f"{name}: {_value_text(value_a, name)} against {_value_text(value_b, name)}"
        for name, value_a, value_b in _fields(a, b)
    ]


def setting_names(sides: Sequence[SideIdentity]) -> list[str]:
    """For each side, the values of the settings in which runs of one model differ, such as
    `prompt=cot temperature=0.7`. The text is empty if no setting differs, or if the side has no
    value for any of these settings."""
    fields = _distinguishing_fields([sides])
    return [_setting(side, fields) for side in sides]


def are_checkpoints(sides: Sequence[SideIdentity]) -> bool:
    """Whether runs of one model differ only in the model's revision."""
    fields = {*_distinguishing_fields([sides])}
    return bool(fields) and fields <= REVISIONS


def side_names(groups: Sequence[Sequence[SideIdentity]]) -> list[list[str]]:
    """Choose a name for each side that is unique in its group. A name consists of the model and the
    settings that distinguish runs of this model. If such a name is not unique, the folder or file
    is added. A model with the same settings has the same name in all groups."""
    fields = _distinguishing_fields(groups)
    several = {
        model
        for group in groups
        for model, n in Counter(side.model for side in group).items()
        if n > 1
    }
    names_by_group = []
    for group in groups:
        names = []
        for side in group:
            setting = _setting(side, fields) if side.model in several else ""
            names.append(f"{side.model} ({setting})" if setting else side.model)
        uses = Counter(names)
        doubled = [n for n, name in enumerate(names) if uses[name] > 1]
        for n, tail in zip(doubled, _tails([group[n].where for n in doubled]), strict=True):
            names[n] = f"{names[n]} ({tail})"
        names_by_group.append(names)
    return names_by_group


def benchmark_names(groups: Sequence[Sequence[SideIdentity]], names: Sequence[str]) -> list[str]:
    """Choose a unique benchmark name for each group of sides. A name consists of the benchmark's
    own name and of options, such as `mmbench:lang=cn`. Options are included if they differ between
    groups of this benchmark and are not the default. If the names are still not unique, the probe
    or the digest of the data is added (`eyechart (permute_options=4)`)."""
    full_names = []
    for group, name in zip(groups, names, strict=True):
        namesakes = [other[0] for other, its in zip(groups, names, strict=True) if its == name]
        unlike = {
            option: value
            for option, value in _options(group[0]).items()
            if any(_options(other).get(option) != value for other in namesakes)
        }
        usual = _defaults(group[0]) if unlike else {}
        options = [
            f"{option}={_value_text(value)}"
            for option, value in unlike.items()
            if option not in usual or usual[option] != value
        ]
        full_names.append(f"{name}:{','.join(options)}" if options else name)
    full_names = _with_details(full_names, [_probe(group) for group in groups])
    full_names = _with_details(full_names, [_digest(group[0]) for group in groups])
    return _with_numbers(full_names)


def _with_details(names: Sequence[str], details: Sequence[str]) -> list[str]:
    """Add the detail at the same index to each name that occurs several times."""
    uses = Counter(names)
    return [
        f"{name} ({detail})" if detail and uses[name] > 1 else name
        for name, detail in zip(names, details, strict=True)
    ]


def _with_numbers(names: Sequence[str]) -> list[str]:
    uses, seen = Counter(names), Counter[str]()
    unique_names = []
    for name in names:
        seen[name] += 1
        unique_names.append(f"{name} ({seen[name]})" if uses[name] > 1 else name)
    return unique_names


def _probe(group: Sequence[SideIdentity]) -> str:
    """The probe of a group, such as `permute_options=4`; empty unless all sides have the same
    probe."""
    texts = {
        ", ".join(
            f"{name}={_value_text(value)}"
            for name, value in (side.identity.get("probe") or {}).items()
            if name != "seed"
        )
        for side in group
    }
    return texts.pop() if len(texts) == 1 else ""


def _digest(side: SideIdentity) -> str:
    digest = (side.identity.get("data") or {}).get("digest")
    return f"data {_value_text(digest, 'data.digest')}" if digest else ""


def _distinguishing_fields(groups: Sequence[Sequence[SideIdentity]]) -> list[str]:
    """The fields in which runs of one model differ within a group."""
    fields: dict[str, None] = {}
    for group in groups:
        for first, second in permutations(group, 2):
            if first.model == second.model:
                fields.update(dict.fromkeys(name for name, _, _ in _fields(first, second)))
    return [*fields]


def _setting(side: SideIdentity, fields: Sequence[str]) -> str:
    """A side's values of these fields, such as `prompt=cot temperature=0.7`. A long text is cut."""
    shorts = Counter(name.rpartition(".")[2] for name in fields)
    parts = []
    for name in fields:
        short = name.rpartition(".")[2]
        value = _value(side.identity, name)
        if value is not None:  # not the text "none": `blind=none` is the name of a probe
            parts.append(f"{short if shorts[short] == 1 else name}={_value_text(value, name)}")
    text = " ".join(parts)
    return text if len(text) <= LONGEST_SETTING else f"{text[: LONGEST_SETTING - 1]}…"


def _options(side: SideIdentity) -> Mapping[str, Any]:
    options: Mapping[str, Any] = side.identity.get("options", {})
    return options


def _defaults(side: SideIdentity) -> Mapping[str, Any]:
    """The defaults of a benchmark's options; empty if the benchmark is not in the catalog."""
    try:
        options = registry.listed_options(str(side.identity.get("benchmark")))
    except CatalogError:
        return {}
    return {name: option["default"] for name, option in options.items()}


def _fields(a: SideIdentity, b: SideIdentity) -> Iterator[tuple[str, Any, Any]]:
    """The fields in which two identities differ. If one side is a file of predictions, only fields
    that exist in both identities are compared, since it is unknown how predictions were
    requested."""
    identity_a, identity_b = a.identity, b.identity
    common = (
        {*identity_a, *identity_b}
        if "model" in identity_a and "model" in identity_b
        else {*identity_a} & {*identity_b}
    )
    differences = [
        *differing(
            {name: identity_a.get(name) for name in common - {*NAMES}},
            {name: identity_b.get(name) for name in common - {*NAMES}},
        )
    ]
    echoes = {ECHOES[start] for name, _, _ in differences if (start := _start(name)) in ECHOES}
    return (
        field
        for field in differences
        if not any(f"{field[0]}.".startswith(f"{echo}.") for echo in echoes)
    )


def _start(name: str) -> str:
    """The key of `ECHOES` that a field belongs to (`probe` for `probe.blind`), or the field itself
    if there is no such key."""
    return next((start for start in ECHOES if name.startswith(f"{start}.")), name)


def _value(identity: Mapping[str, Any], name: str) -> Any:
    value: Any = identity
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _value_text(value: Any, name: str = "") -> str:
    match value:
        case None:
            return "not set"
        case dict():
            return ",".join(f"{name}={_value_text(part)}" for name, part in value.items())
    return str(value)[:8] if name == "data.digest" else str(value)


def _tails(paths: Sequence[str]) -> list[str]:
    """Shorten each path to its last parts, with as few parts as are needed to distinguish all
    paths. If two paths are equal, the result contains numbers instead."""
    if len(set(paths)) < len(paths):
        return [*map(str, range(1, len(paths) + 1))]
    parts_by_path = [PurePath(path).parts or (path,) for path in paths]
    for n in range(1, max(map(len, parts_by_path), default=1) + 1):
        tails = ["/".join(parts[-n:]) for parts in parts_by_path]
        if len(set(tails)) == len(tails):
            break
    return tails if parts_by_path else []
