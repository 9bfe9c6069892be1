"""The interface of forms: ways to ask a model that transformers loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from snellen.errors import UsageError
from snellen.models.hf_checkpoint import Checkpoint
from snellen.models.hf_settings import HfSettings


@dataclass(frozen=True, kw_only=True)
class Loading:
    """What a form needs to load a model."""

    checkpoint: Checkpoint
    """The checkpoint."""
    settings: HfSettings
    """The profile's settings."""
    devices: Sequence[str]
    """The device of each copy of the model."""
    torch: Any
    """The package torch."""
    library: Any
    """The package transformers."""


@dataclass(frozen=True, kw_only=True)
class LoadedForm:
    """A loaded model, and the way to ask it."""

    replicas: Sequence[Any]
    """The model on each device: `models.batch.Prepares`, with the model itself as `model`."""
    described: Mapping[str, str]
    """What prepares its prompts, for the revision and the manifest."""
    batch_size: int
    """The most requests per batch."""


class Form(Protocol):
    """A way to ask a model."""

    title: str
    """How it is asked, for messages: `chat(tokenizer, pixel_values, question, …)`."""

    def fits(self, checkpoint: Checkpoint, own_class: type) -> bool:
        """Whether a model's own class can be asked in this way. Weights are not loaded yet."""
        ...

    def load(self, loading: Loading) -> LoadedForm:
        """Load the model.

        Raises:
            UsageError: a setting has no effect on this form, or the model does not accept it.
            Exception: whatever transformers or the model's own code raises.
        """
        ...


def load_models(loading: Loading) -> list[Any]:
    """A copy of the model on each device. Weights are read from safetensors only, since reading
    other formats runs code.

    Raises:
        ValueError: it is an encoder-decoder model.
    """
    checkpoint, settings = loading.checkpoint, loading.settings
    from_pretrained, options = _loader(loading)
    models = []
    for device in loading.devices:
        model = from_pretrained(
            checkpoint.name,
            dtype=settings.dtype,
            attn_implementation=settings.attention,
            use_safetensors=True,
            **options,
        )
        if model.config.is_encoder_decoder:
            raise ValueError(
                "it is an encoder-decoder model, and only decoder models are supported"
            )
        models.append(model.eval().to(device))
    return models


def _loader(loading: Loading) -> tuple[Callable[..., Any], Mapping[str, Any]]:
    """The function that loads the model, and arguments of it.

    A checkpoint's own model class is called directly, not through transformers' auto class. The
    auto class would reuse a model class that it loaded earlier for the same configuration class,
    and would use it without `generate`, which transformers has to add to classes written for
    versions before 4.50.
    """
    checkpoint, library = loading.checkpoint, loading.library
    if checkpoint.reference is None:
        return getattr(library, checkpoint.auto_class).from_pretrained, checkpoint.options
    from transformers.models.auto.auto_factory import add_generation_mixin_to_remote_model

    own_class = add_generation_mixin_to_remote_model(checkpoint.own_class())
    config = library.AutoConfig.from_pretrained(checkpoint.name, **checkpoint.options)
    return own_class.from_pretrained, {**checkpoint.options, "config": config}


def refuse_settings(loading: Loading, title: str, *names: str) -> None:
    """Refuse settings that have no effect on a form.

    Raises:
        UsageError: the profile has one of them.
    """
    defaults = HfSettings()
    ineffective = [
        name for name in names if getattr(loading.settings, name) != getattr(defaults, name)
    ]
    if ineffective:
        raise UsageError(
            f"{loading.checkpoint.spec}: {', '.join(f'`{name}`' for name in ineffective)} in the "
            f"profile's `extra` has no effect on a model that is asked by {title}. Remove it."
        )
