"""Carries out the calls in a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from snellen.core.model import Reply
from snellen.core.tools import MalformedCall, ToolResult, ToolSpec, call_arguments, refusal
from snellen.errors import Rejected, SnellenError, message_of
from snellen.media import images
from snellen.media.content import Image, Part, ToolCall
from snellen.media.views import MAX_PIXELS, PictureView, rendered
from snellen.tools.shown import Shown, ToolError
from snellen.tools.tool import Output, Tool

MAX_CALLS = 8
"""The maximum number of calls in a reply that are carried out."""
MAX_PICTURES = 32
"""The maximum number of pictures in the results of the calls in a reply."""


class Toolbox:
    """The tools that a question offers."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools: Mapping[str, Tool] = {tool.spec.name: tool for tool in tools}
        """The tools by name."""
        self.specs: tuple[ToolSpec, ...] = tuple(tool.spec for tool in tools)
        """The declarations, in the order in which the model gets them."""

    def results(
        self, reply: Reply, shown: Shown, *, room: int = MAX_PICTURES
    ) -> tuple[list[ToolResult], Shown]:
        """Carry out the calls in a reply. Returns the result of each call, and the media with the
        pictures of the results, which are at most `room`.

        The results depend on nothing but the arguments of this method.

        Raises:
            MediaError: a picture or video cannot be read.
            Rejected: a tool raised another exception than `ToolError`.
        """
        results = []
        pictures = len(shown.pictures)
        for number, call in enumerate(reply.tool_calls):
            try:
                if number >= MAX_CALLS:
                    raise ToolError(
                        f"only the first {MAX_CALLS} of {len(reply.tool_calls)} calls were carried "
                        "out. Make fewer calls at once"
                    )
                left = min(room, MAX_PICTURES) - (len(shown.pictures) - pictures)
                parts, shown = _shown_output(self._output(call, shown), shown, left)
            except ToolError as error:
                parts = (refusal(error),)
            results.append(ToolResult(call=call, parts=parts))
        return results, shown

    def _output(self, call: ToolCall, shown: Shown) -> tuple[Output, ...]:
        tool = self.tools.get(call.name)
        try:
            arguments = call_arguments(call)
            if tool is None:
                raise ToolError(
                    f"there is no tool {call.name[:80]!r}. Tools: {', '.join(self.tools)}"
                )
            return tool.call(shown, arguments)
        except MalformedCall as error:
            raise ToolError(
                f"{error}. Write the arguments as a JSON object, such as "
                '{"box": [0, 0, 500, 500]}'
            ) from None
        except (ToolError, SnellenError):
            raise
        except (Exception, SystemExit) as error:
            raise Rejected(
                f"the tool {call.name} failed: {type(error).__name__}: {message_of(error)}"
            ) from error


def _shown_output(
    output: Sequence[Output], shown: Shown, room: int
) -> tuple[tuple[Part, ...], Shown]:
    """Convert the output of a tool to the parts of a message. Each picture gets a number.

    Raises:
        ToolError: the output has more than `room` pictures.
    """
    pictures = [part for part in output if not isinstance(part, str)]
    if len(pictures) > room:
        raise ToolError(
            f"the result has {len(pictures)} pictures, but only {max(0, room)} more can be shown. "
            "Make fewer calls, or answer"
        )
    parts: list[Part] = []
    for part in output:
        if isinstance(part, str):
            parts.append(part)
            continue
        image = (
            rendered(part)
            if isinstance(part, PictureView)
            else images.smaller(part, max_pixels=MAX_PIXELS)
        )
        shown = shown.with_pictures(part)
        parts += [_numbered(len(shown.pictures), image), image]
    return tuple(parts), shown


def _numbered(number: int, image: Image) -> str:
    size = "" if image.size is None else f" ({image.size[0]} x {image.size[1]} pixels)"
    return f"Picture {number}{size}:"
