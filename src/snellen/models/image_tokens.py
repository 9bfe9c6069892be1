"""The number of tokens of a picture, for estimates before a run. The rules are the vendors' own.

Rules change with the models, so counts from a server in an earlier run take precedence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from snellen.core.profile import ImageRule


def image_tokens(rule: ImageRule | int, width: int, height: int) -> int:
    """The number of tokens of a picture of `width` x `height` pixels. `rule` may be this number.

    >>> image_tokens("openai-tiles", 2048, 4096), image_tokens(1120, 64, 64)
    (1105, 1120)
    """
    return rule if isinstance(rule, int) else RULES[rule](width, height)


def _qwen(side: int, least: int, most: int) -> Callable[[int, int], int]:
    """A token per square of `side` pixels, after the picture is scaled to whole squares, `least` to
    `most` of them; plus a token before and a token after them.

    huggingface/transformers@v5.23.0:src/transformers/models/qwen2_vl/image_processing_qwen2_vl.py
    (smart_resize); sizes by the preprocessor_config.json of Qwen/Qwen2.5-VL-7B-Instruct (28 pixels,
    3,136 to 12,845,056 in all) and of Qwen/Qwen3-VL-8B-Instruct (32 pixels, 65,536 to 16,777,216).
    """

    def tokens(width: int, height: int) -> int:
        across, down = round(width / side), round(height / side)
        if across * down > most:
            scale = math.sqrt(width * height / (most * side**2))
            across, down = (max(1, int(pixels / scale / side)) for pixels in (width, height))
        elif across * down < least:
            scale = math.sqrt(least * side**2 / (width * height))
            across, down = (math.ceil(pixels * scale / side) for pixels in (width, height))
        return across * down + 2

    return tokens


def _openai_tiles(width: int, height: int) -> int:
    """85, plus 170 per tile of 512 pixels, after the picture is scaled to fit into 2,048 x 2,048
    and its shorter side into 768 (gpt-4o, gpt-4.1; other models have other numbers).

    platform.openai.com/docs/guides/images-vision, "Calculating costs", `detail: high`.
    """
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    across, down = (math.ceil(round(pixels * scale, 6) / 512) for pixels in (width, height))
    return 85 + 170 * across * down


def _anthropic(longest: int, most: int) -> Callable[[int, int], int]:
    """A token per square of 28 pixels, after the picture is scaled to fit: its longer side into
    `longest` pixels, and all of it into `most` tokens. Partial squares at the edges count.

    platform.claude.com/docs/en/build-with-claude/vision: 1,568 pixels and 1,568 tokens for models
    up to Claude 4.6, 2,576 and 4,784 for later ones. Up to early 2026 that page said width x height
    / 750, which is within 7 %.
    """

    def tokens(width: int, height: int) -> int:
        scale = min(1.0, longest / max(width, height), 28 * math.sqrt(most / (width * height)))
        across, down = (math.ceil(round(pixels * scale, 6) / 28) for pixels in (width, height))
        return min(most, across * down)

    return tokens


def _gemini(width: int, height: int) -> int:
    """258 for a picture within 384 x 384, else 258 per tile: a square of the shorter side / 1.5,
    256 to 768 pixels (Gemini 2.x; Gemini 3 has a fixed number, which `image_tokens` may be).

    ai.google.dev/gemini-api/docs/image-understanding, "Token calculation"; the bounds of a tile by
    cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding.
    """
    if max(width, height) <= 384:
        return 258
    tile = min(768, max(256, int(min(width, height) / 1.5)))
    return 258 * math.ceil(width / tile) * math.ceil(height / tile)


RULES: Mapping[ImageRule, Callable[[int, int], int]] = {
    "qwen2-vl": _qwen(28, 4, 16_384),
    "qwen3-vl": _qwen(32, 64, 16_384),
    "openai-tiles": _openai_tiles,
    "anthropic": _anthropic(1568, 1568),
    "anthropic-high": _anthropic(2576, 4784),
    "gemini": _gemini,
}
