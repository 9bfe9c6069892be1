"""Runs the benchmarks of a model card, by the recipe and with the official settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, cast

from snellen import recipes, registry
from snellen.analysis.cards import Card, CardResult
from snellen.errors import CatalogError, DataError, UsageError
from snellen.run import Budget
from snellen.run.card_rows import CardEntry, adjusted, card_row, plain_name, unasked_rows
from snellen.run.declarations import checked
from snellen.run.gap_run import GAP_BUDGET, GapRun
from snellen.run.lifecycle import Show
from snellen.run.options import RunOptions
from snellen.run.plan import Finished, Plan
from snellen.run.run_plan import budget_of, run_plan
from snellen.run.ways import (
    TwoWays,
    against,
    own_options,
    sendable_way_by_recipe,
    way_by_default,
    way_by_recipe,
)
from snellen.store import FORMAT

NOT_HERE = "not in Snellen"
ALIKE = "the recipe's settings are the same as the benchmark's, so there is no gap"
INTERRUPTED = "not run: interrupted; the same command resumes"


@dataclass(frozen=True, kw_only=True)
class CardRequest:
    """The card that is requested. The fields are the arguments of `card`."""

    recipe: str
    """RECIPE, RECIPE:DATA_SET, or RECIPE:DATA_SET:VARIANT."""
    model: str | registry.Opened
    """The model."""
    benchmarks: Collection[str] = ()
    """The data sets or benchmarks of the card that are run; empty for all."""
    checkpoint: str | None = None
    """The checkpoint whose published figures are used; None: the one with the model's name."""
    explain_gap: bool = False
    """Whether gaps between the two ways of asking are explained."""
    budget: int = GAP_BUDGET
    """The maximum number of requests for each explained gap."""

    @property
    def model_name(self) -> str:
        return self.model if isinstance(self.model, str) else self.model.name

    @property
    def is_complete(self) -> bool:
        """Whether all benchmarks of the recipe are on the card."""
        data_set = self.recipe.partition(":")[2].partition(":")[0]
        return not data_set and not self.benchmarks


@dataclass
class PlanRunner:
    """Runs plans one after another within a shared budget, until a run is stopped."""

    show: Show | None
    """Shows the progress."""
    at_once: Callable[[], NoReturn] | None
    """Called at a second Ctrl-C."""
    budget: Budget
    """The limits of all runs."""
    finished: list[Finished] = field(default_factory=list)
    """The runs so far."""

    @property
    def is_stopped(self) -> bool:
        """Whether a run ended before its last question."""
        return any(done.interrupted or done.stopped for done in self.finished)

    def run(self, plan: Plan) -> Finished:
        """Execute a plan that consists of a single run."""
        (done,) = run_plan(plan, self.show, self.at_once, self.budget)
        self.finished.append(done)
        return done


@dataclass(frozen=True, kw_only=True)
class CardOutcome:
    """A card, and the runs that it is based on."""

    result: CardResult
    """The card."""
    finished: Sequence[Finished]
    """The runs."""


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

    Options that say how questions are asked, such as `max_tokens`, replace the official settings;
    they do not change the recipe. If a benchmark cannot be run, the card gives the reason. Before
    anything is sent, `say` is called with the planned number of questions and requests for each
    gap that will be explained.

    Raises:
        SnellenError: there is no such recipe or checkpoint, or no benchmark of the recipe can be
            run.
    """
    options = checked(options)
    entries = _entries(request)
    checkpoint = _checkpoint(request, entries)
    _check_without(options, entries)
    for entry in entries:
        _prepare(entry, request, options, command)
    bases = [entry.base for entry in entries if entry.base is not None]
    errors = [entry.error for entry in entries if entry.error is not None]
    if not bases:
        raise (
            errors[0]
            if errors
            else UsageError(f"No benchmark of the recipe {request.recipe} is in Snellen.")
        )
    runner = PlanRunner(show, at_once, budget_of(bases[0]))
    for entry in entries:
        if entry.search is not None:
            say(entry.search.announcement)
    for entry in entries:
        _run(entry, runner)
    if not runner.finished and (errors := [entry.error for entry in entries if entry.error]):
        raise errors[0]
    card = _card(request, entries, checkpoint, against(bases[0]))
    return CardOutcome(result=CardResult(card), finished=runner.finished)


def _entries(request: CardRequest) -> list[CardEntry]:
    """Create an entry for each data set of the card, in the order of the recipe.

    Raises:
        UsageError: there is no such recipe, or it lacks a data set that the request names.
    """
    name, _, rest = request.recipe.partition(":")
    data_set, _, variant = rest.partition(":")
    recipe = recipes.load(name)
    if data_set:
        return [CardEntry(recipe.ask(data_set, variant))]
    entries = []
    for (known, its_variant), usual in recipe.asks.items():
        if its_variant:
            continue
        try:
            entries.append(CardEntry(recipe.ask(known, variant)))
        except UsageError as error:
            entries.append(CardEntry(usual, reason=f"{error}"))
    wanted = [entry for entry in entries if {*_names(entry)} & {*request.benchmarks}]
    every = {name for entry in entries for name in _names(entry)}
    if unknown := [name for name in request.benchmarks if name not in every]:
        raise UsageError(
            f"The recipe {recipe.name} does not ask {', '.join(unknown)}. It asks: "
            f"{', '.join(entry.ask.data_set for entry in entries)}."
        )
    return wanted or entries


def _names(entry: CardEntry) -> Iterator[str]:
    """Yield the names by which a data set can be selected."""
    spec = entry.ask.manner.benchmark
    yield entry.ask.data_set
    if spec is not None:
        yield from (spec, spec.partition(":")[0])


def _checkpoint(request: CardRequest, entries: Sequence[CardEntry]) -> str | None:
    """Find the checkpoint whose published figures are used; None if none has the model's name.

    Raises:
        UsageError: the recipe has no figures of the checkpoint that the request names.
    """
    known = [figure.checkpoint for entry in entries for figure in entry.ask.manner.figures]
    if request.is_complete:
        recipe = recipes.load(request.recipe.partition(":")[0])
        rows = unasked_rows(recipe, None)
        known += [figure.checkpoint for row in rows for figure in row.figures]
    names = [*dict.fromkeys(known)]
    wanted = request.checkpoint or request.model_name
    match = next((name for name in names if plain_name(name) == plain_name(wanted)), None)
    if match is None and request.checkpoint is not None:
        has = f"It has figures of: {', '.join(names)}." if names else "It has no figures."
        raise UsageError(
            f"--checkpoint {request.checkpoint}: the recipe {request.recipe} has no figures of "
            f"this checkpoint. {has}"
        )
    return match


def _prepare(
    entry: CardEntry, request: CardRequest, options: RunOptions, command: Sequence[str]
) -> None:
    """Create the plans of a data set, or note why there are none."""
    ask, spec = entry.ask, entry.ask.manner.benchmark
    if entry.reason:
        return
    if spec is None:
        entry.reason = NOT_HERE
        return
    recipe = ":".join([request.recipe.partition(":")[0], ask.data_set, ask.variant]).rstrip(":")
    try:
        base = way_by_default(spec, request.model, options, command=command)
        base.benchmarks[0].data.facts()
        entry.base = base
        recipes_own = _recipes_own(ask, options)
        refused: Sequence[str] = ()
        if request.explain_gap:
            plan, refused = sendable_way_by_recipe(
                spec, recipe, request.model, recipes_own, command=command
            )
        else:
            plan = way_by_recipe(spec, recipe, request.model, recipes_own, command=command)
        ways = TwoWays(base=base, by_recipe=plan, recipe=recipe, refused=refused)
        differing = [field.name for field in ways.fields]
        if request.explain_gap and differing:
            entry.search = GapRun(ways=ways, budget=request.budget)
    except (UsageError, DataError, CatalogError) as error:
        entry.fail(error)
    else:
        entry.ways = ways
        if request.explain_gap and not differing:
            entry.reason = ALIKE
    if request.explain_gap and entry.search is None:
        entry.base = None  # a run of all questions would exceed the budget of the search


def _recipes_own(ask: recipes.Ask, options: RunOptions) -> RunOptions:
    """The options of a run by the recipe. Options that say how questions are asked are removed, and
    so are settings in `recipe_without` that this data set does not have."""
    settings = _settings(ask)
    own = own_options()
    kept = {name: value for name, value in options.items() if name not in own}
    without = [name for name in options.get("recipe_without", ()) if name in settings]
    return cast(RunOptions, {**kept, "recipe_without": without})


def _settings(ask: recipes.Ask) -> frozenset[str]:
    """The names of a data set's settings in the recipe; empty if its mode is not known."""
    try:
        return frozenset({*ask.model_settings(), *ask.manner.picture})
    except UsageError:
        return frozenset()


def _check_without(options: RunOptions, entries: Sequence[CardEntry]) -> None:
    """Check that each setting in `recipe_without` exists in at least one data set of the card.

    Raises:
        UsageError: no data set has one of the settings.
    """
    known = frozenset[str]().union(*(_settings(entry.ask) for entry in entries))
    for name in options.get("recipe_without", ()):
        if name not in known:
            raise UsageError(
                f"--recipe-without {name}: no data set of the card has this setting. They have: "
                f"{', '.join(sorted(known)) or 'no settings'}."
            )


def _run(entry: CardEntry, runner: PlanRunner) -> None:
    """Run a data set both ways, or note why it is not run."""
    if entry.base is None:
        return
    if runner.is_stopped:
        entry.reason = entry.reason or INTERRUPTED
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


def _card(
    request: CardRequest, entries: Sequence[CardEntry], checkpoint: str | None, against: str
) -> Card:
    recipe = recipes.load(request.recipe.partition(":")[0])
    rows = adjusted([card_row(entry, checkpoint, against) for entry in entries])
    if request.is_complete:
        rows += unasked_rows(recipe, checkpoint)
    notes = []
    if checkpoint is None and any(row.figures for row in rows):
        notes.append(
            f"the recipe has no published figures of {request.model_name}: it lists those of other "
            "checkpoints, without a difference. Select a checkpoint with --checkpoint."
        )
    if any(entry.ask.manner.fault for entry in entries):
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
