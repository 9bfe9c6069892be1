"""Models with a processor whose chat template supports pictures. The class of such a model is part
of transformers, or belongs to the maker's own code, as with Kimi-VL. `AutoProcessor` loads the
processor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snellen.errors import UsageError
from snellen.models.hf_checkpoint import Checkpoint
from snellen.models.hf_forms.form import LoadedForm, Loading, load_models, refuse_settings
from snellen.models.hf_forms.other_ways import unknown
from snellen.models.hf_prompts import HfPrompts
from snellen.models.hf_replica import HfReplica


class ProcessorForm:
    """Prompts from a processor's chat template, and replies from `generate`."""

    title = "the chat template of its processor"

    def fits(self, checkpoint: Checkpoint, own_class: type) -> bool:
        return checkpoint.has_processor and can_generate(own_class)

    def load(self, loading: Loading) -> LoadedForm:
        checkpoint, settings = loading.checkpoint, loading.settings
        refuse_settings(loading, self.title, "chat", "tiles")
        processor = _processor(loading)
        prompts = HfPrompts(checkpoint.spec, processor, settings)
        try:
            prompts.check()
        except UsageError as error:
            if checkpoint.reference is None:
                raise
            reason = str(error.__cause__ or error).removeprefix(f"{checkpoint.spec}: ")
            raise unknown(checkpoint, reason) from error
        torch, library = loading.torch, loading.library
        return LoadedForm(
            replicas=[
                HfReplica(
                    checkpoint.spec, prompts, model, settings, torch, library, torch.inference_mode
                )
                for model in load_models(loading)
            ],
            described=described(processor),
            batch_size=settings.batch_size,
            shown_size=prompts.shown_size,
        )


def can_generate(own_class: type) -> bool:
    """Return whether transformers' `generate` works with a class. Classes that were written for
    versions before 4.45 may have only `prepare_inputs_for_generation`, and transformers adds
    `generate` to them."""
    names = ("generate", "prepare_inputs_for_generation")
    return any(callable(getattr(own_class, name, None)) for name in names)


def described(processor: Any) -> Mapping[str, str]:
    """Describe a processor by the name of its image processor, for the revision and the
    manifest."""
    return {"image_processor": type(processor.image_processor).__name__}


def for_replies(processor: Any) -> Any:
    """Set up the processor to pad batches for generation, and return the processor."""
    # With padding on the right, prompts would end in the middle of their rows.
    processor.tokenizer.padding_side = "left"
    if processor.tokenizer.pad_token is None:
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    return processor


def _processor(loading: Loading) -> Any:
    checkpoint, library = loading.checkpoint, loading.library
    name, backend = checkpoint.name, loading.settings.image_processor
    processor = library.AutoProcessor.from_pretrained(name, **checkpoint.options)
    if backend is not None:
        processor.image_processor = library.AutoImageProcessor.from_pretrained(
            name, backend=backend, **checkpoint.options
        )
    return for_replies(processor)
