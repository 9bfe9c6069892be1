"""MotionBench: questions with choices about fine motions in short videos.

Paper    Hong et al. 2025, MotionBench: Benchmarking and Improving Fine-grained Video Motion
         Understanding for Vision Language Models, https://arxiv.org/abs/2501.02955 (CVPR 2025).
Data     zai-org/MotionBench on the Hugging Face hub: MotionBench/video_info.meta.jsonl with 8,052
         questions, of which 4,018 have public answers (the others have the answer NA), and the
         videos in MotionBench/{public-dataset,self-collected}/. Questions end with their choices.
Prompt   `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/motionbench/utils.py#L317-L336. The authors publish no prompt. Replies are limited to
         64 tokens. The frames depend on the model. Here, they are uniform:32.
Scoring  The authors score on a server, and publish no rule.
         `lmms-eval`: lmms_eval/tasks/motionbench/utils.py#L350-L384. After reasoning, the first
         letter from A to F that stands alone, that is before a sign, or that is anywhere: "Because"
         is B. lmms-eval reads only the questions with public answers.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
Proof    For 1,200 generated replies, every letter equals that of lmms-eval's code (tests/parity).
         `robust` is checked on examples worked out by hand.
"""

from pathlib import Path

from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families import video_letters as rules
from snellen.benchmarks.families.choice_sets import rule
from snellen.core import Benchmark, Capabilities, Presentation, Sample
from snellen.data import DataFile, Row, find

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "toolkit's code"
SIZE = 4018
ALIASES: dict[str, dict[str, object]] = {"motionbench_full": {}}
NAMES = ("MotionBench/video_info.meta.jsonl", "video_info.meta.jsonl")
FOLDERS = ("MotionBench/public-dataset", "MotionBench/self-collected", "videos", "")
LEAVES = {
    **dict.fromkeys(("Action Order", "Motion Recognition", "Camera Motion"), "reasoning/temporal"),
    **{"Motion-related Objects": "perception/object", "Repetition Count": "perception/counting"},
    "Location-related Motion": "perception/spatial",
}
SCORINGS = videos.with_robust(
    {
        "lmms-eval": rule(
            f"{pins.LMMS_EVAL}:lmms_eval/tasks/motionbench/utils.py#L350-L384", rules.motionbench
        )
    }
)


def motionbench(data: Path | None = None) -> Benchmark:
    data_file = find(data, "motionbench", NAMES)
    return videos.choice_benchmark(
        "motionbench",
        authors_files.table(data_file, videos.by_video),
        lambda row: to_sample(row, data_file),
        lambda sample: (
            f"{videos.with_letters(sample)}\n"
            "Answer with only the option letter (A, B, C, D, E, or F)."
        ),
        SCORINGS,
        # "A B C D" begins with A, the answer to a quarter of the bundled questions.
        choice_sets.check(SCORINGS, lmms_eval=1 / 4),
        max_answer_tokens=64,
        presentation=Presentation(
            break_down_by=("question_type", "video_type"),
            capabilities=Capabilities(
                tag="question_type",
                leaves=LEAVES,
                source="https://arxiv.org/abs/2501.02955, section 3",
            ),
        ),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    text, choices = choice_sets.split_choices(row["question"], r"\n\s*{letter}[.):]\s+")
    root = videos.root_of(data_file)
    name = str(row["video_path"])
    folders = [folder for folder in FOLDERS if (root / folder / name).is_file()]
    letter = "" if row["answer"] == "NA" else row["answer"]
    tags = {name: row.get(name) for name in ("question_type", "video_type")}
    return videos.question(
        videos.clip(data_file, name, folders or FOLDERS),
        str(row["uid"]),
        text.strip(),
        choices,
        choice_sets.target_of(letter, choices),
        tags,
    )
