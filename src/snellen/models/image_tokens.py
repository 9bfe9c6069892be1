"""Estimates the number of tokens in a picture before a run, with the rules of the models' vendors.

The rules differ between models and change over time. Token counts that a server reported in an
earlier run therefore take precedence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from snellen.core.profile import ImageRule
from snellen.media.sizes import in_squares


def image_tokens(rule: ImageRule | int, width: int, height: int) -> int:
    """Return the number of tokens in a picture of `width` x `height` pixels. If `rule` is a number,
    return that number.

    >>> image_tokens("openai-tiles", 2048, 4096), image_tokens(1120, 64, 64)
    (1105, 1120)
    """
    return rule if isinstance(rule, int) else RULES[rule](width, height)


def _qwen(side: int, least: int, most: int) -> Callable[[int, int], int]:
    """Return the rule of Qwen-VL models. The picture is scaled so that it consists of `least` to
    `most` squares of `side` x `side` pixels. Each square is one token. One more token comes before
    the squares, and another after them.

    Source:
    huggingface/transformers@v5.23.0:src/transformers/models/qwen2_vl/image_processing_qwen2_vl.py
    (smart_resize). The sizes are from the preprocessor_config.json of Qwen/Qwen2.5-VL-7B-Instruct
    (28 pixels per side, 3,136 to 12,845,056 pixels in all) and of Qwen/Qwen3-VL-8B-Instruct (32
    pixels per side, 65,536 to 16,777,216 pixels in all).
    """

    def tokens(width: int, height: int) -> int:
        across, down = in_squares(
            width, height, factor=side, least=least * side**2, most=most * side**2
        )
        return across * down // side**2 + 2

    return tokens


def _openai_tiles(width: int, height: int) -> int:
    """Apply the rule of gpt-4o and gpt-4.1: a picture has 85 tokens, plus 170 for each tile of 512
    x 512 pixels. Before the picture is cut into tiles, it is scaled to fit in 2,048 x 2,048 pixels,
    and its shorter side to at most 768 pixels. OpenAI's other models have different numbers.

    Source: platform.openai.com/docs/guides/images-vision, "Calculating costs", `detail: high`.
    """
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    across, down = (math.ceil(round(pixels * scale, 6) / 512) for pixels in (width, height))
    return 85 + 170 * across * down


def _anthropic(longest: int, most: int) -> Callable[[int, int], int]:
    """Return the rule of Claude models. Each square of 28 x 28 pixels is one token, and partial
    squares at the edges count as whole squares. Before the squares are counted, the picture is
    scaled to at most `longest` pixels on its longer side and at most `most` tokens.

    Source: platform.claude.com/docs/en/build-with-claude/vision. The limits are 1,568 pixels and
    1,568 tokens for models up to Claude 4.6, and 2,576 pixels and 4,784 tokens for later models.
    Until early 2026, Anthropic's page gave the formula width x height / 750. For pictures of at
    least 600 x 600 pixels, its results differ from those of this rule by at most 7 %.
    """

    def tokens(width: int, height: int) -> int:
        scale = min(1.0, longest / max(width, height), 28 * math.sqrt(most / (width * height)))
        across, down = (math.ceil(round(pixels * scale, 6) / 28) for pixels in (width, height))
        return min(most, across * down)

    return tokens


def _gemini(width: int, height: int) -> int:
    """Apply the rule of Gemini 2.x: a picture that fits in 384 x 384 pixels has 258 tokens, and a
    larger picture has 258 tokens for each tile. A tile is a square whose side is the picture's
    shorter side divided by 1.5, but at least 256 and at most 768 pixels. Gemini 3 uses a fixed
    number of tokens per picture. For Gemini 3, set `image_tokens` in the profile to that number.

    Sources: ai.google.dev/gemini-api/docs/image-understanding, "Token calculation"; for the limits
    of a tile, cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding.
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
