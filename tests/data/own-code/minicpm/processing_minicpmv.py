"""The processor of a stand-in for MiniCPM-V 2.6, which has no chat template for pictures."""

import torch
from transformers import BatchFeature, ProcessorMixin


class MiniCPMVProcessor(ProcessorMixin):
    attributes = ["image_processor", "tokenizer"]  # noqa: RUF012
    image_processor_class = "AutoImageProcessor"
    tokenizer_class = "AutoTokenizer"

    def __init__(self, image_processor=None, tokenizer=None):
        super().__init__(image_processor, tokenizer)

    def __call__(
        self,
        text,
        images=None,
        max_length=None,
        max_slice_nums=None,
        use_image_id=None,
        return_tensors="pt",
        **kwargs,
    ):
        (prompt,), (pictures,) = text, images
        count = self.image_processor.image_feature_size
        if use_image_id is None:
            use_image_id = self.image_processor.use_image_id
        for number in range(len(pictures)):
            name = f"<image_id>{number}</image_id>" if use_image_id else ""
            tokens = f"{name}<image>{'<unk>' * count}</image>"
            prompt = prompt.replace("(<image>./</image>)", tokens, 1)
        ids = self.tokenizer(prompt, add_special_tokens=False)["input_ids"][:max_length]
        squares = [self.image_processor.square(picture) for picture in pictures]
        return BatchFeature(
            {
                "input_ids": torch.tensor([ids]),
                "attention_mask": torch.ones((1, len(ids)), dtype=torch.long),
                "pixel_values": torch.stack(squares) if squares else None,
            }
        )
