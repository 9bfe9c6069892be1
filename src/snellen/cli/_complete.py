"""Shell completion for values of options: benchmarks and models by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def benchmarks(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Offer benchmarks and suites, and the options of a benchmark after its complete name. Other
    tools' names for benchmarks are offered once something is typed. Files are offered if nothing
    else matches."""
    from click.shell_completion import CompletionItem

    from snellen import registry
    from snellen.registry import suites

    name, colon, _ = incomplete.partition(":")
    if colon and f"{name}:" != suites.PREFIX:
        candidates = _with_options(name, incomplete)
    else:
        entries = list(registry.entries())
        candidates = [(entry.name, entry.title) for entry in entries]
        candidates += [
            (f"{suites.PREFIX}{name}", suite.title) for name, suite in suites.SUITES.items()
        ]
        if incomplete:
            candidates += [(alias, entry.name) for entry in entries for alias in entry.aliases]
    offered = [
        CompletionItem(name, help=title)
        for name, title in candidates
        if name.startswith(incomplete)
    ]
    return offered or [CompletionItem(incomplete, type="file")]


def _with_options(name: str, incomplete: str) -> list[tuple[str, str | None]]:
    """The completions of a spec such as `mmbench:lang=en,`: the spec, followed by each option."""
    from snellen import registry
    from snellen.errors import CatalogError

    begun = incomplete[: max(incomplete.rfind(sign) for sign in ":,") + 1]
    try:
        options = registry.listed_options(name)
    except CatalogError:
        return []
    return [
        (f"{begun}{option}={value}", None)
        for option, declared in options.items()
        for value in declared["choices"] or [""]
    ]


def models(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Offer the names of models. For a pattern such as `openai/NAME`, offer its fixed part."""
    from click.shell_completion import CompletionItem

    from snellen import registry

    offered = []
    for pattern, title in registry.list_models():
        # `openai/` for openai/NAME, `python:` for python:FILE:NAME.
        begin = re.sub(r"(?<=[/:])[A-Z_]+(:[A-Z]+)?$", "", pattern)
        if begin.startswith(incomplete):
            offered.append(CompletionItem(begin, help=title))
    return offered
