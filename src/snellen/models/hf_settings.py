"""The settings of `hf/` models in a profile's `extra`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from snellen.core.profile import Count, StrictStruct


class HfSettings(StrictStruct, frozen=True):
    """The settings of `hf/` models in a profile's `extra`."""

    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """The data type of the weights. `auto` uses the data type of the files."""
    attention: Literal["sdpa", "eager", "flash_attention_2"] | None = None
    """The attention implementation; None for the default of transformers."""
    device: str = "auto"
    """The device: `auto`, `cpu`, `cuda`, or one GPU, such as `cuda:1`. `auto` uses a GPU if the
    machine has a GPU."""
    replicas: Count = 1
    """The number of copies of the model. With `cuda`, each copy has its own GPU."""
    batch_size: Count = 16
    """The maximum number of requests per batch."""
    batch_tokens: Count = 16384
    """The maximum number of tokens per batch. A batch has as many tokens as its number of rows
    times the length of its longest prompt."""
    image_processor: Literal["pil", "torchvision"] | None = None
    """The implementation of the image processor; None for the default of transformers."""
    video: Literal["native", "frames"] = "native"
    """`native` sends a video as a video if the processor supports videos. `frames` sends a video's
    frames as pictures."""
    processor: dict[str, Any] = msgspec.field(default_factory=dict)
    """Arguments for the processor, such as `{max_pixels = 1003520}`."""
    template: dict[str, Any] = msgspec.field(default_factory=dict)
    """Arguments for the chat template, such as `{enable_thinking = false}`."""
    chat: dict[str, Any] = msgspec.field(default_factory=dict)
    """Arguments for the `chat` method of a model's own code, such as `{max_slice_nums = 9}`."""
    tiles: Count | None = None
    """The maximum number of tiles of a picture, for InternVL's own code; None for the number in the
    model's config.json."""
    top_k: Annotated[int, msgspec.Meta(ge=-1)] | None = None
    """The number of most likely tokens to sample from; 0 or -1 for all, None for the number in the
    model's generation_config.json."""
    repetition_penalty: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """The factor by which tokens that occurred before are less likely; 1 for no penalty, None for
    the factor in the model's generation_config.json."""


def own_sampling(settings: HfSettings, *, is_sampled: bool) -> dict[str, int | float]:
    """The sampling settings that have a value, by their names in transformers' `GenerationConfig`.
    `top_k` has no effect if the most likely token is always taken."""
    fields: dict[str, int | float] = {}
    if settings.top_k is not None and is_sampled:
        fields["top_k"] = max(settings.top_k, 0)
    if settings.repetition_penalty is not None:
        fields["repetition_penalty"] = settings.repetition_penalty
    return fields
