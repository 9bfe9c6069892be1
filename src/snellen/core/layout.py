"""Requests whose videos have texts between their frames, and the replies to them."""

from __future__ import annotations

from dataclasses import replace

from snellen.copies import changed
from snellen.core.model import Reply, Request
from snellen.media import layout
from snellen.media.content import Image, Message, Size, TimedText, Video


def laid_out(request: Request) -> Request:
    """Replace each video that has texts between its decoded frames with these texts and pictures.

    Raises:
        MediaError: a video has more frames than the prompt has captions.
    """
    if not any(map(_is_laid_out, _media(request))):
        return request
    messages = tuple(
        changed(
            message,
            content=tuple(
                part
                for original in message.content
                for part in (
                    layout.laid_out(original)
                    if isinstance(original, Video) and _is_laid_out(original)
                    else [original]
                )
            ),
        )
        for message in request.messages
    )
    return changed(request, messages=messages)


def with_sizes(reply: Reply, request: Request) -> Reply:
    """Assign the sizes of pictures that a model reports to the media of the request before it was
    laid out."""
    if reply.sizes is None:
        return reply
    media = _media(request)
    if not any(map(_is_laid_out, media)):
        return reply
    sizes, frame_sizes = iter(reply.sizes), iter(reply.frame_sizes or ())
    of_pictures: list[Size | None] = []
    of_frames: list[tuple[Size, Size] | None] = []
    for medium in media:
        if isinstance(medium, Image):
            of_pictures.append(next(sizes))
        elif _is_laid_out(medium):
            first, *_ = [next(sizes) for _ in medium.frames]
            of_frames.append(None if first is None else (first, medium.original_size or first))
        else:
            of_frames.append(next(frame_sizes, None))
    return replace(reply, sizes=tuple(of_pictures), frame_sizes=tuple(of_frames))


def with_times(request: Request) -> Request:
    """Replace texts that depend on the times of frames, see `media.layout.with_times`.

    Raises:
        MediaError: a video cannot be read.
    """
    if not is_timed(request):
        return request
    return changed(request, messages=layout.with_times(request.messages))


def is_timed(request: Request) -> bool:
    """Whether a text of the request depends on the times of frames."""
    return any(
        isinstance(part, TimedText) for message in request.messages for part in message.content
    )


def _media(request: Request) -> list[Image | Video]:
    return [part for message in request.messages for part in _media_of(message)]


def _media_of(message: Message) -> list[Image | Video]:
    return [part for part in message.content if not isinstance(part, str)]


def _is_laid_out(medium: Image | Video) -> bool:
    return isinstance(medium, Video) and bool(medium.frames) and layout.has_texts(medium)
