"""A stand-in for the first Molmo: its processor has `process`, and it has `generate_from_batch`."""

from transformers import LlavaConfig, LlavaForConditionalGeneration


class MolmoConfig(LlavaConfig):
    model_type = "molmo"


class MolmoForCausalLM(LlavaForConditionalGeneration):
    config_class = MolmoConfig

    def generate_from_batch(self, batch, generation_config, tokenizer):
        raise NotImplementedError
