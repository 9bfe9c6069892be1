"""The tokenizer of a stand-in for GLM-4v: bytes, and a chat template in code that takes a picture.
As in the original, its vocabulary is a file of lines with a token in base64 and its number."""

import base64
import shutil
from pathlib import Path

import numpy as np
import torch
from transformers import BatchEncoding, PreTrainedTokenizer


class ChatGLM4Tokenizer(PreTrainedTokenizer):
    vocab_files_names = {"vocab_file": "tokenizer.model"}  # noqa: RUF012
    model_input_names = ["input_ids", "attention_mask", "position_ids"]  # noqa: RUF012

    def __init__(
        self,
        vocab_file,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        encode_special_tokens=False,
        image_size=None,
        **kwargs,
    ):
        self.vocab_file = vocab_file
        self.image_size = image_size
        lines = Path(vocab_file).read_text().splitlines()
        self.ranks = {base64.b64decode(word): int(rank) for word, rank in map(str.split, lines)}
        self.words = {rank: word for word, rank in self.ranks.items()}
        super().__init__(
            padding_side=padding_side,
            clean_up_tokenization_spaces=clean_up_tokenization_spaces,
            image_size=image_size,
            **kwargs,
        )

    @property
    def vocab_size(self):
        return len(self.ranks)

    def get_vocab(self):
        own = {word.decode("latin-1"): rank for word, rank in self.ranks.items()}
        return {**own, **self.added_tokens_encoder}

    def _tokenize(self, text, **kwargs):
        return [bytes([byte]).decode("latin-1") for byte in text.encode()]

    def _convert_token_to_id(self, token):
        return self.ranks[token.encode("latin-1")]

    def _convert_id_to_token(self, index):
        return self.words.get(index, b"").decode("latin-1")

    def convert_tokens_to_string(self, tokens):
        return b"".join(token.encode("latin-1") for token in tokens).decode(errors="replace")

    def save_vocabulary(self, save_directory, filename_prefix=None):
        path = Path(save_directory) / "tokenizer.model"
        if path.resolve() != Path(self.vocab_file).resolve():
            shutil.copy(self.vocab_file, path)
        return (str(path),)

    def apply_chat_template(
        self,
        conversation,
        add_generation_prompt=False,
        tokenize=True,
        padding=False,
        truncation=False,
        max_length=None,
        return_tensors=None,
        return_dict=False,
        tokenizer_kwargs=None,
        add_special_tokens=True,
        **kwargs,
    ):
        number = self.convert_tokens_to_ids
        ids = [number("[gMASK]"), number("<sop>")]
        picture = None
        for turn in conversation:
            ids += [number(f"<|{turn['role']}|>"), *self._bytes("\n")]
            if turn.get("image"):
                assert picture is None, "Multiple images are not supported"
                picture = self._pixels(turn["image"])
                marks = ("<|begin_of_image|>", "<|endoftext|>", "<|end_of_image|>")
                ids += map(number, marks)
            ids += self._bytes(turn.get("content") or "")
        if add_generation_prompt:
            ids.append(number("<|assistant|>"))
        tensors = {
            "input_ids": torch.tensor([ids]),
            "attention_mask": torch.ones((1, len(ids)), dtype=torch.long),
            "position_ids": torch.arange(len(ids))[None],
        }
        if picture is not None:
            tensors["images"] = picture[None]
        return BatchEncoding(tensors) if return_dict else tensors["input_ids"]

    def _bytes(self, text):
        return [self.ranks[bytes([byte])] for byte in text.encode()]

    def _pixels(self, picture):
        assert picture.mode == "RGB"
        side = self.image_size
        pixels = np.asarray(picture.resize((side, side)), np.float32) / 255
        return torch.from_numpy(pixels.transpose(2, 0, 1).copy())
