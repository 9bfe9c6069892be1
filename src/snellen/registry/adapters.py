"""Adapters, with which models that answer only single requests can watch streams."""

from __future__ import annotations

from dataclasses import replace

from snellen.core.model import Generates, Streams
from snellen.errors import UsageError
from snellen.media.video import policy
from snellen.models.sliding_window import SlidingWindow
from snellen.registry.models import Opened

DEFAULT = "window:4"


def watching(opened: Opened, adapter: str | None) -> tuple[Opened, str | None]:
    """Adapt a model to watch streams, and return the model and the adapter's canonical name.

    If `adapter` is None, a model that watches streams is returned unchanged, and any other model
    gets `DEFAULT`. `window:N` shows the newest N frames, and `window:all` shows all frames so far.
    `reask:POLICY` shows the frames that a frame policy selects from all frames so far. Because
    names are canonical, `window:04` and `window:4` lead to the same run.

    Raises:
        UsageError: there is no such adapter, or the model does not answer in text.
    """
    if adapter is None and isinstance(opened.model, Streams):
        return opened, None
    adapter = adapter or DEFAULT
    kind, _, amount = adapter.partition(":")
    is_count = amount.isascii() and amount.isdigit() and len(amount) < 7 and int(amount) > 0
    if not (kind == "window" and (is_count or amount == "all")) and not (
        kind == "reask" and amount
    ):
        raise UsageError(
            f"there is no adapter {adapter!r}. Adapters: window:N, window:all, and reask:POLICY "
            "(such as reask:uniform:64)."
        )
    if not isinstance(opened.model, Generates):
        raise UsageError(
            f"{opened.name} cannot be used with the adapter {adapter}, because it does not answer "
            "in text. Use a model that answers in text."
        )
    if kind == "reask":
        picks = policy(amount)
        return replace(opened, model=SlidingWindow(opened.model, None, picks)), f"reask:{picks}"
    n = int(amount) if is_count else None
    return replace(opened, model=SlidingWindow(opened.model, n)), f"window:{n or 'all'}"
