"""Probes test whether a score really measures seeing. A probe asks a benchmark's questions without
pictures, with their choices reordered, without choices, or with the part of the picture that
matters. Everything else in the benchmark stays the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from snellen.core.benchmark import Benchmark
from snellen.errors import UsageError
from snellen.transforms.blind import blinded, checked_blind
from snellen.transforms.blind_kinds import CHANGES, Blind

__all__ = ["CHANGES", "Blind", "again", "probed"]


def probed(
    benchmark: Benchmark,
    *,
    blind: str | None = None,
    permute_options: int | None = None,
    open_ended: bool = False,
    oracle_crop: bool = False,
    seed: int = 0,
) -> Benchmark:
    """Apply one probe to a benchmark. Without a probe, the benchmark is returned unchanged. With a
    probe, the benchmark's rows are read once, to count the questions that are asked and the
    questions that are left out.

    Raises:
        UsageError: several probes are set, the probe does not exist, or the benchmark does not
            allow it.
        DataError: a row cannot be read.
    """
    flags = [
        name
        for name, value in {
            "--blind": blind is not None,
            "--permute-options": permute_options is not None,
            "--open-ended": open_ended,
            "--oracle-crop": oracle_crop,
        }.items()
        if value
    ]
    if not flags:
        return benchmark
    (flag, *others) = flags
    if others:
        raise UsageError(
            f"{' and '.join(flags)}: a run can have only one probe. Run each probe separately."
        )
    if benchmark.procedure.kind != "generate" or benchmark.procedure.streaming is not None:
        raise UsageError(
            f"{flag} is only for separate questions that are answered with text, but "
            f"{benchmark.name} asks for "
            f"{'sessions' if benchmark.procedure.kind == 'session' else 'a ranking'} here. Leave "
            f"out {flag}."
        )
    if benchmark.provenance.shots:
        raise UsageError(f"{flag} cannot be combined with examples. Leave out --shots.")
    if blind is not None:
        if blind not in get_args(Blind):
            raise UsageError(f"--blind must be one of {', '.join(get_args(Blind))}, not {blind!r}.")
        return checked_blind(benchmark, blind, seed)
    # Imported only here, because otherwise every run would wait for these imports.
    if permute_options is not None:
        from snellen.transforms.permuted import checked_permuted

        return checked_permuted(benchmark, permute_options, seed)
    if oracle_crop:
        from snellen.transforms.oracle_crop import checked_oracle_crop

        return checked_oracle_crop(benchmark)
    from snellen.transforms.open_ended import checked_open_ended

    return checked_open_ended(benchmark)


def again(benchmark: Benchmark, probe: Mapping[str, object]) -> Benchmark:
    """Apply a run's probe to its benchmark again. `probe` comes from the run's identity. The
    benchmark's data do not need to exist.

    Raises:
        UsageError: this version of Snellen does not know the probe.
    """
    if not probe:
        return benchmark
    rebuilt: Benchmark | None = None
    match probe:
        case {"blind": str(kind)} if kind in get_args(Blind):
            rebuilt = blinded(benchmark, kind, _seed(probe))
        case {"permute_options": int(most)}:
            from snellen.transforms.permuted import permuted

            rebuilt = permuted(benchmark, most, _seed(probe))
        case {"open_ended": True}:
            from snellen.transforms.open_ended import open_ended

            rebuilt = open_ended(benchmark)
        case {"oracle_crop": True}:
            from snellen.transforms.oracle_crop import oracle_crop

            rebuilt = oracle_crop(benchmark)
    if rebuilt is None or rebuilt.provenance.probe != probe:
        settings = ", ".join(f"{name}={value}" for name, value in probe.items())
        raise UsageError(
            f"{benchmark.name}: this version of Snellen does not know the probe {settings}. A "
            "later version wrote the manifest, or somebody changed the manifest by hand. Install "
            "a later version."
        )
    return rebuilt


def _seed(probe: Mapping[str, object]) -> int:
    seed = probe.get("seed")
    return seed if isinstance(seed, int) else 0
