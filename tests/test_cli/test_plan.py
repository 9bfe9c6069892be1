"""Plans and suites: several models and benchmarks by one name, or in one file."""

import json
from pathlib import Path

import pytest

from tests.servers import Answer, ReceivedRequest, completion, serving
from tests.test_cli.conftest import Snellen, written


def result(text: str) -> dict[str, float]:
    """Name of the model → accuracy."""
    documents = json.loads(text)
    documents = documents if isinstance(documents, list) else [documents]
    return {
        document["model"]: document["scorings"]["default"]["metrics"]["accuracy"]["value"]
        for document in documents
    }


def test_a_plan_asks_every_model_every_benchmark_with_a_profile_of_its_own(
    snellen: Snellen, tmp_path: Path
) -> None:
    written(tmp_path / "mine.jsonl", "AAB")
    bodies: list[dict[str, object]] = []

    def answer(request: ReceivedRequest) -> Answer:
        bodies.append(json.loads(request.body))
        return completion("B")

    with serving(answer) as server:
        model = f'name = "openai/m", base_url = "{server.url}", top_p = 0.5'
        (tmp_path / "plan.toml").write_text(
            f"""
            benchmarks = ["mine.jsonl"]
            limit = 2
            max_tokens = 7
            models = ["baseline/first", {{{model}}}]
            """
        )
        done = snellen("run", "plan.toml", "--limit", "3", "--json")

    assert result(done.out) == {
        "baseline/first": pytest.approx(2 / 3),
        "openai/m": pytest.approx(1 / 3),
    }
    assert {(body["top_p"], body["max_tokens"]) for body in bodies} == {(0.5, 7)}
    run = next(document for document in json.loads(done.out) if document["model"] == "openai/m")
    origins = json.loads((Path(run["run"]) / "manifest.json").read_text())["origins"]
    assert {origins[name] for name in ("base_url", "top_p", "max_tokens")} == {"plan"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("benchmark = ['eyechart']", r"no such option 'benchmark'. Options: models, benchmarks"),
        ("models = [{base_url = 'x'}]", "a model has no name"),
        ("models = [{name = 'a', prize = 1}]", "unknown field `prize`"),
        (
            "models = [{name = 'a', prices = {input = 1}}]",
            r"missing required field `output` .* \[prices\] has the fields input, output",
        ),
        ("benchmarks = [", "is not a valid TOML file"),
        ("limit = 0\nmodels=['baseline/first']\nbenchmarks=['eyechart']", "--limit"),
        ("models = ['baseline/first']", "a benchmark \\(-b\\) is missing"),
    ],
)
def test_a_plan_that_is_wrong_is_told_where(
    snellen: Snellen, tmp_path: Path, text: str, message: str
) -> None:
    import re

    (tmp_path / "plan.toml").write_text(text)

    wrong = snellen("run", "plan.toml")

    assert wrong.code == 2
    assert re.search(message, wrong.err), wrong.err
    assert "Traceback" not in wrong.err


def test_a_suite_of_ones_own_stands_for_its_benchmarks(snellen: Snellen, tmp_path: Path) -> None:
    written(tmp_path / "one.jsonl", "AAB")
    written(tmp_path / "two.jsonl", "BB")
    (tmp_path / "both.toml").write_text('benchmarks = ["one.jsonl", "two.jsonl"]')

    done = snellen("run", "-m", "baseline/first", "-b", "suite:both.toml", "--json")

    assert [document["benchmark"] for document in json.loads(done.out)] == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("suite:quik", "Did you mean suite:quick?"),
        ("suite:gone.toml", "the suite cannot be read"),
        ("suite:wrong.toml", "is not a suite. It has models"),
    ],
)
def test_a_suite_that_is_none_is_told(
    snellen: Snellen, tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "wrong.toml").write_text("models = []")

    wrong = snellen("run", "-m", "baseline/first", "-b", name)

    assert wrong.code == 2
    assert message in wrong.err


def test_every_suite_names_benchmarks_that_there_are() -> None:
    from snellen import registry
    from snellen.registry.suites import SUITES

    for suite in SUITES.values():
        for name in suite.benchmarks:
            assert registry.benchmark(name).name == name.partition(":")[0]


def test_replies_of_another_run_are_taken_for_the_very_same_requests(
    snellen: Snellen, tmp_path: Path
) -> None:
    written(tmp_path / "some.jsonl", "AA")
    written(tmp_path / "more.jsonl", "AAB")
    requests: list[ReceivedRequest] = []

    def answer(request: ReceivedRequest) -> Answer:
        requests.append(request)
        return completion("A")

    with serving(answer) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "--json")
        first = snellen(*ask, "-b", "some.jsonl").json
        again = snellen(*ask, "-b", "more.jsonl", "--reuse", first["run"])
        other = snellen(*ask, "-b", "more.jsonl", "--reuse", first["run"], "--max-tokens", "9")
        wrong = snellen("run", "-m", "baseline/first", "-b", "more.jsonl", "--reuse", first["run"])

    assert len(requests) == 2 + 1 + 3
    assert again.json["n"] == 3
    assert "2 replies were taken from another run (--reuse)" in again.json["notes"]
    assert "2 reused" in again.err
    assert not any("another run" in note for note in other.json["notes"])
    assert wrong.code == 2
    assert "no run has the same model, revision and profile as baseline/first" in wrong.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("limit = true", "limit in a plan cannot be a boolean: True"),
        ("limit = 2.9", "'2.9' is not a valid integer"),
        ("concurrency = 'many'", "neither a whole number of at least 1 nor auto"),
        (
            "[[models]]\nname = 'a'\n[[models]]\nname = 'a'",
            "a appears twice",
        ),
    ],
)
def test_values_of_a_plan_are_as_strict_as_flags(
    snellen: Snellen, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "plan.toml").write_text(f"benchmarks = 'eyechart'\n{text}")

    wrong = snellen("run", "plan.toml", "-m", "baseline/first")

    assert wrong.code == 2
    assert message in wrong.err


def test_numbers_and_single_names_stand_in_a_plan_as_they_are(
    snellen: Snellen, tmp_path: Path
) -> None:
    written(tmp_path / "mine.jsonl", "AAB")
    (tmp_path / "plan.toml").write_text(
        'models = "baseline/first"\nbenchmarks = "mine.jsonl"\nconcurrency = 4\nmax_time = 90'
    )

    assert snellen("run", "plan.toml", "--json").json["n"] == 3


def test_one_benchmark_under_two_names_is_asked_once(snellen: Snellen) -> None:
    done = snellen(
        "run", "-m", "baseline/first", "-b", "eyechart:n=20", "-b", "eyechart:n=20,seed=0", "--json"
    )

    assert done.code == 0
    assert done.json["n"] == 20


def test_an_empty_suite_is_an_error(snellen: Snellen, tmp_path: Path) -> None:
    (tmp_path / "none.toml").write_text("benchmarks = []")

    wrong = snellen("run", "-m", "baseline/first", "-b", "suite:none.toml")

    assert wrong.code == 2
    assert "the suite has no benchmarks" in wrong.err
