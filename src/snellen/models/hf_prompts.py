"""Requests as the tensors that a model of transformers takes: chat template and processor.

Several threads at once prepare batches.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jinja2
import numpy as np

from snellen.core.model import Request
from snellen.errors import MediaError, Rejected, UsageError
from snellen.media import images
from snellen.media.content import Message, Part, Video
from snellen.models._hf import BROKEN
from snellen.models.batch import image_size, text_size
from snellen.models.hf_settings import HfSettings

TICKS = 1000
"""Parts of a second in which processors are told the times of frames."""


@dataclass(frozen=True)
class PreparedBatch:
    """Requests, their tensors as the model takes them, and the tokens of each prompt."""

    requests: Sequence[Request]
    inputs: Mapping[str, Any]
    lengths: Sequence[int]
    choices: Sequence[Sequence[int]] = ()


class HfPrompts:
    """A processor with its chat template."""

    def __init__(self, spec: str, processor: Any, settings: HfSettings) -> None:
        self._spec = spec
        self._processor = processor
        self._settings = settings
        self._of_thread = threading.local()
        self._copying = threading.Lock()
        video = getattr(processor, "video_processor", None)
        self._videos = video is not None and settings.video == "native"
        self._alike = False
        # The frame size that Qwen3-VL's authors have; without it there is but a warning.
        capped = video is not None and hasattr(video, "cap_pixels_per_frame")
        self._video_options = {"cap_pixels_per_frame": True} if capped else {}
        # Words that look like the mark of a picture stay words, where the processor can do it.
        self._plain_words = {"sanitize_control_tokens": True}
        self.tokenizer = copy.deepcopy(processor.tokenizer)
        self.image_tokens = lru_cache(maxsize=4096)(self._image_tokens)

    def check(self) -> None:
        """That a chat with a picture can be prepared; and find out what else can.

        Raises:
            UsageError: it cannot.
        """
        black = np.zeros((64, 64, 3), np.uint8)
        chats = [
            [_turn("user", [{"type": "image", "image": black}, _text(text)])]
            for text in ("What is this?", "What?")  # of two lengths, to see where padding goes
        ]
        try:
            try:
                self._inputs(chats, [])
            except Rejected:
                self._plain_words = {}
                self._inputs(chats, [])
        except Rejected as error:
            raise UsageError(f"{error}. Are `processor` and `template` right?") from error
        clips = [[black] * 2, [black] * 4] if self._videos else []
        chats = [[_turn("user", [{"type": "video", "video": clip}])] for clip in clips]
        try:
            self._inputs(chats, [video_metadata(range(len(clip))) for clip in clips])
        except Rejected:
            self._alike = True

    def lengths(self, request: Request) -> Hashable:
        """Of its videos, in frames, where videos of one batch must be of one length."""
        if not self._alike:
            return None
        return tuple(len(video.frames) for message in request.messages for video in message.videos)

    def size(self, request: Request) -> int:
        """About how many tokens a request has: its pictures' as the processor counts them, where it
        does."""
        shown = (image for message in request.messages for image in message.images)
        return text_size(request) + sum(
            self.image_tokens(image.width, image.height)
            if image.width and image.height
            else image_size(image)
            for image in shown
        )

    def _image_tokens(self, width: int, height: int) -> int:
        try:
            counted = self._processor._get_num_multimodal_tokens(
                image_sizes=[[height, width]], **self._settings.processor
            )
            return int(counted.num_image_tokens[0])
        except BROKEN:
            return width * height // 28**2

    def prepared(self, requests: Sequence[Request]) -> PreparedBatch:
        """The tensors of a batch.

        Raises:
            Rejected: the processor does not take it, or a picture is damaged.
        """
        try:
            chats = [
                [_turn(message.role, self._content(message)) for message in request.messages]
                for request in requests
            ]
        except MediaError as error:
            raise Rejected(str(error)) from error
        times = [
            [frame.time for frame in video.frames]
            for request in requests
            for message in request.messages
            for video in message.videos
        ]
        inputs = self._inputs(chats, list(map(video_metadata, times)) if self._videos else [])
        lengths = inputs["attention_mask"].sum(-1).tolist()
        if requests[0].kind != "rank":
            return PreparedBatch(requests, inputs, lengths)
        tokenizer = self._mine().tokenizer
        choices = [
            tokenizer(choice, add_special_tokens=False)["input_ids"]
            for choice in requests[0].choices
        ]
        if not all(choices):
            raise Rejected(f"{self._spec}: a choice without a token cannot be ranked.")
        return PreparedBatch(requests, inputs, lengths, choices)

    def _inputs(self, chats: Sequence[Any], videos: Sequence[Any]) -> Mapping[str, Any]:
        options: dict[str, Any] = {"padding": True, **self._settings.processor}
        if videos:
            video_options = {"do_sample_frames": False, "video_metadata": videos}
            options = {**self._video_options, **options, **video_options}
        try:
            inputs: Mapping[str, Any] = self._mine().apply_chat_template(
                chats,
                tokenize=True,
                add_generation_prompt=True,
                return_dict=True,
                return_tensors="pt",
                processor_kwargs=options,
                **self._plain_words,
                **self._settings.template,
            )
        except (jinja2.TemplateError, *BROKEN) as error:
            hint = ' With video = "frames" in the profile\'s `extra` frames go as pictures.'
            raise Rejected(
                f"{self._spec}: its processor does not take the request: "
                f"{type(error).__name__}: {error}{hint if videos else ''}"
            ) from error
        mask = inputs.get("attention_mask")
        if mask is None or not mask[:, -1].all():
            raise Rejected(
                f"{self._spec}: its processor pads prompts behind them, or does not say where, so "
                "that a reply would follow the padding.",
                hopeless=True,
            )
        return inputs

    def _mine(self) -> Any:
        """This thread's own processor: a tokenizer that two threads use at once fails."""
        if not hasattr(self._of_thread, "processor"):
            with self._copying:
                self._of_thread.processor = copy.deepcopy(self._processor)
        return self._of_thread.processor

    def _content(self, message: Message) -> Sequence[Any]:
        if all(isinstance(part, str) for part in message.content):
            return [_text(message.text)]
        return [converted for part in message.content for converted in self._parts(part)]

    def _parts(self, part: Part) -> Sequence[Any]:
        if isinstance(part, str):
            return [_text(part)]
        if not isinstance(part, Video):
            return [{"type": "image", "image": images.pixels(part)}]
        if not part.frames:
            raise Rejected(f"{part.place or part.source}: no frames of it were decoded.")
        frames = [images.pixels(frame.image) for frame in part.frames]
        if not self._videos:
            return [{"type": "image", "image": pixels} for pixels in frames]
        return [{"type": "video", "video": frames}]


def _turn(role: str, content: Sequence[Any]) -> dict[str, Any]:
    return {"role": role, "content": list(content)}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def video_metadata(times: Sequence[float]) -> dict[str, Any]:
    """The times of a video's frames, to the millisecond: a frame's number in a video of that many
    frames a second. The frames' mean distance makes the rate at which they were picked."""
    ticks = [round(time * TICKS) for time in times]
    step = (ticks[-1] - ticks[0]) / (len(ticks) - 1) if len(ticks) > 1 else TICKS
    total = max(1, round(len(ticks) * step))
    return {
        "fps": float(TICKS),
        "frames_indices": ticks,
        "total_num_frames": total,
        "duration": total / TICKS,
    }
