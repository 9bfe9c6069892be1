"""Builds the text and media of a prompt from a sample and a template.

Templates are written in Jinja's language and rendered in Jinja's sandbox. They can use:

- `question`, `hint` ("" if there is none), `choices`, and the sample's `data` and `tags`
- `images`, a list with one placeholder for each picture or video, which the template puts where
  the picture or video belongs
- `frames(n)`, a list of n placeholders for frames of the first video
- `inside(text)`, which replaces `<image 1>` in a text with the first picture, `<image 2>` with the
  second, and so on, or puts all pictures before a text without such marks
- `pieces(text)`, which returns the result of `inside(text)` as a list
- the filters `lettered`, `rstrip`, `without`, and `needed`, and the test `chinese`
- the names that the recipe defines in `variables`
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from snellen.core.sample import Sample
from snellen.errors import UsageError, message_of
from snellen.media.content import Image, Part, Video

if TYPE_CHECKING:
    import jinja2

MARK = secrets.token_hex(8)
"""A random text in each placeholder, so that no sample's text looks like a placeholder."""
MARKED = re.compile(rf"\[{MARK}:(\w+):(\d+):(\d+)\]")
INCLUDED = re.compile(r"\{% include '([^']+)' %\}")
NUMBERED = re.compile(r"<image (\d)>")
HAN = re.compile("[\u4e00-\u9fff]")
FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""The exceptions besides Jinja's own that a template's expressions and filters can raise."""


@dataclass(frozen=True, kw_only=True)
class VideoFrame:
    """A video frame in a prompt that has text between the frames."""

    video: Video
    """The video."""
    index: int
    """The index of the frame among the sampled frames, counted from 0."""
    of: int
    """The number of frames that are sampled from the video."""


Piece = str | Image | Video | VideoFrame
Loads = Callable[[str], str | None]
"""A function that returns a template by name, or None if there is no such template."""


def pieces_of(
    name: str, load: Loads, sample: Sample, variables: Mapping[str, object]
) -> list[Piece]:
    """Return the texts, pictures, and videos of a prompt, in order.

    Args:
        name: The name of the template.
        load: Returns a template by name.
        sample: The question.
        variables: Additional variables of the template.

    Raises:
        UsageError: the template cannot be rendered. The message names the template.
    """
    from jinja2 import TemplateError  # imported on use: most commands render nothing

    marks = [_mark("medium", i) for i in range(len(sample.media))]
    try:
        text = (
            _environment(load)
            .get_template(name)
            .render(
                question=sample.question,
                hint=str(sample.data.get("hint") or ""),
                choices=list(sample.choices),
                images=marks,
                frames=lambda n: [_mark("frame", i, n) for i in range(n)],
                inside=lambda text: "".join(_inside(text, marks)),
                pieces=lambda text: [
                    {"image": piece, "text": ""} if piece in marks else {"image": "", "text": piece}
                    for piece in _inside(text, marks)
                ],
                data=sample.data,
                tags=sample.tags,
                **variables,
            )
        )
    except (TemplateError, *FAULTS) as error:
        raise UsageError(
            f"The recipe's prompt {name!r} cannot be rendered for sample {sample.id}: "
            f"{message_of(error).rstrip('.')}."
        ) from error
    return list(_pieces(text, sample))


def expanded(name: str, load: Loads) -> str:
    """Return a template in which each include is replaced with the included template.

    Raises:
        UsageError: the template includes itself.
    """
    try:
        return INCLUDED.sub(lambda match: expanded(match[1], load), load(name) or "")
    except RecursionError as error:
        raise UsageError(f"The recipe's prompt {name!r} includes itself.") from error


def as_text(pieces: Sequence[Piece]) -> str:
    """Return the text of a prompt, with `<image>` or `<video>` in place of each picture or
    video."""
    names = {Image: "<image>", Video: "<video>", VideoFrame: "<image>"}
    return "".join(piece if isinstance(piece, str) else names[type(piece)] for piece in pieces)


def with_captions(pieces: Sequence[Piece]) -> tuple[Part, ...]:
    """Replace frames and the texts before them with a video whose captions are these texts. Pieces
    before these texts, and after the last frame, are unchanged."""
    parts: list[Part] = []
    captions: list[str] = []
    film: Video | None = None
    for piece in pieces:
        if not isinstance(piece, VideoFrame):
            parts.append(piece)
            continue
        if film is not None:
            # The texts after the previous frame follow the video.
            index = parts.index(film)
            captions.append("".join(str(part) for part in parts[index + 1 :]))
            del parts[index:]
        else:
            captions.append(str(parts.pop()) if parts and isinstance(parts[-1], str) else "")
        film = replace(piece.video, captions=tuple(captions))
        parts.append(film)
    return tuple(parts)


def lettered(choices: Sequence[str], form: str = "{letter}. {text}\n", least: int = 0) -> str:
    """Return a text that lists the choices with their letters.

    Args:
        choices: The texts of the choices.
        form: The format of each choice, including the line break.
        least: The minimum number of choices. If there are fewer choices, empty choices are added.
    """
    texts = [*choices, *[""] * (least - len(choices))]
    return "".join(form.format(letter=chr(ord("A") + i), text=text) for i, text in enumerate(texts))


def needed(value: object, name: str) -> object:
    """Return a value that the prompt needs, and that must not be empty.

    Raises:
        LookupError: the value is None or empty.
    """
    if value in (None, ""):
        raise LookupError(f"it has no {name}")
    return value


@lru_cache(maxsize=64)
def _environment(load: Loads) -> jinja2.Environment:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        loader=jinja2.FunctionLoader(load),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # the text goes to a model, not to a page
    )
    environment.filters["lettered"] = lettered
    environment.filters["rstrip"] = str.rstrip
    environment.filters["needed"] = needed
    environment.filters["without"] = lambda text, part: text.replace(part, "")
    environment.tests["chinese"] = lambda text: HAN.search(text) is not None
    return environment


def _mark(kind: str, index: int, of: int = 0) -> str:
    return f"[{MARK}:{kind}:{index}:{of}]"


def _inside(text: str, marks: Sequence[str]) -> Iterator[str]:
    """Split a text at marks such as `<image 1>`, and replace the marks with placeholders.

    If the text has no marks, all placeholders come first.
    """
    if not NUMBERED.search(text):
        yield from (*marks, text)
        return
    for i, part in enumerate(NUMBERED.split(text)):
        if i % 2 == 0:
            yield part
        elif 0 < int(part) <= len(marks):
            yield marks[int(part) - 1]
        else:
            raise LookupError(f"it shows <image {part}>, but the sample has {len(marks)} pictures")


def _pieces(text: str, sample: Sample) -> Iterator[Piece]:
    """Split a rendered text at its placeholders, and replace them with the media."""
    position = 0
    for match in MARKED.finditer(text):
        if match.start() > position:
            yield text[position : match.start()]
        kind, index, of = match[1], int(match[2]), int(match[3])
        if kind == "medium":
            yield sample.media[index]
        else:
            videos = [medium for medium in sample.media if isinstance(medium, Video)]
            if not videos:
                raise UsageError(f"The recipe shows frames, but sample {sample.id} has no video.")
            yield VideoFrame(video=videos[0], index=index, of=of)
        position = match.end()
    if position < len(text):
        yield text[position:]


def rendered(text: str, names: Mapping[str, Any]) -> str:
    """Render a template that has no pictures, such as the text after the user's turn.

    Raises:
        UsageError: the template cannot be rendered.
    """
    from jinja2 import TemplateError

    try:
        return _environment(_no_templates).from_string(text).render(**names)
    except (TemplateError, *FAULTS) as error:
        raise UsageError(
            f"The recipe's text {text!r} cannot be rendered: {message_of(error).rstrip('.')}."
        ) from error


def _no_templates(name: str) -> None:
    """Return None, so that text rendered by `rendered` cannot include templates."""
