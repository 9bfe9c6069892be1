"""Makes a tool from a function."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

import msgspec
import orjson

from snellen.core.tools import ToolSpec
from snellen.errors import UsageError
from snellen.media.content import Image
from snellen.media.views import PictureView
from snellen.tools.shown import Shown, ToolError

Output = str | Image | PictureView
"""A part of a tool's result: a text, a picture, or a view of a picture."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool that a model may call."""

    spec: ToolSpec
    """The declaration that the model gets."""
    function: Callable[..., Any]
    """Carries out a call. It gets the media as the first argument, and the call's arguments as
    keyword arguments."""
    arguments: type[msgspec.Struct]
    """The type of the arguments, which checks them."""
    version: str
    """The version of one of Snellen's own tools, or the digest of a user's file."""

    def call(self, shown: Shown, arguments: Mapping[str, object]) -> tuple[Output, ...]:
        """Carry out a call.

        Raises:
            ToolError: the arguments are wrong.
            MediaError: a picture or video cannot be read.
            TypeError: the function returned something else than texts and pictures.
        """
        try:
            checked = msgspec.convert(arguments, self.arguments)
        except msgspec.ValidationError as error:
            schema = orjson.dumps(self.spec.parameters).decode()
            raise ToolError(f"{error}. The arguments of {self.spec.name} are {schema}") from None
        output = self.function(shown, **msgspec.structs.asdict(checked))
        return tuple(_parts(output))


def tool_of(function: Callable[..., Any], *, version: str) -> Tool:
    """Make a tool from a function `f(shown, *, ...)`, whose keyword parameters are annotated.

    The function returns a text, a `PictureView`, an `Image`, or a list of these. It raises
    `ToolError` if a call is wrong. The docstring describes the tool to the model.

    Raises:
        UsageError: the function has no docstring, or a parameter has no usable annotation.
    """
    name = getattr(function, "__name__", "")
    if not callable(function) or not NAME.fullmatch(name):
        raise UsageError(f"{function!r:.80} is not a tool. A tool is a function with a name.")
    description = " ".join((inspect.getdoc(function) or "").split())
    if not description:
        raise UsageError(f"the tool {name} has no docstring, which describes it to the model.")
    arguments = _arguments_of(function, name)
    ((_, schema),) = msgspec.json.schema_components([arguments])[1].items()
    schema.pop("title", None)
    return Tool(
        spec=ToolSpec(name=name, description=description, parameters=schema),
        function=function,
        arguments=arguments,
        version=version,
    )


def _arguments_of(function: Callable[..., Any], name: str) -> type[msgspec.Struct]:
    """The type of a function's keyword arguments.

    Raises:
        UsageError: the function takes something else than the media and annotated keywords, or an
            annotation has no JSON schema.
    """
    first, *others = inspect.signature(function).parameters.values()
    is_usable = first.kind is not first.KEYWORD_ONLY and all(
        parameter.kind is parameter.KEYWORD_ONLY for parameter in others
    )
    try:
        hints = get_type_hints(function, include_extras=True)
        if not is_usable:
            raise TypeError("its first parameter is the media, and all others are keyword-only")
        missing = [parameter.name for parameter in others if parameter.name not in hints]
        if missing:
            raise TypeError(f"{', '.join(missing)} has no annotation")
        arguments = msgspec.defstruct(
            name,
            [
                (parameter.name, hints[parameter.name])
                if parameter.default is parameter.empty
                else (parameter.name, hints[parameter.name], parameter.default)
                for parameter in others
            ],
            kw_only=True,
            forbid_unknown_fields=True,
        )
        if len(msgspec.json.schema_components([arguments])[1]) != 1:
            raise TypeError("its parameters have types with fields of their own")
    except (TypeError, NameError, ValueError) as error:
        raise UsageError(
            f"the tool {name} cannot be offered to a model: {error}. Write "
            f"`def {name}(shown, *, box: list[float], picture: int = 1)`."
        ) from error
    return arguments


def _parts(output: object) -> Iterator[Output]:
    for part in output if isinstance(output, list | tuple) else [output]:
        if not isinstance(part, str | Image | PictureView):
            raise TypeError(
                f"it returned a {type(part).__name__}, not a text, a PictureView, an Image, or a "
                "list of these"
            )
        yield part
