"""Runs models that transformers loads with AutoModelForImageTextToText and AutoProcessor, from a
local folder or from the hub. They generate replies and rank choices by log-probability.

Prompts are padded on the left and end with the generation prompt of the chat template. Each row
ends at its own end token, limit, or stop string, independently of the other rows in the batch. The
text is decoded without special tokens. The model's thinking remains part of the text.

If the temperature is None, the model's own generation_config.json applies. If it is 0, decoding is
greedy. Beam search is never used. Other settings have the defaults of transformers, for example
sampling from the 50 most likely tokens. A request that is sampled with a seed gets a batch of its
own, since all rows of a batch share one random generator. A repeated request therefore gets the
same reply.

The log-probability of a choice is the sum over its tokens, which follow the prompt. The choice is
tokenized separately from the prompt, exactly as it is written (a leading space counts). No end
token is added.

If the processor supports videos, a video is sent as a video, with the times of its frames.
Otherwise it is sent as one image per frame.

A profile's `extra` can contain the fields of `HfSettings`.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from snellen.core.profile import Profile
from snellen.errors import UsageError
from snellen.models.hf_common import BROKEN, libraries
from snellen.models.hf_prompts import HfPrompts
from snellen.models.hf_replica import HfReplica
from snellen.models.hf_settings import HfSettings
from snellen.models.weights import digest

PREPARED = 3
"""The maximum number of batches that are prepared while the model answers another batch. On a
machine with few CPU cores, fewer batches are prepared."""


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Hf:
    """Load the model in the folder `name`, or the model with that name on the hub (in the profile's
    `revision`).

    Raises:
        UsageError: torch or transformers is missing, the model cannot be loaded or does not support
            chat, or `extra` has an unknown field.
    """
    spec = f"hf/{name}"
    settings = _settings(spec, profile)
    torch, transformers = libraries(spec)
    devices = _devices(spec, settings, torch)
    processor, models = _load(spec, profile, settings, devices, transformers)
    where = Path(name)
    weights = digest(where) if where.is_dir() else models[0].config._commit_hash or ""
    return _described(spec, processor, models, settings, weights, torch.inference_mode)


def in_training(name: str, model: Any, processor: Any, weights: str, settings: HfSettings) -> Hf:
    """Wrap a model that is already loaded and is being trained. It generates in evaluation mode and
    without gradients. It leaves no inference tensors behind, since autograd cannot use them.

    Args:
        name: The model's name in results.
        model: A transformers model, on its device.
        processor: Its processor, which is copied.
        weights: A text that identifies the weights, such as a step and a digest.
        settings: The same settings as for `hf/` models, but `dtype`, `device`, `replicas`, and
            `attention` have no effect.

    Raises:
        UsageError: torch or transformers is missing, or the processor does not support a chat with
            a picture.
    """
    torch, _ = libraries(name)
    processor = _for_replies(copy.deepcopy(processor))
    return _described(name, processor, [model], settings, weights, torch.no_grad)


def _described(
    name: str,
    processor: Any,
    models: Sequence[Any],
    settings: HfSettings,
    weights: str,
    no_gradients: Callable[[], Any],
) -> Hf:
    torch, transformers = libraries(name)
    prompts = HfPrompts(name, processor, settings)
    prompts.check()
    replicas = [
        HfReplica(name, prompts, model, settings, torch, transformers, no_gradients)
        for model in models
    ]
    first = models[0]
    described = {
        "transformers": transformers.__version__,
        "dtype": str(first.dtype).removeprefix("torch."),
        "attention": first.config._attn_implementation,
        "image_processor": type(processor.image_processor).__name__,
    }
    return Hf(
        name=name,
        revision=" ".join(filter(None, (*_versioned(described), weights))),
        runs_on={
            **described,
            "torch": torch.__version__,
            "devices": [_called(str(model.device), torch) for model in models],
            "sampling": _plain(first.generation_config.to_diff_dict()),
        },
        replicas=replicas,
        batches={
            "most": settings.batch_size,
            "budget": settings.batch_tokens,
            "ahead": max(1, min(PREPARED, (os.cpu_count() or 1) - 1)),
        },
    )


@dataclass(frozen=True, kw_only=True)
class Hf:
    """A loaded model."""

    name: str
    """The name of the model."""
    revision: str
    """A text that identifies the software, the settings, and the weights."""
    runs_on: Mapping[str, Any]
    """The software and the devices that the model runs on."""
    replicas: Sequence[HfReplica]
    """The copies of the model, one for each device."""
    batches: Mapping[str, int]
    """The settings of batches, which are arguments of `Batching`."""
    speed = ("device", "replicas", "batch_size", "batch_tokens")

    @property
    def concurrency(self) -> int:
        """The number of concurrent requests. It is large enough that the next batches can be chosen
        from a queue."""
        return self.batches["most"] * (len(self.replicas) + self.batches["ahead"] + 1)


def _settings(spec: str, profile: Profile) -> HfSettings:
    try:
        return msgspec.convert(profile.extra, HfSettings)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"{spec}: the profile's `extra` is invalid: {error}. It can have the fields "
            f"{', '.join(HfSettings.__struct_fields__)}."
        ) from error


def _devices(spec: str, settings: HfSettings, torch: Any) -> Sequence[str]:
    """The device of each replica."""
    device = settings.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.device(device)
    except RuntimeError as error:
        raise UsageError(f"{spec}: there is no device {device!r}: {error}") from error
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UsageError(f"{spec}: device is {device!r}, but torch finds no GPU on this machine.")
    if device != "cuda" or settings.replicas == 1:
        return [device] * settings.replicas
    if (there := torch.cuda.device_count()) < settings.replicas:
        raise UsageError(f"{spec}: replicas is {settings.replicas}, but there are {there} GPUs.")
    return [f"cuda:{number}" for number in range(settings.replicas)]


def _load(
    spec: str, profile: Profile, settings: HfSettings, devices: Sequence[str], library: Any
) -> tuple[Any, Sequence[Any]]:
    """Load the processor, and a copy of the model on each device.

    Raises:
        UsageError: the processor or the model cannot be loaded. The message says why.
    """
    from safetensors import SafetensorError

    if settings.image_processor == "torchvision" and not library.utils.is_torchvision_available():
        # transformers would silently use PIL instead.
        raise UsageError(
            f"{spec}: image_processor is 'torchvision', but torchvision is not installed. Install "
            "the version that matches torch, or remove the setting."
        )
    name = spec.removeprefix("hf/")
    options: dict[str, Any] = {"trust_remote_code": profile.trust_remote_code}
    if not Path(name).is_dir():
        if name.startswith((".", "/", "~")) or name.count("/") > 1:
            # Names on the hub do not have this form.
            raise UsageError(f"{spec}: there is no folder {name}.")
        options["revision"] = profile.revision or "main"
    try:
        processor = _load_processor(name, settings, options, library)
        return processor, [_load_model(name, settings, options, library).to(d) for d in devices]
    except ImportError as error:
        raise UsageError(
            f"{spec}: a package that the model needs is missing or cannot be imported: "
            f"{' '.join(str(error).split())} (Many video models need torchvision, in the version "
            "that matches torch.)"
        ) from error
    except (OSError, SafetensorError, *BROKEN) as error:
        raise UsageError(
            f"{spec}: it cannot be loaded: {error} (A model with its own code needs "
            "--trust-remote-code.)"
        ) from error


def _load_processor(
    name: str, settings: HfSettings, options: Mapping[str, Any], library: Any
) -> Any:
    processor = library.AutoProcessor.from_pretrained(name, **options)
    if settings.image_processor is not None:
        processor.image_processor = library.AutoImageProcessor.from_pretrained(
            name, backend=settings.image_processor, **options
        )
    return _for_replies(processor)


def _for_replies(processor: Any) -> Any:
    """Change a processor so that it pads batches for generation."""
    # With padding on the right, prompts would be followed by padding instead of the reply.
    processor.tokenizer.padding_side = "left"
    if processor.tokenizer.pad_token is None:
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    return processor


def _load_model(name: str, settings: HfSettings, options: Mapping[str, Any], library: Any) -> Any:
    model = library.AutoModelForImageTextToText.from_pretrained(
        name,
        dtype=settings.dtype,
        attn_implementation=settings.attention,
        use_safetensors=True,  # reading other formats runs code
        **options,
    )
    if model.config.is_encoder_decoder:
        raise ValueError("it is an encoder-decoder model, but only decoder models are supported")
    return model.eval()


def _versioned(described: Mapping[str, str]) -> Sequence[str]:
    version, *rest = described.values()
    return [f"transformers {version}", *rest]


def _called(device: str, torch: Any) -> str:
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else device


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if isinstance(value, (int, float, str))}
