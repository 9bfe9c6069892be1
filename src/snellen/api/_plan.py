"""What is to be run, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from snellen import catalog
from snellen.benchmark import Benchmark, Missing
from snellen.models._profile import Profile
from snellen.result import Result
from snellen.runner import Progress


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Benchmarks × models, and how they are asked; the fields are those of `evaluate`.

    `models` are names, or models that the caller has opened. `profiles` are those of single
    models, by name, in the place of `profile`. `reuse` are run folders: a reply that one of them
    has to the very same request, of the same model, is taken from there.
    """

    benchmarks: Sequence[Benchmark]
    models: Sequence[str | catalog.Opened]
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
    temperature: float | None = None
    missing: Missing | None = None
    score: bool = True
    max_requests: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    reuse: Sequence[Path] = ()
    command: Sequence[str] = ()
    retry: Mapping[str, Any] = field(default_factory=dict)

    def profile_of(self, model: str) -> Profile:
        """The profile of a model, by its name; the plan's `concurrency` goes before its own."""
        profile = self.profiles.get(model, self.profile)
        if self.concurrency is None:
            return profile
        return msgspec.structs.replace(profile, concurrency=self.concurrency)


@dataclass(frozen=True)
class Finished:
    """One run of a plan: its folder, what was done, and its result where it was scored."""

    run: Path
    progress: Progress
    result: Result | None
    stopped: str | None = None
    interrupted: bool = False
