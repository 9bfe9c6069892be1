"""TempCompass: four tasks about the order, speed, direction, and change of what a video shows.

Paper    Liu et al. 2024, TempCompass: Do Video LLMs Really Understand Videos?,
         https://arxiv.org/abs/2403.00476 (ACL Findings).
Data     llyx97/TempCompass@e1b463166400633e6061962d890a9ae85db29f70 under CC BY-NC 4.0: questions/
         {multi-choice,yes_no,caption_matching,captioning}.json with 1,580, 2,453, 1,503, and 2,004
         questions on 410 videos, and meta_info.json. videos/{id}.mp4 are in tempcompass_videos.zip
         of lmms-lab/TempCompass on the hub. An id is task|video|aspect|position.
Prompt   The question and the suffix of run_video_llava/inference_dataset.py#L48-L54. lmms-eval's
         prompts are the same. The authors prescribe no frames. Here, they are uniform:32, and
         replies are limited to 512 tokens.
Scoring  `official`: rules, and gpt-3.5-turbo-1106 where they do not decide, eval_multi-choice.py
         #L26-L49, eval_yes_no.py#L10-L53, eval_caption_matching.py#L18-L73. "None" is read as no,
         and "(A)" is left to the judge. A caption is judged by whether the judge can answer the
         first multiple-choice question on the video and aspect with it, eval_captioning.py#L10-L37.
         A judge's reply without Correct or Incorrect is wrong after ten attempts of the authors;
         here, it stays unjudged. `accuracy` is the mean over all questions, as their `avg`.
         `rules`: the same with --disable_llm, where an undecided reply is wrong. It has no rule for
         captions. `matched` is the share of replies that rules decide.
         In files of auto_eval_results/, the stored rating of a judged reply counts: the keys of
         19 questions were corrected later.
         The authors clean the captions of models named gemini or reka, utils/eval_utils.py#L172-
         L192. This is done for files in a folder of such a name, and for no others.
Proof    For the published outputs and verdicts of two models, and 900 generated replies, every
         rating, cleaned caption, and accuracy equals the authors' (tests/parity).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast, get_args

from snellen.benchmarks.families import authors_files
from snellen.benchmarks.families import tempcompass_rules as rules
from snellen.benchmarks.families.tempcompass_results import results
from snellen.benchmarks.families.video_choices import clip
from snellen.core import Benchmark, Capabilities, Check, Interop, Presentation, Procedure, Sample
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.media.content import user

KIND = "mixed"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "CC-BY-NC-4.0"
PROOF = "published outputs"
SIZE = 7540
COMMIT = "e1b463166400633e6061962d890a9ae85db29f70"
RAW = f"https://raw.githubusercontent.com/llyx97/TempCompass/{COMMIT}"
DIGESTS = {
    "questions/multi-choice": "c5bbdd249bbeca2d8fc70adec639509d8b9cb6d0bb3edfe4b838477a5efc3bbd",
    "questions/yes_no": "f10910c595a30aff3104c48b9cddcd88e71d512ba14dd7eff77d30e39807768d",
    "questions/caption_matching": (
        "ef8038edfbcd713e14a361cb617bc4fe815e3cafffe003cc024bcac86c9d764d"
    ),
    "questions/captioning": "49815114d9753ab26a63d410892950fb4577b4def096e7e4e523ac91fb98f1eb",
    "meta_info": "72144a7cb5aba97d12c3148ec734f7c8f27a04f6b3a7396ef41003a0a7178419",
}
FILES_PUBLISHED = (
    *(
        File(name=f"{name}.json", url=f"{RAW}/{name}.json", sha256=digest)
        for name, digest in DIGESTS.items()
    ),
    File(
        name="tempcompass_videos.zip",
        url="https://huggingface.co/datasets/lmms-lab/TempCompass/resolve/main/tempcompass_videos.zip",
        unpack=True,
        note="its publishers give no digest",
    ),
)
NAMES = ("questions/multi-choice.json", "questions/multi-choice.json.gz")
ALIASES = {
    "TempCompass": {},
    "TempCompass_MCQ": {"task": "multi-choice"},
    "tempcompass_multi_choice": {"task": "multi-choice"},
    "tempcompass_yes_no": {"task": "yes_no"},
    "tempcompass_caption_matching": {"task": "caption_matching"},
    "tempcompass_captioning": {"task": "captioning"},
}
ASPECTS = ("action", "direction", "speed", "order", "attribute_change")
SUFFIX = {
    "multi-choice": "\nPlease directly give the best option:",
    "yes_no": "\nPlease answer yes or no:",
    "caption_matching": "\nPlease directly give the best option:",
    "captioning": "",
}

Task = Literal["all", "multi-choice", "yes_no", "caption_matching", "captioning"]


def tempcompass(task: Task = "all", data: Path | None = None) -> Benchmark:
    data_file = find(data, "tempcompass", NAMES, FILES_PUBLISHED)
    tasks = cast(tuple[str, ...], get_args(Task)[1:] if task == "all" else (task,))
    table, file = authors_files.table(data_file, lambda path: questions(path, tasks), COMMIT)
    return Benchmark(
        name="tempcompass",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (
            user(*sample.media, f"{sample.question}{SUFFIX[sample.tags['task']]}"),
        ),
        scorings=rules.scorings(tasks),
        cluster_by=video_of,
        check=Check(
            says=lambda _, answer: answer,
            wrong=rules.wrong_answer,
            verdict=rules.perfect_verdict,
            expect=rules.EXPECT,
        ),
        procedure=Procedure(group_by=video_of, frames="uniform:32"),
        presentation=Presentation(
            break_down_by=("task", "aspect", "type"),
            capabilities=Capabilities(
                tag="aspect",
                leaves=dict.fromkeys(ASPECTS, "reasoning/temporal"),
                source="https://arxiv.org/abs/2403.00476, section 3.1",
            ),
        ),
        interop=Interop(files=file, layout=lambda path: results(path, tasks)),
    )


def questions(path: Path, tasks: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the questions of the tasks. Their files are in the folder of `path`."""
    kinds = authors_files.by_id(path.parent.parent / "meta_info.json")
    choices = authors_files.by_id(path)
    for task in tasks:
        content = authors_files.by_id(path.with_name(path.name.replace("multi-choice", task)))
        for video, aspects in content.items():
            for aspect, entries in aspects.items():
                kind = kinds[video]["eval_dim"][aspect].get("type") if aspect != "order" else ""
                common = {"task": task, "video": video, "aspect": aspect, "type": kind or ""}
                for position, entry in enumerate(entries):
                    name = f"{task}|{video}|{aspect}|{position}"
                    first = choices[video][aspect][0] if task == "captioning" else {}
                    yield {"id": name, **common, **entry, "first": first}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    first: Mapping[str, str] = row["first"]
    answer = first["answer"] if first else row["answer"]
    return Sample(
        id=row["id"],
        question=row["question"],
        choices=rules.choices_of(row["task"], row["question"]),
        media=(clip(data_file, f"{row['video']}.mp4"),),
        target=rules.target_of(row["task"], answer),
        tags={name: row[name] for name in ("task", "aspect", "type")},
        data={
            "video": row["video"],
            "answer": answer,
            # What the judge of a caption is asked.
            "judged": first["question"] if first else "",
        },
    )


def video_of(sample: Sample) -> str:
    return str(sample.data["video"])
