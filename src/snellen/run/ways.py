"""Two plans that ask a benchmark's questions differently, and plans that mix their settings.

The base plan has no recipe, and the other plan follows a recipe. The plans differ in fields, such
as the prompt, the system message, and the token limit. `TwoWays.plan` creates a plan in which some
fields have the recipe's values and all others have the base's values. The run of such a plan has
its own identity and can be resumed, like any other run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, cast

import msgspec

from snellen import recipes, registry
from snellen.analysis.gap import GapField
from snellen.core.benchmark import Benchmark
from snellen.core.profile import Profile
from snellen.errors import UsageError
from snellen.media.content import Message
from snellen.run.declarations import declarations
from snellen.run.options import HOW, SAMPLING, RunOptions
from snellen.run.plan import Plan, PlanArguments, load_benchmarks
from snellen.run.recipe_settings import UnsupportedSettings
from snellen.run.run_config import RunConfig
from snellen.transforms.recipe import ask_for, in_part_of_recipe

PROMPT, SYSTEM, SCORING = "prompt", "system", "scoring"
RESOLVED = ("max_tokens", "temperature", "top_p")
"""Settings whose values the plan resolves from options, profile, and benchmark."""
SHARED = ("recipe", "recipe_without", "adapter")
"""Options that affect how questions are asked, but are not compared as fields."""
THINKING = (
    ("effort",),
    ("extra", "thinking"),
    ("extra", "reasoning_effort"),
    ("extra", "chat_template_kwargs", "enable_thinking"),
    ("extra", "chat_template_kwargs", "thinking"),
    ("extra", "template", "enable_thinking"),
    ("extra", "template", "thinking"),
)
"""Prefixes of the profile's paths that set whether a model thinks. All of these paths count as one
field, because a request contains only one of them."""
COMPARED_ROWS = 50
"""The maximum number of rows whose messages are compared to check whether two prompts are equal."""
UNSET = "not set"
LONGEST = 60
"""The maximum length of a value in a table, in characters."""
Values = Mapping[tuple[str, ...], Any]
"""The values that a plan sends, keyed by path in the profile."""


def own_options() -> frozenset[str]:
    """The options that determine how questions are asked. If the user sets any of these options,
    the base plan no longer has the official settings."""
    return frozenset(
        name
        for name, declared in declarations().items()
        if declared.option.group in (HOW, SAMPLING) and name not in SHARED
    )


def _in_profile() -> Mapping[str, tuple[str, ...]]:
    """The options that are stored in the model's profile, with their paths in the profile."""
    known = own_options() & {*Profile.__struct_fields__}
    return {**{name: (name,) for name in sorted(known)}, "image_size": ("images", "max_side")}


def against(base: Plan) -> str:
    """What a recipe is compared with: `official` settings, or the user's `own options`."""
    profile = base.profile
    is_own = profile.changes_answers() or any(getattr(profile, name) for name in RESOLVED)
    return "own options" if is_own or own_options() & base.sources.keys() else "official"


def way_by_recipe(
    spec: str, recipe: str, model: str | registry.Opened, options: RunOptions, **rest: Any
) -> Plan:
    """Create a plan of a single run with a recipe's settings. `rest` contains further arguments of
    the plan.

    Raises:
        SnellenError: the recipe cannot be applied to the benchmark and the model.
    """
    chosen = cast(RunOptions, {**options, "recipe": recipe, "prompt": None})
    benchmarks = load_benchmarks([spec], **chosen)
    (plan,) = Plan(benchmarks=benchmarks, models=[model], **chosen, **rest).by_setting()
    return plan


def way_by_default(
    spec: str, model: str | registry.Opened, options: RunOptions, **rest: Any
) -> Plan:
    """Create a plan of a single run with the benchmark's settings and these options.

    Raises:
        SnellenError: the questions cannot be asked with these options.
    """
    chosen = cast(RunOptions, {**options, "recipe": None, "recipe_without": ()})
    benchmarks = load_benchmarks([spec], **chosen)
    return Plan(benchmarks=benchmarks, models=[model], **chosen, **rest)


def sendable_way_by_recipe(
    spec: str, recipe: str, model: str | registry.Opened, options: RunOptions, **rest: Any
) -> tuple[Plan, Sequence[str]]:
    """Create a plan of a single run with a recipe's settings, and leave out settings that the model
    does not support.

    Returns the plan and the names of the settings that were left out.

    Raises:
        SnellenError: the recipe cannot be applied for another reason.
    """
    without: tuple[str, ...] = tuple(options.get("recipe_without") or ())
    refused: list[str] = []
    while True:
        chosen = cast(RunOptions, {**options, "recipe_without": without})
        try:
            return way_by_recipe(spec, recipe, model, chosen, **rest), refused
        except UnsupportedSettings as error:
            refused += error.settings
            without = (*without, *error.settings)


@dataclass(frozen=True, kw_only=True)
class TwoWays:
    """A base plan and a plan with a recipe's settings. Each plan consists of a single run, and both
    have the same model."""

    base: Plan
    """The plan without a recipe."""
    by_recipe: Plan
    """The plan with the recipe's settings."""
    recipe: str
    """The recipe, in the form that `--recipe` takes."""
    refused: Collection[str] = ()
    """The recipe's settings that the model does not support, which no plan sends."""

    @property
    def model(self) -> str | registry.Opened:
        return self.base.models[0]

    @property
    def model_name(self) -> str:
        return self.model if isinstance(self.model, str) else self.model.name

    @property
    def ask(self) -> recipes.Ask:
        """How the recipe asks the benchmark's questions."""
        return ask_for(self.base.benchmarks[0], self.recipe, registry.recipe)

    @cached_property
    def _configs(self) -> tuple[RunConfig, RunConfig]:
        base, other = (
            plan.config(self.model, plan.benchmarks[0]) for plan in (self.base, self.by_recipe)
        )
        return base, other

    @cached_property
    def _values(self) -> tuple[Values, Values]:
        base, other = map(_values, self._configs)
        return base, other

    @cached_property
    def _options(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The options of each plan that are not stored in the profile."""
        names = own_options() - {*_in_profile(), PROMPT, "seed"}
        base, other = (
            {
                name: config.benchmark.procedure.frames if name == "frames" else value
                for name, value in config.options.items()
                if name in names
            }
            for config in self._configs
        )
        return base, other

    @cached_property
    def fields(self) -> Sequence[GapField]:
        """The fields in which the two plans differ. A field with a `reason` cannot be exchanged."""
        fields = [*self._words(), *self._settings(), *self._scoring()]
        names = [field.name for field in fields if not field.reason]
        checked = []
        for field in fields:
            reason = field.reason or self._reason(field.name, names)
            checked.append(msgspec.structs.replace(field, reason=reason))
        return [*checked, *self._left_out()]

    @cached_property
    def exchangeable(self) -> Sequence[str]:
        """The names of the fields that can be exchanged."""
        return [field.name for field in self.fields if not field.reason]

    def plan(self, fields: Collection[str]) -> Plan:
        """Create a plan in which these fields have the recipe's values, and all other fields have
        the base's.

        A field that cannot be exchanged takes its value from the base or the recipe, whichever
        shares more fields with the new plan. The scoring is not part of a plan.
        """
        chosen = frozenset(fields) - {SCORING}
        if not chosen:
            return self.base
        if chosen >= frozenset(self.exchangeable) - {SCORING}:
            return self.by_recipe
        return self._between(chosen, self.exchangeable)

    def scoring(self, fields: Collection[str]) -> str | None:
        """The scoring if these fields are exchanged; None for the headline scoring."""
        return figure_scoring(self.ask).name if SCORING in fields else None

    def _between(self, chosen: frozenset[str], exchangeable: Collection[str]) -> Plan:
        is_near_recipe = 2 * len(chosen) > len(exchangeable)

        def by_recipe(name: str) -> bool:
            return name in chosen if name in exchangeable else is_near_recipe

        base, other = self._values
        moved = {
            path: other.get(path)
            for path in {**base, **other}
            if by_recipe(_name(path)) and base.get(path) != other.get(path)
        }
        profile = _profile(self._configs[0], moved)
        base_options, other_options = self._options
        options = {
            name: other_options[name] if by_recipe(name) else value
            for name, value in base_options.items()
        }
        in_profile = _in_profile()
        kept = {name for name, path in in_profile.items() if not by_recipe(_name(path))}
        own = cast(Mapping[str, Any], self.base.options)
        nearer = self.by_recipe if is_near_recipe else self.base
        changes: dict[str, Any] = {
            **options,
            **{name: own[name] if name in kept else None for name in in_profile},
            "seed": nearer.options["seed"],
            "profiles": {self.model_name: profile},
            "by_recipe": {*map(".".join, moved), *(chosen & {PROMPT, SYSTEM, *options})},
            "settings": {},
            "sources": {
                name: source
                for name, source in self.base.sources.items()
                if name not in own_options() or name in kept
            },
        }
        benchmark = in_part_of_recipe(
            self.base.benchmarks[0],
            self.recipe,
            registry.recipe,
            prompt=by_recipe(PROMPT),
            system=by_recipe(SYSTEM),
        )
        return self.base.replaced(benchmarks=[benchmark], **cast(PlanArguments, changes))

    def _reason(self, name: str, names: Sequence[str]) -> str:
        """The reason why a field cannot be exchanged; empty if it can be exchanged."""
        if len(names) < 2:
            return ""
        try:
            self._between(frozenset({name}), names)
            self._between(frozenset(names) - {name}, names)
        except UsageError as error:
            return f"cannot be exchanged alone: {error}"
        return ""

    def _words(self) -> list[GapField]:
        """List the prompt and the system message, if they differ."""
        own, others = (_texts(plan.benchmarks[0]) for plan in (self.base, self.by_recipe))
        fields = []
        if own.turns != others.turns:
            preset = self.base.benchmarks[0].provenance.options.get("prompt")
            base = "the benchmark's" if preset is None else f"the preset {preset}"
            recipe = f"{self.ask.recipe}'s {self.ask.manner.prompt}"
            fields.append(GapField(name=PROMPT, base=base, recipe=recipe))
        if own.systems != others.systems:
            first, second = (_shown(texts.systems[0] or None) for texts in (own, others))
            fields.append(GapField(name=SYSTEM, base=first, recipe=second))
        return fields

    def _settings(self) -> list[GapField]:
        """List the differing settings of the model call, of pictures, and of videos."""
        base, other = self._values
        paths: dict[str, list[tuple[str, ...]]] = {}
        for path in dict.fromkeys([*base, *other]):
            if base.get(path) != other.get(path):
                paths.setdefault(_name(path), []).append(path)
        fields = [
            GapField(name=name, base=_shown_all(base, parts), recipe=_shown_all(other, parts))
            for name, parts in paths.items()
        ]
        base_options, other_options = self._options
        fields += [
            GapField(name=name, base=_shown(value), recipe=_shown(other_options[name]))
            for name, value in base_options.items()
            if value != other_options[name]
        ]
        seeds = (self.base.options["seed"], self.by_recipe.options["seed"])
        if seeds[0] != seeds[1]:
            reason = "on average, a different seed does not change the score"
            first, second = map(_shown, seeds)
            fields.append(GapField(name="seed", base=first, recipe=second, reason=reason))
        return fields

    def _scoring(self) -> list[GapField]:
        """List the scoring, if the recipe's figures do not use the headline scoring."""
        benchmark, scoring = self.base.benchmarks[0], figure_scoring(self.ask)
        if not scoring.words or scoring.name == benchmark.headline:
            return []
        is_known = scoring.name in benchmark.scorings
        return [
            GapField(
                name=SCORING,
                base=benchmark.headline,
                recipe=_shown(scoring.name if is_known else scoring.words),
                reason="" if is_known else "Snellen has no such scoring",
            )
        ]

    def _left_out(self) -> list[GapField]:
        """List the recipe's settings that are not sent."""
        settings = {**self.ask.model_settings(), **self.ask.manner.picture}
        fields = []
        for name in self.by_recipe.options["recipe_without"]:
            refused = name in self.refused
            reason = (
                f"{self.model_name} does not support it" if refused else "left out by an option"
            )
            fields.append(
                GapField(name=name, base=UNSET, recipe=_shown(settings.get(name)), reason=reason)
            )
        return fields


def _values(config: RunConfig) -> Values:
    """The resolved values that a run sends with each question, keyed by path in the profile."""
    generation = config.settings.generation
    fields = cast(dict[str, Any], msgspec.to_builtins(config.profile))
    for name in RESOLVED:
        fields[name] = getattr(generation, name)
    return dict(_leaves(fields, ()))


def _leaves(table: Mapping[str, Any], path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    leaves: list[tuple[tuple[str, ...], Any]] = []
    for name, value in table.items():
        if isinstance(value, dict) and value:
            leaves += _leaves(value, (*path, name))
        elif value not in (None, {}):
            leaves.append(((*path, name), value))
    return leaves


def _name(path: tuple[str, ...]) -> str:
    """The name of the field to which a path in the profile belongs."""
    is_thinking = any(path[: len(start)] == start for start in THINKING)
    return "thinking" if is_thinking else ".".join(path)


@dataclass(frozen=True)
class FigureScoring:
    """The scoring of a recipe's published figures."""

    words: str
    """A description of the scoring rule; empty if the recipe does not state the rule."""
    name: str | None
    """The name of Snellen's scoring with this rule; None if Snellen has no such scoring."""


def figure_scoring(ask: recipes.Ask) -> FigureScoring:
    """Describe how a recipe's figures for a data set were scored."""
    scoring = ask.manner.scoring
    if scoring is None:
        return FigureScoring("", None)
    return FigureScoring(f"{scoring}", scoring.scoring or None)


def _profile(base: RunConfig, moved: Values) -> Profile:
    """Create a profile from the base's profile and resolved settings, with the values in `moved`. A
    value of None removes the field."""
    fields: dict[str, Any] = msgspec.to_builtins(base.profile)
    resolved: Values = {(name,): getattr(base.settings.generation, name) for name in RESOLVED}
    for path, value in {**resolved, **moved}.items():
        table = fields
        for name in path[:-1]:
            table = table.setdefault(name, {})
        table.pop(path[-1], None)
        if value is not None:
            table[path[-1]] = value
    fields["extra"] = _without_empty(fields["extra"])
    # Without a temperature in the profile, the benchmark's would be sent.
    fields.setdefault("temperature", "default")
    return msgspec.convert(fields, Profile)


@dataclass(frozen=True)
class MessageTexts:
    """The message texts of a benchmark's first rows."""

    turns: Sequence[object]
    """The messages of each row except system messages, with placeholders for media."""
    systems: Sequence[str]
    """The system messages of each row."""


def _texts(benchmark: Benchmark) -> MessageTexts:
    turns, systems = [], []
    for row in islice(benchmark.data, COMPARED_ROWS):
        messages = benchmark.messages(benchmark.read(row))
        heads = [message for message in messages if message.role == "system"]
        turns.append([_outline(message) for message in messages if message not in heads])
        systems.append("\n".join(map(_text, heads)))
    return MessageTexts(turns, systems)


def _outline(message: Message) -> object:
    """A message's role and its text, with placeholders for media."""
    return message.role, _text(message)


def _text(message: Message) -> str:
    return "".join(
        part if isinstance(part, str) else f"<{type(part).__name__}>" for part in message.content
    )


def _without_empty(table: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a table without inner tables that have become empty."""
    inner = {
        name: _without_empty(value) if isinstance(value, dict) else value
        for name, value in table.items()
    }
    return {name: value for name, value in inner.items() if value != {} or table[name] == {}}


def _shown_all(values: Values, paths: Sequence[tuple[str, ...]]) -> str:
    """Format the values at these paths for a report's table. If there are several paths, each value
    is labeled with the last part of its path."""
    if len(paths) == 1:
        return _shown(values.get(paths[0]))
    parts = [f"{path[-1]} = {_shown(values[path])}" for path in paths if path in values]
    return ", ".join(parts) or UNSET


def _shown(value: object) -> str:
    """Format a value for a report's table."""
    if value is None:
        return UNSET
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
