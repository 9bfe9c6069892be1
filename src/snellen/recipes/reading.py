"""Loads recipes from TOML files.

Bundled recipes and the recipes of installed packages are loaded by name. Other recipes are loaded
by the path of their file. A recipe's file has:

- the fields `family`, `checkpoints`, `evidence`, and `source`
- the lists `notes`, `conflicts`, and `unknown`
- `base`, the name of a bundled recipe for data sets that are not in this recipe
- `[prompts]`, templates keyed by name
- `[defaults]`, settings for all data sets
- `[[asks]]`, settings for the data sets in `data_sets`, which are not merged with `[defaults]` if
  `alone` is true
- `[[figures]]`, published figures, with a `data_set` if the recipe has the data set
- `[variants.NAME]`, the changes that a variant makes for all data sets
- `variants.NAME` in an entry of `[[asks]]`, the changes that a variant makes for its data sets

The name `RECIPE/PROMPT` refers to a prompt of another recipe. `[defaults]`, `[[asks]]`, and
variants have the fields of `Manner`. Variants override `[[asks]]`, and `[[asks]]` overrides
`[defaults]`.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from snellen.errors import UsageError
from snellen.recipes.facts import CardFigure, Evidence
from snellen.recipes.plugins import recipe_plugins
from snellen.recipes.prompts import Loads
from snellen.recipes.recipe import Ask, Manner, Recipe

T = TypeVar("T")
FOLDER = Path(__file__).parent
BENCHMARKS, PUBLISHED = "benchmarks", "published"
"""The names of the files that map data sets, and published figures, to Snellen's benchmarks."""


class AskTable(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of an entry in `[[asks]]`, except the fields of `Manner`."""

    data_sets: list[str]
    """The names of the data sets."""
    variants: dict[str, dict[str, Any]] = {}
    """The changes that each variant makes for these data sets."""
    alone: bool = False
    """Whether `[defaults]` is ignored for these data sets."""


class RecipeFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of a recipe's file."""

    family: str
    """The family of models."""
    evidence: Evidence
    """The kind of evidence for the recipe."""
    source: str
    """Where the recipe is documented: repository@commit:path."""
    asks: list[dict[str, Any]] = []
    """The settings for data sets: tables with the fields of `AskTable` and `Manner`."""
    base: str = ""
    """The bundled recipe for data sets that are not in this recipe; empty if there is none."""
    figures: list[CardFigure] = []
    """Published figures."""
    checkpoints: list[str] = []
    """The checkpoints that the recipe is for."""
    notes: list[str] = []
    """What users of the recipe must know."""
    conflicts: list[str] = []
    """Where sources contradict each other."""
    unknown: list[str] = []
    """What the sources do not say."""
    prompts: dict[str, str] = {}
    """The templates, keyed by name."""
    defaults: dict[str, Any] = {}
    """Settings for all data sets."""
    variants: dict[str, dict[str, Any]] = {}
    """The changes that each variant makes for all data sets."""


def names() -> list[str]:
    """Return the names of the bundled recipes and of the recipes in installed packages."""
    return sorted({*_bundled(), *(plugin.name for plugin in recipe_plugins())})


def _bundled() -> list[str]:
    return [file.stem for file in FOLDER.glob("*.toml") if file.stem not in (BENCHMARKS, PUBLISHED)]


def load(name: str | Path) -> Recipe:
    """Load a recipe.

    Args:
        name: The name of a recipe, or the path of a TOML file.

    Raises:
        UsageError: there is no recipe with this name, several recipes have it, or the file is not a
            valid recipe. The message says where the error is.
    """
    if str(name).endswith(".toml"):
        file = Path(name)
        if not file.is_file():
            raise UsageError(f"{file}: there is no such file.")
        return _recipe(file, str(file))
    owners = [plugin for plugin in recipe_plugins() if plugin.name == name]
    providers = [
        *(["Snellen"] if name in _bundled() else []),
        *(owner.provider for owner in owners),
    ]
    if len(providers) > 1:
        raise UsageError(
            f"{len(providers)} recipes have the name {name}: those of {' and '.join(providers)}. "
            "Pass one recipe's file with --recipe PATH.toml, or uninstall a package."
        )
    if owners:
        return _cached(owners[0].file(), owners[0].provider)
    if not providers:
        raise UsageError(f"There is no recipe {name}. There are: {', '.join(names())}.")
    return _cached(FOLDER / f"{name}.toml", "bundled")


@cache
def _cached(file: Path, provider: str) -> Recipe:
    """Load a recipe whose file does not change while this process runs."""
    return _recipe(file, provider)


def _recipe(file: Path, provider: str) -> Recipe:
    content = _read(file)
    asks = {(ask.data_set, variant): ask for variant, ask in _asks(content, file)}
    for figure in content.figures:
        key = figure.data_set, figure.variant
        if figure.data_set:
            if key not in asks:
                raise UsageError(
                    f"{file}: [[figures]]: the recipe does not ask {' '.join(key).strip()}. Leave "
                    "data_set out if no source states how its questions are asked."
                )
            manner = asks[key].manner
            figures = [*manner.figures, figure.figure]
            asks[key] = replace(asks[key], manner=structs.replace(manner, figures=figures))
    return Recipe(
        name=file.stem,
        family=content.family,
        checkpoints=content.checkpoints,
        evidence=content.evidence,
        source=content.source,
        asks=asks,
        variants=[*content.variants],
        notes=content.notes,
        conflicts=content.conflicts,
        unknown=content.unknown,
        figures=content.figures,
        provider=provider,
    )


def _read(file: Path) -> RecipeFile:
    return converted(read_table(file), RecipeFile, f"{file}")


@cache
def _read_bundled(name: str) -> RecipeFile:
    return _read(FOLDER / f"{name}.toml")


def read_table(file: Path) -> dict[str, Any]:
    """Read the tables of a TOML file.

    Raises:
        UsageError: the file cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # not UTF-8 or TOML, or nested too deep
        raise UsageError(f"{file}: the recipe cannot be read: {error}.") from error


def converted(table: object, kind: type[T], where: str) -> T:
    """Convert a table to a type.

    Raises:
        UsageError: the table does not fit the type. The message begins with the text in `where`.
    """
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}.") from error


def _asks(content: RecipeFile, file: Path) -> Iterator[tuple[str, Ask]]:
    """Yield each variant's `Ask` for each data set, first from this file, then from the base
    recipe."""
    texts = [content, *([_base(content, file)] if content.base else [])]
    defaults = merged(*(text.defaults for text in reversed(texts)))
    load = partial(_template, content.prompts)
    stated: set[str] = set()
    for text in texts:
        numbers: dict[str, int] = {}
        for i, entry in enumerate(text.asks, start=1):
            where = f"{file if text is content else content.base}: [[asks]] number {i}"
            table = converted(entry, AskTable, where)
            _check_data_sets(table, numbers, where)
            numbers |= dict.fromkeys(table.data_sets, i)
            if unknown := sorted(table.variants.keys() - text.variants.keys()):
                known = ", ".join(text.variants) or "none"
                raise UsageError(
                    f"{where}: the recipe has no variant {unknown[0]}. It has: {known}. Add a "
                    f"table [variants.{unknown[0]}]."
                )
            own = {name: entry[name] for name in entry.keys() - {*AskTable.__struct_fields__}}
            data_sets = [name for name in table.data_sets if name not in stated]
            for variant, change in {"": {}, **content.variants}.items():
                special = table.variants.get(variant, {})
                fields = merged({} if table.alone else defaults, own, change, special)
                manner = converted(fields, Manner, where)
                fields["source"] = _full_source(manner.source, text.source)
                if text is not content and "/" not in manner.prompt:
                    fields["prompt"] = f"{content.base}/{manner.prompt}"
                for data_set in data_sets:
                    yield variant, _ask(content, file, load, data_set, variant, fields, where)
        stated |= {name for entry in text.asks for name in entry["data_sets"]}


def _check_data_sets(table: AskTable, numbers: Mapping[str, int], where: str) -> None:
    """Check that a table of settings names data sets, and that no earlier table names them.

    Raises:
        UsageError: the table names no data set, or an earlier table has settings for one of them.
    """
    if not table.data_sets:
        raise UsageError(f"{where}: `data_sets` is empty. Name the data sets of these settings.")
    if twice := [name for name in table.data_sets if name in numbers]:
        raise UsageError(
            f"{where}: [[asks]] number {numbers[twice[0]]} has settings for {twice[0]} too. Name "
            "each data set only once."
        )


def _base(content: RecipeFile, file: Path) -> RecipeFile:
    if content.base not in _bundled():
        raise UsageError(
            f"{file}: there is no bundled recipe {content.base} for `base`. There are: "
            f"{', '.join(sorted(_bundled()))}."
        )
    return _read_bundled(content.base)


def _ask(
    content: RecipeFile,
    file: Path,
    load: Loads,
    data_set: str,
    variant: str,
    fields: Any,
    where: str,
) -> Ask:
    entry = _benchmarks().get(data_set)
    known = entry if isinstance(entry, dict) else {"benchmark": entry}
    manner = converted({**known, **fields}, Manner, where)
    if load(manner.prompt) is None:
        raise UsageError(f"{where}: there is no prompt {manner.prompt!r}.")
    return Ask(
        recipe=file.stem,
        data_set=data_set,
        variant=variant,
        evidence=manner.evidence or content.evidence,
        manner=manner,
        load=load,
    )


def merged(*tables: Mapping[str, Any]) -> dict[str, Any]:
    """Merge tables, including nested ones. Later tables override earlier ones."""
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
    """Return the source of an entry in `[[asks]]`. `part` may be relative to `recipe`, the recipe's
    source."""
    if "@" in part or not part:
        return part or recipe
    if part.startswith("#"):
        return recipe + part
    return f"{recipe}{'/' if ':' in recipe else ':'}{part}"


@cache
def _benchmarks() -> dict[str, Any]:
    return read_table(FOLDER / f"{BENCHMARKS}.toml")


def _template(prompts: Mapping[str, str], name: str) -> str | None:
    """Return a template from `prompts` or, for the name RECIPE/PROMPT, from a bundled recipe.
    Return None if there is no such template."""
    recipe, _, prompt = name.rpartition("/")
    if recipe:
        prompts = _read_bundled(recipe).prompts if recipe in _bundled() else {}
    return prompts.get(prompt)
