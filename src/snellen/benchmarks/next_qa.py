"""NExT-QA: questions about why, when, and what in videos of daily life, with choices or open.

Paper    Xiao et al. 2021, NExT-QA: Next Phase of Question-Answering to Explaining Temporal Actions,
         https://arxiv.org/abs/2105.08276 (CVPR).
Data     doc-doc/NExT-QA@6b92588ab4496268fa1caab9414a8b998ee063c5:dataset/nextqa/{val,test}.csv,
         with 4,996 and 8,564 questions, and map_vid_vidorID.json, under the MIT license. The videos
         are NExTVideo/{folder}/{video}.mp4 on Google Drive, or {video}.mp4 in NExTVideo/. The
         parquet file of lmms-lab/NExTQA on the Hugging Face hub can also be read. An id is
         video_qid. `task=open` has the open questions of doc-doc/NExT-OE@a83f8f581191da07675e0fc83
         074e0dfcf907273:dataset/nextqa/{val,test}.csv, 5,343 and 9,178, and the second answers to
         the test questions, add_reference_answer_test.json, or the hub's parquet file with both.
Prompt   `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/nextqa/utils.py#L58-L69, without an instruction. The authors publish no prompt. The
         frames depend on the model. Here, they are uniform:32, and replies are limited to 128
         tokens. Open questions: #L46-L52 and nextqa_oe_test.yaml#L13-L16.
Scoring  The authors compare the numbers of choices, eval_mc.py#L6-L54, and have no rule for texts.
         Their files of predictions, results/*.json, are read as letters. As there, TP ("before")
         and TN ("after") are one type. The tag `group` is causal, temporal, or descriptive.
         `lmms-eval`: lmms_eval/tasks/nextqa/utils.py#L81-L139, a variant of MMMU's rule. "(A)",
         "A " at the end of any word, and "A." count. A reply without a letter gets one drawn at
         random, here with the sample's id as the seed.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
         Open questions, `official`: WUPS at 0, eval_oe.py#L15-L101 of NExT-OE, as in lmms-eval.
         Counts (DC) and yes or no (DB) must be equal, without stop words. The better of two answers
         counts. An empty reply is right if the answer has only stop words. Needs nltk (the extra
         `ocr`) and its data, `python -m nltk.downloader wordnet punkt_tab
         averaged_perceptron_tagger_eng`. `graded` is a judge with Snellen's prompt, on request.
Proof    For 700 generated replies, every letter equals that of lmms-eval's code (tests/parity). For
         the published predictions of HGA, the accuracies equal the authors' 49.74 %, and 46.26 %,
         50.74 %, and 59.33 % of the groups; no test repeats this.
         Open questions: for 720 generated replies, lemmas, scores, and means equal those of the
         authors' code on a small database in WordNet's format (tests/parity). With WordNet 3.0 and
         nltk 3.10, the authors' code and ours give the published predictions of HGA the same
         twelve figures, WUPS 20.38 (val) and 24.00 (test); no test repeats this. Their README
         states 21.48 (val). Figures depend on the versions of nltk and its data; theirs was 3.3.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, choice_sets, pins, wups
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families.choice_sets import rule
from snellen.benchmarks.families.draws import by_id
from snellen.benchmarks.families.judges import PERFECT, graded, perfect_grade
from snellen.benchmarks.families.mmmu_letters import last_mention
from snellen.benchmarks.families.results import of_json
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Presentation,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, Table, csv, find
from snellen.data.published import File
from snellen.errors import DataError
from snellen.metrics import mean

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "MIT"
PROOF = "toolkit's code"
SIZE = 8564
OTHER_SIZES = {"split=val": 4996, "task=open": 9178, "task=open,split=val": 5343}
COMMIT = "6b92588ab4496268fa1caab9414a8b998ee063c5"
RAW = f"https://raw.githubusercontent.com/doc-doc/NExT-QA/{COMMIT}/dataset/nextqa"
OPEN_COMMIT = "a83f8f581191da07675e0fc83074e0dfcf907273"
OPEN_RAW = f"https://raw.githubusercontent.com/doc-doc/NExT-OE/{OPEN_COMMIT}/dataset/nextqa"
ALIASES = {
    "nextqa_mc_test": {"split": "test"},
    "nextqa_oe_test": {"task": "open"},
    "nextqa_oe_val": {"task": "open", "split": "val"},
}
MAP = "map_vid_vidorID.json"
DIGESTS = {
    "val.csv": "43198bdef8436b8d64a9b75d846b0987c10cbf94ebf4be325c4a4e54634d66b8",
    "test.csv": "cdf46de237b3b3b846ff0209ae1394ad559791b5a0de0bb8c78648f74da83542",
}
OPEN_DIGESTS = {
    "val.csv": "5f2ca097b85ec571a6e73442d0a6faea19c15dfa54cf5a26434eac90a8ef41c5",
    "test.csv": "d9aa6022d66ab9bde814911cf357a2dd76a0fbabef16aa74752389d63817e522",
    "add_reference_answer_test.json": (
        "3418ace242446b53292a3b4bd635bcb9dd3255d6f59852c228d5f564d4d277dd"
    ),
}
GROUPS = {"C": "causal", "T": "temporal", "D": "descriptive"}
LEAVES = {
    **{"CW": "reasoning/causal", "CH": "reasoning/causal", "TN": "reasoning/temporal"},
    **{"TC": "reasoning/temporal", "DC": "perception/counting", "DL": "perception/scene"},
    **{"DO": "perception/object", "DB": "perception/attribute"},
}
PRESENTATION = Presentation(
    break_down_by=("group", "type"),
    capabilities=Capabilities(
        tag="type", leaves=LEAVES, source="https://arxiv.org/abs/2105.08276, section 3"
    ),
)
SCORINGS = videos.with_robust(
    {
        "lmms-eval": replace(
            rule(f"{pins.LMMS_EVAL}:lmms_eval/tasks/nextqa/utils.py#L72-L139", last_mention),
            resolve=by_id("lmms-eval sets no seed for them."),
        )
    }
)

Split = Literal["test", "val"]
Task = Literal["choices", "open"]


def published(split: Split = "test", task: Task = "choices", **_: object) -> tuple[File, ...]:
    """The authors' questions, and the folders of the videos."""
    folders = File(name=MAP, url=f"{RAW}/{MAP}", note="the folders of the videos; no digest")
    name = f"{split}.csv"
    if task == "choices":
        return File(name=name, url=f"{RAW}/{name}", sha256=DIGESTS[name]), folders
    names = [name] if split == "val" else [name, "add_reference_answer_test.json"]
    files = [
        File(name=f"open/{name}", url=f"{OPEN_RAW}/{name}", sha256=OPEN_DIGESTS[name])
        for name in names
    ]
    return *files, folders


def next_qa(split: Split = "test", task: Task = "choices", data: Path | None = None) -> Benchmark:
    if task == "open":
        return with_open_questions(split, data)
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
        presentation=PRESENTATION,
    )
    return replace(benchmark, interop=replace(benchmark.interop, layout=layout))


def table_of(data_file: DataFile) -> tuple[Table, DataFile | None]:
    if Path(str(data_file)).suffix == ".csv":
        return csv(data_file), data_file
    return authors_files.table(data_file, authors_files.objects)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    choices = [str(row[f"a{index}"]).strip() for index in range(5)]
    video = videos.clip(data_file, video_path(str(row["video"]), data_file), ("NExTVideo", ""))
    return videos.question(
        video,
        f"{row['video']}_{row['qid']}",
        str(row["question"]).strip(),
        choices,
        choice_sets.letter_at(int(row["answer"]), choices),
        tags_of(row),
    )


def tags_of(row: Row) -> dict[str, str]:
    """The type of a question, and the group of its type. The authors merge TP with TN."""
    kind = str(row["type"]).replace("TP", "TN")
    if kind[:1] not in GROUPS:
        raise ValueError(f"{kind!r} is no type of NExT-QA's questions")
    return {"group": GROUPS[kind[:1]], "type": kind}


def video_path(video: str, data_file: DataFile) -> str:
    """The path of a video in NExTVideo: in its folder of VidOR if it is there."""
    paths = [folder / MAP for folder in data_file.path.parents[:2]]
    path = next((path for path in paths if path.is_file()), None)
    nested = f"{folders(path).get(video, video) if path else video}.mp4"
    root = videos.root_of(data_file)
    is_there = any((root / folder / nested).is_file() for folder in ("NExTVideo", ""))
    return nested if is_there else f"{video}.mp4"


@cache
def folders(path: Path) -> Mapping[str, str]:
    content = authors_files.of_json(path)
    if not isinstance(content, dict):
        raise DataError(f"{path} is not a JSON object. Download it again.")
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


# -- open questions


def with_open_questions(split: Split, data: Path | None) -> Benchmark:
    folders_of_file = ("open/", "", "nextqa/", "dataset/nextqa/")
    names = [f"{folder}{split}.csv" for folder in folders_of_file]
    spec = f"next-qa:task=open,split={split}"
    data_file = find(data, "next-qa", names, published(split, "open"), spec)
    second = cache(lambda: second_answers(data_file.path.parent, split))
    benchmark = videos.choice_benchmark(
        "next-qa",
        table_of(data_file),
        lambda row: to_open_sample(row, data_file, second()),
        lambda sample: f"{sample.question}\nAnswer a question using a short phrase or sentence.",
        {"official": OPEN_SCORING, **graded()},
        Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "zzz",
            verdict=perfect_grade,
            # In WordNet 3.0, 1, 2, and 3 are numbers, to which many words are a little similar.
            expect={
                "official": {**PERFECT, "hedging": 0.007858504251231283},
                "graded": PERFECT,
            },
        ),
        max_answer_tokens=128,
        presentation=PRESENTATION,
    )
    return replace(benchmark, interop=replace(benchmark.interop, layout=layout_of_open))


def second_answers(folder: Path, split: Split) -> Mapping[str, Mapping[str, str]]:
    """The authors' second answers, keyed by video and number of the question."""
    path = folder / f"add_reference_answer_{split}.json"
    return authors_files.by_id(path) if path.is_file() else {}


def to_open_sample(row: Row, data_file: DataFile, second: Mapping[str, Any]) -> Sample:
    if "a0" in row:
        get = "snellen data get next-qa:task=open"
        raise ValueError(f"the question has choices. `{get}` downloads the open questions")
    video, number = str(row["video"]), str(row["qid"])
    also = second.get(video, {}).get(number) or row.get("additional_ref_answer")
    sample = videos.question(
        videos.clip(data_file, video_path(video, data_file), ("NExTVideo", "")),
        f"{video}_{number}",
        str(row["question"]).strip(),
        (),
        str(row["answer"]),
        tags_of(row),
    )
    return videos.with_data(sample, also=str(also) if also else None)


def parse_open(reply: Reply, _: Sample) -> Reading:
    return Reading(answer=wups.meaningful(reply.text) or None, rule="lemmas")


def score_open(reading: Reading, sample: Sample) -> float:
    answer = str(reading.answer or "")
    right = [wups.meaningful(str(text)) for text in (sample.target, sample.data["also"]) if text]
    if sample.tags["type"] in ("DC", "DB"):
        return float(answer in right)
    return max(wups.wups(answer, text) for text in right)


OPEN_SCORING = Scoring(
    version=1,
    source=f"doc-doc/NExT-OE@{OPEN_COMMIT}:eval_oe.py#L15-L101 and metrics.py#L11-L79",
    parse=parse_open,
    score=score_open,
    metrics={"wups": mean},
    partial=True,
    check_installation=wups.check_installation,
)


def layout_of_open(path: Path) -> Published | None:
    """Read the authors' file of predictions, which maps videos and numbers of questions to
    replies."""
    rows: Any = of_json(path)
    if not isinstance(rows, dict) or not rows:
        return None
    if not all(isinstance(replies, dict) for replies in rows.values()):
        return None
    pairs = {
        f"{video}_{number}": reply
        for video, replies in rows.items()
        for number, reply in replies.items()
    }
    return Published(replies=pairs) if all(isinstance(r, str) for r in pairs.values()) else None
