"""Snellen reads the samples that lm-eval's own evaluator and tracker write. lm-eval does not read
such files: its own schema, and a program that reads them, check Snellen's."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.errors import DataError
from snellen.interop import predictions
from snellen.report.export import export
from tests.exchanged import (
    FAILED,
    N,
    choice_rows,
    choice_run,
    conversation_run,
    lines_of,
    report_of,
)

pytestmark = [
    pytest.mark.exchange,
    # Importing lm-eval calls other packages in deprecated ways.
    pytest.mark.filterwarnings("ignore"),
]


def evaluated(
    folder: Path, texts: Sequence[str], *, kind: str = "generate_until", **config: Any
) -> Path:
    """Ask the questions of `choice_rows` with lm-eval, and return its file of samples. The model
    gives these replies in turn."""
    from lm_eval.api.model import LM
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.evaluator import evaluate
    from lm_eval.loggers.evaluation_tracker import EvaluationTracker

    following = iter(texts)

    class Model(LM):  # type: ignore[misc, unused-ignore]
        def generate_until(self, requests: Sequence[Any]) -> list[str]:
            return [next(following) for _ in requests]

        def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
            return [(-1.5, False) for _ in requests]

        def loglikelihood_rolling(self, requests: Sequence[Any]) -> list[float]:
            raise NotImplementedError

    task = ConfigurableTask(
        config={
            "task": "mine",
            "dataset_path": "json",
            "dataset_kwargs": {
                "data_files": {"test": str(choice_rows(folder))},
                "cache_dir": str(folder / "cache"),
            },
            "test_split": "test",
            "output_type": kind,
            "doc_to_text": "question",
            "doc_to_target": "answer",
            "process_results": lambda doc, replies: {"exact": float(replies[0] == doc["answer"])},
            "metric_list": [{"metric": "exact", "aggregation": "mean", "higher_is_better": True}],
            "num_fewshot": 0,
            **config,
        }
    )
    results = evaluate(Model(), {"mine": task}, bootstrap_iters=0)
    samples = results.pop("samples")
    tracker = EvaluationTracker(output_path=str(folder / "logs"))
    tracker.general_config_tracker.log_experiment_args(
        model_source="scripted",
        model_args="model=org/maker",
        system_instruction=None,
        chat_template=None,
        fewshot_as_multiturn=False,
    )
    tracker.save_results_aggregated(results, samples)
    tracker.save_results_samples("mine", samples["mine"])
    [path] = (folder / "logs" / "org__maker").glob("samples_mine_*.jsonl")
    return path


# -- lm-eval's files


def test_a_task_of_lm_eval_is_scored_as_lm_eval_scores_it(tmp_path: Path) -> None:
    path = evaluated(tmp_path, ["A", "B"] * (N // 2))
    [results] = path.parent.glob("results_*.json")

    scored = snellen.score(path, str(tmp_path / "mine.jsonl")).report

    assert scored.replies == {"ok": N}
    value = scored.scorings["default"].metrics["accuracy"].value
    theirs = json.loads(results.read_bytes())["results"]["mine"]["exact,none"]
    assert value == theirs == pytest.approx(1 / 2)
    assert predictions.read(path).possible_names == (("org__maker", "mine"),)


def test_its_repeats_are_read_raw_and_not_as_its_filters_leave_them(tmp_path: Path) -> None:
    path = evaluated(tmp_path, ["A", "The answer is B"] * N, repeats=2)

    read = predictions.read(path, ids="doc.id")

    assert lines_of(path)[0]["filtered_resps"] == ["A"]
    assert read.replies == {f"q{number}": "A" for number in range(N)}
    assert read.again == {f"q{number}": ["The answer is B"] for number in range(N)}


def test_choices_that_it_ranked_are_refused(tmp_path: Path) -> None:
    path = evaluated(tmp_path, [], kind="multiple_choice", doc_to_choice=["A", "B"])

    with pytest.raises(DataError, match=r"2 responses \(choices ranked by likelihood"):
        predictions.read(path)


# -- Snellen's files


def repeated(folder: Path) -> Path:
    return choice_run(folder, repeats=3)


@pytest.mark.parametrize("run_of", [choice_run, repeated, conversation_run])
def test_each_line_has_the_fields_and_types_of_lm_evals_schema(
    tmp_path: Path, run_of: Callable[[Path], Path]
) -> None:
    from lm_eval.result_schema import SampleResult
    from pydantic import TypeAdapter

    schema = TypeAdapter(SampleResult)
    [theirs, *_] = lines_of(evaluated(tmp_path, ["A"] * N))
    path, _ = export(run_of(tmp_path), "lm-eval", tmp_path)

    for line in (theirs, *lines_of(path)):
        schema.validate_python(line, strict=True)


@pytest.mark.parametrize("run_of", [choice_run, repeated])
def test_a_converter_of_lm_evals_samples_reads_each_score(
    tmp_path: Path, run_of: Callable[[Path], Path]
) -> None:
    from every_eval_ever.converters.lm_eval.instance_level_adapter import LMEvalInstanceLevelAdapter

    run = run_of(tmp_path)
    path, _ = export(run, "lm-eval", tmp_path)
    lines = LMEvalInstanceLevelAdapter().transform_samples(path, "e", "org/maker", "mine")

    scores = {line.sample_id: line.evaluation.score for line in lines}
    assert sorted(map(int, scores)) == [number for number in range(N) if number != FAILED]
    metric = report_of(run)["scorings"]["default"]["metrics"]["accuracy"]
    assert sum(scores.values()) / len(scores) == pytest.approx(metric["value"])
    assert {line.output.raw[0] for line in lines} == {"The answer is A", "I cannot say."}


@pytest.mark.parametrize("run_of", [choice_run, conversation_run])
def test_the_datasets_package_loads_the_samples(
    tmp_path: Path, run_of: Callable[[Path], Path]
) -> None:
    from datasets import load_dataset

    path, _ = export(run_of(tmp_path), "lm-eval", tmp_path)
    rows = load_dataset("json", data_files=str(path), split="train", cache_dir=str(tmp_path / "c"))

    lines = lines_of(path)
    assert [doc["id"] for doc in rows["doc"][:]] == [line["doc"]["id"] for line in lines]
    assert rows["resps"][:] == [line["resps"] for line in lines]
