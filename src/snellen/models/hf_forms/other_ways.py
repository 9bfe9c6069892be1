"""Error messages about models with their own code: why Snellen cannot run a model, and which other
software can."""

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
    """Other software that runs the models of an architecture."""

    vllm: bool = False
    """Whether vLLM runs these models, in this process or as a server."""
    overrides: str | None = None
    """The architecture to set in vLLM's `hf_overrides`; None if the architecture in config.json is
    right."""
    vlmevalkit: str | None = None
    """The name of the models' class in VLMEvalKit; None if there is no such class."""
    converted: str | None = None
    """The maker's converted checkpoints, which run without their own code; None if there are no
    such checkpoints."""


@cache
def other_ways() -> dict[str, OtherWays]:
    """Return the other ways to run models, by architecture."""
    content = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return msgspec.convert(content, dict[str, OtherWays])


def untrusted(checkpoint: Checkpoint) -> UsageError:
    """Return the error about a model whose own code is not trusted."""
    ways = other_ways().get(checkpoint.architecture)
    converted = ways and ways.converted
    hint = (
        f" Without the flag, use {converted}, which need no code of their own." if converted else ""
    )
    return UsageError(
        f"{checkpoint.spec}: the model needs its own code, {checkpoint.reference} in its files, "
        "which runs only with --trust-remote-code. Read the code, and add the flag if you trust "
        f"it.{hint}"
    )


def unknown(checkpoint: Checkpoint, why: str) -> UsageError:
    """Return the error about a model that no form can call."""
    return UsageError(
        f"{checkpoint.spec}: Snellen does not know how to call {checkpoint.reference}: "
        f"{why.rstrip('.')}.{_versions(checkpoint)} {alternatives(checkpoint)}"
    )


def alternatives(checkpoint: Checkpoint) -> str:
    """Return a sentence about other software that runs the model. The sentence does not mention
    --trust-remote-code, because the user has already set that flag."""
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
    """Return the text to add to the error about a model that cannot be loaded. For a model without
    its own code, the text is empty."""
    if checkpoint.reference is None:
        return ""
    return f"{_versions(checkpoint)} {alternatives(checkpoint)}"


def _versions(checkpoint: Checkpoint) -> str:
    import transformers

    mine: Any = transformers.__version__
    if checkpoint.written_for in (None, mine):
        return ""
    return (
        f" (Its own code was written for transformers {checkpoint.written_for}, but {mine} is "
        "installed.)"
    )
