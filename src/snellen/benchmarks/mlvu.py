"""MLVU: seven tasks with choices about long videos.

Paper    Zhou et al. 2024, MLVU: Benchmarking Multi-task Long Video Understanding,
         https://arxiv.org/abs/2406.04264 (CVPR 2025).
Data     JUNJIE99/MLVU@fd060c10a43ea48a35100a22688a927b8e531199:data/{1_plotQA, ..., 7_topic_
         reasoning}.json with the 2,174 questions of the dev set, and video/{task}/ of MLVU/MVLU on
         the Hugging Face hub. The tasks sub_scene and summary, whose answers GPT-4 grades, are not
         here.
Prompt   `official`: evaluation/models/videochat2/choice_bench.py#L474-L481, without the beginning
         of the answer that the authors give, "Best option:(".
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/mlvu/mlvu_dev.yaml#L25-L28, with "Best option: (" in the question. The authors
         prescribe no frames. Here, they are uniform:32.
Scoring  `official`: evaluation/multiple_choice_evaluation/choice_bench.py#L105-L119. The character
         before the first ")" is the answer, or else the whole reply: "(A) text" is A, "f(x) (A)" is
         x, and "A." is wrong. `m_avg` is the mean over the tasks, and `accuracy` is that over the
         questions.
         `lmms-eval`: lmms_eval/tasks/_task_utils/mcq_extract.py with the letters A to D.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
Proof    For 1,200 generated replies, every verdict equals that of both codes (tests/parity).
         `robust` is checked on examples worked out by hand.
"""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import authors_files, choice_sets
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families import video_letters as rules
from snellen.benchmarks.families.choice_sets import rule
from snellen.core import Benchmark, Capabilities, Presentation, Sample
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.metrics import Metric, macro_average, mean

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 2174
COMMIT = "fd060c10a43ea48a35100a22688a927b8e531199"
AUTHORS = f"JUNJIE99/MLVU@{COMMIT}"
LMMS = "EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3"
ALIASES = {"mlvu_dev": {"prompt": "lmms-eval"}, "MLVU_MCQ": {"prompt": "official"}}
SYSTEM = (
    "Carefully watch this video and pay attention to every detail. Based on your observations, "
    "select the best option that accurately addresses the question.\n"
)
TASKS = ("plotQA", "needle", "ego", "count", "order", "anomaly_reco", "topic_reasoning")
NAMES = [f"{number}_{task}.json" for number, task in enumerate(TASKS, 1)]
FILES_PUBLISHED = [
    File(
        name=name,
        url=f"https://raw.githubusercontent.com/JUNJIE99/MLVU/{COMMIT}/data/{name}",
        note="the questions; no digest is published",
    )
    for name in NAMES
]
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
            f"{LMMS}:lmms_eval/tasks/mlvu/utils.py#L65-L86", rules.shared_rule, METRICS
        ),
    },
    METRICS,
)

Preset = Literal["official", "lmms-eval"]


def mlvu(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    folders = ("json/", "data/", "")
    names = [f"{folder}{NAMES[3]}" for folder in folders]
    data_file = find(data, "mlvu", names, FILES_PUBLISHED)
    check = choice_sets.check(SCORINGS, lmms_eval=1 / 4)
    return videos.choice_benchmark(
        "mlvu",
        authors_files.table(data_file, videos.files_by_task, COMMIT),
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
