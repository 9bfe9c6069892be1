"""Rejects options that would have no effect on benchmarks and models that are Python objects, or on
judging, and notes coordinates that no scoring reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from snellen.core.benchmark import Benchmark
from snellen.core.profile import Profile, Timeouts
from snellen.errors import UsageError
from snellen.run.declarations import declarations
from snellen.run.options import RunOptions
from snellen.run.token_limit import raised_to

OWN_ROWS = "Create the object with other rows, or pass the name of a benchmark."
OWN_FILE = "The object has its own rows. Pass the path of a file of rows instead."
BENCHMARK_REMEDIES: Mapping[str, str] = {
    "data": OWN_ROWS,
    "task": OWN_FILE,
    "columns": OWN_FILE,
    "prompt": "Create the object with that prompt.",
    "shots": "Add the examples to the object with `snellen.transforms.shots.with_shots`.",
}
"""Options that apply only to benchmarks passed by name, and what to do if the benchmark is an
object."""

ADDRESS = "Set this value in the object, or pass the model by name, such as 'openai/NAME'."
MODEL_REMEDIES: Mapping[str, str] = {
    "base_url": ADDRESS,
    "api_key_env": ADDRESS,
    "key_header": ADDRESS,
    "stream": ADDRESS,
    "serve": "To have a server started, pass the model by name, such as 'openai/NAME'.",
    "trust_remote_code": (
        "Load the object with this setting, or pass the model by name, such as 'hf/NAME'."
    ),
}
"""Fields of a profile that apply only to models passed by name, and what to do if the model is an
object."""

OF_QUESTIONS = (
    *("data", "task", "columns", "prompt", "shots", "shots_from", "shots_seed"),
    *("blind", "permute_options", "open_ended", "oracle_crop", "probe_seed"),
)
JUDGING_REASONS: Mapping[str, str] = {
    **dict.fromkeys(OF_QUESTIONS, "The run's questions and replies are judged as they are stored."),
    "out": "The verdicts are stored in the run.",
    "reuse": "Verdicts of the same judge in other runs in the same folder are always reused.",
    **dict.fromkeys(("tools", "tool_form", "max_steps", "question_tokens"), "Judges use no tools."),
    "missing": "Pass this option to `score`.",
    "until_stderr": "All open replies are judged.",
    "part": "All open replies are judged.",
    "drivers": "One process judges all open replies.",
}
"""Options that have no effect on judging, and the reason."""


def check_benchmark_object(name: str, options: RunOptions) -> None:
    """Reject options that apply only to benchmarks passed by name.

    Raises:
        UsageError: such an option is set.
    """
    values: Mapping[str, object] = {**options}
    for option, remedy in BENCHMARK_REMEDIES.items():
        if values[option]:
            raise UsageError(
                f"{option} applies only to benchmarks passed by name, but {name} is a Benchmark "
                f"object. {remedy}"
            )


def check_model_object(name: str, profile: Profile) -> None:
    """Reject settings that a model object would not get, whether they come from the model's profile
    or from options that override the profile.

    Raises:
        UsageError: the profile has such a setting.
    """
    for field, remedy in MODEL_REMEDIES.items():
        if getattr(profile, field):
            raise UsageError(
                f"{field} applies only to models passed by name, but {name} is a Python object. "
                f"{remedy}"
            )
    timeout = msgspec.structs.replace(profile.timeout, total=Timeouts().total)
    if timeout != Timeouts():
        raise UsageError(
            f"timeout: connect and first apply only to servers, but {name} is a Python object. Set "
            "only total."
        )


def check_tool_options(options: RunOptions) -> None:
    """Reject options about tools without tools, and options that do not work with tools.

    Raises:
        UsageError: such an option is set.
    """
    values: Mapping[str, object] = {**options}
    if not options["tools"]:
        for name in ("tool_form", "max_steps", "question_tokens"):
            if values[name] is not None:
                flag = name.replace("_", "-")
                raise UsageError(f"--{flag} is for questions with tools. Add --tools NAME.")
        return
    again = {
        "--retry-truncated": options["retry_truncated"],
        "--on-truncation raise:N": raised_to(options["on_truncation"]),
    }
    for flag, tokens in again.items():
        if tokens is not None:
            raise UsageError(
                f"{flag} works only without --tools. Set --max-tokens, which starts a new run."
            )


def coordinates_notes(benchmark: Benchmark, coordinates: str | None) -> Iterator[str]:
    """Yield a note if the option `coordinates` is set, but no scoring of the benchmark reads it."""
    if coordinates is None:
        return
    if all(scoring.coordinates is None for scoring in benchmark.scorings.values()):
        yield (
            f"--coordinates {coordinates} has no effect, because no scoring of {benchmark.name} "
            "reads boxes or points in the model's coordinates"
        )


def check_judging(options: RunOptions) -> None:
    """Reject options that would change the questions or the folder of a run that is judged.

    Raises:
        UsageError: such an option is set.
    """
    values: Mapping[str, object] = {**options}
    for option, reason in JUDGING_REASONS.items():
        if values[option] != declarations()[option].option.default:
            raise UsageError(f"{option} has no effect on judging. {reason} Leave the option out.")
