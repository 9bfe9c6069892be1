"""MiniCPM's form: `chat(image=None, msgs=[{role, content: [picture, text]}], tokenizer=…)`.

Pictures and text keep their order, and the model's code puts a line break between them. A video is
sent as one picture per frame. For greedy decoding, `chat` gets `sampling=False` and `num_beams=1`,
since the model's code uses three beams by default. The code's repetition penalty remains in effect.
In MiniCPM-V 2.6, the penalty is 1.2 without sampling and 1.05 with sampling.

Source: OpenBMB/MiniCPM-V@0dbb566de090067266abb76e702fb289f09934c5: docs/minicpm_v2dot6_en.md, and
`modeling_minicpmv.py` of openbmb/MiniCPM-V-2_6 on the hub.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from snellen.core.model import Request
from snellen.errors import Rejected
from snellen.media import pictures
from snellen.media.content import Message, Part, Video
from snellen.models.hf_checkpoint import Checkpoint
from snellen.models.hf_forms.chat_replica import ChatReplica
from snellen.models.hf_forms.form import LoadedForm, Loading, load_models, refuse_settings
from snellen.models.hf_forms.generation_watch import Generated
from snellen.models.hf_settings import own_sampling

OURS = frozenset(
    {"self", "image", "msgs", "tokenizer", "processor", "max_new_tokens", "sampling", "do_sample"}
    | {"system_prompt", "stream", "num_beams", "temperature", "top_p"}
)
"""Arguments of `chat` that Snellen sets."""
MARK = "(<image>./</image>)"
"""The text that the model's code inserts for a picture."""


class MessagesChatForm:
    """A `chat` method that takes a list of messages."""

    title = "chat(image, msgs, tokenizer)"

    def fits(self, checkpoint: Checkpoint, own_class: type) -> bool:
        chat = getattr(own_class, "chat", None)
        if not callable(chat):
            return False
        parameters = inspect.signature(chat).parameters
        required = {
            name
            for name, parameter in parameters.items()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        }
        return {"msgs", "tokenizer", "max_new_tokens"} <= parameters.keys() and required <= OURS

    def load(self, loading: Loading) -> LoadedForm:
        refuse_settings(loading, self.title, "processor", "template", "image_processor", "tiles")
        checkpoint, library = loading.checkpoint, loading.library
        tokenizer = library.AutoTokenizer.from_pretrained(checkpoint.name, **checkpoint.options)
        processor = (
            library.AutoProcessor.from_pretrained(checkpoint.name, **checkpoint.options)
            if checkpoint.has_processor
            else None
        )
        return LoadedForm(
            replicas=[
                _MessagesChat(loading, model, tokenizer, processor)
                for model in load_models(loading)
            ],
            described={"interface": "chat-messages"},
            batch_size=1,
        )


class _MessagesChat(ChatReplica):
    own_arguments = OURS

    def __init__(self, loading: Loading, model: Any, tokenizer: Any, processor: Any) -> None:
        super().__init__(loading, model, tokenizer)
        self._processor = processor if "processor" in self.parameters else None

    def arguments(self, request: Request, limit: int) -> dict[str, Any]:
        system, messages = self._system(request)
        arguments: dict[str, Any] = {
            "msgs": [
                {"role": message.role, "content": self._content(message)} for message in messages
            ],
            "tokenizer": self.tokenizer,
            "max_new_tokens": limit,
            **self._sampling(request),
            **system,
            **self._settings.chat,
        }
        if "image" in self.parameters:
            arguments["image"] = None
        if self._processor is not None:
            # Without this argument, the model's code would load the processor of the main revision.
            arguments["processor"] = self._processor
        return arguments

    def call(self, arguments: Mapping[str, Any]) -> Any:
        return self.model.chat(**arguments)

    def check_call(self, request: Request, call: Generated) -> None:
        parameter = self.parameters.get("max_inp_length")
        default = None if parameter is None else parameter.default
        most = self._settings.chat.get("max_inp_length", default)
        if isinstance(most, int) and call.prompt >= most:
            raise Rejected(
                f"{self.name}: the prompt reaches the limit of {most:,} tokens (`max_inp_length`), "
                "and the model's code cuts longer prompts. Use smaller or fewer pictures or "
                f"frames (the profile's [images], --frames), or set "
                f"`chat = {{ max_inp_length = {most * 2} }}` in the profile's `extra`."
            )

    def _system(self, request: Request) -> tuple[dict[str, Any], tuple[Message, ...]]:
        """Return the argument for the system message, and the messages for the argument `msgs`. If
        `chat` has no argument for the system message, as in versions after 2.6, the system message
        stays in `msgs`.
        """
        first, *others = request.messages
        if first.role != "system" or "system_prompt" not in self.parameters:
            return {}, request.messages
        if first.images:
            raise Rejected(
                f"{self.name}: its chat() does not support pictures in the system message."
            )
        return {"system_prompt": first.text}, tuple(others)

    def _sampling(self, request: Request) -> dict[str, Any]:
        """Return the arguments for sampling.

        Raises:
            Rejected: `chat` does not accept one of the arguments.
        """
        generation = request.generation
        temperature = generation.temperature
        if temperature is None:
            wanted: dict[str, Any] = {}
        else:
            switch = "sampling" if "sampling" in self.parameters else "do_sample"
            wanted = {switch: bool(temperature)}
            if temperature:
                wanted |= {"temperature": temperature}
            else:
                wanted |= {"num_beams": 1}
        if generation.top_p is not None and temperature != 0:
            wanted |= {"top_p": generation.top_p}
        wanted |= own_sampling(self._settings, is_sampled=temperature != 0)
        if missing := [name for name in wanted if not self.takes(name)]:
            raise Rejected(
                f"{self.name}: its chat() does not accept {', '.join(missing)}. Remove the "
                "setting, or leave it to the model (--temperature default).",
                hopeless=True,
            )
        return wanted

    def _content(self, message: Message) -> list[Any]:
        return [converted for part in message.content for converted in self._parts(part)]

    def _parts(self, part: Part) -> list[Any]:
        if isinstance(part, str):
            if MARK in part:
                raise Rejected(
                    f"{self.name}: the text contains {MARK}, which its chat() treats as a picture."
                )
            return [part]
        if not isinstance(part, Video):
            return [pictures.as_pillow(part)]
        if not part.frames:
            raise Rejected(f"{part.label or part.source}: its frames were not decoded.")
        return [pictures.as_pillow(frame.image) for frame in part.frames]
