"""Converts requests to a transformers model's inputs, with the model's chat template and processor.

Several threads may prepare batches concurrently.
"""

from __future__ import annotations

import copy
import re
import threading
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import jinja2
import numpy as np

from snellen.core.model import Request
from snellen.errors import MediaError, Rejected, UsageError
from snellen.media import images
from snellen.media.content import Message, Part, Size, ToolCall, Video
from snellen.models.batch import image_size, text_size
from snellen.models.hf_common import BROKEN
from snellen.models.hf_settings import HfSettings
from snellen.models.hf_tools import (
    ToolTemplate,
    declaration,
    declared_call,
    text_part,
    tool_template,
    with_template_messages,
)

TICKS = 1000
"""Processors get the times of frames in units of 1/TICKS seconds."""


@dataclass(frozen=True)
class PreparedBatch:
    """A batch of requests, ready for the model."""

    requests: Sequence[Request]
    """The requests."""
    inputs: Mapping[str, Any]
    """The input tensors of the model, keyed by name."""
    lengths: Sequence[int]
    """The number of tokens in each prompt."""
    choices: Sequence[Sequence[int]] = ()
    """The token ids of each choice; empty unless choices are ranked."""


class BatchPrompts(Protocol):
    """Prepares requests for `hf_replica`, in several threads concurrently."""

    tokenizer: Any
    """The tokenizer that decodes replies."""

    def lengths(self, request: Request) -> Hashable:
        """Return a key that must be the same for all requests of a batch, or None if all requests
        can share a batch."""
        ...

    def size(self, request: Request) -> int:
        """Estimate the number of tokens in a request."""
        ...

    def prepared(self, requests: Sequence[Request]) -> PreparedBatch:
        """Prepare the tensors of a batch.

        Raises:
            Rejected: the model does not accept the batch, or a picture is damaged.
        """
        ...


class HfPrompts:
    """Prepares batches with a processor and its chat template."""

    def __init__(self, spec: str, processor: Any, settings: HfSettings) -> None:
        self._spec = spec
        self._processor = processor
        self._settings = settings
        self._of_thread = threading.local()
        self._copying = threading.Lock()
        video = getattr(processor, "video_processor", None)
        self._videos = video is not None and settings.video == "native"
        self._alike = False
        self.tools = ToolTemplate()
        """What the chat template does with tools, after `check`."""
        # With this option, Qwen3-VL's frames have the size that its authors use. Without it, there
        # is only a warning.
        capped = video is not None and hasattr(video, "cap_pixels_per_frame")
        self._video_options = {"cap_pixels_per_frame": True} if capped else {}
        # With this option, text that looks like an image token stays text. Not every processor
        # supports it.
        self._plain_words = {"sanitize_control_tokens": True}
        self.tokenizer = copy.deepcopy(processor.tokenizer)
        self.image_tokens = lru_cache(maxsize=4096)(self._image_tokens)

    def check(self) -> None:
        """Check that a chat with a picture can be prepared, and find out which options the
        processor supports.

        Raises:
            UsageError: a chat with a picture cannot be prepared.
        """
        self._check_thinking()
        self.tools = tool_template(self._rendered, getattr(self._processor, "image_token", None))
        black = np.zeros((64, 64, 3), np.uint8)
        chats = [
            [_turn("user", [{"type": "image", "image": black}, text_part(text)])]
            for text in ("What is this?", "What?")  # of different lengths, so that one is padded
        ]
        try:
            try:
                self._inputs(chats, [])
            except Rejected:
                self._plain_words = {}
                self._inputs(chats, [])
        except Rejected as error:
            raise UsageError(
                f"{error}. Check `processor` and `template` in the profile's `extra`."
            ) from error
        clips = [[black] * 2, [black] * 4] if self._videos else []
        chats = [[_turn("user", [{"type": "video", "video": clip}])] for clip in clips]
        try:
            self._inputs(chats, [video_metadata(range(len(clip))) for clip in clips])
        except Rejected:
            self._alike = True

    def _check_thinking(self) -> None:
        """
        Raises:
            UsageError: the settings turn thinking on or off, but the chat template does not support
                that.
        """
        templates = (self._processor, self.tokenizer)
        template = next(
            (of.chat_template for of in templates if getattr(of, "chat_template", None)), ""
        )
        for name in ("enable_thinking", "thinking"):
            if name in self._settings.template and not re.search(rf"\b{name}\b", str(template)):
                raise UsageError(
                    f"{self._spec}: its chat template has no {name}, so that thinking cannot be "
                    "turned on or off. Remove the setting (or --effort)."
                )

    def lengths(self, request: Request) -> Hashable:
        """Return the number of frames of each video in the request, and the names of its tools.
        Without tools, return None if the processor accepts videos of different lengths in a
        batch."""
        frames = None
        if self._alike:
            videos = (video for message in request.messages for video in message.videos)
            frames = tuple(len(video.frames) for video in videos)
        return (frames, *(tool.name for tool in request.tools)) if request.tools else frames

    def size(self, request: Request) -> int:
        """Estimate the number of tokens in a request. The processor counts the tokens of pictures
        if it can."""
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

    def shown_size(self, size: Size) -> Size | None:
        """Return the width and height to which the processor resizes a picture of this size, or
        None if the processor does not report sizes.

        Raises:
            Rejected: the processor does not accept the picture.
        """
        picture = np.full((size[1], size[0], 3), 128, np.uint8)
        chat = [_turn("user", [{"type": "image", "image": picture}, text_part("?")])]
        grid = self._inputs([chat], []).get("image_grid_thw")
        patch = getattr(self._processor.image_processor, "patch_size", None)
        if grid is None or not isinstance(patch, int):
            return None
        _, down, across = grid[0].tolist()
        return across * patch, down * patch

    def prepared(self, requests: Sequence[Request]) -> PreparedBatch:
        """Prepare a batch.

        Raises:
            Rejected: the processor does not accept the batch, or a picture is damaged.
        """
        try:
            chats = [[*self._turns(request)] for request in requests]
        except MediaError as error:
            raise Rejected(str(error)) from error
        times = [
            [frame.time for frame in video.frames]
            for request in requests
            for message in request.messages
            for video in message.videos
        ]
        videos = list(map(video_metadata, times)) if self._videos else []
        tools = [declaration(spec) for spec in requests[0].tools]
        inputs = self._inputs(chats, videos, tools)
        lengths = inputs["attention_mask"].sum(-1).tolist()
        if requests[0].kind != "rank":
            return PreparedBatch(requests, inputs, lengths)
        tokenizer = self._mine().tokenizer
        choices = [
            tokenizer(choice, add_special_tokens=False)["input_ids"]
            for choice in requests[0].choices
        ]
        if not all(choices):
            raise Rejected(f"{self._spec}: a choice has no tokens, so it cannot be ranked.")
        return PreparedBatch(requests, inputs, lengths, choices)

    def _rendered(self, chat: Sequence[Any], tools: Sequence[Any]) -> str:
        """Render a chat with tools as text."""
        text: str = self._mine().apply_chat_template(
            list(chat),
            tools=list(tools),
            tokenize=False,
            **self._settings.template,
        )
        return text

    def _inputs(
        self, chats: Sequence[Any], videos: Sequence[Any], tools: Sequence[Any] = ()
    ) -> Mapping[str, Any]:
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
                **({"tools": list(tools)} if tools else {}),
                **self._settings.template,
            )
        except (jinja2.TemplateError, *BROKEN) as error:
            hint = ' Set video = "frames" in the profile\'s `extra` to send frames as pictures.'
            raise Rejected(
                f"{self._spec}: its processor does not accept the request: "
                f"{type(error).__name__}: {error}{hint if videos else ''}"
            ) from error
        mask = inputs.get("attention_mask")
        if mask is None or not mask[:, -1].all():
            raise Rejected(
                f"{self._spec}: its processor pads prompts on the right, or has no attention mask, "
                "so that a reply would follow the padding.",
                hopeless=True,
            )
        return inputs

    def _mine(self) -> Any:
        """Return this thread's own copy of the processor, since its tokenizer fails if two threads
        use it concurrently."""
        if not hasattr(self._of_thread, "processor"):
            with self._copying:
                self._of_thread.processor = copy.deepcopy(self._processor)
        return self._of_thread.processor

    def _turns(self, request: Request) -> Iterator[dict[str, Any]]:
        """Yield the messages of a request in the form that chat templates take."""
        names = {call.id: call.name for message in request.messages for call in message.tool_calls}
        for message in with_template_messages(request, self.tools).messages:
            turn = _turn(message.role, self._content(message), message.tool_calls)
            if message.call_id is not None:
                turn |= {"name": names.get(message.call_id, ""), "tool_call_id": message.call_id}
            yield turn

    def _content(self, message: Message) -> Sequence[Any]:
        if all(isinstance(part, str) for part in message.content):
            return [text_part(message.text)]
        return [converted for part in message.content for converted in self._parts(part)]

    def _parts(self, part: Part) -> Sequence[Any]:
        if isinstance(part, str):
            return [text_part(part)]
        if not isinstance(part, Video):
            return [{"type": "image", "image": images.pixels(part)}]
        if not part.frames:
            raise Rejected(f"{part.label or part.source}: its frames were not decoded.")
        frames = [images.pixels(frame.image) for frame in part.frames]
        if not self._videos:
            return [{"type": "image", "image": pixels} for pixels in frames]
        return [{"type": "video", "video": frames}]


def _turn(role: str, content: Sequence[Any], calls: Sequence[ToolCall] = ()) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": role, "content": list(content)}
    return {**turn, "tool_calls": list(map(declared_call, calls))} if calls else turn


def video_metadata(times: Sequence[float]) -> dict[str, Any]:
    """Return the metadata of a video for the processor. The frame numbers are the times in
    milliseconds, as in a video with 1,000 frames per second. The total duration is computed from
    the mean distance between frames."""
    ticks = [round(time * TICKS) for time in times]
    step = (ticks[-1] - ticks[0]) / (len(ticks) - 1) if len(ticks) > 1 else TICKS
    total = max(1, round(len(ticks) * step))
    return {
        "fps": float(TICKS),
        "frames_indices": ticks,
        "total_num_frames": total,
        "duration": total / TICKS,
    }
