"""A stand-in for InternVL in its maker's form: the same class, methods, and parameters."""

import torch
from transformers import PreTrainedModel, Qwen2ForCausalLM

from .configuration_internvl_chat import InternVLChatConfig
from .conversation import get_conv_template


class InternVLChatModel(PreTrainedModel):
    config_class = InternVLChatConfig
    main_input_name = "pixel_values"
    _supports_sdpa = True

    def __init__(self, config):
        super().__init__(config)
        patch, width = config.vision_config["patch_size"], config.llm_config.hidden_size
        self.template = config.template
        self.system_message = get_conv_template(self.template).system_message
        sides = config.force_image_size // patch
        self.num_image_token = int((sides * config.downsample_ratio) ** 2)
        stride = int(patch / config.downsample_ratio)
        self.vision_model = torch.nn.Conv2d(3, width, stride, stride)
        self.language_model = Qwen2ForCausalLM(config.llm_config)
        self.img_context_token_id = None
        self.post_init()

    def _init_weights(self, module):
        pass

    def chat(
        self,
        tokenizer,
        pixel_values,
        question,
        generation_config,
        history=None,
        return_history=False,
        num_patches_list=None,
        IMG_START_TOKEN="<img>",
        IMG_END_TOKEN="</img>",
        IMG_CONTEXT_TOKEN="<IMG_CONTEXT>",
        verbose=False,
    ):
        if history is None and pixel_values is not None and "<image>" not in question:
            question = "<image>\n" + question
        if num_patches_list is None:
            num_patches_list = [] if pixel_values is None else [len(pixel_values)]
        assert pixel_values is None or len(pixel_values) == sum(num_patches_list)
        self.img_context_token_id = tokenizer.convert_tokens_to_ids(IMG_CONTEXT_TOKEN)
        conversation = get_conv_template(self.template)
        conversation.system_message = self.system_message
        for earlier, answer in history or []:
            conversation.append_message(conversation.roles[0], earlier)
            conversation.append_message(conversation.roles[1], answer)
        conversation.append_message(conversation.roles[0], question)
        conversation.append_message(conversation.roles[1], None)
        query = conversation.get_prompt()
        for count in num_patches_list:
            tokens = IMG_CONTEXT_TOKEN * self.num_image_token * count
            query = query.replace("<image>", IMG_START_TOKEN + tokens + IMG_END_TOKEN, 1)
        inputs = tokenizer(query, return_tensors="pt")
        generation_config["eos_token_id"] = tokenizer.convert_tokens_to_ids(
            conversation.sep.strip()
        )
        output = self.generate(
            pixel_values=pixel_values,
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            **generation_config,
        )
        response = tokenizer.batch_decode(output, skip_special_tokens=True)[0]
        response = response.split(conversation.sep.strip())[0].strip()
        return (response, [*(history or []), (question, response)]) if return_history else response

    @torch.no_grad()
    def generate(self, pixel_values=None, input_ids=None, attention_mask=None, **options):
        embeddings = self.language_model.get_input_embeddings()(input_ids)
        if pixel_values is not None:
            features = self.vision_model(pixel_values).flatten(2).transpose(1, 2)
            selected = input_ids == self.img_context_token_id
            embeddings = embeddings.clone()
            embeddings[selected] = features.reshape(-1, features.shape[-1])
        return self.language_model.generate(
            inputs_embeds=embeddings, attention_mask=attention_mask, use_cache=True, **options
        )
