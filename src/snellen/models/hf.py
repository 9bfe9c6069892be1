"""Runs models that transformers loads from a local folder or from the Hugging Face hub. The models
generate replies, and most of them also rank choices by log-probability. Most models are loaded by
AutoModelForImageTextToText and AutoProcessor. `hf_forms` also supports some models that bring their
own code, to which not all of the following applies.

Prompts are padded on the left and end with the generation prompt of the chat template. Each row of
a batch ends at its own end token, limit, or stop string, independently of the other rows. The text
is decoded without special tokens. The model's thinking remains part of the text.

If the temperature is None, the model's own generation_config.json applies. If the temperature is 0,
decoding is greedy. Beam search is never used. Other settings have transformers' defaults, for
example sampling from the 50 most likely tokens. All rows of a batch share one random generator. A
request that is sampled with a seed therefore gets its own batch, so that the same request always
gets the same reply.

The log-probability of a choice is the sum of its tokens' log-probabilities after the prompt. The
choice is tokenized separately from the prompt, exactly as it is written (a leading space counts).
No end token is added.

If the processor supports videos, a video is sent as a video, with the times of its frames. If the
processor does not, one image per frame is sent.

For the fields of a profile's `extra`, see `HfSettings`.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from snellen.core.profile import Profile
from snellen.errors import UsageError
from snellen.models.hf_checkpoint import Checkpoint, read_checkpoint
from snellen.models.hf_common import libraries
from snellen.models.hf_coordinates import check_coordinates
from snellen.models.hf_forms import form_of
from snellen.models.hf_forms.form import LoadedForm, Loading
from snellen.models.hf_forms.other_ways import NotLoaded, advice
from snellen.models.hf_forms.processor import described, for_replies
from snellen.models.hf_prompts import HfPrompts
from snellen.models.hf_replica import HfReplica
from snellen.models.hf_settings import HfSettings
from snellen.models.user_code import errors_as
from snellen.models.weights import digest

PREPARED = 3
"""The maximum number of batches that are prepared while the model answers another batch. On a
machine with few CPU cores, fewer batches are prepared."""


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Hf:
    """Load the model in the folder `name`, or the model with that name on the hub (in the profile's
    `revision`).

    Raises:
        UsageError: torch or transformers is missing, the model cannot be loaded or does not support
            chat, `extra` has an unknown field, or the profile's coordinates contradict the
            processor.
    """
    spec = f"hf/{name}"
    settings = _settings(spec, profile)
    torch, transformers = libraries(spec)
    devices = _devices(spec, settings, torch)
    checkpoint = read_checkpoint(spec, name, _options(spec, name, profile))
    loaded = _load(checkpoint, settings, devices, torch, transformers)
    check_coordinates(spec, profile.coordinates, loaded.shown_size)
    model = loaded.replicas[0].model
    weights = digest(Path(name)) if Path(name).is_dir() else model.config._commit_hash or ""
    return _described(spec, loaded, settings, weights)


def in_training(name: str, model: Any, processor: Any, weights: str, settings: HfSettings) -> Hf:
    """Wrap a model that is already loaded and is being trained. The model generates in evaluation
    mode, without gradients, and without inference tensors, which autograd could not use.

    Args:
        name: The model's name in results.
        model: A transformers model, on its device.
        processor: The model's processor, which is copied.
        weights: A text that identifies the weights, such as a step and a digest.
        settings: The same settings as for `hf/` models, but `dtype`, `device`, `replicas`, and
            `attention` have no effect.

    Raises:
        UsageError: torch or transformers is missing, or the processor does not support a chat with
            a picture.
    """
    torch, library = libraries(name)
    processor = for_replies(copy.deepcopy(processor))
    prompts = HfPrompts(name, processor, settings)
    prompts.check()
    replica = HfReplica(name, prompts, model, settings, torch, library, torch.no_grad)
    loaded = LoadedForm(
        replicas=[replica], described=described(processor), batch_size=settings.batch_size
    )
    return _described(name, loaded, settings, weights)


def _described(name: str, loaded: LoadedForm, settings: HfSettings, weights: str) -> Hf:
    torch, transformers = libraries(name)
    models = [replica.model for replica in loaded.replicas]
    first = models[0]
    facts = {
        "transformers": transformers.__version__,
        "dtype": str(first.dtype).removeprefix("torch."),
        "attention": first.config._attn_implementation,
        **loaded.described,
    }
    return Hf(
        name=name,
        revision=" ".join(filter(None, (*_versioned(facts), weights))),
        runs_on={
            **facts,
            "torch": torch.__version__,
            "devices": [_called(str(model.device), torch) for model in models],
            "sampling": _sampling(first),
        },
        replicas=loaded.replicas,
        batches={
            "most": loaded.batch_size,
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
    replicas: Sequence[Any]
    """The copies of the model, one copy for each device."""
    batches: Mapping[str, int]
    """The arguments of `Batching`."""
    speed = ("device", "replicas", "batch_size", "batch_tokens")

    @property
    def concurrency(self) -> int:
        """The number of concurrent requests. The number is large enough to leave requests in the
        queue from which the next batches are chosen."""
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
    """Return the device of each replica."""
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


def _options(spec: str, name: str, profile: Profile) -> Mapping[str, Any]:
    """Return the arguments of `from_pretrained` that select the checkpoint's files.

    Raises:
        UsageError: `name` is the path of a folder that does not exist.
    """
    options: dict[str, Any] = {"trust_remote_code": profile.trust_remote_code}
    if not Path(name).is_dir():
        if name.startswith((".", "/", "~")) or name.count("/") > 1:
            # Names on the hub do not have this form.
            raise UsageError(f"{spec}: there is no folder {name}.")
        options["revision"] = profile.revision or "main"
    return options


def _load(
    checkpoint: Checkpoint, settings: HfSettings, devices: Sequence[str], torch: Any, library: Any
) -> LoadedForm:
    """Choose the form of the model, and load a copy of the model on each device.

    Raises:
        UsageError: the model cannot be loaded. The message states the reason.
    """
    spec = checkpoint.spec
    if settings.image_processor == "torchvision" and not library.utils.is_torchvision_available():
        # transformers would silently use PIL instead.
        raise UsageError(
            f"{spec}: image_processor is 'torchvision', but torchvision is not installed. Install "
            "the version that matches torch, or remove the setting."
        )
    loading = Loading(
        checkpoint=checkpoint, settings=settings, devices=devices, torch=torch, library=library
    )
    what = f"{spec}: it cannot be loaded"
    try:
        with errors_as(NotLoaded, what, None, but=(UsageError, ImportError)):
            return form_of(checkpoint).load(loading)
    except ImportError as error:
        raise UsageError(
            f"{spec}: a package that the model needs is missing or cannot be imported: "
            f"{' '.join(str(error).split())} (Many video models need torchvision, in the version "
            "that matches torch.)"
        ) from error
    except NotLoaded as error:
        raise UsageError(f"{error}{advice(checkpoint)}") from error.__cause__


def _versioned(described: Mapping[str, str]) -> Sequence[str]:
    version, *rest = described.values()
    return [f"transformers {version}", *rest]


def _called(device: str, torch: Any) -> str:
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else device


def _sampling(model: Any) -> dict[str, Any]:
    """Return the model's default generation settings. A model with its own code may have no such
    settings."""
    config = getattr(model, "generation_config", None)
    settings = {} if config is None else config.to_diff_dict()
    return {name: value for name, value in settings.items() if isinstance(value, (int, float, str))}
