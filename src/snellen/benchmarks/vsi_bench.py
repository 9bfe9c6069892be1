"""VSI-Bench: where things are, and how large and how far, in videos of indoor spaces.

Paper    Yang et al. 2024, Thinking in Space: How Multimodal Large Language Models See, Remember,
         and Recall Spaces, https://arxiv.org/abs/2412.14171 (CVPR 2025).
Data     nyu-visionx/VSI-Bench on the Hugging Face hub: test-00000-of-00001.parquet or test.jsonl
         with 5,130 questions on 288 videos, and {arkitscenes,scannet,scannetpp}.zip with
         {dataset}/{scene_name}.mp4. VLMEvalKit's VSI-Bench.tsv and VSI-Bench-Debiased.tsv can also
         be read.
Prompt   `official`: vision-x-nyu/thinking-in-space@51e089c3ae69b9435e9489058610f5b3964c56a8:
         lmms_eval/tasks/vsibench/utils.py#L59-L72. `official-api`: the authors' other words for
         GPT and Gemini, vsibench.yaml#L31-L38. lmms-eval's prompts are the same.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/vsibench.py#L33-L35. The authors' frames depend on the model: 8 to 32. Here, they
         are uniform:32. Replies are limited to 16 tokens.
Scoring  A choice is right or wrong. A number gets the share of ten thresholds that its relative
         error reaches. `overall` is the mean over eight kinds of questions, of which
         `object_rel_direction` is the mean over its easy, medium, and hard questions.
         `official`: the text before the first blank must be the letter or the number. "(A)", "3m",
         and "A" before a line break and more words are wrong.
         `lmms-eval`: letters by the same rule, and the first number in digits or words.
         `vlmevalkit`: the letter that VLMEvalKit's rules for sets about space find, or the last
         number, without VLMEvalKit's judge.
         `robust`: Snellen's own rules: the letter or number that the reply settles on.
         A missing reply is wrong.
Proof    For 1,200 generated replies, every score and mean equals those of the three tools' code
         (tests/parity). `robust` is checked on examples worked out by hand.
"""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import authors_files
from snellen.benchmarks.families import vsi_rules as rules
from snellen.benchmarks.families.choice_sets import Parse, headline
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.tasks import wrong_letter
from snellen.benchmarks.families.video_choices import clip
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Procedure,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find, jsonl
from snellen.data.published import File
from snellen.media.content import user
from snellen.metrics import macro_average
from snellen.metrics.only_tagged import only_tagged

KIND = "mixed"
LANGUAGES = ("en",)
LICENSE = "Apache-2.0"
PROOF = "authors' code"
SIZE = 5130
HUB = "https://huggingface.co/datasets/nyu-visionx/VSI-Bench/resolve/main"
SHEET = File(
    name="VSI-Bench.tsv",
    url="https://huggingface.co/datasets/lmms-lab-si/EASI-Leaderboard-Data/resolve/main/VSI-Bench.tsv",
    md5="34544fd83241391d83eff087a1be7d83",
)
FILES_PUBLISHED = (
    SHEET,
    *(
        File(name=f"{name}.zip", url=f"{HUB}/{name}.zip", unpack=True, note="no digest is known")
        for name in ("arkitscenes", "scannet", "scannetpp")
    ),
)
NAMES = ("test-00000-of-00001.parquet", "test.jsonl", "VSI-Bench.tsv", "VSI-Bench-Debiased.tsv")
ALIASES = {
    "vsibench": {"prompt": "official"},
    "VSI-Bench_32frame": {"prompt": "vlmevalkit"},
    "VSI-Bench_64frame": {"prompt": "vlmevalkit"},
    "VSI-Bench_128frame": {"prompt": "vlmevalkit"},
}
DIRECTIONS = tuple(f"object_rel_direction_{level}" for level in ("easy", "medium", "hard"))
LEAVES = {
    **dict.fromkeys((*DIRECTIONS, "object_rel_distance", "route_planning"), "perception/spatial"),
    **dict.fromkeys(("object_abs_distance", "object_size_estimation"), "perception/spatial"),
    **{"room_size_estimation": "perception/spatial", "object_counting": "perception/counting"},
    "obj_appearance_order": "reasoning/temporal",
}
LETTER = "Answer with the option's letter from the given choices directly."
NUMBER = {
    "official": "Please answer the question using a single word or phrase.",
    "official-api": "Do not response anything other than a single number!",
    "vlmevalkit": "Answer briefly and directly in one float number.",
}

Preset = Literal["official", "official-api", "vlmevalkit"]


def vsi_bench(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    data_file = find(data, "vsi-bench", NAMES, FILES_PUBLISHED)
    table, file = authors_files.table(data_file, lambda path: iter(jsonl(path)))
    return Benchmark(
        name="vsi-bench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, text_of(sample, prompt)),),
        scorings=headline(scorings(), prompt),
        max_answer_tokens=16,
        cluster_by=video_of,
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda sample: wrong_letter(sample) if sample.choices else "0",
            expect=EXPECT,
        ),
        procedure=Procedure(group_by=video_of, frames="uniform:32"),
        presentation=Presentation(
            break_down_by=("question_type",),
            capabilities=Capabilities(
                tag="question_type",
                leaves=LEAVES,
                source="https://arxiv.org/abs/2412.14171, section 3.1",
            ),
        ),
        interop=Interop(files=file),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    options = authors_files.texts(row.get("options") or row.get("candidates"))
    video = str(row.get("video") or f"{row['dataset']}/{row['scene_name']}.mp4")
    kind = row["question_type"]
    if kind not in LEAVES:
        raise ValueError(f"the question_type is {kind!r}. It must be one of {', '.join(LEAVES)}")
    target = str(row.get("ground_truth", row.get("answer"))).strip()
    if not options:
        float(target)
    return Sample(
        id=str(row["id"] if "id" in row else row["index"]),
        question=row["question"],
        choices=tuple(option.partition(". ")[2] or option for option in options),
        media=(clip(data_file, video, folders=("", "videos")),),
        target=target.upper() if options else target,
        tags={"question_type": kind},
        data={"video": video, "options": options},
    )


def video_of(sample: Sample) -> str:
    return str(sample.data["video"])


def text_of(sample: Sample, prompt: Preset) -> str:
    options = authors_files.texts(sample.data["options"])
    lines = ("Options:", *options) if options and prompt != "vlmevalkit" else options
    ask = LETTER if options else NUMBER[prompt]
    return "\n".join(["These are frames of a video.", sample.question, *lines, ask])


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    thirds = dict.fromkeys(DIRECTIONS, 1 / 3)
    metrics = {
        "overall": replace(macro_average("question_type", thirds), better="higher"),
        "object_rel_direction": replace(
            only_tagged(macro_average("question_type"), "question_type", DIRECTIONS),
            better="higher",
        ),
    }

    def scoring(source: str, parse: Parse) -> Scoring:
        return Scoring(
            version=1,
            source=source,
            parse=parse,
            score=rules.score,
            metrics=metrics,
            missing="wrong",
            partial=True,
        )

    return {
        "official": scoring(rules.AUTHORS, rules.official),
        "lmms-eval": scoring(rules.LMMS, rules.lmms_eval),
        "vlmevalkit": scoring(rules.KIT, rules.vlmevalkit),
        "robust": scoring("ours", rules.robust),
    }


# "A B C D" begins with A, which is right for the easy direction, a third of its kind, and for the
# route: (1/3 + 1) / 8.
EXPECT = {
    "official": {**PERFECT, "hedging": 1 / 6},
    "lmms-eval": {**PERFECT, "hedging": 1 / 6},
    **dict.fromkeys(("vlmevalkit", "robust"), PERFECT),
}
