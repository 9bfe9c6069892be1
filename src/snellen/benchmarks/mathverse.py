"""MathVerse: mathematics with a diagram, each problem in six versions with less and less text.

Paper    Zhang et al. 2024, MathVerse: Does Your Multi-modal LLM Truly See the Diagrams in Visual
         Math Problems?, https://arxiv.org/abs/2403.14624 (ECCV).
Data     ZrrSkywalker/MathVerse@937b090597aeafb8e82b35d310a4bc5b9e2ea29d:data/testmini.json (788
         problems in five versions) and data/testmini_text_only.json (the sixth), with
         images/{image}; or AI4Math/MathVerse on the Hugging Face hub, testmini.parquet. The license
         is MIT. `version=all` is the five versions with a picture, whose mean is the overall score.
Prompt   `direct`: the field query_wo, for the scores "w/o" of the leaderboard. `cot`: query_cot.
         The picture comes first. The authors prescribe neither an order nor a limit of tokens;
         1,024 are lmms-eval's, EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
         lmms_eval/tasks/mathverse/mathverse_testmini_vision_only.yaml#L13.
Scoring  `official`: gpt-3.5-turbo extracts the answer from the last 30 words of the reply, and then
         compares it with the right answer, evaluation/extract_answer_s1.py#L21-L95 and
         score_answer_s2.py#L22-L127. The authors ask until the verdict is 0 or 1. Here, a reply
         with another verdict stays unjudged. In a file of the authors' results, their verdicts
         count, and only the questions in the file.
         `vlmevalkit`: the judge of the published scores on Vision Only, open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/utils/
         mathverse.py#L85-L167. It reads the full reply, and, where the data set has it, the
         question in the field question_for_eval.
Proof    For generated replies, the prompts of both stages equal those of the authors' and of
         VLMEvalKit's code, and so does the reading of generated verdicts (tests/parity). The rest
         is checked by hand, since no outputs are published.
"""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import pins, results
from snellen.benchmarks.families.judged import for_the_judge
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.mathverse_judge import JUDGE, KIT
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Published,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Filtered, Row, find, json_list, parquet
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, user
from snellen.metrics import mean

REVISION = "937b090597aeafb8e82b35d310a4bc5b9e2ea29d"
SOURCE = f"ZrrSkywalker/MathVerse@{REVISION}:evaluation/score_answer_s2.py#L22-L127"
VLMEVALKIT = f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/mathverse.py"
VERSIONS = {
    "text-dominant": "Text Dominant",
    "text-lite": "Text Lite",
    "vision-intensive": "Vision Intensive",
    "vision-dominant": "Vision Dominant",
    "vision-only": "Vision Only",
    "text-only": "Text Only",
}
Version = Literal[
    "all",
    "text-dominant",
    "text-lite",
    "vision-intensive",
    "vision-dominant",
    "vision-only",
    "text-only",
]
KIND = "mixed"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "MIT"
PROOF = "authors' code"
SIZE = 3940
OTHER_SIZES = {"version=text-only": 788, "version=vision-only": 788}
ALIASES = {
    "MathVerse_MINI": {"version": "all"},
    "mathverse_testmini": {"version": "all"},
    "MathVerse_MINI_Vision_Only_cot": {"version": "vision-only", "prompt": "cot"},
    "MathVerse_MINI_Text_Dominant": {"version": "text-dominant"},
    "MathVerse_MINI_Text_Lite": {"version": "text-lite"},
    "MathVerse_MINI_Vision_Intensive": {"version": "vision-intensive"},
    "MathVerse_MINI_Vision_Dominant": {"version": "vision-dominant"},
    "MathVerse_MINI_Vision_Only": {"version": "vision-only"},
    "mathverse_testmini_text_dominant": {"version": "text-dominant"},
    "mathverse_testmini_text_lite": {"version": "text-lite"},
    "mathverse_testmini_vision_intensive": {"version": "vision-intensive"},
    "mathverse_testmini_vision_dominant": {"version": "vision-dominant"},
    "mathverse_testmini_vision_only": {"version": "vision-only"},
    "mathverse_testmini_text_only": {"version": "text-only"},
}
SUBJECTS = ("Plane Geometry", "Solid Geometry", "Functions")


def mathverse(
    version: Version = "all",
    prompt: Literal["direct", "cot"] = "direct",
    data: Path | None = None,
) -> Benchmark:
    name = "testmini_text_only" if version == "text-only" else "testmini"
    files = published(version)
    names = (f"data/{name}.json", f"{name}.json", f"{name}.parquet")
    data_file = find(data, "mathverse", names, files, f"mathverse:version={version}")
    table = (parquet if str(data_file).endswith(".parquet") else json_list)(data_file)
    wanted = VERSIONS.get(version)
    official = Scoring(
        version=1,
        source=SOURCE,
        parse=for_the_judge,
        score=lambda reading, _: float(reading.answer == "1"),
        metrics={"accuracy": mean},
        judge=JUDGE,
    )
    return Benchmark(
        name="mathverse",
        asks=1,
        data=Filtered(table, lambda row: wanted in (None, row["problem_version"])),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, str(sample.data[prompt])),),
        scorings={
            "official": official,
            "vlmevalkit": replace(official, source=f"{VLMEVALKIT}#L85-L167", judge=KIT),
        },
        max_answer_tokens=1024,
        cluster_by=lambda sample: str(sample.data["problem"]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "-98765",
            verdict=lambda sample, reply: "1" if reply.text == sample.target else "0",
            expect={"official": PERFECT, "vlmevalkit": PERFECT},
        ),
        presentation=Presentation(
            break_down_by=("version", "subject", "subfield"),
            capabilities=Capabilities(
                tag="subject",
                leaves=dict.fromkeys(SUBJECTS, "reasoning/mathematical"),
                source="https://arxiv.org/abs/2403.14624, section 2.1",
            ),
        ),
        interop=Interop(files=data_file, layout=layout),
    )


def published(version: Version = "all", **_: object) -> tuple[File, ...]:
    raw = f"https://raw.githubusercontent.com/ZrrSkywalker/MathVerse/{REVISION}"
    images = "https://huggingface.co/datasets/AI4Math/MathVerse/resolve/main/images.zip"
    if version == "text-only":
        name = "data/testmini_text_only.json"
        return (File(name=name, url=f"{raw}/{name}"),)
    return (
        File(name="data/testmini.json", url=f"{raw}/data/testmini.json"),
        File(name="data/images.zip", url=images, unpack=True, note="the pictures, README.md"),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    image, metadata = row["image"], row["metadata"]
    if isinstance(image, str) and image:
        folder = data_file.path.parent
        inside = "images/" if (folder / "images").is_dir() else ""
        image = Image(folder / f"{inside}{image}", label=image, within=folder)
    return Sample(
        id=row["sample_index"],
        question=row["question"],
        media=(image,) if image else (),
        target=row["answer"],
        tags={
            "version": row["problem_version"],
            "subject": metadata["subject"],
            "subfield": f"{metadata['subject']}-{metadata['subfield']}",
        },
        data={
            "problem": row["problem_index"],
            "direct": row["query_wo"],
            "cot": row["query_cot"],
            "for_eval": row.get("question_for_eval") or row["question"],
        },
    )


def layout(path: Path) -> Published | None:
    """Read the authors' results: a list of questions, each with `model_answer` and, once they are
    scored, `judgement`, which is 0 or 1."""
    rows = results.of_json(path)
    if not isinstance(rows, list) or not rows:
        return None
    if not all(
        isinstance(row, dict) and {"sample_index", "problem_version"} <= set(row) for row in rows
    ):
        return None
    replies: dict[str, str | None] = {}
    for number, row in enumerate(rows, 1):
        name, reply = row["sample_index"], row.get("model_answer")
        if name in replies:
            raise DataError(
                f"{path.name}: row {number} repeats sample {name!r}. Remove one of them."
            )
        if not isinstance(reply, str | None):
            raise DataError(f"{path.name}: row {number} has a model_answer that is not text.")
        replies[name] = reply or ""  # a model that says nothing is judged too
    words = {
        row["sample_index"]: (str(row["judgement"]),)
        for row in rows
        if row.get("judgement") is not None
    }
    return Published(replies=replies, verdicts={"official": words}, only_these=True)
