"""From a sample and a template to messages.

Templates are Jinja, in its sandbox. They see:

- `question`, `hint` ("" if there is none), `choices`, and the sample's `data` and `tags`;
- `images`, a list with a mark for each picture and video, which is put where the picture goes;
- `frames(n)`, a list of n marks for frames of the first video;
- `inside(text)`, the text with `<image 1>` replaced by the first picture, and so on; all pictures
  come first if the text has no such marks; `pieces(text)` gives the same as a list;
- the filters `lettered`, `rstrip`, `without`, and `needed`, and the test `chinese`;
- the names that the recipe defines in `variables`.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from snellen.core.sample import Sample
from snellen.errors import UsageError, message_of
from snellen.media.content import Image, Video

if TYPE_CHECKING:
    import jinja2

MARK = secrets.token_hex(8)
"""No sample's text contains it, because it is new in each process."""
MARKED = re.compile(rf"\[{MARK}:(\w+):(\d+):(\d+)\]")
INCLUDED = re.compile(r"\{% include '([^']+)' %\}")
NUMBERED = re.compile(r"<image (\d)>")
HAN = re.compile("[\u4e00-\u9fff]")
FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a template can raise besides Jinja's own errors, in its expressions and filters."""


@dataclass(frozen=True, kw_only=True)
class VideoFrame:
    """A single frame of a video, between texts."""

    video: Video
    """The video."""
    index: int
    """The number of the frame, from 0."""
    of: int
    """The number of frames that are sampled."""


Piece = str | Image | Video | VideoFrame
Loads = Callable[[str], str | None]
"""Returns a template by its name; None if there is none."""


def pieces_of(
    name: str, load: Loads, sample: Sample, variables: Mapping[str, object]
) -> list[Piece]:
    """The text, pictures, and videos of a prompt, in order.

    Args:
        name: The name of the template.
        load: Returns a template by its name.
        sample: The question.
        variables: Further names for the template.

    Raises:
        UsageError: the template cannot be rendered; the message names it.
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
    """A template with the templates that it includes in their places.

    Raises:
        UsageError: it includes itself.
    """
    try:
        return INCLUDED.sub(lambda match: expanded(match[1], load), load(name) or "")
    except RecursionError as error:
        raise UsageError(f"The recipe's prompt {name!r} includes itself.") from error


def as_text(pieces: Sequence[Piece]) -> str:
    """The text of a prompt, with `<image>` and `<video>` where media stand."""
    names = {Image: "<image>", Video: "<video>", VideoFrame: "<image>"}
    return "".join(piece if isinstance(piece, str) else names[type(piece)] for piece in pieces)


def lettered(choices: Sequence[str], form: str = "{letter}. {text}\n", least: int = 0) -> str:
    """The choices with their letters, one after another.

    Args:
        choices: Their texts.
        form: What each becomes, with its line end.
        least: Adds choices without text up to this number.
    """
    texts = [*choices, *[""] * (least - len(choices))]
    return "".join(form.format(letter=chr(ord("A") + i), text=text) for i, text in enumerate(texts))


def needed(value: object, name: str) -> object:
    """The value, if there is one. A prompt without it would be another one.

    Raises:
        LookupError: there is none.
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
    """A text's parts and the marks of its pictures; all pictures first, if the text has none."""
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
    """A rendered text, split at its marks."""
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
    """A short template without pictures, such as what follows the user's turn.

    Raises:
        UsageError: it cannot be rendered.
    """
    from jinja2 import TemplateError

    try:
        return _environment(_no_templates).from_string(text).render(**names)
    except (TemplateError, *FAULTS) as error:
        raise UsageError(
            f"The recipe's text {text!r} cannot be rendered: {message_of(error).rstrip('.')}."
        ) from error


def _no_templates(name: str) -> None:
    """There are none to include."""
