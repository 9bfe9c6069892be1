"""Reads the JSON files of a transformers checkpoint, without running the checkpoint's own code.

The field `auto_map` in `config.json` maps auto classes of transformers to classes in the
checkpoint's own code. For example, if `auto_map` contains `"AutoModel":
"modeling_internvl_chat.InternVLChatModel"`, then `AutoModel` loads the class `InternVLChatModel`
from the checkpoint's file `modeling_internvl_chat.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snellen.errors import UsageError

USUAL = "AutoModelForImageTextToText"
"""The auto class that loads models whose code is part of transformers."""
AUTO_CLASSES = (USUAL, "AutoModelForCausalLM", "AutoModel")
"""The auto classes that can load a model's own class, in order of preference. Older versions of
transformers also had `AutoModelForVision2Seq`."""
PROCESSOR_FILES = ("processor_config.json", "preprocessor_config.json", "tokenizer_config.json")
"""Files other than config.json that can name a processor."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A checkpoint in a folder or on the Hugging Face hub, and the content of its files."""

    spec: str
    """The model's name in messages, such as `hf/NAME`."""
    name: str
    """The path of the checkpoint's folder, or its name on the hub."""
    options: Mapping[str, Any]
    """Arguments for `from_pretrained`: `trust_remote_code`, and `revision` for a checkpoint on the
    hub."""
    config: Mapping[str, Any]
    """The content of config.json; empty if the file does not exist."""
    auto_class: str
    """The auto class that loads the model."""
    reference: str | None
    """The model's own class, as `FILE.CLASS`; None if the model's class is part of transformers."""
    has_processor: bool
    """Whether the files name a processor, which prepares text and pictures together."""

    @property
    def trusted(self) -> bool:
        """Whether the checkpoint's own code may run."""
        return bool(self.options["trust_remote_code"])

    @property
    def architecture(self) -> str:
        """The name of the model's class: the first entry of `architectures` in config.json, or
        otherwise the class in `auto_map`."""
        names = self.config.get("architectures")
        if isinstance(names, list) and names and isinstance(names[0], str):
            return names[0]
        return (self.reference or "").rpartition(".")[2]

    @property
    def written_for(self) -> str | None:
        """The version of transformers in config.json; None if config.json contains no version."""
        version = self.config.get("transformers_version")
        return version if isinstance(version, str) else None

    def own_class(self) -> type:
        """Import the model's own class, which runs the checkpoint's code.

        Raises:
            ImportError: a package that the code imports is missing.
            Exception: any exception that the code raises.
        """
        from transformers.dynamic_module_utils import get_class_from_dynamic_module

        assert self.reference is not None and self.trusted
        options = {name: value for name, value in self.options.items() if name == "revision"}
        own: type = get_class_from_dynamic_module(self.reference, self.name, **options)
        return own


def read_checkpoint(spec: str, name: str, options: Mapping[str, Any]) -> Checkpoint:
    """Read a checkpoint's files.

    Args:
        spec: The model's name in messages.
        name: The path of the checkpoint's folder, or its name on the hub.
        options: Arguments for `from_pretrained`.

    Raises:
        UsageError: a file does not contain a valid JSON object, or has a malformed `auto_map`.
    """
    config = _json(spec, name, "config.json", options)
    own = _auto_map(spec, config)
    auto_class, reference = _model_class(config, own)
    files = [config, *(_json(spec, name, file, options) for file in PROCESSOR_FILES)]
    return Checkpoint(
        spec=spec,
        name=name,
        options=options,
        config=config,
        auto_class=auto_class,
        reference=reference,
        has_processor=any(
            "processor_class" in content or "AutoProcessor" in _auto_map(spec, content)
            for content in files
        ),
    )


def _model_class(config: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the auto class that loads the model, and the model's own class, if it has one."""
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES as known,
    )

    model_type = config.get("model_type")
    if USUAL not in own and isinstance(model_type, str) and model_type in known:
        return USUAL, None
    return next(((name, own[name]) for name in AUTO_CLASSES if name in own), (USUAL, None))


def _auto_map(spec: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the `auto_map` of a file, or an empty mapping if the file has none. An `auto_map` maps
    auto classes of transformers to the model's own classes.

    Raises:
        UsageError: the `auto_map` is malformed.
    """
    own = content.get("auto_map")
    if own is None:
        return {}
    if not isinstance(own, dict):
        raise UsageError(f"{spec}: `auto_map` in its files is {own!r:.80}, not an object.")
    for name in set(own).intersection(AUTO_CLASSES):
        # A class in another repository is written REPOSITORY--FILE.CLASS.
        reference = own[name]
        if not isinstance(reference, str) or reference.rpartition("--")[2].count(".") != 1:
            raise UsageError(
                f"{spec}: `auto_map` in its files has {reference!r:.80} for {name}, which does not "
                "have the form FILE.CLASS."
            )
    return own


def _json(spec: str, name: str, file: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the content of a JSON file, or an empty mapping if the file does not exist."""
    path = Path(name) / file
    if not Path(name).is_dir():
        from transformers.utils import cached_file

        try:
            path = Path(cached_file(name, file, revision=options.get("revision")))
        except OSError:
            return {}
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{spec}: {file} cannot be read as JSON: {error}.") from error
    if not isinstance(content, dict):
        raise UsageError(f"{spec}: {file} does not contain a JSON object.")
    return content
