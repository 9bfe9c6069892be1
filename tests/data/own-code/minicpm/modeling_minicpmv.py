"""A stand-in for MiniCPM-V 2.6 in its maker's form: the same class, methods, and parameters."""

from copy import deepcopy

import torch
from PIL import Image
from transformers import AutoProcessor, Qwen2ForCausalLM, Qwen2PreTrainedModel

from .configuration_minicpm import MiniCPMVConfig


class MiniCPMV(Qwen2PreTrainedModel):
    config_class = MiniCPMVConfig

    def __init__(self, config):
        super().__init__(config)
        self.llm = Qwen2ForCausalLM(config)
        side = int(28 / config.query_num**0.5)
        self.vpm = torch.nn.Conv2d(3, config.hidden_size, side, side)
        self.processor = None
        self.terminators = ["</s>"]
        self.post_init()

    def _init_weights(self, module):
        pass

    def generate(self, inputs, tokenizer, **options):
        ids = inputs["input_ids"]
        embeddings = self.llm.get_input_embeddings()(ids).clone()
        if inputs["pixel_values"] is not None:
            features = self.vpm(inputs["pixel_values"]).flatten(2).transpose(1, 2)
            flat = features.reshape(-1, features.shape[-1])
            marked = ids == tokenizer.convert_tokens_to_ids("<unk>")
            embeddings[marked] = flat[: int(marked.sum())]
        output = self.llm.generate(
            inputs_embeds=embeddings,
            attention_mask=inputs["attention_mask"],
            pad_token_id=0,
            eos_token_id=[tokenizer.convert_tokens_to_ids(word) for word in self.terminators],
            **options,
        )
        return [tokenizer.decode(row, skip_special_tokens=True).strip() for row in output]

    def chat(
        self,
        image,
        msgs,
        tokenizer,
        processor=None,
        vision_hidden_states=None,
        max_new_tokens=2048,
        min_new_tokens=0,
        sampling=True,
        max_inp_length=8192,
        system_prompt="",
        stream=False,
        max_slice_nums=None,
        use_image_id=None,
        **kwargs,
    ):
        if processor is None:
            processor = self.processor = self.processor or AutoProcessor.from_pretrained(
                self.config._name_or_path, trust_remote_code=True
            )
        messages, pictures = deepcopy(msgs), []
        if image is not None and isinstance(messages[0]["content"], str):
            messages[0]["content"] = [image, messages[0]["content"]]
        for number, message in enumerate(messages):
            assert message["role"] in ("user", "assistant")
            assert number or message["role"] == "user", "the first role must be user"
            content = message["content"]
            texts = []
            for part in [content] if isinstance(content, str) else content:
                if isinstance(part, Image.Image):
                    pictures.append(part)
                    texts.append("(<image>./</image>)")
                elif isinstance(part, str):
                    texts.append(part)
            message["content"] = "\n".join(texts)
        if system_prompt:
            messages = [{"role": "system", "content": system_prompt}, *messages]
        prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        inputs = processor(
            [prompt],
            [pictures],
            max_slice_nums=max_slice_nums,
            use_image_id=use_image_id,
            return_tensors="pt",
            max_length=max_inp_length,
        )
        if sampling:
            settings = {"top_p": 0.8, "top_k": 100, "temperature": 0.7, "do_sample": True}
            settings["repetition_penalty"] = 1.05
        else:
            settings = {"num_beams": 3, "repetition_penalty": 1.2}
        # As in the original: other arguments have no effect, and no error.
        settings.update((name, kwargs[name]) for name in settings.keys() & kwargs.keys())
        with torch.inference_mode():
            return self.generate(inputs, tokenizer, max_new_tokens=max_new_tokens, **settings)[0]
