"""GQA: compositional questions about photographs, generated from scene graphs, with short answers.

Paper    Hudson and Manning 2019, GQA: A New Dataset for Real-World Visual Reasoning and
         Compositional Question Answering, https://arxiv.org/abs/1902.09506 (CVPR).
Data     The files are at https://cs.stanford.edu/people/dorarad/gqa/download.html:
         {split}_questions.json in questions1.2.zip, and images.zip.
         The authors state the license CC BY 4.0, but the mirror on the Hugging Face hub states MIT.
         `testdev_balanced` has 12,578 questions on 398 pictures. The answers of the splits test,
         challenge, and submission are hidden.
         Ids are text: 02930152 and 2930152 are different ids.
         The questions can also be read from LAVIS's copy (files of the same names, each a list with
         `question_id` and `image`), from VLMEvalKit's GQA_TestDev_Balanced.tsv, and from
         lmms-lab/GQA on the Hugging Face hub (parquet, in folders {split}_instructions and
         {split}_images). With prompt=vlmevalkit, VLMEvalKit's file is preferred, although it lacks
         the types of questions.
Prompt   The authors prescribe no prompt. The picture comes first in all prompts.
         `llava`: haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:docs/
         Evaluation.md#L13-L18. The prompts `vlmevalkit` and `lmms-eval` have the same text.
         `blip2`: salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7:lavis/projects/blip2/
         eval/gqa_zeroshot_flant5xl_eval.yaml#L38. The question is in lowercase without punctuation
         (blip_processors.py#L88-L101).
         `qwen-vl`: QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:eval_mm/
         evaluate_vqa.py#L281.
         Replies are limited to 128 tokens, as in LLaVA's llava/eval/model_vqa_loader.py#L141. The
         other tools limit replies to between 10 and 16 tokens.
Scoring  `official`: eval.py 1.1 of the authors' evaluation package. None of the authors'
         repositories contains the package. A copy is in PKU-YuanGroup/
         Video-LLaVA@1d28d6ea2e3ad8242a209c490124b5b98a768618:llava/eval/eval_gqa.py. A reply is
         right if it equals the answer exactly.
         Accuracies include only the balanced questions, even in the larger `_all` splits. Accuracy
         is reported for all balanced questions, for binary and open questions, and by structural
         type, semantic type, number of steps, and number of words.
         `validity` and `plausibility` need {tier}_choices.json in the folder of the questions.
         Without this file, the two metrics have no value here, whereas the authors' script prints
         0 %. The choices file of release 1.1 lacks some questions of release 1.2.
         `consistency` needs an `_all` split. `distribution` is a chi-square. Grounding is not
         computed, since replies have no attention maps.
         The authors' script rejects a file that lacks a question. Here, a question without a reply
         is wrong.
         `llava`: like official, but on lowercase replies without final full stops, scripts/
         convert_gqa_for_eval.py#L14. Published scores of LLaVA, and of models that follow LLaVA,
         use this rule.
         `lavis`, `mmpretrain`: replies and answers are normalized as in VQA's evaluation.
         `lavis-2023`: only the reply is normalized, as in LAVIS before
         71a2da90c9fcb64039a4892f37785724e24ba805. BLIP-2's published score of 43.98 uses this rule.
         `vlmevalkit`: ignores case and surrounding spaces. A question without a reply is wrong.
         VLMEvalKit's files contain all rows, and a question whose request failed is wrong there too
         (inference.py#L180-L187 and #L246).
         `lmms-eval`: ignores case and punctuation.
         `qwen-vl`: the rule of Qwen-VL's published scores, evaluate_vqa.py#L401-L420. For each of
         "is ", "are ", "a ", "an ", and "the " in turn, the rule keeps only the text between its
         first and second occurrence, even inside a word. Then the text from " of" on is removed.
         `robust`: Snellen's own rule, which takes the phrase that a reply settles on.
         The headline scoring depends on the prompt.
         A picture has several questions, so confidence intervals are clustered by picture.
Proof    `lavis` and `mmpretrain`: tests compare our verdicts with those of the tools' code for
         1,500 generated pairs of a reply and a right answer (tests/parity).
         `official`: tests compare all metrics with those of the authors' script on generated
         questions.
         `vlmevalkit`, `lmms-eval`, and `qwen-vl`: tests compare our verdicts with those of the
         tools' code for 7,500 generated pairs.
         LLaVA-1.5-13B's replies are published, but the tests do not use them, because we do not
         have the answers to the questions. `robust` is checked on examples worked out by hand.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, pins
from snellen.benchmarks.families import questions as _questions
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.benchmarks.families.vqa import blip_question
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Procedure,
    Reading,
    Reply,
    Sample,
    Scoring,
    Submission,
)
from snellen.data import DataFile, Row, Table, find, json_list, parquet
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, user
from snellen.metrics import Metric, mean
from snellen.metrics.gqa import TAGS, Choices, belonging, consistency, distribution
from snellen.metrics.only_tagged import only_tagged
from snellen.text.vqa import normalize

SOURCE = (
    "PKU-YuanGroup/Video-LLaVA@1d28d6ea2e3ad8242a209c490124b5b98a768618:"
    "llava/eval/eval_gqa.py#L383-L434"
)
LLAVA = "haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd"
LAVIS = "salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7"
OLDER_LAVIS = "salesforce/LAVIS@b38a7ac3bf70044c2ab0c192a0aca6122437e968"
MMPRETRAIN = "open-mmlab/mmpretrain@ee7f2e88501f61aa95c742dd5f429f039935ee90"
QWEN = "QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599"
KIND = "words"
LANGUAGES = ("en",)
LICENSE = "CC-BY-4.0"
PROOF = "authors' code"
SIZE = 12_578
ALIASES = {"GQA_TestDev_Balanced": {"split": "testdev_balanced", "prompt": "vlmevalkit"}}
HOST = "https://downloads.cs.stanford.edu/nlp/data/gqa"
SHEET = own_sheet("GQA_TestDev_Balanced", md5="99b62f22e224d9b2f32dcbe41359d1c9")

Split = Literal[
    "testdev_balanced",
    "testdev_all",
    "val_balanced",
    "val_all",
    "train_balanced",
    "test_balanced",
    "test_all",
    "challenge_balanced",
    "challenge_all",
    "submission_all",
]
Preset = Literal["llava", "vlmevalkit", "lmms-eval", "blip2", "qwen-vl"]
PROMPTS: Mapping[Preset, str] = {
    "llava": _questions.SHORT,
    "vlmevalkit": _questions.SHORT,
    "lmms-eval": _questions.SHORT,
    "blip2": "Question: {question} Short answer:",
    "qwen-vl": "{question} Answer:",
}
PERCEIVED = {
    "attr": "perception/attribute",
    "rel": "perception/spatial",
    "obj": "perception/object",
    "cat": "perception/object",
    "global": "perception/scene",
}
LEAVES = {
    **{
        f"{structural} {semantic}": leaf
        for structural in ("query", "verify", "choose")
        for semantic, leaf in PERCEIVED.items()
    },
    **{
        f"{structural} {semantic}": "reasoning/logic"
        for structural in ("compare", "logical")
        for semantic in PERCEIVED
    },
}
HEADLINES: Mapping[Preset, str] = {
    "llava": "llava",
    "vlmevalkit": "vlmevalkit",
    "lmms-eval": "lmms-eval",
    "blip2": "lavis",
    "qwen-vl": "qwen-vl",
}


def gqa(
    split: Split = "testdev_balanced", prompt: Preset = "llava", data: Path | None = None
) -> Benchmark:
    name = f"{split}_questions.json"
    names = [name, f"questions1.2/{name}", f"questions/{name}", f"annotations/{name}"]
    if split == "testdev_balanced":
        names.insert(0 if prompt == "vlmevalkit" else len(names), SHEET.name)
    spec = f"gqa:split={split},prompt={prompt}"
    data_file = find(data, "gqa", names, published(split, prompt), spec)
    table, files, pictures = rows_of(data_file, split)
    by_name = scorings(data_file, split)
    headline = HEADLINES[prompt]
    subset_tags = () if split.endswith("_balanced") else ("balanced",)
    return Benchmark(
        name="gqa",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file, pictures),
        prompt=lambda sample, _: (user(*sample.media, prompt_text(sample, prompt)),),
        scorings={headline: by_name.pop(headline), **by_name},
        max_answer_tokens=128,
        cluster_by=image_of,
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: _questions.WRONG,
            expect={scoring: EXPECT.get(scoring, PERFECT) for scoring in (headline, *by_name)},
        ),
        procedure=Procedure(group_by=image_of),
        presentation=Presentation(
            break_down_by=("answer", "structural", "semantic", "steps", "words", *subset_tags),
            metric_tags=tuple(tag for tag in TAGS if tag not in subset_tags),
            capabilities=Capabilities(
                tag="types", leaves=LEAVES, source="https://arxiv.org/abs/1902.09506, section 3.2"
            ),
        ),
        interop=Interop(
            files=files,
            submission=Submission(
                name=f"{split}_predictions.json",
                columns=("questionId", "prediction"),
                row=lambda sample, reply: (sample.id, small(reply)),
            ),
        ),
    )


def published(
    split: Split = "testdev_balanced", prompt: Preset = "llava", **_: object
) -> tuple[File, ...]:
    """The published files with the questions and pictures of all splits. With VLMEvalKit's prompt
    on `testdev_balanced`, VLMEvalKit's TSV file is used instead. The authors publish no digests."""
    if (split, prompt) == ("testdev_balanced", "vlmevalkit"):
        return (SHEET,)
    return (
        File(name="questions1.2.zip", url=f"{HOST}/questions1.2.zip", unpack=True, note="1.4 GB"),
        File(name="images.zip", url=f"{HOST}/images.zip", unpack=True, note="20.3 GB; all splits'"),
    )


# -- rows

Pictures = Callable[[], Mapping[str, Image]]


def rows_of(data_file: DataFile, split: Split) -> tuple[Table, DataFile | None, Pictures]:
    """The table of questions, the file of questions, and a function that returns the pictures keyed
    by name. In the mirror on the Hugging Face hub, the pictures are in parquet files; for the
    mirror, the file is None. For all other files, the function returns an empty dictionary."""
    folder = data_file.data
    questions_folder = None if folder is None else folder / f"{split}_instructions"
    if folder is None or questions_folder is None or not questions_folder.is_dir():
        return *authors_files.table(data_file, questions), dict
    pictures_folder = folder / f"{split}_images"
    pictures = cache(lambda: {str(row["id"]): row["image"] for row in parquet(pictures_folder)})
    return parquet(questions_folder), None, pictures


def questions(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions from the authors' JSON object, which maps ids to questions, or from
    LAVIS's list."""
    with path.open("rb") as file:
        is_list = file.read(64).lstrip().startswith(b"[")
    if is_list:
        yield from json_list(path)
        return
    for name, row in authors_files.of_json(path).items():
        yield {"question_id": name, **row}


def to_sample(row: Row, data_file: DataFile, pictures: Pictures) -> Sample:
    names = [row[key] for key in ("index", "question_id", "id") if key in row]
    if not names:
        raise KeyError("question_id")
    name = str(names[0])
    image, shared = picture_of(row, data_file, pictures)
    types = row.get("types") or {}
    structural, semantic = (types.get(kind) or "" for kind in ("structural", "semantic"))
    steps = row.get("semantic")
    right = next((row[key] for key in ("answer", "gt_answers", "gt_answer") if row.get(key)), None)
    (target,) = authors_files.texts(right) or (None,)
    return Sample(
        id=name,
        question=row["question"],
        media=(image,),
        target=target,
        tags={
            "answer": structural and ("open" if structural == "query" else "binary"),
            "structural": structural,
            "semantic": semantic,
            "types": f"{structural} {semantic}".strip(),
            "steps": f"{steps_of(steps)} steps" if isinstance(steps, list) else "",
            "words": f"{len(row['question'].split())} words",
            # Files without this field belong to a balanced split.
            "balanced": "balanced" if row.get("isBalanced", True) else "",
            "question": name,
            "detailed": types.get("detailed") or "",
            "group": (row.get("groups") or {}).get("global") or "",
            "entailed": " ".join(entailed(row.get("entailed"))),
        },
        data={"image": shared},
    )


def picture_of(row: Row, data_file: DataFile, pictures: Pictures) -> tuple[Image, str]:
    shown = str(row.get("imageId") or "")
    if image := pictures().get(shown):
        return image, shown
    file_name = row.get("image")
    name = file_name if isinstance(file_name, str) else f"{shown}.jpg"
    return _questions.picture(row, data_file, (f"images/{name}", name))


def steps_of(semantic: Sequence[Mapping[str, Any]]) -> int:
    """The number of reasoning steps, excluding steps that only query the result
    (eval_gqa.py#L220-L222)."""
    return sum(
        not any(last in f"{step['operation']}: {step['argument']}" for last in LAST_STEPS)
        for step in semantic
    )


LAST_STEPS = ("exist", "query: name", "choose name")


def entailed(value: object) -> Sequence[str]:
    """The ids of the questions whose answers follow from the answer to this question. Parquet files
    store the ids as the text of a Python list."""
    return authors_files.texts(value)


def image_of(sample: Sample) -> str:
    return str(sample.data["image"])


# -- prompt


def prompt_text(sample: Sample, prompt: Preset) -> str:
    question = blip_question(sample.question) if prompt == "blip2" else sample.question
    return PROMPTS[prompt].format(question=question)


# -- scoring

Written = Callable[[str], str]


def scorings(data_file: DataFile, split: Split) -> dict[str, Scoring]:
    file = f"{split.partition('_')[0]}_choices.json"
    choices = cache(lambda: choices_of(data_file, file))
    is_all = not split.endswith("_balanced")
    accuracy = {"accuracy": only_tagged(mean, "balanced", ["balanced"]) if is_all else mean}
    every: Mapping[str, Metric] = {
        **accuracy,
        "consistency": consistency,
        "validity": belonging("valid", choices, file),
        "plausibility": belonging("plausible", choices, file),
        "distribution": distribution,
    }

    def scoring(
        source: str,
        write: Written,
        right: Written = str,
        metrics: Mapping[str, Metric] = accuracy,
        version: int = 1,
        **options: Any,
    ) -> Scoring:
        return Scoring(
            version=version,
            source=source,
            parse=lambda reply, _: rewritten_reply(reply, write),
            score=lambda reading, sample: is_answer(reading, sample, right),
            metrics=metrics,
            **options,
        )

    return {
        "llava": scoring(
            f"{LLAVA}:scripts/convert_gqa_for_eval.py#L14", small, metrics=every, missing="wrong"
        ),
        "official": scoring(SOURCE, str, metrics=every, missing="wrong"),
        "lavis": scoring(f"{LAVIS}:lavis/tasks/vqa.py#L366-L396", normalize, normalize),
        "lavis-2023": scoring(f"{OLDER_LAVIS}:lavis/tasks/vqa.py#L194-L220", normalize),
        "mmpretrain": scoring(
            f"{MMPRETRAIN}:mmpretrain/evaluation/metrics/gqa.py#L53-L78", normalize, normalize
        ),
        "vlmevalkit": scoring(
            f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/vqa_eval.py#L279-L282",
            trimmed,
            trimmed,
            version=2,
            missing="wrong",
        ),
        "lmms-eval": scoring(
            f"{pins.LMMS_EVAL}:lmms_eval/api/metrics.py#L188-L220", unpunctuated, unpunctuated
        ),
        "qwen-vl": scoring(f"{QWEN}:eval_mm/evaluate_vqa.py#L401-L420", cut, trimmed),
        "robust": Scoring(
            version=1,
            source="ours",
            parse=_questions.phrase,
            score=lambda reading, sample: is_answer(reading, sample, _questions.plain),
            metrics=accuracy,
            missing="wrong",
        ),
    }


def choices_of(data_file: DataFile, file: str) -> Choices | None:
    """The valid and plausible answers, keyed by question id. The authors' file may be next to the
    questions, in the data folder, or in the data folder's subfolder `eval`. None if there is no
    such file, or if the questions are missing."""
    try:
        folder = data_file.folder
    except DataError:  # stored replies are scored without the questions
        return None
    for path in (folder / file, folder / "eval" / file, data_file.path.parent / file):
        if path.is_file():
            known: Any = authors_files.of_json(path)
            if not isinstance(known, dict):
                raise DataError(
                    f"{path} is not a JSON object that maps question ids to choices. "
                    "Download it again."
                )
            return known
    return None


def rewritten_reply(reply: Reply, write: Written) -> Reading:
    answer = write(reply.text)
    return Reading(answer=answer or None, rule="whole reply" if answer else "nothing said")


def is_answer(reading: Reading, sample: Sample, right: Written) -> float:
    return float((reading.answer or "") == right(sample.target or ""))


def small(text: str) -> str:
    """Rewrite a reply as LLaVA submits it: in lowercase, and without final full stops. LLaVA's
    script strips replies."""
    return text.strip().rstrip(".").lower()


def trimmed(text: str) -> str:
    return text.strip().lower()


def cut(text: str) -> str:
    """Reduce a reply to the part that Qwen-VL's script keeps. For example, "banana tree" becomes
    "tree"."""
    text = text.strip()
    for mark in ".,!":
        text = text.partition(mark)[0]
    text = text.lower()
    for word in ("is ", "are ", "a ", "an ", "the "):
        if word in text:
            text = text.split(word)[1]
    return text.partition(" of")[0].strip()


def unpunctuated(text: str) -> str:
    """Convert a text to lowercase without punctuation, as lmms-eval does with NumPy. NumPy keeps
    the length of a text: "İ" has two characters in lowercase, of which only the first is kept."""
    return text.lower()[: len(text)].translate(UNPUNCTUATED)


UNPUNCTUATED = str.maketrans("", "", string.punctuation)

# -- check

PERFECT = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
EXPECT = {"lavis-2023": {**PERFECT, "oracle": 11 / 12}}
"""The expected scores of perfect replies, for the scorings under which perfect replies do not score
1. One of the twelve bundled answers, "t-shirt", is changed by VQA's normalization."""
