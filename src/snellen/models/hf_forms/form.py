"""The interface of forms. A form is a way to load a model with transformers and to call the
model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from snellen.errors import UsageError
from snellen.media.content import Size
from snellen.models.hf_checkpoint import Checkpoint
from snellen.models.hf_settings import HfSettings


@dataclass(frozen=True, kw_only=True)
class Loading:
    """The arguments with which a form loads a model."""

    checkpoint: Checkpoint
    """The checkpoint."""
    settings: HfSettings
    """The profile's settings."""
    devices: Sequence[str]
    """The devices that the copies of the model run on, one for each copy."""
    torch: Any
    """The `torch` package."""
    library: Any
    """The `transformers` package."""


@dataclass(frozen=True, kw_only=True)
class LoadedForm:
    """A loaded model, with the objects that call it."""

    replicas: Sequence[Any]
    """One replica for each device. A replica implements `models.batch.Prepares`, and its attribute
    `model` is the transformers model."""
    described: Mapping[str, str]
    """A description of the software that prepares the model's prompts, for the revision and the
    manifest."""
    batch_size: int
    """The maximum number of requests per batch."""
    shown_size: Callable[[Size], Size | None] | None = None
    """Returns the width and height, in pixels, to which the processor resizes a picture, or None if
    the processor does not report sizes. None: the form has no such processor."""


class Form(Protocol):
    """A way to load and call a model."""

    title: str
    """A description of the form for messages, such as `chat(image, msgs, tokenizer)`."""

    def fits(self, checkpoint: Checkpoint, own_class: type) -> bool:
        """Return whether this form can call a model of the class `own_class`. This is called before
        the weights are loaded."""
        ...

    def load(self, loading: Loading) -> LoadedForm:
        """Load the model.

        Raises:
            UsageError: a setting has no effect in this form, or the model does not accept the
                setting.
            Exception: any exception that transformers or the model's own code raises.
        """
        ...


def load_models(loading: Loading) -> list[Any]:
    """Load a copy of the model on each device. Weights are read only from safetensors files, since
    reading other formats can run code.

    Raises:
        ValueError: the model is an encoder-decoder model.
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
    """Return the function that loads the model, and the function's keyword arguments.

    A model's own class is loaded directly, not through an auto class such as `AutoModel`. For each
    configuration class, an auto class remembers the first model class that it loaded, and uses that
    class for later checkpoints. The remembered class lacks the method `generate`, which
    transformers adds to classes that were written for versions before 4.50.
    """
    checkpoint, library = loading.checkpoint, loading.library
    if checkpoint.reference is None:
        return getattr(library, checkpoint.auto_class).from_pretrained, checkpoint.options
    from transformers.models.auto.auto_factory import add_generation_mixin_to_remote_model

    own_class = add_generation_mixin_to_remote_model(checkpoint.own_class())
    config = library.AutoConfig.from_pretrained(checkpoint.name, **checkpoint.options)
    return own_class.from_pretrained, {**checkpoint.options, "config": config}


def refuse_settings(loading: Loading, title: str, *names: str) -> None:
    """Check that the profile does not change the settings `names`, which have no effect in a form.
    `title` is the form's title.

    Raises:
        UsageError: the profile changes one of these settings.
    """
    defaults = HfSettings()
    ineffective = [
        name for name in names if getattr(loading.settings, name) != getattr(defaults, name)
    ]
    if ineffective:
        raise UsageError(
            f"{loading.checkpoint.spec}: {', '.join(f'`{name}`' for name in ineffective)} in the "
            f"profile's `extra`: no effect on a model that is called through {title}. Remove this."
        )
