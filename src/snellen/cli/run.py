"""snellen run: ask, store, score, report."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, get_args

import click
import msgspec

from snellen import api, registry, report
from snellen.analysis.result import Result, plain
from snellen.cli import _cost, _parse, _plan_file
from snellen.cli._complete import benchmarks, models
from snellen.cli._exit import DONE, FELL_SHORT, INTERRUPTED, WRONG_USE, leave_at_once
from snellen.cli._places import OUT, RUNS
from snellen.cli._profile_options import flagged
from snellen.cli._row_options import row_options
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put, put_results
from snellen.cli.progress_lines import ProgressLines
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.profile import Profile, read_profile
from snellen.errors import UsageError
from snellen.metrics import direction
from snellen.models.executors.replicas import Replicas
from snellen.registry import suites
from snellen.run import Progress
from snellen.scoring import MetricReport, Scored, Tally
from snellen.transforms import probes

NUMBER = click.IntRange(1)
PATH = click.Path(path_type=Path)
SERVERS = ("vllm", "sglang", "transformers")
ROBUST = "robust"
"""The scoring of our own that most benchmarks have."""
FRACTION = "fraction"
"""The unit of metrics that lie between 0 and 1."""


@click.command("run")
@click.argument(
    "plan_file",
    required=False,
    is_eager=True,
    type=PATH,
    callback=_plan_file.use,
    metavar="[PLAN.toml]",
)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    shell_complete=models,
    help="A model's name (`snellen list models`); repeatable.",
)
@click.option(
    "-b",
    "--benchmark",
    "benchmarks",
    multiple=True,
    metavar="BENCH",
    shell_complete=benchmarks,
    help="A benchmark with options (`mathvision:split=testmini`), a file of rows, or a suite "
    "(`suite:quick`, `suite:mine.toml`); repeatable.",
)
@row_options
@click.option(
    "--prompt",
    "prompts",
    multiple=True,
    metavar="PRESET",
    help="A prompt preset of the benchmark; repeated, each is a run, and all are compared.",
)
@click.option(
    "--frames",
    "frame_policies",
    multiple=True,
    metavar="POLICY",
    help="How videos are shown: uniform:64, fps:1,max=256,pixels=151200, last:4@1, or a preset; "
    "repeatable, as --prompt.",
)
@click.option(
    "--image-size",
    "sizes",
    multiple=True,
    type=_parse.image_size,
    metavar="PX|original",
    help="The longer side of pictures at most, in pixels; repeatable, as --prompt.",
)
@click.option(
    "--adapter",
    metavar="KIND",
    help="How a model that does not watch streams is shown them: window:4 (the newest four "
    "frames), window:all, reask:POLICY.",
)
@click.option("--limit", type=NUMBER, help="Only the first N rows.")
@click.option("--sample", type=NUMBER, help="N rows drawn in proportion to the categories.")
@click.option("--sample-seed", type=int, default=0, show_default=True, help="Draws other rows.")
@click.option(
    "--repeats", type=NUMBER, default=1, show_default=True, help="How often each question is asked."
)
@click.option("--shots", type=NUMBER, metavar="K", help="K answered examples before each question.")
@click.option(
    "--shots-from",
    metavar="FILE|OPTIONS",
    help="Where they come from: a file in the same form, or another split (split=dev); without it, "
    "rows of your own that are then not asked.",
)
@click.option("--shots-seed", type=int, default=0, show_default=True, help="Draws other examples.")
@click.option(
    "--blind",
    type=click.Choice(get_args(probes.Blind)),
    help="Is it about seeing? Ask without the pictures: with nothing, a grey one, or another "
    "question's in their place.",
)
@click.option(
    "--permute-options",
    type=click.IntRange(2, 120),
    metavar="K",
    help="Ask each question up to K times with its options in other places.",
)
@click.option("--open-ended", is_flag=True, help="Ask questions with options without showing them.")
@click.option(
    "--probe-seed", type=int, default=0, show_default=True, help="Draws other pictures or orders."
)
@click.option(
    "--out",
    type=OUT,
    default=Path("runs"),
    show_default=True,
    help="For run folders; also s3://BUCKET/FOLDER.",
)
@click.option("--base-url", metavar="URL", help="A compatible server: http://localhost:8000/v1")
@click.option("--api-key-env", metavar="NAME", help="Environment variable that holds the key.")
@click.option(
    "--serve",
    type=click.Choice(SERVERS),
    help="Start a server of openai/NAME's NAME, here, for this run, and stop it at the end.",
)
@click.option(
    "--serve-arg",
    "serve_args",
    multiple=True,
    metavar="WORD",
    help="A word of that server's command line (--serve-arg=--dtype=float16); repeatable.",
)
@click.option(
    "--replicas",
    "replicas_n",
    type=NUMBER,
    metavar="N",
    help="N copies of a model that runs here, each in a process of its own, by Ray.",
)
@click.option(
    "--executor",
    type=click.Choice(["ray"]),
    help="Copies by Ray: without --replicas as many as there are GPUs.",
)
@click.option(
    "--ray-address",
    metavar="HOST:PORT|auto",
    help="The Ray cluster that they are in (RAY_ADDRESS); by default one of this run's own, here.",
)
@click.option(
    "--gpus-per-replica",
    type=click.FloatRange(0),
    metavar="G",
    help="A copy's GPUs, or its part of one; by default an equal share of all.",
)
@click.option(
    "--trust-remote-code",
    is_flag=True,
    help="Let a model that runs here (hf/…) bring code of its own, and run it.",
)
@click.option("--profile", "profile_file", type=PATH, help="A model profile (TOML).")
@click.option(
    "--concurrency",
    type=_parse.at_once,
    default="auto",
    metavar="N|auto",
    show_default=True,
    help="Requests at once; auto finds what a server bears, and asks a sync function of your own "
    "one at a time.",
)
@click.option("--max-tokens", type=NUMBER, help="For a reply, instead of the benchmark's limit.")
@click.option(
    "--temperature",
    type=_parse.temperature,
    metavar="X|default",
    help="Of sampling; default sends none, for services that refuse it.",
)
@click.option("--seed", type=int, help="Sent with each request.")
@click.option(
    "--timeout", metavar=_parse.TIMEOUTS, callback=_parse.timeouts, help="For one request."
)
@click.option(
    "--max-requests", type=NUMBER, help="Stop after so many in this call, to go on later."
)
@click.option(
    "--max-cost",
    type=_parse.amount,
    metavar="X",
    help="Stop when this call has spent so much; needs the profile's prices.",
)
@click.option("--max-time", type=_parse.seconds, metavar="TIME", help="Stop after 90s, 10m, 2h.")
@click.option(
    "--missing",
    type=click.Choice(["wrong", "excluded"]),
    help="What failed questions count as; by default they are in no mean.",
)
@click.option(
    "--allow-urls",
    is_flag=True,
    help="Fetch pictures from URLs in the data. Without this option, such a URL is an error.",
)
@click.option(
    "--reuse",
    type=RUNS,
    multiple=True,
    metavar="RUN",
    help="Take replies to the very same requests from this run of the same model; repeatable.",
)
@click.option(
    "--estimate",
    "only_estimate",
    is_flag=True,
    help="Say what it would take (requests, pictures, tokens, money, hours), and ask nothing.",
)
@click.option("--no-score", is_flag=True, help="Ask and store only.")
@click.option(
    "--fail-under",
    "floors",
    multiple=True,
    metavar="METRIC=X",
    callback=_parse.floors,
    help="Exit 1 if a metric of the headline scoring is below X (0.6, not 60 %); repeatable; "
    "not for metrics where lower is better.",
)
@json_option
def command(
    plan_file: Path | None,
    models: tuple[str, ...],
    benchmarks: tuple[str, ...],
    data: Path | None,
    task: str | None,
    columns: Mapping[str, str],
    prompts: tuple[str, ...],
    frame_policies: tuple[str, ...],
    sizes: tuple[int | str, ...],
    shots: int | None,
    shots_from: str | None,
    shots_seed: int,
    blind: str | None,
    permute_options: int | None,
    open_ended: bool,
    probe_seed: int,
    base_url: str | None,
    api_key_env: str | None,
    serve: str | None,
    serve_args: tuple[str, ...],
    replicas_n: int | None,
    executor: str | None,
    ray_address: str | None,
    gpus_per_replica: float | None,
    trust_remote_code: bool,
    profile_file: Path | None,
    timeout: Mapping[str, float],
    max_time: float | None,
    only_estimate: bool,
    no_score: bool,
    floors: Mapping[str, float],
    as_json: bool,
    **options: Any,  # those that are fields of Plan
) -> int:
    """Ask each MODEL each BENCH's questions, store the replies, score and report.

    PLAN.toml holds the same options by their long names, with underscores; flags win, and paths
    start from the current folder. The same command again asks only what has no reply yet.
    """
    if not models or not benchmarks:
        lacking = "a model (-m)" if not models else "a benchmark (-b)"
        raise UsageError(f"{lacking} is missing: name it, or a plan that has it.")
    profiles = click.get_current_context().meta.get(_plan_file.PROFILES, {})
    if profile_file and profiles:
        raise UsageError(
            "--profile is for all models, and the plan has one of its own for "
            f"{', '.join(profiles)}."
        )
    specs = suites.expanded(benchmarks)
    # Where one of several reads data, the others, which draw their own, are not meant.
    reading = {spec for spec in specs if registry.reads_data(spec)} or set(specs)
    if (shots_from or shots_seed) and not shots:
        raise UsageError(
            "--shots-from and --shots-seed say which examples are shown: say how many with --shots."
        )
    if probe_seed and blind != "other" and not permute_options:
        raise UsageError(
            "--probe-seed draws other pictures or orders: it goes with --blind other or "
            "--permute-options."
        )
    chosen = []
    for spec, preset in product(specs, dict.fromkeys(prompts) or (None,)):
        where = data if spec in reading else None
        named = {"prompt": preset} if preset else None
        made = registry.benchmark(spec, data=where, task=task, columns=columns, options=named)
        if shots:
            made = registry.few_shot(
                spec,
                made,
                shots,
                source=shots_from,
                seed=shots_seed,
                data=where,
                columns=columns,
                options=named,
            )
        made = probes.probed(
            made,
            blind=blind,
            permute_options=permute_options,
            open_ended=open_ended,
            seed=probe_seed,
        )
        chosen.append(made)
    registry.check_names(chosen)
    _check_floors(floors, chosen, no_score=no_score)
    with_flags = partial(
        flagged,
        base_url=base_url,
        api_key_env=api_key_env,
        timeout=timeout,
        serve=serve,
        serve_args=serve_args,
        trust_remote_code=trust_remote_code,
    )
    plan = api.Plan(
        benchmarks=chosen,
        models=list(dict.fromkeys(models)),
        profile=with_flags(read_profile(profile_file) if profile_file else Profile()),
        profiles={name: with_flags(profile) for name, profile in profiles.items()},
        replicas=_replicas(replicas_n, executor, ray_address, gpus_per_replica),
        score=not no_score,
        max_seconds=max_time,
        command=sys.argv[1:],
        **options,
    )
    plans = [
        _in_setting(plan, policy, size)
        for policy, size in product(
            dict.fromkeys(frame_policies) or (None,), dict.fromkeys(sizes) or (None,)
        )
    ]
    for benchmark in chosen:
        for note in benchmark.notes:
            _say(f"{benchmark.name}: {note}")
    if only_estimate:
        found = [one for each in plans for one in api.estimate(each)]
        if as_json:
            put(found)
        else:
            print("\n".join(_cost.lines(found)))
        return DONE
    finished: list[api.Finished] = []
    budget = api.budget_of(plan)
    for each in plans:
        finished += api.run_plan(each, ProgressLines(), leave_at_once, budget)
        if any(one.interrupted for one in finished):
            break
    # Settings may come to the same, such as two sizes above the most that a profile allows.
    finished = [*{one.run: one for one in finished}.values()]
    results = [one.result for one in finished if one.result is not None]
    if as_json and no_score:
        put([{"name": one.progress.name, "run": f"{one.run}"} for one in finished])
    elif as_json:
        put_results(results)
    elif len(plans) > 1 or len(prompts) > 1:
        report.print_results(results)
        _show_sweep(results)
    else:
        for result in results:
            report.print_result(result)
            _show_beside(result)
    return _ending(finished, floors)


def _replicas(
    n: int | None, executor: str | None, address: str | None, gpus: float | None
) -> Replicas | None:
    """The replicas that the flags ask for; None for a model in this process.

    Raises:
        UsageError: they say how, and not that there are any.
    """
    if n is None and executor is None:
        if address is not None or gpus is not None:
            raise UsageError(
                "--ray-address and --gpus-per-replica are for --replicas N, or --executor ray."
            )
        return None
    return Replicas(n=n, address=address, gpus=gpus)


def _in_setting(plan: api.Plan, frames: str | None, size: int | str | None) -> api.Plan:
    """The plan with this frame policy, and with pictures of at most this size.

    Raises:
        UsageError: pictures are shown as videos' frames, which have a size of their own.
    """
    if isinstance(size, int):
        videos = [made.name for made in plan.benchmarks if made.frames]
        if videos:
            raise UsageError(
                f"--image-size is for pictures, and {', '.join(videos)} shows videos: say it with "
                "--frames POLICY,pixels=N."
            )
        plan = replace(
            plan,
            profile=_with_size(plan.profile, size),
            profiles={name: _with_size(one, size) for name, one in plan.profiles.items()},
        )
    return replace(plan, frames=frames)


def _with_size(profile: Profile, size: int) -> Profile:
    limits = profile.images
    most = size if limits.max_side is None else min(size, limits.max_side)
    return msgspec.structs.replace(profile, images=msgspec.structs.replace(limits, max_side=most))


def _show_sweep(results: Sequence[Result]) -> None:
    """What the settings do to each benchmark, model by model."""
    by_benchmark: dict[str, list[Result]] = {}
    for result in results:
        by_benchmark.setdefault(result.report.benchmark, []).append(result)
    for benchmark, of in by_benchmark.items():
        runs = [result.run for result in of if result.run is not None]
        try:
            document = api.compare(*runs, scoring=_common(of)).comparisons
        except UsageError as error:
            _say(f"{benchmark}: the settings are not compared: {error}")
        else:
            report.print_swept(document)


def _common(results: Sequence[Result]) -> str | None:
    """A scoring to compare by where headlines differ, as they may between prompts: robust, which
    reads any form of answer, or else the first one's; None where they do not."""
    if len({result.report.headline for result in results}) == 1:
        return None
    all_have = all(ROBUST in result.report.scorings for result in results)
    return ROBUST if all_have else results[0].report.headline


def _show_beside(result: Result) -> None:
    """Of a probe's run what the run as the benchmark asks has beyond it, where it is there."""
    if result.run is None or not api.is_paired(result.report.identity):
        return
    try:
        compared = api.beside_plain(result.run)
    except UsageError as error:
        _say(f"not compared with the run as the benchmark asks: {error}")
        return
    if compared is None:
        _say(
            f"{result.report.benchmark} × {result.report.model}: run the same without the probe, "
            "before or after, and both are compared"
        )
    else:
        report.print_compared(compared.comparisons)


def _check_floors(
    floors: Mapping[str, float], benchmarks: Sequence[Benchmark], *, no_score: bool
) -> None:
    """Whether each floor's metric is one of those there will be, before anything is asked."""
    if floors and no_score:
        raise UsageError("--fail-under needs a score, and --no-score gives none.")
    known = {metric: None for made in benchmarks for metric in made.scorings[made.headline].metrics}
    for name, floor in floors.items():
        metric = name.partition("/")[0]
        if metric not in known:
            raise UsageError(f"--fail-under: no metric {name!r}; there are {', '.join(known)}.")
        if any(direction(benchmark.name, metric) == "lower" for benchmark in benchmarks):
            raise UsageError(
                f"--fail-under: lower is better for {metric}, so a value below {floor:g} is not a "
                "failure. Choose a metric where higher is better."
            )
        if not 0 <= floor <= 1 and any(_is_fraction(metric, made) for made in benchmarks):
            raise UsageError(_beyond(name, floor))


def _is_fraction(metric: str, benchmark: Benchmark) -> bool:
    """Whether a metric lies between 0 and 1, as far as an empty reply to the first question tells:
    metrics name their unit with a value."""
    scoring = benchmark.scorings[benchmark.headline]
    row = next(iter(benchmark.data), None)
    if metric not in scoring.metrics or scoring.reads != "generate" or row is None:
        return False
    tally = Tally(benchmark, [benchmark.headline])
    reply = Reply(text="")
    tally.add([Scored(benchmark.read(row), 0, reply.state, reply)])
    found = tally.report(model="", identity={}).scorings[benchmark.headline].metrics[metric]
    return found.value is not None and found.unit == FRACTION


def _beyond(name: str, floor: float) -> str:
    hint = f"; for {floor:g} % write {floor / 100:g}" if 1 < floor <= 100 else ""
    return f"--fail-under: {name} lies between 0 and 1{hint}."


def _ending(finished: Sequence[api.Finished], floors: Mapping[str, float]) -> int:
    """Say what is left to do, if anything; gives the exit code."""
    code = DONE
    unfinished = False
    known = {metric for one in finished if one.result for metric in _metrics(one.result)}
    for one in finished:
        name = one.progress.name
        # No result counts a turn that is asked and not scored.
        failed = (one.result.failed if one.result else 0) or one.progress.failed
        if failed:
            _say(f"{name}: {failed:,} question{'s' * (failed != 1)} without a reply")
        if one.stopped:
            _say(f"{name}: stopped: {one.stopped}")
        if one.result is None:
            _say(f"{name}: not scored; `snellen score {one.run}` does it")
        else:
            _say_of_all(one.progress, one.result)
            code = max(code, _against(floors, one.result, name, known))
        unfinished |= bool(failed or one.stopped)
    if unfinished:
        _say("the same command goes on where this one ended, and asks again what has no reply")
        code = max(code, FELL_SHORT)
    return INTERRUPTED if any(one.interrupted for one in finished) else code


def _say_of_all(progress: Progress, result: Result) -> None:
    """Say where the report is of more than was chosen now: which rows are asked is not part of what
    makes a run another one."""
    n = result.report.conversations or result.report.n
    if progress.total is not None and n > progress.total:
        had = n - result.failed - progress.done
        _say(
            f"{progress.name}: the run already had {had:,} replies; the report is of all {n:,} "
            f"questions asked so far, not of the {progress.total:,} chosen now"
        )


def _metrics(result: Result) -> Mapping[str, MetricReport]:
    return result.scoring().metrics if result.report.scorings else {}


def _against(floors: Mapping[str, float], result: Result, run: str, known: Set[str]) -> int:
    """Say which of a run's metrics is below its floor, has no value, or cannot be compared
    with it; gives the exit code. One that no run has is not `known`: its name is wrong."""
    metrics = _metrics(result)
    code = DONE
    for name, floor in floors.items():
        if (metric := name.partition("/")[0]) not in metrics:
            continue
        if name not in metrics:
            there = ", ".join(one for one in metrics if one.partition("/")[0] == metric)
            said = f"no {name} to be {floor:g} or more; there are {there}"
            code = max(code, DONE if name in known else WRONG_USE)
        elif (value := metrics[name].value) is None:
            said = f"{name} is undefined, not {floor:g} or more"
        elif not 0 <= floor <= 1 and metrics[metric].unit == FRACTION:
            _say(_beyond(name, floor))
            code = WRONG_USE
            continue
        elif value < floor:
            said = f"{name} is {value:.6g}, not {floor:g} or more"
        else:
            continue
        _say(f"{run}: {said}")
        code = max(code, FELL_SHORT)
    return code


def _say(text: str) -> None:
    print(plain(text), file=sys.stderr)
