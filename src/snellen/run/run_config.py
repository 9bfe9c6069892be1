"""Resolves the configuration of one run: the benchmark, the model, and all values with their
origins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import msgspec

from snellen import registry
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Generation
from snellen.core.profile import Profile, Serve, Timeouts
from snellen.run import Settings
from snellen.run.declarations import declarations
from snellen.run.effort import fitted, with_sent_fields, without_thinking
from snellen.run.options import RunOptions
from snellen.transforms.coordinates import with_coordinates

Source = Literal["flag", "argument", "plan", "recipe", "profile", "benchmark", "default"]
PRECEDENCE: tuple[Source, ...] = (
    "flag",
    "argument",
    "plan",
    "recipe",
    "profile",
    "benchmark",
    "default",
)
"""The possible origins of a value. The first origin in this order that has a value takes
precedence. `argument` means an option that was passed from Python."""
OF_MODEL = ("base_url", "api_key_env", "concurrency", "trust_remote_code", "effort")
"""Options that a model's profile may set under the same name."""
OF_SAMPLING = ("max_tokens", "temperature")
"""Options that a model's profile or the benchmark may set."""
T = TypeVar("T")


def first_set(candidates: Mapping[Source, T | None]) -> tuple[T | None, Source]:
    """Find the value with the highest precedence, and its origin.

    >>> first_set({"benchmark": 0.0, "profile": 0.5, "plan": None})
    (0.5, 'profile')
    """
    for source in PRECEDENCE:
        if (value := candidates.get(source)) is not None:
            return value, source
    return None, "default"


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """A run of a plan with all values resolved."""

    benchmark: Benchmark
    """The benchmark with all options applied, including the plan's frame policy."""
    model: str | registry.Opened
    """The name of a model, or a model that the caller has opened."""
    profile: Profile
    """The model's profile with the options applied."""
    options: RunOptions
    """All options. Options that are not set have their defaults."""
    settings: Settings
    """How requests are sent."""
    origins: Mapping[str, Source]
    """The origin of each value, keyed by the name of its option or profile field."""
    replaced: Sequence[str] = ()
    """The names of the recipe's values that the user's options replaced with other values."""


def resolve(
    benchmark: Benchmark,
    model: str | registry.Opened,
    profile: Profile,
    options: RunOptions,
    sources: Mapping[str, Source],
    retry: Mapping[str, Any],
) -> RunConfig:
    """Resolve the configuration of a run of this benchmark and model.

    `profile` is the model's profile before options are applied. `sources` maps each option that is
    set to its origin.
    """
    values = _Values(options, sources)
    if benchmark.procedure.frames:
        benchmark = vary(
            benchmark, frames=values.take("frames", benchmark=benchmark.procedure.frames)
        )
    most = _token_limit(values, profile, benchmark)
    temperature = values.take(
        "temperature", profile=profile.temperature, benchmark=benchmark.procedure.temperature
    )
    timeout = None if profile.timeout == Timeouts() else profile.timeout
    values.take("timeout", profile=timeout)
    values.take("serve", profile=profile.serve)
    for name in OF_MODEL:
        values.take(name, profile=getattr(profile, name) or None)
    if options["coordinates"] or profile.coordinates:
        coordinates = values.take("coordinates", profile=profile.coordinates)
        benchmark = with_coordinates(benchmark, coordinates)
    values.origins["attempts"] = "argument" if "attempts" in retry else "default"
    changed = with_options(profile, options)
    name = model if isinstance(model, str) else model.name
    most, temperature = fitted(name, changed, most, temperature, values.origins)
    for limit, value in changed.images.per_picture.items():
        is_own = value == getattr(profile.images, limit)
        values.origins[f"images.{limit}"] = "profile" if is_own else sources["image_size"]
    settings = Settings(
        generation=Generation(
            max_tokens=most,
            temperature=None if temperature == "default" else temperature,
            top_p=values.take("top_p", profile=profile.top_p),
            extra=with_sent_fields(name, changed).extra,
        ),
        seed=options["seed"],
        repeats=options["repeats"],
        timeout=changed.timeout.total,
        on_truncation=options["on_truncation"],
        retry_truncated=options["retry_truncated"],
        allow_urls=options["allow_urls"],
        **retry,
    )
    return RunConfig(
        benchmark=benchmark,
        model=model,
        profile=changed,
        options=options,
        settings=settings,
        origins={**_without_environment(sources), **values.origins},
    )


def _token_limit(values: _Values, profile: Profile, benchmark: Benchmark) -> int:
    """The token limit of a reply, before an effort adds to it."""
    most: int = values.take(
        "max_tokens", profile=profile.max_tokens, benchmark=benchmark.max_answer_tokens
    )
    if profile.token_floor is None or profile.token_floor <= most:
        return most
    values.origins["max_tokens"] = "profile"
    return profile.token_floor


def _without_environment(sources: Mapping[str, Source]) -> Mapping[str, Source]:
    """Select the options that determine the questions or their number."""
    roles = {name: declared.option.group.role for name, declared in declarations().items()}
    return {name: source for name, source in sources.items() if roles[name] != "environment"}


class _Values:
    """Resolves values by precedence and records the origin of each value."""

    def __init__(self, options: Mapping[str, Any], sources: Mapping[str, Source]) -> None:
        self._options = options
        self._sources = sources
        self.origins: dict[str, Source] = {}

    def take(self, name: str, *, profile: Any = None, benchmark: Any = None) -> Any:
        candidates: dict[Source, Any] = {"profile": profile, "benchmark": benchmark}
        if name in self._sources:
            candidates[self._sources[name]] = self._options[name]
        value, self.origins[name] = first_set(candidates)
        return value


def with_options(profile: Profile, options: RunOptions) -> Profile:
    """Apply the options to a profile.

    `image_size` can lower the profile's limit but not raise it.
    """
    values: Mapping[str, Any] = options
    changes = {
        name: values[name]
        for name in (*OF_MODEL, *OF_SAMPLING, "coordinates")
        if values[name] not in (None, "")
    }
    if options["concurrency"] == "auto":
        changes["concurrency"] = None
    if options["timeout"]:
        changes["timeout"] = msgspec.structs.replace(profile.timeout, **values["timeout"])
    if options["serve"]:
        changes["serve"] = Serve(kind=options["serve"], args=[*options["serve_args"]])
    if options["effort"] is not None:
        changes["extra"] = without_thinking(profile.extra)
    size = options["image_size"]
    if isinstance(size, int):
        side = min(size, profile.images.max_side or size)
        changes["images"] = msgspec.structs.replace(profile.images, max_side=side)
    return msgspec.structs.replace(profile, **changes)
