"""Is the score about seeing? A benchmark asked without its pictures, with its options in other
places, or without options. What it asks otherwise stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from snellen.core.benchmark import Benchmark
from snellen.errors import UsageError
from snellen.transforms.blind import CHANGES, Blind, blinded, checked_blind

__all__ = ["CHANGES", "Blind", "again", "probed"]


def probed(
    benchmark: Benchmark,
    *,
    blind: str | None = None,
    permute_options: int | None = None,
    open_ended: bool = False,
    seed: int = 0,
) -> Benchmark:
    """The benchmark under one probe, or as it is without any; its rows are read once, to say what
    is asked and what is left out.

    Raises:
        UsageError: several probes at once, there is no such probe, or the benchmark cannot be asked
            so. DataError: a row cannot be read.
    """
    flags = [
        name
        for name, value in {
            "--blind": blind is not None,
            "--permute-options": permute_options is not None,
            "--open-ended": open_ended,
        }.items()
        if value
    ]
    if not flags:
        return benchmark
    (flag, *others) = flags
    if others:
        raise UsageError(f"{' and '.join(flags)}: one probe a run, each in a call of its own.")
    if benchmark.procedure.kind != "generate" or benchmark.procedure.streaming is not None:
        raise UsageError(
            f"{flag} is for questions that are answered in words, one by one: {benchmark.name} "
            f"asks for {'sessions' if benchmark.procedure.kind == 'session' else 'a ranking'} here."
        )
    if benchmark.provenance.shots:
        raise UsageError(f"{flag} asks questions alone: leave --shots out.")
    if blind is not None:
        if blind not in get_args(Blind):
            raise UsageError(f"--blind is {', '.join(get_args(Blind))}, not {blind!r}.")
        return checked_blind(benchmark, blind, seed)
    # Imported where they are asked for: every run would wait for them.
    if permute_options is not None:
        from snellen.transforms.permuted import checked_permuted

        return checked_permuted(benchmark, permute_options, seed)
    from snellen.transforms.open_ended import checked_open_ended

    return checked_open_ended(benchmark)


def again(benchmark: Benchmark, probe: Mapping[str, object]) -> Benchmark:
    """The benchmark as a run asked it, by the `probe` of its identity; its data need not be there.

    Raises:
        UsageError: a later version's probe.
    """
    if not probe:
        return benchmark
    changed: Benchmark | None = None
    match probe:
        case {"blind": str(kind)} if kind in get_args(Blind):
            changed = blinded(benchmark, kind, _seed(probe))
        case {"permute_options": int(most)}:
            from snellen.transforms.permuted import permuted

            changed = permuted(benchmark, most, _seed(probe))
        case {"open_ended": True}:
            from snellen.transforms.open_ended import open_ended

            changed = open_ended(benchmark)
    if changed is None or changed.provenance.probe != probe:
        description = ", ".join(f"{name}={value}" for name, value in probe.items())
        raise UsageError(
            f"{benchmark.name}: this version has no probe {description}. A later version made the "
            "run, or the manifest was edited."
        )
    return changed


def _seed(probe: Mapping[str, object]) -> int:
    seed = probe.get("seed")
    return seed if isinstance(seed, int) else 0
