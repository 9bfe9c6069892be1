"""The configuration of a stand-in for GLM-4v, with the same keys."""

from transformers import PretrainedConfig


class ChatGLMConfig(PretrainedConfig):
    model_type = "chatglm"

    def __init__(
        self,
        num_layers=2,
        padded_vocab_size=400,
        hidden_size=64,
        ffn_hidden_size=128,
        num_attention_heads=2,
        seq_length=4096,
        vision_config=None,
        boi_token_id=None,
        eoi_token_id=None,
        **kwargs,
    ):
        self.num_layers = self.num_hidden_layers = num_layers
        self.padded_vocab_size = self.vocab_size = padded_vocab_size
        self.hidden_size = hidden_size
        self.ffn_hidden_size = ffn_hidden_size
        self.num_attention_heads = num_attention_heads
        self.seq_length = seq_length
        self.vision_config = vision_config or {}
        self.boi_token_id = boi_token_id
        self.eoi_token_id = eoi_token_id
        super().__init__(**kwargs)
