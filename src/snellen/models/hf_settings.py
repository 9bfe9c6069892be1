"""Settings of `hf/` models in a profile's `extra`."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from snellen.core.profile import Count, StrictStruct


class HfSettings(StrictStruct, frozen=True):
    """The settings of `hf/` models in a profile's `extra`."""

    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """The data type of the weights; `auto`: that of the files."""
    attention: Literal["sdpa", "eager", "flash_attention_2"] | None = None
    """The attention implementation; None: the default of transformers."""
    device: str = "auto"
    """`auto`, `cpu`, `cuda`, or `cuda:1`."""
    replicas: Count = 1
    """The number of copies, each on a device of its own."""
    batch_size: Count = 16
    """The most requests per batch."""
    batch_tokens: Count = 16384
    """The most tokens per batch: rows times the longest prompt."""
    image_processor: Literal["pil", "torchvision"] | None = None
    """The implementation of the image processor; None: the default."""
    video: Literal["native", "frames"] = "native"
    """`native`: videos as the processor takes them; `frames`: as pictures."""
    processor: dict[str, Any] = msgspec.field(default_factory=dict)
    """Arguments of the processor: `{max_pixels = 1003520}`."""
    template: dict[str, Any] = msgspec.field(default_factory=dict)
    """Arguments of the chat template: `{enable_thinking = false}`."""
    chat: dict[str, Any] = msgspec.field(default_factory=dict)
    """Arguments of the `chat` method of a model's own code: `{max_slice_nums = 9}`."""
    tiles: Count | None = None
    """The most tiles of a picture, for InternVL's own code; None: as its config.json says."""
