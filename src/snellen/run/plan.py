"""A plan of runs, and the outcome of each run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import msgspec

from snellen import registry
from snellen.core.benchmark import Benchmark, with_note
from snellen.core.model import Reply
from snellen.core.profile import Profile, Serve, read_profile
from snellen.core.sample import Sample
from snellen.errors import UsageError
from snellen.media import video
from snellen.models.executors.replicas import Replicas
from snellen.run import Progress
from snellen.run.declarations import declarations, with_defaults
from snellen.run.effort import sent_fields
from snellen.run.options import RunOptions
from snellen.run.parts import check_divisible
from snellen.run.recipe_notes import without_note
from snellen.run.run_config import RunConfig, Source, resolve, with_options
from snellen.run.unused_options import (
    check_benchmark_object,
    check_model_object,
    check_tool_options,
    coordinates_notes,
)
from snellen.transforms.probes import probed

if TYPE_CHECKING:
    from snellen.analysis.result import Result

OnSample = Callable[[Sample, Reply, Mapping[str, float | None]], object]
"""Called after each sample's final reply is stored, with its score under each scoring."""


class PlanArguments(RunOptions, total=False):
    """The keyword arguments of a plan: all options, and values that only code can set."""

    profiles: Mapping[str, Profile]
    """Profiles of single models, keyed by name. These profiles take precedence over the option
    `profile`."""
    profiles_source: Source
    """The origin of the profiles of single models: `plan` if the profiles are tables of a plan
    file."""
    settings: Mapping[str, Sequence[Any]]
    """Options with several values, each in its own run; possible for `frames`, `image_size`, and
    `effort`."""
    setting: Mapping[str, Any]
    """In a plan that `by_setting` returns: this plan's value of each setting for which the original
    plan has several values."""
    sources: Mapping[str, Source]
    """The origins of options. Options that are not listed have the origin `argument`."""
    by_recipe: Collection[str] | None
    """In a plan that `by_setting` returns: the fields of the profiles that come from a recipe."""
    score: bool
    """Whether runs are scored after their questions have been asked."""
    reuse_strictly: bool
    """Whether it is an error if a model has no run among the runs to reuse."""
    command: Sequence[str]
    """The words of the command line, for the manifest."""
    is_driver: bool
    """Whether a supervisor has started this process to ask a part of its runs (`drivers`)."""
    retry: Mapping[str, Any]
    """Fields of `Settings` about retries."""
    on_sample: OnSample | None
    """Called after each new reply is stored."""


class Plan:
    """A grid of runs: each benchmark with each model, in each setting.

    Raises:
        UsageError: an option has an invalid value, or conflicts with other options.
    """

    def __init__(
        self,
        *,
        benchmarks: Sequence[Benchmark],
        models: Sequence[str | registry.Opened],
        **arguments: Unpack[PlanArguments],
    ) -> None:
        self.benchmarks = benchmarks
        """The benchmarks with all options applied except frame policies."""
        self.models = models
        """Names of models, or opened models that the caller passed."""
        chosen = {name: value for name, value in arguments.items() if name not in PARTS}
        self.options = with_defaults(chosen)
        """All options. Options that are not set have their defaults."""
        read = {name: value for name, value in self.options.items() if name in chosen}
        # Options as parsed, so that a plan derived from this one does not download runs or data
        # again.
        self._arguments = cast(PlanArguments, {**arguments, **read})
        self.sources: Mapping[str, Source] = {
            **{name: "argument" for name, value in chosen.items() if value is not None},
            **arguments.get("sources", {}),
        }
        """The origin of each option that is set."""
        self.profile = _profile(self.options)
        """The profile of all models that have no profile of their own, before options are
        applied."""
        self.profiles = arguments.get("profiles", {})
        self.profiles_source: Source = arguments.get("profiles_source", "profile")
        self.settings = arguments.get("settings", {})
        self.setting = arguments.get("setting", {})
        self.by_recipe = arguments.get("by_recipe")
        self.score = arguments.get("score", True)
        self.reuse_strictly = arguments.get("reuse_strictly", True)
        self.command = arguments.get("command", ())
        self.is_driver = arguments.get("is_driver", False)
        self.retry = arguments.get("retry", {})
        self.on_sample = arguments.get("on_sample")
        self.replicas = _replicas(self.options)
        """How many copies of each model Ray runs; None: Ray runs no models."""
        self._check()

    @property
    def out(self) -> Path:
        """The folder that contains the run folders."""
        return cast(Path, self.options["out"])

    @property
    def reuse(self) -> Sequence[Path]:
        """Run folders whose replies to identical requests are reused."""
        return cast(Sequence[Path], self.options["reuse"])

    def replaced(
        self,
        *,
        benchmarks: Sequence[Benchmark] | None = None,
        models: Sequence[str | registry.Opened] | None = None,
        **changes: Unpack[PlanArguments],
    ) -> Plan:
        """Copy this plan with other benchmarks, models, or arguments."""
        return Plan(
            benchmarks=self.benchmarks if benchmarks is None else benchmarks,
            models=self.models if models is None else models,
            **cast(PlanArguments, {**self._arguments, **changes}),
        )

    def by_setting(self) -> list[Plan]:
        """Split this plan into one plan for each combination of settings. With a recipe, each
        benchmark also gets its own plans."""
        recipe = self.options["recipe"]
        if recipe is not None and self.by_recipe is None:
            plans = [
                self.replaced(benchmarks=[benchmark], **self._recipe_arguments(benchmark, recipe))
                for benchmark in self.benchmarks
            ]
            return [swept for plan in plans for swept in plan.by_setting()]
        if not self.settings:
            return [self]
        distinct = {name: [*dict.fromkeys(values)] for name, values in self.settings.items()}
        plans = []
        for combination in product(*distinct.values()):
            values = dict(zip(distinct, combination, strict=True))
            swept = {name: value for name, value in values.items() if len(distinct[name]) > 1}
            changes = {**values, "settings": {}, "setting": swept}
            plans.append(self.replaced(**cast(PlanArguments, changes)))
        return plans

    def _recipe_arguments(self, benchmark: Benchmark, recipe: str) -> PlanArguments:
        """The arguments that a recipe changes in a plan for one benchmark: profiles, the seed, and
        the origins of options."""
        from snellen.run.recipe_settings import OF_VIDEOS, Videos, with_recipe
        from snellen.transforms.recipe import ask_for

        ask = ask_for(benchmark, recipe, registry.recipe)
        without = self.options["recipe_without"]
        names = [model if isinstance(model, str) else model.name for model in self.models]
        videos: Videos = "" if not benchmark.procedure.frames else "by recipe"
        if videos and "frames" in self.sources:
            videos = "by user"
        by_model = {
            name: with_recipe(
                _with_address(self.profiles.get(name, self.profile), self.options),
                ask,
                name,
                without,
                videos,
                benchmark.procedure.frames or "",
                benchmark.max_answer_tokens,
            )
            for name in names
        }
        first = next(iter(by_model.values()))
        seed = self.options["seed"] if "seed" in self.sources else first.seed
        sources = dict(self.sources)
        if seed is not None:
            sources.setdefault("seed", "recipe")
        if first.frames is not None:
            sources["frames"] = "recipe"
        tools = {name: value for name, value in first.tools.items() if name not in sources}
        sources |= dict.fromkeys(tools, "recipe")
        fields = first.fields
        stated = {*ask.model_settings(), *ask.manner.picture} - {*without}
        if videos == "by user" and not stated.isdisjoint(OF_VIDEOS):
            fields |= {"frames"}  # the option replaces them
        return PlanArguments(
            profiles={name: settings.profile for name, settings in by_model.items()},
            by_recipe=fields,
            sources=sources,
            **({} if seed is None else {"seed": seed}),
            **({} if first.frames is None else {"frames": first.frames}),
            **cast(RunOptions, tools),
        )

    def profile_of(self, model: str) -> Profile:
        """The profile of the model with this name, with the options applied."""
        return with_options(self.profiles.get(model, self.profile), self.options)

    def config(self, model: str | registry.Opened, benchmark: Benchmark) -> RunConfig:
        """The configuration of the run of one model on one benchmark."""
        name = model if isinstance(model, str) else model.name
        profile = self.profiles.get(name, self.profile)
        config = resolve(benchmark, model, profile, self.options, self.sources, self.retry)
        by_recipe = self.by_recipe or ()
        # A recipe that sets thinking leaves the profile without an effort, hence `default`.
        origins = {
            **dict.fromkeys(by_recipe, "recipe"),
            **{
                field: "recipe"
                if field in by_recipe and source in ("profile", "default")
                else self.profiles_source
                if source == "profile" and name in self.profiles
                else source
                for field, source in config.origins.items()
            },
        }
        replaced = [
            field
            for field in sorted(by_recipe)
            if origins[field] != "recipe" and _differs(config, profile, field)
        ]
        return replace(config, origins=cast(Mapping[str, Source], origins), replaced=replaced)

    def _check(self) -> None:
        for benchmark in self.benchmarks:
            if not isinstance(benchmark, Benchmark):
                raise UsageError(
                    "benchmark must be one name, one file of rows or one Benchmark, not "
                    f"{benchmark!r:.80}."
                )
        for model in self.models:
            if not isinstance(model, str):
                check_model_object(model.name, self.profile_of(model.name))
        options = self.options
        if options["recipe"] is None or self.by_recipe is not None:  # a recipe may set tools
            check_tool_options(options)
        if options["part"] is not None or (options["drivers"] or 1) > 1:
            check_divisible(options)
            if options["part"] is not None and options["drivers"] and not self.is_driver:
                raise UsageError(
                    "--drivers divides the run into parts by itself. Leave out --part. For several "
                    "machines, start one process for each part (--part I/N) on each machine."
                )
        names = ", ".join(benchmark.name for benchmark in self.benchmarks)
        videos = [benchmark.name for benchmark in self.benchmarks if benchmark.procedure.frames]
        if options["frames"] is not None:
            video.policy(options["frames"])
            if not videos:
                raise UsageError(
                    f"--frames sets how videos are shown, but {names} shows none. Leave the option "
                    "out."
                )
        if isinstance(options["image_size"], int) and videos:
            raise UsageError(
                f"--image-size is for pictures, but {', '.join(videos)} shows videos. Use --frames "
                "POLICY,pixels=N instead."
            )
        self._check_prices()
        for model in self.models:
            name = model if isinstance(model, str) else model.name
            sent_fields(name, self.profile_of(name))
        if options["adapter"] is not None and all(
            benchmark.procedure.kind != "session" for benchmark in self.benchmarks
        ):
            raise UsageError(
                f"--adapter sets how a model is shown a stream, but {names} has no streams. Leave "
                "the option out."
            )
        if options["serve_args"] and not options["serve"]:
            raise UsageError("--serve-arg is for the server that --serve starts. Add --serve.")

    def _check_prices(self) -> None:
        """Reject prices that several models share, since the reported cost would be wrong.

        Raises:
            UsageError: the plan's profile has prices, and several models share it.
        """
        names = [model if isinstance(model, str) else model.name for model in self.models]
        sharing = [*dict.fromkeys(name for name in names if name not in self.profiles)]
        if self.profile.prices is not None and len(sharing) > 1:
            raise UsageError(
                f"The profile has prices, but {len(sharing)} models share it: "
                f"{', '.join(sharing)}. Prices apply to a single model. Run each model with its "
                "own profile, or set the prices of each in a plan file ([[models]])."
            )


PARTS = frozenset(PlanArguments.__annotations__) - frozenset(RunOptions.__annotations__)
"""The arguments of a plan that are not options."""


def load_benchmarks(
    specs: Sequence[str | Benchmark], prompts: Collection[str] = (), **options: Unpack[RunOptions]
) -> list[Benchmark]:
    """Load benchmarks, once for each prompt preset, and apply the options for recipes, few-shot
    examples, and probes.

    Raises:
        SnellenError: a name or an option is invalid, or data cannot be read.
    """
    chosen = with_defaults(options)
    if (chosen["shots_from"] or chosen["shots_seed"]) and not chosen["shots"]:
        raise UsageError(
            "--shots-from and --shots-seed select the examples that are shown. Set the number of "
            "examples with --shots."
        )
    if chosen["probe_seed"] and chosen["blind"] != "other" and not chosen["permute_options"]:
        raise UsageError(
            "--probe-seed draws other pictures or orders of choices. Use --probe-seed with --blind "
            "other or --permute-options."
        )
    if chosen["sample_seed"] and not (chosen["sample"] or chosen["until_stderr"]):
        raise UsageError("--sample-seed draws other rows. Set the number of rows with --sample.")
    names = [spec for spec in specs if isinstance(spec, str)]
    # If any of the benchmarks reads data, `data` does not apply to those that generate their own.
    reading = {name for name in names if registry.reads_data(name)} or set(names)
    presets = dict.fromkeys(prompts) or (chosen["prompt"],)
    benchmarks = []
    for spec, preset in product(specs, presets):
        if isinstance(spec, str):
            data = cast(Path | None, chosen["data"]) if spec in reading else None
            benchmark = _load(spec, preset, data, chosen)
        else:
            if isinstance(spec, Benchmark):
                check_benchmark_object(spec.name, chosen)
            benchmark = spec
        if chosen["recipe"] is not None:
            if preset is not None:
                raise UsageError("--recipe sets the prompt. Leave --prompt out.")
            benchmark = _by_recipe(benchmark, chosen)
        for note in coordinates_notes(benchmark, chosen["coordinates"]):
            benchmark = with_note(benchmark, note)
        benchmarks.append(
            probed(
                benchmark,
                blind=chosen["blind"],
                permute_options=chosen["permute_options"],
                open_ended=chosen["open_ended"],
                oracle_crop=chosen["oracle_crop"],
                seed=chosen["probe_seed"],
            )
        )
    registry.check_names(benchmarks)
    return benchmarks


def _by_recipe(benchmark: Benchmark, options: RunOptions) -> Benchmark:
    # Imported on use, since few runs have a recipe.
    from snellen.run.recipe_settings import MANY_TOKENS, lacks_limit
    from snellen.transforms.recipe import ask_for, in_words_of_recipe

    recipe = options["recipe"]
    assert recipe is not None
    benchmark = in_words_of_recipe(benchmark, recipe, registry.recipe)
    if options["recipe_without"]:
        benchmark = with_note(benchmark, without_note(options["recipe_without"]))
    if lacks_limit(ask_for(benchmark, recipe, registry.recipe)):
        note = (
            "the recipe states no token limit of a reply; unless --max-tokens or the profile sets "
            f"one, it is {MANY_TOKENS:,}, or the benchmark's if that is higher"
        )
        benchmark = with_note(benchmark, note)
    return benchmark


def _load(spec: str, preset: str | None, data: Path | None, options: RunOptions) -> Benchmark:
    own = {"prompt": preset} if preset else None
    columns = options["columns"]
    with registry.toolkit_code(bool(options["run_toolkit_code"])):
        benchmark = registry.benchmark(
            spec, data=data, task=options["task"], columns=columns, options=own
        )
    if options["shots"] is None:
        return benchmark
    return registry.few_shot(
        spec,
        benchmark,
        options["shots"],
        source=options["shots_from"],
        seed=options["shots_seed"],
        data=data,
        columns=columns,
        options=own,
    )


def _differs(config: RunConfig, profile: Profile, field: str) -> bool:
    """Whether a run sends another value of a field than the profile has. True for a field that
    profiles do not have, because then only the origin of its value matters."""
    sent = getattr(config.settings.generation, field, None)
    return sent is None or sent != getattr(profile, field, None)


def _with_address(profile: Profile, options: RunOptions) -> Profile:
    """Add the server that the options name to a profile, since the server determines which settings
    can be sent."""
    changes: dict[str, Any] = {}
    if options["base_url"]:
        changes["base_url"] = options["base_url"]
    if options["serve"]:
        changes["serve"] = Serve(kind=options["serve"], args=[*options["serve_args"]])
    return msgspec.structs.replace(profile, **changes)


def _profile(options: RunOptions) -> Profile:
    profile = options["profile"]
    if profile is None or isinstance(profile, Profile):
        return profile or Profile()
    return read_profile(Path(profile))


def _replicas(options: RunOptions) -> Replicas | None:
    """The replicas that the options request; None: Ray runs no models. With `drivers`, the executor
    is for the drivers.

    Raises:
        UsageError: the options set details of replicas but do not request replicas.
    """
    address, gpus = options["ray_address"], options["gpus_per_replica"]
    if options["replicas"] is None and options["executor"] is None:
        if address is not None or gpus is not None:
            raise UsageError(
                "--ray-address and --gpus-per-replica need --replicas N or --executor ray."
            )
        return None
    if options["replicas"] is None and (options["drivers"] or 1) > 1:
        if gpus is not None:
            raise UsageError(
                "--gpus-per-replica is for copies of a local model, and drivers need no GPU. Leave "
                "it out."
            )
        return None
    return Replicas(n=options["replicas"], address=address, gpus=gpus)


def check_missing(missing: object) -> None:
    """Check that `missing` is a valid way to count failed questions.

    Raises:
        UsageError: `missing` is not valid.
    """
    declarations()["missing"].check(missing)


@dataclass(frozen=True)
class Finished:
    """A run of a plan that has ended."""

    run: Path
    """The run folder."""
    progress: Progress
    """The progress when the run ended."""
    result: Result | None
    """The result; None if the run was not scored."""
    stopped: str | None = None
    """Why the run stopped early; None if it did not stop early."""
    interrupted: bool = False
    """Whether the user or a budget stopped the run."""
    has_goal: bool = False
    """Whether the run stopped because the headline is precise enough (`until_stderr`)."""
    row_indices: frozenset[int] | None = None
    """The rows of the data set that the plan selects; None: all rows."""

    @property
    def scope_note(self) -> str | None:
        """A note if the report covers more questions than this invocation selected. `limit` and
        `sample` are not part of the identity, so other stored replies stay in the report."""
        progress, result = self.progress, self.result
        if result is None or progress.total is None:
            return None
        n = result.report.conversations or result.report.n
        if n <= progress.total:
            return None
        stored = n - result.failed - progress.done
        return (
            f"{progress.name}: the run already had {stored:,} replies; the report covers all {n:,} "
            f"questions asked so far, not just the {progress.total:,} selected now"
        )
