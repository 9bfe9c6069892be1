"""The declarations of `RunOptions`: the name, type, and bounds of each option. Checks values
against them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from snellen.errors import UsageError
from snellen.run.options import Option, RunOptions


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """An option as declared by its field in `RunOptions`."""

    name: str
    """The name of the keyword argument of `evaluate`."""
    option: Option
    """The meaning of the option."""
    types: tuple[Any, ...]
    """The types that the option's value can have, except None, each with the bounds of the
    value."""
    is_optional: bool
    """Whether the option's value may be None, which means that the option is not set."""

    @property
    def flag(self) -> str:
        """The option's name in plan files. On the command line, hyphens replace underscores."""
        return self.option.flag or self.name

    @property
    def is_list(self) -> bool:
        """Whether the option's value is a list. Each use of the flag adds an item."""
        return _origin(self.types[0]) is Sequence

    @property
    def is_mapping_of_flags(self) -> bool:
        """Whether the option's value is a mapping. Each use of the flag adds NAME=VALUE."""
        return _origin(self.types[0]) is Mapping and self.option.read is None

    @property
    def is_path(self) -> bool:
        """Whether the option's value is a path or a list of paths."""
        return Path in self.types or Path in get_args(_items(self.types[0]))

    @property
    def choices(self) -> tuple[str, ...] | None:
        """The words that are allowed as the option's value; None if other values are allowed."""
        return get_args(self.types[0]) if _origin(self.types[0]) is Literal else None

    @property
    def expected(self) -> str:
        """A description of the option's valid values, for messages.

        >>> declarations()["limit"].expected, declarations()["missing"].expected
        ('a whole number of at least 1', 'wrong or excluded')
        """
        return self.option.expected or ", or ".join(map(_in_words, self.types))

    def check(self, value: object) -> Any:
        """Check a value and return it, parsed if it is text.

        Raises:
            UsageError: the value has the wrong type or is out of bounds.
        """
        if value is None and self.is_optional:
            return None
        value = plain(value)
        try:
            value = self._read(value)
        except ValueError as error:
            raise UsageError(f"{self.name}: {error}") from error
        if not self._fits(value):
            raise UsageError(f"{self.name} must be {self.expected}, not {value!r:.80}.")
        return value

    def _read(self, value: Any) -> Any:
        read = self.option.read
        if read is None:
            return value
        if self.is_list:
            return tuple(map(read, value)) if isinstance(value, list | tuple) else value
        return read(value) if isinstance(value, str | Path) else value

    def _fits(self, value: object) -> bool:
        if isinstance(value, float) and not math.isfinite(value):
            return False
        if self.is_list and self.is_path:
            return isinstance(value, tuple)
        if self.is_path:
            return isinstance(value, self.types)
        try:
            msgspec.convert(value, reduce(or_, self.types))
        except msgspec.ValidationError:
            return False
        return True


@cache
def declarations() -> Mapping[str, Declaration]:
    """All options, keyed by keyword, in the order of `--help`."""
    hints = get_type_hints(RunOptions, include_extras=True)
    return {name: _declaration(name, hint) for name, hint in hints.items()}


def _declaration(name: str, hint: Any) -> Declaration:
    declared, *metadata = get_args(hint)
    (option,) = (item for item in metadata if isinstance(item, Option))
    bounds = [item for item in metadata if isinstance(item, msgspec.Meta)]
    if get_origin(declared) in (Union, UnionType):
        types = get_args(declared)
    else:
        types = (Annotated[declared, bounds[0]] if bounds else declared,)
    return Declaration(
        name=name,
        option=option,
        types=tuple(kind for kind in types if kind is not NoneType),
        is_optional=NoneType in types,
    )


def checked(options: Mapping[str, object]) -> RunOptions:
    """Check options and parse their values.

    Raises:
        UsageError: an option does not exist or has an invalid value.
    """
    known = declarations()
    for name in options:
        if name not in known:
            import difflib

            close = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"Options: {', '.join(known)}."
            raise UsageError(f"There is no option {name!r}. {hint}")
    return cast(RunOptions, {name: known[name].check(value) for name, value in options.items()})


def with_defaults(options: Mapping[str, object]) -> RunOptions:
    """Check options, and add the defaults of all options that are not set.

    Raises:
        UsageError: an option does not exist or has an invalid value.
    """
    defaults = {name: declared.option.default for name, declared in declarations().items()}
    return cast(RunOptions, {**defaults, **checked(options)})


def plain(value: Any) -> Any:
    """Convert NumPy numbers to Python numbers, also inside lists and mappings, so that both kinds
    of numbers lead to the same run."""
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    return value.item() if getattr(value, "shape", None) == () else value


def bounds_of(kind: Any) -> tuple[Any, msgspec.Meta]:
    """Split a type into the bare type and its bounds."""
    if get_origin(kind) is not Annotated:
        return kind, msgspec.Meta()
    bare, *metadata = get_args(kind)
    return bare, metadata[0]


def _origin(kind: Any) -> Any:
    return get_origin(bounds_of(kind)[0])


def _items(kind: Any) -> Any:
    return next(iter(get_args(kind)), None)


def _in_words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        *others, last = get_args(kind)
        commas = ", ".join(others)
        return f"{commas}{',' * (len(others) > 1)} or {last}" if others else last
    bare, bounds = bounds_of(kind)
    words = {int: "a whole number", float: "a number", bool: "true or false"}.get(bare, "text")
    if bounds.ge is None:
        return words
    if bounds.le is None:
        return f"{words} of at least {bounds.ge}"
    return f"{words} from {bounds.ge} to {bounds.le}"
