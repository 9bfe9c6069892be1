"""A name means one thing: benchmarks, their aliases, metrics, and models of several packages."""

from collections.abc import Callable
from pathlib import Path

import pytest

from snellen import registry
from snellen.errors import CatalogError

Install = Callable[..., None]
BENCH = 'def bench() -> "Benchmark": ...\n'


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """`install("rival", "benchmarks", "pope = rival:pope", files={"rival.py": "..."})`"""
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "home"))

    def install(package: str, group: str, points: str, files: dict[str, str]) -> None:
        folder = tmp_path / package
        info = folder / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[snellen.{group}]\n{points}\n")
        for name, text in files.items():
            (folder / name).write_text(text)
        monkeypatch.syspath_prepend(str(folder))

    return install


def aliases(*names: str) -> str:
    return f"ALIASES = { {name: {} for name in names} }\n{BENCH}"


@pytest.mark.parametrize(
    ("name", "origins"),
    {
        "pope": ["snellen/benchmarks/pope.py", "alias Pope", "bench of rival 1.0"],
        "POPE": ["snellen/benchmarks/pope.py", "bench of rival 1.0"],
        "MMBench_DEV_EN": ["snellen/benchmarks/mmbench.py", "alias MMBench-dev-en"],
        "other-bench": ["bench of rival 1.0", "other:other of other 1.0"],
    }.items(),
)
def test_an_alias_that_is_a_name_of_another_benchmark_is_an_error_that_names_both(
    install: Install, name: str, origins: list[str]
) -> None:
    text = aliases("Pope", "MMBench-dev-en", "Other_Bench")
    install("rival", "benchmarks", "rival-bench = bench:bench", {"bench.py": text})
    install("other", "benchmarks", "other-bench = other:other", {"other.py": BENCH})
    with pytest.raises(CatalogError, match="more than one benchmark") as error:
        registry.entry_of(name)
    assert all(origin in str(error.value) for origin in origins), error.value
    entry = registry.entry_of("rival-bench")
    assert entry is not None and entry.plugin is not None


def test_the_names_that_benchmarks_of_this_package_share_mean_what_they_did() -> None:
    for entry in registry.entries():
        assert registry.entry_of(entry.name) == entry
        for alias in entry.aliases:
            assert registry.entry_of(alias) is not None


@pytest.mark.parametrize(
    ("name", "benchmark"),
    {
        "V*": "vstar",
        "We-Math": "wemath",
        "VideoMMMU": "video-mmmu",
        "RefSpatialBench": "refspatial",
        "ScreenSpot Pro": "screenspot-pro",
        "MathVerse_MINI": "mathverse",
        "InfographicVQA": "info-vqa",
        "Humanity's Last Exam": "hle",
    }.items(),
)
def test_the_names_on_model_cards_are_known_in_any_spelling(name: str, benchmark: str) -> None:
    entry = registry.entry_of(name)
    assert entry is not None and entry.name == benchmark


def test_a_spelling_of_two_names_with_different_options_is_refused_with_both() -> None:
    with pytest.raises(CatalogError, match="HRBench4K or hrbench4k"):
        registry.entry_of("HR-Bench 4K")


def test_a_file_with_an_alias_of_a_known_benchmark_is_refused(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "plugin_package/src/lettercount/letter_count.py"
    file = tmp_path / "letter_count.py"
    file.write_text(source.read_text().replace('name="letter-count"', 'name="MMBench_DEV_EN"'))
    with pytest.raises(CatalogError, match=r"letter_count and snellen/benchmarks/mmbench\.py"):
        registry.benchmark(f"{file}")


METRICS = "def share(columns):\n    return 0.5\n"


@pytest.mark.parametrize(
    ("name", "origins"),
    {
        "share": ["rival_metrics:share of rival 1.0", "other_metrics:share of other 1.0"],
        "Sha_Re": ["rival_metrics:share of rival 1.0", "other_metrics:share of other 1.0"],
        "mean": ["snellen.metrics.mean", "rival_metrics:share of rival 1.0"],
        "Mean": ["snellen.metrics.mean", "rival_metrics:share of rival 1.0"],
    }.items(),
)
def test_two_metrics_of_one_name_are_an_error_that_names_both(
    install: Install, name: str, origins: list[str]
) -> None:
    own = "share = rival_metrics:share\nsha-re = rival_metrics:share\nMean = rival_metrics:share"
    install("rival", "metrics", own, {"rival_metrics.py": METRICS})
    others = "Share = other_metrics:share\nSHA_RE = other_metrics:share"
    install("other", "metrics", others, {"other_metrics.py": METRICS})
    with pytest.raises(CatalogError, match="more than one metric") as error:
        registry.metric(name)
    assert all(origin in str(error.value) for origin in origins), error.value


def test_an_unknown_metric_is_met_with_the_names_of_plug_ins_too(install: Install) -> None:
    install("rival", "metrics", "share = rival_metrics:share", {"rival_metrics.py": METRICS})
    with pytest.raises(CatalogError, match=r"no metric 'shard'\. Did you mean share"):
        registry.metric("shard")


@pytest.mark.parametrize(
    ("name", "origins"),
    {
        "counter": ["a:f of rival 1.0", "a:f of other 1.0"],
        "COUNTER/3": ["a:f of rival 1.0", "a:f of other 1.0"],
        "openai/gpt": ["Snellen's own openai", "a:f of rival 1.0"],
    }.items(),
)
def test_two_models_of_one_name_are_an_error_that_names_both(
    install: Install, name: str, origins: list[str]
) -> None:
    install("rival", "models", "counter = a:f\nOpenAI = a:f", {})
    install("other", "models", "Counter = a:f", {})
    with pytest.raises(CatalogError, match="more than one model") as error:
        registry.model(name)
    assert all(origin in str(error.value) for origin in origins), error.value


def test_a_plug_in_without_a_docstring_of_its_file_is_listed_by_that_of_its_function(
    install: Install,
) -> None:
    text = 'def bench() -> "Benchmark":\n    """bench: a few questions.\n\n    More.\n    """\n'
    install("rival", "benchmarks", "rival-bench = bench:bench", {"bench.py": text})
    install("silent", "benchmarks", "silent-bench = silent:bench", {"silent.py": BENCH})
    titles = dict(registry.list_benchmarks())
    assert titles["rival-bench"] == "bench: a few questions. (rival 1.0)"
    assert titles["silent-bench"] == "(silent 1.0)"
    assert titles["pope"].startswith("POPE: ") and "snellen" not in titles["pope"]
