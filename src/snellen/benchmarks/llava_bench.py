"""LLaVA-Bench: chat about pictures, graded relative to reference answers by GPT-4.

Paper    Liu et al. 2023, Visual Instruction Tuning, https://arxiv.org/abs/2304.08485 (NeurIPS),
         section 5.1, for split=coco.
         Liu et al. 2023, Improved Baselines with Visual Instruction Tuning,
         https://arxiv.org/abs/2310.03744, and docs/LLaVA_Bench.md, for split=wild.
Data     `wild`: liuhaotian/llava-bench-in-the-wild on the Hugging Face hub, under Apache 2.0. The
         repository has questions.jsonl (60 questions about 24 pictures), context.jsonl
         (descriptions of the pictures), answers_gpt4.jsonl, and images/. VLMEvalKit's
         LLaVABench.tsv and lmms-lab/llava-bench-in-the-wild (parquet) have the same content in
         their rows.
         `coco`: haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:playground/data/
         coco2014_val_qa_eval/ (90 questions about 30 pictures), llava/eval/table/
         caps_boxes_coco2014_val_80.jsonl, and pictures of COCO's val2014.
Prompt   `official`: the picture, then the question, with 1,024 tokens at temperature 0:
         llava/eval/model_vqa.py#L41-L74 and scripts/v1_5/eval/llavabench.sh.
         VLMEvalKit and lmms-eval use the same prompt. For wild, lmms-eval limits replies to 4,096
         tokens.
Scoring  `official`: a judge, gpt-4-0314 at temperature 0.2. The judge does not see the picture, but
         reads a description of the picture. The judge scores the reference answer and the reply, in
         this order, from 1 to 10: llava/eval/eval_gpt_review_bench.py#L11-L49 and #L84-L102. For
         coco, the code is eval_gpt_review_visual.py. The judge's instructions are in
         llava/eval/table/rule.json.
         `relative_score` is 100 times the mean score of the replies, divided by the mean score of
         the references, both rounded to three decimals, summarize_gpt_review.py#L55-L59.
         `model_score` and `reference_score` are the two means times ten.
         The verdict is the first line of the judge's text: two numbers separated by one space or
         comma ("8 9" or "8,9", but not "8, 9"). If the line has another form, the code of the
         authors, of VLMEvalKit, and of lmms-eval counts both scores as -1. Here, the reply stays
         unjudged.
         If a service withheld a reply, the reply scores 0, and the reference of its question is
         left out of the mean of the references. VLMEvalKit's judge is gpt-4-turbo. The judge in
         lmms-eval is gpt-4o-2024-11-20, and lmms-eval also accepts "8, 9". Scores by different
         judges cannot be compared.
         `graded` (on request): Snellen's own rule. A judge compares the reply with the reference
         and gives a grade from 0 to 10, with a reason.
Proof    LLaVA-1.5 has published reviews for wild, three for each model size. For all of them, every
         score equals that of the authors' summary. For each model size, the mean of the three
         reviews equals the published score, 72.5 or 65.4 (tests/parity). The reviews are in LLaVA's
         eval.zip, whose content is in haotian-liu/LLaVA@32cebc3809441cc40d8ac7b2855d148308741f2a.
         Only the scores and digests of the reviews are kept here.
         For all 90 questions of coco, the judge's prompts were compared once with the prompts that
         the authors' code builds. Separate tests show that two scores are parsed from the judge's
         reply. None of this shows how another judge would decide.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from snellen import stats
from snellen.benchmarks.families import authors_files
from snellen.benchmarks.families.judges import PERFECT, graded
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Judge,
    Presentation,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find, jsonl
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, Message, system, user
from snellen.metrics import Columns, Direction, Metric
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Split = Literal["wild", "coco"]
REVISION = "c121f0432da27facab705978f83c4ada465e46fd"
SOURCE: Mapping[Split, str] = {
    "wild": f"haotian-liu/LLaVA@{REVISION}:llava/eval/eval_gpt_review_bench.py#L36-L102",
    "coco": f"haotian-liu/LLaVA@{REVISION}:llava/eval/eval_gpt_review_visual.py#L36-L99",
}
KIND = "chat"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "Apache-2.0"
PROOF = "published outputs"
SIZE = 60
OTHER_SIZES = {"split=coco": 90}
ALIASES = {
    "LLaVABench": {"split": "wild"},
    "llava_in_the_wild": {"split": "wild"},
    "llava_bench_coco": {"split": "coco"},
}
FILES: Mapping[Split, tuple[str, ...]] = {
    "wild": ("questions.jsonl", "llava-bench-in-the-wild/questions.jsonl", "LLaVABench.tsv"),
    "coco": ("qa90_questions.jsonl", "coco2014_val_qa_eval/qa90_questions.jsonl"),
}
ANSWERS: Mapping[Split, str] = {"wild": "answers_gpt4.jsonl", "coco": "qa90_gpt4_answer.jsonl"}
SHOWN: Mapping[Split, str] = {"wild": "context.jsonl", "coco": "caps_boxes_coco2014_val_80.jsonl"}
HUB = "hf://datasets/liuhaotian/llava-bench-in-the-wild@9773b6fd2be88d4ced480dcd9bfd4ce76e47f79b"
RAW = f"https://raw.githubusercontent.com/haotian-liu/LLaVA/{REVISION}"
COCO_FILES = {
    "qa90_questions.jsonl": "playground/data/coco2014_val_qa_eval",
    "qa90_gpt4_answer.jsonl": "playground/data/coco2014_val_qa_eval",
    "caps_boxes_coco2014_val_80.jsonl": "llava/eval/table",
}
LEAVES = {
    "conv": "perception/object",
    "detail": "perception/scene",
    "complex": "reasoning/commonsense",
}
ORIGIN = "the answer of a model that read descriptions of them by people"
BEST = 10.0
PERCENT = "% of the reference"
POINTS = "points of 100"


def llava_bench(split: Split = "wild", data: Path | None = None) -> Benchmark:
    data_file = find(
        data, "llava-bench", FILES[split], published(split), f"llava-bench:split={split}"
    )
    table, file = authors_files.table(data_file, lambda path: questions(path, split))
    reviewer = Judge(
        name="gpt-4-0314",
        authors_model="gpt-4-0314",
        prompt=lambda sample, reply: review(sample, reply, split),
        parse=verdict,
        when=lambda _: True,
        max_answer_tokens=1024,
        temperature=0.2,
        # The two numbers come first, so the explanation after them may be cut.
        reads_cut=True,
        needs_target=False,
    )
    worse = {"wrong": 25.0, "silent": 25.0, "hedging": 25.0}
    return Benchmark(
        name="llava-bench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, sample.question),),
        scorings={
            "official": Scoring(
                version=1,
                source=SOURCE[split],
                parse=lambda *_: Reading(answer=None, rule="for the judge"),
                score=lambda reading, _: None if reading.answer is None else pair(reading)[1],
                metrics=METRICS,
                judge=reviewer,
                best=BEST,
                partial=True,
            ),
            **graded(origin=ORIGIN),
        },
        max_answer_tokens=1024,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "nothing of the kind",
            verdict=lambda sample, reply: f"8 {8 if reply.text == sample.target else 2}\nBecause.",
            expect={"official": {"oracle": 100.0, **worse}, "graded": PERFECT},
        ),
        presentation=Presentation(
            break_down_by=("category",),
            capabilities=Capabilities(
                tag="category",
                leaves=LEAVES,
                source="https://arxiv.org/abs/2304.08485, section 3, its three types",
            ),
        ),
        interop=Interop(
            files=file,
            layout=layout,
        ),
    )


def published(split: Split = "wild", **_: object) -> tuple[File, ...]:
    """The published files: the questions, the descriptions of the pictures, GPT-4's answers, and
    the pictures."""
    if split == "wild":
        names = [FILES["wild"][0], SHOWN["wild"], ANSWERS["wild"]]
        names += [f"images/{number:03}.jpg" for number in range(1, 25)]
        return tuple(File(name=name, url=f"{HUB}/{name}") for name in names)
    pictures = File(
        name="val2014.zip",
        url="http://images.cocodataset.org/zips/val2014.zip",
        unpack=True,
        note="6 GB, of which 30 pictures are used",
    )
    texts = [File(name=name, url=f"{RAW}/{at}/{name}") for name, at in COCO_FILES.items()]
    return (*texts, pictures)


# -- rows


def questions(path: Path, split: Split) -> Iterator[dict[str, Any]]:
    """Yield the authors' questions, each with the reference answer and a description of the
    picture."""
    folder = path.parent
    shown = {row["image"]: row for row in jsonl(folder / SHOWN[split])}
    answers = {row["question_id"]: row["text"] for row in jsonl(folder / ANSWERS[split])}
    for row in jsonl(path):
        picture = shown.get(row["image"])
        if picture is None or row["question_id"] not in answers:
            lacking = SHOWN[split] if picture is None else ANSWERS[split]
            raise DataError(
                f"{path}: {lacking} in the same folder has nothing for question "
                f"{row['question_id']}. Download both files from the same release."
            )
        yield {**row, "shown": in_words(picture), "answer": answers[row["question_id"]]}


def in_words(picture: Mapping[str, Any]) -> str:
    """The description of a picture for the judge. For coco, the description includes the objects'
    bounding boxes."""
    captions = picture["captions"] if "captions" in picture else picture["caption"]
    text = captions if isinstance(captions, str) else "\n".join(captions)
    if "instances" not in picture:
        return text
    boxes = (f"{instance['category']}: {instance['bbox']}" for instance in picture["instances"])
    return f"{text}\n\n{chr(10).join(boxes)}"


def to_sample(row: Row, data_file: DataFile) -> Sample:
    """Make a sample from a row in the format of the authors, of VLMEvalKit (`gpt4_ans`), or of
    lmms-eval (`gpt_answer`)."""
    if "shown" in row:
        image, shared, shown = picture(row["image"], data_file), row["image"], row["shown"]
        name, question, answer = row["question_id"], row["text"], row["answer"]
    else:
        image, shown = authors_files.picture(row), in_words(row)
        shared, question = authors_files.picture_key(image), row["question"]
        name = row["index"] if "index" in row else row["question_id"]
        answer = row["gpt4_ans"] if "gpt4_ans" in row else row["gpt_answer"]
    return Sample(
        id=str(name),
        question=question,
        media=(image,),
        target=answer,
        tags={"category": row["category"]},
        data={"image": shared, "shown": shown},
    )


def picture(name: str, data_file: DataFile) -> Image:
    """The picture that a row names. COCO's file names are longer than the names in LLaVA's rows."""
    paths = [f"images/{name}", f"val2014/COCO_val2014_{name}", f"val2014/{name}"]
    there = (path for path in paths if (data_file.folder / path).is_file())
    return data_file.image(next(there, paths[0]))


# -- the judge

HELPFUL = "You are a helpful and precise assistant for checking the quality of the answer."
IN_WORDS: Mapping[Split, str] = {
    "wild": "a few sentences describing the image. \n",
    "coco": (
        "five descriptive sentences describing the same image and the bounding box coordinates of "
        "each object in the scene. These coordinates are in the form of bounding boxes, "
        "represented as (x1, y1, x2, y2) with floating numbers ranging from 0 to 1. These values "
        "correspond to the top left x, top left y, bottom right x, and bottom right y. \n"
    ),
}
RULE = (
    "We would like to request your feedback on the performance of two AI assistants in response to "
    "the user question displayed above. The user asks the question on observing an image. For your "
    "reference, the visual content in the image is represented with {in_words}"
    "Please rate the helpfulness, relevance, accuracy, level of details of their responses. Each "
    "assistant receives an overall score on a scale of 1 to 10, where a higher score indicates "
    "better overall performance.\n"
    "Please first output a single line containing only two values indicating the scores for "
    "Assistant 1 and 2, respectively. The two scores are separated by a space.\n"
    "In the subsequent line, please provide a comprehensive explanation of your evaluation, "
    "avoiding any potential bias and ensuring that the order in which the responses were presented "
    "does not affect your judgment."
)


def review(sample: Sample, reply: Reply, split: Split) -> tuple[Message, ...]:
    """The judge's prompt, with the reference answer before the reply. All three categories of
    questions have the same instructions."""
    text = (
        f"[Context]\n{sample.data['shown']}\n\n"
        f"[Question]\n{sample.question}\n\n"
        f"[Assistant 1]\n{sample.target or ''}\n\n[End of Assistant 1]\n\n"
        # The authors' scripts that query models strip the replies.
        f"[Assistant 2]\n{reply.text.strip()}\n\n[End of Assistant 2]\n\n"
        f"[System]\n{RULE.format(in_words=IN_WORDS[split])}\n\n"
    )
    return system(HELPFUL), user(text)


def verdict(words: str, _: Sample) -> Reading:
    """Parse the scores of the reference and of the reply. The scores are stored as text."""
    scores = two_scores(words)
    if scores is None:
        return Reading(answer=None, rule="no two scores in the first line")
    return Reading(answer=tuple(map(repr, scores)), rule="two scores")


def two_scores(words: str) -> tuple[float, float] | None:
    """The two numbers from 0 to 10 in the first line, by the authors' parsing rule. None if there
    are no such numbers."""
    parts = words.split("\n")[0].replace(",", " ").split(" ")
    try:
        first, second = map(float, parts)
    except ValueError:
        return None
    return (first, second) if 0 <= first <= BEST and 0 <= second <= BEST else None


def pair(reading: Reading) -> tuple[float, float]:
    assert isinstance(reading.answer, tuple)
    reference, model = map(float, reading.answer)
    return reference, model


# -- the sums


def of_sums(unit: str, ratio: bool, which: int, better: Direction | None = "higher") -> Metric:
    """Make a metric from the mean scores of replies and of references, rounded to three decimals.
    With `ratio`, the metric is 100 times the ratio of the two means. Without `ratio`, the metric is
    ten times the mean that `which` selects: 0 for replies, 1 for references.

    A withheld reply counts as 0 although it was not judged, and the reference of its question is
    left out of the mean of the references.
    """

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        assert columns.score is not None
        has = np.array([isinstance(answer, tuple) for answer in columns.answer], dtype=bool)
        reference = np.array(
            [float(a[0]) if isinstance(a, tuple) else 0.0 for a in columns.answer], dtype=float
        )
        clusters, cluster = np.unique(columns.cluster, return_inverse=True)
        every = (columns.score, np.ones(columns.n), reference, has.astype(float))
        sums = [np.bincount(cluster, weights=weights) for weights in every]

        def aggregate(totals: NDArray[np.float64]) -> NDArray[np.float64]:
            means = np.round(totals[:, 0::2] / totals[:, 1::2], 3)
            if not ratio:
                return BEST * means[:, which]
            of = np.where(means[:, 1] > 0, means[:, 1], math.nan)
            return 100 * means[:, 0] / of

        return stats.bootstrap_sums(
            np.stack(sums, axis=1), aggregate, n=columns.n, unit=unit, clusters=clusters
        )

    return Metric(metric, better=better, unit=unit, name="of_sums")


METRICS: Mapping[str, Metric] = {
    "relative_score": of_sums(PERCENT, True, 0),
    "model_score": of_sums(POINTS, False, 0),
    "reference_score": of_sums(POINTS, False, 1, better=None),
}


# -- published results


def layout(path: Path) -> Published | None:
    """Read the authors' answers (`question_id`, `text`) or their reviews (`content`, `tuple`). The
    reviewed replies are read from the file with the same name in the folder `answers/` next to the
    reviews' folder, if that file exists. If there are several files of reviews, their names may end
    in `-eval1`, `-eval2`, and so on."""
    if ".jsonl" not in path.suffixes:
        return None
    rows = list(jsonl(path))
    if not rows or not all("question_id" in row for row in rows):
        return None
    if all("text" in row for row in rows):
        return Published(replies={str(row["question_id"]): row["text"] for row in rows})
    if not all("content" in row and "tuple" in row for row in rows):
        return None
    verdicts: dict[str, tuple[str]] = {}
    for row in rows:
        name = str(row["question_id"])
        if name in verdicts:
            raise DataError(f"{path} has two reviews of question {name}. Keep one of them.")
        verdicts[name] = (words_of(row, path),)
    folder = path.parent.parent / "answers"
    # Several reviews of the same answers are published as NAME-eval1.jsonl, NAME-eval2.jsonl, ...
    names = (path.name, re.sub(r"-eval\d+(?=\.jsonl)", "", path.name))
    answer_file = next((file for name in names if (file := folder / name).is_file()), None)
    answers = layout(answer_file) if answer_file is not None else None
    replies = dict.fromkeys(verdicts, "") | dict(answers.replies if answers else {})
    notes = (
        [] if answers else ["the replies are not next to these reviews: only their scores are used"]
    )
    unread = sum(two_scores(words) is None for (words,) in verdicts.values())
    if unread:
        theirs = summary([row["tuple"] for row in rows])
        notes.append(
            f"{unread:,} reviews do not have two scores, so their replies stay unjudged; the "
            f"authors' summary counts -1 and -1 for each, and gives {theirs:.1f}"
        )
    return Published(replies=replies, verdicts={"official": verdicts}, notes=tuple(notes))


def words_of(row: Mapping[str, Any], path: Path) -> str:
    """The judge's text. If the stored scores differ from those in the judge's text, somebody has
    corrected them; in that case, the stored scores are returned as the text.

    Raises:
        DataError: the scores are not two numbers.
    """
    words, scores = row["content"], row["tuple"]
    if (
        not isinstance(words, str)
        or not isinstance(scores, list)
        or len(scores) != 2
        or not all(isinstance(score, int | float) for score in scores)
    ):
        raise DataError(
            f"{path}: the review of question {row['question_id']} must have a text as `content` "
            "and two numbers as `tuple`. Correct or remove it."
        )
    if scores == [-1, -1] or two_scores(words) == tuple(scores):
        return words
    return f"{scores[0]} {scores[1]}"


def summary(pairs: Sequence[Sequence[float]]) -> float:
    """The first number that summarize_gpt_review.py prints: relative_score."""
    reference, model = (round(fmean(column), 3) for column in zip(*pairs, strict=True))
    return round(model / reference * 100, 1) if reference else math.nan
