"""Writes a LLaVA of 0.2 million random weights in the transformers format: real loading, real
pictures, nonsense replies.

usage: python tests/heavy/tiny_llava.py FOLDER
"""

import sys
from pathlib import Path

WORDS = [
    "what is in the picture ? one two three",
    "answer with a single word or phrase : A B C D E",
    "user assistant 0123456789",
]
TEMPLATE = """\
{%- for m in messages %}{{ m['role'] }}: {% if m['content'] is string %}{{ m['content'] }}
{%- else %}{% for c in m['content'] %}{% if c['type'] in ('image', 'image_url') %}<image>
{%- elif c['type'] == 'text' %}{{ c['text'] }}{% endif %}{% endfor %}{% endif %}
{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"""


def build(folder: Path) -> None:
    """Make the model and its processor, and save both."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import (
        CLIPImageProcessorPil,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
        PreTrainedTokenizerFast,
    )

    torch.manual_seed(0)
    bytes_of = Tokenizer(models.BPE(unk_token=None))
    bytes_of.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_of.decoder = decoders.ByteLevel()
    special = ["<pad>", "<s>", "</s>", "<image>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    bytes_of.train_from_iterator(WORDS * 20, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bytes_of,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        padding_side="left",
        extra_special_tokens={"image_token": "<image>"},
    )
    vision = CLIPVisionConfig(
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=32,
        patch_size=8,
        projection_dim=64,
        initializer_range=0.2,
    )
    text = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        # Wide, so that the replies depend on what is asked and shown; 0.02 prints blanks for
        # everything.
        initializer_range=0.2,
        max_position_embeddings=8192,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        tie_word_embeddings=True,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
        image_seq_length=16,
        tie_word_embeddings=True,
    )
    pictures = CLIPImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    processor = LlavaProcessor(
        image_processor=pictures,
        tokenizer=tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE,
    )
    model = LlavaForConditionalGeneration(config)
    model.generation_config.pad_token_id, model.generation_config.eos_token_id = 0, 2
    model.save_pretrained(folder)
    processor.save_pretrained(folder)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
