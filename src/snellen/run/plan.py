"""What is to be run, and what became of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from snellen import registry
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Reply
from snellen.core.profile import Profile
from snellen.core.sample import Sample
from snellen.core.scoring import Missing
from snellen.errors import UsageError
from snellen.media import video
from snellen.models.executors.replicas import Replicas
from snellen.run import Progress

OnSample = Callable[[Sample, Reply, Mapping[str, float | None]], object]
"""Is told of each sample that has its last reply, with what each scoring gives it."""
COUNTS = ("limit", "sample", "repeats", "concurrency", "max_tokens", "max_requests")
"""Fields that are numbers from 1 on."""
AMOUNTS = ("temperature", "max_cost", "max_seconds")
"""Fields that are numbers from 0 on."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Benchmarks × models, and how they are asked; the fields are those of `evaluate`.

    `models` are names, or models that the caller has opened. `profiles` are those of single
    models, by name, in the place of `profile`. `reuse` are run folders: a reply that one of them
    has to the very same request, of the same model, is taken from there; `reuse_strictly` says that
    it is an error if none of them is that model's. `frames` is a frame policy in the place of the
    benchmarks' own; `adapter` how a model is shown a stream (`registry.watching`). `replicas` are
    those that each model has in workers of Ray. `on_sample` is told of each new reply.

    Raises:
        UsageError: a field is what it may not be.
    """

    benchmarks: Sequence[Benchmark]
    models: Sequence[str | registry.Opened]
    profile: Profile = field(default_factory=Profile)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    out: Path = Path("runs")
    limit: int | None = None
    sample: int | None = None
    sample_seed: int = 0
    repeats: int = 1
    concurrency: int | None = None
    seed: int | None = None
    max_tokens: int | None = None
    temperature: float | Literal["default"] | None = None
    frames: str | None = None
    adapter: str | None = None
    replicas: Replicas | None = None
    missing: Missing | None = None
    allow_urls: bool = False
    score: bool = True
    max_requests: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    reuse: Sequence[Path] = ()
    reuse_strictly: bool = True
    command: Sequence[str] = ()
    retry: Mapping[str, Any] = field(default_factory=dict)
    on_sample: OnSample | None = None

    def __post_init__(self) -> None:
        for name in COUNTS:
            value = getattr(self, name)
            absent = value is None and name != "repeats"
            if not absent and not (_is_whole(value) and value >= 1):
                raise UsageError(f"{name} is a whole number from 1 on, not {value!r}.")
        for name in AMOUNTS:
            value = getattr(self, name)
            if name == "temperature" and value == "default":
                continue
            number = _is_whole(value) or isinstance(value, float)
            if value is not None and not (number and 0 <= value < math.inf):
                raise UsageError(f"{name} is a number from 0 on, not {value!r}.")
        for name in ("seed", "sample_seed"):
            value = getattr(self, name)
            if value is not None and not _is_whole(value):
                raise UsageError(f"{name} is a whole number, not {value!r}.")
        check_missing(self.missing)
        for made in self.benchmarks:
            if not isinstance(made, Benchmark):
                raise UsageError(
                    f"benchmark is one name, one file of rows or one Benchmark, not {made!r:.80}."
                )
        if self.frames is not None:
            video.policy(self.frames)
            if not any(made.frames for made in self.benchmarks):
                raise UsageError(
                    f"--frames says how videos are shown, and "
                    f"{', '.join(made.name for made in self.benchmarks)} shows none."
                )

        self._check_prices()
        if self.adapter is not None and all(made.ask != "session" for made in self.benchmarks):
            raise UsageError(
                "--adapter says how a model is shown a stream, and "
                f"{', '.join(made.name for made in self.benchmarks)} streams nothing."
            )

    def _check_prices(self) -> None:
        """Refuse prices that several models share: the cost would be wrong without a warning.

        Raises:
            UsageError: the plan's one profile has prices, and several models share it.
        """
        names = [model if isinstance(model, str) else model.name for model in self.models]
        sharing = [*dict.fromkeys(name for name in names if name not in self.profiles)]
        if self.profile.prices is not None and len(sharing) > 1:
            raise UsageError(
                f"The profile has prices, but {len(sharing)} models share it: "
                f"{', '.join(sharing)}. Prices apply to a single model. Run each model with its "
                "own profile, or set the prices of each in a plan file ([[models]])."
            )

    def asked(self) -> list[Benchmark]:
        """The benchmarks, those with videos by the plan's frame policy, if it has one."""
        if self.frames is None:
            return [*self.benchmarks]
        return [vary(made, frames=made.frames and self.frames) for made in self.benchmarks]

    def profile_of(self, model: str) -> Profile:
        """The profile of a model, by its name; what the plan says goes before its own."""
        named = ("concurrency", "max_tokens", "temperature")
        said = {name: value for name in named if (value := getattr(self, name)) is not None}
        return msgspec.structs.replace(self.profiles.get(model, self.profile), **said)


def _is_whole(value: object) -> bool:
    """Whether it is a whole number; True is an int too, and counts nothing."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_missing(missing: object) -> None:
    """That failed questions can count as this.

    Raises:
        UsageError: they cannot.
    """
    if missing is not None and missing not in get_args(Missing):
        raise UsageError(f"missing is {' or '.join(get_args(Missing))}, not {missing!r}.")


@dataclass(frozen=True)
class Finished:
    """One run of a plan: its folder, what was done, and its result where it was scored."""

    run: Path
    progress: Progress
    result: Result | None
    stopped: str | None = None
    interrupted: bool = False
