"""The declarations of the tools that a request offers, the arguments of calls to them, and their
results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from snellen.media.content import Part, ToolCall


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """The declaration of a tool, as a model gets it."""

    name: str
    """The tool's name: letters, digits, `_`, and `-`, at most 64 characters."""
    description: str
    """What the tool does, in words for the model."""
    parameters: Mapping[str, object]
    """The JSON schema of the arguments, an object schema."""


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """A call, with its result."""

    call: ToolCall
    """The call."""
    parts: tuple[Part, ...] = ()
    """The result: texts and pictures, or a text that begins with `Error: ` and says what is wrong
    with the call."""


REFUSAL = "Error: "
"""The beginning of the result of a call that was refused."""


def refusal(why: object) -> str:
    """The result of a call that is not carried out, which tells the model what is wrong."""
    return f"{REFUSAL}{why}."


def is_refusal(parts: Sequence[object]) -> bool:
    """Whether the result of a call says that the call was refused. The parts of a stored result
    may be numbers of pictures instead of pictures.

    >>> is_refusal([refusal("there is no tool 'crop'")]), is_refusal(["Picture 2:", 0])
    (True, False)
    """
    return bool(parts) and isinstance(parts[0], str) and parts[0].startswith(REFUSAL)


class MalformedCall(ValueError):
    """A tool call has no name, or its arguments are not a JSON object."""


def call_arguments(call: ToolCall) -> dict[str, object]:
    """Parse the arguments of a call. Empty text counts as an object without members, because some
    services send it for tools without parameters.

    Raises:
        MalformedCall: the call has no name, or the text is not a JSON object.

    >>> call_arguments(ToolCall(id="1", name="rotate", arguments='{"degrees": 90}'))
    {'degrees': 90}
    """
    if not call.name:
        raise MalformedCall("the call is not a JSON object with a name and arguments")
    if not call.arguments.strip():
        return {}
    try:
        arguments = orjson.loads(call.arguments.encode(errors="replace"))
    except orjson.JSONDecodeError as error:
        raise MalformedCall(f"the arguments are not valid JSON ({error})") from None
    if not isinstance(arguments, dict):
        raise MalformedCall("the arguments are not a JSON object")
    return arguments


def is_malformed(call: ToolCall) -> bool:
    """Whether a call has no name, or arguments that are not a JSON object."""
    try:
        call_arguments(call)
    except MalformedCall:
        return True
    return False
