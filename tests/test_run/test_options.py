"""Options are declared once: what each may be, and which source of a value decides."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import snellen as package
from snellen.api import Plan, judge_run
from snellen.core.profile import Profile
from snellen.errors import UsageError
from snellen.run.declarations import declarations
from tests.stores import Bucket
from tests.test_cli.conftest import Snellen, snellen
from tests.tiny import Says, benchmark

__all__ = ["snellen"]

# Per value: as a flag, as a field of a plan, as a field of a profile (the nearest source first).
TEMPERATURE = ("--temperature=0.1", "temperature = 0.2", "temperature = 0.3")
MAX_TOKENS = ("--max-tokens=11", "max_tokens = 12", "max_tokens = 13")
CONCURRENCY = ("--concurrency=1", "concurrency = 2", "concurrency = 3")
SIDE = ("--image-size=21", "image_size = 22", "images = {max_side = 23}")
FRAMES = ("--frames=uniform:2", 'frames = "uniform:3"')
TOP_P = (None, None, "top_p = 0.5")
TIMEOUT = ("--timeout=total=31", "timeout = {total = 32}", "timeout = {total = 33}")
SOURCES = ("flag", "plan", "profile")


def in_generation(manifest: dict[str, Any], name: str) -> Any:
    return manifest["identity"]["generation"][name]


def in_session(manifest: dict[str, Any], name: str) -> Any:
    session = manifest["sessions"][-1]
    return session["profile"]["timeout"]["total"] if name == "timeout" else session[name]


def in_images(manifest: dict[str, Any], name: str) -> Any:
    limits = manifest["identity"]["profile"].get("images", {})
    return limits.get(name.partition(".")[2])


def in_media(manifest: dict[str, Any], name: str) -> Any:
    return manifest["identity"]["media"][name]


@pytest.mark.parametrize(
    ("name", "ways", "read", "values", "otherwise"),
    [
        ("temperature", TEMPERATURE, in_generation, (0.1, 0.2, 0.3), (0.0, "benchmark")),
        ("max_tokens", MAX_TOKENS, in_generation, (11, 12, 13), (64, "benchmark")),
        ("top_p", TOP_P, in_generation, (None, None, 0.5), (None, "default")),
        ("concurrency", CONCURRENCY, in_session, (1, 2, 3), (32, "default")),
        ("images.max_side", SIDE, in_images, (21, 22, 23), (None, None)),
        ("frames", FRAMES, in_media, ("uniform:2", "uniform:3"), ("fps:2", "benchmark")),
        ("timeout", TIMEOUT, in_session, (31, 32, 33), (1200, "default")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("first", range(4), ids=[*SOURCES, "none"])
def test_the_nearest_source_of_a_value_decides_and_is_in_the_manifest(
    snellen: Snellen,
    name: str,
    ways: tuple[str | None, ...],
    read: Any,
    values: tuple[Any, ...],
    otherwise: tuple[Any, str | None],
    first: int,
) -> None:
    """All sources from the first on set the value."""
    flag, plan, profile = (*(way or "" for way in ways), "")[:3]
    Path("plan.toml").write_text(plan if first <= 1 else "")
    Path("model.toml").write_text(profile if first <= 2 else "")
    source = next((n for n in range(first, len(ways)) if ways[n]), None)
    bench = "eyechart-video:clips=1" if name == "frames" else "eyechart:n=1"

    done = snellen(
        *("run", "plan.toml", "-m", "baseline/first", "-b", bench, "--profile", "model.toml"),
        *([flag] if flag and first == 0 else []),
        "--json",
    )

    assert done.code == 0, done.err
    manifest = json.loads(Path(done.json["run"], "manifest.json").read_text())
    value, origin = otherwise if source is None else (values[source], SOURCES[source])
    assert (read(manifest, name), manifest["origins"].get(name)) == (value, origin)


def test_what_python_sets_is_an_argument(tmp_path: Path) -> None:
    result = package.evaluate(
        benchmark(), Says(lambda request: "yes"), out=tmp_path, temperature=0.5, limit=3
    )

    assert result.run is not None
    origins = json.loads((result.run / "manifest.json").read_text())["origins"]
    assert (origins["temperature"], origins["limit"]) == ("argument", "argument")
    assert origins["max_tokens"] == "benchmark"


def test_room_for_thinking_that_a_profile_asks_for_is_the_profiles(tmp_path: Path) -> None:
    profile = Profile(token_floor=4000)
    plan = Plan(benchmarks=[benchmark()], models=["m"], profile=profile, max_tokens=9)

    config = plan.config("m", plan.benchmarks[0])

    assert config.settings.generation.max_tokens == 4000
    assert config.origins["max_tokens"] == "profile"


def test_what_python_turns_off_is_off_whatever_the_profile_says() -> None:
    profile = Profile(trust_remote_code=True)

    def trusted(**options: Any) -> bool:
        plan = Plan(benchmarks=[], models=["m"], profile=profile, **options)
        return plan.profile_of("m").trust_remote_code

    assert trusted() and not trusted(trust_remote_code=False)


def test_a_plan_is_a_run_by_setting(tmp_path: Path) -> None:
    plan = Plan(
        benchmarks=[benchmark()], models=["a", "b"], settings={"image_size": (8, "original", 8)}
    )

    sizes = [setting.options["image_size"] for setting in plan.by_setting()]

    assert sizes == [8, "original"]


def test_a_run_to_reuse_is_fetched_once_for_all_settings(bucket: Bucket) -> None:
    bucket.put("runs/b/m/0/manifest.json", b"{}")
    plan = Plan(
        benchmarks=[benchmark()],
        models=["a"],
        settings={"image_size": (8, "original")},
        reuse=[f"{bucket.url}/runs/b/m/0"],
    )
    bucket.remove("runs/b/m/0/manifest.json")

    folders = [folder for setting in plan.by_setting() for folder in setting.reuse]

    assert len(folders) == 2
    assert all((folder / "manifest.json").exists() for folder in folders)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limt": 3}, r"There is no option 'limt'\. Did you mean 'limit'\?"),
        ({"wheels": 3}, r"There is no option 'wheels'\. Options: data, task, "),
        ({"max_time": "soon"}, "max_time: 'soon' is not a time. Write 90s, 10m, or 2h"),
        ({"permute_options": 1}, "permute_options must be a whole number from 2 to 120, not 1"),
        ({"serve": "ollama"}, "serve must be vllm, sglang, or transformers, not 'ollama'"),
        ({"reuse": "runs/a"}, "reuse must be a list of run folders, not 'runs/a'"),
        (
            {"timeout": {"all": 3}},
            "timeout must be a mapping of connect, first, or total to seconds",
        ),
        ({"allow_urls": "no"}, "allow_urls must be true or false, not 'no'"),
        ({"out": 3}, "out must be a path, not 3"),
        ({"shots_seed": 3}, "Set the number of examples with --shots"),
        ({"probe_seed": 3}, "Use --probe-seed with --blind other or --permute-options"),
        ({"ray_address": "auto"}, "need --replicas N or --executor ray"),
        ({"serve_args": ["--x"]}, "--serve-arg is for the server that --serve starts"),
        ({"sample_seed": 3}, "Set the number of rows with --sample"),
    ],
)
def test_what_an_option_cannot_be_is_said_with_what_it_can(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    arguments: dict[str, Any] = {"out": tmp_path, **options}

    with pytest.raises(UsageError, match=message):
        package.evaluate(benchmark(), Says(lambda request: "yes"), **arguments)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"data": "rows.jsonl"},
            "data applies only to benchmarks passed by name, but tiny is a Benchmark object",
        ),
        (
            {"task": "mcq"},
            "task applies only to benchmarks .* Pass the path of a file of rows instead",
        ),
        (
            {"columns": {"q": "question"}},
            "columns applies only to benchmarks .* Pass the path of a file",
        ),
        (
            {"prompt": "llava"},
            r"prompt applies only to benchmarks .* Create the object with that prompt\.",
        ),
        (
            {"shots": 2},
            "shots applies only to benchmarks .* with `snellen.transforms.shots.with_shots`",
        ),
        (
            {"base_url": "http://localhost:8000"},
            "base_url applies only to models passed by name, but says is a",
        ),
        ({"api_key_env": "KEY"}, "api_key_env applies only to models .* such as 'openai/NAME'"),
        (
            {"serve": "vllm"},
            "serve applies only to models passed by name, but says is a Python object",
        ),
        (
            {"trust_remote_code": True},
            "trust_remote_code applies only to models .* such as 'hf/NAME'",
        ),
        ({"profile": Profile(stream=True)}, "stream applies only to models passed by name"),
        ({"timeout": {"connect": 3}}, "timeout: connect and first apply only to servers"),
        ({"replicas": 2}, "replicas are possible only for a model that is passed by name"),
    ],
)
def test_an_option_that_does_not_reach_an_object_is_refused(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    arguments: dict[str, Any] = {"out": tmp_path, **options}
    model = Says(lambda request: "yes")

    with pytest.raises(UsageError, match=message):
        package.evaluate(benchmark(), model, **arguments)

    assert model.requests == [] and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompt": "llava"}, "prompt has no effect on judging.* judged as they are stored"),
        ({"blind": "none"}, "blind has no effect on judging"),
        ({"out": "elsewhere"}, "out has no effect on judging. The verdicts are stored in the run"),
        ({"missing": "wrong"}, "missing has no effect on judging. Pass this option to `score`"),
    ],
)
def test_an_option_that_does_not_reach_a_judge_is_refused(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    plan = Plan(benchmarks=[], models=["baseline/first"], **options)

    with pytest.raises(UsageError, match=message):
        judge_run(tmp_path, plan)


@pytest.mark.parametrize("name", declarations())
def test_every_default_is_a_value_that_its_option_can_have(name: str) -> None:
    declared = declarations()[name]

    assert declared.check(declared.option.default) == declared.option.default


@pytest.mark.parametrize(
    ("options", "same"),
    [
        (
            {"temperature": np.float64(0.5), "seed": np.int64(7), "max_tokens": np.int32(9)},
            {"temperature": 0.5, "seed": 7, "max_tokens": 9},
        ),
        ({"temperature": np.float32(0.5)}, {"temperature": 0.5}),
        ({"temperature": np.int64(1)}, {"temperature": 1.0}),
        ({"image_size": np.uint16(8)}, {"image_size": 8}),
        ({"open_ended": np.bool_(False)}, {"open_ended": False}),
        ({"timeout": {"total": np.float64(30)}}, {"timeout": {"total": 30}}),
        ({"limit": np.array(2)}, {"limit": 2}),
    ],
)
def test_numbers_of_numpy_make_the_same_run_as_plain_ones(
    tmp_path: Path, options: dict[str, Any], same: dict[str, Any]
) -> None:
    model = Says(lambda request: "yes")

    first = package.evaluate(benchmark(), model, out=tmp_path, **options)
    second = package.evaluate(benchmark(), model, out=tmp_path, **same)

    assert first.run == second.run


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": np.float64(3)}, "limit must be a whole number of at least 1"),
        ({"limit": np.int64(0)}, "limit must be a whole number of at least 1"),
        ({"limit": np.bool_(True)}, "limit must be a whole number of at least 1"),
        ({"limit": np.array([3])}, "limit must be a whole number of at least 1"),
        ({"allow_urls": np.int64(1)}, "allow_urls must be true or false"),
        ({"temperature": np.float64("nan")}, "temperature must be a number of at least 0"),
    ],
)
def test_numbers_of_numpy_have_the_bounds_of_plain_ones(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        Plan(benchmarks=[], models=[], **options)


def test_concurrency_may_be_auto_as_on_the_command_line(tmp_path: Path) -> None:
    result = package.evaluate(
        benchmark(), Says(lambda request: "yes"), out=tmp_path, concurrency="auto"
    )

    assert result.report.n == 10


def test_auto_goes_before_the_number_of_requests_in_a_profile() -> None:
    profile = Profile(concurrency=3)

    def concurrency(**options: Any) -> int | None:
        plan = Plan(benchmarks=[], models=["m"], profile=profile, **options)
        return plan.profile_of("m").concurrency

    assert concurrency() == 3
    assert concurrency(concurrency=2) == 2
    assert concurrency(concurrency="auto") is None


def test_times_may_be_written_as_on_the_command_line() -> None:
    plan = Plan(benchmarks=[], models=[], max_time="10m", timeout="total=2m")  # type: ignore[arg-type]

    assert plan.options["max_time"] == 600
    assert plan.profile_of("m").timeout.total == 120
