"""NExT-QA: questions with five choices about why, when, and what in videos of daily life.

Paper    Xiao et al. 2021, NExT-QA: Next Phase of Question-Answering to Explaining Temporal Actions,
         https://arxiv.org/abs/2105.08276 (CVPR).
Data     doc-doc/NExT-QA@6b92588ab4496268fa1caab9414a8b998ee063c5:dataset/nextqa/{val,test}.csv,
         with 4,996 and 8,564 questions, and map_vid_vidorID.json, under the MIT license. The videos
         are NExTVideo/{folder}/{video}.mp4 on Google Drive, or {video}.mp4 in NExTVideo/. The
         parquet file of lmms-lab/NExTQA on the Hugging Face hub can also be read. An id is
         video_qid. The open questions of NExT-OE are not here: their score, WUPS, depends on the
         versions of WordNet and of pywsd's lemmas.
Prompt   `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/nextqa/utils.py#L58-L69, without an instruction. The authors publish no prompt. The
         frames depend on the model. Here, they are uniform:32, and replies are limited to 128
         tokens.
Scoring  The authors compare the numbers of choices, eval_mc.py#L6-L54, and have no rule for texts.
         Their files of predictions, results/*.json, are read as letters. As there, TP ("before")
         and TN ("after") are one type. The tag `group` is causal, temporal, or descriptive.
         `lmms-eval`: lmms_eval/tasks/nextqa/utils.py#L81-L139, a variant of MMMU's rule. "(A)",
         "A " at the end of any word, and "A." count. A reply without a letter gets one drawn at
         random, here with the sample's id as the seed.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
Proof    For 700 generated replies, every letter equals that of lmms-eval's code (tests/parity). For
         the published predictions of HGA, the accuracies equal the authors' 49.74 %, and 46.26 %,
         50.74 %, and 59.33 % of the groups; no test repeats this.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, choice_sets
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families.choice_sets import rule
from snellen.benchmarks.families.draws import by_id
from snellen.benchmarks.families.mmmu_letters import last_mention
from snellen.benchmarks.families.results import of_json
from snellen.core import Benchmark, Capabilities, Presentation, Published, Sample
from snellen.data import DataFile, Row, Table, csv, find
from snellen.data.published import File
from snellen.errors import DataError

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "MIT"
PROOF = "toolkit's code"
SIZE = 8564
OTHER_SIZES = {"split=val": 4996}
COMMIT = "6b92588ab4496268fa1caab9414a8b998ee063c5"
RAW = f"https://raw.githubusercontent.com/doc-doc/NExT-QA/{COMMIT}/dataset/nextqa"
LMMS = "EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3"
ALIASES = {"nextqa_mc_test": {"split": "test"}}
MAP = "map_vid_vidorID.json"
DIGESTS = {
    "val.csv": "43198bdef8436b8d64a9b75d846b0987c10cbf94ebf4be325c4a4e54634d66b8",
    "test.csv": "cdf46de237b3b3b846ff0209ae1394ad559791b5a0de0bb8c78648f74da83542",
}
GROUPS = {"C": "causal", "T": "temporal", "D": "descriptive"}
LEAVES = {
    **{"CW": "reasoning/causal", "CH": "reasoning/causal", "TN": "reasoning/temporal"},
    **{"TC": "reasoning/temporal", "DC": "perception/counting", "DL": "perception/scene"},
    **{"DO": "perception/object", "DB": "perception/attribute"},
}
SCORINGS = videos.with_robust(
    {
        "lmms-eval": replace(
            rule(f"{LMMS}:lmms_eval/tasks/nextqa/utils.py#L72-L139", last_mention),
            resolve=by_id("lmms-eval sets no seed for them."),
        )
    }
)

Split = Literal["test", "val"]


def published(split: Split = "test", **_: object) -> tuple[File, ...]:
    """The authors' questions, and the folders of the videos."""
    name = f"{split}.csv"
    return (
        File(name=name, url=f"{RAW}/{name}", sha256=DIGESTS[name]),
        File(name=MAP, url=f"{RAW}/{MAP}", note="the folders of the videos; no digest"),
    )


def next_qa(split: Split = "test", data: Path | None = None) -> Benchmark:
    names = [f"{folder}{split}.csv" for folder in ("", "nextqa/", "dataset/nextqa/")]
    data_file = find(data, "next-qa", names, published(split), f"next-qa:split={split}")
    benchmark = videos.choice_benchmark(
        "next-qa",
        table_of(data_file),
        lambda row: to_sample(row, data_file),
        videos.with_letters,
        SCORINGS,
        # "A B C D E" is read as E. The letters drawn for empty replies are right for none of the
        # eight questions.
        choice_sets.check(SCORINGS),
        max_answer_tokens=128,
        presentation=Presentation(
            break_down_by=("group", "type"),
            capabilities=Capabilities(
                tag="type", leaves=LEAVES, source="https://arxiv.org/abs/2105.08276, section 3"
            ),
        ),
    )
    return replace(benchmark, interop=replace(benchmark.interop, layout=layout))


def table_of(data_file: DataFile) -> tuple[Table, DataFile | None]:
    if Path(str(data_file)).suffix == ".csv":
        return csv(data_file), data_file
    return authors_files.table(data_file, authors_files.objects)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    choices = [str(row[f"a{index}"]).strip() for index in range(5)]
    kind = str(row["type"]).replace("TP", "TN")
    if kind[:1] not in GROUPS:
        raise ValueError(f"{kind!r} is no type of NExT-QA's questions")
    video = videos.clip(data_file, video_path(str(row["video"]), data_file), ("NExTVideo", ""))
    return videos.question(
        video,
        f"{row['video']}_{row['qid']}",
        str(row["question"]).strip(),
        choices,
        choice_sets.letter_at(int(row["answer"]), choices),
        {"group": GROUPS[kind[:1]], "type": kind},
    )


def video_path(video: str, data_file: DataFile) -> str:
    """The path of a video in NExTVideo: in its folder of VidOR if it is there."""
    path = data_file.path.parent / MAP
    nested = f"{folders(path).get(video, video)}.mp4" if path.is_file() else f"{video}.mp4"
    root = videos.root_of(data_file)
    is_there = any((root / folder / nested).is_file() for folder in ("NExTVideo", ""))
    return nested if is_there else f"{video}.mp4"


@cache
def folders(path: Path) -> Mapping[str, str]:
    content: dict[str, str] = authors_files.of_json(path)
    return content


def layout(path: Path) -> Published | None:
    """Read the authors' file of predictions, which maps ids to the numbers of the predicted and of
    the right choice."""
    rows: Any = of_json(path)
    if not isinstance(rows, dict) or not rows:
        return None
    if not all(isinstance(row, dict) and "prediction" in row for row in rows.values()):
        return None
    replies = {}
    for name, row in rows.items():
        number = row["prediction"]
        if not isinstance(number, int) or not 0 <= number < 5:
            raise DataError(
                f"{path.name}: the prediction of {name} is {str(number)[:40]!r}. It must be the "
                "number of a choice, from 0 to 4."
            )
        replies[name] = "ABCDE"[number]
    return Published(replies=replies)
