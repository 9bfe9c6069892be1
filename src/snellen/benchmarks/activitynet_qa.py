"""ActivityNet-QA: open questions about activities in videos, with short answers.

Paper    Yu et al. 2019, ActivityNet-QA: A Dataset for Understanding Complex Web Videos via Question
         Answering, https://arxiv.org/abs/1906.02467 (AAAI).
Data     MILVLG/activitynet-qa@2cf80aeb4e45955e53404e1716d3b9c0b1cbd72f:dataset/{test,val}_q.json
         and _a.json under the Apache 2.0 license, with 8,000 questions on 800 videos, and 18,000 on
         1,800. The videos are those of ActivityNet, v_{video_name}.mp4 (or .mkv, or .webm) in
         all_test/, as lmms-eval has them, or in videos/.
Prompt   `official`: the bare question, as in mbzuai-oryx/Video-ChatGPT@659e04b2ce4bb518b663eb06f7db
         27b4971e8bde:video_chatgpt/eval/run_inference_activitynet_qa.py#L54-L80.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/activitynetqa/utils.py#L55-L78. The frames depend on the model. Here, they are
         uniform:32, and replies are limited to 64 tokens, as in lmms-eval.
Scoring  `video-chatgpt`: the judge gpt-3.5-turbo, in whatever version the service has, with the
         prompt and the rules of Video-ChatGPT, quantitative_evaluation/evaluate_activitynet_qa.py
         #L28-L69 and #L170-L194. `accuracy` is the share of yes among yes and no; "Yes, but no" is
         yes, and a verdict without either is left out. `score` is the mean of the scores from 0 to
         5, where 4.8 is 4. The judge's whole reply must be a Python dictionary. The authors ask
         again until it is; here, the reply stays unjudged.
         `lmms-eval` (on request): the same prompt and gpt-4o-2024-11-20, whose reply may have text
         around the first braces, utils.py#L150-L171.
         `official`: the data's authors, evaluation/eval.py#L5-L23: the reply must equal the answer,
         in the same case.
         Verdicts of different judges, and of different versions, are not comparable.
Proof    For 640 generated verdicts, what is read equals the codes of Video-ChatGPT and lmms-eval,
         and the prompts are theirs (tests/parity).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, pins
from snellen.benchmarks.families.judged import for_the_judge, prompts
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.tasks import is_target, parse_verbatim
from snellen.benchmarks.families.video_choices import clip, root_of, video_of
from snellen.core import (
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
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Message, system, user
from snellen.metrics import Columns, mean, metric
from snellen.stats import Estimate
from snellen.text.literals import literal

KIND = "words"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "Apache-2.0"
PROOF = "authors' code"
SIZE = 8000
OTHER_SIZES = {"split=val": 18000}
COMMIT = "2cf80aeb4e45955e53404e1716d3b9c0b1cbd72f"
RAW = f"https://raw.githubusercontent.com/MILVLG/activitynet-qa/{COMMIT}/dataset"
CHATGPT = (
    "mbzuai-oryx/Video-ChatGPT@659e04b2ce4bb518b663eb06f7db27b4971e8bde:quantitative_evaluation/"
    "evaluate_activitynet_qa.py#L28-L69 and #L170-L194"
)
ALIASES = {"activitynetqa": {"prompt": "lmms-eval"}}
DIGESTS = {
    "test_q": "54d729564c3dfa0e795217f4df6023f7e43197fbb2b1fa4fd943ca65bee7eab8",
    "test_a": "f8fffa0fd6d8dbdb788310c16fe7e6da0aa23758d811cc77b65060436acf97e5",
    "val_q": "810299378d673bc93e88c507729c8268a1d84c985272f2ef0b7d9fb2bc89beb7",
    "val_a": "b388623af61ba18692e597a1441710f95c87aefb93a491c43e96a4ab9a61e2a9",
}
KINDS = (
    *("motion", "spatial relationship", "temporal relationship"),
    *("yes/no", "color", "object", "location", "number", "other"),
)
"""The types by number; the data's README has them."""
LEAVES = {
    **{"motion": "perception/object", "spatial relationship": "perception/spatial"},
    **{"temporal relationship": "reasoning/temporal", "yes/no": "perception/object"},
    **{"color": "perception/attribute", "object": "perception/object"},
    **{"location": "perception/scene", "number": "perception/counting"},
    "other": "perception/object",
}
SHORT = " Answer the question using a single word or phrase."

Split = Literal["test", "val"]
Preset = Literal["official", "lmms-eval"]


def published(split: Split = "test", **_: object) -> tuple[File, ...]:
    """The authors' questions and answers."""
    return tuple(
        File(name=f"{name}.json", url=f"{RAW}/{name}.json", sha256=DIGESTS[name])
        for name in (f"{split}_q", f"{split}_a")
    )


def activitynet_qa(
    split: Split = "test", prompt: Preset = "official", data: Path | None = None
) -> Benchmark:
    names = (f"{split}_q.json", f"dataset/{split}_q.json")
    spec = f"activitynet-qa:split={split}"
    data_file = find(data, "activitynet-qa", names, published(split), spec)
    table, file = authors_files.table(data_file, lambda path: questions(path, split), COMMIT)
    return Benchmark(
        name="activitynet-qa",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, text_of(sample, prompt)),),
        scorings={
            "video-chatgpt": judged(CHATGPT, "gpt-3.5-turbo", full_text),
            "lmms-eval": judged(
                f"{pins.LMMS_EVAL}:lmms_eval/tasks/activitynetqa/utils.py#L85-L171",
                "gpt-4o-2024-11-20",
                first_braces,
                on_request=True,
                temperature=0.0,
                max_answer_tokens=64,
                reads_cut=True,
            ),
            "official": Scoring(
                version=1,
                source=f"MILVLG/activitynet-qa@{COMMIT}:evaluation/eval.py#L5-L23",
                parse=parse_verbatim,
                score=is_target,
                metrics={"accuracy": mean},
                missing="wrong",
            ),
        },
        max_answer_tokens=64,
        cluster_by=video_of,
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "nothing of the kind",
            verdict=perfect_verdict,
            expect=dict.fromkeys(("video-chatgpt", "lmms-eval", "official"), PERFECT),
        ),
        procedure=Procedure(group_by=video_of, frames="uniform:32"),
        presentation=Presentation(
            break_down_by=("type",),
            capabilities=Capabilities(
                tag="type", leaves=LEAVES, source="https://arxiv.org/abs/1906.02467, section 3"
            ),
        ),
        interop=Interop(files=file),
    )


def questions(path: Path, split: Split) -> Iterator[dict[str, Any]]:
    """Yield the questions with their answers, which are in a second file."""
    file = path.with_name(f"{split}_a.json")
    try:
        answers = {row["question_id"]: row for row in authors_files.objects(file)}
    except (KeyError, TypeError) as error:
        raise DataError(
            f"{file} is not a list of objects with a question_id. Download both files again."
        ) from error
    for row in authors_files.objects(path):
        if row["question_id"] not in answers:
            raise DataError(
                f"{file} has no answer to {row['question_id']}. Download both files again."
            )
        yield {**answers[row["question_id"]], **row}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    name, root = f"v_{row['video_name']}", root_of(data_file)
    folders = ("all_test", "videos", "")
    folder = next((part for part in folders if (root / part).is_dir()), folders[0])
    there = (f"{name}{end}" for end in (".mp4", ".mkv", ".webm"))
    file = next((file for file in there if (root / folder / file).is_file()), f"{name}.mp4")
    number = int(row["type"])
    if not 0 <= number < len(KINDS):
        raise ValueError(f"{row['type']!r} is no type of ActivityNet-QA's questions")
    return Sample(
        id=row["question_id"],
        question=row["question"],
        media=(clip(data_file, file, folders),),
        target=row["answer"],
        tags={"type": KINDS[number]},
        data={"video": row["video_name"]},
    )


def text_of(sample: Sample, prompt: Preset) -> str:
    if prompt == "official":
        return sample.question
    return f"{sample.question.capitalize()}?{SHORT}"


# -- the judge


def judged(source: str, model: str, read: Callable[[str], str], **settings: Any) -> Scoring:
    """A scoring whose judge decides every reply. `read` returns the part of the judge's text that
    is a dictionary."""
    judge = Judge(
        name=model,
        authors_model=model,
        prompt=judge_prompt,
        parse=lambda words, _: verdict(read(words)),
        when=lambda _: True,
        temperature=None,
    )
    return Scoring(
        version=1,
        source=source,
        parse=for_the_judge,
        score=lambda reading, _: float(
            isinstance(reading.answer, tuple) and "yes" in reading.answer
        ),
        metrics={"accuracy": decided, "score": mean_score},
        judge=replace(judge, **settings),
    )


def judge_prompt(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    texts = prompts("activitynet_qa")
    filled = texts["user"].format(question=sample.question, answer=sample.target, reply=reply.text)
    return system(texts["system"]), user(filled)


def full_text(words: str) -> str:
    return words


def first_braces(words: str) -> str:
    """The text from the first "{" to the next "}", with both."""
    return "{" + words.partition("{")[2].partition("}")[0] + "}" if "{" in words else ""


def verdict(words: str) -> Reading:
    """Read a dictionary with `pred` and `score`."""
    try:
        value = literal(words)
        if not isinstance(value, dict):
            raise TypeError("not a dictionary")
        answer, score = value["pred"].lower(), int(value["score"])
        word = "yes" if "yes" in answer else "no" if "no" in answer else "neither"
        float(score)  # the mean needs it as a float
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        return Reading(answer=None, rule="not of the requested form")
    return Reading(answer=(word, str(score)), rule="verdict")


def perfect_verdict(sample: Sample, reply: Reply) -> str:
    right = reply.text == sample.target
    return str({"pred": "yes" if right else "no", "score": 5 if right else 0})


# -- metrics


@metric(better="higher", unit="fraction")
def decided(columns: Columns) -> Estimate:
    """The share of yes among the verdicts yes and no."""
    import numpy as np

    words = [answer[0] if answer else "no" for answer in columns.answer]
    return mean(columns.where(np.array([word != "neither" for word in words], dtype=bool)))


@metric(better="higher", unit="points")
def mean_score(columns: Columns) -> Estimate:
    """The mean of the judge's scores from 0 to 5."""
    import numpy as np

    scores = [float(answer[1]) if answer else 0.0 for answer in columns.answer]
    return mean(replace(columns, score=np.array(scores, dtype=np.float64)))
