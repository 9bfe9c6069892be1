"""Recipes from TOML files: the bundled ones by name, a stranger's by its path.

A file has these tables:

- at the top `family`, `checkpoints`, `evidence`, `source`, lists of `notes`, `conflicts`, and
  `unknown`, and `base`, a bundled recipe that asks the data sets which this one does not state;
- `[prompts]`, templates by name; another recipe's is `RECIPE/PROMPT`;
- `[defaults]`, what all data sets share;
- `[[asks]]`, with the names of `data_sets` and what is special to them, and `alone = true` if they
  take nothing from `[defaults]`;
- `[variants.NAME]`, what changes for all data sets when they are asked in another way, and
  `variants.NAME` in an ask for its own changes.

`[defaults]`, an ask, and a variant have the fields of `Manner`. Tables are merged, later ones win.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from snellen.errors import UsageError
from snellen.recipes.recipe import Ask, Evidence, Manner, Recipe

T = TypeVar("T")
FOLDER = Path(__file__).parent
BENCHMARKS = "benchmarks"
"""The file that says which benchmark a data set is."""


class AskTable(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of `[[asks]]`, besides the fields of `Manner`."""

    data_sets: list[str]
    """The names of the data sets."""
    variants: dict[str, dict[str, Any]] = {}
    """What is special in a variant."""
    alone: bool = False
    """Whether the data sets take nothing from `[defaults]`."""


class RecipeFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tables of a file."""

    family: str
    """The family of models."""
    evidence: Evidence
    """Who vouches for it."""
    source: str
    """Where it is written: repository@commit:path."""
    asks: list[dict[str, Any]] = []
    """How data sets are asked: the fields of `AskTable` and `Manner`."""
    base: str = ""
    """The bundled recipe that asks the data sets which this one does not state; empty: none."""
    checkpoints: list[str] = []
    """The checkpoints that it is for."""
    notes: list[str] = []
    """What a reader must know."""
    conflicts: list[str] = []
    """Where sources contradict each other."""
    unknown: list[str] = []
    """What no source says."""
    prompts: dict[str, str] = {}
    """Templates by name."""
    defaults: dict[str, Any] = {}
    """What all data sets share."""
    variants: dict[str, dict[str, Any]] = {}
    """What changes for all data sets when they are asked in another way."""


def names() -> list[str]:
    """The names of the bundled recipes."""
    return sorted(file.stem for file in FOLDER.glob("*.toml") if file.stem != BENCHMARKS)


def load(name: str | Path) -> Recipe:
    """A recipe.

    Args:
        name: A bundled recipe's name, or the path of a TOML file.

    Raises:
        UsageError: there is no such recipe, or the file is not a recipe; the message says where.
    """
    file = Path(name) if str(name).endswith(".toml") else FOLDER / f"{name}.toml"
    if not file.is_file():
        if file.parent == FOLDER:
            raise UsageError(f"There is no recipe {name}. There are: {', '.join(names())}.")
        raise UsageError(f"{file}: there is no such file.")
    return _recipe(file)


@cache
def _recipe(file: Path) -> Recipe:
    content = _read(file)
    return Recipe(
        name=file.stem,
        family=content.family,
        checkpoints=content.checkpoints,
        evidence=content.evidence,
        source=content.source,
        asks={(ask.data_set, variant): ask for variant, ask in _asks(content, file)},
        variants=[*content.variants],
        notes=content.notes,
        conflicts=content.conflicts,
        unknown=content.unknown,
    )


@cache
def _read(file: Path) -> RecipeFile:
    return _converted(_table(file), RecipeFile, f"{file}")


def _table(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file}: the recipe cannot be read: {error}.") from error


def _converted(table: object, kind: type[T], where: str) -> T:
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}.") from error


def _asks(content: RecipeFile, file: Path) -> Iterator[tuple[str, Ask]]:
    """The asks with their variants: the file's own, then those of its base."""
    stated: set[str] = set()
    base = _read(FOLDER / f"{content.base}.toml") if content.base else None
    for text, entries in ((content, content.asks), (base, base.asks if base else [])):
        for i, entry in enumerate(entries, start=1):
            assert text is not None
            where = f"{file}: [[asks]] number {i}" + (
                "" if text is content else f" of {content.base}"
            )
            table = _converted(entry, AskTable, where)
            own = {
                key: value for key, value in entry.items() if key not in AskTable.__struct_fields__
            }
            shared = {} if table.alone else merged(base.defaults if base else {}, content.defaults)
            data_sets = [name for name in table.data_sets if text is content or name not in stated]
            for variant, change in {"": {}, **content.variants}.items():
                fields = merged(shared, own, change, table.variants.get(variant, {}))
                fields["source"] = _full_source(fields.get("source", ""), text.source)
                for data_set in data_sets:
                    yield variant, _ask(content, file, data_set, variant, fields, where)
        stated = {name for entry in content.asks for name in entry["data_sets"]}


def _ask(
    content: RecipeFile, file: Path, data_set: str, variant: str, fields: Any, where: str
) -> Ask:
    entry = _benchmarks().get(data_set)
    known = entry if isinstance(entry, dict) else {"benchmark": entry}
    manner = _converted({**known, **fields}, Manner, where)
    if _template(file, manner.prompt) is None:
        raise UsageError(f"{where}: there is no prompt {manner.prompt!r}.")
    return Ask(
        recipe=file.stem,
        data_set=data_set,
        variant=variant,
        evidence=content.evidence,
        manner=manner,
        load=_loader(file),
    )


def merged(*tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables' fields. Later tables win; inner tables are merged too."""
    result: dict[str, Any] = {}
    for table in tables:
        for key, value in table.items():
            before = result.get(key)
            if isinstance(before, dict) and isinstance(value, dict):
                result[key] = {**before, **value}
            else:
                result[key] = value
    return result


def _full_source(part: str, recipe: str) -> str:
    """Where an ask is written. Its source may be relative to the recipe's."""
    if "@" in part or not part:
        return part or recipe
    return recipe + part if part.startswith("#") else f"{recipe}/{part}"


@cache
def _benchmarks() -> dict[str, Any]:
    return _table(FOLDER / f"{BENCHMARKS}.toml")


@cache
def _loader(file: Path) -> Callable[[str], str | None]:
    return partial(_template, file)


def _template(file: Path, name: str) -> str | None:
    """A template of this file, or of a bundled recipe by RECIPE/PROMPT; None if there is none."""
    recipe, _, prompt = name.rpartition("/")
    source = FOLDER / f"{recipe}.toml" if recipe else file
    return _read(source).prompts.get(prompt) if source.is_file() else None
