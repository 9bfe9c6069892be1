"""The processor of a stand-in for the first Molmo, without a chat template."""

from transformers import LlavaProcessor


class MolmoProcessor(LlavaProcessor):
    def process(self, text=None, images=None, **kwargs):
        raise NotImplementedError
