"""Settings of `hf/` models in a profile's `extra`."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from snellen.core.profile import Count, StrictStruct


class HfSettings(StrictStruct, frozen=True):
    """The settings. `batch_tokens` limits the number of rows of a batch times the longest row, in
    prompt tokens. `processor` and `template` go to the processor and to the chat template
    (`processor = {max_pixels = 1003520}`, `template = {enable_thinking = false}`)."""

    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    attention: Literal["sdpa", "eager", "flash_attention_2"] | None = None
    device: str = "auto"
    replicas: Count = 1
    batch_size: Count = 16
    batch_tokens: Count = 16384
    image_processor: Literal["pil", "torchvision"] | None = None
    video: Literal["native", "frames"] = "native"
    processor: dict[str, Any] = msgspec.field(default_factory=dict)
    template: dict[str, Any] = msgspec.field(default_factory=dict)
