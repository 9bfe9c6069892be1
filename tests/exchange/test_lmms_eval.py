"""Snellen reads the samples that lmms-eval's own evaluator and tracker write, and lmms-eval's own
readers read Snellen's."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.core.model import Reply, Request
from snellen.errors import DataError, Rejected
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
from tests.tiny import Says

pytestmark = [
    pytest.mark.exchange,
    # Importing lmms-eval calls other packages in deprecated ways.
    pytest.mark.filterwarnings("ignore"),
]
REQUEST_FAILED = "[LMMS_EVAL_REQUEST_FAILED after 3 retries] timeout"
"""How lmms-eval writes a failed request: lmms_eval/models/simple/openai.py#L377 of 0.7.3."""


def evaluated(
    folder: Path, texts: Sequence[str], *, kind: str = "generate_until", **config: Any
) -> Path:
    """Ask the questions of `choice_rows` with lmms-eval, and return its file of samples. The model
    gives these replies in turn."""
    from lmms_eval.api.model import lmms
    from lmms_eval.api.task import ConfigurableTask
    from lmms_eval.evaluator import evaluate
    from lmms_eval.loggers.evaluation_tracker import EvaluationTracker

    following = iter(texts)

    class Model(lmms):  # type: ignore[misc, unused-ignore]
        def generate_until(self, requests: Sequence[Any]) -> list[str]:
            return [next(following) for _ in requests]

        def generate_until_multi_round(self, requests: Sequence[Any]) -> list[list[str]]:
            return [["And now?", next(following)] for _ in requests]

        def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
            return [(-1.5, False) for _ in requests]

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
            "doc_to_visual": lambda doc: [],
            "doc_to_text": lambda doc, **_: doc["question"],
            "doc_to_target": "answer",
            "process_results": lambda doc, replies: {"exact": float(replies[0] == doc["answer"])},
            "metric_list": [{"metric": "exact", "aggregation": "mean", "higher_is_better": True}],
            "generation_kwargs": {"max_new_tokens": 5, "until": ["\n\n"]},
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
    tracker.save_results_aggregated(results, samples, "20261101_120000")
    tracker.save_results_samples("mine", samples["mine"])
    return folder / "logs" / "org__maker" / "20261101_120000_samples_mine.jsonl"


def exported(run: Path, folder: Path) -> tuple[Path, list[str]]:
    return export(run, "lmms-eval", folder)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return choice_run(tmp_path_factory.mktemp("plain"))


# -- lmms-eval's files


def test_a_task_of_lmms_eval_is_scored_as_lmms_eval_scores_it(tmp_path: Path) -> None:
    path = evaluated(tmp_path, ["A", "B"] * (N // 2))
    results = json.loads(path.with_name("20261101_120000_results.json").read_bytes())

    scored = snellen.score(path, str(tmp_path / "mine.jsonl")).report

    assert scored.replies == {"ok": N}
    value = scored.scorings["default"].metrics["accuracy"].value
    assert value == results["results"]["mine"]["exact,none"] == pytest.approx(1 / 2)
    read = predictions.read(path)
    assert read.possible_names == (("org__maker", "mine"),)
    assert read.questions["3"] == "Question number 3: which letter?"


def test_its_repeats_are_read_as_repeats(tmp_path: Path) -> None:
    path = evaluated(tmp_path, ["A", "The answer is B"] * N, repeats=2)

    read = predictions.read(path)
    assert read.replies == {str(number): "A" for number in range(N)}
    assert read.again == {str(number): ["The answer is B"] for number in range(N)}
    scored = snellen.score(path, str(tmp_path / "mine.jsonl")).report
    assert scored.replies == {"ok": 2 * N}
    assert scored.scorings["default"].metrics["accuracy"].value == 1 / 2


def test_a_request_that_failed_there_has_no_reply_here(tmp_path: Path) -> None:
    path = evaluated(tmp_path, ["A"] * (N - 1) + [REQUEST_FAILED])

    scored = snellen.score(path, str(tmp_path / "mine.jsonl")).report

    assert scored.replies == {"ok": N - 1, "absent": 1}
    assert scored.scorings["default"].metrics["accuracy"].n == N - 1


def test_reasoning_that_it_removed_stays_removed(tmp_path: Path) -> None:
    path = evaluated(
        tmp_path, ["<think>A or B?</think>A"] * N, reasoning_tags=[["<think>", "</think>"]]
    )

    assert lines_of(path)[0]["resps"] == "<think>A or B?</think>A"
    assert set(predictions.read(path).replies.values()) == {"A"}


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("generate_until_multi_round", {}),
        ("multiple_choice", {"doc_to_choice": ["A", "B"]}),
        ("generate_until", {"repeats": 2, "filter_list": "both"}),
    ],
)
def test_rounds_ranked_choices_and_repeats_that_look_like_them_are_refused(
    tmp_path: Path, kind: str, config: dict[str, Any]
) -> None:
    keep = {"name": "both", "filter": [{"function": "take_first_k", "k": 2}]}
    if "filter_list" in config:
        config = {**config, "filter_list": [keep]}

    path = evaluated(tmp_path, ["A", "B"] * N, kind=kind, **config)

    with pytest.raises(DataError, match=r"row 1 has 2 responses \(choices ranked by likelihood"):
        predictions.read(path)


# -- Snellen's files


def test_lmms_eval_reads_each_score_and_no_score_of_a_failed_sample(
    plain: Path, tmp_path: Path
) -> None:
    from lmms_eval.baselines.loader import load_baseline

    path, _ = exported(plain, tmp_path)
    scores, results = load_baseline(str(path), "mine")

    assert FAILED not in scores
    assert len(scores) == N - 1
    metric = report_of(plain)["scorings"]["default"]["metrics"]["accuracy"]
    assert sum(scores.values()) / len(scores) == pytest.approx(metric["value"])
    assert results["results"]["mine"]["accuracy,default"] == metric["value"]
    assert results["results"]["mine"]["accuracy_stderr,default"] == metric["stderr"]


def test_lmms_eval_reads_the_mean_of_the_repeats_that_did_not_fail(tmp_path: Path) -> None:
    from lmms_eval.baselines.loader import load_baseline

    texts: Iterator[str | None] = iter([None, *"AB", *"AAA", *[None] * 3])

    def say(request: Request) -> Reply:
        text = next(texts)
        if text is None:
            raise Rejected("no")
        return Reply(text=text, stop="stop")

    rows = str(choice_rows(tmp_path))
    done = snellen.evaluate(
        rows, Says(say), limit=3, repeats=3, temperature=0.5, concurrency=1, out=tmp_path / "runs"
    )
    assert done.run is not None
    scores, _ = load_baseline(str(exported(done.run, tmp_path)[0]), "mine")

    assert scores == {0: 0.5, 1: 1.0}


def test_its_viewer_lists_the_run_and_shows_the_samples(plain: Path, tmp_path: Path) -> None:
    from lmms_eval.tui import server

    folder = tmp_path / "logs" / "org__maker"
    folder.mkdir(parents=True)
    path, _ = exported(plain, folder)
    logs = str(tmp_path / "logs")

    [run] = asyncio.run(server.list_log_runs(logs_path=logs))
    page = asyncio.run(
        server.get_log_run_samples(run.run_id, "mine", logs_path=logs, offset=0, limit=50)
    )

    assert (run.model_name, run.tasks) == ("org/maker", ["mine"])
    assert run.date == path.name.removesuffix("_samples_mine.jsonl")
    assert run.n_samples == {"mine": {"original": N, "effective": N - 1}}
    assert (page.total, page.samples) == (N, lines_of(path))


def test_its_summary_of_tokens_counts_those_of_the_run(plain: Path, tmp_path: Path) -> None:
    from lmms_eval.models.model_utils.efficiency_metrics import build_efficiency_summary

    path, _ = exported(plain, tmp_path)
    summary = build_efficiency_summary({"samples": {"mine": lines_of(path)}})

    assert summary["overall"]["docs_with_token_counts"] == N - 1
    assert summary["overall"]["total_output_tokens"] == 7 * (N - 1)
    assert summary["overall"]["total_input_tokens"] == sum(
        100 + number for number in range(N) if number != FAILED
    )


@pytest.mark.parametrize("run_of", [choice_run, conversation_run])
def test_the_datasets_package_loads_the_samples(
    tmp_path: Path, run_of: Callable[[Path], Path]
) -> None:
    from datasets import load_dataset

    path, _ = exported(run_of(tmp_path), tmp_path)
    rows = load_dataset("json", data_files=str(path), split="train", cache_dir=str(tmp_path / "c"))

    lines = lines_of(path)
    assert rows["id"][:] == [line["id"] for line in lines]
    assert rows["filtered_resps"][:] == [line["filtered_resps"] for line in lines]


def test_an_export_says_which_replies_lmms_eval_would_score_itself(tmp_path: Path) -> None:
    run = choice_run(tmp_path)
    (run / "report.json").unlink()
    (run / "scores.jsonl").unlink()

    path, notes = exported(run, tmp_path)

    assert "score" not in lines_of(path)[0]
    assert f"{N - 1} lines have a reply but no score" in " ".join(notes)
