"""PerceptionTest: questions with three choices about memory, abstraction, physics, and semantics.

Paper    Pătrăucean et al. 2023, Perception Test: A Diagnostic Benchmark for Multimodal Video
         Models, https://arxiv.org/abs/2305.13786 (NeurIPS, Datasets and Benchmarks).
Data     google-deepmind/perception_test@6bd0642dd2d3edbe6732b332335949fb1f9c9168:README.md#L39-L54
         and #L117-L124 under CC BY 4.0: mc_question_valid.json, or mc_question_test.json with
         hidden answers, and videos/{video}.mp4. Where the end of a video gives an answer away, the
         authors cut test videos, and give the frame of the cut for others in
         cut_frame_mapping_valid.json. Here, the frames from that one on are hidden, unless
         `cut=false`. The parquet file of lmms-eval/PerceptionTest_Val on the Hugging Face hub can
         be read with `cut=false`. An id is video|number.
Prompt   `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/perceptiontest/val/utils.py#L33-L56. The authors publish no prompt, and lmms-eval
         does not cut videos. Frames are uniform:32, and replies are limited to 16 tokens.
Scoring  The authors compare the numbers of choices, README.md#L161, and have no rule for texts.
         `lmms-eval`: val/utils.py#L91-L117. The first letter from A to D that stands alone is the
         answer: "A dog, so B" is read as A, and a lowercase letter is no answer.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
Proof    For 700 generated replies, every verdict equals that of lmms-eval's code (tests/parity).
         `robust` is checked on examples worked out by hand.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families.choice_sets import rule
from snellen.benchmarks.families.video_letters import reading
from snellen.core import Benchmark, Capabilities, Presentation, Reading, Reply, Sample
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.errors import DataError

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "CC-BY-4.0"
PROOF = "toolkit's code"
SIZE = 19140
ALIASES = {"perceptiontest_val_mc": {"cut": False}}
STORE = "https://storage.googleapis.com/dm-perception-test"
CUTS = "cut_frame_mapping_valid.json"
NOTE = "its publishers give no digest"
LETTER = re.compile(r"\b[A-D]\b")
LEAVES = {
    **{"memory": "reasoning/temporal", "abstraction": "reasoning/logic"},
    **{"physics": "reasoning/causal", "semantics": "perception/object"},
}

Split = Literal["valid", "test"]


def published(split: Split = "valid", **_: object) -> tuple[File, ...]:
    """The archives of the questions and the videos, and the file of cuts."""
    names = [f"mc_question_{split}_annotations", f"{split}_videos"]
    archives = [
        File(name=f"{name}.zip", url=f"{STORE}/zip_data/{name}.zip", unpack=True, note=NOTE)
        for name in names
    ]
    cuts = File(name=CUTS, url=f"{STORE}/misc/{CUTS}", note=NOTE)
    return (*archives, cuts) if split == "valid" else (*archives,)


def perceptiontest(split: Split = "valid", cut: bool = True, data: Path | None = None) -> Benchmark:
    name = f"mc_question_{split}.json"
    data_file = find(data, "perceptiontest", (name, f"annotations/{name}"), published(split))
    source = f"{pins.LMMS_EVAL}:lmms_eval/tasks/perceptiontest/val/utils.py#L91-L117"
    scorings = videos.with_robust({"lmms-eval": rule(source, first_alone)})
    with_cuts = cut and split == "valid"
    return videos.choice_benchmark(
        "perceptiontest",
        authors_files.table(data_file, lambda path: questions(path, with_cuts)),
        lambda row: to_sample(row, data_file),
        lambda sample: f"{videos.with_letters(sample)}\n{choice_sets.DIRECTLY}",
        scorings,
        # "A B C" is read as A, which is right for four of the eight questions.
        choice_sets.check(scorings, lmms_eval=1 / 2),
        max_answer_tokens=16,
        presentation=Presentation(
            break_down_by=("area", "reasoning"),
            capabilities=Capabilities(
                tag="area", leaves=LEAVES, source="https://arxiv.org/abs/2305.13786, section 3"
            ),
        ),
    )


def questions(path: Path, with_cuts: bool) -> Iterator[dict[str, Any]]:
    """Yield the questions of the authors' file, with the second at which a video is cut."""
    cuts = authors_files.of_json(cuts_file(path)) if with_cuts else {}
    for video, entry in authors_files.by_id(path).items():
        frame = int(cuts.get(video) or -1)
        end = frame / float(entry["metadata"]["frame_rate"]) if frame > 0 else None
        for question in entry["mc_question"]:
            yield {"video_name": video, "end": end, "question_id": question["id"], **question}


def cuts_file(path: Path) -> Path:
    for folder in (path.parent, path.parent.parent):
        if (folder / CUTS).is_file():
            return folder / CUTS
    raise DataError(
        f"{path.parent} has no {CUTS}, which says where videos that give answers away are cut. "
        "Download it with `snellen data get perceptiontest`, or set `cut=false`."
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    choices = [str(choice) for choice in row["options"]]
    index = row.get("answer_id")
    hidden = index is None or int(index) < 0
    letter = None if hidden else choice_sets.letter_at(index, choices)
    video = videos.clip(data_file, f"{row['video_name']}.mp4", window=(0.0, row.get("end")))
    name = f"{row['video_name']}|{row['question_id']}"
    tags = {"area": str(row.get("area") or "").lower(), "reasoning": row.get("reasoning")}
    return videos.question(video, name, row["question"], choices, letter, tags)


def first_alone(reply: Reply, _: Sample) -> Reading:
    match = LETTER.search(reply.text)
    return reading(match[0] if match else None, "first letter that stands alone")
