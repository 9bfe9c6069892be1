"""snellen run: ask, store, score, report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from snellen import api, catalog, report
from snellen.benchmark import Missing
from snellen.cli._json import as_json as json_option
from snellen.cli._json import put
from snellen.cli._parse import Seconds, concurrency, pairs
from snellen.cli._progress import Shown
from snellen.errors import UsageError
from snellen.models._profile import Profile, read_profile


@click.command("run", short_help="Ask models benchmarks' questions, store, score and report.")
@click.option("-m", "--model", "models", multiple=True, required=True, metavar="MODEL", help="A model's name, repeatable (`snellen list models`).")
@click.option("-b", "--benchmark", "benchmarks", multiple=True, required=True, metavar="BENCH", help="A benchmark with options (`mathvision:split=testmini`), or a file of rows; repeatable.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder or file with the rows; `synthetic`: the bundled ones.")
@click.option("--task", type=click.Choice(["mcq", "vqa", "yesno", "count", "caption"]), help="What a file of rows asks; else guessed, and said.")
@click.option("--map", "columns", multiple=True, metavar="COL=FIELD", help="What a column of a file of rows means; repeatable.")
@click.option("--prompt", metavar="PRESET", help="A prompt preset of the benchmark.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N rows.")
@click.option("--sample", type=click.IntRange(1), help="N rows drawn in proportion to the categories.")
@click.option("--sample-seed", type=int, default=0, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=1, show_default=True, help="How often each question is asked, with seeds of their own.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="Where run folders go.")
@click.option("--base-url", help="Address of an OpenAI-compatible server (http://localhost:8000/v1).")
@click.option("--api-key-env", metavar="NAME", help="Environment variable that holds the key.")
@click.option("--profile", "profile_file", type=click.Path(path_type=Path), help="A model profile (TOML).")
@click.option("--concurrency", "at_once", default=None, metavar="N|auto", help="Requests at once; auto finds out (default).")
@click.option("--max-tokens", type=click.IntRange(1), help="Instead of the benchmark's own limit.")
@click.option("--temperature", type=float)
@click.option("--seed", type=int, help="Seed sent with each request.")
@click.option("--timeout", metavar="connect=S,first=S,total=S", help="Seconds to connect, to the first byte, in all.")
@click.option("--max-requests", type=click.IntRange(1), help="Stop after so many requests; resumable.")
@click.option("--max-cost", type=float, help="Stop when so much is spent (needs prices in the profile); resumable.")
@click.option("--max-time", type=Seconds(), help="Stop after this time (90s, 10m, 2h); resumable.")
@click.option("--missing", type=click.Choice(["wrong", "excluded"]), help="What failed questions count as; they are in no mean by default.")
@click.option("--no-score", is_flag=True, help="Ask and store only.")
@click.option("--fail-under", multiple=True, metavar="METRIC=X", help="Exit 1 if a metric of the headline scoring is below X; repeatable.")
@json_option
def command(
    models: tuple[str, ...],
    benchmarks: tuple[str, ...],
    data: Path | None,
    task: str | None,
    columns: tuple[str, ...],
    prompt: str | None,
    base_url: str | None,
    api_key_env: str | None,
    profile_file: Path | None,
    at_once: str | None,
    timeout: str | None,
    max_time: float | None,
    missing: Missing | None,
    no_score: bool,
    fail_under: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> int:
    """Ask MODELs BENCHmarks' questions; the same command again asks only what has no reply yet."""
    floors = {name: _number(value) for name, value in pairs(fail_under, "--fail-under").items()}
    chosen = [
        catalog.benchmark(
            spec,
            data=data,
            task=task,
            columns=pairs(columns, "--map") or None,
            options={"prompt": prompt} if prompt else None,
        )
        for spec in benchmarks
    ]
    plan = api.Plan(
        benchmarks=chosen,
        models=models,
        profile=_profile(profile_file, base_url, api_key_env, timeout),
        concurrency=None if at_once is None else concurrency(at_once),
        missing=missing,
        score=not no_score,
        max_seconds=max_time,
        synthetic=str(data) == "synthetic",
        command=sys.argv[1:],
        **options,
    )
    finished = api.run_plan(plan, Shown())
    results = [one.result for one in finished if one.result is not None]
    for one in finished:
        for note in one.notes:
            print(f"note: {note}", file=sys.stderr)
    if as_json:
        put([result.report for result in results] if len(results) > 1 else _only(results))
    else:
        for result in results:
            report.print_result(result)
    for one in finished:
        _say_how_it_ended(one)
    short = _fell_short(results, floors)
    if any(one.interrupted for one in finished):
        return 130
    failed = any(one.progress.failed or one.stopped for one in finished)
    return int(failed or short or any(result.failed for result in results))


def _only(results: list[Any]) -> Any:
    return results[0].report if results else {}


def _profile(
    file: Path | None, base_url: str | None, api_key_env: str | None, timeout: str | None
) -> Profile:
    """The file's profile, with the flags over it."""
    profile = read_profile(file) if file else Profile()
    given: dict[str, Any] = {}
    if base_url is not None:
        given["base_url"] = base_url
    if api_key_env is not None:
        given["api_key_env"] = api_key_env
    if timeout is not None:
        seconds = {name: _number(value) for name, value in pairs(tuple(timeout.split(",")), "--timeout").items()}
        if strange := set(seconds) - {"connect", "first", "total"}:
            raise UsageError(f"--timeout has connect, first and total, not {', '.join(sorted(strange))}.")
        given["timeout"] = msgspec.structs.replace(profile.timeout, **seconds)
    return msgspec.structs.replace(profile, **given)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{text!r} is no number.") from None


def _say_how_it_ended(one: api.Finished) -> None:
    """What to do next, if anything."""
    if one.stopped:
        print(f"stopped: {one.stopped}", file=sys.stderr)
    if one.stopped or one.progress.failed:
        print("The same command goes on, and asks failed questions again.", file=sys.stderr)
    if one.result is None:
        print(f"not scored: snellen score {one.run}", file=sys.stderr)


def _fell_short(results: list[Any], floors: dict[str, float]) -> bool:
    """Whether a metric is below its floor, or cannot be said."""
    short = False
    for result in results:
        metrics = result.scoring().metrics
        for name, floor in floors.items():
            if name not in metrics:
                raise UsageError(f"--fail-under {name}: {result.report.benchmark} has {', '.join(metrics)}.")
            value = metrics[name].value
            if value is None or value < floor:
                print(f"{result.report.benchmark}: {name} is {value}, below {floor}", file=sys.stderr)
                short = True
    return short
