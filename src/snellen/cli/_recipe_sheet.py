"""The output of `snellen show --recipe`: a recipe, or how the recipe evaluates one data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from snellen import registry
from snellen.recipes import RecipeScoring, RecipeThinking

LISTS = ("prompt", "conflicts", "unknown", "evidence")
"""Fields of `Manner` that the sheet shows in another form."""


def recipe_sheet(name: str) -> dict[str, Any]:
    """The recipe as a dictionary that JSON can represent. `name` is RECIPE, RECIPE:DATA_SET, or
    RECIPE:DATA_SET:VARIANT, and RECIPE may be a path.

    Raises:
        UsageError: there is no such recipe, or the recipe does not have this data set.
    """
    recipe_name, _, rest = name.partition(":")
    recipe = registry.recipe(recipe_name)
    data_set, _, variant = rest.partition(":")
    document: dict[str, Any] = {
        "recipe": recipe.name,
        "family": recipe.family,
        "checkpoints": [*recipe.checkpoints],
        "evidence": recipe.evidence,
        "source": recipe.source,
        "provider": recipe.provider,
        "variants": [*recipe.variants],
        "notes": [*recipe.notes],
        "conflicts": [*recipe.conflicts],
        "unknown": [*recipe.unknown],
    }
    if data_set:
        ask = recipe.ask(data_set, variant)
        manner = msgspec.to_builtins(ask.manner)
        return {
            **document,
            "data_set": ask.data_set,
            "variant": variant,
            "template": ask.template,
            "modes": ask.modes,
            **{key: value for key, value in manner.items() if key not in LISTS},
            "evidence": ask.evidence,
            **{key: [*document[key], *manner[key]] for key in ("conflicts", "unknown")},
        }
    return {
        **document,
        "data_sets": {
            data_set: {"benchmark": ask.manner.benchmark, "fault": ask.manner.fault}
            for (data_set, variant), ask in recipe.asks.items()
            if not variant
        },
        "figures": [msgspec.to_builtins(figure) for figure in recipe.figures],
    }


def recipe_lines(document: Mapping[str, Any]) -> list[str]:
    """The lines of a recipe's sheet."""
    lines = [
        document["recipe"],
        "",
        f"family         {document['family']}",
        f"evidence       {document['evidence']}",
        f"source         {document['source']}",
        f"from           {document['provider']}",
    ]
    for label, key in (("checkpoint", "checkpoints"), ("variant", "variants"), ("note", "notes")):
        lines += [f"{label:<15}{text}" for text in document[key]]
    for label, key in (("conflict", "conflicts"), ("unknown", "unknown")):
        lines += [f"{label:<15}{text}" for text in document[key]]
    if "data_sets" in document:
        width = max(map(len, document["data_sets"]), default=0)
        lines += ["", "data sets:"]
        for data_set, entry in document["data_sets"].items():
            fault = f"  fault: {entry['fault']}" if entry["fault"] else ""
            benchmark = entry["benchmark"] or "(not in Snellen)"
            lines.append(f"  {data_set:<{width}}  {benchmark}{fault}")
        lines += ["", "figures:"] if document["figures"] else []
        lines += [
            f"  {figure['benchmark']}, {figure['checkpoint']}: {figure['value']:g} "
            f"({figure['source']})"
            + ("" if figure["data_set"] else "; no source says how it is asked")
            for figure in document["figures"]
        ]
        return lines
    heading = document["data_set"] + (f" ({document['variant']})" if document["variant"] else "")
    lines += ["", f"{heading}:", f"  written in     {document['source']}"]
    if document["fault"]:
        lines.append(f"  fault          {document['fault']}")
    for key in ("scoring", "thinking"):
        if document[key]:
            words = {"scoring": RecipeScoring, "thinking": RecipeThinking}[key](**document[key])
            lines.append(f"  {key:<13}  {words}")
    if document["system"]:
        lines.append(f"  system         {document['system']!r}")
    if document["coordinates"]:
        lines.append(f"  coordinates    {document['coordinates']}")
    if document["stamps"]:
        lines.append(f"  stamps         {document['stamps']}")
    for key in ("generation", "picture", "tiles", "variables"):
        for name, value in (document[key] or {}).items():
            lines.append(f"  {key:<13}  {name} = {value!r}")
    lines += [f"  generation     {name} has no value" for name in document["unset"]]
    lines += [
        f"  figure         {figure['checkpoint']}: {figure['value']:g} ({figure['source']})"
        for figure in document["figures"]
    ]
    return [*lines, "  prompt", *(f"    {line}" for line in document["template"].splitlines())]
