"""Records what a model's own code passes to transformers' `generate`, and what `generate` returns.

A model's own code often returns only text, and often ignores unknown arguments. The recorded calls
show the exact number of tokens in a reply, and which settings the code did not pass on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from snellen.models.hf_common import ScoreCheck

SETTINGS = (
    *("max_new_tokens", "do_sample", "num_beams", "temperature", "top_p", "top_k"),
    "repetition_penalty",
)
"""The settings that are recorded, by their names in transformers' `GenerationConfig`."""


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A recorded call of `generate` with a single prompt."""

    prompt: int
    """The number of tokens in the prompt, including picture tokens."""
    tokens: Sequence[int]
    """The ids of the tokens in the reply, including an end token."""
    ends: frozenset[int]
    """The ids of the tokens that end a reply."""
    positions: int | None
    """The number of positions in the model's context; None if the model's configuration does not
    state the number."""
    settings: Mapping[str, Any]
    """The settings that `generate` used, by their names in transformers' `GenerationConfig`."""

    @property
    def ended(self) -> bool:
        """Whether the reply has an end token."""
        return any(token in self.ends for token in self.tokens)

    @property
    def count(self) -> int:
        """The number of tokens in the reply, before its end token."""
        end = next((i for i, token in enumerate(self.tokens) if token in self.ends), None)
        return len(self.tokens) if end is None else end


class GenerationWatch:
    """Watches those modules of a model that use transformers' own `generate`. If the model has no
    such modules, the watch counts as false in a condition."""

    def __init__(self, model: Any, mixin: Any) -> None:
        """`mixin` is transformers' `GenerationMixin`. If a module has a `generate` of its own that
        calls another module's `generate`, only the other module is watched."""
        self._parts = [
            part
            for part in model.modules()
            if getattr(type(part), "generate", None) is mixin.generate
        ]

    def __bool__(self) -> bool:
        return bool(self._parts)

    @contextmanager
    def watching(self, scores: ScoreCheck) -> Iterator[list[Generated]]:
        """Yield a list, and add each call of `generate` to the list. Only one thread may use this
        method at a time. `scores` checks the scores of each step."""
        calls: list[Generated] = []
        for part in self._parts:
            # An attribute of the object takes precedence over the method of its class.
            part.generate = _watched(part, part.generate, calls, scores)
        try:
            yield calls
        finally:
            for part in self._parts:
                del part.generate


def _watched(
    part: Any, generate: Callable[..., Any], calls: list[Generated], scores: ScoreCheck
) -> Callable[..., Any]:
    def watched(*inputs: Any, **options: Any) -> Any:
        processors = [*(options.pop("logits_processor", None) or ()), scores]
        output = generate(*inputs, logits_processor=processors, **options)
        call = _call(part, inputs, options, output)
        if call is not None:
            calls.append(call)
        return output

    return watched


def _call(
    part: Any, inputs: Sequence[Any], options: Mapping[str, Any], output: Any
) -> Generated | None:
    """Describe a call, or return None if the call did not have exactly one prompt and one reply."""
    ids = options.get("input_ids", options.get("inputs", inputs[0] if inputs else None))
    embeddings = options.get("inputs_embeds")
    sequences = getattr(output, "sequences", output)
    prompt = embeddings if embeddings is not None else ids
    if prompt is None or len(sequences) != 1 or len(prompt) != 1:
        return None
    start = 0 if ids is None else ids.shape[1]
    config, own = options.get("generation_config"), part.generation_config
    settings = {
        name: next(
            (
                value
                for value in (options.get(name), getattr(config, name, None), getattr(own, name))
                if value is not None
            ),
            None,
        )
        for name in SETTINGS
    }
    ends = options.get("eos_token_id", getattr(config, "eos_token_id", None))
    if ends is None:
        ends = own.eos_token_id
    listed = ends if isinstance(ends, (list, tuple)) else [ends]
    return Generated(
        prompt=int(prompt.shape[1]),
        tokens=sequences[0, start:].tolist(),
        positions=getattr(part.config, "max_position_embeddings", None),
        ends=frozenset(end for end in listed if isinstance(end, int)),
        settings=settings,
    )
