"""A stand-in for GLM-4v in its maker's form: the same class and inputs. A picture's features take
the place of the token between its two marks, so the model sees a longer prompt than its tokens."""

import torch
from transformers import PreTrainedModel, Qwen2Config, Qwen2Model
from transformers.modeling_outputs import CausalLMOutputWithPast

from .configuration_chatglm import ChatGLMConfig


class ChatGLMForConditionalGeneration(PreTrainedModel):
    config_class = ChatGLMConfig
    _supports_sdpa = True

    def __init__(self, config, empty_init=True, device=None):
        super().__init__(config)
        self.transformer = Qwen2Model(
            Qwen2Config(
                vocab_size=config.padded_vocab_size,
                hidden_size=config.hidden_size,
                intermediate_size=config.ffn_hidden_size,
                num_hidden_layers=config.num_layers,
                num_attention_heads=config.num_attention_heads,
                num_key_value_heads=1,
                initializer_range=0.2,
            )
        )
        side = config.vision_config["image_size"] // 2
        self.vision = torch.nn.Conv2d(3, config.hidden_size, side, side)
        self.output_layer = torch.nn.Linear(config.hidden_size, config.padded_vocab_size)
        self.post_init()

    def _init_weights(self, module):
        pass

    def prepare_inputs_for_generation(self, input_ids, images=None, **kwargs):
        return {"input_ids": input_ids, "images": images, "use_cache": False}

    def forward(
        self,
        input_ids=None,
        images=None,
        position_ids=None,
        attention_mask=None,
        past_key_values=None,
        inputs_embeds=None,
        labels=None,
        use_cache=None,
        output_attentions=None,
        output_hidden_states=None,
        return_dict=None,
        return_last_logit=False,
    ):
        embeddings = self.transformer.get_input_embeddings()(input_ids)
        if images is not None:
            features = self.vision(images).flatten(2).transpose(1, 2)
            at = input_ids[0].tolist().index(self.config.boi_token_id) + 1
            assert input_ids[0, at + 1] == self.config.eoi_token_id
            embeddings = torch.cat([embeddings[:, :at], features, embeddings[:, at + 1 :]], 1)
        hidden = self.transformer(inputs_embeds=embeddings, use_cache=False).last_hidden_state
        return CausalLMOutputWithPast(logits=self.output_layer(hidden))
