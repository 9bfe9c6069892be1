"""The processor of a stand-in for Kimi-VL, in a class of its own."""

from transformers import LlavaProcessor


class KimiVLProcessor(LlavaProcessor):
    pass
