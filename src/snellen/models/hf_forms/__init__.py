"""Forms in which makers publish models for transformers, and the choice between them.

`FORMS` is the registry. To add a form, write a file with a class that has the methods of
`form.Form`, and add an object of it here. Forms of own methods come first: MiniCPM has a processor,
too, which its own code calls.
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
"""The form of models that transformers has code for."""
FORMS: tuple[Form, ...] = (MessagesChatForm(), TilesChatForm(), USUAL_FORM, TokenizerForm())
"""The forms of models with their own code. The first that fits is used."""


def form_of(checkpoint: Checkpoint) -> Form:
    """The form of a checkpoint. Own code runs only if the checkpoint is trusted.

    Raises:
        UsageError: the checkpoint needs its own code and is not trusted, or no form fits.
        ImportError: a package that its code imports is missing.
        Exception: whatever its code raises.
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
        return f"its chat{inspect.signature(chat)} is none of the forms that Snellen has"
    return "it has neither a chat() nor a generate() that Snellen can call"
