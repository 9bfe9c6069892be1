"""LVBench: questions with four choices about videos of more than half an hour.

Paper    Wang et al. 2024, LVBench: An Extreme Long Video Understanding Benchmark,
         https://arxiv.org/abs/2406.08035 (ICCV 2025).
Data     THUDM/LVBench@1dd4612d63907c2836627c665a7bbccc050df3b8: data/video_info.meta.jsonl with
         1,549 questions on 103 videos of YouTube, {key}.mp4, which users obtain themselves. A
         question ends with its choices, "(A) ...". The parquet file of lmms-lab/LVBench can also be
         read. A question may have several types, which are joined by ", ".
Prompt   `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/lvbench/utils.py#L26-L41. The authors publish no prompt. Replies are limited to 16
         tokens. The frames depend on the model. Here, they are uniform:64.
Scoring  `official`: lvbench/utils/answer_util.py#L1-L18. The first character of the text before the
         first ")", and after the first "(" in it: "(A) text" is A, "Answer: B" is A, and "b" is
         wrong.
         `lmms-eval`: lmms_eval/tasks/_task_utils/mcq_extract.py with the letters A to D.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
Proof    For 1,200 generated replies, every letter equals that of the authors' and lmms-eval's code
         (tests/parity). `robust` is checked on examples worked out by hand.
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
LICENSE = "CC-BY-NC-SA-4.0"
PROOF = "authors' code"
SIZE = 1549
AUTHORS = "THUDM/LVBench@1dd4612d63907c2836627c665a7bbccc050df3b8"
NAMES = ("data/video_info.meta.jsonl", "video_info.meta.jsonl", "train-00000-of-00001.parquet")
LEAVES = {
    "entity recognition": "perception/object",
    "event understanding": "reasoning/temporal",
    "key information retrieval": "OCR/text",
    "reasoning": "reasoning/logic",
    "summarization": "perception/scene",
    "temporal grounding": "reasoning/temporal",
}
SCORINGS = videos.with_robust(
    {
        "official": rule(f"{AUTHORS}:lvbench/utils/answer_util.py#L1-L18", rules.lvbench),
        "lmms-eval": rule(
            f"{pins.LMMS_EVAL}:lmms_eval/tasks/lvbench/utils.py#L44-L65", rules.shared_rule
        ),
    }
)


def lvbench(data: Path | None = None) -> Benchmark:
    data_file = find(data, "lvbench", NAMES)
    return videos.choice_benchmark(
        "lvbench",
        authors_files.table(data_file, videos.by_video),
        lambda row: to_sample(row, data_file),
        lambda sample: f"{sample.data['text']}\nAnswer the question with the option letter",
        SCORINGS,
        # "A B C D" begins with A, the answer to a quarter of the bundled questions.
        choice_sets.check(SCORINGS, official=1 / 4, lmms_eval=1 / 4),
        frames="uniform:64",
        max_answer_tokens=16,
        presentation=Presentation(
            break_down_by=("question_type", "type"),
            capabilities=Capabilities(
                tag="first_type",
                leaves=LEAVES,
                source="https://arxiv.org/abs/2406.08035, section 3",
            ),
        ),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    types = authors_files.texts(row.get("question_type"))
    tags = {
        "question_type": ", ".join(types),
        "first_type": types[0] if types else "",
        "type": row.get("type"),
    }
    text, choices = choice_sets.split_choices(row["question"], r"\n\({letter}\) ")
    name = row.get("video_path") or f"{row['key']}.mp4"
    sample = videos.question(
        videos.clip(data_file, name),
        str(row["uid"]),
        text,
        choices,
        choice_sets.target_of(row["answer"], choices),
        tags,
    )
    return videos.with_data(sample, text=row["question"])
