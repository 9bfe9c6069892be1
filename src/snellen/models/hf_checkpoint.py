"""What the files of a transformers checkpoint say about it. Reading them runs none of its code.

`config.json` names a model's own classes in `auto_map`: `AutoModel`, for example, is
`modeling_internvl_chat.InternVLChatModel`, the class of that name in that file of the folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snellen.errors import UsageError

USUAL = "AutoModelForImageTextToText"
"""The class of transformers that loads the models which it has itself."""
AUTO_CLASSES = (USUAL, "AutoModelForCausalLM", "AutoModel")
"""Classes of transformers that can load a model's own class, in the order in which they are tried.
Older versions had `AutoModelForVision2Seq`, too."""
PROCESSOR_FILES = ("processor_config.json", "preprocessor_config.json", "tokenizer_config.json")
"""Files that can name a processor, besides config.json."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A folder, or a repository on the hub, and what its files say."""

    spec: str
    """The name of the model in messages: `hf/NAME`."""
    name: str
    """The folder, or the name on the hub."""
    options: Mapping[str, Any]
    """Arguments of `from_pretrained`: `trust_remote_code`, and the `revision` on the hub."""
    config: Mapping[str, Any]
    """The content of config.json; empty if there is none."""
    auto_class: str
    """The class of transformers that loads the model."""
    reference: str | None
    """The model's own class, `FILE.CLASS`; None if transformers has its class."""
    has_processor: bool
    """Whether its files name a processor, which prepares text and pictures together."""

    @property
    def trusted(self) -> bool:
        """Whether its own code may run."""
        return bool(self.options["trust_remote_code"])

    @property
    def architecture(self) -> str:
        """The name of its class: the first of `architectures`, or of `auto_map`."""
        names = self.config.get("architectures")
        if isinstance(names, list) and names and isinstance(names[0], str):
            return names[0]
        return (self.reference or "").rpartition(".")[2]

    @property
    def written_for(self) -> str | None:
        """The version of transformers that its files name; None if they name none."""
        version = self.config.get("transformers_version")
        return version if isinstance(version, str) else None

    def own_class(self) -> type:
        """The model's own class. This runs its code.

        Raises:
            ImportError: a package that its code imports is missing.
            Exception: whatever its code raises.
        """
        from transformers.dynamic_module_utils import get_class_from_dynamic_module

        assert self.reference is not None and self.trusted
        options = {name: value for name, value in self.options.items() if name == "revision"}
        own: type = get_class_from_dynamic_module(self.reference, self.name, **options)
        return own


def read_checkpoint(spec: str, name: str, options: Mapping[str, Any]) -> Checkpoint:
    """Read a checkpoint's files.

    Args:
        spec: The name of the model in messages.
        name: The folder, or the name on the hub.
        options: Arguments of `from_pretrained`.

    Raises:
        UsageError: a file is not valid JSON, or names its classes in another way than transformers
            does.
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
    """The class of transformers that loads the model, and the model's own class, if it has one."""
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES as known,
    )

    if USUAL not in own and config.get("model_type") in known:
        return USUAL, None
    return next(((name, own[name]) for name in AUTO_CLASSES if name in own), (USUAL, None))


def _auto_map(spec: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The own classes that a file names, by the classes of transformers that load them."""
    own = content.get("auto_map")
    if own is None:
        return {}
    if not isinstance(own, dict):
        raise UsageError(f"{spec}: `auto_map` in its files is {own!r:.80}, not an object.")
    for name in set(own).intersection(AUTO_CLASSES):
        # A class of another repository is REPOSITORY--FILE.CLASS.
        reference = own[name]
        if not isinstance(reference, str) or reference.rpartition("--")[2].count(".") != 1:
            raise UsageError(
                f"{spec}: `auto_map` in its config.json names {reference!r:.80} for {name}, and "
                "not FILE.CLASS."
            )
    return own


def _json(spec: str, name: str, file: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The content of a JSON file; empty if there is no such file."""
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
        raise UsageError(f"{spec}: {file} holds no JSON object.")
    return content
