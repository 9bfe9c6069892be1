"""Shared parts of the models that transformers runs in this process."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from snellen.errors import UsageError, install

BROKEN = (ValueError, TypeError, LookupError, RuntimeError, AttributeError, AssertionError)
"""Exceptions that processors and models raise for inputs that they do not accept."""


def libraries(model: str) -> tuple[ModuleType, ModuleType]:
    """Import torch and transformers.

    Raises:
        UsageError: one of them is missing.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        raise UsageError(f"{model} needs the extra `hf`: {install('hf')} ({error}).") from error
    return torch, transformers


def stop_tokens(model: Any, tokenizer: Any) -> set[int]:
    """The ids of the tokens that end a reply, according to the model and to its tokenizer."""
    end_tokens = model.generation_config.eos_token_id
    return {
        tokenizer.eos_token_id,
        *(end_tokens if isinstance(end_tokens, list) else [end_tokens]),
    } - {None}
