"""Plan files: TOML files with the options of `snellen run`, and with models and their profiles."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from snellen.core.profile import Profile, fields_of
from snellen.data import utf8
from snellen.errors import UsageError, check_regular

PROFILES = "profiles"
"""The key in click's `Context.meta` under which the profiles of the plan are stored."""


def use(ctx: click.Context, _: click.Parameter, path: Path | None) -> Path | None:
    """Make a plan's fields the defaults of the options with the same names. Options of the command
    line take precedence.

    Raises:
        UsageError: the plan cannot be read, or it has a field that is not an option.
    """
    if path is None:
        return None
    try:
        check_regular(path)
        plan = tomllib.loads(utf8(path.read_bytes(), path).decode())
    except OSError as error:
        raise UsageError(f"{path}: the plan cannot be read: {error.strerror}.") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not a valid TOML file: {error}.") from error
    options = {
        _field(option): option for option in ctx.command.params if isinstance(option, click.Option)
    }
    if unknown := sorted(set(plan) - set(options)):
        raise UsageError(
            f"{path}: no such option {', '.join(map(repr, unknown))}. "
            f"Options: {', '.join(options)}."
        )
    ctx.meta[PROFILES] = _take_profiles(plan, path)
    ctx.default_map = {
        str(options[name].name): _as_flags(options[name], value) for name, value in plan.items()
    }
    return path


def _field(option: click.Option) -> str:
    """An option's name in a plan: the flag's name with underscores, or `models` or `benchmarks`."""
    names = {"models": "models", "benchmarks": "benchmarks"}
    flag = max(option.opts, key=len).lstrip("-").replace("-", "_")
    return names.get(str(option.name), flag)


def _as_flags(option: click.Option, value: Any) -> Any:
    """A field's value in the form of the flag: tables become NAME=VALUE pairs, and a single value
    becomes a list.

    Raises:
        UsageError: the value does not have the flag's type.
    """
    if isinstance(value, Mapping):
        value = [f"{name}={item}" for name, item in value.items()]
        return value if option.multiple else ",".join(value)
    if isinstance(value, bool) is not option.is_flag:
        kind = "must be true or false" if option.is_flag else "cannot be a boolean"
        raise UsageError(f"{_field(option)} in a plan {kind}: {value!r}.")
    if option.is_flag:
        return value
    if option.multiple:
        return [str(item) for item in (value if isinstance(value, list) else [value])]
    return str(value)


def _take_profiles(plan: dict[str, Any], path: Path) -> dict[str, Profile]:
    """Move profiles out of the plan. If a model is a table, the table is the model's profile, and
    only the model's name stays in the plan."""
    profiles = {}
    names = []
    models = plan.get("models", [])
    for model in models if isinstance(models, list) else [models]:
        if isinstance(model, Mapping):
            fields = dict(model)
            name = fields.pop("name", None)
            if not isinstance(name, str):
                raise UsageError(f'{path}: a model has no name. Add name = "openai/NAME".')
            if name in profiles:
                raise UsageError(
                    f"{path}: the model {name} appears twice, but runs are distinguished by their "
                    "models' names. Put the second model into another plan with another --out."
                )
            try:
                profiles[name] = msgspec.convert(fields, Profile)
            except msgspec.ValidationError as error:
                raise UsageError(f"{path}: {name}: {error}. {fields_of(str(error))}") from error
            model = name
        names.append(model)
    if "models" in plan:
        plan["models"] = names
    return profiles
