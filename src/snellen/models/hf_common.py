"""Shared parts of the models that transformers runs in this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from snellen.errors import Rejected, UsageError, install

BROKEN = (ValueError, TypeError, LookupError, RuntimeError, AttributeError, AssertionError)
"""Exceptions that processors and models raise about inputs that they do not accept."""
MAX_TOKENS = 1024
"""The limit of a reply's tokens unless the request has its own."""
SHORT = ("out of memory", "ALLOC_FAILED", "can't allocate memory", "not enough memory")
"""Parts of messages that mean a lack of memory in errors other than OutOfMemoryError: errors of
CUDA and its libraries, and of the CPU's allocator."""
_GENERATORS: dict[str, threading.Lock] = {}
"""A lock per device, for its random generator."""


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
    end_tokens = model.generation_config.eos_token_id
    return {
        tokenizer.eos_token_id,
        *(end_tokens if isinstance(end_tokens, list) else [end_tokens]),
    } - {None}


def is_short(error: BaseException | None, torch: Any) -> bool:
    """Whether an error means a lack of memory."""
    kinds = (MemoryError, torch.OutOfMemoryError)
    return isinstance(error, kinds) or any(words in str(error) for words in SHORT)


@contextmanager
def drawing(device: Any, seed: int | None, torch: Any) -> Iterator[None]:
    """The device's random generator, for a caller alone, from a seed on if there is one. The models
    of a device share it. Those of other GPUs may be in use and are not seeded."""
    with _GENERATORS.setdefault(str(device), threading.Lock()):
        if seed is not None and device.type == "cuda":
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)
        elif seed is not None:
            torch.manual_seed(seed)
        yield


class ScoreCheck:
    """Detects scores that are NaN. The likeliest token would then always be the vocabulary's
    first."""

    lacking: Any = False
    """Whether a score was NaN; a tensor on the device after the first step."""

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        self.lacking = scores.isnan().any() | self.lacking  # on the device, without a wait
        return scores

    def check(self, name: str, dtype: Any) -> None:
        """Refuse a reply that was made of such scores.

        Raises:
            Rejected: there were some.
        """
        if self.lacking:
            raise Rejected(
                f"{name}: the model's scores are NaN, so its reply would be meaningless. Its "
                f"values may exceed {dtype}. Set another `dtype` in the profile's `extra`."
            )
