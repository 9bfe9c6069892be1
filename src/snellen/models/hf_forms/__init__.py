"""Chooses how Snellen calls a model that transformers loads. Some models have a standard processor,
and others have a `chat` method in their own code. A form is one of these ways to call a model.

`FORMS` is the registry. To add a form, write a class with the methods of `form.Form` in a new file,
and add an instance to `FORMS`. The forms with a `chat` method come first, because a model can also
have a processor that only its own code calls. MiniCPM is an example.
"""

from __future__ import annotations

import inspect

from snellen.models.hf_checkpoint import Checkpoint
from snellen.models.hf_forms.form import Form
from snellen.models.hf_forms.messages_chat import MessagesChatForm
from snellen.models.hf_forms.other_ways import unknown, untrusted
from snellen.models.hf_forms.processor import ProcessorForm
from snellen.models.hf_forms.tiles_chat import TilesChatForm
from snellen.models.hf_forms.tokenizer_template import TokenizerForm

USUAL_FORM = ProcessorForm()
"""The form of models whose code is part of transformers."""
FORMS: tuple[Form, ...] = (MessagesChatForm(), TilesChatForm(), USUAL_FORM, TokenizerForm())
"""The forms of models that bring their own code. The first form that fits is used."""


def form_of(checkpoint: Checkpoint) -> Form:
    """Choose the form of a checkpoint. The checkpoint's own code runs only if the user trusts this
    code.

    Raises:
        UsageError: the checkpoint needs its own code and is not trusted, or no form fits.
        ImportError: a package that the checkpoint's code imports is missing.
        Exception: any exception that the checkpoint's code raises.
    """
    if checkpoint.reference is None:
        return USUAL_FORM
    if not checkpoint.trusted:
        raise untrusted(checkpoint)
    own_class = checkpoint.own_class()
    for form in FORMS:
        if form.fits(checkpoint, own_class):
            return form
    raise unknown(checkpoint, _why(own_class))


def _why(own_class: type) -> str:
    chat = getattr(own_class, "chat", None)
    if callable(chat):
        return f"Snellen does not support a method chat{inspect.signature(chat)}"
    return "it has neither a chat() nor a generate() method that Snellen can call"
