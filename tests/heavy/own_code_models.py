"""Stand-ins for models in their makers' own form: remote code and a few random weights.

The code in tests/data/own-code is ours. It has the class names, the methods with their parameters,
the configuration keys, and the `auto_map` of the originals:

- InternVL: OpenGVLab/InternVL@2410d1dbf208f0e799459aff9376e5747dbf41a2:
  internvl_chat/internvl/model/internvl_chat
- MiniCPM-V 2.6, GLM-4v, Kimi-VL, and Molmo: the repositories of that name on the hub.
"""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.heavy.tiny_models import TEXT, build, byte_tokenizer

CODE = Path(__file__).parents[1] / "data" / "own-code"
TILE = 56
"""The side of a tile of the stand-in for InternVL; its original has 448."""
CHAT = """\
{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}</s>
{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"""


def build_own(kind: str, folder: Path) -> Path:
    """Write a model of a kind: internvl, minicpm, glm, kimi, or molmo."""
    KINDS[kind](folder)
    shutil.copytree(CODE / kind, folder, dirs_exist_ok=True)
    for cache in folder.rglob("__pycache__"):
        shutil.rmtree(cache)
    if not (folder / "model.safetensors").exists():
        _save_weights(folder)
    return folder


def _save_weights(folder: Path) -> None:
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig
    from transformers.dynamic_module_utils import get_class_from_dynamic_module

    config = AutoConfig.from_pretrained(folder, trust_remote_code=True)
    own: Any = get_class_from_dynamic_module(config.auto_map["AutoModel"], folder)
    torch.manual_seed(0)
    weights = {name: tensor.contiguous() for name, tensor in own(config).state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def edit(path: Path, **fields: Any) -> None:
    """Set fields of a JSON file, which is created if it does not exist. None removes a field."""
    content = json.loads(path.read_text()) if path.exists() else {}
    content.update(fields)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({k: v for k, v in content.items() if v is not None}))


def _text(vocabulary: int) -> Mapping[str, Any]:
    return {**TEXT, "vocab_size": vocabulary, "tie_word_embeddings": False}


def _internvl(folder: Path) -> None:
    names = ("<image>", "<img>", "</img>", "<IMG_CONTEXT>")
    marks = {f"mark_{number}": name for number, name in enumerate(names) if number}
    tokenizer = byte_tokenizer(marks)
    tokenizer.save_pretrained(folder)
    own = "modeling_internvl_chat.InternVLChatModel"
    edit(
        folder / "config.json",
        architectures=["InternVLChatModel"],
        model_type="internvl_chat",
        auto_map={
            "AutoConfig": "configuration_internvl_chat.InternVLChatConfig",
            "AutoModel": own,
            "AutoModelForCausalLM": own,
        },
        vision_config={"image_size": TILE, "patch_size": 14},
        llm_config={"architectures": ["Qwen2ForCausalLM"], **_text(len(tokenizer))},
        force_image_size=TILE,
        dynamic_image_size=True,
        use_thumbnail=True,
        min_dynamic_patch=1,
        max_dynamic_patch=6,
        template="internvl2_5",
        ps_version="v2",
        transformers_version="4.37.2",
    )


def _minicpm(folder: Path) -> None:
    tokenizer = byte_tokenizer({"image": "<image>", "image_end": "</image>", "unknown": "<unk>"})
    tokenizer.chat_template = CHAT
    tokenizer.save_pretrained(folder)
    edit(
        folder / "config.json",
        architectures=["MiniCPMV"],
        model_type="minicpmv",
        auto_map={
            "AutoConfig": "configuration_minicpm.MiniCPMVConfig",
            "AutoModel": "modeling_minicpmv.MiniCPMV",
            "AutoModelForCausalLM": "modeling_minicpmv.MiniCPMV",
        },
        query_num=4,
        slice_config={"max_slice_nums": 9, "model_type": "minicpmv"},
        transformers_version="4.40.0",
        **_text(len(tokenizer)),
    )
    edit(
        folder / "preprocessor_config.json",
        image_processor_type="MiniCPMVImageProcessor",
        auto_map={
            "AutoProcessor": "processing_minicpmv.MiniCPMVProcessor",
            "AutoImageProcessor": "image_processing_minicpmv.MiniCPMVImageProcessor",
        },
        processor_class="MiniCPMVProcessor",
        image_feature_size=4,
    )


def _glm(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = (f"{base64.b64encode(bytes([n])).decode()} {n}" for n in range(256))
    (folder / "tokenizer.model").write_text("\n".join(lines))
    marks = ["<|endoftext|>", "[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>"]
    marks += ["<|begin_of_image|>", "<|end_of_image|>"]
    ids = {mark: 256 + number for number, mark in enumerate(marks)}
    edit(
        folder / "tokenizer_config.json",
        tokenizer_class="ChatGLM4Tokenizer",
        auto_map={"AutoTokenizer": ["tokenization_chatglm.ChatGLM4Tokenizer", None]},
        added_tokens_decoder={
            str(number): {"content": mark, "special": True} for mark, number in ids.items()
        },
        eos_token="<|endoftext|>",
        pad_token="<|endoftext|>",
        image_size=28,
        padding_side="left",
    )
    edit(
        folder / "config.json",
        architectures=["ChatGLMModel"],
        model_type="chatglm",
        auto_map={
            "AutoConfig": "configuration_chatglm.ChatGLMConfig",
            "AutoModel": "modeling_chatglm.ChatGLMForConditionalGeneration",
            "AutoModelForCausalLM": "modeling_chatglm.ChatGLMForConditionalGeneration",
        },
        padded_vocab_size=264,
        vision_config={"image_size": 28},
        boi_token_id=ids["<|begin_of_image|>"],
        eoi_token_id=ids["<|end_of_image|>"],
        eos_token_id=[ids["<|endoftext|>"], ids["<|user|>"]],
        pad_token_id=ids["<|endoftext|>"],
        transformers_version="4.44.0",
    )
    edit(
        folder / "generation_config.json",
        eos_token_id=[ids["<|endoftext|>"], ids["<|user|>"]],
        pad_token_id=ids["<|endoftext|>"],
    )


def _kimi(folder: Path) -> None:
    build("llava", folder)
    edit(
        folder / "config.json",
        architectures=["KimiVLForConditionalGeneration"],
        model_type="kimi_vl",
        auto_map={
            "AutoConfig": "modeling_kimi_vl.KimiVLConfig",
            "AutoModelForCausalLM": "modeling_kimi_vl.KimiVLForConditionalGeneration",
        },
    )
    own = {"AutoProcessor": "processing_kimi_vl.KimiVLProcessor"}
    edit(folder / "processor_config.json", processor_class="KimiVLProcessor", auto_map=own)


def _molmo(folder: Path) -> None:
    build("llava", folder)
    edit(
        folder / "config.json",
        architectures=["MolmoForCausalLM"],
        model_type="molmo",
        auto_map={
            "AutoConfig": "modeling_molmo.MolmoConfig",
            "AutoModelForCausalLM": "modeling_molmo.MolmoForCausalLM",
        },
    )
    own = {"AutoProcessor": "processing_molmo.MolmoProcessor"}
    edit(folder / "processor_config.json", processor_class="MolmoProcessor", auto_map=own)
    (folder / "chat_template.jinja").unlink()


KINDS: Mapping[str, Callable[[Path], None]] = {
    "internvl": _internvl,
    "minicpm": _minicpm,
    "glm": _glm,
    "kimi": _kimi,
    "molmo": _molmo,
}
