"""Creates a model card from Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from snellen import registry
from snellen.analysis.cards import CardResult
from snellen.errors import UsageError
from snellen.run.card_entries import CardRequest
from snellen.run.card_run import card_run
from snellen.run.gap_run import GAP_BUDGET
from snellen.run.lifecycle import INTERRUPTED, Show, close_model, run_async
from snellen.run.options import RunOptions
from snellen.run.progress_text import ShownProgress


def card(
    recipe: str,
    model: object,
    /,
    *,
    benchmarks: Sequence[str] = (),
    checkpoint: str | None = None,
    explain_gap: bool = False,
    budget: int = GAP_BUDGET,
    show: Show | bool = False,
    **options: Unpack[RunOptions],
) -> CardResult:
    """Run a model card's benchmarks twice: with a recipe's settings and with the official settings.

    The returned card contains the published figures, the results with the recipe, the results with
    the official settings, and the differences.

    `recipe` is a name from `snellen list recipes` or the path of a recipe's file, optionally
    followed by `:DATA_SET` and `:VARIANT`. `model` takes the same values as in `evaluate`.
    `benchmarks` restricts the card to the named benchmarks. `checkpoint` is the checkpoint whose
    published figures are used. The default is the checkpoint with the model's name. Options such as
    `max_tokens` replace the official settings and leave the recipe's settings unchanged.

    With `explain_gap`, only some of each benchmark's questions are asked, to find out which
    settings cause the difference. `budget` is the maximum number of requests per benchmark for this
    purpose.

    Raises:
        SnellenError: an error that the caller can fix. The message says what to do.
    """
    if "recipe" in options:
        raise UsageError("Pass the recipe of a card as the first argument, not as an option.")
    display = ShownProgress() if show is True else show or None
    opened = model if isinstance(model, str) else registry.from_object(model)
    request = CardRequest(
        recipe=recipe,
        model=opened,
        benchmarks=benchmarks,
        checkpoint=checkpoint,
        explain_gap=explain_gap,
        budget=budget,
    )
    try:
        outcome = card_run(request, options, show=display)
    finally:
        if not isinstance(opened, str) and opened.model is not model:
            run_async(close_model(opened.model))  # its threads; the object is the caller's
    if any(run.interrupted and run.stopped == INTERRUPTED for run in outcome.finished):
        raise KeyboardInterrupt
    return outcome.result
