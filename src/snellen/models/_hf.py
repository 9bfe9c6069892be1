"""What the models that transformers runs here have in common."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from snellen.errors import UsageError, install

BROKEN = (ValueError, TypeError, LookupError, RuntimeError, AttributeError, AssertionError)
"""What processors and models raise about inputs that they do not take."""


def libraries(model: str) -> tuple[ModuleType, ModuleType]:
    """torch and transformers.

    Raises:
        UsageError: one is missing.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        raise UsageError(f"{model} needs the extra `hf`: {install('hf')} ({error}).") from error
    return torch, transformers


def stop_tokens(model: Any, tokenizer: Any) -> set[int]:
    """The tokens that end a reply: the model's own and the tokenizer's."""
    said = model.generation_config.eos_token_id
    return {tokenizer.eos_token_id, *(said if isinstance(said, list) else [said])} - {None}
