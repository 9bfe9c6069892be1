"""What a model card has: the data sets of a recipe, and the benchmarks of further figures."""

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
    """What a card is about: the arguments of `card`."""

    recipe: str
    """RECIPE, RECIPE:DATA_SET, or RECIPE:DATA_SET:VARIANT."""
    model: str | registry.Opened
    """The model."""
    benchmarks: Collection[str] = ()
    """The data sets or benchmarks of the card to run; empty for all."""
    checkpoint: str | None = None
    """The checkpoint whose figures count; None: the one that has the model's name."""
    explain_gap: bool = False
    """Whether gaps between the two ways of asking are explained."""
    budget: int = GAP_BUDGET
    """The most requests for each explained gap."""

    @property
    def model_name(self) -> str:
        return self.model if isinstance(self.model, str) else self.model.name

    @property
    def checkpoint_name(self) -> str:
        """The checkpoint whose figures are looked for."""
        return self.checkpoint or self.model_name

    @property
    def recipe_name(self) -> str:
        """The recipe without data set and variant."""
        return self.recipe.partition(":")[0]

    @property
    def data_set(self) -> str:
        """The data set in `recipe`; empty for all."""
        return self.recipe.partition(":")[2].partition(":")[0]

    @property
    def variant(self) -> str:
        """The variant or mode in `recipe`; empty for the usual way of asking."""
        return self.recipe.partition(":")[2].partition(":")[2]


@dataclass(kw_only=True)
class CardEntry:
    """A benchmark of a card while it is run."""

    data_set: str
    """The data set by the recipe's name, or the benchmark by the name in the figure's source."""
    figures: Sequence[recipes.Figure]
    """Its published figures."""
    benchmark: str | None
    """The benchmark in Snellen, with its options; None if there is none, or none for sure."""
    ask: recipes.Ask | None = None
    """How the recipe asks it; None if no source says how it is asked."""
    base: Plan | None = None
    """The plan with the official settings; None if the benchmark cannot be run."""
    ways: TwoWays | None = None
    """The two ways of asking; None if it cannot be run by the recipe."""
    search: GapRun | None = None
    """The search for the fields that make the gap; None if it is not explained."""
    reason: str = ""
    """Why it is not run by the recipe; empty if it is."""
    notes: list[str] = field(default_factory=list)
    """What else limits its values."""
    error: SnellenError | None = None
    """The error that keeps it from being run."""
    by_recipe: Finished | None = None
    """The run by the recipe."""
    official: Finished | None = None
    """The run by the official settings."""
    gap: Gap | None = None
    """The explained gap."""

    @property
    def names(self) -> Iterator[str]:
        """The names by which it can be chosen."""
        yield self.data_set
        if self.benchmark is not None:
            name, _, options = self.benchmark.partition(":")
            yield from (self.benchmark, name)
            yield from (pair[5:] for pair in options.split(",") if pair.startswith("name="))

    @property
    def scoring(self) -> FigureScoring:
        """How its figures were scored."""
        if self.ask is not None and self.ask.manner.scoring is not None:
            return figure_scoring(self.ask)
        metric = self.metric
        return FigureScoring("", None if metric is None else metric.scoring or None)

    @property
    def metric(self) -> recipes.FigureMetric | None:
        """The metric of its figures; None: the headline's first."""
        return None if self.benchmark is None else recipes.metric_of(self.benchmark)

    def explain(self, why: str) -> None:
        """Note why it is not run."""
        if self.ask is None:
            self.notes.append(why)
        else:
            self.reason = self.reason or why

    def fail(self, error: SnellenError) -> None:
        """Note the error that keeps it from being run."""
        self.error = error
        self.explain(" ".join(str(error).split()))


def card_entries(request: CardRequest) -> list[CardEntry]:
    """The benchmarks of the card: the data sets of the recipe in its order, then those of figures
    of which no source says how they were measured.

    Raises:
        UsageError: there is no such recipe, it has no such data set, variant, or benchmark, or it
            has modes and the request names none.
    """
    recipe = registry.recipe(request.recipe_name)
    if request.data_set:
        chosen = [_entry_of(recipe.ask(request.data_set, request.variant))]
    else:
        entries = [*_data_sets(recipe, request.variant), *_unasked(recipe)]
        known = {name for entry in entries for name in entry.names}
        if unknown := [name for name in request.benchmarks if name not in known]:
            raise UsageError(
                f"The recipe {recipe.name} does not ask {', '.join(unknown)}, and has no figure of "
                f"it. It has: {', '.join(entry.data_set for entry in entries)}."
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
    """The data sets of a recipe.

    Raises:
        UsageError: none of them has this variant.
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
    """The benchmarks of which there are figures, and no source says how they are asked."""
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
    """Check that the data sets to run have a mode, if the recipe has modes.

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
        f"The recipe {request.recipe_name} has settings of its own for each of the modes "
        f"{_listed(modes)}. {advice}"
    )


def _listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b, and c`"""
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"


def card_checkpoint(request: CardRequest, entries: Sequence[CardEntry]) -> str | None:
    """The checkpoint whose figures count; None if there is no figure of the model.

    Raises:
        UsageError: there is no figure of the checkpoint that the request names.
    """
    names = [*dict.fromkeys(figure.checkpoint for entry in entries for figure in entry.figures)]
    wanted = plain_name(request.checkpoint_name)
    match = next((name for name in names if plain_name(name) == wanted), None)
    if match is None and request.checkpoint is not None:
        has = f"It has figures of: {', '.join(names)}." if names else "It has no figures."
        further = "".join(f" {note[0].upper()}{note[1:]}." for note in further_figures(request))
        raise UsageError(
            f"--checkpoint {request.checkpoint}: the recipe {request.recipe} has no figure of it. "
            f"{has}{further}"
        )
    return match


def further_figures(request: CardRequest) -> list[str]:
    """Where figures are that this card does not show, because they belong to other variants."""
    figures = registry.recipe(request.recipe_name).figures
    variants = dict.fromkeys(figure.variant for figure in figures if figure.variant)
    return [
        f"further figures are of the variant {name}: `snellen card {request.recipe_name}::{name}`"
        for name in variants
        if name != request.variant
    ]


def plain_name(name: str) -> str:
    """A checkpoint's name without its owner, and without signs: `Qwen/Qwen2.5-VL` as `qwen25vl`."""
    return re.sub("[^a-z0-9]", "", name.rpartition("/")[2].casefold())
