"""A stand-in for Kimi-VL in its maker's form: a processor, and a model class of its own."""

from transformers import LlavaConfig, LlavaForConditionalGeneration


class KimiVLConfig(LlavaConfig):
    model_type = "kimi_vl"


class KimiVLForConditionalGeneration(LlavaForConditionalGeneration):
    config_class = KimiVLConfig
