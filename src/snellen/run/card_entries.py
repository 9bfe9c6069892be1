"""Lists the benchmarks of a model card: a recipe's data sets, and benchmarks that have only
published figures."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from snellen import recipes, registry
from snellen.analysis.gap import Gap
from snellen.errors import SnellenError, UsageError
from snellen.run.gap_run import GAP_BUDGET, GapRun
from snellen.run.plan import Finished, Plan
from snellen.run.ways import FigureScoring, TwoWays, figure_scoring

NOT_HERE = "not in Snellen"
UNASKED = "no source says how it is asked"
INTERRUPTED = "not run: interrupted; the same command resumes"


@dataclass(frozen=True, kw_only=True)
class CardRequest:
    """A request for a model card, with the arguments of `snellen.card`."""

    recipe: str
    """RECIPE, RECIPE:DATA_SET, or RECIPE:DATA_SET:VARIANT."""
    model: str | registry.Opened
    """The model."""
    benchmarks: Collection[str] = ()
    """The names of the data sets or benchmarks to run; empty for all."""
    checkpoint: str | None = None
    """The checkpoint whose published figures are compared; None: the checkpoint with the model's
    name."""
    explain_gap: bool = False
    """Whether to explain the gaps between scores by the recipe and with the official settings."""
    budget: int = GAP_BUDGET
    """The maximum number of requests to explain each gap."""

    @property
    def model_name(self) -> str:
        return self.model if isinstance(self.model, str) else self.model.name

    @property
    def checkpoint_name(self) -> str:
        """The name of the checkpoint whose published figures are searched for."""
        return self.checkpoint or self.model_name

    @property
    def recipe_name(self) -> str:
        """The name of the recipe, without the data set and the variant."""
        return self.recipe.partition(":")[0]

    @property
    def data_set(self) -> str:
        """The data set that `recipe` names; empty for all data sets."""
        return self.recipe.partition(":")[2].partition(":")[0]

    @property
    def variant(self) -> str:
        """The variant or mode that `recipe` names; empty for the recipe's usual settings."""
        return self.recipe.partition(":")[2].partition(":")[2]


@dataclass(kw_only=True)
class CardEntry:
    """One benchmark of a model card, with its plans and runs."""

    data_set: str
    """The recipe's name for the data set, or the benchmark's name in the source of the figures."""
    figures: Sequence[recipes.Figure]
    """The published figures of the benchmark."""
    benchmark: str | None
    """The name and options of Snellen's benchmark; None if Snellen has none, or if the source does
    not identify the benchmark."""
    ask: recipes.Ask | None = None
    """How the recipe asks the benchmark's questions; None if this is not published."""
    base: Plan | None = None
    """The plan with the official settings; None if the benchmark cannot be run."""
    ways: TwoWays | None = None
    """The plans with the official settings and by the recipe; None if the benchmark cannot be run
    by the recipe."""
    search: GapRun | None = None
    """The search for the fields that cause the gap; None if the gap is not to be explained."""
    reason: str = ""
    """Why the benchmark is not run by the recipe; empty if it is run."""
    notes: list[str] = field(default_factory=list)
    """Further limitations of the results."""
    error: SnellenError | None = None
    """The error that prevents the benchmark from being run."""
    by_recipe: Finished | None = None
    """The run by the recipe; None if there is none."""
    official: Finished | None = None
    """The run with the official settings; None if there is none."""
    gap: Gap | None = None
    """The explanation of the gap; None if there is none."""

    @property
    def names(self) -> Iterator[str]:
        """The names by which a user can select the benchmark."""
        yield self.data_set
        if self.benchmark is not None:
            name, _, options = self.benchmark.partition(":")
            yield from (self.benchmark, name)
            yield from (pair[5:] for pair in options.split(",") if pair.startswith("name="))

    @property
    def scoring(self) -> FigureScoring:
        """How the published figures were scored."""
        if self.ask is not None and self.ask.manner.scoring is not None:
            return figure_scoring(self.ask)
        metric = self.metric
        return FigureScoring("", None if metric is None else metric.scoring or None)

    @property
    def metric(self) -> recipes.FigureMetric | None:
        """The metric of the published figures; None: the first metric of the headline scoring."""
        return None if self.benchmark is None else recipes.metric_of(self.benchmark)

    def explain(self, why: str) -> None:
        """Note why the benchmark is not run."""
        if self.ask is None:
            self.notes.append(why)
        else:
            self.reason = self.reason or why

    def fail(self, error: SnellenError) -> None:
        """Note the error that prevents the benchmark from being run."""
        self.error = error
        self.explain(" ".join(str(error).split()))


def card_entries(request: CardRequest) -> list[CardEntry]:
    """List the card's benchmarks: first the recipe's data sets in their order, then benchmarks with
    published figures for which no source says how questions were asked.

    Raises:
        UsageError: the recipe does not exist, the recipe lacks a requested data set, variant, or
            benchmark, the request names data sets in two ways, or the request does not name one of
            the recipe's modes.
    """
    recipe = registry.recipe(request.recipe_name)
    if request.data_set:
        if request.benchmarks:
            raise UsageError(
                f"{request.recipe} names the data set {request.data_set}, and -b names "
                f"{', '.join(request.benchmarks)}. Name the data sets in one of the two ways."
            )
        chosen = [_entry_of(recipe.ask(request.data_set, request.variant))]
    else:
        entries = [*_data_sets(recipe, request.variant), *_unasked(recipe)]
        known = {name for entry in entries for name in entry.names}
        if unknown := [name for name in request.benchmarks if name not in known]:
            raise UsageError(
                f"The recipe {recipe.name} has neither questions nor figures for "
                f"{', '.join(unknown)}. It has: {', '.join(entry.data_set for entry in entries)}."
            )
        wanted = [entry for entry in entries if {*entry.names} & {*request.benchmarks}]
        chosen = wanted or entries
    _check_modes(request, chosen)
    return chosen


def _entry_of(ask: recipes.Ask, reason: str = "") -> CardEntry:
    manner = ask.manner
    entry = CardEntry(
        data_set=ask.data_set,
        figures=manner.figures,
        benchmark=manner.benchmark,
        ask=ask,
        reason=reason,
    )
    if manner.benchmark is None:
        entry.explain(NOT_HERE)
    return entry


def _data_sets(recipe: recipes.Recipe, variant: str) -> Iterator[CardEntry]:
    """Yield the data sets of a recipe.

    Raises:
        UsageError: no data set has this variant.
    """
    usual = [ask for (_, its_variant), ask in recipe.asks.items() if not its_variant]
    modes = dict.fromkeys(mode for ask in usual for mode in ask.modes)
    has_variant = False
    for ask in usual:
        try:
            yield _entry_of(recipe.ask(ask.data_set, variant))
        except UsageError:
            yield _entry_of(ask, reason=f"the recipe does not ask it as {variant}")
        else:
            has_variant = True
    if variant and not has_variant:
        known = [*recipe.variants, *modes]
        raise UsageError(
            f"The recipe {recipe.name} has no variant {variant}. "
            f"{f'It has: {_listed(known)}.' if known else 'It has none.'}"
        )


def _unasked(recipe: recipes.Recipe) -> Iterator[CardEntry]:
    """Yield benchmarks with published figures for which no source says how questions were asked."""
    groups: dict[tuple[str, recipes.FigureBenchmark], list[recipes.Figure]] = {}
    for figure in recipe.figures:
        if not figure.data_set:
            key = figure.benchmark, recipes.benchmark_of(figure)
            groups.setdefault(key, []).append(figure.figure)
    for (name, known), figures in groups.items():
        entry = CardEntry(
            data_set=name, figures=figures, benchmark=known.benchmark or None, reason=UNASKED
        )
        if known.note:
            entry.notes.append(known.note)
        if not known.benchmark:
            which = f"not run: no source says which data set it is: {known.unclear}"
            entry.explain(which if known.unclear else NOT_HERE)
        yield entry


def _check_modes(request: CardRequest, entries: Sequence[CardEntry]) -> None:
    """If the recipe's data sets have modes, check that the request names a mode.

    Raises:
        UsageError: the request names no mode.
    """
    without = [
        entry.ask
        for entry in entries
        if entry.ask is not None
        and entry.benchmark is not None
        and entry.ask.modes
        and entry.ask.variant not in entry.ask.modes
    ]
    if not without:
        return
    modes = [*dict.fromkeys(mode for ask in without for mode in ask.modes)]
    start = f"snellen card {request.recipe_name}:{request.data_set}:"
    name = request.checkpoint_name
    fitting = [mode for mode in modes if plain_name(mode) in plain_name(name)]
    if len(fitting) == 1:
        advice = f"For {name}, name the mode {fitting[0]}: `{start}{fitting[0]}`."
    else:
        advice = f"Name one: {' or '.join(f'`{start}{mode}`' for mode in modes)}."
    raise UsageError(
        f"The recipe {request.recipe_name} has different settings for each of the modes "
        f"{_listed(modes)}. {advice}"
    )


def _listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b, and c`"""
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"


def card_checkpoint(request: CardRequest, entries: Sequence[CardEntry]) -> str | None:
    """Find the checkpoint whose published figures are compared; None if the model has no figures.

    Raises:
        UsageError: the requested checkpoint has no figures.
    """
    names = [*dict.fromkeys(figure.checkpoint for entry in entries for figure in entry.figures)]
    wanted = plain_name(request.checkpoint_name)
    match = next((name for name in names if plain_name(name) == wanted), None)
    if match is None and request.checkpoint is not None:
        has = f"It has figures of: {', '.join(names)}." if names else "It has no figures."
        further = "".join(f" {note[0].upper()}{note[1:]}." for note in further_figures(request))
        raise UsageError(
            f"--checkpoint {request.checkpoint}: the recipe {request.recipe} has no figures of "
            f"this checkpoint. {has}{further}"
        )
    return match


def further_figures(request: CardRequest) -> list[str]:
    """List the variants whose figures this card does not show, and the command that shows each."""
    figures = registry.recipe(request.recipe_name).figures
    variants = dict.fromkeys(figure.variant for figure in figures if figure.variant)
    return [
        f"there are figures of the variant {name} too: `snellen card {request.recipe_name}::{name}`"
        for name in variants
        if name != request.variant
    ]


def plain_name(name: str) -> str:
    """Reduce a checkpoint's name to lowercase letters and digits, without the owner. For example,
    `Qwen/Qwen2.5-VL` becomes `qwen25vl`."""
    return re.sub("[^a-z0-9]", "", name.rpartition("/")[2].casefold())
