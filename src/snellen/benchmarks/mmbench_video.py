"""MMBench-Video: open questions about long videos, whose answers a judge rates from 0 to 3.

Paper    Fang et al. 2024, MMBench-Video: A Long-Form Multi-Shot Benchmark for Holistic Video
         Understanding, https://arxiv.org/abs/2406.14515 (NeurIPS, Datasets and Benchmarks).
Data     opencompass/MMBench-Video on the Hugging Face hub: MMBench-Video.tsv with 1,998 questions
         on 609 videos, and the videos in pickle files, which are not read here. VLMEvalKit unpacks
         them to video/{video}.mp4. An id is the row's `index`.
Prompt   `official`: the authors' code in VLMEvalKit for models that take videos, open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/mmbench_video.py
         #L127-L136: the question, then the video.
         For models that take pictures, it announces the number of frames; this is not here. Frames
         are uniform:8, the first of VLMEvalKit's settings. Replies are limited to 512 tokens.
Scoring  `official`: a judge rates each reply, vlmeval/dataset/utils/mmbench_video.py#L7-L71. The
         paper's is gpt-4-1106-preview. `score` is the mean rating, as the authors' `coarse_all`: a
         question without a reply counts as 0. A question counts for each of the nine capabilities
         of its dimensions, and for perception and reasoning. A judge's reply that is no number from
         0 to 3 leaves the question unjudged; the authors count it as 0 in `coarse_all` and leave it
         out in `coarse_valid`.
Proof    For 640 generated verdicts and their prompts, and for the means of 6 sets of ratings, all
         values equal those of the authors' code (tests/parity).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from snellen.benchmarks.families import pins
from snellen.benchmarks.families.judged import for_the_judge, prompts
from snellen.benchmarks.families.judges import graded
from snellen.benchmarks.families.video_choices import clip, video_of
from snellen.core import (
    UNMAPPED,
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Judge,
    Presentation,
    Procedure,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find, tsv
from snellen.data.published import File
from snellen.media.content import Message, system, user
from snellen.metrics import Metric, mean
from snellen.text.literals import literal

KIND = "chat"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 1998
ALIASES: dict[str, dict[str, object]] = {"MMBench-Video": {}}
NAME = "MMBench-Video.tsv"
FILES_PUBLISHED = (
    File(
        name=NAME,
        # The digest is that of VLMEvalKit, vlmeval/dataset/mmbench_video.py#L44.
        url=f"https://huggingface.co/datasets/opencompass/MMBench-Video/resolve/main/{NAME}",
        md5="98f7df3eb1007fc375ea6fe88a98e2ff",
    ),
)
DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "CP": ("Video Topic", "Video Emotion", "Video Scene", "Video Style"),
    "FP-S": (
        *("OCR", "Object Recognition", "Attribute Recognition", "Event Recognition"),
        *("Human Motion", "Counting"),
    ),
    "FP-C": ("Spatial Relationship", "Human-object Interaction", "Human Interaction"),
    "HL": ("Hallucination",),
    "LR": ("Structuralized Image-Text Understanding", "Mathematical Calculation"),
    "AR": ("Physical Property", "Function Reasoning", "Identity Reasoning"),
    "RR": ("Natural Relation", "Physical Relation", "Social Relation"),
    "CSR": ("Common Sense Reasoning",),
    "TR": ("Counterfactual Reasoning", "Causal Reasoning", "Future Prediction"),
}
"""The dimensions of each capability, in the order of the authors' tables."""
PERCEPTION = ("CP", "FP-C", "FP-S", "HL")
LEAVES = {
    **{"CP": "perception/scene", "FP-S": "perception/object", "FP-C": "perception/spatial"},
    **{"HL": "hallucination/object", "LR": "reasoning/mathematical", "AR": "reasoning/commonsense"},
    **{"RR": "reasoning/commonsense", "CSR": "reasoning/commonsense", "TR": "reasoning/causal"},
    "": UNMAPPED,
}
BEST = 3.0


def mmbench_video(data: Path | None = None) -> Benchmark:
    data_file = find(data, "mmbench-video", (NAME,), FILES_PUBLISHED)
    judge = Judge(
        name="gpt-4-1106-preview",
        authors_model="gpt-4-1106-preview",
        prompt=judge_prompt,
        parse=lambda words, _: rating(words),
        when=lambda _: True,
    )
    perfect = {"oracle": BEST, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    return Benchmark(
        name="mmbench-video",
        asks=1,
        data=tsv(data_file),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(sample.question, *sample.media),),
        scorings={
            "official": Scoring(
                version=1,
                source=f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/mmbench_video.py#L7-L71",
                parse=for_the_judge,
                score=lambda reading, _: (
                    reading.answer if isinstance(reading.answer, float) else None
                ),
                metrics={"score": Metric(mean, better="higher", unit="points")},
                missing="wrong",
                judge=judge,
                best=BEST,
                partial=True,
            ),
            **graded(),
        },
        max_answer_tokens=512,
        cluster_by=video_of,
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "nothing of the kind",
            verdict=lambda sample, reply: "3" if reply.text == sample.target else "0",
            expect={"official": perfect, "graded": {**perfect, "oracle": 1.0}},
        ),
        procedure=Procedure(group_by=video_of, frames="uniform:8"),
        presentation=Presentation(
            break_down_by=("Perception", "Reasoning", *DIMENSIONS),
            capabilities=Capabilities(
                tag="first", leaves=LEAVES, source="https://arxiv.org/abs/2406.14515, section 3.2"
            ),
        ),
        interop=Interop(files=data_file),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    dimensions = literal(row["dimensions"])
    if not isinstance(dimensions, list):
        raise ValueError(f"its dimensions are {row['dimensions'][:80]!r}, which is no list")
    known = {name for names in DIMENSIONS.values() for name in names}
    if unknown := [str(name) for name in dimensions if name not in known]:
        raise ValueError(f"{unknown[0]!r} is no dimension of MMBench-Video")
    needed = [part for part, names in DIMENSIONS.items() if {*names} & {*dimensions}]
    parts = {
        "Perception": any(part in PERCEPTION for part in needed),
        "Reasoning": any(part not in PERCEPTION for part in needed),
        **{part: part in needed for part in DIMENSIONS},
    }
    return Sample(
        id=str(row["index"]),
        question=row["question"],
        media=(clip(data_file, f"{row['video']}.mp4", ("video", "videos", "")),),
        target=row["answer"],
        tags={
            **{name: name if counts else "" for name, counts in parts.items()},
            "first": needed[0] if needed else "",
        },
        data={"video": row["video"]},
    )


def judge_prompt(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    texts = prompts("mmbench_video")
    filled = texts["user"].format(question=sample.question, answer=sample.target, reply=reply.text)
    return system(texts["system"]), user(filled)


def rating(words: str) -> Reading:
    text = words.strip()
    if text not in ("0", "1", "2", "3"):
        return Reading(answer=None, rule="not of the requested form")
    return Reading(answer=float(text), rule="rating")
