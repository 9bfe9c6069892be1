"""`lmms-eval:TASK` gives the figures that lmms-eval's own evaluator gives for the same replies: the
real tasks, on drawn rows."""

from __future__ import annotations

import random
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.analysis.result import Result
from snellen.core.model import Reply, Request
from tests.exchanged import lines_of
from tests.tiny import Says

pytestmark = [
    pytest.mark.exchange,
    # Importing lmms-eval calls other packages in deprecated ways.
    pytest.mark.filterwarnings("ignore"),
]


@dataclass(frozen=True)
class TaskCase:
    """A task of lmms-eval, with drawn rows and one reply to each."""

    file: str
    """The task's file in lmms_eval/tasks."""
    split: str
    """The split that the task asks."""
    rows: Sequence[Mapping[str, Any]]
    """The rows. `PICTURE` stands for a picture."""
    replies: Sequence[str]
    """The replies, in the order of the rows."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Other keys of the task's file."""
    guesses: int = 0
    """The number of replies for which the task draws an answer at random."""


PICTURE = object()


def repeated(count: int, **columns: Sequence[Any]) -> list[dict[str, Any]]:
    """Rows from columns, which are repeated as needed."""
    return [
        {name: cells[index % len(cells)] for name, cells in columns.items()}
        for index in range(count)
    ]


YES_NO = ["Yes", "no", "No.", "yes, there is", "maybe", ""]
LETTERS = ["A", "B. two", "The answer is C", "(D)", "", "no idea", "A. one", "b"]
BOXES = ["[0.0, 0.0, 0.5, 0.5]", "[0.1, 0.2, 0.6, 0.9]", "nothing", "it is [0.25,0.25,0.75,0.75]"]

CASES = {
    "mme": TaskCase(
        "mme/mme.yaml",
        "test",
        repeated(
            12,
            question_id=["a", "a", "b", "b", "c", "c"],
            image=[PICTURE],
            question=["Is it red? Please answer yes or no."],
            answer=["Yes", "No"],
            category=["existence"] * 4 + ["code_reasoning"] * 2,
        )[:6],
        ["Yes", "no", "<think>Yes?</think>No.", "yes, it is", "y", "other"],
    ),
    "chartqa": TaskCase(
        "chartqa/chartqa.yaml",
        "test",
        repeated(
            6,
            image=[PICTURE],
            question=["How many?"],
            answer=["10", "50%", "blue"],
            type=["human_test", "augmented_test"],
        ),
        ["10.4", "<analysis>half</analysis> 0.5", "Blue", "11", "x", "blue"],
    ),
    "pope": TaskCase(
        "pope/pope.yaml",
        "test",
        repeated(
            6,
            question_id=["1"],
            image=[PICTURE],
            question=["Is there a cat? "],
            answer=["yes", "no"],
        ),
        YES_NO,
    ),
    "docvqa_val": TaskCase(
        "docvqa/docvqa_val.yaml",
        "validation",
        repeated(
            5, image=[PICTURE], question=["Which date?"], answers=[["May 1", "1 May"], ["Total"]]
        ),
        ["may 1", "Totals", "1 Mai", "", "nothing at all"],
        {"dataset_name": None},
    ),
    "ocrbench": TaskCase(
        "ocrbench/ocrbench.yaml",
        "test",
        repeated(
            5,
            image=[PICTURE],
            dataset=["IIIT5K", "HME100k"],
            question=["What is written?"],
            question_type=["Regular Text Recognition", "Doc-oriented VQA"],
            answer=[["CAFE"], ["x + y"], ["Open"]],
        ),
        ["cafe", "x+y", "closed", "The word is CAFE", ""],
    ),
    "mmmu_val": TaskCase(
        "mmmu/mmmu_val.yaml",
        "validation",
        repeated(
            8,
            id=["validation_Art_1", "validation_Biology_2", "validation_Art_3"],
            image_1=[PICTURE],
            question=["See <image 1>. Which?", "How many in <image 1>?"],
            question_type=["multiple-choice", "open"],
            options=["['one', 'two', 'three', 'four']", "[]"],
            answer=["A", "4"],
        ),
        ["A", "4", "no idea", "it is 4.0", "Certainly the second", "five", "(A)", "maybe 4"],
        guesses=2,
    ),
    "textvqa_val": TaskCase(
        "textvqa/textvqa_val.yaml",
        "validation",
        repeated(
            4,
            question_id=[1, 2, 3, 4],
            image=[PICTURE],
            question=["what brand?"],
            answers=[["nokia"] * 7 + ["samsung"] * 3, ["two"] * 10],
        ),
        ["Nokia", "2", "samsung.", "three"],
    ),
    "muirbench": TaskCase(
        "muirbench/muirbench.yaml",
        "test",
        repeated(
            6,
            idx=["1", "2", "3"],
            task=["Counting", "Ordering"],
            image_relation=["Temporal"],
            image_type=["photo"],
            question=["Compare <image><image>"],
            options=[["one", "two", "three"]],
            answer=["A", "B", "C"],
            image_list=[[PICTURE, PICTURE]],
        ),
        ["A", "B. two", "The answer is C", "", "b", "C."],
    ),
    "refcoco_bbox_rec_val": TaskCase(
        "refcoco/refcoco_bbox_rec_val.yaml",
        "val",
        repeated(
            2,
            question_id=["1", "2"],
            image=[PICTURE],
            answer=[["left dog", "the dog"], ["cat", "gray cat"]],
            bbox=[[0.0, 0.0, 12.0, 8.0], [6.0, 4.0, 12.0, 8.0]],
        ),
        BOXES,
    ),
    "ai2d": TaskCase(
        "ai2d/ai2d.yaml",
        "test",
        repeated(
            8,
            image=[PICTURE],
            question=["Which part?"],
            options=[["one", "two", "three", "four"]],
            answer=["0", "1", "2", "3"],
        ),
        LETTERS,
    ),
    "mmstar": TaskCase(
        "mmstar/mmstar.yaml",
        "val",
        repeated(
            8,
            index=[*range(8)],
            image=[PICTURE],
            question=["Which?\nOptions: A: one, B: two, C: three, D: four"],
            answer=["A", "B", "C", "D"],
            category=["coarse perception", "math"],
            l2_category=["image emotion", "geometry"],
        ),
        LETTERS,
    ),
    "countbenchqa": TaskCase(
        "countbenchqa/countbenchqa.yaml",
        "test",
        repeated(
            4, image=[PICTURE], text=["Some cups."], question=["How many cups?"], number=[3, 4]
        ),
        ["3", "4 cups", " 3 ", "5"],
    ),
    "scienceqa_img": TaskCase(
        "scienceqa/scienceqa_img.yaml",
        "test",
        repeated(
            8,
            image=[PICTURE],
            question=["Which?"],
            hint=["", "Look."],
            choices=[["one", "two", "three", "four"]],
            answer=[0, 1, 2, 3],
        ),
        LETTERS,
        {"dataset_name": None},
    ),
    "mmvp": TaskCase(
        "mmvp/mmvp.yaml",
        "train",
        [
            {
                "Index": index + 1,
                "image": PICTURE,
                "Question": "Open or closed?",
                "Options": "(a) Open (b) Closed",
                "Correct Answer": "(a)" if index % 2 else "(b)",
            }
            for index in range(6)
        ],
        ["B", "A", "option a", "(B)", "", "neither"],
    ),
    "vlmsareblind": TaskCase(
        "vlmsareblind/vlmsareblind.yaml",
        "valid",
        repeated(
            6,
            image=[PICTURE],
            prompt=["How many?"],
            task=["nested squares", "touching circles", "circled letter"],
            groundtruth=["3", "Yes", "e"],
        ),
        ["{3}", "yes", "{e}", "four", "no", "x"],
    ),
    "fsc147": TaskCase(
        "fsc147/fsc147.yaml",
        "train",
        repeated(4, image=[PICTURE], pos_caption=["The cups."], pos_count=[3, 12]),
        ["3", "about 10", "none", "12"],
    ),
    "screenspot_rec_test": TaskCase(
        "screenspot/screenspot_rec_test.yaml",
        "test",
        repeated(
            4,
            image=[PICTURE],
            instruction=["close"],
            file_name=["a.png"],
            bbox=[[0.0, 0.0, 0.5, 0.5], [0.25, 0.25, 0.75, 0.75]],
            data_type=["text", "icon"],
            data_source=["web"],
        ),
        BOXES,
    ),
    "captions": TaskCase(
        "",
        "test",
        repeated(4, image=[PICTURE], caption=["a red cup on a table", "two dogs that run"]),
        ["a red cup on the table", "two dogs run", "a cup", "two dogs that run"],
        {
            "output_type": "generate_until",
            "doc_to_visual": "image",
            "doc_to_text": "Describe the picture.",
            "doc_to_target": "caption",
            "metric_list": [
                {"metric": "bleu", "aggregation": "bleu", "higher_is_better": True},
                {"metric": "chrf", "aggregation": "chrf", "higher_is_better": True},
            ],
        },
    ),
}


def drawn(value: Any, number: int) -> Any:
    """Replace `PICTURE` by a picture of two colors."""
    from PIL import Image

    if value is PICTURE:
        picture = Image.new("RGB", (24, 16), (number * 20 % 256, 90, 200))
        picture.paste((250, 200, 0), (4, 4, 12, 10))
        return picture
    if isinstance(value, list):
        return [drawn(item, number) for item in value]
    return value


def task_file(name: str, case: TaskCase, folder: Path) -> Path:
    """Write a task's rows, and a task file that differs from lmms-eval's only in where the rows
    are."""
    import lmms_eval
    import yaml
    from datasets import Dataset, DatasetDict

    rows = [
        {column: drawn(cell, number) for column, cell in row.items()}
        for number, row in enumerate(case.rows)
    ]
    data = folder / "rows"
    DatasetDict({case.split: Dataset.from_list(rows)}).save_to_disk(str(data))
    base = Path(str(lmms_eval.__file__)).parent / "tasks" / case.file
    document = {
        **({"include": str(base)} if case.file else {"test_split": case.split}),
        "task": name,
        "dataset_path": str(data),
        "dataset_kwargs": {"load_from_disk": True},
        **case.changes,
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


def their_results(path: Path, name: str, replies: Sequence[str]) -> tuple[dict[str, Any], Any]:
    """The figures and the samples of lmms-eval's own evaluator, with the seeds and the arguments of
    its command line. One thread processes the documents, since several threads would draw random
    numbers in any order."""
    import numpy as np
    from lmms_eval.api.model import lmms
    from lmms_eval.evaluator import evaluate
    from lmms_eval.tasks import TaskManager

    class Model(lmms):  # type: ignore[misc, unused-ignore]
        is_simple = False

        def generate_until(self, requests: Sequence[Any]) -> list[str]:
            return [replies[request.doc_id] for request in requests]

        def generate_until_multi_round(self, requests: Sequence[Any]) -> list[str]:
            raise NotImplementedError

        def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
            raise NotImplementedError

    random.seed(0)
    np.random.seed(1234)
    manager = TaskManager("ERROR", include_path=str(path.parent), include_defaults=False)
    tasks = manager.load_task_or_group([name], "chat")
    tasks[name].set_config(key="num_fewshot", value=0)
    tasks[name].set_fewshot_seed(seed=1234)
    results = evaluate(
        Model(),
        tasks,
        bootstrap_iters=0,
        process_docs_parallel=1,
        cli_args=Namespace(
            output_path=str(path.parent / "theirs"),
            process_with_media=False,
            reasoning_tags='[["<think>", "</think>"], ["<analysis>", "</analysis>"]]',
        ),
    )
    return results["results"][name], results["samples"][name]


def says(replies: Sequence[str]) -> Says:
    def say(request: Request) -> Reply:
        assert request.origin is not None
        return Reply(text=replies[int(request.origin.sample)], stop="stop")

    return Says(say)


def numbers(results: Mapping[str, Any]) -> dict[str, float]:
    return {
        name: value
        for name, value in results.items()
        if isinstance(value, int | float) and "_stderr" not in name
    }


@pytest.mark.parametrize("name", CASES)
def test_the_figures_are_those_that_lmms_eval_prints(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    path = task_file(name, case, tmp_path)
    theirs, samples = their_results(path, name, case.replies)

    def run(model: Says) -> Result:
        out = tmp_path / "runs"
        return snellen.evaluate(f"lmms-eval:{path}", model, run_toolkit_code=True, out=out)

    done, again = run(says(case.replies)), says(case.replies)
    assert (run(again).run, again.requests) == (done.run, [])  # all replies are stored
    scoring = done.report.scorings["lmms-eval"]
    filters = {key.partition(",")[2] for key in theirs if "," in key}
    ours = {
        label if "," in label else f"{label},{next(iter(filters))}": metric.value
        for label, metric in scoring.metrics.items()
        if metric.value is not None and "|" not in label
    }
    assert ours == numbers(theirs) and ours
    assert scoring.readings.get("guessed", 0) == case.guesses
    assert "scored by lmms-eval's own code, unproven" in done.report.notes
    assert done.run is not None
    stored = {line["sample"]: line.get("score") for line in lines_of(done.run / "scores.jsonl")}
    for theirs_of in samples:
        number = their_number(theirs_of, next(iter(scoring.metrics)).partition(",")[0])
        assert number is None or stored[str(theirs_of["doc_id"])] == number
    assert len(samples) == len(stored) == len(case.replies)


def their_number(sample: Mapping[str, Any], metric: str) -> float | None:
    """The number that lmms-eval logged for a sample under a metric."""
    value = sample.get(metric)
    value = value.get("score") if isinstance(value, dict) else value
    return float(value) if isinstance(value, int | float) else None
