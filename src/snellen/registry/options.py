"""Parses the options of a benchmark, and converts them to their types."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from snellen.errors import UsageError

OPEN_ENDED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
"""Parameters that take any number of arguments (`*args`, `**kwargs`)."""


def parsed(text: str, spec: str) -> dict[str, str]:
    """Parse options in the form `name=value,name=value`. `spec` is the full spec, for messages.

    Raises:
        UsageError: an option has no value.
    """
    options = {}
    for pair in filter(None, text.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(
                f"{spec}: {pair!r} is not an option. Write options as name=value, separated by "
                "commas."
            )
        options[key.strip().replace("-", "_")] = value.strip()
    return options


def described(make: Callable[..., Any]) -> dict[str, dict[str, Any]]:
    """Return the default and the possible values of each option. The possible values are None for
    an option that is not limited to a list."""
    options = {}
    for option, default in defaults(make).items():
        try:
            hint = _without_none(_hint(make, option, option))
        except UsageError:  # `typed` reports the error to users who set the option
            hint = None
        choices = list(get_args(hint)) if get_origin(hint) is Literal else None
        options[option] = {"default": default, "choices": choices}
    return options


def defaults(make: Callable[..., Any]) -> dict[str, Any]:
    """Return the default of each option, or None for an option that must be set."""
    return {
        name: None if parameter.default is inspect.Parameter.empty else parameter.default
        for name, parameter in parameters(make).items()
        if name != "data" and parameter.kind not in OPEN_ENDED
    }


def typed(make: Callable[..., Any], options: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Convert options to the types that the function `make` of the benchmark `name` declares.

    Raises:
        UsageError: the benchmark has no such option, or the option cannot have this value.
    """
    known = [*defaults(make)]
    values = {}
    for key, value in options.items():
        if key not in known:
            options_known = ", ".join(known) or "none"
            raise UsageError(f"{name} has no option {key!r}. Options: {options_known}.")
        values[key] = _value(value, _hint(make, key, name), f"{name}:{key}")
    return values


def parameters(make: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return a function's parameters, which are the options and `data`. The result is empty if the
    signature cannot be read."""
    try:
        return inspect.signature(make).parameters
    except (TypeError, ValueError):  # a built-in class or function
        return {}


def _hint(make: Callable[..., Any], option: str, name: str) -> Any:
    """Return the type of an option of the benchmark `name`, or `str` if the option has no
    annotation.

    Raises:
        UsageError: the annotation cannot be resolved.
    """
    annotation = parameters(make)[option].annotation
    if annotation is inspect.Parameter.empty:
        return str
    function: Any = make.func if isinstance(make, partial) else make
    if not (inspect.isroutine(function) or inspect.isclass(function)):
        function = type(function).__call__
    function = inspect.unwrap(function)
    module = sys.modules.get(function.__module__)
    scope = getattr(function, "__globals__", vars(module) if module else {})
    holder = types.SimpleNamespace(__annotations__={option: annotation})
    try:
        return get_type_hints(holder, scope)[option]
    except Exception as error:  # annotations are users' code, which may raise anything
        file = getattr(module, "__file__", None) or function.__module__
        raise UsageError(
            f"{name}: the annotation {annotation!r} of the option {option!r} cannot be resolved: "
            f"{error}. In {file}, import the annotation's names at the top, outside "
            "`if TYPE_CHECKING`."
        ) from error


def _value(value: Any, hint: Any, what: str) -> Any:
    if get_origin(hint) is Literal:
        allowed = get_args(hint)
        for choice in allowed:
            if str(choice) == str(value):
                return choice
        raise UsageError(f"{what} must be one of {', '.join(map(str, allowed))}, not {value!r}.")
    if get_origin(hint) in (Union, types.UnionType):
        return _value(value, _without_none(hint), what)
    if hint is bool and not isinstance(value, bool):
        if str(value).lower() in ("true", "yes", "1", "false", "no", "0"):
            return str(value).lower() in ("true", "yes", "1")
        raise UsageError(f"{what} must be true or false, not {value!r}.")
    try:
        return hint(value)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{what} must be of type {hint.__name__}, not {value!r}.") from error


def _without_none(hint: Any) -> Any:
    """Return the first type of a union that is not None, or the type itself."""
    if get_origin(hint) in (Union, types.UnionType):
        return next(arg for arg in get_args(hint) if arg is not type(None))
    return hint
