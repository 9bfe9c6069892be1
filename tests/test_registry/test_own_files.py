"""What a benchmark's file lacks is said with its name, its place, and what to do."""

from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.errors import SnellenError, UsageError

SOURCE = Path(__file__).parents[1] / "plugin_package/src/lettercount"
MORE = """

def many_letters(data: Path | None = None, times: "Times" = 1) -> Benchmark:
    return letter_count(data)


def without_data(words: Literal["short", "long"]) -> Benchmark:
    return letter_count(None, words)


def with_data(data: Path) -> Benchmark:
    return letter_count(data)


def nothing() -> Benchmark:
    return None


def free(**settings: str) -> Benchmark:
    return letter_count(**settings)


class Maker:
    def __call__(self, words: Literal["short", "long"] = "short") -> Benchmark:
        return letter_count(None, words)


dashed = letter_count()
maker = Maker()
fixed = partial(letter_count, words="long")
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "letters.py"
    text = (SOURCE / "letter_count.py").read_text()
    text = text.replace('name="letter-count"', 'name="few-words"')
    file.write_text(text.replace("from pathlib", "from functools import partial\nfrom pathlib", 1))
    with file.open("a") as end:
        end.write(MORE)
    return file


@pytest.mark.parametrize(
    "name", ["letter_count", "letter-count", "Letter-Count", "few-words", "few_words", "dashed"]
)
def test_a_benchmark_is_found_by_the_name_that_it_or_its_function_has(
    file: Path, name: str
) -> None:
    benchmark = registry.benchmark(f"{file}:{name}")
    assert benchmark.name == "few-words"
    assert benchmark.provenance.source is not None
    spec = benchmark.provenance.source.spec
    assert spec in (f"{file}:letter_count", f"{file}:dashed")


def test_options_may_follow_a_name_with_dashes(file: Path) -> None:
    assert (
        registry.benchmark(f"{file}:letter-count:words=long").provenance.options["words"] == "long"
    )


BENCHMARKS = "it has letter_count, many_letters, without_data, with_data, nothing, free, dashed."


@pytest.mark.parametrize(
    ("name", "error"),
    {
        "leter_count": f"has no 'leter_count'; {BENCHMARKS} Did you mean letter_count?",
        "letter-cuont": f"has no 'letter-cuont'; {BENCHMARKS} Did you mean letter_count?",
        "zzz": f"has no 'zzz'; {BENCHMARKS}",
        "many_letters:times=2": "annotation 'Times' of the option 'times' cannot be resolved: "
        "name 'Times' is not defined. In ",
        "without_data": "needs a value for words. If it is a function that returns a benchmark, "
        "write ",
        "parse": "needs a value for reply and sample. If it is a function",
        "with_data": "Pass the path with --data PATH",
        "nothing": "returned None, not a Benchmark. The functions that return a Benchmark: "
        "letter_count, many_letters",
        "maker:words=none": "must be one of short, long",
    }.items(),
)
def test_what_is_wrong_with_a_name_is_said(file: Path, name: str, error: str) -> None:
    with pytest.raises(UsageError) as caught:
        registry.benchmark(f"{file}:{name}")
    assert error in str(caught.value)
    assert f"{file}" in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["many_letters", "without_data:words=long", "free", "maker", "maker:words=long", "fixed"],
)
def test_what_can_be_called_makes_a_benchmark(file: Path, name: str) -> None:
    assert registry.benchmark(f"{file}:{name}").name == "few-words"


def test_data_are_refused_by_a_function_that_has_its_own(file: Path) -> None:
    with pytest.raises(UsageError, match=r"has no parameter `data`.* Leave out --data"):
        registry.benchmark(f"{file}:without_data:words=long", data=file.parent)


def test_options_whose_annotations_cannot_be_resolved_are_shown_without_choices(
    file: Path,
) -> None:
    assert registry.options_of(f"{file}:many_letters") == {"times": {"default": 1, "choices": None}}
    assert registry.options_of(f"{file}:without_data")["words"] == {
        "default": None,
        "choices": ["short", "long"],
    }


def test_a_model_that_is_not_in_a_file_is_met_with_those_that_it_defines(tmp_path: Path) -> None:
    model = tmp_path / "mine.py"
    model.write_text(
        "import re\nfrom pathlib import Path\nfrom snellen.core import Reply\n"
        "def answer(messages): return ''\nclass Counter:\n    def generate(self, messages): ...\n"
        "counter = Counter()\n"
    )
    with pytest.raises(UsageError) as caught:
        registry.model(f"python:{model}:anwser")
    assert "has no 'anwser'; it has answer, Counter, counter. Did you mean answer?" in str(
        caught.value
    )
    with pytest.raises(UsageError, match="has no 'anwser'; it has answer, Counter, counter"):
        registry.metric(f"{model}:anwser")


# -- the benchmark of a run, among several


def manifest(file: Path, name: str = "few-words", **options: Any) -> dict[str, Any]:
    source = {"kind": "file", "spec": f"{file}:without_data"}
    identity = {"options": options}
    return {
        "benchmark": name,
        "benchmark_object": True,
        "identity": identity,
        "benchmark_source": source,
    }


def test_a_function_that_needs_options_is_found_by_those_of_the_run(file: Path) -> None:
    document = manifest(file, words="long")
    benchmark = registry.supplied([f"{file}:without_data"], document)
    assert isinstance(benchmark, Benchmark)
    assert benchmark.provenance.options["words"] == "long"


def test_another_benchmark_that_fails_does_not_hide_the_runs_own(file: Path) -> None:
    own = [f"{file}:nothing", f"{file}:with_data", f"{file}:without_data"]
    assert registry.supplied(own, manifest(file, words="long")) is not None


def test_a_failure_is_told_where_no_other_benchmark_is_the_runs(file: Path) -> None:
    with pytest.raises(SnellenError, match="returned None"):
        registry.supplied([f"{file}:nothing"], manifest(file))
    catalog = {**manifest(file, "pope"), "benchmark_object": False}
    assert registry.supplied([f"{file}:nothing"], catalog) is None


def test_a_benchmark_of_another_name_is_not_the_runs(file: Path) -> None:
    assert registry.supplied([f"{file}:letter_count"], manifest(file, "other", n=3)) is None
