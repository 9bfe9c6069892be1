"""InternVL's form: `chat(tokenizer, pixel_values, question, generation_config, history=None,
num_patches_list=…)`.

Pictures are cut into tiles by the method in the model's card. The model's config.json sets the size
of a tile (`force_image_size`), the number of tiles (`min_dynamic_patch` to `max_dynamic_patch`),
and whether a thumbnail is added (`use_thumbnail`). The profile's `tiles` replaces
`max_dynamic_patch`. In the text, `<image>` stands for a picture, and a line break separates
`<image>` from the text. A video is sent as one tile per frame, after the labels `Frame-1: `,
`Frame-2: `, and so on. Earlier turns are passed as `history`. Every conversation starts with the
model's own `system_message`, which a system message in the request replaces.

Source: OpenGVLab/InternVL@2410d1dbf208f0e799459aff9376e5747dbf41a2: README.md, lines 1000-1160, and
internvl_chat/internvl/model/internvl_chat/modeling_internvl_chat.py, `chat`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from snellen.core.model import Generation, Request
from snellen.errors import Rejected
from snellen.media import pictures
from snellen.media.content import Image, Message, Video
from snellen.models.hf_checkpoint import Checkpoint
from snellen.models.hf_forms.chat_replica import ChatReplica
from snellen.models.hf_forms.form import LoadedForm, Loading, load_models, refuse_settings
from snellen.models.hf_forms.other_ways import unknown
from snellen.models.hf_settings import own_sampling

NEEDED = {"tokenizer", "pixel_values", "question", "generation_config"}
"""The parameters that a model's `chat` must have if it uses this form."""
OURS = frozenset(NEEDED | {"self", "history", "return_history", "num_patches_list"})
"""Arguments of `chat` that Snellen sets."""
PICTURE = "<image>"
"""The text that stands for a picture in a question."""
MEAN = (0.485, 0.456, 0.406)
"""The mean of ImageNet's pixels in red, green, and blue. Source: internvl/train/constants.py in
OpenGVLab/InternVL."""
DEVIATION = (0.229, 0.224, 0.225)
"""The standard deviation of ImageNet's pixels in red, green, and blue."""


@dataclass(frozen=True, kw_only=True)
class _Cutting:
    """How pictures are cut. There are from `least` to `most` tiles, each `size` pixels wide and
    high, and optionally a thumbnail."""

    size: int
    most: int
    least: int
    thumbnail: bool


class TilesChatForm:
    """A `chat` method that takes pictures as tiles."""

    title = "chat(tokenizer, pixel_values, question, generation_config)"

    def fits(self, checkpoint: Checkpoint, own_class: type) -> bool:
        chat = getattr(own_class, "chat", None)
        return callable(chat) and inspect.signature(chat).parameters.keys() >= NEEDED

    def load(self, loading: Loading) -> LoadedForm:
        refuse_settings(loading, self.title, "processor", "template", "image_processor")
        checkpoint = loading.checkpoint
        cutting = _cutting(loading)
        tokenizer = loading.library.AutoTokenizer.from_pretrained(
            checkpoint.name, **checkpoint.options
        )
        return LoadedForm(
            replicas=[
                _TilesChat(loading, model, tokenizer, cutting) for model in load_models(loading)
            ],
            described={"interface": "chat-tiles"},
            batch_size=1,
        )


def _cutting(loading: Loading) -> _Cutting:
    """Read how to cut pictures from config.json and the profile.

    Raises:
        UsageError: settings in config.json are missing or invalid, or require pictures to be
            padded.
    """
    checkpoint = loading.checkpoint
    config = checkpoint.config
    vision = config.get("vision_config")
    size = config.get("force_image_size") or (vision or {}).get("image_size")
    if type(size) is not int or size < 1:
        raise unknown(checkpoint, "its config.json has no `force_image_size`, the size of a tile")
    if config.get("pad2square"):
        raise unknown(
            checkpoint, "its config.json sets `pad2square`, and Snellen does not pad pictures"
        )
    most = config.get("max_dynamic_patch", 1) if config.get("dynamic_image_size") else 1
    least = config.get("min_dynamic_patch", 1)
    if any(type(number) is not int or number < 1 for number in (least, most)):
        raise unknown(
            checkpoint,
            f"its config.json asks for {least!r} to {most!r} tiles, not positive integers",
        )
    most = loading.settings.tiles or most
    return _Cutting(
        size=size,
        most=most,
        least=min(least, most),
        thumbnail=bool(config.get("use_thumbnail")),
    )


class _TilesChat(ChatReplica):
    own_arguments = OURS

    def __init__(self, loading: Loading, model: Any, tokenizer: Any, cutting: _Cutting) -> None:
        super().__init__(loading, model, tokenizer)
        self._cutting = cutting
        defaults = [parameter.default for parameter in self.parameters.values()]
        # These are `<img>`, `</img>`, and `<IMG_CONTEXT>`, which mark the pictures' tokens.
        marks = [text for text in defaults if isinstance(text, str) and text.startswith("<")]
        self._marks = (PICTURE, *marks)

    def arguments(self, request: Request, limit: int) -> dict[str, Any]:
        system, turns = _split(self.name, request.messages)
        tiles: list[NDArray[np.uint8]] = []
        questions = [self._question(message, tiles) for message in turns]
        counts = list(map(len, tiles))
        *earlier, question = questions
        arguments: dict[str, Any] = {
            "system": system,
            "question": question,
            "history": list(zip(earlier[::2], earlier[1::2], strict=True)) or None,
            "counts": counts,
            "pixel_values": self._tensor(tiles),
            "generation_config": {
                "max_new_tokens": limit,
                **_sampling(request.generation),
                **own_sampling(self._settings, is_sampled=request.generation.temperature != 0),
            },
        }
        self._check(arguments)
        return arguments

    def _check(self, arguments: Mapping[str, Any]) -> None:
        """Check that the model supports each part of a request.

        Raises:
            Rejected: the model does not support a part of the request.
        """
        lacking = {
            "several pictures": len(arguments["counts"]) > 1 and "num_patches_list",
            "several turns": arguments["history"] is not None and "history",
        }
        for what, name in lacking.items():
            if name and name not in self.parameters:
                raise Rejected(
                    f"{self.name}: its chat() has no `{name}`, so it does not support {what}."
                )
        if arguments["system"] and not isinstance(getattr(self.model, "system_message", None), str):
            raise Rejected(
                f"{self.name}: the model has no `system_message`, so it does not support system "
                "messages."
            )

    def call(self, arguments: Mapping[str, Any]) -> Any:
        optional = {
            "history": arguments["history"],
            "num_patches_list": arguments["counts"],
            **self._settings.chat,
        }
        pixels = arguments["pixel_values"]
        if pixels is not None:
            pixels = pixels.to(self.model.device, self.model.dtype)
        with self._system_message(arguments["system"]):
            return self.model.chat(
                tokenizer=self.tokenizer,
                pixel_values=pixels,
                question=arguments["question"],
                # This is a copy, because the model's code adds its end token to the dictionary.
                generation_config=dict(arguments["generation_config"]),
                **{name: value for name, value in optional.items() if self.takes(name)},
            )

    @contextmanager
    def _system_message(self, text: str) -> Iterator[None]:
        if not text:
            yield
            return
        own = self.model.system_message
        self.model.system_message = text
        try:
            yield
        finally:
            self.model.system_message = own

    # -- pictures and text

    def _question(self, message: Message, tiles: list[NDArray[np.uint8]]) -> str:
        """Return the text of a message, with `<image>` for each picture. The function adds the
        tiles of each picture or frame to the list `tiles`, as one array."""
        text = ""
        for part in message.content:
            if isinstance(part, str):
                if marks := [mark for mark in self._marks if mark in part]:
                    raise Rejected(
                        f"{self.name}: the text contains {marks[0]}, which its chat() treats as a "
                        "picture."
                    )
                text = _joined(text, part)
            elif message.role != "user":
                raise Rejected(
                    f"{self.name}: its chat() supports pictures only in user messages, but a "
                    f"message with the role {message.role} has one."
                )
            elif isinstance(part, Video):
                if not part.frames:
                    raise Rejected(f"{part.label or part.source}: its frames were not decoded.")
                for number, frame in enumerate(part.frames, 1):
                    tiles.append(self._tiles(frame.image, most=1))
                    text = _joined(text, f"Frame-{number}: {PICTURE}")
            else:
                tiles.append(self._tiles(part, most=self._cutting.most))
                text = _joined(text, PICTURE)
        return text

    def _tiles(self, image: Image, *, most: int) -> NDArray[np.uint8]:
        cutting = self._cutting
        return pictures.cut(
            image,
            most=most,
            least=min(cutting.least, most),
            size=cutting.size,
            thumbnail=cutting.thumbnail,
        )

    def _tensor(self, tiles: Sequence[NDArray[np.uint8]]) -> Any:
        """Return the normalized tiles of all pictures as one tensor of shape (tiles, 3, size,
        size), or None if there are no pictures."""
        if not tiles:
            return None
        scaled = np.concatenate(tiles).astype(np.float32) / 255
        normal = (scaled - np.array(MEAN, np.float32)) / np.array(DEVIATION, np.float32)
        return self._torch.from_numpy(normal.transpose(0, 3, 1, 2).copy())


def _joined(text: str, part: str) -> str:
    """Append `part` to `text`. Insert a line break if there is no white space between the two."""
    needs_break = text and part and not (text[-1].isspace() or part[0].isspace())
    return f"{text}\n{part}" if needs_break else text + part


def _split(name: str, messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """Split a conversation into the system message and the turns of user and assistant.

    Raises:
        Rejected: the turns do not alternate between user and assistant, the first or last turn is
            not the user's, or the system message has a picture.
    """
    system, turns = "", list(messages)
    if turns[0].role == "system":
        system = turns[0].text
        if turns.pop(0).images:
            raise Rejected(f"{name}: its chat() does not support pictures in the system message.")
    roles = [message.role for message in turns]
    expected = ["user", "assistant"] * len(roles)
    if roles != expected[: len(roles)] or roles[-1] != "user":
        raise Rejected(
            f"{name}: its chat() needs alternating turns that start and end with the user, but the "
            f"conversation has {', '.join(roles)}."
        )
    return system, turns


def _sampling(generation: Generation) -> dict[str, Any]:
    """Return the fields of `generation_config` that control sampling."""
    temperature = generation.temperature
    if temperature == 0:
        return {"do_sample": False, "num_beams": 1}
    fields: dict[str, Any] = {} if generation.top_p is None else {"top_p": generation.top_p}
    if temperature is not None:
        fields |= {"do_sample": True, "num_beams": 1, "temperature": temperature}
    return fields
