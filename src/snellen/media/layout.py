"""Puts texts between the frames of a video: time stamps, captions, and subtitles.

A video with such texts becomes a sequence of texts and pictures, which every back end can send. A
video without them stays a video.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, repeat

from snellen.errors import MediaError
from snellen.media import video as videos
from snellen.media._files import label
from snellen.media.content import Cue, Message, Part, TimedText, Video
from snellen.media.stamps import STAMPS

SHORTEST = 1.0
"""A line that is on display for less time counts as if it were on display for this time, in
seconds."""


def has_texts(video: Video) -> bool:
    """Whether texts stand between the frames of a video."""
    if video.subtitles or video.captions:
        return True
    return video.policy is not None and bool(videos.policy(video.policy).stamps)


def laid_out(video: Video) -> list[Part]:
    """The frames of a video and the texts between them, in order. The frames must be decoded.

    Raises:
        MediaError: The video has more frames than captions.
    """
    captions = _captions(video)
    parts: list[Part] = []
    position = 0
    for until, line in [*_lines(video), (len(video.frames), "")]:
        for number in range(position, until):
            before, after = captions[number]
            parts += [before, video.frames[number].image, after]
        position = max(position, until)
        parts.append(line)
    return [part for part in parts if part != ""]


def _captions(video: Video) -> list[tuple[str, str]]:
    """The texts before and after each frame.

    Raises:
        MediaError: The video has more frames than captions.
    """
    frames = video.frames
    if video.captions:
        if len(frames) > len(video.captions):
            raise MediaError(
                f"{label(video)}: the prompt has texts for {len(video.captions)} frames, but the "
                f"frame policy {video.policy} shows {len(frames)}. Use --frames "
                f"uniform:{len(video.captions)}."
            )
        return [(caption, "") for caption in islice(video.captions, len(frames))]
    stamps = videos.policy(video.policy or videos.DEFAULT).stamps
    if not stamps:
        return [*repeat(("", ""), len(frames))]
    stamp = STAMPS[stamps]
    return [stamp(number, frame.time) for number, frame in enumerate(frames, 1)]


def _lines(video: Video) -> list[tuple[int, str]]:
    """The subtitles that are shown, each with the number of frames before it.

    A line stands after the frames up to the middle of its time. Lines during which no frame is
    shown are left out. Source: longvideobench/LongVideoBench@
    2aa4f91aec801c43962f90a20f137ca0c00cdeb7:longvideobench/longvideobench_dataset.py#L45-L105.
    """
    times = [frame.time for frame in video.frames]
    shown = []
    position = 0
    for cue in video.subtitles:
        middle = (cue.start + cue.end) / 2
        while position < len(times) and times[position] <= middle:
            position += 1
        if _covers(cue, middle, times):
            shown.append((position, cue.text))
    return shown


def _covers(cue: Cue, middle: float, times: Sequence[float]) -> bool:
    start, end = cue.start, cue.end
    if end - start < SHORTEST:
        start, end = middle - SHORTEST / 2, middle + SHORTEST / 2
    return any(start < time < end for time in times)


def with_times(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Replace each `TimedText` with the text for the times of the frames. Times that are not known
    from decoded frames are read from the packets of the video.

    Raises:
        MediaError: A video cannot be read, or has no frame in its window.
        UsageError: The extra `video` is not installed.
    """
    shown = {_window(film): film for message in messages for film in message.videos}

    def written(part: Part) -> Part:
        if not isinstance(part, TimedText):
            return part
        times: list[float] = []
        for video in part.videos:
            film = shown.get(_window(video))
            if film is not None and film.frames:
                times += (frame.time for frame in film.frames)
            else:
                times += videos.times(video)
        return part.write(times)

    return tuple(
        Message(
            message.role,
            tuple(map(written, message.content)),
            call_id=message.call_id,
            tool_calls=message.tool_calls,
        )
        if any(isinstance(part, TimedText) for part in message.content)
        else message
        for message in messages
    )


def _window(film: Video) -> tuple[object, ...]:
    return film.source, film.start, film.end, film.policy
