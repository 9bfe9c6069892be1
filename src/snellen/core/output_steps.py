"""Checks the steps that a model hands over with its reply (`Reply.steps`).

The model may be third-party code, so each message names the model, the sample, and the field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from operator import index
from pathlib import Path
from typing import TypeVar

from snellen.copies import changed
from snellen.core.model import Step, Usage
from snellen.core.output_fields import (
    as_count,
    as_size,
    as_text,
    as_times,
    as_tool_call,
    as_usage,
    attributes,
    optional,
)
from snellen.core.tools import ToolResult
from snellen.errors import MediaError, Rejected, type_of
from snellen.media import images
from snellen.media.content import Address, Excerpt, Image, Part, Slice

T = TypeVar("T")
MAX_STEPS = 1_000
"""The maximum number of steps of a reply."""
MAX_RESULTS = 10_000
"""The maximum number of calls in all steps, and of parts of their results."""
MAX_CHARACTERS = 10_000_000
"""The maximum number of characters in all steps."""
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
STEP_FIELDS = tuple(field.name for field in fields(Step))
IMAGE_FIELDS = ("source", "label", "digest", "mime", "width", "height", "original", "excerpt")
LARGEST_EDGE = 2**31 - 1


def checked_steps(value: object, total: Usage | None, reply: str) -> tuple[Step, ...] | None:
    """Check the steps of a reply, and read the pictures in their results. Only the digests, types,
    and sizes of pictures are kept. `total` has the token counts of the whole reply, and `reply`
    names the reply in messages.

    Raises:
        Rejected: a field has the wrong type, a picture cannot be read, the steps are too long, or
            they have more tokens than the reply that includes them.
    """
    if value is None:
        return None
    where = f"{reply}.steps"
    if type(value) is not tuple and (isinstance(value, str) or not isinstance(value, Sequence)):
        raise Rejected(f"{where} is {type_of(value)}, not a list of Step.")
    _check_most(len(value), MAX_STEPS, "steps", where)
    steps = tuple(_step(step, f"{where}[{number}]") for number, step in enumerate(value))
    results = [result for step in steps for result in step.results]
    parts = [part for result in results for part in result.parts]
    _check_most(len(results), MAX_RESULTS, "calls", where)
    _check_most(len(parts), MAX_RESULTS, "parts of results", where)
    _check_most(_characters(steps, parts), MAX_CHARACTERS, "characters", where)
    for name in ("input", "output"):
        counts = [getattr(step.usage, name, None) or 0 for step in steps]
        most = getattr(total, name, None)
        if most is not None and sum(counts) > most:
            raise Rejected(
                f"{where} has {sum(counts):,} {name} tokens, but the reply's usage.{name} is "
                f"{most:,}. Count the tokens of the steps in the usage of the reply too."
            )
    return steps


def _check_most(n: int, most: int, unit: str, where: str) -> None:
    if n > most:
        raise Rejected(
            f"{where} has {n:,} {unit}; at most {most:,} are stored. Hand over fewer or shorter "
            "steps."
        )


def _characters(steps: Sequence[Step], parts: Sequence[Part]) -> int:
    """The number of characters in texts and calls."""
    calls = [result.call for step in steps for result in step.results]
    texts = [
        *(text for step in steps for text in (step.text, step.reasoning or "")),
        *(text for call in calls for text in (call.id, call.name, call.arguments)),
        *(part for part in parts if isinstance(part, str)),
    ]
    return sum(map(len, texts))


def _step(value: object, where: str) -> Step:
    if not isinstance(value, Step):
        raise Rejected(f"{where} is {type_of(value)}, not a Step.")
    content = attributes(value, STEP_FIELDS, where)
    return Step(
        text=as_text(content["text"], f"{where}.text"),
        reasoning=optional(as_text, content["reasoning"], f"{where}.reasoning"),
        results=_listed(_result, content["results"], f"{where}.results", "ToolResult"),
        usage=optional(as_usage, content["usage"], f"{where}.usage"),
        times=optional(as_times, content["times"], f"{where}.times"),
    )


def _listed(
    check: Callable[[object, str], T], value: object, where: str, kind: str
) -> tuple[T, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Rejected(f"{where} is {type_of(value)}, not a list of {kind}.")
    _check_most(len(value), MAX_RESULTS, "entries", where)
    return tuple(check(item, f"{where}[{number}]") for number, item in enumerate(value))


def _result(value: object, where: str) -> ToolResult:
    if not isinstance(value, ToolResult):
        raise Rejected(f"{where} is {type_of(value)}, not a ToolResult.")
    content = attributes(value, ("call", "parts"), where)
    return ToolResult(
        call=as_tool_call(content["call"], f"{where}.call"),
        parts=_listed(_part, content["parts"], f"{where}.parts", "texts and images"),
    )


def _part(value: object, where: str) -> Part:
    if isinstance(value, str):
        return as_text(value, where)
    if not isinstance(value, Image):
        raise Rejected(f"{where} is {type_of(value)}, neither text nor a snellen.core.Image.")
    content = attributes(value, IMAGE_FIELDS, where)
    source, digest = content["source"], content["digest"]
    picture = Image(
        source,
        label=as_text(content["label"], f"{where}.label"),
        original=optional(as_size, content["original"], f"{where}.original"),
        excerpt=optional(_excerpt, content["excerpt"], f"{where}.excerpt"),
    )
    if source == b"" and isinstance(digest, str) and DIGEST.fullmatch(digest):
        return changed(  # its bytes are not known, as in a stored reply
            picture,
            digest=digest,
            mime=optional(as_text, content["mime"], f"{where}.mime"),
            width=optional(as_count, content["width"], f"{where}.width"),
            height=optional(as_count, content["height"], f"{where}.height"),
        )
    if not isinstance(source, bytes | Path | Slice | Address):
        raise Rejected(f"{where}.source is {type_of(source)}, neither bytes nor a Path.")
    try:
        loaded = images.load(picture)
    except MediaError as error:
        raise Rejected(f"{where} cannot be read as a picture: {error}") from error
    return changed(loaded, source=b"", read_from=None)


def _excerpt(value: object, where: str) -> Excerpt:
    if not isinstance(value, Excerpt):
        raise Rejected(f"{where} is {type_of(value)}, not an Excerpt.")
    content = attributes(value, ("of", "box", "turns", "has_grid"), where)
    try:
        left, top, right, bottom = map(index, content["box"])
        turns = index(content["turns"]) % 4
    except (TypeError, ValueError):
        raise Rejected(
            f"{where} needs a box of four whole numbers (left, top, right, bottom), and a whole "
            "number of turns."
        ) from None
    if not (0 <= left < right <= LARGEST_EDGE and 0 <= top < bottom <= LARGEST_EDGE):
        raise Rejected(f"{where}.box is {[left, top, right, bottom]}, which has no pixels.")
    return Excerpt(
        of=as_text(content["of"], f"{where}.of"),
        box=(left, top, right, bottom),
        turns=turns,
        has_grid=content["has_grid"] is True,
    )
