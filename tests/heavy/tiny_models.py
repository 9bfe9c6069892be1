"""Models of a few hundred thousand random weights, of five families, in the transformers format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

WORDS = [
    "what is in the picture ? one two three four",
    "answer with the letter of the option : A B C D yes no",
    "system user assistant what happens in the video 0123456789",
]
TEMPLATE = """\
{% for m in messages %}{{ m['role'] }}: {% for c in m['content'] %}\
{% if c['type'] == 'image' %}IMAGE{% elif c['type'] == 'video' %}VIDEO\
{% else %}{{ c['text'] }}{% endif %}{% endfor %}
{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"""
TEXT: Mapping[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    # Wide, so that replies depend on what is asked and shown.
    "initializer_range": 0.2,
    "max_position_embeddings": 4096,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "tie_word_embeddings": True,
}
SEEN: Mapping[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
QWEN_MARKS = {
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
    "vision_start_token": "<|vision_start|>",
    "vision_end_token": "<|vision_end|>",
}


def build(kind: str, folder: Path, *, text: Mapping[str, Any] | None = None) -> Path:
    """Write a model of a kind (llava, idefics3, qwen2_5_vl, qwen3_vl, internvl), with its
    processor. `text` are fields of the text model's configuration. The tokenizer asks for padding
    on the right."""
    import torch

    torch.manual_seed(0)
    model, processor = {
        "llava": _llava,
        "idefics3": _idefics3,
        "qwen2_5_vl": _qwen,
        "qwen3_vl": _qwen3,
        "internvl": _internvl,
    }[kind]({**TEXT, **(text or {})})
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def byte_tokenizer(special: Mapping[str, str], more: list[str] | None = None) -> Any:
    """A tokenizer of bytes and a few words. `special` are its special tokens by their names, and
    `more` are others without names."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    of_bytes = Tokenizer(models.BPE(unk_token=None))
    of_bytes.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    of_bytes.decoder = decoders.ByteLevel()
    marks = ["<pad>", "<s>", "</s>", *dict.fromkeys(special.values()), *(more or [])]
    of_bytes.train_from_iterator(
        WORDS * 20,
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=marks,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=of_bytes,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        padding_side="right",
        extra_special_tokens=dict(special),
    )


def _template(image: str, video: str = "") -> str:
    return TEMPLATE.replace("IMAGE", image).replace("VIDEO", video)


def _llava(text: Mapping[str, Any]) -> tuple[Any, Any]:
    import transformers as t

    tokenizer = byte_tokenizer({"image_token": "<image>"})
    vision = t.CLIPVisionConfig(
        **SEEN, image_size=32, patch_size=8, projection_dim=64, initializer_range=0.2
    )
    config = t.LlavaConfig(
        vision_config=vision,
        text_config=t.LlamaConfig(vocab_size=len(tokenizer), **text),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
        image_seq_length=16,
        tie_word_embeddings=True,
    )
    size = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}
    processor = t.LlavaProcessor(
        image_processor=t.CLIPImageProcessorPil(**size),
        tokenizer=tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,  # CLIP's first
        chat_template=_template("<image>"),
    )
    return t.LlavaForConditionalGeneration(config), processor


def _idefics3(text: Mapping[str, Any]) -> tuple[Any, Any]:
    import transformers as t

    special = {
        "image_token": "<image>",
        "fake_image_token": "<fake_token_around_image>",
        "global_image_token": "<global-img>",
        "end_of_utterance_token": "<end_of_utterance>",
    }
    tiles = [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
    tokenizer = byte_tokenizer(special, tiles)
    config = t.Idefics3Config(
        vision_config=t.Idefics3VisionConfig(
            **SEEN, image_size=32, patch_size=8, initializer_range=0.2
        ),
        text_config=t.LlamaConfig(vocab_size=len(tokenizer), **text),
        scale_factor=2,
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        pad_token_id=0,
        tie_word_embeddings=True,
    )
    processor = t.Idefics3Processor(
        image_processor=t.Idefics3ImageProcessorPil(
            size={"longest_edge": 64}, max_image_size={"longest_edge": 32}
        ),
        tokenizer=tokenizer,
        image_seq_len=4,  # (32 / 8 / 2) squared
        chat_template=_template("<image>"),
    )
    return t.Idefics3ForConditionalGeneration(config), processor


def qwen_ids(tokenizer: Any) -> dict[str, int]:
    """The ids of a Qwen tokenizer's marks, by their names in the model's configuration."""
    return {
        f"{name}_id": tokenizer.convert_tokens_to_ids(mark) for name, mark in QWEN_MARKS.items()
    }


def _qwen(text: Mapping[str, Any]) -> tuple[Any, Any]:
    import transformers as t

    tokenizer = byte_tokenizer(QWEN_MARKS)
    ids = qwen_ids(tokenizer)
    config = t.Qwen2_5_VLConfig(
        text_config={
            **text,
            "vocab_size": len(tokenizer),
            "rope_parameters": {"rope_theta": 1e4, "mrope_section": [4, 6, 6]},
        },
        vision_config={
            "depth": 2,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_heads": 4,
            "patch_size": 8,
            "out_hidden_size": text["hidden_size"],
            "window_size": 32,
            "fullatt_block_indexes": [1],
            "initializer_range": 0.2,
        },
        tie_word_embeddings=True,
        **ids,
    )
    patches = {"patch_size": 8, "merge_size": 2, "temporal_patch_size": 2}
    processor = t.Qwen2_5_VLProcessor(
        image_processor=t.Qwen2VLImageProcessorPil(
            **patches, size={"shortest_edge": 32 * 32, "longest_edge": 64 * 64}
        ),
        tokenizer=tokenizer,
        video_processor=t.Qwen2VLVideoProcessor(
            **patches, size={"shortest_edge": 32 * 32, "longest_edge": 8 * 64 * 64}
        ),
        chat_template=_template(
            "<|vision_start|><|image_pad|><|vision_end|>",
            "<|vision_start|><|video_pad|><|vision_end|>",
        ),
    )
    return t.Qwen2_5_VLForConditionalGeneration(config), processor


def _qwen3(text: Mapping[str, Any]) -> tuple[Any, Any]:
    import transformers as t

    tokenizer = byte_tokenizer(QWEN_MARKS)
    ids = qwen_ids(tokenizer)
    rope = {"rope_theta": 1e4, "mrope_section": [4, 6, 6], "mrope_interleaved": True}
    config = t.Qwen3VLConfig(
        text_config={
            **text,
            "vocab_size": len(tokenizer),
            "head_dim": 32,
            "rope_parameters": {"rope_type": "default", **rope},
        },
        vision_config={
            "depth": 2,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_heads": 4,
            "patch_size": 8,
            "out_hidden_size": text["hidden_size"],
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0],
            "initializer_range": 0.2,
        },
        tie_word_embeddings=True,
        **ids,
    )
    patches = {"patch_size": 8, "merge_size": 2, "temporal_patch_size": 2}
    processor = t.Qwen3VLProcessor(
        image_processor=t.Qwen2VLImageProcessorPil(
            **patches, size={"shortest_edge": 32 * 32, "longest_edge": 64 * 64}
        ),
        tokenizer=tokenizer,
        # The size is that of all frames: 32 of 160 x 96 are not scaled.
        video_processor=t.Qwen3VLVideoProcessor(
            **patches, size={"shortest_edge": 32 * 32, "longest_edge": 32 * 160 * 96}
        ),
        chat_template=_template(
            "<|vision_start|><|image_pad|><|vision_end|>",
            "<|vision_start|><|video_pad|><|vision_end|>",
        ),
    )
    return t.Qwen3VLForConditionalGeneration(config), processor


def _internvl(text: Mapping[str, Any]) -> tuple[Any, Any]:
    import transformers as t

    special = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    }
    tokenizer = byte_tokenizer(special)
    config = t.InternVLConfig(
        vision_config=t.InternVLVisionConfig(
            **SEEN, image_size=[32, 32], patch_size=[8, 8], initializer_range=0.2
        ),
        text_config=t.Qwen2Config(vocab_size=len(tokenizer), **text),
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        downsample_ratio=0.5,
        image_seq_length=4,  # (32 / 8 / 2) squared
        tie_word_embeddings=True,
    )
    size = {"height": 32, "width": 32}
    processor = t.InternVLProcessor(
        image_processor=t.GotOcr2ImageProcessorPil(
            size=size, crop_to_patches=True, min_patches=1, max_patches=4
        ),
        tokenizer=tokenizer,
        video_processor=t.InternVLVideoProcessor(size=size),
        image_seq_length=4,
        chat_template=_template("<IMG_CONTEXT>\n", "<video>\n"),
    )
    return t.InternVLForConditionalGeneration(config), processor
