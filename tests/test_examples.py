"""The examples that log results elsewhere, each with an object that writes down what it is told."""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from snellen.analysis.result import Result
from snellen.api import evaluate
from snellen.core.model import Request
from snellen.errors import Rejected
from tests.tiny import Says, benchmark

EXAMPLES = Path(__file__).parents[1] / "examples"


class Recorder:
    """Takes what wandb's run, TensorBoard's writer and mlflow's module are told."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self.steps: set[int] = set()

    def log(self, values: Mapping[str, float], *, step: int) -> None:
        self.values |= values
        self.steps.add(step)

    def log_metrics(self, values: Mapping[str, float], *, step: int) -> None:
        self.log(values, step=step)

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.log({name: value}, step=step)

    def flush(self) -> None:
        pass


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """30 of 40 right, 10 wrong, and 4 without a reply."""

    def say(request: Request) -> str:
        number = int(request.messages[0].text.split()[1])
        if number >= 40:
            raise Rejected("no")
        return "yes" if number < 30 else "no"

    return evaluate(benchmark(44), Says(say), out=tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("name", ["to_wandb", "to_tensorboard", "to_mlflow"])
def test_an_example_logs_value_interval_n_and_failures(name: str, result: Result) -> None:
    recorder = Recorder()

    module(name).log(recorder, result, 300)

    # Wilson's interval by hand: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)
    values = {"value": 0.75, "n": 40, "failed": 4, "low": 0.5981, "high": 0.8581}
    assert recorder.steps == {300}
    assert recorder.values == pytest.approx({f"tiny/{k}": v for k, v in values.items()}, abs=5e-5)


@pytest.mark.parametrize("name", ["to_wandb", "to_tensorboard", "to_mlflow"])
def test_an_example_logs_no_value_where_there_is_none(name: str, tmp_path: Path) -> None:
    def say(request: Request) -> str:
        raise Rejected("no")

    recorder = Recorder()
    module(name).log(recorder, evaluate(benchmark(3), Says(say), out=tmp_path), 1)

    assert recorder.values == {"tiny/n": 0, "tiny/failed": 3}


@pytest.mark.parametrize("name", ["to_wandb", "to_tensorboard", "to_mlflow"])
def test_an_example_logs_two_settings_of_a_benchmark_under_two_names(
    name: str, tmp_path: Path
) -> None:
    recorder = Recorder()
    for tasks in ("letters", "colors"):
        benchmark = f"eyechart:tasks={tasks}"
        result = evaluate(benchmark, Says(lambda request: "no"), out=tmp_path, limit=10)
        module(name).log(recorder, result, 1)

    names = [key.removesuffix("/value") for key in recorder.values if key.endswith("/value")]
    expected = ["eyechart:tasks=letters", "eyechart:tasks=colors"]
    if name == "to_mlflow":  # which refuses `=` in names
        expected = ["eyechart-tasks-letters", "eyechart-tasks-colors"]
    assert names == expected
