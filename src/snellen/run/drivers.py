"""Runs a plan with several processes: a supervisor on this machine, and its drivers, which are on
this machine too unless Ray places them.

Each driver runs the same command with a part of its own, and reports its progress to the
supervisor (`supervisor.py`). The supervisor scores the runs at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from snellen import registry
from snellen.errors import UsageError
from snellen.run.declarations import Declaration, declarations
from snellen.run.lifecycle import Show
from snellen.run.parts import share
from snellen.run.plan import Finished, Plan
from snellen.run.readiness import combined, missing_for_scores
from snellen.run.run_plan import end_plan, run_plan
from snellen.store import RunPart


def run_with_drivers(
    plan: Plan,
    words: Sequence[str],
    show: Show | None = None,
    at_once: Callable[[], NoReturn] | None = None,
) -> list[Finished]:
    """Run a plan, with several drivers if it has the option `drivers`. `words` is a command line
    that leads to the plan, from `run` on. The other arguments are those of `run_plan`.

    Raises:
        SnellenError: an error that the caller can fix. Stored replies are kept.
    """
    drivers = plan.options["drivers"] or 1
    if drivers == 1 or plan.is_driver:
        return run_plan(plan, show, at_once)
    _check(plan, drivers)
    from snellen.run.supervisor import Supervisor  # imported on use: most runs have one driver

    started = time.monotonic()

    def words_of(part: RunPart) -> list[str]:
        seconds = time.monotonic() - started
        return [*words, "--part", str(part), *_shares(plan.options, part, seconds)]

    # A driver that was lost may have sent requests that it has not reported.
    has_budget = plan.options["max_requests"] is not None or plan.options["max_cost"] is not None
    supervise = partial(Supervisor, drivers, words_of, show, at_once, restarts=not has_budget)
    if plan.options["executor"] is None:
        return end_plan(plan, supervise().run())
    from snellen.run.ray_drivers import RayDrivers  # imported on use, like Ray

    with RayDrivers(drivers, plan.options["ray_address"], plan.out) as placed:
        outcomes = supervise(start=placed.start).run()
    return end_plan(plan, outcomes)


def _check(plan: Plan, drivers: int) -> None:
    """Check that a plan can be run by several processes.

    Raises:
        UsageError: it cannot, or its replies cannot be scored.
    """
    if errors := missing_for_scores(plan):
        raise combined(errors)
    for spec in plan.models:
        if not isinstance(spec, str) or registry.runs_in_this_process(spec):
            name = spec if isinstance(spec, str) else spec.name
            raise UsageError(
                f"{name}: --drivers is for models on a server, and this model runs in the process "
                "that asks it. For several copies of a local model, use --replicas N."
            )
        if plan.profile_of(spec).serve is not None:
            raise UsageError(
                f"{spec}: with --drivers, each process would start its own server. Start the "
                "server yourself, and pass its address with --base-url."
            )
        if plan.replicas is not None:
            raise UsageError(f"{spec}: use either --drivers or --replicas, not both.")
    if plan.on_sample is not None:
        raise UsageError("on_sample is called in this process. Leave out drivers.")
    most = plan.options["max_requests"]
    if most is not None and most < drivers:
        raise UsageError(
            f"--max-requests {most} cannot be divided among {drivers} drivers. Use --drivers "
            f"{most} or fewer."
        )


def _shares(options: Mapping[str, Any], part: RunPart, seconds: float) -> list[str]:
    """The options that give a driver its share of the budget. `seconds` is the time that has
    passed."""
    words: list[str] = []
    if (requests := options["max_requests"]) is not None:
        words += ["--max-requests", str(share(requests, part))]
    if (cost := options["max_cost"]) is not None:
        words += ["--max-cost", repr(cost / part.total)]
    if (most := options["max_time"]) is not None:
        words += ["--max-time", f"{max(0.001, most - seconds):.3f}s"]
    return words


def command_words(
    benchmarks: Sequence[object], models: Sequence[object], options: Mapping[str, Any]
) -> list[str]:
    """The command line of `snellen run` that is equivalent to arguments of `evaluate`.

    Raises:
        UsageError: an argument is an object that cannot be written on a command line.
    """
    words = ["run"]
    for flag, names in (("-b", benchmarks), ("-m", models)):
        for name in names:
            if not isinstance(name, str):
                raise UsageError(
                    "drivers is for a benchmark and a model that are passed by name, since each "
                    f"process opens them. {name!r:.80} is an object."
                )
            words += [flag, name]
    known = declarations()
    for name, value in options.items():
        if value is not None and value != known[name].option.default:
            words += _words(known[name], value)
    return words


def _words(declared: Declaration, value: Any) -> list[str]:
    flag = f"--{declared.flag.replace('_', '-')}"
    if value is True or value is False:
        return [flag] if value else []
    if isinstance(value, Mapping):
        pairs = [f"{name}={item}" for name, item in value.items()]
        if declared.is_mapping_of_flags:
            return [word for pair in pairs for word in (flag, pair)]
        return [flag, ",".join(pairs)]
    if declared.is_list:
        return [word for item in value for word in (flag, f"{item}")]
    if not isinstance(value, str) and declared.name == "profile" and not hasattr(value, "parts"):
        raise UsageError(
            "drivers needs a profile in a file, since each process reads it. Pass the path of a "
            "TOML file."
        )
    return [flag, f"{value}"]
