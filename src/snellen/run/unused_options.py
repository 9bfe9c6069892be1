"""Refuses options that would change nothing: of Python objects, and of judges."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from snellen.core.profile import Profile, Timeouts
from snellen.errors import UsageError
from snellen.run.declarations import declarations
from snellen.run.options import RunOptions

OWN_ROWS = "It has its own rows: make it with others, or pass a benchmark's name."
OWN_FILE = "It has its own rows: pass the path of the file of rows instead."
BENCHMARK_REMEDIES: Mapping[str, str] = {
    "data": OWN_ROWS,
    "task": OWN_FILE,
    "columns": OWN_FILE,
    "prompt": "Make it with that prompt.",
    "shots": "Add the examples to it with `snellen.transforms.shots.with_shots`.",
}
"""Options of benchmarks by name, and what to do where the benchmark is an object."""

ADDRESS = "Set it in the object, or pass the model by name, such as 'openai/NAME'."
MODEL_REMEDIES: Mapping[str, str] = {
    "base_url": ADDRESS,
    "api_key_env": ADDRESS,
    "key_header": ADDRESS,
    "stream": ADDRESS,
    "serve": "A server is started for a model by name, such as 'openai/NAME'.",
    "trust_remote_code": "Load the object with it, or pass the model by name, such as 'hf/NAME'.",
}
"""Fields of a profile that the back ends of models by name read, and what to do otherwise."""

OF_QUESTIONS = (
    *("data", "task", "columns", "prompt", "shots", "shots_from", "shots_seed"),
    *("blind", "permute_options", "open_ended", "probe_seed"),
)
JUDGING_REASONS: Mapping[str, str] = {
    **dict.fromkeys(OF_QUESTIONS, "The run's questions and replies are judged as they are stored."),
    "out": "The verdicts are stored in the run.",
    "reuse": "Verdicts of the same judge are found in the runs beside this one.",
    "missing": "Pass it to `score`.",
    "until_stderr": "All open replies are judged.",
}
"""Options that judging has no use for, and why."""


def check_benchmark_object(name: str, options: RunOptions) -> None:
    """Refuse options that only a benchmark by name can have.

    Raises:
        UsageError: one is set.
    """
    values: Mapping[str, object] = {**options}
    for option, remedy in BENCHMARK_REMEDIES.items():
        if values[option]:
            raise UsageError(
                f"{option} is for benchmarks by name, and {name} is a Benchmark object. {remedy}"
            )


def check_model_object(name: str, profile: Profile) -> None:
    """Refuse what a model's profile, or an option in its place, says and the object never sees.

    Raises:
        UsageError: it says such a thing.
    """
    for field, remedy in MODEL_REMEDIES.items():
        if getattr(profile, field):
            raise UsageError(
                f"{field} is for models by name, and {name} is a Python object. {remedy}"
            )
    timeout = msgspec.structs.replace(profile.timeout, total=Timeouts().total)
    if timeout != Timeouts():
        raise UsageError(
            f"timeout: connect and first are for servers, and {name} is a Python object. Set total "
            "alone."
        )


def check_judging(options: RunOptions) -> None:
    """Refuse options about the questions, or the folder, of a run that is judged.

    Raises:
        UsageError: one is set.
    """
    values: Mapping[str, object] = {**options}
    for option, reason in JUDGING_REASONS.items():
        if values[option] != declarations()[option].option.default:
            raise UsageError(f"{option} has no effect on judging. {reason} Leave it out.")
