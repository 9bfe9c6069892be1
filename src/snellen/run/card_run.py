"""Runs the benchmarks of a model card, both with the recipe's settings and with the official
settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NoReturn, cast

from snellen import recipes, registry
from snellen.analysis.cards import Card, CardResult
from snellen.core.benchmark import Benchmark
from snellen.errors import CatalogError, DataError, SnellenError, UsageError
from snellen.run import Budget
from snellen.run.card_entries import (
    INTERRUPTED,
    CardEntry,
    CardRequest,
    card_checkpoint,
    card_entries,
    further_figures,
    plain_name,
)
from snellen.run.card_rows import adjusted, card_row
from snellen.run.declarations import checked
from snellen.run.gap_run import GAP_BUDGET, GapRun
from snellen.run.lifecycle import Show
from snellen.run.options import RunOptions
from snellen.run.plan import Finished, Plan
from snellen.run.readiness import combined, missing_packages, needs
from snellen.run.run_plan import budget_of, run_plan
from snellen.run.selected_rows import of_selected_rows
from snellen.run.ways import (
    TwoWays,
    against,
    own_options,
    sendable_way_by_recipe,
    way_by_default,
    way_by_recipe,
)
from snellen.store import FORMAT

ALIKE = "the recipe asks as the benchmark's settings do, so there is no gap"
HIDDEN = "not run: the answers of this split are not public, so there would be no score"
READ_FIRST = 50
"""The maximum number of rows that are read to check whether a benchmark's answers are public."""


@dataclass
class PlanRunner:
    """Runs plans one after another within a shared budget."""

    show: Show | None
    """Shows the progress."""
    at_once: Callable[[], NoReturn] | None
    """Called when the user presses Ctrl-C a second time."""
    budget: Budget
    """The limits that all runs share."""
    finished: list[Finished] = field(default_factory=list)
    """The runs so far."""

    @property
    def is_stopped(self) -> bool:
        """Whether a run ended before its last question and before its goal."""
        return any(
            done.interrupted or (done.stopped and not done.has_goal) for done in self.finished
        )

    def run(self, plan: Plan) -> Finished:
        """Execute a plan that consists of a single run. The result covers only the rows that the
        plan selects, even if the run folder has replies to other rows."""
        (done,) = run_plan(plan, self.show, self.at_once, self.budget)
        done = of_selected_rows(done, plan)
        self.finished.append(done)
        return done


@dataclass(frozen=True, kw_only=True)
class CardOutcome:
    """A card, and the runs that it is based on."""

    result: CardResult
    """The card."""
    finished: Sequence[Finished]
    """The runs."""
    unreadable: Sequence[str] = ()
    """The data sets whose data are missing or cannot be read."""


def card_run(
    request: CardRequest,
    options: RunOptions,
    *,
    show: Show | None = None,
    at_once: Callable[[], NoReturn] | None = None,
    say: Callable[[str], object] = str,
    command: Sequence[str] = (),
) -> CardOutcome:
    """Run the benchmarks of a card.

    Options that determine how questions are asked, such as `max_tokens`, replace the official
    settings but not the recipe's settings. If a benchmark cannot be run, the card gives the reason.
    Before any request is sent, `say` gets a line for each benchmark that cannot be run, and lines
    on what the others need (a judge, a package). For each gap that the request wants explained, it
    gets a line with the planned numbers of questions and requests.

    Raises:
        SnellenError: the recipe or the checkpoint does not exist, the request does not name one of
            the recipe's modes, an option has no meaning for a card, or no benchmark of the card can
            be run.
    """
    options = checked(options)
    _check_options(request, options)
    entries = card_entries(request)
    checkpoint = card_checkpoint(request, entries)
    _check_without(options, entries)
    for entry in entries:
        _prepare(entry, request, options, command)
    bases = [entry.base for entry in entries if entry.base is not None]
    packages = missing_packages(bases[0]) if bases else []
    if packages:
        raise combined([*packages, *(entry.error for entry in entries if entry.error is not None)])
    errors = [entry.error for entry in entries if entry.error is not None]
    if not bases:
        raise (
            _without_data(request, entries, errors[0])
            if errors
            else _nothing_to_run(request, entries)
        )
    runner = PlanRunner(show, at_once, budget_of(bases[0]))
    for note in _missing_notes(entries):
        say(note)
    for entry in entries:
        if entry.search is not None:
            say(entry.search.announcement)
    for entry in entries:
        _run(entry, runner)
    if not runner.finished and (errors := [entry.error for entry in entries if entry.error]):
        raise errors[0]
    card = _card(request, entries, checkpoint, against(bases[0]))
    return CardOutcome(
        result=CardResult(card), finished=runner.finished, unreadable=_unreadable(entries)
    )


def _missing_notes(entries: Sequence[CardEntry]) -> Iterator[str]:
    """Yield a line on each benchmark that cannot be run, and lines on what the others need."""
    failed = [entry for entry in entries if entry.error is not None]
    if failed:
        yield f"{len(failed)} of {len(entries)} benchmarks cannot be run as requested:"
    for entry in failed:
        way = "" if entry.base is None else ", with the recipe's settings"
        yield f"- {entry.data_set}{way}: {entry.error}"
    yield from needs([entry.base.benchmarks[0] for entry in entries if entry.base is not None])


def _unreadable(entries: Sequence[CardEntry]) -> list[str]:
    return [entry.data_set for entry in entries if isinstance(entry.error, DataError)]


def _without_data(
    request: CardRequest, entries: Sequence[CardEntry], error: SnellenError
) -> SnellenError:
    """The error if no benchmark can be run, which is the first benchmark's error. If the data of
    several benchmarks are missing, the error lists these benchmarks."""
    names = _unreadable(entries)
    if len(names) < 2 or not isinstance(error, DataError):
        return error
    return DataError(
        f"No benchmark of the recipe {request.recipe} can be run, because the data of "
        f"{len(names)} benchmarks are missing or cannot be read: {', '.join(names)}. The first "
        f"error: {error} To run one benchmark, name it with -b."
    )


def _check_options(request: CardRequest, options: RunOptions) -> None:
    """Reject options that a card ignores or must not have.

    Raises:
        UsageError: such an option is set.
    """
    if options.get("missing") == "wrong":
        raise UsageError(
            "A card has no option missing: published figures do not count failed requests as "
            "wrong. Run the same card again to send the questions without a reply."
        )
    if request.explain_gap and options.get("until_stderr") is not None:
        raise UsageError(
            "--until-stderr does not work with --explain-gap, which asks the same questions in "
            "every run. Use --budget N instead."
        )
    if not request.explain_gap and request.budget != GAP_BUDGET:
        raise UsageError(
            "--budget is only for --explain-gap. To limit the requests of a card, use "
            "--max-requests N."
        )


def _nothing_to_run(request: CardRequest, entries: Sequence[CardEntry]) -> UsageError:
    if request.explain_gap and not any(entry.ask for entry in entries):
        return UsageError(
            f"--explain-gap: the recipe {request.recipe} has only published figures. No source "
            "says how questions were asked, so there are no two runs to compare."
        )
    whys = {
        entry.data_set: "; ".join(filter(None, [entry.reason, *entry.notes])) for entry in entries
    }
    listed = ". ".join(f"{name}: {why}" for name, why in whys.items())
    return UsageError(f"No benchmark of the recipe {request.recipe} can be run. {listed}.")


def _prepare(
    entry: CardEntry, request: CardRequest, options: RunOptions, command: Sequence[str]
) -> None:
    """Create the plans of a benchmark, or note why it cannot be run."""
    ask, spec = entry.ask, entry.benchmark
    if spec is None or (entry.reason and ask is not None):
        return
    if ask is None and request.explain_gap:
        return  # there is only one way of asking
    try:
        base = way_by_default(spec, request.model, options, command=command)
        base.benchmarks[0].data.facts()
        if _is_hidden(base.benchmarks[0]):
            entry.explain(HIDDEN)
            return
        entry.base = base
        if ask is not None:
            _prepare_ways(entry, ask, spec, request, options, command)
    except (UsageError, DataError, CatalogError) as error:
        entry.fail(error)
    if request.explain_gap and entry.search is None:
        entry.base = None  # a run of all questions would exceed the budget of the search


def _prepare_ways(
    entry: CardEntry,
    ask: recipes.Ask,
    spec: str,
    request: CardRequest,
    options: RunOptions,
    command: Sequence[str],
) -> None:
    """Create the plan with the recipe's settings. If the gap is to be explained, also create the
    search for its causes.

    Raises:
        SnellenError: the benchmark cannot be run with the recipe's settings. The message gives the
            reason.
    """
    assert entry.base is not None
    recipe = ":".join([request.recipe_name, ask.data_set, ask.variant]).rstrip(":")
    recipes_own = _recipes_own(ask, options)
    refused: Sequence[str] = ()
    if request.explain_gap:
        plan, refused = sendable_way_by_recipe(
            spec, recipe, request.model, recipes_own, command=command
        )
    else:
        plan = way_by_recipe(spec, recipe, request.model, recipes_own, command=command)
    ways = TwoWays(base=entry.base, by_recipe=plan, recipe=recipe, refused=refused)
    differing = bool(ways.fields)
    if request.explain_gap and differing:
        entry.search = GapRun(ways=ways, budget=request.budget)
    entry.ways = ways
    if request.explain_gap and not differing:
        entry.reason = ALIKE


def _is_hidden(benchmark: Benchmark) -> bool:
    """Whether the answers in the first rows are all hidden."""
    turns = [
        turn
        for row in islice(benchmark.data, READ_FIRST)
        for turn in benchmark.turn_samples(benchmark.read(row))
    ]
    return bool(turns) and all(turn.hidden for turn in turns)


def _recipes_own(ask: recipes.Ask, options: RunOptions) -> RunOptions:
    """Select the options for a run with the recipe's settings. Options that determine how questions
    are asked are removed, as are names in `recipe_without` that are not settings of this data
    set."""
    settings = _settings(ask)
    own = own_options()
    kept = {name: value for name, value in options.items() if name not in own}
    without = [name for name in options.get("recipe_without", ()) if name in settings]
    return cast(RunOptions, {**kept, "recipe_without": without})


def _settings(ask: recipes.Ask) -> frozenset[str]:
    """The names of a data set's settings; empty if the recipe does not ask it in the card's
    mode."""
    try:
        return frozenset({*ask.model_settings(), *ask.manner.picture})
    except UsageError:
        return frozenset()


def _check_without(options: RunOptions, entries: Sequence[CardEntry]) -> None:
    """Check that each setting in `recipe_without` exists in at least one data set of the card.

    Raises:
        UsageError: one of these settings exists in no data set.
    """
    asks = [entry.ask for entry in entries if entry.ask is not None]
    known = frozenset[str]().union(*map(_settings, asks))
    for name in options.get("recipe_without", ()):
        if name not in known:
            raise UsageError(
                f"--recipe-without {name}: no data set of the card has this setting. Available "
                f"settings: {', '.join(sorted(known)) or 'none'}."
            )


def _run(entry: CardEntry, runner: PlanRunner) -> None:
    """Run a benchmark with the recipe's settings and with the official settings, or store the
    reason why it is not run."""
    if entry.base is None:
        return
    if runner.is_stopped:
        entry.explain(INTERRUPTED)
        return
    try:
        if entry.search is not None:
            try:
                entry.gap = entry.search.explain(runner.run)
            finally:
                entry.by_recipe, entry.official = entry.search.ends
            return
        if entry.ways is not None:
            entry.by_recipe = runner.run(entry.ways.by_recipe)
        if not runner.is_stopped and (entry.ways is None or entry.ways.fields):
            entry.official = runner.run(entry.base)
    except (UsageError, DataError) as error:
        entry.fail(error)


def _no_figure(request: CardRequest, recipe: recipes.Recipe) -> str:
    """The note on a card whose recipe has figures, but none for this checkpoint."""
    names = {figure.checkpoint for figure in recipe.figures}
    names |= {figure.checkpoint for ask in recipe.asks.values() for figure in ask.manner.figures}
    if plain_name(request.checkpoint_name) in map(plain_name, names):
        return (
            f"{request.recipe} has no figure of {request.checkpoint_name} for the benchmarks of "
            "this card, only for others, so the card has no differences."
        )
    return (
        f"{request.model_name} has no published figure, so the card has no differences. Name "
        "the checkpoint with --checkpoint."
    )


def _card(
    request: CardRequest, entries: Sequence[CardEntry], checkpoint: str | None, against: str
) -> Card:
    recipe = registry.recipe(request.recipe_name)
    rows = adjusted([card_row(entry, checkpoint, against) for entry in entries])
    notes = []
    if checkpoint is None and any(row.figures for row in rows):
        notes.append(_no_figure(request, recipe))
    if checkpoint is None:
        notes += further_figures(request)
    if any(entry.ask is not None and entry.ask.manner.fault for entry in entries):
        notes.append(
            f"the recipe reproduces faults of its source: see `snellen show --recipe {recipe.name}`"
        )
    return Card(
        format=FORMAT,
        recipe=request.recipe,
        family=recipe.family,
        evidence=recipe.evidence,
        source=recipe.source,
        model=request.model_name,
        against=against,
        rows=rows,
        checkpoint=checkpoint,
        gaps=[entry.gap for entry in entries if entry.gap is not None],
        notes=notes,
    )
