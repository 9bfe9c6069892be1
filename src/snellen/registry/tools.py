"""Finds tools by name: Snellen's own, those of plug-ins, and those in the user's files."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module

from snellen.errors import CatalogError, UsageError
from snellen.models.user_code import load_object
from snellen.registry.digests import digest_of_plugin
from snellen.registry.names import ambiguous, plugins_by_name
from snellen.registry.plugins import plugins
from snellen.registry.sources import load_plugin
from snellen.tools import VERSIONS, Tool, Toolbox, tool_of

USERS = "python:"


def toolbox(names: Sequence[str]) -> Toolbox:
    """Return the tools with these names. Each item may list several names, separated by commas.

    Raises:
        CatalogError: there is no tool with a name, or there are several.
        UsageError: a tool is listed twice, or a user's tool cannot be loaded.
    """
    listed = [name.strip() for item in names for name in item.split(",") if name.strip()]
    if not listed:
        raise UsageError(f"--tools lists no tool. Tools: {', '.join(VERSIONS)}.")
    tools = [tool(name) for name in listed]
    specs = [tool.spec.name for tool in tools]
    if doubled := sorted({name for name in specs if specs.count(name) > 1}):
        raise UsageError(f"--tools lists {', '.join(doubled)} twice. Tools need distinct names.")
    return Toolbox(tools)


def tool(name: str) -> Tool:
    """Return the tool with this name: one of Snellen's own (`zoom`), a plug-in's, or the user's
    (`python:FILE:NAME`).

    Raises:
        CatalogError: there is no tool with that name, or there are several.
        UsageError: the tool cannot be loaded.
    """
    if name.startswith(USERS):
        own = load_object(name.removeprefix(USERS), "python")
        return tool_of(own.value, version=own.digest or "")
    offers = plugins_by_name("snellen.tools", name)
    origins = [f"snellen.tools.{name}"] if name in VERSIONS else []
    if len(origins) + len(offers) > 1:
        raise ambiguous(name, [*origins, *map(str, offers)], kind="tool")
    if offers:
        return tool_of(load_plugin(offers[0]), version=digest_of_plugin(offers[0]))
    if name not in VERSIONS:
        known = [*VERSIONS, *(plugin.name for plugin in plugins("snellen.tools"))]
        close = get_close_matches(name, known, 3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(close)}? " if close else ""
        raise CatalogError(
            f"there is no tool {name!r}. {hint}Tools: {', '.join(known)}, and python:FILE:NAME for "
            "a function of your own."
        )
    function = getattr(import_module(f"snellen.tools.{name}"), name)
    return tool_of(function, version=str(VERSIONS[name]))
