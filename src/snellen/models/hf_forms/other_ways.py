"""Messages about models with their own code: what they are refused for, and what runs them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from snellen.errors import UsageError
from snellen.models.hf_checkpoint import Checkpoint

FILE = Path(__file__).with_name("other_ways.toml")


class NotLoaded(UsageError):
    """Transformers or a model's own code raised an exception while the model was loaded."""


class OtherWays(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What else runs a model of an architecture."""

    vllm: bool = False
    """Whether vLLM runs it, here or as a server."""
    overrides: str | None = None
    """The architecture that vLLM must be given in `hf_overrides`; None if config.json has it."""
    vlmevalkit: str | None = None
    """The name of its class in VLMEvalKit; None if there is none."""
    converted: str | None = None
    """The maker's checkpoints that need no code of their own; None if there are none."""


@cache
def other_ways() -> dict[str, OtherWays]:
    """The other ways, by architecture."""
    content = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return msgspec.convert(content, dict[str, OtherWays])


def untrusted(checkpoint: Checkpoint) -> UsageError:
    """The error about a model whose code may not run."""
    ways = other_ways().get(checkpoint.architecture)
    converted = ways and ways.converted
    hint = f" Without it, use {converted}, which need no code of their own." if converted else ""
    return UsageError(
        f"{checkpoint.spec}: the model needs its own code, {checkpoint.reference} in its files, "
        "which runs only with --trust-remote-code. Read the code, and add the flag if you trust "
        f"it.{hint}"
    )


def unknown(checkpoint: Checkpoint, why: str) -> UsageError:
    """The error about a model that no form can ask."""
    return UsageError(
        f"{checkpoint.spec}: Snellen knows no general way to ask {checkpoint.reference}: "
        f"{why.rstrip('.')}.{_versions(checkpoint)} {alternatives(checkpoint)}"
    )


def alternatives(checkpoint: Checkpoint) -> str:
    """A sentence about what else runs the model. Its user has set --trust-remote-code."""
    ways = other_ways().get(checkpoint.architecture)
    if ways is None:
        return (
            f"`-m vllm/{checkpoint.name}` or a server (`--serve`) may run it, or a class of your "
            "own (`-m vlmevalkit:FILE:CLASS`, `-m python:FILE:NAME`)."
        )
    return f"It runs with {'; '.join(_ways(checkpoint, ways))}."


def _ways(checkpoint: Checkpoint, ways: OtherWays) -> Iterator[str]:
    if ways.vllm:
        more = (
            f' with hf_overrides = {{ architectures = ["{ways.overrides}"] }} in the profile\'s '
            "[extra]"
            if ways.overrides
            else f", or `-m openai/{checkpoint.name} --serve vllm`"
        )
        yield f"`-m vllm/{checkpoint.name}`{more}"
    if ways.vlmevalkit:
        yield (
            f"VLMEvalKit's class, `-m vlmevalkit:vlmeval.vlm:{ways.vlmevalkit}` with model_path = "
            f'"{checkpoint.name}" in the profile\'s [extra]'
        )
    if ways.converted:
        yield f"the maker's converted checkpoints, {ways.converted}"


def advice(checkpoint: Checkpoint) -> str:
    """What to add to the error about a model that cannot be loaded."""
    if checkpoint.reference is None:
        return ""
    return f"{_versions(checkpoint)} {alternatives(checkpoint)}"


def _versions(checkpoint: Checkpoint) -> str:
    import transformers

    mine: Any = transformers.__version__
    if checkpoint.written_for in (None, mine):
        return ""
    return (
        f" (Its own code was written for transformers {checkpoint.written_for}, and {mine} is "
        "installed.)"
    )
