"""Code that the back ends for transformers share."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from snellen.errors import Rejected, UsageError, install

BROKEN = (ValueError, TypeError, LookupError, RuntimeError, AttributeError, AssertionError)
"""Exceptions that processors and models raise for invalid inputs."""
MAX_TOKENS = 1024
"""The default token limit of a reply."""
SHORT = ("out of memory", "ALLOC_FAILED", "can't allocate memory", "not enough memory")
"""Phrases in error messages that show that memory ran out. These phrases identify errors that are
not an OutOfMemoryError, such as errors from CUDA, CUDA's libraries, and the CPU allocator."""
_GENERATORS: dict[str, threading.Lock] = {}
"""One lock for each device, because all models on a device share the device's random generator."""


def libraries(model: str) -> tuple[ModuleType, ModuleType]:
    """Import torch and transformers.

    Raises:
        UsageError: torch or transformers is missing.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        raise UsageError(f"{model} needs the extra `hf`: {install('hf')} ({error}).") from error
    return torch, transformers


def stop_tokens(model: Any, tokenizer: Any) -> set[int]:
    """Return the ids of the tokens that end a reply, according to the model and its tokenizer."""
    end_tokens = model.generation_config.eos_token_id
    return {
        tokenizer.eos_token_id,
        *(end_tokens if isinstance(end_tokens, list) else [end_tokens]),
    } - {None}


def is_short(error: BaseException | None, torch: Any) -> bool:
    """Return whether an error means that memory ran out."""
    kinds = (MemoryError, torch.OutOfMemoryError)
    return isinstance(error, kinds) or any(words in str(error) for words in SHORT)


@contextmanager
def drawing(device: Any, seed: int | None, torch: Any) -> Iterator[None]:
    """Reserve a device's random generator for the caller, and seed the generator if there is a
    seed. The generators of other devices may be in use, so they are not seeded."""
    with _GENERATORS.setdefault(str(device), threading.Lock()):
        if seed is not None and device.type == "cuda":
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)
        elif seed is not None:
            torch.manual_seed(seed)
        yield


class ScoreCheck:
    """Detects whether the model's scores are NaN. If the scores are NaN, the first token of the
    vocabulary always counts as the most likely token."""

    lacking: Any = False
    """Whether a score was NaN. After the first step, this is a tensor on the device."""

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        self.lacking = scores.isnan().any() | self.lacking  # stays on the device, so no wait
        return scores

    def check(self, name: str, dtype: Any) -> None:
        """Check that no score was NaN.

        Raises:
            Rejected: a score was NaN.
        """
        if self.lacking:
            raise Rejected(
                f"{name}: the model's scores are NaN, so its reply would be meaningless. Its "
                f"values may exceed the range of {dtype}. Set another `dtype` in the profile's "
                "`extra`."
            )
