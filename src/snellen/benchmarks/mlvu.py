"""MLVU: seven tasks with choices and two with free answers about long videos.

Paper    Zhou et al. 2024, MLVU: Benchmarking Multi-task Long Video Understanding,
         https://arxiv.org/abs/2406.04264 (CVPR 2025).
Data     JUNJIE99/MLVU@fd060c10a43ea48a35100a22688a927b8e531199:data/{1_plotQA, ..., 7_topic_
         reasoning}.json with the 2,174 questions of the dev set, and video/{task}/ of MLVU/MVLU on
         the Hugging Face hub. `task=sub_scene` and `task=summary` are 8_sub_scene.json with 201
         questions and 9_summary.json with 217, whose answers are free.
Prompt   `official`: evaluation/models/videochat2/choice_bench.py#L474-L481, without the beginning
         of the answer that the authors give, "Best option:(".
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/mlvu/mlvu_dev.yaml#L25-L28, with "Best option: (" in the question. The authors
         prescribe no frames. Here, they are uniform:32. The questions with free answers have the
         prompt of open_bench.py#L405-L441 in the same folder, with 1,000 tokens.
Scoring  `official`: evaluation/multiple_choice_evaluation/choice_bench.py#L105-L119. The character
         before the first ")" is the answer, or else the whole reply: "(A) text" is A, "f(x) (A)" is
         x, and "A." is wrong. `m_avg` is the mean over the tasks, and `accuracy` is the mean over
         the questions.
         `lmms-eval`: lmms_eval/tasks/_task_utils/mcq_extract.py with the letters A to D.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
         Free answers: gpt-4-turbo grades them from 1 to 5 in two respects, evaluation/generation_
         evaluation/*.py. `total` is the mean of the sum; the paper's G-Avg is its mean over the two
         tasks. A text without both grades counts as 0 for the authors; here, it stays unjudged.
Proof    For 1,200 generated replies, every verdict equals that of the authors' and lmms-eval's
         code. For 640 generated texts of the judge, the grades and prompts equal the authors'
         (tests/parity).
         `robust` is checked on examples worked out by hand.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families import mlvu_generation as generation
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families import video_letters as rules
from snellen.benchmarks.families.choice_sets import rule
from snellen.benchmarks.families.mlvu_generation import Task
from snellen.core import Benchmark, Capabilities, Check, Presentation, Sample
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.errors import UsageError
from snellen.metrics import Metric, macro_average, mean

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "CC-BY-NC-SA-4.0"
PROOF = "authors' code"
SIZE = 2174
OTHER_SIZES = {"task=sub_scene": 201, "task=summary": 217}
COMMIT = "fd060c10a43ea48a35100a22688a927b8e531199"
AUTHORS = f"JUNJIE99/MLVU@{COMMIT}"
ALIASES = {"mlvu_dev": {"prompt": "lmms-eval"}, "MLVU_MCQ": {"prompt": "official"}}
SYSTEM = (
    "Carefully watch this video and pay attention to every detail. Based on your observations, "
    "select the best option that accurately addresses the question.\n"
)
TASKS = ("plotQA", "needle", "ego", "count", "order", "anomaly_reco", "topic_reasoning")
NAMES = [f"{number}_{task}.json" for number, task in enumerate(TASKS, 1)]
FREE: Mapping[Task, str] = {"sub_scene": "8_sub_scene.json", "summary": "9_summary.json"}
LEAVES = {
    **dict.fromkeys(("plotQA", "needle", "ego"), "perception/object"),
    **{"count": "perception/counting", "order": "reasoning/temporal"},
    **{"anomaly_reco": "reasoning/temporal", "topic_reasoning": "perception/scene"},
}
METRICS = {
    "m_avg": Metric(macro_average("task"), better="higher"),
    "accuracy": Metric(mean, better="higher"),
}
SOURCE = f"{AUTHORS}:evaluation/multiple_choice_evaluation/choice_bench.py#L105-L119"
SCORINGS = videos.with_robust(
    {
        "official": rule(SOURCE, rules.mlvu, METRICS),
        "lmms-eval": rule(
            f"{pins.LMMS_EVAL}:lmms_eval/tasks/mlvu/utils.py#L65-L86", rules.shared_rule, METRICS
        ),
    },
    METRICS,
)

Preset = Literal["official", "lmms-eval"]
Tasks = Literal["choices", "sub_scene", "summary"]
FOLDERS = ("json/", "data/", "")


def published(task: Tasks = "choices", **_: object) -> tuple[File, ...]:
    """The files of the questions."""
    return tuple(
        File(
            name=name,
            url=f"https://raw.githubusercontent.com/JUNJIE99/MLVU/{COMMIT}/data/{name}",
            note="the questions; no digest is published",
        )
        for name in (NAMES if task == "choices" else [FREE[task]])
    )


def mlvu(
    task: Tasks = "choices",
    prompt: Preset = "official",
    data: Path | None = None,
) -> Benchmark:
    if task != "choices":
        return with_free_answers(task, prompt, data)
    names = [f"{folder}{NAMES[3]}" for folder in FOLDERS]
    data_file = find(data, "mlvu", names, published())
    check = choice_sets.check(SCORINGS, lmms_eval=1 / 4)
    return videos.choice_benchmark(
        "mlvu",
        authors_files.table(data_file, with_choices, COMMIT),
        lambda row: to_sample(row, data_file),
        lambda sample: text_of(sample, prompt),
        choice_sets.headline(SCORINGS, prompt),
        replace(check, says=lambda _, answer: f"({answer})"),
        max_answer_tokens=16 if prompt == "lmms-eval" else 100,
        presentation=Presentation(
            break_down_by=("task",),
            capabilities=Capabilities(
                tag="task", leaves=LEAVES, source="https://arxiv.org/abs/2406.04264, section 3"
            ),
        ),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    """The task of a file is the part of its name after the number."""
    task = row["task"].partition("_")[2] or row["task"]
    video = videos.clip(data_file, f"{row['task']}/{row['video']}", ("video", "videos"))
    choices = [str(choice) for choice in row["candidates"]]
    letter = videos.last_letter_of(str(row["answer"]), choices)
    name = f"{task}|{row.get('id', row.position)}"
    return videos.question(video, name, row["question"], choices, letter, {"task": task})


def text_of(sample: Sample, prompt: Preset) -> str:
    question = f"{videos.in_parentheses(sample)}\nOnly give the best option."
    return f"{question}\nBest option: (" if prompt == "lmms-eval" else f"{SYSTEM}{question}"


def with_choices(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions with choices in all files of a folder."""
    return (row for row in videos.files_by_task(path) if f"{row['task']}.json" not in FREE.values())


# -- free answers


def with_free_answers(task: Task, prompt: Preset, data: Path | None) -> Benchmark:
    if prompt != "official":
        raise UsageError(f"mlvu:task={task} has no prompt {prompt!r}. Leave the prompt out.")
    names = [f"{folder}{FREE[task]}" for folder in FOLDERS]
    data_file = find(data, "mlvu", names, published(task), f"mlvu:task={task}")
    wrong = {"oracle": generation.BEST, "wrong": 2.0, "silent": 2.0, "hedging": 2.0}
    return videos.choice_benchmark(
        "mlvu",
        authors_files.table(data_file, authors_files.objects, COMMIT),
        lambda row: to_free_sample(row, data_file, task),
        lambda sample: f"{generation.ASK}{sample.question}",
        generation.scorings(task),
        Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "nothing of the kind",
            verdict=generation.perfect_verdict(task),
            expect={"official": wrong},
        ),
        max_answer_tokens=1000,
        presentation=Presentation(
            capabilities=Capabilities(
                tag="",
                leaves={"": "perception/scene"},
                source="https://arxiv.org/abs/2406.04264, section 3",
            ),
        ),
    )


def to_free_sample(row: Row, data_file: DataFile, task: Task) -> Sample:
    folder = FREE[task].removesuffix(".json")
    video = videos.clip(data_file, f"{folder}/{row['video']}", ("video", "videos"))
    sample = videos.question(video, f"{task}|{row.position}", row["question"], (), None, {})
    points = list(row.get("scoring_points") or ())
    return videos.with_data(replace(sample, target=str(row["answer"])), points=points)
