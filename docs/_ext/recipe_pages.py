"""Generates a page for each recipe: its evidence, how it asks each data set, and its published
figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from snellen import recipes

Text = Callable[[str], str]
Table = Callable[[Sequence[str], Sequence[Sequence[str]]], str]


def pages(text: Text, table: Table, fenced: Text) -> Iterator[tuple[str, str]]:
    """Yield the name under `docs/generated` and the text of each page.

    Args:
        text: Converts plain text to Markdown.
        table: Formats a table, from its head and rows of Markdown cells.
        fenced: Formats a block that is shown as it is.
    """
    loaded = [recipes.load(name) for name in recipes.names()]
    bundled = [recipe for recipe in loaded if recipe.provider == "bundled"]
    for recipe in bundled:
        yield f"recipes/{recipe.name}.md", _page(recipe, text, table, fenced)
    yield "recipes.md", _index(bundled, text, table)


def _index(loaded: Sequence[recipes.Recipe], text: Text, table: Table) -> str:
    rows = [
        [
            f"[{text(recipe.name)}](recipes/{recipe.name}.md)",
            text(recipe.family),
            f"`{recipe.evidence}`",
            str(len(_usual(recipe))),
            str(len(recipe.figures)),
        ]
        for recipe in loaded
    ]
    tree = "\n".join(f"recipes/{recipe.name}" for recipe in loaded)
    return (
        "# Recipes by name\n\nEach recipe has a page, generated from its file. "
        "[Recipes](../recipes.md) says how to use them and what the evidence means. "
        "`snellen show --recipe NAME` shows the same in the terminal.\n\n"
        + table(["name", "family", "evidence", "data sets", "figures"], rows)
        + f"\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    )


def _usual(recipe: recipes.Recipe) -> Mapping[str, recipes.Ask]:
    return {name: ask for (name, variant), ask in recipe.asks.items() if not variant}


def _page(recipe: recipes.Recipe, text: Text, table: Table, fenced: Text) -> str:
    parts = [
        f"# {text(recipe.name)}\n",
        f"{text(recipe.family)}. Evidence: `{recipe.evidence}`. Source: {text(recipe.source)}.\n",
    ]
    if recipe.checkpoints:
        parts.append(f"Checkpoints: {', '.join(f'`{name}`' for name in recipe.checkpoints)}.\n")
    if recipe.variants:
        parts.append(f"Variants: {', '.join(f'`{name}`' for name in recipe.variants)}.\n")
    for title, items in (
        ("Notes", recipe.notes),
        ("Where sources contradict each other", recipe.conflicts),
        ("What no source says", recipe.unknown),
    ):
        if items:
            parts += [f"## {title}\n", *(f"- {text(item)}" for item in items), ""]
    if recipe.figures:
        rows = [
            [
                text(figure.benchmark),
                text(figure.checkpoint),
                f"{figure.value:g}",
                f"`{figure.data_set}`" if figure.data_set else "unknown",
                text(figure.source),
            ]
            for figure in recipe.figures
        ]
        parts += [
            "## Published figures\n",
            table(["benchmark", "checkpoint", "figure", "asked as", "source"], rows),
        ]
    if asks := _usual(recipe):
        parts += ["## Data sets\n", _data_sets(asks, text, table)]
        parts += ["## Prompts and settings\n", *_manners(recipe.asks.values(), text, fenced)]
    return "\n".join(parts)


def _data_sets(asks: Mapping[str, recipes.Ask], text: Text, table: Table) -> str:
    rows = [
        [
            f"`{name}`",
            f"`{ask.manner.benchmark}`" if ask.manner.benchmark else "not in Snellen",
            f"`{ask.evidence}`",
            text(str(ask.manner.scoring or "unknown")),
            text(ask.manner.source),
        ]
        for name, ask in asks.items()
    ]
    return table(["data set", "benchmark", "evidence", "scored by", "source"], rows)


def _manners(asks: Iterable[recipes.Ask], text: Text, fenced: Text) -> Iterator[str]:
    """Yield sections; data sets with the same prompts and settings share a section."""
    alike: dict[str, list[recipes.Ask]] = {}
    for ask in asks:
        manner = ask.manner
        facts = (ask.template, *_settings(ask), manner.fault, *manner.conflicts, *manner.unknown)
        alike.setdefault("\n".join(facts), []).append(ask)
    for group in alike.values():
        manner = group[0].manner
        names = [ask.data_set + (f" ({ask.variant})" if ask.variant else "") for ask in group]
        yield f"### {', '.join(map(text, names))}\n"
        if manner.fault:
            yield f"Fault: {text(manner.fault)}\n"
        for label, items in (("Conflict", manner.conflicts), ("Unknown", manner.unknown)):
            yield from (f"{label}: {text(item)}\n" for item in items)
        yield fenced(group[0].template)
        yield fenced("\n".join(_settings(group[0])))


def _settings(ask: recipes.Ask) -> Iterator[str]:
    manner = ask.manner
    if manner.system:
        yield f"system = {manner.system!r}"
    if manner.coordinates:
        yield f"coordinates = {manner.coordinates!r}"
    if manner.stamps:
        yield f"stamps = {manner.stamps!r}"
    if manner.thinking:
        yield f"thinking: {manner.thinking}"
    for values in (manner.generation, manner.picture, manner.variables):
        yield from (f"{name} = {value!r}" for name, value in values.items())
    yield from (f"{name} has no value" for name in manner.unset)
