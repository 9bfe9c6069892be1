"""TVBench: ten tasks in the form of MVBench that need the order of a video's frames.

Paper    Cores et al. 2024, TVBench: Redesigning Video-Language Evaluation,
         https://arxiv.org/abs/2410.07752 (BMVC 2025).
Data     FunAILab/TVBench on the Hugging Face hub: json/{task}.json with 2,525 questions in all, and
         video/{task}/. If a row has `start` and `end`, a model sees only this part of the video.
Prompt   `official`: daniel-cores/tvbench@c3543228c873a56e835221467ff5e3b728d0785c:infer.ipynb, as
         in MVBench, without the beginning of the answer that the authors give, "Best option:(".
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/tvbench/utils.py#L134-L153. Frames are uniform:16.
Scoring  `official`: vqa_dataset.py#L163-L178. The reply's first word, without periods, must be a
         part of "(a)" or contain it. **An empty reply is right for every question.** See `robust`.
         `lmms-eval`: lmms_eval/tasks/tvbench/utils.py#L81-L106: the first letter that stands alone,
         or the only choice whose text is in the reply.
         `robust`: Snellen's own rule. An empty reply is wrong.
Proof    For 1,200 generated replies, every verdict equals that of the authors' and lmms-eval's code
         (tests/parity). `robust` is checked on examples worked out by hand.
"""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families import video_letters as rules
from snellen.benchmarks.families.choice_sets import rule
from snellen.core import Benchmark, Capabilities, Presentation, Sample
from snellen.data import DataFile, Row, find

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 2525
AUTHORS = "daniel-cores/tvbench@c3543228c873a56e835221467ff5e3b728d0785c"
LEAVES = {
    **dict.fromkeys(
        ("action_antonym", "action_localization", "action_sequence"), "reasoning/temporal"
    ),
    **dict.fromkeys(("egocentric_sequence", "moving_direction"), "reasoning/temporal"),
    **dict.fromkeys(("scene_transition", "unexpected_action"), "reasoning/temporal"),
    **dict.fromkeys(("action_count", "object_count"), "perception/counting"),
    "object_shuffle": "perception/spatial",
}
SCORINGS = videos.with_robust(
    {
        "official": replace(
            rule(f"{AUTHORS}:vqa_dataset.py#L163-L178", rules.mvbench), score=rules.fits_target
        ),
        "lmms-eval": rule(
            f"{pins.LMMS_EVAL}:lmms_eval/tasks/tvbench/utils.py#L81-L106", rules.tvbench_lmms_eval
        ),
    }
)

Preset = Literal["official", "lmms-eval"]


def tvbench(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    data_file = find(data, "tvbench", ("json/action_count.json", "action_count.json"))
    return videos.choice_benchmark(
        "tvbench",
        authors_files.table(data_file, videos.files_by_task),
        lambda row: to_sample(row, data_file),
        lambda sample: text_of(sample, prompt),
        choice_sets.headline(SCORINGS, prompt),
        # "A B C D" begins with A, the answer to a quarter of the bundled questions.
        choice_sets.check(SCORINGS, silent={"official": 1.0}, official=1 / 4, lmms_eval=1 / 4),
        frames="uniform:16",
        max_answer_tokens=100 if prompt == "official" else 32,
        presentation=Presentation(
            break_down_by=("task",),
            capabilities=Capabilities(
                tag="task", leaves=LEAVES, source="https://arxiv.org/abs/2410.07752, section 4"
            ),
        ),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    return videos.task_question(row, data_file, row["task"])


def text_of(sample: Sample, prompt: Preset) -> str:
    if prompt == "lmms-eval":
        return f"{videos.with_letters(sample)}\nAnswer with the option letter only."
    return f"{videos.CAREFULLY}{videos.in_parentheses(sample)}\nOnly give the best option."
