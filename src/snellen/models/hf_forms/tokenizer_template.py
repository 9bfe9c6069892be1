"""GLM-4v's form: the tokenizer's chat template accepts a message with a picture, and `generate`
returns the reply.

`tokenizer.apply_chat_template([{role, image: picture, content: text}], …)` returns the token ids
and the pixels. A message can have one picture, which must come before the text.

Source: THUDM/GLM-4: basic_demo/trans_cli_vision_demo.py, and `tokenization_chatglm.py` of
THUDM/glm-4v-9b on the hub.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from snellen.core.model import Request
from snellen.errors import MediaError, Rejected, UsageError
from snellen.media import pictures
from snellen.media.content import Image, Message
from snellen.models.batch import size_of
from snellen.models.hf_checkpoint import Checkpoint
from snellen.models.hf_forms.form import LoadedForm, Loading, load_models, refuse_settings
from snellen.models.hf_forms.other_ways import unknown
from snellen.models.hf_forms.processor import can_generate
from snellen.models.hf_prompts import PreparedBatch
from snellen.models.hf_replica import HfReplica
from snellen.models.user_code import errors_as

SIDE = 64
"""The width and height, in pixels, of the picture with which the chat template is tested."""


class TokenizerForm:
    """Prompts from a tokenizer's chat template, and replies from `generate`."""

    title = "the chat template of its tokenizer"

    def fits(self, checkpoint: Checkpoint, own_class: type) -> bool:
        return not checkpoint.has_processor and can_generate(own_class)

    def load(self, loading: Loading) -> LoadedForm:
        refuse_settings(
            loading, self.title, "processor", "image_processor", "video", "chat", "tiles"
        )
        checkpoint, settings = loading.checkpoint, loading.settings
        tokenizer = loading.library.AutoTokenizer.from_pretrained(
            checkpoint.name, **checkpoint.options
        )
        prompts = TokenizerPrompts(checkpoint.spec, tokenizer, settings.template)
        if (reason := prompts.fault(loading.torch)) is not None:
            raise unknown(checkpoint, reason)
        torch, library = loading.torch, loading.library
        return LoadedForm(
            replicas=[
                HfReplica(
                    checkpoint.spec, prompts, model, settings, torch, library, torch.inference_mode
                )
                for model in load_models(loading)
            ],
            described={"interface": "tokenizer-template"},
            batch_size=1,
        )


class TokenizerPrompts:
    """Prepares prompts with a tokenizer's chat template, in place of `HfPrompts`."""

    def __init__(self, spec: str, tokenizer: Any, options: Mapping[str, Any]) -> None:
        """`options` are arguments for the chat template."""
        self._spec = spec
        self._shared = tokenizer
        self._options = options
        self._of_thread = threading.local()
        self._copying = threading.Lock()
        self.tokenizer = copy.deepcopy(tokenizer)

    def fault(self, torch: Any) -> str | None:
        """Test the chat template with a black picture, and return why it cannot be used for
        pictures, or None if it can."""
        black = pictures.of_pixels(np.zeros((SIDE, SIDE, 3), np.uint8))
        turn = {"role": "user", "content": "What is this?", "image": black}
        try:
            with errors_as(UsageError, "the chat template of its tokenizer fails", None):
                inputs = self._inputs([turn])
        except UsageError as error:
            return str(error)
        tensors = [value for value in inputs.values() if isinstance(value, torch.Tensor)]
        if not any(tensor.is_floating_point() for tensor in tensors):
            return "the chat template of its tokenizer ignores pictures"
        if "attention_mask" not in inputs:
            return "the chat template of its tokenizer returns no attention mask"
        return None

    def lengths(self, request: Request) -> Hashable:
        """Return a unique object, so that each request gets its own batch."""
        return object()

    def size(self, request: Request) -> int:
        """Estimate the number of tokens in a request."""
        return size_of(request)

    def prepared(self, requests: Sequence[Request]) -> PreparedBatch:
        """Convert a request to tensors.

        Raises:
            Rejected: the template does not support a part of the request, the tokenizer raises an
                exception, or a picture is damaged.
        """
        (request,) = requests
        try:
            turns = [self._turn(message) for message in request.messages]
        except MediaError as error:
            raise Rejected(str(error)) from error
        what = f"{self._spec}: its tokenizer does not accept the request"
        with errors_as(Rejected, what, None):
            inputs = self._inputs(turns)
        return PreparedBatch(requests, inputs, inputs["attention_mask"].sum(-1).tolist())

    def _inputs(self, turns: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        inputs: Mapping[str, Any] = self._mine().apply_chat_template(
            turns,
            add_generation_prompt=True,
            tokenize=True,
            return_tensors="pt",
            return_dict=True,
            **self._options,
        )
        return inputs

    def _mine(self) -> Any:
        """Return this thread's own copy of the tokenizer, since a tokenizer fails if two threads
        use it concurrently."""
        if not hasattr(self._of_thread, "tokenizer"):
            with self._copying:
                self._of_thread.tokenizer = copy.deepcopy(self._shared)
        return self._of_thread.tokenizer

    def _turn(self, message: Message) -> dict[str, Any]:
        """Convert a message for the chat template.

        Raises:
            Rejected: the message has a video, several pictures, or a picture after text.
            MediaError: the picture is damaged.
        """
        content = message.content
        what = None
        if message.videos:
            what = "videos"
        elif len(message.images) > 1:
            what = "several pictures in a message"
        elif message.images and not isinstance(content[0], Image):
            what = "a picture after text"
        if what is not None:
            raise Rejected(
                f"{self._spec}: the chat template of its tokenizer does not support {what}."
            )
        turn: dict[str, Any] = {"role": message.role, "content": message.text}
        if message.images:
            turn["image"] = pictures.as_pillow(message.images[0])
        return turn
