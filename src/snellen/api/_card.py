"""A model card from Python."""

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
    """Run the benchmarks of a model card by a recipe and by their official settings, and return
    the card: published, by the recipe, official, and their differences.

    `recipe` is a name of `snellen list recipes` or a file, and if needed `:DATA_SET` and
    `:VARIANT`; `model` is what `evaluate` takes. `benchmarks` chooses some of the card's.
    `checkpoint` is the one whose published figures count, by default the one that has the model's
    name. Options that say how questions are asked, such as `max_tokens`, replace the official
    settings; the recipe stays as it is.

    `explain_gap` asks a sample of the questions of each benchmark, and finds the fields of the way
    of asking that make the difference, in at most `budget` requests for each benchmark.

    Raises:
        SnellenError: an error that the caller can fix; its message says what to do.
    """
    if "recipe" in options:
        raise UsageError("The recipe of a card is its first argument.")
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
