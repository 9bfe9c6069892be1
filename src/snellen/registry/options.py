"""A benchmark's options: read from a name, and given their types."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from snellen.errors import UsageError


def parsed(text: str, spec: str) -> dict[str, str]:
    """The options in `name=value,name=value`, of the name `spec`.

    Raises:
        UsageError: one has no value.
    """
    options = {}
    for pair in filter(None, text.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(
                f"{spec}: {pair!r} is no option; options are written name=value, with commas "
                "between."
            )
        options[key.strip().replace("-", "_")] = value.strip()
    return options


def described(make: Callable[..., Any]) -> dict[str, dict[str, Any]]:
    """Each option's default, and what it may be where that is a list."""
    hints = get_type_hints(make)
    options = {}
    for option, parameter in _parameters(make).items():
        is_list = get_origin(hints.get(option)) is Literal
        choices = list(get_args(hints[option])) if is_list else None
        options[option] = {"default": parameter.default, "choices": choices}
    return options


def defaults(make: Callable[..., Any]) -> dict[str, Any]:
    """Each option's default."""
    return {name: parameter.default for name, parameter in _parameters(make).items()}


def typed(make: Callable[..., Any], options: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Options as the function of the benchmark `name` takes them.

    Raises:
        UsageError: it has no such option, or the value is none that it may be.
    """
    hints = get_type_hints(make)
    known = [*_parameters(make)]
    values = {}
    for key, value in options.items():
        if key not in known:
            raise UsageError(f"{name} has no option {key!r}; it has {', '.join(known) or 'none'}.")
        values[key] = _value(value, hints.get(key, str), f"{name}:{key}")
    return values


def _parameters(make: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(make).parameters
    return {name: parameter for name, parameter in parameters.items() if name != "data"}


def _value(value: Any, hint: Any, what: str) -> Any:
    if get_origin(hint) is Literal:
        allowed = get_args(hint)
        for choice in allowed:
            if str(choice) == str(value):
                return choice
        raise UsageError(f"{what} is one of {', '.join(map(str, allowed))}, not {value!r}.")
    if get_origin(hint) in (Union, types.UnionType):
        return _value(value, next(arg for arg in get_args(hint) if arg is not type(None)), what)
    if hint is bool and not isinstance(value, bool):
        if str(value).lower() in ("true", "yes", "1", "false", "no", "0"):
            return str(value).lower() in ("true", "yes", "1")
        raise UsageError(f"{what} is true or false, not {value!r}.")
    try:
        return hint(value)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{what} is a {hint.__name__}, not {value!r}.") from error
